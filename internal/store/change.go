package store

import (
	"fmt"

	"git-checkpoint/internal/journal"
	"git-checkpoint/internal/name"
)

// View is what a change is built on: the session as it is now. State and Log are
// nil for a session that does not exist yet. Log is valid while the change is
// built, and must not be extended; State is valid for ever.
type View struct {
	Session name.Session
	Log     *journal.Log
	State   *journal.State
	Tip     name.OID // of the journal; empty when there is none
}

// Change is what one transaction writes. The zero Change writes nothing.
type Change struct {
	// Base is the journal to write on when it is not the one of the View: a merge
	// of that with another clone's, made by Join.
	Base *journal.Log
	// Events go to the journal in this order. The store sets their parents; an
	// empty session is set to the one of the transaction.
	Events []journal.Event

	Create []NewCheckpoint
	Remove []Removal
	// Archive puts checkpoints into the session's archive, in the place of their refs.
	Archive map[name.ID]name.OID
	Notes   []NewNote // beside those of Create and Remove
	Tags    TagPolicy

	Verify []name.OID // objects that must exist once the refs are written
	// Mends says that the caller writes again what of these a gc took: the refs stay.
	Mends bool
}

// empty reports whether there is nothing to write.
func (c *Change) empty() bool {
	return c.Base == nil && len(c.Events)+len(c.Create)+len(c.Remove)+len(c.Archive)+len(c.Notes) == 0 && c.Tags != TagsRebuilt
}

// check refuses what no repository could hold, before anything is written.
func (c *Change) check() error {
	for _, n := range c.Create {
		if _, err := name.ParseID(string(n.ID)); err != nil {
			return err
		}
		for _, oid := range []name.OID{n.Commit, n.RecordBlob} {
			if _, err := name.ParseOID(string(oid)); err != nil {
				return fmt.Errorf("checkpoint %s: %w", n.ID, err)
			}
		}
	}
	for id, oid := range c.Archive {
		if _, err := name.ParseID(string(id)); err != nil {
			return err
		}
		if _, err := name.ParseOID(string(oid)); err != nil {
			return fmt.Errorf("checkpoint %s: %w", id, err)
		}
	}
	for _, r := range c.Remove {
		if _, err := name.ParseID(string(r.ID)); err != nil {
			return err
		}
	}
	for _, n := range c.Notes {
		if _, err := name.ParseOID(string(n.Commit)); err != nil {
			return fmt.Errorf("note: %w", err)
		}
	}
	return nil
}

// NewCheckpoint gives a checkpoint commit its ref and its note.
type NewCheckpoint struct {
	ID         name.ID
	Commit     name.OID
	RecordBlob name.OID
}

// Removal takes a checkpoint's ref, note and tags away. An empty Commit is
// whatever the ref names; a ref that is gone already is no error.
type Removal struct {
	ID     name.ID
	Commit name.OID
}

// NewNote is a note to be mended; an empty RecordBlob removes it.
type NewNote struct {
	Commit     name.OID
	RecordBlob name.OID
}

// TagPolicy says what a change does with tags.
type TagPolicy int

// The policies.
const (
	// TagsDerived creates, moves and deletes the tags whose checkpoint the change
	// replaces.
	TagsDerived TagPolicy = iota
	// TagsNone leaves tags alone, except that those of what is removed go.
	TagsNone
	// TagsRebuilt derives every tag of the session anew.
	TagsRebuilt
)

// Result is what a transaction wrote.
type Result struct {
	Tip      name.OID       // of the journal
	Events   []name.OID     // of the change's events, in order
	State    *journal.State // after the change
	Tags     []TagUpdate
	Warnings []string
	Tries    int
}

// TagUpdate is a tag that was created (no Old), moved, or deleted (no New).
type TagUpdate struct {
	Ref      name.Ref
	New, Old name.OID
}
