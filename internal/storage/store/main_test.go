package store

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"git-checkpoint/internal/format/journal"
	"git-checkpoint/internal/format/name"
	"git-checkpoint/internal/format/record"
	"git-checkpoint/internal/git"
	"git-checkpoint/internal/test/gittest"
)

// fixture is a repository with one commit, its store, and plain git.
type fixture struct {
	*gittest.Repository
	*Store
}

func newFixture(t testing.TB, initArgs ...string) *fixture {
	t.Helper()
	f := &fixture{Repository: gittest.New(t, initArgs...)}
	f.Commit("first")
	f.Store = f.open(f.Dir)
	return f
}

// open returns another store of the same repository, as another process would have it.
func (f *fixture) open(dir string) *Store {
	f.Helper()
	r, err := git.Open(context.Background(), git.Options{Dir: dir, Env: f.Env})
	if err != nil {
		f.Fatal(err)
	}
	f.Cleanup(func() { r.Close() })
	return New(Options{Repo: r, Warn: func(s string) { f.TB.Log(s) }})
}

func (f *fixture) path(parts ...string) string {
	return filepath.Join(append([]string{f.Dir, ".git"}, parts...)...)
}

// drop removes a loose object.
func (f *fixture) drop(oid name.OID) {
	f.Helper()
	if err := os.Remove(f.Loose(oid)); err != nil {
		f.Fatal(err)
	}
	fresh := f.open(f.Dir).Repo // this one may have read it
	f.Repo, f.contents.repo, f.journals.repo, f.composer.repo, f.localFiles.repo = fresh, fresh, fresh, fresh, fresh
}

// milestone describes a checkpoint that a test creates.
type milestone struct {
	step      int // 0: the next one
	iteration string
	minor     bool // no milestone
	safety    bool
	retag     bool
}

// create makes one checkpoint in its own transaction, as the packages above the store do.
func create(ctx context.Context, s *Store, session name.Session, m milestone) (name.ID, Result, error) {
	var id name.ID
	res, err := s.Transact(ctx, session, func(ctx context.Context, v View) (Change, error) {
		var c Change
		step := m.step
		if v.State == nil {
			c.Events = append(c.Events, journal.Event{Kind: journal.KindStart, Time: s.Now(), Actor: "Ann <ann@example.com>", Workflow: "go-team"})
		} else if e := v.State.CurrentEntry(); step == 0 && e != nil {
			step = e.Step
		}
		if m.step == 0 {
			step++
		}
		now := s.Now().UTC().Truncate(time.Millisecond)
		id = name.NewID(step, now, uint16(s.Random()))
		w, r, err := draft(ctx, s, session, id, step, m, now)
		if err != nil {
			return c, err
		}
		c.Events = append(c.Events, journal.Event{
			Kind: journal.KindCreate, Time: now, Actor: "Ann <ann@example.com>", Checkpoint: id, Label: r.Label, Step: step, Iteration: m.iteration,
			Milestone: !m.minor, Trigger: r.Trigger, CheckpointStatus: "in_progress", Commit: w.Commit, Record: r.Checksum,
		})
		c.Create = []NewCheckpoint{{ID: id, Commit: w.Commit, RecordBlob: w.RecordBlob}}
		c.Verify, c.Retag = w.NewObjects, m.retag
		return c, nil
	})
	return id, res, err
}

func draft(ctx context.Context, s *Store, session name.Session, id name.ID, step int, m milestone, at time.Time) (Written, *record.Record, error) {
	tree, err := s.Repo.Trees.Write(ctx, nil)
	if err != nil {
		return Written{}, nil, err
	}
	trigger := "manual"
	if m.safety {
		trigger = journal.TriggerSafety
	}
	r := &record.Record{
		Format: record.Format, ID: id, Label: name.Label(step, "", m.iteration), Session: session, Step: step, Iteration: m.iteration, Milestone: !m.minor,
		Trigger: trigger, Status: "in_progress", Message: fmt.Sprint("step ", step), CreatedAt: at, Workflow: record.Workflow{Name: "go-team", Version: "1"},
		Git: record.Git{Worktree: "main", Head: s.Repo.Head.OID}, Snapshot: record.Snapshot{Tree: tree, Complete: true},
	}
	author, committer := s.Repo.Commits.Identity(at)
	w, err := s.WriteCheckpoint(ctx, Draft{Record: r, Tree: tree, Head: s.Repo.Head.OID, IndexTree: tree, Author: author, Committer: committer})
	return w, r, err
}

func (f *fixture) create(session name.Session, m milestone) name.ID {
	f.Helper()
	id, res, err := create(f.Context(), f.Store, session, m)
	if err != nil {
		f.Fatal(err)
	}
	if len(res.Warnings) > 0 {
		f.Fatal(res.Warnings)
	}
	return id
}

func (f *fixture) commit(session name.Session, id name.ID) name.OID {
	f.Helper()
	oid, err := f.Checkpoint(f.Context(), session, id)
	if err != nil {
		f.Fatal(err)
	}
	return oid
}

// change runs a transaction with a fixed change.
func (f *fixture) change(session name.Session, c Change) (Result, error) {
	f.Helper()
	for i := range c.Events {
		c.Events[i].Time, c.Events[i].Actor = f.Now(), "Ann <ann@example.com>"
	}
	return f.Transact(f.Context(), session, func(context.Context, View) (Change, error) { return c, nil })
}

func (f *fixture) mustChange(session name.Session, c Change) Result {
	f.Helper()
	res, err := f.change(session, c)
	if err != nil {
		f.Fatal(err)
	}
	return res
}

// tags lists the tags of a session as "step-1=<id>".
func (f *fixture) tags(session name.Session) string {
	f.Helper()
	ids := map[string]name.ID{}
	sums, err := f.Summaries(f.Context(), session)
	if err != nil {
		f.Fatal(err)
	}
	for _, s := range sums {
		ids[string(s.Commit)] = s.ID
	}
	var out []string
	for _, line := range strings.Fields(f.Git("for-each-ref", "--format=%(refname)=%(objectname)", name.TagRoot+string(session))) {
		ref, oid, _ := strings.Cut(line, "=")
		out = append(out, strings.TrimPrefix(ref, name.TagRoot+string(session)+"/")+"="+string(ids[oid]))
	}
	return strings.Join(out, " ")
}

// Summaries lists the checkpoints of a session in the order of their ids. It reads their commits,
// but not their records. A damaged checkpoint has its error in Err and does not stop the others.
func (f *fixture) Summaries(ctx context.Context, session name.Session) ([]Summary, error) {
	refs, err := f.Repo.Refs.List(ctx, name.CheckpointRoot+string(session)+"/")
	if err != nil {
		return nil, err
	}
	var out []Summary
	for _, r := range f.Held(ctx, refs) {
		if sum, ok := begin(r); ok {
			out = append(out, sum)
		}
	}
	all := make([]*Summary, len(out))
	for i := range out {
		all[i] = &out[i]
	}
	return out, f.readSummaries(ctx, all)
}

// errNoCheckpoint says that neither a ref nor an archive has a checkpoint.
var errNoCheckpoint = errors.New("no such checkpoint")

// Checkpoint returns the commit C of a checkpoint, from its ref or the session's archive. It does
// not read the commit. The error wraps errNoCheckpoint if neither has it.
func (f *fixture) Checkpoint(ctx context.Context, session name.Session, id name.ID) (name.OID, error) {
	oid, err := f.resolveHeld(ctx, session, id)
	if err == nil && oid == "" {
		err = fmt.Errorf("checkpoint %s of session %q: %w", id, session, errNoCheckpoint)
	}
	return oid, err
}

// Note returns the blob that is a commit's note in refs/notes/checkpoints, or "" if there is none.
// If the commit has several notes, in different fan-outs, the error is a DamagedError; git shows
// these concatenated.
func (f *fixture) Note(ctx context.Context, commit name.OID) (name.OID, error) {
	tree, err := f.notesTree(ctx)
	if err != nil || tree == "" {
		return "", err
	}
	forms, err := f.noteForms(ctx, tree, commit)
	switch {
	case err != nil:
		return "", damaged(ctx, "notes tree", tree, err)
	case len(forms) == 0:
		return "", nil
	case len(forms) > 1:
		return "", &DamagedError{What: "notes tree", OID: tree, Err: fmt.Errorf("%s has %d notes", commit.Short(), len(forms))}
	}
	return forms[0].New.OID, nil
}

// Notes returns all notes by the commit that they annotate. If a commit has several, it returns the
// one at notePath, or else any of them.
func (f *fixture) Notes(ctx context.Context) (map[name.OID]name.OID, error) {
	tree, err := f.notesTree(ctx)
	if err != nil || tree == "" {
		return nil, err
	}
	out := map[name.OID]name.OID{}
	err = f.Repo.Trees.Walk(ctx, tree, func(path string, e git.Entry) error {
		commit, err := name.NotedOID(path)
		if err == nil && (out[commit] == "" || path == notePath(commit)) {
			out[commit] = e.OID
		}
		return nil
	})
	if err != nil {
		return nil, damaged(ctx, "notes tree", tree, err)
	}
	return out, nil
}

// notesTree returns the tree of refs/notes/checkpoints, or "" if there are no notes.
func (f *fixture) notesTree(ctx context.Context) (name.OID, error) {
	ref, err := f.resolve(ctx, name.NotesRef)
	if err != nil || ref == "" {
		return "", err
	}
	c, err := f.Store.commit(ctx, "notes commit", ref)
	if err == nil && c.Tree == "" {
		err = &DamagedError{What: "notes commit", OID: ref, Err: errors.New("it has no tree")}
	}
	return c.Tree, err
}
