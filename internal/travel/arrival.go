package travel

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"

	"git-checkpoint/internal/checkpoint"
	"git-checkpoint/internal/journal"
	"git-checkpoint/internal/name"
	"git-checkpoint/internal/record"
)

// Joined is a journal with its fold, made when it is needed.
type Joined struct {
	log    *journal.Log
	state  *journal.State
	buried map[name.ID]bool // named by a tombstone, which may be void
}

// Fold is the state of the joined journal, folded once.
func (j *Joined) Fold() *journal.State {
	if j == nil || j.log == nil {
		return nil
	}
	if j.state == nil {
		j.state = j.log.Fold()
	}
	return j.state
}

// tombs are the ids that any tombstone names. To know that there are none takes no fold.
func (j *Joined) tombs() map[name.ID]bool {
	if j == nil || j.log == nil {
		return nil
	}
	if j.buried == nil {
		j.buried = map[name.ID]bool{}
		for _, e := range j.log.Events() {
			for _, t := range e.Tombstones {
				j.buried[t.ID] = true
			}
		}
	}
	return j.buried
}

// dead reports whether a checkpoint is pruned.
func (j *Joined) dead(id name.ID) bool { return j.tombs()[id] && j.Fold().Dead(id) }

// arrival is a checkpoint that came from elsewhere and was looked at.
type arrival struct {
	id     name.ID
	commit name.OID
	blob   name.OID
	record *record.Record
	err    error // why it is not taken
}

// inspect verifies a checkpoint that somebody else may have made: commit, record
// commit, record and checksum, and that they are about each other.
func (t *trip) inspect(ctx context.Context, session name.Session, id name.ID, commit name.OID) arrival {
	if a, known := t.checked[commit]; known && a.id == id {
		return a
	}
	a := arrival{id: id, commit: commit}
	a.err = inspect(ctx, t.s, session, &a)
	if ctx.Err() == nil {
		t.checked[commit] = a
	}
	return a
}

func inspect(ctx context.Context, s *checkpoint.Service, session name.Session, a *arrival) error {
	c, err := s.Repo.ReadCommit(ctx, string(a.commit))
	if err != nil {
		return err
	}
	rec, _, _, err := s.Store.Record(ctx, a.commit)
	if err != nil {
		return err
	}
	told, err := record.ParseMessage(c.Message)
	switch {
	case err != nil:
		return err
	case rec.ID != a.id || rec.Session != session:
		return fmt.Errorf("it is checkpoint %s of session %q", rec.ID, rec.Session)
	case rec.Snapshot.Tree != "" && rec.Snapshot.Tree != c.Tree:
		return errors.New("its tree is not the one that its record names")
	}
	if differ := record.Agree(rec, told); len(differ) > 0 {
		return fmt.Errorf("its record and its message differ in %s", strings.Join(differ, ", "))
	}
	a.record = rec
	a.blob, err = s.Store.RecordBlob(ctx, a.commit)
	return err
}

// agrees reports whether a checkpoint is the one that the journal names.
func (a *arrival) agrees(st *journal.State) error {
	if st == nil {
		return nil
	}
	e := st.Entry(a.id)
	if e == nil {
		return nil
	}
	for _, named := range st.Events() {
		if named.Checkpoint == a.id && named.Commit == a.commit && (named.Record == "" || named.Record == a.record.Checksum) {
			return nil
		}
	}
	return fmt.Errorf("the journal names commit %s for it", e.Event().Commit.Short())
}

// adoption names a checkpoint whose ref is there and that no event names.
func adoption(s *checkpoint.Service, session name.Session, a *arrival) (journal.Event, error) {
	e, err := s.NewEvent(journal.KindAdopt, session)
	checkpoint.NameIn(&e, a.record, a.commit)
	return e, err
}

// byCreation sorts by when they were made.
func byCreation(all []arrival) {
	slices.SortFunc(all, func(a, b arrival) int {
		if c := a.record.CreatedAt.Compare(b.record.CreatedAt); c != 0 {
			return c
		}
		return strings.Compare(string(a.id), string(b.id))
	})
}
