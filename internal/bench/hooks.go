package bench

import (
	"context"
	"fmt"
	"strings"
)

// What a coding agent hands to its hooks.
const (
	promptEvent = `{"session_id":"bench","hook_event_name":"UserPromptSubmit","prompt":"change something"}`
	toolEvent   = `{"session_id":"bench","hook_event_name":"PostToolUse","tool_name":"Edit","tool_input":{"file_path":%q}}`
)

// hooks are what an agent waits for at each of its tools.
func (b *bench) hooks() []job {
	few, many := b.Effort.small(), min(b.Effort.biggest(), 20_000)
	return []job{
		{
			Row{Name: fmt.Sprintf("hook/unchanged/%d", few), Work: "a hook that finds nothing changed", Files: few, First: 25},
			func(ctx context.Context) (samples, error) {
				return b.tools(ctx, few, func(*repository) error { return nil })
			},
		},
		{
			Row{Name: fmt.Sprintf("hook/edit/%d", many), Work: "the hook after an edit of one file, 95 of 100", Files: many, First: 150},
			func(ctx context.Context) (samples, error) {
				found, err := b.tools(ctx, many, func(r *repository) error { return r.changeFiles(1) })
				if err == nil {
					found.ours = []float64{quantile(found.ours, 0.95)}
				}
				return found, err
			},
		},
	}
}

// tools measures hooks after a tool, each after an edit.
func (b *bench) tools(ctx context.Context, size int, edit func(*repository) error) (samples, error) {
	var found samples
	r, err := b.repository(ctx, fmt.Sprintf("hooks-%d", size), size)
	if err != nil {
		return found, err
	}
	if _, err := r.git(ctx, nil, "config", "checkpoint.agent.claude.enabled", "true"); err != nil {
		return found, err
	}
	hook := func(ctx context.Context, event, payload string) error {
		_, err := b.feed(ctx, r.dir, nil, strings.NewReader(payload), b.Program, "hook", "claude", event)
		return err
	}
	if err := hook(ctx, "UserPromptSubmit", promptEvent); err != nil {
		return found, err
	}
	tool := step{
		ready: func(context.Context) error { return edit(r) },
		run: func(ctx context.Context) error {
			return hook(ctx, "PostToolUse", fmt.Sprintf(toolEvent, r.paths[0]))
		},
	}
	return alone(ctx, b.Effort.Rounds, tool)
}
