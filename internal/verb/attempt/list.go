package attempt

// An attempt is described in two places: the start event of its session names the fork, and a file
// in the git directory of its worktree names the session. Push and fetch transfer the first; the
// second is about this machine only.

import (
	"cmp"
	"context"
	"encoding/json"
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"git-checkpoint/internal/core/checkpoint"
	"git-checkpoint/internal/core/linked"
	"git-checkpoint/internal/core/workflow"
	"git-checkpoint/internal/format/journal"
	"git-checkpoint/internal/format/name"
	"git-checkpoint/internal/git"
	"git-checkpoint/internal/storage/store"
	"git-checkpoint/internal/verb/retain"
)

// List returns the attempts of this repository, including those whose fork was interrupted.
func List(ctx context.Context, s *store.Store) ([]Attempt, error) {
	at := worktrees(s.Repo)
	left, err := linked.Left(ctx, s.Repo)
	if err != nil {
		return nil, err
	}
	states, err := checkpoint.States(ctx, s, "session %q: %v")
	if err != nil {
		return nil, err
	}
	all := []Attempt{}
	for _, st := range states {
		if a, ok := attemptOf(ctx, s, st, at[st.Session]); ok {
			all = append(all, a)
		}
	}
	for _, n := range left {
		if n.Kind == linked.KindFork {
			all = append(all, Attempt{Name: n.Name, Session: n.Session, Worktree: n.Dir, Unfinished: true, note: &n})
		}
	}
	return all, nil
}

// attemptOf returns a session as an attempt, or false if it was not forked.
func attemptOf(ctx context.Context, s *store.Store, st *journal.State, where site) (Attempt, bool) {
	origin, forked := checkpoint.OriginOf(st)
	if !forked || origin.Name == "" { // without a name it is a conversation that goes on from another one
		return Attempt{}, false
	}
	a := Attempt{Name: origin.Name, Session: st.Session, FromSession: origin.Session, From: origin.Checkpoint, Worktree: where.dir, Branch: where.branch, Run: where.run, Steps: stepsSince(st)}
	if parent, err := s.State(ctx, origin.Session); err == nil {
		if e := parent.Entry(origin.Checkpoint); e != nil {
			a.FromLabel, a.Origin = e.Label, checkpoint.Mentioned(ctx, s, parent, e)
		}
	}
	if e := st.NewestEntry(); e != nil {
		a.Current = new(checkpoint.LabelledOf(ctx, s, st, e))
	}
	return a, true
}

// Worktrees returns the attempts, and the other linked worktrees that git or an agent made here, also those that are
// gone and left checkpoints, with what to know to find one again.
func Worktrees(ctx context.Context, s *checkpoint.Sessions) ([]Attempt, error) {
	all, err := List(ctx, s.Store)
	if err != nil {
		return nil, err
	}
	others, err := foreign(ctx, s.Store)
	if err != nil {
		return nil, err
	}
	all = append(all, others...)
	for i := range all {
		if err := all[i].find(ctx, s); err != nil {
			return nil, err
		}
	}
	return all, nil
}

// foreign returns the linked worktrees that are no attempts.
func foreign(ctx context.Context, s *store.Store) (all []Attempt, err error) {
	states, err := checkpoint.States(ctx, s, "")
	if err != nil {
		return nil, err
	}
	newest, own := map[string]*journal.State{}, retain.Own(s)
	for _, st := range states {
		e := st.NewestEntry()
		if origin, forked := checkpoint.OriginOf(st); e == nil || forked && origin.Name != "" {
			continue
		}
		at := e.Event()
		if known := newest[at.WorktreeID]; at.WorktreeID != "" && at.Worktree != "main" && own(at) && (known == nil || st.UpdatedAt.After(known.UpdatedAt)) {
			newest[at.WorktreeID] = st
		}
	}
	add := func(a Attempt, st *journal.State) {
		a.Foreign = true
		if st != nil {
			a.Session, a.Steps, a.Current = st.Session, stepsSince(st)+1, new(checkpoint.LabelledOf(ctx, s, st, st.NewestEntry()))
			a.Name = cmp.Or(a.Name, st.NewestEntry().Event().Worktree)
		}
		all = append(all, a)
	}
	for _, w := range s.Repo.Linked() {
		id := checkpoint.OwnDir{Path: filepath.Join(w.Admin, "checkpoint")}.Said(checkpoint.WorktreeIDFile)
		if _, err := os.Lstat(filepath.Join(w.Dir, ".git")); err != nil {
			continue // it is gone
		}
		if _, err := os.Lstat(filepath.Join(w.Admin, "checkpoint", forkFile)); err != nil {
			head, _ := os.ReadFile(filepath.Join(w.Admin, "HEAD")) //nolint:errcheck // git tells what is wrong with it
			branch, _ := strings.CutPrefix(strings.TrimSpace(string(head)), "ref: refs/heads/")
			if _, err := name.ParseOID(branch); err == nil {
				branch = ""
			}
			add(Attempt{Name: filepath.Base(w.Dir), Worktree: w.Dir, Branch: branch}, newest[id])
		}
		delete(newest, id)
	}
	for _, id := range slices.Sorted(maps.Keys(newest)) {
		add(Attempt{}, newest[id])
	}
	return all, nil
}

// find fills in who worked in an attempt, what of it is not here, and how to get there.
func (a *Attempt) find(ctx context.Context, s *checkpoint.Sessions) error {
	if a.Worktree != "" && !a.Unfinished {
		a.Back = "cd " + name.Quoted(a.Worktree)
	}
	if a.Current == nil {
		return nil
	}
	found, err := s.Resolve(ctx, string(a.Session), string(a.Current.ID))
	if err != nil {
		return err
	}
	a.Back = cmp.Or(a.Back, fmt.Sprintf("git checkpoint fork --session %s %s", a.Session, checkpoint.TypedName(found.State, found.Entry)))
	rec, err := checkpoint.ReadRecord(ctx, s.Store, found.Entry)
	if err != nil {
		return nil //nolint:nilerr // validate says so
	}
	by, _ := rec.Agent()
	if a.Agent = by.Name; a.Agent == "" && found.State.Workflow == workflow.AgentName { // a removal has captured it
		a.Agent, _, _ = strings.Cut(string(a.Session), "-")
	}
	base, err := s.Repo.Output(ctx, "merge-base", "HEAD", string(rec.Git.Head))
	if rec.Snapshot.Tree == "" || err != nil {
		return nil //nolint:nilerr // there is nothing to compare with
	}
	lacks := map[string]int{}
	for _, spec := range []string{base, "HEAD"} {
		c, err := s.Repo.Commits.Read(ctx, spec)
		if err != nil {
			return err
		}
		changes, err := s.Repo.Trees.Diff(ctx, c.Tree, rec.Snapshot.Tree)
		if err != nil {
			return err
		}
		for _, change := range changes {
			if lacks[change.Path]++; lacks[change.Path] > 1 {
				a.Unlanded++
			}
		}
	}
	return nil
}

// stepsSince counts the live checkpoints of an attempt, without the copy with which it
// began.
func stepsSince(st *journal.State) int {
	n := 0
	for _, c := range st.Standings() {
		if c.Live {
			n++
		}
	}
	return max(n-1, 0)
}

// site is the worktree of an attempt.
type site struct {
	dir, branch string
	run         *Ran
}

// worktrees returns the linked worktrees of attempts, by session. A worktree whose
// directory was removed by hand is left out.
func worktrees(repo *git.Repo) map[name.Session]site {
	found := map[name.Session]site{}
	for _, w := range repo.Linked() { // attempts and others
		var a Attempt
		data, err := os.ReadFile(filepath.Join(w.Admin, "checkpoint", forkFile))
		if err != nil || json.Unmarshal(data, &a) != nil {
			continue
		}
		if _, err := os.Lstat(filepath.Join(w.Dir, ".git")); err != nil {
			continue
		}
		found[a.Session] = site{w.Dir, a.Branch, a.Run}
	}
	return found
}

// Find returns the attempt that a person named by its session, its name or its directory.
func Find(ctx context.Context, s *store.Store, typed string) (*Attempt, error) {
	all, err := List(ctx, s)
	if err != nil {
		return nil, err
	}
	return among(s.Repo, all, typed)
}

// among is Find in a list.
func among(repo *git.Repo, all []Attempt, typed string) (*Attempt, error) {
	full := typed
	if !filepath.IsAbs(full) {
		// A relative path starts at the current directory, which is at the prefix below the top.
		full = filepath.Join(repo.WorkTree, filepath.FromSlash(repo.Prefix), typed)
	}
	var fits []Attempt
	for _, a := range all {
		if string(a.Session) == typed {
			return &a, nil
		}
		if a.Name == typed || a.Worktree != "" && (filepath.Base(a.Worktree) == typed || a.Worktree == full) {
			fits = append(fits, a)
		}
	}
	switch len(fits) {
	case 1:
		return &fits[0], nil
	case 0:
		return nil, checkpoint.Failure(checkpoint.KindNotFound, "`git checkpoint fork --list` shows the attempts", "no such attempt: %q", name.Clip(typed, name.Said))
	}
	e := checkpoint.Failure(checkpoint.KindUsage, "", "%q is ambiguous: %d attempts have this name", name.Clip(typed, name.Said), len(fits))
	for _, a := range fits {
		e.Hints = append(e.Hints, fmt.Sprintf("%s (%s)", a.Session, a.Worktree))
	}
	return nil, e
}
