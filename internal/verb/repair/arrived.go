package repair

// This file completes what a plain `git fetch` brought. It moves each ref by itself, so checkpoints may
// arrive before or without their notes, and tags do not arrive at all. Both are derived from the rest. What
// was made here and is gone is not completed: somebody removed it, or it was damaged.

import (
	"context"
	"fmt"
	"maps"
	"slices"
	"strings"

	"git-checkpoint/internal/core/checkpoint"
	"git-checkpoint/internal/format/journal"
	"git-checkpoint/internal/format/name"
	"git-checkpoint/internal/format/render"
	"git-checkpoint/internal/git"
	"git-checkpoint/internal/storage/proof"
	"git-checkpoint/internal/storage/store"
	"git-checkpoint/internal/sys/gather"
)

// arrivals tells which checkpoints were made in another clone.
type arrivals struct {
	s    *store.Store
	here map[string]bool // ids of the worktrees that this repository has or had
}

func newArrivals(s *store.Store) arrivals {
	return arrivals{s, gather.SetOf(checkpoint.OwnWorktrees(s))}
}

// arrived reports whether a checkpoint was made in another clone.
func (a arrivals) arrived(e *journal.Entry) bool {
	id := e.Event().WorktreeID
	return id != "" && !a.here[id]
}

// openCompleted opens the proof of a session, after it has written the notes that a plain fetch left out.
func openCompleted(ctx context.Context, s *store.Store, session name.Session, view *proof.View) (*proof.Session, error) {
	p, err := OpenProof(ctx, s, session, view)
	if err == nil && completeNotes(ctx, s, p) {
		return OpenProof(ctx, s, session, nil)
	}
	return p, err
}

// completeNotes writes the notes of checkpoints that arrived without one, and reports whether it wrote any.
// Where it cannot write, or a record is damaged, the notes stay missing.
func completeNotes(ctx context.Context, s *store.Store, p *proof.Session) bool {
	a := newArrivals(s)
	if s.Repo.Objects.Borrowed() != "" || p.State == nil || len(p.Findings)+len(p.Notes.Findings)+len(p.Lost) > 0 {
		return false
	}
	var notes []store.NewNote
	for _, e := range p.State.Checkpoints() {
		commit := e.Event().Commit
		if e.Dead || p.Refs[e.Checkpoint] != commit || p.Notes.NoteOf(commit) != "" || !a.arrived(e) {
			continue
		}
		if _, err := checkpoint.ReadRecord(ctx, s, e); err != nil {
			continue
		}
		if blob, err := s.RecordBlob(ctx, commit); err == nil {
			notes = append(notes, store.NewNote{Commit: commit, RecordBlob: blob})
		}
	}
	if len(notes) == 0 {
		return false
	}
	_, err := checkpoint.Transact(ctx, s, p.Name, func(context.Context, store.View) (store.Change, error) {
		return store.Change{Notes: notes}, nil
	})
	return err == nil
}

// lookAtArrived finds sessions in which steps that were made in another clone have no tag. --fix makes
// those that may have one.
func lookAtArrived(ctx context.Context, s *checkpoint.Service) ([]Problem, error) {
	if s.Store.Tagless {
		return nil, nil
	}
	a := newArrivals(s.Store)
	states, err := checkpoint.States(ctx, s.Store, "")
	if err != nil {
		return nil, err
	}
	var out []Problem
	for _, st := range states {
		missing, err := a.missingTags(ctx, st)
		if err != nil {
			return out, err
		}
		if len(missing) == 0 {
			continue
		}
		named := strings.TrimPrefix(string(missing[0]), "refs/tags/")
		if len(missing) > 1 {
			named += ", …"
		}
		out = append(out, Problem{
			Kind: "tag_missing", Level: LevelAdvice, Object: string(st.Session), Hint: "--fix makes them",
			Message: fmt.Sprintf("%s that came with a plain fetch: %s", render.Count(len(missing), "tag is missing of a step", "tags are missing of steps"), named),
			fix: fix{"made", func(ctx context.Context) error {
				_, err := checkpoint.Transact(ctx, s.Store, st.Session, func(context.Context, store.View) (store.Change, error) {
					return store.Change{Retag: true}, nil
				})
				return err
			}},
		})
	}
	return out, nil
}

// missingTags returns the tags that a session should have but does not, of steps that arrived.
func (a arrivals) missingTags(ctx context.Context, st *journal.State) ([]name.Ref, error) {
	if !slices.ContainsFunc(st.Checkpoints(), a.arrived) {
		return nil, nil
	}
	held, _, err := a.s.HeldOf(ctx, st.Session)
	if err != nil {
		return nil, err
	}
	tags, err := a.s.Repo.Refs.List(ctx, name.TagRoot+string(st.Session)+"/")
	if err != nil {
		return nil, err
	}
	missing := missingTags(st, held, tags)
	maps.DeleteFunc(missing, func(_ name.Ref, e *journal.Entry) bool {
		return !a.arrived(e) || isPrivate(ctx, a.s, e.Event().Commit)
	})
	return slices.Sorted(maps.Keys(missing)), nil
}

// missingTags returns the tags that should exist and do not, and the checkpoints that they name.
// Missing tags are not damage, so no finding reports them.
func missingTags(st *journal.State, held map[name.ID]name.OID, tags []git.RefValue) map[name.Ref]*journal.Entry {
	missing := map[name.Ref]*journal.Entry{}
	if st == nil || st.ReadOnly != "" {
		return missing
	}
	derived := store.DerivedTags(st, held)
	for _, t := range tags {
		delete(derived, t.Ref)
	}
	owner := gather.Map(st.Checkpoints(), func(e *journal.Entry) (name.OID, *journal.Entry) { return e.Event().Commit, e })
	for ref, commit := range derived {
		if e := owner[commit]; e != nil {
			missing[ref] = e
		}
	}
	return missing
}
