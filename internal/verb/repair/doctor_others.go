package repair

// This file checks what other packages of this program leave behind or depend on: linked worktrees,
// packing in the background, the hooks of agents, expunged objects, and objects that plain git
// replaces.

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"

	"git-checkpoint/internal/core/checkpoint"
	"git-checkpoint/internal/core/clearance"
	"git-checkpoint/internal/core/linked"
	"git-checkpoint/internal/format/name"
	"git-checkpoint/internal/format/render"
	"git-checkpoint/internal/git"
	"git-checkpoint/internal/storage/store"
	"git-checkpoint/internal/sys/gather"
	"git-checkpoint/internal/verb/background"
	"git-checkpoint/internal/verb/connect"
)

// lookAtWorktrees reports linked worktrees whose creation was cut off by a kill. The scratch
// worktree of a bisect holds nothing of the user's, so --fix removes it. The user may have worked
// in a fork.
func lookAtWorktrees(ctx context.Context, s *checkpoint.Service) ([]Problem, error) {
	left, err := linked.Left(ctx, s.Repo)
	if err != nil {
		return nil, err
	}
	found := movedWorktree(s.Repo)
	if gone := linked.Gone(ctx, s.Store); gone != "" {
		found = append(found, Problem{Kind: "worktree_gone", Level: LevelInfo, Message: gone})
	}
	for _, w := range s.Repo.Linked() {
		file := filepath.Join(w.Admin, "commondir")
		if info, err := os.Stat(file); err == nil && info.Size() == 0 { // git fails over it, whatever it is asked about worktrees
			repair := fix{done: "repaired", do: func(context.Context) error { return os.WriteFile(file, []byte("../..\n"), 0o666) }}
			found = append(found, Problem{Kind: "worktree_unfinished", Level: LevelProblem, Object: w.Dir, Message: "`git worktree add` was killed, and git and checkpoints fail since", Hint: "--fix repairs it", fix: repair})
		}
	}
	for _, n := range left {
		a := Problem{Kind: "worktree_unfinished", Level: LevelProblem, Object: n.Dir, Message: "a bisect was killed, and its scratch worktree is still there", Hint: "--fix removes it; nothing of yours is in it"}
		a.fix = fix{done: "removed", do: func(ctx context.Context) error { return n.Clear(ctx, s) }}
		if n.Kind == linked.KindFork { // it is not removed without asking
			a.Message, a.Hint, a.fix = fmt.Sprintf("the fork %s was cut off, and its worktree is incomplete", n.Session), fmt.Sprintf("`git checkpoint fork --remove %s` removes it", n.Session), fix{}
		}
		found = append(found, a)
	}
	return found, nil
}

// lookAtJournals reports sessions that no command can read, for example after a tool rewrote all refs.
func lookAtJournals(ctx context.Context, s *checkpoint.Service) (found []Problem, err error) {
	sessions, err := longest(ctx, s.Repo)
	if err != nil {
		return nil, err
	}
	refs, err := s.Store.AllRefs(ctx)
	if err != nil {
		return nil, err
	}
	there := gather.Set(refs, func(r git.RefValue) name.Ref { return r.Ref })
	for _, session := range sessions {
		st, err := checkpoint.State(ctx, s.Store, session)
		if ctx.Err() != nil {
			return found, ctx.Err()
		}
		gone := 0
		for i := 0; err == nil && i < st.Len(); i++ {
			if e := st.At(i); !e.Dead && !there[name.CheckpointRef(session, e.Checkpoint)] {
				gone++
			}
		}
		if gone > 0 && !there[name.ArchiveRef(session)] { // what an archive has needs no refs
			found = append(found, Problem{Kind: "refs_missing", Level: LevelProblem, Object: string(session), Message: "its journal knows " + render.Count(gone, "checkpoint whose ref is gone", "checkpoints whose refs are gone"), Hint: "`git checkpoint validate --session " + string(session) + "` names them, `git checkpoint rebuild` brings back what can be"})
		}
		if err == nil || checkpoint.KindOf(err) == checkpoint.KindNotFound {
			continue
		}
		a := Problem{Kind: "journal_unreadable", Level: LevelProblem, Object: string(session), Message: checkpoint.MessageOf(err)}
		a.Hint = strings.Join(checkpoint.HintsOf(err), "; ")
		found = append(found, a)
	}
	return found, nil
}

// movedWorktree reports that this linked worktree was moved by hand: git looks for it at the old place,
// and removes what it keeps of it, with our session and undo list, when it prunes.
func movedWorktree(repo *git.Repo) []Problem {
	if repo.GitDir == repo.CommonDir {
		return nil
	}
	data, err := os.ReadFile(filepath.Join(repo.GitDir, "gitdir"))
	at := filepath.Dir(strings.TrimSpace(string(data)))
	if !filepath.IsAbs(at) {
		at = filepath.Join(repo.GitDir, at) // worktree.useRelativePaths
	}
	there, thereErr := os.Stat(at)
	here, hereErr := os.Stat(repo.WorkTree)
	if err != nil || hereErr != nil || thereErr == nil && os.SameFile(here, there) {
		return nil
	}
	return []Problem{{Kind: "worktree_moved", Level: LevelProblem, Object: at, Message: "this worktree was moved, and git looks for it at the old place", Hint: "`git worktree repair` here tells git; otherwise `git worktree prune` removes its index, its session and its undo list"}}
}

// lookAtPacking reports why the last packing in the background failed.
func lookAtPacking(_ context.Context, s *checkpoint.Service) ([]Problem, error) {
	const maxFailure = 1 << 10 // how many bytes of git's error message are shown
	// The background process has no terminal, so it leaves its error in this file.
	path := filepath.Join(s.Repo.CommonDir, "checkpoint", background.PackFailed)
	text, err := os.ReadFile(path)
	if errors.Is(err, fs.ErrNotExist) {
		return nil, nil
	}
	if err != nil {
		return nil, err
	}
	said := strings.TrimSpace(string(text[:min(len(text), maxFailure)]))
	return []Problem{{
		Kind: "packing_failed", Level: LevelAdvice, Object: path, Message: "packing in the background did not work: " + said,
		Hint: "`git fsck` shows what is wrong; packing is tried again after an hour",
	}}, nil
}

// lookAtWriting reports a git directory that this program cannot write to.
func lookAtWriting(_ context.Context, s *checkpoint.Service) ([]Problem, error) {
	err := connect.TryWrite(s.Repo)
	if err == nil {
		return nil, nil
	}
	return []Problem{{
		Kind: "unwritable", Level: LevelProblem, Object: s.Repo.CommonDir, Message: "checkpoints cannot be written: " + err.Error(),
		Hint: strings.Join(checkpoint.HintsOf(err), "; "),
	}}, nil
}

// lookAtAgents reports agents whose hooks do not make checkpoints. It fixes nothing: what an agent
// may run is the user's decision.
func lookAtAgents(_ context.Context, s *checkpoint.Service) ([]Problem, error) {
	var out []Problem
	for _, st := range connect.Troubled(s.Rules) {
		for _, w := range st.Warnings {
			out = append(out, Problem{Kind: "agent_hook", Level: LevelAdvice, Object: st.Name, Message: w.Problem, Hint: w.Remedy})
		}
	}
	for _, d := range connect.Doubled(s.Rules) {
		out = append(out, Problem{
			Kind: "agent_hook", Level: LevelAdvice, Object: d.Name, Message: d.Title + " has its plugin, and hooks in settings files, too; the plugin's leave the events to these",
			Hint: "`git checkpoint agent remove " + d.Name + "` takes out those of the repository",
		})
	}
	return out, nil
}

// lookAtExpunged reports expunged objects that are still in the object store. They can be read
// until git gc removes them.
func lookAtExpunged(ctx context.Context, s *checkpoint.Service) ([]Problem, error) {
	list, err := clearance.ReadExpunged(s.Repo)
	if err != nil || len(list.Objects) == 0 {
		return nil, err
	}
	// The list of expunged objects is kept locally. An object that is missing by now is gone as
	// intended.
	all := list.Listed()
	missing, err := s.Repo.Objects.Batch().Missing(ctx, all)
	if err != nil || len(missing) == len(all) {
		return nil, err
	}
	return []Problem{{
		Kind: "expunged_objects", Level: LevelAdvice, Object: string(all[0]),
		Message: fmt.Sprintf("%d objects that were expunged are still in this repository", len(all)-len(missing)),
		Hint:    "`git checkpoint guard --all` shows if a checkpoint still holds one; otherwise `git reflog expire --expire=now --all` and `git gc --prune=now` delete them, with everything else that only a reflog holds",
	}}, nil
}

// replaceRoot is where `git replace` keeps its refs: plain git reads another object in place of the
// one that the ref's name says.
const replaceRoot = "refs/replace/"

// lookAtReplacements finds objects of checkpoints that plain git replaces. This program ignores
// these refs, and they were made by somebody else, so it does not delete them.
func lookAtReplacements(ctx context.Context, s *checkpoint.Service) (out []Problem, err error) {
	refs, err := s.Repo.Refs.List(ctx, replaceRoot)
	if err != nil || len(refs) == 0 {
		return nil, err
	}
	with := gather.Map(refs, func(r git.RefValue) (name.OID, name.OID) {
		return name.OID(strings.TrimPrefix(string(r.Ref), replaceRoot)), r.OID
	})
	ours, err := replaced(ctx, s.Store, with)
	for _, r := range refs {
		oid := name.OID(strings.TrimPrefix(string(r.Ref), replaceRoot))
		if what := ours[oid]; what != "" {
			out = append(out, Problem{
				Kind: "replaced", Level: LevelProblem, Object: string(r.Ref),
				Message: fmt.Sprintf("plain git shows %s instead of %s; this program ignores the replacement", r.OID.Short(), what),
				Hint:    "`git replace -d " + string(oid) + "` shows the original again",
			})
		}
	}
	return out, err
}

// replaced returns which of the replaced objects belong to checkpoints, journals or notes, and to
// what.
func replaced(ctx context.Context, s *store.Store, with map[name.OID]name.OID) (map[name.OID]string, error) {
	found := map[name.OID]string{}
	refs, err := s.Repo.Refs.List(ctx, name.CheckpointRoot, string(name.NotesRef))
	if err != nil {
		return nil, err
	}
	// met notes an object of ours if it is replaced. It keeps the first description, which is the
	// most specific one.
	met := func(oid name.OID, what string) {
		if with[oid] != "" && found[oid] == "" {
			found[oid] = what
		}
	}
	var commits []name.OID
	for _, r := range s.Held(ctx, refs) {
		session, leaf, ok := name.SplitCheckpointRef(r.Ref)
		switch {
		case ok && r.Ref == name.JournalRef(session):
			if l, err := s.Log(ctx, session); err == nil {
				for _, n := range l.Nodes() {
					met(n.OID, fmt.Sprintf("a commit of the journal of session %q", session))
				}
			}
			met(r.OID, fmt.Sprintf("a commit of the journal of session %q", session))
		case ok:
			met(r.OID, fmt.Sprintf("the commit of %s", leaf))
			commits = append(commits, r.OID)
			if m, err := s.RecordCommit(ctx, r.OID); err == nil {
				met(m, fmt.Sprintf("the commit of the record of %s", leaf))
				commits = append(commits, m)
			}
		default:
			met(r.OID, "the commit of the notes")
			commits = append(commits, r.OID)
		}
	}
	// Then everything that these commits contain.
	return found, s.Repo.Commits.ObjectsOf(ctx, commits, func(oid name.OID) { met(oid, "a file, a directory or a record of checkpoints") })
}

// lookAtRewritten finds checkpoints whose commits a tool rewrote with the history, and what is left of
// such a tool.
func lookAtRewritten(ctx context.Context, s *checkpoint.Service) ([]Problem, error) {
	states, err := checkpoint.States(ctx, s.Store, "")
	if err != nil {
		return nil, err
	}
	var out []Problem
	for _, st := range states {
		count, err := checkpoint.CountRewritten(ctx, s.Store, st)
		if err != nil {
			return out, err
		}
		if count > 0 {
			out = append(out, Problem{
				Kind: "rewritten", Level: LevelProblem, Object: string(st.Session), Message: checkpoint.RewrittenWords(count),
				Hint: checkpoint.RewrittenHint(s.Repo, st.Session, ""),
			})
		}
	}
	if trace := checkpoint.RewriteTrace(s.Repo); trace != "" {
		out = append(out, Problem{
			Kind: "history_rewritten", Level: LevelInfo, Object: trace, Message: "a tool rewrote the history of this repository",
			Hint: "docs/guard.md says what that means for checkpoints; `git checkpoint validate --all` shows whether they are whole",
		})
	}
	return out, nil
}
