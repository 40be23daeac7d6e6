package answer_test

import (
	"bytes"
	"encoding/json"
	"flag"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"
	"unicode"

	"github.com/google/go-cmp/cmp"

	"git-checkpoint/internal/answer"
	"git-checkpoint/internal/core/author"
	"git-checkpoint/internal/core/checkpoint"
	"git-checkpoint/internal/core/clearance"
	"git-checkpoint/internal/format/name"
	"git-checkpoint/internal/format/record"
	"git-checkpoint/internal/format/render"
	"git-checkpoint/internal/verb/attempt"
	"git-checkpoint/internal/verb/blame"
	"git-checkpoint/internal/verb/inspect"
	"git-checkpoint/internal/verb/resume"
	"git-checkpoint/internal/verb/retain"
	"git-checkpoint/internal/verb/rollback"
	"git-checkpoint/internal/verb/session"
	"git-checkpoint/internal/verb/travel"
)

var update = flag.Bool("update", false, "write the goldens anew")

const (
	first  = name.ID("cp-01-20261120T090000000Z-aaaa")
	third  = name.ID("cp-03-20261120T094311123Z-4f2a")
	fifth  = name.ID("cp-05-20261120T101500000Z-0b1c")
	commit = name.OID("1a2b3c4d5e6f708192a3b4c5d6e7f8091a2b3c4d")
	head   = name.OID("9f8e7d6c5b4a392817060504030201000f0e0d0c")
)

func at(minute int) checkpoint.Time {
	return checkpoint.Time{Time: time.Date(2026, 11, 20, 9, minute, 0, 0, time.UTC)}
}

// now is the time that relative times refer to.
func now() time.Time { return at(55).Time }

func detail() *checkpoint.Detail {
	created := true
	return &checkpoint.Detail{
		Record: &record.Record{
			ID: third, Label: "cp-03-architecture", Session: "demo", Step: 3, StepName: "architecture", Milestone: true,
			Trigger: "phase_transition", Status: "in_progress", Message: "API first\n\nThen the rest.", Topic: "todo service",
			CreatedAt: at(43).Time, Workflow: record.Workflow{Name: "go-team"},
			State:   json.RawMessage(`{"phase": "architecture", "metrics": {"build_pass": false, "n": 9007199254740993}}`),
			Outputs: map[string]record.Output{"spec": {Source: "docs/spec.md", Size: 4312, Lines: 120}},
			Git:     record.Git{Branch: "refs/heads/main", Head: head, Staged: []record.Path{"go.mod"}},
			Files: record.NewFiles([]record.Path{"docs/spec.md", "new\x1b[31m.go"}, []record.Path{"main.go"},
				[]record.Path{"old.go"}),
			Snapshot: record.Snapshot{Tree: commit, Skipped: []record.Skipped{{Path: "x.iso", Reason: "larger than checkpoint.maxFileSize", Size: 734003200}}},
		},
		Raw:    json.RawMessage("{\n  \"format\": 1,\n  \"big\": 9007199254740993,\n  \"unknown\": [ ]\n}\n"),
		Commit: commit, Ref: "refs/checkpoints/demo/" + name.Ref(third), Tag: "refs/tags/checkpoint/demo/step-3",
		Created: &created, Current: true, Pinned: true, First: true,
	}
}

func listing() answer.Listed {
	return answer.Listed{Sessions: []inspect.Listing{{Session: "demo", Topic: "todo service", Total: 9, Items: []inspect.Item{
		{ID: first, Label: "cp-01-init", Step: 1, Milestone: true, Trigger: "manual", Status: "in_progress", CreatedAt: at(0), Files: 3, Pinned: true, Valid: true},
		{ID: "cp-02-20261120T091000000Z-bbbb", Label: "cp-02-requirements", Step: 2, Milestone: true, Trigger: "manual", CreatedAt: at(10), Files: 1, Discarded: true, Valid: true},
		{ID: "cp-02-20261120T092000000Z-cccc", Label: "cp-02-requirements+1", Step: 2, Trigger: "batch_complete", CreatedAt: at(20), Problem: "record cannot be read"},
		{ID: third, Label: "cp-03-architecture", Step: 3, Iteration: "2", Milestone: true, Trigger: "manual", Status: "in_progress", Message: "before the\tqueue\nand more", CreatedAt: at(43), Files: 12, Current: true, IsStep: true, Valid: true},
	}}}}
}

func difference() *inspect.Difference {
	one, two := 1, 2
	return &inspect.Difference{
		From: checkpoint.Labelled{ID: first, Label: "cp-01-init"}, To: &checkpoint.Labelled{ID: third, Label: "cp-03-architecture"},
		State: []inspect.StateChange{
			{Path: "phase", Op: "changed", Old: json.RawMessage(`"init"`), New: json.RawMessage(`"architecture"`)},
			{Path: "metrics.build_pass", Op: "added", New: json.RawMessage("true")},
		},
		Outputs: []record.OutputChange{
			{Name: "spec", Op: "added", NewLines: 120}, {Name: "code_files", Op: "changed", OldEntries: &two, NewEntries: &one},
			{Name: "notes", Op: "removed", OldLines: 1},
		},
		Files: []checkpoint.FileChange{
			{Path: "a.go", Op: "added"}, {Path: "b.go", Op: "modified"}, {Path: "c.go", Op: "deleted"},
			{Path: "link", Op: "type"},
		},
		Checkpoints: []checkpoint.Labelled{{ID: "cp-02-20261120T091000000Z-bbbb", Label: "cp-02-requirements"}},
		Commits:     []inspect.CommitLine{{OID: commit, Subject: "Add the queue"}},
	}
}

func rolledBack() *rollback.Answer {
	return &rollback.Answer{
		Session: "demo", From: fifth, To: third, ToLabel: "cp-03-architecture", Safety: "cp-05-20261120T095500000Z-dddd", Mode: "all",
		Plan: rollback.PlanFiles{
			Write: []checkpoint.Path{"main.go", "src/a b.go"}, Delete: []checkpoint.Path{"new.go"}, Mode: []checkpoint.Path{"run.sh"},
			Risk:    []rollback.Risk{{Path: "big.bin", Reason: "content of a filter lies outside git"}},
			Discard: []string{"cp-04-implementation", "cp-05-testing"}, Skipped: []checkpoint.Path{"vendor/nested"},
		},
		Branch:   checkpoint.BranchPlan{Name: "refs/heads/main", From: commit, To: head, CommitsLeft: 2},
		Pending:  json.RawMessage(`[{"id": "k4", "agent": "tester"}]`),
		NextStep: &rollback.NextStep{Step: 4, Name: "implementation"},
		Mentioned: rollback.Mentioned{
			Target: checkpoint.Mention{Name: "cp-03-architecture", Message: "API first", At: at(43).Time},
			Leaves: []checkpoint.Mention{{Name: "cp-04-implementation", Message: "the queue"}, {Name: "cp-05-testing", Files: "a.go and b.go"}},
			Lines:  map[checkpoint.Path]inspect.FileCount{"main.go": {Added: 1, Deleted: 2}},
		},
	}
}

func walked() *rollback.Answer {
	r := rolledBack()
	r.Command = "undo"
	return r
}

func moved() *rollback.Answer {
	r := rolledBack()
	r.Branch.Moved, r.Branch.Target, r.Mode, r.State = true, r.Branch.Name, "state", json.RawMessage(`{"phase":"architecture"}`)
	return r
}

func status() *inspect.StatusAnswer {
	last, began := at(43), at(50)
	return &inspect.StatusAnswer{
		Enabled: true, Session: "demo", Workflow: "go-team", Current: &checkpoint.Labelled{ID: third, Label: "cp-03-architecture"},
		CheckpointCount: 4, LastCheckpointAt: &last, NextAction: "step 4, implementation", Branch: "refs/heads/main",
		Changed:            []checkpoint.FileChange{{Path: "a.go", Op: "modified"}},
		UnfinishedRollback: &inspect.Unfinished{To: first, Safety: fifth, StartedAt: began},
		Remote:             &travel.RemoteStatus{Name: "origin"}, Topic: "todo service", Status: "in_progress", Discarded: 1,
	}
}

func running() *inspect.StatusAnswer {
	s := status()
	s.UnfinishedRollback.Process = 4711
	return s
}

func history() answer.Audit {
	return answer.Audit{
		{Event: "start", Time: at(0), Actor: "A U Thor <a@example.com>", Session: "demo", OID: head},
		{Event: "create", Time: at(0), Actor: "A U Thor <a@example.com>", Session: "demo", Checkpoint: first, Label: "cp-01-init", OID: commit},
		{Event: "create", Time: at(43), Actor: "A U Thor <a@example.com>", Session: "demo", Checkpoint: third, Label: "cp-03-architecture", OID: commit},
		{Event: "rollback", Time: at(50), Actor: "A U Thor <a@example.com>", Session: "demo", From: third, To: first, Reason: "queue instead", OID: commit},
		{Event: "prune", Time: at(51), Actor: "A U Thor <a@example.com>", Session: "demo", Pruned: []name.ID{third}, OID: commit},
		{Event: "close", Time: at(52), Actor: "A U Thor <a@example.com>", Session: "demo", Status: "complete", OID: commit},
	}
}

func manifest() session.Manifest {
	return session.Manifest{
		Session: "demo", Workflow: "go-team", Topic: "todo service", Status: "in_progress", Branch: "refs/heads/go-team/demo",
		CreatedAt: at(0), UpdatedAt: at(50), CurrentCheckpoint: first, Active: true,
		Checkpoints: []session.ManifestEntry{
			{ID: first, Label: "cp-01-init", Step: 1, Timestamp: at(0), Valid: true, Message: "set up the project"},
			{ID: third, Label: "cp-03-architecture", Step: 3, Timestamp: at(43), Valid: true, Discarded: true, Pinned: true, Message: "(queue.go and 2 more)"},
		},
		RollbackHistory: []session.RollbackRecord{{From: third, To: first, Time: at(50), Reason: "queue instead"}},
	}
}

func sideBySide() *attempt.Comparison {
	row := func(called, coverage string, best ...string) attempt.Compared {
		return attempt.Compared{
			Name: called, Session: "demo-" + name.Session(called), Label: "cp-04-build", Steps: 2, Status: "in_progress", Files: 3, Added: 10, Deleted: 4, CreatedAt: at(43),
			Message: "with a queue", Metrics: map[string]json.RawMessage{"coverage": json.RawMessage(coverage)}, Best: append([]string{}, best...),
		}
	}
	return &attempt.Comparison{Rows: []attempt.Compared{row("4a", "80"), row("4b", "91.5", "coverage")}, Metrics: []string{"coverage"}}
}

func answers() map[string]answer.Answer {
	m := manifest()
	removed := &retain.Removed{Removed: []checkpoint.Labelled{{ID: first, Label: "cp-01-init"}}, Bytes: 1 << 20}
	return map[string]answer.Answer{
		"created": answer.Created{Detail: detail()}, "captured": answer.Captured{Detail: detail()}, "shown": answer.Shown{Detail: detail()},
		"listed": listing(), "compared": answer.Compared{Difference: difference()},
		"compared-equal": answer.Compared{Difference: &inspect.Difference{From: checkpoint.Labelled{ID: first, Label: "cp-01-init"}}},
		"planned":        answer.Planned{Plan: rolledBack()}, "planned-branch": answer.Planned{Plan: moved()},
		"rolledback": answer.RolledBack{Done: rolledBack()}, "rolledback-state": answer.RolledBack{Done: moved()},
		"undone": answer.RolledBack{Done: walked()}, "stands": answer.Stands{Status: status()}, "stands-running": answer.Stands{Status: running()},
		"stands-new": answer.Stands{Status: &inspect.StatusAnswer{Enabled: true, Branch: "refs/heads/main"}},
		"audit":      history(), "session": answer.Session{Manifest: &m}, "sessions": answer.Sessions{m},
		"side-by-side": answer.SideBySide{Found: sideBySide()},
		"deleted":      answer.Deleted{Removed: removed}, "todelete": answer.Deleted{Removed: removed, Planned: true},
		"guarded": guarded(answer.Guarded{}), "guarded-verbose": guarded(answer.Guarded{Verbose: true}),
		"value": answer.Value(`"two\nlines"`), "value-object": answer.Value("{\n \"n\": 1.10\n}"),
	}
}

// guarded adds findings of all kinds: in one file several, some allowed, one public, one in a message.
func guarded(a answer.Guarded) answer.Guarded {
	one := func(path string, line int, allowed, in string) clearance.Secret {
		return clearance.Secret{
			Path: checkpoint.Path(path), Line: line, Rule: "github-token", What: "a GitHub token", Blob: commit, Checkpoint: "cp-0" + in,
			Holder: checkpoint.Mention{Name: in, Message: "try the API"}, Allowed: allowed,
		}
	}
	public := one("fixtures/key.pem", 1, "", "1")
	public.Public = true
	secrets := []clearance.Secret{one("", 3, "", "4")}
	for line := range 6 {
		secrets = append(secrets, one("dir/a b.env", line+1, "", "3"))
	}
	a.Found = &clearance.Answer{Looked: 20, Secrets: append(secrets, one("t.env", 1, "made for tests", "2"), one("t.env", 9, "", "2"), public)}
	return a
}

// golden compares with a file of testdata.
func golden(t *testing.T, file string, got []byte) {
	t.Helper()
	file = filepath.Join("testdata", file)
	if *update {
		if err := os.WriteFile(file, got, 0o666); err != nil {
			t.Fatal(err)
		}
	}
	want, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(string(want), string(got)); diff != "" {
		t.Errorf("%s: -want +got\n%s", file, diff)
	}
}

// Each answer reads as its goldens have it: at a terminal, in a pipe and as JSON.
func TestGoldens(t *testing.T) {
	people := render.View{Layout: render.Aligned, Width: 100, Now: now()}
	for title, given := range answers() {
		forms := map[string]func(*bytes.Buffer) error{
			"term": func(b *bytes.Buffer) error { return answer.Text(b, people, given) },
			"pipe": func(b *bytes.Buffer) error { return answer.Text(b, render.View{}, given) },
			"json": func(b *bytes.Buffer) error { return answer.JSON(b, given) },
		}
		for form, write := range forms {
			t.Run(title+"."+form, func(t *testing.T) {
				var got bytes.Buffer
				if err := write(&got); err != nil {
					t.Fatal(err)
				}
				golden(t, title+"."+form, got.Bytes())
			})
		}
		var narrow bytes.Buffer
		if err := answer.Text(&narrow, render.View{Layout: render.Aligned, Width: 80, Now: now()}, given); err != nil {
			t.Fatal(err)
		}
		for line := range strings.Lines(narrow.String()) {
			if text := strings.TrimSpace(line); render.Width(strings.TrimSuffix(line, "\n")) > 80 && strings.Contains(text, " ") {
				t.Errorf("%s: wider than 80 columns: %s", title, line)
			}
		}
	}
}

// The line about the next undo is wrapped at words, at a terminal.
func TestNextUndoIsWrapped(t *testing.T) {
	r := walked()
	r.NextUndo = &rollback.UndoLevel{To: "cp-04-20261120T101500000Z-0b1c", Goes: checkpoint.Mention{Name: "4", Message: "a message of some words"}, Said: "promotion of 3b: 4 of session main-3b"}
	var b bytes.Buffer
	if err := answer.Text(&b, render.View{Layout: render.Aligned, Width: 80, Now: now()}, answer.RolledBack{Done: r}); err != nil || !strings.Contains(b.String(), "before the\npromotion of 3b") {
		t.Errorf("%v: %s", err, b.String())
	}
}

// At 80 columns blame shows enough of a prompt to know it, and of the line.
func TestBlameFits(t *testing.T) {
	l := blame.Line{Line: 1000, Label: "B12", Ref: "12", By: author.During, Agent: "claude", Message: "print each of the arguments as JSON", Content: "\tprint(strings.Join(arguments, \", \"))", Time: checkpoint.Time{Time: now().Add(-10 * time.Second)}}
	var b bytes.Buffer
	err := answer.Text(&b, render.View{Layout: render.Aligned, Width: 80, Now: now()}, answer.Blamed{Lines: []blame.Line{l}})
	if want := "12  print each of the…  during claude  10s  1000          print(strings.Join(ar…\n"; err != nil || b.String() != want {
		t.Errorf("%v: %q", err, b.String())
	}
}

// Nothing that a terminal would obey gets into the output, whatever a repository contains.
func TestTamed(t *testing.T) {
	const hostile = "a\x1b]0;evil\x07\u202eb\x9bc\rd"
	r := rolledBack()
	r.ToLabel, r.Session, r.Plan.Write, r.Plan.Discard = hostile, hostile, []checkpoint.Path{hostile}, []string{hostile}
	r.Plan.Risk, r.NextStep.Name = []rollback.Risk{{Path: hostile, Reason: hostile}}, hostile
	r.Pending, r.Branch.Name = json.RawMessage(`["`+"\u009b\u202e"+`"]`), hostile
	d := detail()
	d.Record.Label, d.Record.Message, d.Record.Topic, d.Record.StepName = hostile, hostile, hostile, hostile
	d.Record.Files.Created, d.Record.Git.Branch, d.Tag = []record.Path{hostile}, hostile, hostile
	d.Record.Outputs = map[string]record.Output{hostile: {Source: hostile}}
	h := history()
	h[0].Actor, h[0].Reason, h[0].Label = hostile, hostile, hostile
	s := status()
	s.Topic, s.NextAction, s.Changed, s.Remote.Name = hostile, hostile, []checkpoint.FileChange{{Path: hostile}}, hostile
	m := manifest()
	m.Topic, m.Checkpoints[0].Label, m.RollbackHistory[0].Reason = hostile, hostile, hostile
	l := listing()
	l.Sessions[0].Topic, l.Sessions[0].Items[0].Label, l.Sessions[0].Items[0].Message, l.Sessions[0].Items[0].Problem = hostile, hostile, hostile, hostile
	c := difference()
	c.State[0].Path, c.State[0].Old, c.Files[0].Path, c.Commits[0].Subject = hostile, json.RawMessage("\"\u009b\""), hostile, hostile
	for _, given := range []answer.Answer{
		answer.Planned{Plan: r}, answer.RolledBack{Done: r}, answer.Created{Detail: d}, answer.Captured{Detail: d},
		answer.Shown{Detail: d}, h, answer.Stands{Status: s}, answer.Session{Manifest: &m}, answer.Sessions{m}, l,
		answer.Compared{Difference: c}, answer.Value("\"\u009b\u202e\""),
		answer.Deleted{Removed: &retain.Removed{Removed: []checkpoint.Labelled{{Label: hostile}}}},
	} {
		for _, view := range []render.View{{}, {Layout: render.Aligned, Width: 80, Now: now()}} {
			var b bytes.Buffer
			if err := answer.Text(&b, view, given); err != nil {
				t.Errorf("%T: %v", given, err)
			}
			if i := strings.IndexFunc(b.String(), obeyed); i >= 0 {
				t.Errorf("%T lets through %q", given, b.String()[i:min(i+20, b.Len())])
			}
		}
	}
}

func obeyed(r rune) bool {
	return r != '\n' && r != '\t' && (unicode.IsControl(r) || r == '\u202e' || r == unicode.ReplacementChar)
}

// A plan that was not confirmed says that nothing was done.
func TestUnconfirmed(t *testing.T) {
	var b bytes.Buffer
	if err := answer.JSON(&b, (answer.Planned{Plan: rolledBack()}).Unconfirmed()); err != nil {
		t.Fatal(err)
	}
	if !strings.Contains(b.String(), `"dry_run":true`) {
		t.Errorf("no dry run: %s", b.String())
	}
}

// A long list is cut for people and complete for programs. A text is the same whether or not it
// contains escapes.
func TestLongLists(t *testing.T) {
	plan := &rollback.Answer{ToLabel: "cp-03", Session: "demo"}
	report := &resume.Answer{Session: "demo"}
	long := &resume.Answer{Session: "demo", Steps: true}
	for i := range 2003 {
		long.Completed = append(long.Completed, fmt.Sprintf("step %d", i))
	}
	for i := range 40 {
		plan.Leaves = append(plan.Leaves, checkpoint.Mention{Name: fmt.Sprintf("cp-%d", i)})
		report.Completed = append(report.Completed, fmt.Sprintf("step %d", i))
	}
	report.Completed = append(report.Completed, `a "b" é`, "é", `"`, "", map[string]any{"n": 1})
	for _, c := range []struct {
		a       answer.Answer
		layout  render.Layout
		has     []string
		without string
	}{
		{answer.Planned{Plan: plan}, render.Aligned, []string{"cp-0, cp-1,", "cp-4, … and 35 more"}, "cp-5"},
		{answer.Planned{Plan: plan}, render.Tabbed, []string{"cp-0, cp-1,", "cp-38, cp-39"}, "more"},
		{answer.Resumed{Resume: report}, render.Aligned, []string{"… 42 before: git checkpoint resume demo --json\n", `{"n":1}`}, "step 39"},
		{answer.Resumed{Resume: long}, render.Tabbed, []string{"… 2,000 before: git checkpoint list --all\n", "\tstep 2000\n", "step 2002\n"}, "step 1999\n"},
		{answer.Resumed{Resume: report}, render.Tabbed, []string{"\t\"\n", `{"n":1}`}, "step 39"},
	} {
		var b bytes.Buffer
		if err := answer.Text(&b, render.View{Layout: c.layout, Now: now(), Width: 200}, c.a); err != nil {
			t.Fatal(err)
		}
		for _, text := range c.has {
			if !strings.Contains(b.String(), text) {
				t.Errorf("%q is not in\n%s", text, b.String())
			}
		}
		if strings.Contains(b.String(), c.without) {
			t.Errorf("%q is in\n%s", c.without, b.String())
		}
	}
}

// A list in an answer is never null, however deep it is. A value that is stored as JSON is left alone.
func TestNoListIsNull(t *testing.T) {
	var out bytes.Buffer
	err := answer.JSON(&out, answer.Resumed{Resume: &resume.Answer{Restored: &rollback.Answer{}, Pending: []json.RawMessage{json.RawMessage("null")}}})
	if err != nil {
		t.Fatal(err)
	}
	var got struct {
		Completed, Pending []json.RawMessage
		Restored           struct{ Plan map[string]json.RawMessage }
	}
	if err := json.Unmarshal(out.Bytes(), &got); err != nil {
		t.Fatal(err)
	}
	if got.Completed == nil || len(got.Pending) != 1 || string(got.Pending[0]) != "null" || len(got.Restored.Plan) < 7 {
		t.Errorf("%s", out.Bytes())
	}
	for member, value := range got.Restored.Plan {
		if string(value) != "[]" {
			t.Errorf("%s is %s", member, value)
		}
	}
	out.Reset()
	if err := answer.JSON(&out, answer.Workflows{{Name: "x"}}); err != nil || !strings.Contains(out.String(), `"problems":[]`) {
		t.Errorf("%s, %v", out.Bytes(), err)
	}
}

// The age of a checkpoint is in its two largest units.
func TestAge(t *testing.T) {
	for seconds, want := range map[int64]string{
		0: "0s", 45: "45s", 192: "3m 12s", 7200: "2h", 7259: "2h", 7500: "2h 5m", 76*3600 + 2400: "3d 4h", -90: "-1m 30s",
	} {
		var out strings.Builder
		if err := answer.Text(&out, render.View{}, answer.Resumed{Resume: &resume.Answer{AgeSeconds: seconds}}); err != nil || !strings.Contains(out.String(), "Age\t"+want+"\n") {
			t.Errorf("%d: %v\n%s", seconds, err, out.String())
		}
	}
}
