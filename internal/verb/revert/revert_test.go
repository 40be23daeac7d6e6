package revert

import (
	"context"
	"fmt"
	"maps"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"git-checkpoint/internal/core/checkpoint"
	"git-checkpoint/internal/core/threeway"
	"git-checkpoint/internal/core/workflow"
	"git-checkpoint/internal/format/record"
	"git-checkpoint/internal/test/verbtest"
	"git-checkpoint/internal/verb/create"
	"git-checkpoint/internal/verb/rollback"
)

// world adds what this package does to a repository.
type world struct{ *verbtest.World }

// do runs a function in the repository, which has to work.
func (w world) do(f func(ctx context.Context, s *checkpoint.Service) error) {
	w.Helper()
	if err := w.Do(f); err != nil {
		w.Fatal(err)
	}
}

// save makes a checkpoint in a session, of an agent if claims are given.
func (w world) save(session, trigger string, claims map[string]string) (id string) {
	w.Helper()
	w.do(func(ctx context.Context, s *checkpoint.Service) error {
		req := create.Request{Session: session, Trigger: trigger, Workflow: workflow.AgentName}
		if claims != nil {
			req.Agent = &record.Agent{Name: "claude", Session: "c1", Paths: claims}
		}
		made, err := create.Checkpoint(ctx, s, req)
		if err == nil {
			id = string(made.Record.ID)
		}
		return err
	})
	return id
}

// revert plans a revert, and carries it out if it has no conflicts.
func (w world) revert(req Request) (answer *rollback.Answer, refused error) {
	w.Helper()
	err := w.Do(func(ctx context.Context, s *checkpoint.Service) error {
		p, err := Prepare(ctx, s, req)
		if err != nil {
			return err
		}
		if answer, refused = p.Answer(), p.Refusal; refused == nil {
			answer, err = p.Apply(ctx)
		}
		return err
	})
	if err != nil {
		return answer, err
	}
	return answer, refused
}

// walk undoes the last move, or redoes it.
func (w world) walk(redo bool) {
	w.Helper()
	w.do(func(ctx context.Context, s *checkpoint.Service) error {
		p, err := rollback.PrepareUndo(ctx, s, rollback.UndoRequest{Redo: redo})
		if err == nil {
			_, err = p.Apply(ctx)
		}
		return err
	})
}

// files returns the files of the worktree by path.
func (w world) files() map[string]string {
	w.Helper()
	out := map[string]string{}
	err := filepath.WalkDir(w.Dir, func(path string, d os.DirEntry, err error) error {
		if err == nil && d.IsDir() && d.Name() == ".git" {
			return filepath.SkipDir
		}
		if err != nil || d.IsDir() {
			return err
		}
		data, err := os.ReadFile(path)
		out[strings.TrimPrefix(path, w.Dir+"/")] = string(data)
		return err
	})
	if err != nil {
		w.Fatal(err)
	}
	return out
}

// said returns the files of an answer with what becomes of each.
func said(a *rollback.Answer) string {
	var out []string
	for _, f := range a.Files {
		text := fmt.Sprintf("%s %s", f.Path, f.How)
		if f.During {
			text += " during"
		}
		out = append(out, text+strings.Join(append([]string{""}, f.With...), " "))
	}
	for _, l := range a.Left {
		out = append(out, fmt.Sprintf("%s left %s", l.Path, l.By))
	}
	return strings.Join(out, ", ")
}

const lines = "1\n2\n3\n4\n5\n6\n7\n8\n9\n"

// Of an agent's step only what is its own goes back: what its tools named, and what its commands changed.
// --by takes what somebody else did there.
func TestOwn(t *testing.T) {
	w := world{verbtest.New(t)}
	w.Write("named", lines)
	w.save("work", "manual", nil)
	w.Write("mine", "m\n")
	w.save("work", "prompt", map[string]string{"mine": record.OutsideAgents})
	w.Write("named", strings.Replace(lines, "1", "one", 1))
	w.Write("theirs", "t\n")
	w.save("work", "tool", map[string]string{"named": record.Named, "theirs": "other"})
	w.Write("made", "c\n")
	w.Write("odd", "o\n")
	w.Write("mine", "m2\n")
	w.save("work", "tool", map[string]string{"made": record.During, "odd": record.Unknown, "mine": record.OutsideAgents})
	w.Write("named", strings.Replace(w.files()["named"], "9", "nine", 1))
	w.save("work", "turn", map[string]string{"named": record.OutsideAgents})
	before := w.files()
	for _, c := range []struct {
		req  Request
		want string
		gone []string
	}{
		{Request{Refs: []string{"@"}}, "made restored during, named merged outside, named left outside, mine left outside, odd left unknown, theirs left other", []string{"made"}},
		{Request{Since: "1"}, "made restored during, named merged outside, named left outside, mine left outside, odd left unknown, theirs left other", []string{"made"}},
		{Request{Since: "1", By: "outside"}, "mine restored, named restored", []string{"mine"}},
		{Request{Since: "1", By: "unknown"}, "odd restored", []string{"odd"}},
		{Request{Since: "1", By: "claude"}, "made restored during, named merged outside", []string{"made"}},
		{Request{Since: "1", By: "work", Paths: []string{"made"}}, "made restored during", []string{"made"}},
	} {
		c.req.Session = "work"
		answer, err := w.revert(c.req)
		if err != nil {
			t.Fatalf("%+v: %v", c.req, err)
		}
		if got := said(answer); got != c.want {
			t.Errorf("%+v:\n got %s\nwant %s", c.req, got, c.want)
		}
		after := w.files()
		for _, path := range c.gone {
			if _, there := after[path]; there {
				t.Errorf("%+v: %s is there", c.req, path)
			}
		}
		w.walk(false)
		if !maps.Equal(w.files(), before) {
			t.Fatalf("%+v: undo: %q", c.req, w.files())
		}
		w.walk(true)
		if !maps.Equal(w.files(), after) {
			t.Fatalf("%+v: redo: %q", c.req, w.files())
		}
		w.walk(false)
	}
}

// edit is what one of the actors does to the files. It does nothing if it does not fit.
type edit struct {
	who        string
	path, to   string // with to, a rename
	line, text string // a line, by what it begins with, becomes text
	remove     bool
	content    string // of a new file
}

// apply applies an edit, and reports whether it changed anything.
func (e edit) apply(files map[string]string) bool {
	now, there := files[e.path]
	_, taken := files[e.to]
	switch {
	case e.to != "":
		if !there || taken {
			return false
		}
		files[e.to] = now
		delete(files, e.path)
	case e.remove:
		delete(files, e.path)
		return there
	case e.content != "":
		if there {
			return false
		}
		files[e.path] = e.content
	default:
		var out strings.Builder
		for row := range strings.Lines(now) {
			if strings.HasPrefix(row, e.line+" ") {
				row = e.line + " " + e.text + "\n"
			}
			out.WriteString(row)
		}
		files[e.path] = out.String()
		if !there {
			delete(files, e.path)
		}
		return there && out.String() != now
	}
	return true
}

// long is a file of as many lines as the merge of two edits in it needs between them.
func long(of string) string {
	var out strings.Builder
	for i := range 40 {
		fmt.Fprintf(&out, "%s%d start\n", of, i)
	}
	return out.String()
}

// Two agents and a person edit lines, make, delete and rename files. Whatever steps of one agent are taken
// back, the worktree has what the others' edits make of the files at the start, or the plan names each
// path that differs as a conflict. Undo and redo bring everything back to the byte.
func TestRandom(t *testing.T) {
	seeds := 12
	if testing.Short() {
		seeds = 3
	}
	for seed := range seeds {
		t.Run(fmt.Sprint(seed), func(t *testing.T) { random(t, rand.New(rand.NewPCG(uint64(seed), 7))) }) //nolint:gosec // the same in every run
	}
}

func random(t *testing.T, r *rand.Rand) {
	w := world{verbtest.New(t)}
	now := map[string]string{"file": "one\n"}
	for _, name := range []string{"a", "b", "c", "d"} {
		now[name] = long(name)
		w.Write(name, now[name])
	}
	made := []string{w.save("one", "manual", nil)} // the checkpoints of session one
	start := maps.Clone(now)
	var log []edit // each is what one of them changed
	claims := map[string]string{"one": record.Named, "two": "two", "person": record.OutsideAgents}
	for len(log) < 10 {
		e := drawn(r, now, len(log))
		if !e.apply(now) {
			continue
		}
		w.put(now)
		paths := map[string]string{e.path: claims[e.who]}
		if e.to != "" {
			paths[e.to] = claims[e.who]
		}
		made = append(made, w.save("one", "tool", paths))
		log = append(log, e)
	}
	since := r.IntN(len(log))
	back := made[since]
	want := maps.Clone(start)
	called := map[string]string{} // by the name that a file would have, the one that it has without the renames taken back
	for i, e := range log {
		if name, renamed := called[e.path]; renamed {
			e.path = name
		}
		if i < since || e.who != "one" {
			e.apply(want)
		} else if e.to != "" {
			called[e.to] = e.path
		}
	}
	before := w.files()
	answer, err := w.revert(Request{Session: "one", Since: back})
	if kind := checkpoint.KindOf(err); err != nil && kind != checkpoint.KindNothing && kind != checkpoint.KindRefused {
		t.Fatal(err)
	}
	named := map[string]bool{}
	if err != nil {
		if !maps.Equal(w.files(), before) {
			t.Fatalf("refused, and %q", w.files())
		}
		if answer == nil {
			return
		}
		var rest []string
		for _, f := range answer.Files {
			if named[string(f.Path)] = f.How == threeway.Conflict; !named[string(f.Path)] {
				rest = append(rest, string(f.Path))
			}
		}
		if len(rest) == 0 {
			return
		}
		if _, err = w.revert(Request{Session: "one", Since: back, Paths: rest}); checkpoint.KindOf(err) == checkpoint.KindNothing {
			return
		} else if err != nil {
			t.Fatal(err)
		}
	}
	after := w.files()
	for path := range union(after, want) {
		if after[path] != want[path] && !named[path] && !follows(log, named, path) {
			t.Errorf("%s is not what the others made of it\nlog: %+v\nsince: %d\n got %q\nwant %q\nplan: %s", path, log, since, after[path], want[path], said(answer))
		}
	}
	w.walk(false)
	if !maps.Equal(w.files(), before) {
		t.Errorf("undo: %q", w.files())
	}
	w.walk(true)
	if !maps.Equal(w.files(), after) {
		t.Errorf("redo: %q", w.files())
	}
}

// follows reports whether a path was renamed from or to one that has a conflict.
func follows(log []edit, named map[string]bool, path string) bool {
	return slices.ContainsFunc(log, func(e edit) bool { return e.to == path && named[e.path] || e.path == path && named[e.to] })
}

// union returns the keys of two maps.
func union(a, b map[string]string) map[string]string {
	all := maps.Clone(a)
	maps.Copy(all, b)
	return all
}

// put makes the worktree have these files.
func (w world) put(files map[string]string) {
	w.Helper()
	for path := range w.files() {
		if _, there := files[path]; !there {
			if err := os.Remove(filepath.Join(w.Dir, path)); err != nil {
				w.Fatal(err)
			}
		}
	}
	for path, content := range files {
		w.Write(path, content)
	}
}

// drawn returns a random edit of one of the files.
func drawn(r *rand.Rand, files map[string]string, n int) edit {
	paths := slices.Sorted(maps.Keys(files))
	e := edit{who: []string{"one", "one", "two", "person"}[r.IntN(4)], path: paths[r.IntN(len(paths))]}
	switch r.IntN(10) {
	case 0:
		e.remove = true
	case 1:
		e.to = fmt.Sprintf("moved-%d", n)
	case 2:
		e.path, e.content = fmt.Sprintf("new-%d", n), long(fmt.Sprintf("n%d-", n))
	default:
		first, _, _ := strings.Cut(files[e.path], "0 ")
		e.line, e.text = fmt.Sprintf("%s%d", first, 4*r.IntN(10)), fmt.Sprintf("%s-%d", e.who, n)
	}
	return e
}
