package checkpoint

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strconv"
	"strings"

	"git-checkpoint/internal/format/journal"
	"git-checkpoint/internal/format/name"
	"git-checkpoint/internal/format/render"
	"git-checkpoint/internal/storage/store"
)

// Names says which checkpoints a number or a label may mean. An id always works, even for a
// discarded checkpoint.
type Names int

// With NamesOfLive only live checkpoints have names. Scripts get this: a name whose meaning changes
// with a rollback must not select another checkpoint for a script. With NamesOfAny a name that no
// live checkpoint has may also mean the only discarded checkpoint with it. This is for users at a
// terminal, who read the warning.
const (
	NamesOfLive Names = iota
	NamesOfAny
)

// Reach is Resolve for commands that show a checkpoint. With NamesOfAny, when exactly one discarded
// checkpoint has the name and no live one does, it returns that one and warns. It also warns where a
// person may mean another session.
func (s *Sessions) Reach(ctx context.Context, session, ref string) (*Found, error) {
	found, err := s.Resolve(ctx, session, ref)
	if s.names == NamesOfAny {
		if both := s.Rules.bothMeant(ctx, session, ref, found); both != nil {
			s.Store.Warn(both.Message + ": " + both.Hints[1])
		}
	}
	return s.orDiscarded(ctx, found, err)
}

// ResolveOne is Resolve for commands that change something: where a person may mean another session, it is an error,
// also for a script.
func (s *Sessions) ResolveOne(ctx context.Context, session, ref string) (*Found, error) {
	found, err := s.Resolve(ctx, session, ref)
	if both := s.Rules.bothMeant(ctx, session, ref, found); both != nil {
		return nil, both
	}
	return found, err
}

// ReachOne is Reach as ResolveOne is Resolve.
func (s *Sessions) ReachOne(ctx context.Context, session, ref string) (*Found, error) {
	found, err := s.ResolveOne(ctx, session, ref)
	return s.orDiscarded(ctx, found, err)
}

// orDiscarded returns the only discarded checkpoint with a name instead of the error that no live one has it, if it may.
func (s *Sessions) orDiscarded(ctx context.Context, found *Found, err error) (*Found, error) {
	only, is := errors.AsType[*discardedError](err)
	if s.names != NamesOfAny || !is || len(only.entries) != 1 {
		return found, err
	}
	found = only.in
	found.Entry = only.entries[0]
	how, _ := howLost(ctx, s.Store, found.State, found.Entry)
	s.Store.Warn(fmt.Sprintf("%s was %s, and is meant here", Said(ctx, s.Store, found.State, found.Entry), how))
	return found, nil
}

// discardedError is the error of Resolve when only discarded checkpoints have the name. It carries
// them for Reach and FileIn.
type discardedError struct {
	told    *Error           // the error that the user sees
	in      *Found           // the session; its Entry is not set
	entries []*journal.Entry // in the order of the journal, at least one
}

func (e *discardedError) Error() string { return e.told.Error() }

// Unwrap returns the error with its kind and hints, so that KindOf finds it.
func (e *discardedError) Unwrap() error { return e.told }

// byDiscarded returns the discarded checkpoints that a name fits, or nil. For a number these are
// the ones with that number. For other text they are the ones with that label, else milestones
// whose label begins with it, else any whose label does.
func byDiscarded(st *journal.State, ref string) []*journal.Entry {
	begins := func(e *journal.Entry) bool { return len(ref) >= shortestPrefix && strings.HasPrefix(e.Label, ref) }
	if m := numberPattern().FindStringSubmatch(ref); m != nil {
		return matching(st, func(e *journal.Entry) bool { return e.Discarded && isNumbered(e, m) })
	}
	return matching(st,
		func(e *journal.Entry) bool { return e.Discarded && e.Label == ref },
		func(e *journal.Entry) bool { return e.Discarded && e.Milestone && begins(e) },
		func(e *journal.Entry) bool { return e.Discarded && begins(e) },
	)
}

// isNumbered reports whether a checkpoint has a number. The argument holds the submatches of
// numberPattern: step, iteration, suffix.
func isNumbered(e *journal.Entry, number []string) bool {
	iteration, suffix := number[2], number[3]
	if step, err := strconv.Atoi(number[1]); err != nil || step != e.Step || e.Milestone != (suffix == "") {
		return false
	}
	own := e.Event().Iteration
	if suffix != "" {
		return strings.HasSuffix(e.Label, "+"+suffix)
	}
	return iteration == "" || iteration == own || iteration == FirstIteration && own == ""
}

// newDiscardedError says how each discarded checkpoint with this name was discarded, and how the
// user gets it back.
func newDiscardedError(ctx context.Context, s *store.Store, in *Found, ref string, discarded []*journal.Entry) error {
	e := &Error{Kind: KindNotFound}
	if len(discarded) == 1 {
		how, undo := howLost(ctx, s, in.State, discarded[0])
		e.Message = Said(ctx, s, in.State, discarded[0]) + " was " + how
		e.Hints = append(e.Hints, fmt.Sprintf("its id is %s", discarded[0].Checkpoint))
		if undo != "" {
			e.Message += " (" + undo + " brings it back as it was)"
			e.Hints = append(e.Hints, fmt.Sprintf("`git checkpoint %s` brings it back", undo))
		}
		return &discardedError{e, in, discarded}
	}
	e.Message = fmt.Sprintf("%d checkpoints that were left behind are called %q", len(discarded), name.Clip(ref, name.Said))
	const most = 10
	for i, c := range slices.Backward(discarded) {
		if len(e.Hints) == most {
			e.Hints = append(e.Hints, fmt.Sprintf("… and %d more", i+1))
			break
		}
		how, undo := howLost(ctx, s, in.State, c)
		hint := fmt.Sprintf("%s (%s), %s", c.Checkpoint, Said(ctx, s, in.State, c), how)
		if undo != "" {
			hint += fmt.Sprintf(": `git checkpoint %s` brings it back", undo)
		}
		e.Hints = append(e.Hints, hint)
	}
	return &discardedError{e, in, discarded}
}

// howLost says in words how c was discarded, and which command brings it back in this worktree, such
// as "undo 2", or "" if none does. The number of undos depends on all sessions, because the undo list
// of a worktree spans them. Sessions that cannot be read are left out.
func howLost(ctx context.Context, s *store.Store, st *journal.State, c *journal.Entry) (how, undo string) {
	how = "left behind"
	if by := st.DiscardedBy(c.Checkpoint); by != nil {
		verb := "a rollback"
		switch {
		case st.IsRedo(by):
			verb = "a redo"
		case by.Kind == journal.KindUndo:
			verb = "an undo"
		}
		how += " by " + verb + " " + render.Ago(by.Time, s.Now())
	}
	id, err := s.WorktreeID()
	if err != nil {
		return how, ""
	}
	others, err := States(ctx, s, "")
	if err != nil {
		return how, ""
	}
	others = slices.DeleteFunc(others, func(other *journal.State) bool { return other.Session == st.Session })
	switch levels := journal.NewWalk(id, append(others, st)...).UndosTo(c); {
	case levels == 1:
		undo = "undo"
	case levels > 1:
		undo = fmt.Sprintf("undo %d", levels)
	}
	return how, undo
}
