package travel

import (
	"context"
	"errors"
	"fmt"
	"strings"

	"git-checkpoint/internal/format/journal"
	"git-checkpoint/internal/format/name"
	"git-checkpoint/internal/format/record"
	"git-checkpoint/internal/storage/store"
)

// Joined is a journal together with its fold. The fold is computed when it is first needed, because
// many decisions need only the events. A nil *Joined is valid and has no fold and no dead
// checkpoints.
type Joined struct {
	log   *journal.Log
	state *journal.State
}

// Fold returns the state of the journal. It is computed once.
func (j *Joined) Fold() *journal.State {
	if j == nil || j.log == nil {
		return nil
	}
	if j.state == nil {
		j.state = j.log.Fold()
	}
	return j.state
}

// dead reports whether the checkpoint is pruned, see docs/format.md, The fold.
func (j *Joined) dead(id name.ID) bool {
	st := j.Fold()
	return st != nil && st.Dead(id)
}

// arrival is a checkpoint that came from elsewhere, after inspect verified it.
type arrival struct {
	id     name.ID
	commit name.OID
	// blob is the record's blob in the record commit. It becomes the note.
	blob   name.OID
	record *record.Record
	err    error // why it was rejected; nil: it is valid
}

// inspect verifies a checkpoint that may come from an untrusted writer. The commit, the record
// commit, the record and its checksum have to be valid and belong together; that result is kept,
// unless the context ended meanwhile, as such an error says nothing about the checkpoint. It also
// has to agree with the journal st, unless that is nil.
func (t *transfer) inspect(ctx context.Context, session name.Session, id name.ID, commit name.OID, st *journal.State) arrival {
	a, known := t.checked[commit]
	if !known || a.id != id {
		a = arrival{id: id, commit: commit}
		a.err = inspect(ctx, t.s.Store, session, &a)
		if ctx.Err() == nil {
			t.checked[commit] = a
		}
	}
	if a.err == nil {
		a.err = a.agrees(st)
	}
	return a
}

// inspect does the verification and fills in the record and the blob of a. The error says what is
// wrong with the checkpoint.
func inspect(ctx context.Context, s *store.Store, session name.Session, a *arrival) error {
	c, err := s.Repo.Commits.Read(ctx, string(a.commit))
	if err != nil {
		return err
	}
	rec, err := s.Record(ctx, a.commit)
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
		return fmt.Errorf("its record and its message disagree about %s", strings.Join(differ, ", "))
	}
	a.record = rec
	a.blob, err = s.RecordBlob(ctx, a.commit)
	return err
}

// agrees returns an error if the journal names other contents for the checkpoint. A checkpoint that
// the journal does not name yet agrees with it.
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
