package answer_test

import (
	"bytes"
	"fmt"
	"strings"
	"testing"

	"git-checkpoint/internal/answer"
	"git-checkpoint/internal/format/name"
	"git-checkpoint/internal/format/render"
	"git-checkpoint/internal/verb/inspect"
)

// worked returns a session before a rollback, after it, and after it with --hidden. Its texts have
// wide characters and emoji.
func worked() map[string]answer.Listed {
	item := func(step, minute int, label, message string) inspect.Item {
		id := fmt.Sprintf("cp-%02d-20261120T09%02d00000Z-aaaa", step, minute)
		return inspect.Item{
			ID: name.ID(id), Label: label, Session: "demo", Step: step, Milestone: !strings.Contains(label, "+"), Trigger: "manual", Status: "in_progress",
			Message: message, CreatedAt: at(minute), Commit: commit, Files: step * 3, Valid: true,
			Row: inspect.Row{Name: label, Lines: &inspect.FileCount{Added: minute, Deleted: step}},
		}
	}
	before := []inspect.Item{
		item(1, 0, "cp-01-init", "ターミナルの幅を数える"),
		item(2, 20, "cp-02-requirements-of-the-parser", "agreed with 👩‍👩‍👧 at noon, and with everybody else in the afternoon"),
		item(3, 40, "cp-03-architecture", "Frage geklärt"),
		item(3, 50, "cp-03-architecture+1", "🚀 first call goes through"),
		item(4, 54, "cp-04-build", ""),
	}
	before[3].Trigger, before[1].Pinned, before[4].IsStep = "batch_complete", true, true
	after := append([]inspect.Item(nil), before...)
	for i := 2; i < 5; i++ {
		after[i].Discarded, after[i].IsStep = true, false
	}
	after[1].IsStep = true
	safety := item(4, 55, "cp-04-build+safety-1", "before the rollback to cp-02-requirements-of-the-parser")
	safety.Trigger = "safety"
	of := func(safety, discarded int, items ...inspect.Item) answer.Listed {
		return answer.Listed{Sessions: []inspect.Listing{{Session: "demo", Topic: "幅 and 🚀", Total: len(items), Items: items, Safety: safety, Discarded: discarded}}}
	}
	return map[string]answer.Listed{
		"before": of(0, 0, before...), "after": of(1, 3, after[:2]...), "hidden": of(0, 0, append(after, safety)...),
	}
}

// The list fits the terminal, and no label is cut from 60 columns on.
func TestListFits(t *testing.T) {
	for _, width := range []int{60, 80, 120, 200} {
		for title, listed := range worked() {
			var text bytes.Buffer
			if err := answer.Text(&text, render.View{Layout: render.Aligned, Width: width, Now: now()}, listed); err != nil {
				t.Fatal(err)
			}
			golden(t, fmt.Sprintf("listed-%s-%d.term", title, width), text.Bytes())
			for line := range strings.Lines(text.String()) {
				if got := render.Width(strings.TrimSuffix(line, "\n")); got > width {
					t.Errorf("%s at %d: %d columns: %s", title, width, got, line)
				}
			}
			for _, item := range listed.Sessions[0].Items {
				if !strings.Contains(text.String(), item.Label+" ") {
					t.Errorf("%s at %d: %s is cut:\n%s", title, width, item.Label, &text)
				}
			}
		}
	}
}

// A person does not see the sessions of which nothing is left; a program counts them.
func TestListLeavesOutEmptySessions(t *testing.T) {
	l := listing()
	l.Sessions = append(l.Sessions, inspect.Listing{Session: "over", Items: []inspect.Item{}})
	for layout, want := range map[render.Layout]bool{render.Aligned: false, render.Tabbed: true} {
		var text bytes.Buffer
		if err := answer.Text(&text, render.View{Layout: layout, Width: 80, Now: now()}, l); err != nil {
			t.Fatal(err)
		}
		if got := strings.Contains(text.String(), "over"); got != want {
			t.Errorf("layout %v has the empty session: %v\n%s", layout, got, &text)
		}
	}
}

// The rows to pick from are those of the list, and none wraps.
func TestChoices(t *testing.T) {
	items := worked()["before"].Sessions[0].Items
	for i := range items {
		items[i].Row.Name = "" // numbers
	}
	for _, width := range []int{40, 60, 80} {
		ids, keys, lines := answer.Choices(items, render.View{Layout: render.Aligned, Width: width, Now: now()})
		if len(ids) != len(items) || len(keys) != len(items) || len(lines) != len(items) {
			t.Fatalf("%q, %q, %q", ids, keys, lines)
		}
		for i, line := range lines {
			item := items[len(items)-1-i]
			if ids[i] != string(item.ID) || keys[i] != answer.Number(item) || !strings.Contains(line, keys[i]) || strings.HasPrefix(line, "*") != item.IsStep || render.Width(line) > width {
				t.Errorf("at %d: %s %s %q", width, ids[i], keys[i], line)
			}
		}
	}
}
