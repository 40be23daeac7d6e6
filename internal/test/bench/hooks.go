package bench

// An agent runs a hook after each use of a tool and waits for it, so hooks have to be
// quick.

import (
	"context"
	"fmt"
	"strings"
)

// The payloads that a coding agent passes to its hooks.
const (
	promptEvent = `{"session_id":"bench","hook_event_name":"UserPromptSubmit","prompt":"change something"}`
	toolEvent   = `{"session_id":"bench","hook_event_name":"PostToolUse","tool_name":"Edit","tool_input":{"file_path":%q}}`
)

// hooks measures how long an agent waits for the hook at each use of a tool.
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
				// One slow hook in twenty is what a person notices, so the row has the 95th
				// percentile.
				if err == nil {
					found.ours = []float64{quantile(found.ours, 0.95)}
				}
				return found, err
			},
		},
	}
}

// tools measures the hook after a tool, each time after an edit.
func (b *bench) tools(ctx context.Context, size int, edit func(*repository) error) (samples, error) {
	var found samples
	r, err := b.repository(ctx, fmt.Sprintf("hooks-%d", size), size)
	if err != nil {
		return found, err
	}
	// Without the person's consent a hook does nothing.
	if _, err := r.git(ctx, nil, "config", "checkpoint.agent.claude.enabled", "true"); err != nil {
		return found, err
	}
	hook := func(ctx context.Context, event, payload string) error {
		_, err := b.feed(ctx, r.dir, nil, strings.NewReader(payload), b.Program, "hook", "claude", event)
		return err
	}
	// The turn has to be open, as it is when an agent uses a tool.
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
