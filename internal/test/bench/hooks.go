package bench

// An agent runs a hook after each use of a tool and waits for it, so hooks have to be
// quick.

import (
	"context"
	"errors"
	"fmt"
	"strings"
)

// The payloads that a coding agent passes to its hooks.
const (
	promptEvent = `{"session_id":"bench","hook_event_name":"UserPromptSubmit","prompt":"change something"}`
	beforeEvent = `{"session_id":"bench","hook_event_name":"PreToolUse","tool_name":"Bash","tool_use_id":"%d","tool_input":{"command":"ls"}}`
	toolEvent   = `{"session_id":"bench","hook_event_name":"PostToolUse","tool_name":"Edit","tool_input":{"file_path":%q}}`
)

// hooks measures how long an agent waits for the hook at each use of a tool.
func (b *bench) hooks() []job {
	few, many := b.Effort.small(), b.Effort.many()
	return []job{
		{
			Row{Name: fmt.Sprintf("hook/unchanged/%d", few), Work: "a hook that finds nothing changed", Files: few, First: 25},
			func(ctx context.Context) (samples, error) {
				return b.tools(ctx, few, func(*repository) error { return nil })
			},
		},
		{
			Row{Name: fmt.Sprintf("hook/before/%d", few), Work: "the hook before a tool that finds nothing changed", Files: few, First: 25},
			func(ctx context.Context) (samples, error) { return before(ctx, b.Effort.Rounds, b.forHooks(few)) },
		},
		{
			Row{Name: fmt.Sprintf("hook/before/%d", many), Work: "the hook before a tool that finds nothing changed", Files: many, First: 70},
			func(ctx context.Context) (samples, error) { return before(ctx, b.Effort.Rounds, b.forHooks(many)) },
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

// opener makes a repository, or returns the one that was made for another row.
type opener func(context.Context) (*repository, error)

// forHooks opens a repository that only rows of hooks use.
func (b *bench) forHooks(size int) opener {
	return func(ctx context.Context) (*repository, error) {
		return b.repository(ctx, fmt.Sprintf("hooks-%d", size), size)
	}
}

// hooked opens a turn, as it is when an agent uses a tool. hook sends an event.
func hooked(ctx context.Context, open opener) (r *repository, hook func(ctx context.Context, event, payload string) error, err error) {
	if r, err = open(ctx); err != nil {
		return nil, nil, err
	}
	// Without the person's consent a hook does nothing.
	if _, err := r.git(ctx, nil, "config", "checkpoint.agent.claude.enabled", "true"); err != nil {
		return nil, nil, err
	}
	hook = func(ctx context.Context, event, payload string) error {
		_, err := r.feed(ctx, r.dir, nil, strings.NewReader(payload), r.Program, "hook", "claude", event)
		return err
	}
	return r, hook, hook(ctx, "UserPromptSubmit", promptEvent)
}

// before measures the hook before a tool, each time for another call in a prompt of its own, because a prompt's hooks share a
// budget, and ends the tool.
func before(ctx context.Context, rounds int, open opener) (samples, error) {
	_, hook, err := hooked(ctx, open)
	if err != nil {
		return samples{}, err
	}
	calls := 0
	send := func(ctx context.Context, event string) error {
		return hook(ctx, event, fmt.Sprintf(beforeEvent, calls))
	}
	return alone(ctx, rounds, step{
		ready: func(ctx context.Context) error {
			err := send(ctx, "PostToolUse")
			calls++
			return errors.Join(err, hook(ctx, "UserPromptSubmit", promptEvent))
		},
		run: func(ctx context.Context) error { return send(ctx, "PreToolUse") },
	})
}

// tools measures the hook after a tool, each time after an edit.
func (b *bench) tools(ctx context.Context, size int, edit func(*repository) error) (samples, error) {
	r, hook, err := hooked(ctx, b.forHooks(size))
	if err != nil {
		return samples{}, err
	}
	tool := step{
		ready: func(context.Context) error { return edit(r) },
		run: func(ctx context.Context) error {
			return hook(ctx, "PostToolUse", fmt.Sprintf(toolEvent, r.paths[0]))
		},
	}
	return alone(ctx, b.Effort.Rounds, tool)
}
