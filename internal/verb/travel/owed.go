package travel

// A push deletes refs of pruned checkpoints only beside a journal that moves: a deletion by itself could remove a
// checkpoint that somebody pins at that moment. So what a push could not delete is owed. A prune that names it
// again moves the journal, and the next push deletes it.

import (
	"context"

	"git-checkpoint/internal/core/checkpoint"
	"git-checkpoint/internal/format/journal"
	"git-checkpoint/internal/format/name"
	"git-checkpoint/internal/storage/remote"
	"git-checkpoint/internal/storage/store"
)

// findOwed returns the dead checkpoints whose refs a round left at the remote. If it deleted none although it was
// to, the remote takes no deletions, and nothing is owed until it takes one.
func (c *pushRound) findOwed() map[name.Session][]name.ID {
	owed := map[name.Session][]name.ID{}
	c.memory.Owed = 0
	tried, gone := 0, 0
	for _, p := range c.plans {
		left := func(updates []remote.Update) (count int) {
			for _, u := range updates {
				_, leaf, _ := name.SplitCheckpointRef(u.Ref)
				if id, err := name.ParseID(leaf); err == nil && c.there.ValueOf(u.Ref) != "" {
					owed[p.Session] = append(owed[p.Session], id)
					count++
				}
			}
			c.memory.Owed += count
			return count
		}
		tried += len(p.Delete)
		gone += len(p.Delete) - left(p.Delete)
		left(p.Owed)
	}
	if tried > 0 {
		c.memory.Keeps = gone == 0
	}
	return owed
}

// payOwed writes prunes that name what is owed to the remote once more, and reports whether it wrote one, so that
// another push is due.
func (t *transfer) payOwed(ctx context.Context, owed map[name.Session][]name.ID) (more bool, err error) {
	if t.memory.Keeps {
		return false, nil
	}
	room := maxDeletes
	for session, ids := range owed {
		_, err := t.s.Store.Transact(ctx, session, func(_ context.Context, v store.View) (store.Change, error) {
			if v.State == nil || v.State.ReadOnly != "" {
				return store.Change{}, nil
			}
			e, err := checkpoint.NewEvent(t.s.Store, journal.KindPrune, session)
			e.Reason = "owed to " + t.answer.Remote
			for _, id := range ids {
				if dead, is := v.State.Tombstones[id]; is && len(e.Tombstones) < room {
					e.Tombstones = append(e.Tombstones, dead)
				}
			}
			if len(e.Tombstones) == 0 || err != nil {
				return store.Change{}, err
			}
			room, more = room-len(e.Tombstones), true
			return store.Change{Events: []journal.Event{e}}, nil
		})
		delete(t.ours, session)
		if err != nil || room <= 0 {
			return more, err
		}
	}
	return more, nil
}
