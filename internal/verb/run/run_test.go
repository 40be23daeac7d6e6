//go:build unix

package run

import (
	"context"
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"git-checkpoint/internal/core/checkpoint"
	"git-checkpoint/internal/test/verbtest"
	"git-checkpoint/internal/verb/create"
	"git-checkpoint/internal/verb/inspect"
)

// world is a repository with one checkpoint of step 1, in which steps are run.
type world struct {
	*verbtest.World
	out strings.Builder // what the commands print
}

func begin(t *testing.T) *world {
	t.Helper()
	w := &world{World: verbtest.Unborn(t, "repo")}
	w.Write("file", "one\n")
	step := 1
	w.Create(create.Request{Numbering: create.Numbering{Step: &step}, Edits: create.Edits{State: []byte(`{"n":1}`)}})
	return w
}

// do runs a shell command as a step.
func (w *world) do(script string, set func(*Request)) (a *Answer, err error) {
	w.Helper()
	return w.exec([]string{"sh", "-c", script}, set)
}

// exec runs a command as a step.
func (w *world) exec(args []string, set func(*Request)) (a *Answer, err error) {
	w.Helper()
	request := Request{Command: args, IO: inspect.IO{In: strings.NewReader(""), Out: &w.out, Err: &w.out}}
	if set != nil {
		set(&request)
	}
	err = w.Do(func(ctx context.Context, s *checkpoint.Service) (err error) { a, err = Do(ctx, s, request); return err })
	return a, err
}

// count is the number of live checkpoints of a trigger.
func (w *world) count(trigger string) (n int) {
	w.Helper()
	w.Must(func(ctx context.Context, s *checkpoint.Service) error {
		listed, err := inspect.List(ctx, s.Sessions, inspect.ListRequest{Trigger: trigger})
		for _, session := range listed {
			n += len(session.Items)
		}
		return err
	})
	return n
}

func (w *world) put(name, content string, mode os.FileMode) {
	w.Helper()
	if err := os.WriteFile(filepath.Join(w.Dir, name), []byte(content), mode); err != nil {
		w.Fatal(err)
	}
}

// TestSucceeds checks that the command knows its place, and that the checkpoint has the files and
// the state that it left.
func TestSucceeds(t *testing.T) {
	w := begin(t)
	a, err := w.do(`echo "$GIT_CHECKPOINT_SESSION $GIT_CHECKPOINT_STEP"; cat "$GIT_CHECKPOINT_STATE"
		echo two >file; echo '{"n":2}' >"$GIT_CHECKPOINT_STATE"`, nil)
	if err != nil || a.Code != 0 || a.Tries != 1 || a.Created == nil || a.Problem != "" {
		t.Fatalf("%+v, %v", a, err)
	}
	if said := strings.Join(strings.Fields(w.out.String()), ""); said != string(a.Session)+`2{"n":1}` {
		t.Errorf("the command saw %s", said)
	}
	if r := a.Created.Record; r.Step != 2 || strings.TrimSpace(string(r.State)) != `{"n":2}` || len(r.Files.Modified) != 1 {
		t.Errorf("step %d with state %q and files %+v", r.Step, r.State, r.Files)
	}
}

// TestFails checks that the exit code is passed on, that the last good checkpoint is named, and that
// what was there before is kept although nobody had saved it.
func TestFails(t *testing.T) {
	w := begin(t)
	w.put("file", "unsaved\n", 0o666)
	a, err := w.do("echo broken >file; exit 7", func(r *Request) { r.Retries = 2 })
	if err != nil || a.Code != 7 || a.Tries != 3 || a.Created != nil || a.LastGood == nil || a.LastGood.Label != "cp-01" || a.Before == nil {
		t.Fatalf("%+v, %v", a, err)
	}
	w.Has("file", "broken\n")
	if n := w.count("run"); n != 1 {
		t.Errorf("%d checkpoints of what was there before", n)
	}
	// That checkpoint is the current one now, and no good one to go back to.
	if a, err := w.do("exit 7", nil); err != nil || a.LastGood == nil || a.LastGood.Label != "cp-01" {
		t.Errorf("after a failed step: %+v, %v", a, err)
	}
}

// TestCannotStart checks the codes of commands that are not there or are no programs: before
// anything was done, and when only the system finds out.
func TestCannotStart(t *testing.T) {
	w := begin(t)
	for name, code := range map[string]int{"nosuchcommand": 127, filepath.Join(w.Dir, "nosuchfile"): 127, filepath.Join(w.Dir, "file"): 126} {
		a, err := w.exec([]string{name}, nil)
		if cannot := (*CannotRunError)(nil); a != nil || !errors.As(err, &cannot) || cannot.Code != code {
			t.Errorf("%s: %+v, %v, not code %d", name, a, err, code)
		}
	}
	w.put("noise", "\x00\x01\x02", 0o777)
	w.put("lost", "#!/no/such/interpreter\n", 0o777)
	w.put("once", "#!/bin/sh\nrm once\nexit 3\n", 0o777)
	for name, code := range map[string]int{"noise": 126, "lost": 126, "once": 127} {
		a, err := w.exec([]string{filepath.Join(w.Dir, name)}, func(r *Request) { r.Retries = 1 })
		if err == nil || a == nil || a.Code != code || a.Created != nil {
			t.Errorf("%s: %+v, %v, not code %d", name, a, err, code)
		}
	}
}

// TestGoesBack checks that with RollBack each try begins from what was there, that it ends
// there, and that what each try left is in a checkpoint.
func TestGoesBack(t *testing.T) {
	w := begin(t)
	w.put("file", "unsaved\n", 0o666)
	var told []string
	a, err := w.do("cat file; echo broken >file; touch debris; exit 1", func(r *Request) {
		r.Retries, r.RollBack, r.Tell = 1, true, func(line string) { told = append(told, line) }
	})
	if err != nil || a.Code != 1 || a.Tries != 2 || len(a.Left) != 2 || len(told) != 2 || a.Restored == nil {
		t.Fatalf("%+v, %v, %q", a, err, told)
	}
	if w.out.String() != "unsaved\nunsaved\n" {
		t.Errorf("the tries began with %q", w.out.String())
	}
	w.Has("file", "unsaved\n")
	w.Must(func(ctx context.Context, s *checkpoint.Service) error {
		for _, left := range a.Left {
			d, err := inspect.Diff(ctx, s, inspect.DiffRequest{A: string(left.Before), B: string(left.Safety)})
			if err != nil || len(d.Files) != 2 {
				t.Errorf("try %d: %+v, %v", left.Try, d, err)
			}
		}
		return nil
	})
}

// TestAsked checks each answer of a person to a failed try.
func TestAsked(t *testing.T) {
	for said, want := range map[FailAnswer]string{AnswerStop: "broken\n", AnswerBefore: "unsaved\n", AnswerRollback: "one\n"} {
		w := begin(t)
		w.put("file", "unsaved\n", 0o666)
		answers := []FailAnswer{AnswerRetry, said}
		a, err := w.do("echo broken >file; exit 1", func(r *Request) {
			r.Ask = func(*Answer) (FailAnswer, error) {
				next := answers[0]
				answers = answers[1:]
				return next, nil
			}
		})
		if err != nil || a.Tries != 2 || len(answers) != 0 {
			t.Errorf("%s: %+v, %v", said, a, err)
		}
		w.Has("file", want)
	}
}

// TestProblem checks that the answer tells a checkpoint that could not be made from a way back that
// failed: both come with code 1 and an error.
func TestProblem(t *testing.T) {
	w := begin(t)
	a, err := w.do(`echo nonsense >"$GIT_CHECKPOINT_STATE"`, nil)
	if err == nil || a == nil || a.Code != 1 || a.Created != nil || a.Problem == "" {
		t.Errorf("a state that is no JSON: %+v, %v", a, err)
	}
	lock := filepath.Join(w.Dir, ".git", "index.lock")
	a, err = w.do("echo broken >file; touch .git/index.lock; exit 1", func(r *Request) { r.RollBack = true })
	if err == nil || a == nil || a.Code != 1 || a.Problem != "" || a.Restored != nil {
		t.Errorf("a locked index: %+v, %v", a, err)
	}
	if err := os.Remove(lock); err != nil {
		t.Fatal(err)
	}
	w.Has("file", "broken\n")
}

// TestWithout checks that the command runs where no checkpoint is to be made, and that a dry run
// runs nothing.
func TestWithout(t *testing.T) {
	w := begin(t)
	a, err := w.do("echo ran", func(r *Request) { r.Create.DryRun = true })
	if err != nil || a.Tries != 0 || w.out.Len() != 0 {
		t.Errorf("a dry run: %+v, %v, %q", a, err, w.out.String())
	}
	if err := os.WriteFile(filepath.Join(w.Root, ".gitconfig"), []byte("[checkpoint]\nenabled=false\n"), 0o666); err != nil {
		t.Fatal(err)
	}
	a, err = w.do("echo ran; exit 7", nil)
	if err != nil || a.Code != 7 || a.Created != nil || a.Problem == "" || w.out.String() != "ran\n" {
		t.Errorf("switched off: %+v, %v, %q", a, err, w.out.String())
	}
}

// TestSkip checks that the step after a skipped one may begin.
func TestSkip(t *testing.T) {
	w := begin(t)
	step := func(n int) func(*Request) {
		return func(r *Request) { r.Create.Session, r.Create.Workflow, r.Create.Step = "team", "go-team", &n }
	}
	if a, err := w.do("true", step(1)); err != nil {
		t.Fatalf("%+v, %v", a, err)
	}
	if _, err := w.do("true", step(3)); checkpoint.KindOf(err) != checkpoint.KindRejected {
		t.Errorf("step 3 without step 2: %v", err)
	}
	w.Must(func(ctx context.Context, s *checkpoint.Service) error {
		return Skip(ctx, s.Sessions, "team", 2, "done elsewhere")
	})
	if a, err := w.do("true", step(3)); err != nil || a.Created == nil || a.Created.Record.Step != 3 {
		t.Errorf("step 3 after step 2 was skipped: %+v, %v", a, err)
	}
}
