package store

import (
	"maps"
	"slices"

	"git-checkpoint/internal/format/journal"
	"git-checkpoint/internal/format/name"
	"git-checkpoint/internal/git"
	"git-checkpoint/internal/sys/gather"
)

// View is the session at the start of an attempt. State and Log are nil for a session that does not
// exist yet. Log is only valid while the change is built and must not be extended. State never
// changes, so it stays valid.
type View struct {
	Log   *journal.Log
	State *journal.State
	Tip   name.OID // tip of the journal; empty when there is none
}

// Change is what a transaction is to write. The zero Change writes nothing.
type Change struct {
	// Base is the journal to write on, if it is not the one of the View. It is the result of Join:
	// the View's journal merged with that of another clone.
	Base *journal.Log
	// Events are appended to the journal in this order. The store sets their parents. An empty
	// Session is set to the session of the transaction.
	Events []journal.Event

	Branch  *git.Update // the move of a branch of the user's, or nil
	Create  []NewCheckpoint
	Remove  []Removal
	Archive map[name.ID]name.OID // adds checkpoints to the session's archive and deletes their refs
	Notes   []NewNote            // in addition to those of Create and Remove
	// LostNotes are directories of the notes tree that cannot be read. If notes are written, these are
	// left out.
	LostNotes []name.OID
	Retag     bool // computes every tag of the session anew, not only those whose newest checkpoint the change replaces

	Verify []name.OID // lists objects that must exist after the refs are written
	Mends  bool       // says that the caller writes missing objects of Verify again. The refs stay then
	Anew   bool       // lets the session begin anew although it has checkpoints and no journal. See LostError
}

// empty reports whether there is nothing to write.
func (c *Change) empty() bool {
	return c.Base == nil && len(c.Events)+len(c.Create)+len(c.Remove)+len(c.Archive)+len(c.Notes) == 0 && !c.Retag
}

// check refuses malformed ids before anything is written.
func (c *Change) check() error {
	ids, oids := slices.Collect(maps.Keys(c.Archive)), slices.Collect(maps.Values(c.Archive))
	for _, n := range c.Create {
		ids, oids = append(ids, n.ID), append(oids, n.Commit, n.RecordBlob)
	}
	ids = append(ids, gather.List(c.Remove, func(r Removal) name.ID { return r.ID })...)
	oids = append(oids, gather.List(c.Notes, func(n NewNote) name.OID { return n.Commit })...)
	for _, id := range ids {
		if _, err := name.ParseID(string(id)); err != nil {
			return err
		}
	}
	for _, oid := range oids {
		if _, err := name.ParseOID(string(oid)); err != nil {
			return err
		}
	}
	return nil
}

// NewCheckpoint is a checkpoint commit that gets a ref and a note.
type NewCheckpoint struct {
	ID         name.ID
	Commit     name.OID
	RecordBlob name.OID
}

// Removal is a checkpoint that loses its ref, note and tags. An empty Commit stands for whatever
// the ref points to. A ref that does not exist any more is not an error.
type Removal struct {
	ID     name.ID
	Commit name.OID
}

// NewNote is a note that is to be written again. An empty RecordBlob removes the note.
type NewNote struct {
	Commit     name.OID
	RecordBlob name.OID
}

// Result is what a transaction has written.
type Result struct {
	Tip      name.OID       // tip of the journal
	Events   []name.OID     // commits of the change's events, in their order
	State    *journal.State // after the change
	Tags     []git.Update   // each created (Old is empty), moved, or deleted (New is empty)
	Private  string         // what a created checkpoint holds that is not for everybody, so that it has no tag
	Warnings []string       // what was left out, for the user
	Tries    int            // number of attempts
}
