package travel

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"maps"
	"slices"

	"git-checkpoint/internal/core/checkpoint"
	"git-checkpoint/internal/format/journal"
	"git-checkpoint/internal/format/name"
	"git-checkpoint/internal/storage/remote"
	"git-checkpoint/internal/storage/store"
)

// union joins what was fetched of one session with what is here. run verifies the new checkpoints
// first, outside the transaction. build then computes the change from the journal as it is at that
// moment. It is called again from the start whenever another writer was faster, so it resets its
// results.
type union struct {
	t       *transfer
	session name.Session
	tip     name.OID             // tip of the remote's journal; empty: the remote has none
	came    map[name.ID]name.OID // checkpoints whose objects were fetched or were here already
	there   map[name.ID]name.OID // all checkpoints that the remote has
	archive map[name.ID]name.OID // those of them that the remote's archive lists

	// The results of the last build: the tip of the journal here before the change, the checkpoints
	// that get an adopt event, and the lines of the answer.
	before  name.OID
	heads   []*journal.Entry // of the session, before
	adopted []arrival
	lines   []Line
}

// unfold adds the checkpoints of the remote's archive to there, and to came those that are not here
// with the same commit. Their objects came with the archive commit, which has them as parents.
func (u *union) unfold(there *remote.Session, here map[name.ID]name.OID) {
	u.archive = there.Archived
	for id, oid := range there.Archived {
		if u.there[id] != "" {
			continue
		}
		if u.there[id] = oid; here[id] != oid {
			u.came[id] = oid
		}
	}
}

// run verifies the checkpoints, carries out the transaction and records what happened to each ref.
func (u *union) run(ctx context.Context) error {
	for _, id := range slices.Sorted(maps.Keys(u.came)) {
		u.t.inspect(ctx, u.session, id, u.came[id], nil)
	}
	if ctx.Err() != nil {
		return context.Cause(ctx)
	}
	res, err := u.t.s.Store.TransactRemote(ctx, u.session, u.build)
	if err != nil {
		return err
	}
	for _, w := range res.Warnings {
		u.t.s.Store.Warn(w)
	}
	if res.Tip != u.before {
		heads := u.tellHeads(ctx, res.State)
		outcome := OutcomeUpdated
		if u.before == "" {
			outcome = OutcomeCreated
		}
		u.lines = append(u.lines, Line{Ref: name.JournalRef(u.session), Outcome: outcome, Heads: heads})
	}
	for _, l := range u.lines {
		u.t.line(l.Ref, l.Outcome, l.Message)
		u.t.answer.Lines[u.t.written[l.Ref]].Heads = l.Heads
	}
	return nil
}

// tellHeads says that the session went on in several places, if the fetch brought a head, and returns all heads.
func (u *union) tellHeads(ctx context.Context, st *journal.State) []checkpoint.Head {
	for _, head := range st.Heads() {
		had := func(e *journal.Entry) bool { return e.Checkpoint == head.Checkpoint }
		if u.before != "" && !slices.ContainsFunc(u.heads, had) {
			if said := checkpoint.WentOn(ctx, u.t.s.Store, st); said != "" {
				u.t.s.Store.Warn(said)
			}
			return checkpoint.HeadsOf(ctx, u.t.s.Store, st)
		}
	}
	return nil
}

// line returns the line about a checkpoint.
func (u *union) line(id name.ID, outcome Outcome, message string) Line {
	return Line{Ref: name.CheckpointRef(u.session, id), Outcome: outcome, Message: message}
}

// build computes the change for the journal as it is now (v). See union.
func (u *union) build(ctx context.Context, v store.View) (store.Change, error) {
	change := store.Change{Archive: map[name.ID]name.OID{}}
	u.before, u.heads, u.adopted, u.lines = v.Tip, nil, nil, nil
	if v.State != nil {
		u.heads = v.State.Heads()
	}
	st, err := u.join(ctx, v, &change)
	if err != nil {
		return change, err
	}
	held, archived, err := u.t.s.Store.HeldOf(ctx, u.session)
	if err != nil {
		return change, err
	}
	rejected := u.addRefs(ctx, st, held, &change)
	// What the archive here lists already needs no change.
	maps.DeleteFunc(change.Archive, func(id name.ID, _ name.OID) bool { return archived[id] })
	u.adopt(ctx, st, held)
	u.lines = append(u.lines, rejected...)
	// A read-only journal, written by a newer version, takes no events on top.
	if st == nil || st.ReadOnly == "" {
		// In the order of creation, then of ids, which is the same in every clone.
		slices.SortFunc(u.adopted, func(a, b arrival) int {
			return cmp.Or(a.record.CreatedAt.Compare(b.record.CreatedAt), cmp.Compare(a.id, b.id))
		})
		for _, a := range u.adopted {
			e, err := checkpoint.NewEvent(u.t.s.Store, journal.KindAdopt, u.session)
			if err != nil {
				return change, err
			}
			checkpoint.NameIn(&e, a.record, a.commit)
			change.Events = append(change.Events, e)
		}
	}
	if st != nil {
		if err := u.learnExpunged(ctx, st, held); err != nil {
			return change, err
		}
		// Refs of checkpoints that are dead after the merge are removed here, too.
		for _, id := range slices.Sorted(maps.Keys(held)) {
			if st.Dead(id) {
				u.lines = append(u.lines, u.line(id, OutcomeDeleted, "it was pruned elsewhere"))
				change.Remove = append(change.Remove, store.Removal{ID: id})
			}
		}
	}
	if n := len(change.Archive); n > 0 {
		u.lines = append(u.lines, Line{Ref: name.ArchiveRef(u.session), Outcome: OutcomeUpdated, Message: fmt.Sprintf("%d checkpoints are in it", n)})
	}
	return change, nil
}

// join merges the remote's journal into ours, sets change.Base to the result, and returns its fold.
// Two journals of which one is read-only can only be fast-forwarded, not merged.
func (u *union) join(ctx context.Context, v store.View, change *store.Change) (*journal.State, error) {
	if u.tip == "" || v.Log != nil && v.Log.Contains(u.tip) {
		return v.State, nil
	}
	theirs, err := u.t.s.Store.LogAt(ctx, u.tip, v.Log)
	if err != nil {
		return nil, err
	}
	if renewed, err := u.t.s.Store.Renew(theirs, v.Log, u.session); err != nil {
		return nil, err
	} else if renewed {
		u.t.s.Store.Warn("another machine works with the id of this worktree, as copies of one disk image do; this one has a new id, and stays where it was; its undo begins anew")
	}
	if v.State != nil && v.State.ReadOnly == "" {
		if err := unforged(u.session, u.tip, theirs.Fold()); err != nil {
			return nil, err
		}
	}
	merges := v.State
	if v.State != nil && theirs.Contains(v.Tip) {
		merges = nil
	}
	if err := joinable(u.session, theirs, merges); err != nil {
		return nil, err
	}
	mine := v.Log
	if mine != nil && !theirs.Contains(v.Tip) && journal.Covers(theirs, mine) && !u.t.seenElsewhere(v.Tip) {
		// Our tip is a merge that adds no event and that no other remote has. If it were kept, it
		// would be merged with theirs, and the result again at the other side: with two remotes
		// this would never end. So take theirs as it is.
		mine = nil
	}
	if change.Base, err = u.t.s.Store.Join(ctx, mine, theirs); err != nil {
		return nil, err
	}
	change.Verify = append(change.Verify, u.tip)
	return change.Base.Fold(), nil
}

// addRefs adds the refs to create: those missing here that are not dead and whose objects are valid.
// An id that is here with another commit is a conflict. addRefs returns a line for each checkpoint that
// is rejected because it is invalid.
func (u *union) addRefs(ctx context.Context, st *journal.State, held map[name.ID]name.OID, change *store.Change) (rejected []Line) {
	for _, id := range slices.Sorted(maps.Keys(u.there)) {
		commit := u.there[id]
		if st != nil && st.Dead(id) {
			continue
		}
		if mine := held[id]; mine != "" {
			if mine != commit {
				u.t.line(name.CheckpointRef(u.session, id), OutcomeConflict, fmt.Sprintf("it is %s here and %s there", mine.Short(), commit.Short()))
			} else if u.archive[id] == mine {
				// The remote has archived it, so archive it here as well.
				change.Archive[id] = mine
			}
			continue
		}
		if u.came[id] == "" {
			continue
		}
		a := u.t.inspect(ctx, u.session, id, u.came[id], st)
		if a.err != nil {
			rejected = append(rejected, u.line(id, OutcomeRejected, a.err.Error()))
			continue
		}
		if u.archive[id] == a.commit {
			change.Archive[id] = a.commit // as the remote has done
			change.Notes = append(change.Notes, store.NewNote{Commit: a.commit, RecordBlob: a.blob})
		} else {
			change.Create = append(change.Create, store.NewCheckpoint{ID: id, Commit: a.commit, RecordBlob: a.blob})
		}
		outcome := OutcomeCreated
		if st == nil || st.Entry(id) == nil {
			outcome, u.adopted = OutcomeAdopted, append(u.adopted, a)
		}
		u.lines = append(u.lines, u.line(id, outcome, a.record.Label))
	}
	return rejected
}

// adopt finds refs here that no event names, which a push that was cut off leaves behind, and lists
// the valid ones for adoption. An invalid one is only warned about: it may be somebody's data.
func (u *union) adopt(ctx context.Context, st *journal.State, held map[name.ID]name.OID) {
	for _, id := range slices.Sorted(maps.Keys(held)) {
		if st != nil && (st.Entry(id) != nil || st.Dead(id)) {
			continue
		}
		if a := u.t.inspect(ctx, u.session, id, held[id], nil); a.err == nil {
			u.adopted, u.lines = append(u.adopted, a), append(u.lines, u.line(id, OutcomeAdopted, a.record.Label))
		} else {
			u.t.s.Store.Warn(fmt.Sprintf("%s is in no journal, and is not valid: %v", name.CheckpointRef(u.session, id), a.err))
		}
	}
}

// excused reports whether an error concerns one session only, so that the transfer can go on with the others.
func excused(err error) bool {
	return errors.As(err, new(*store.DamagedError)) || errors.As(err, new(*store.ReadOnlyError)) || errors.As(err, new(*store.TwinError)) || errors.As(err, new(*store.MissingObjectsError))
}
