package checkpoint

import (
	"encoding/json"
	"strings"

	"git-checkpoint/internal/name"
	"git-checkpoint/internal/proof"
	"git-checkpoint/internal/record"
)

// The types in this file are what commands answer; their JSON members are a
// contract, documented in docs/json.md, and only ever grow.

// Detail is one checkpoint as `create` and `show` answer it: the record's own
// members, then commit, ref and tag, and for create whether it was created.
type Detail struct {
	Record   *record.Record
	Raw      json.RawMessage // checkpoint.json as stored
	Commit   name.OID
	Ref      name.Ref
	Tag      name.Ref // empty when it has none
	Created  *bool    // only create answers it
	Warnings []string // for people, on stderr

	Current, Discarded, Pinned bool // what the fold says, for people

	Pruned []Labelled // of a create: what the workflow's rules let go by themselves

	Said string // how the workflow confirms a create; empty: as usual
}

// Path is a path of the worktree. One that is not UTF-8 is an object in JSON.
type Path = record.Path

// FileChange is one path that differs.
type FileChange struct {
	Path    Path   `json:"path"`
	Op      string `json:"op"` // added, modified, deleted, renamed, type
	OldPath Path   `json:"old_path,omitempty"`
}

// Labelled names a checkpoint.
type Labelled struct {
	ID    name.ID `json:"id"`
	Label string  `json:"label"`
}

// BranchPlan is what a rollback does to HEAD.
type BranchPlan struct {
	Name        name.Ref `json:"name"` // the branch HEAD is on, empty when detached
	From        name.OID `json:"from"`
	To          name.OID `json:"to"`               // HEAD when the checkpoint was made
	Moved       bool     `json:"moved"`            // HEAD goes there (--branch)
	Target      name.Ref `json:"target,omitempty"` // the branch it is on afterwards, when it moves
	CommitsLeft int      `json:"commits_left"`     // commits between, left where they are or behind

	Back *BranchBack `json:"back,omitempty"` // a branch that HEAD is not on afterwards, and that an undo takes back
}

// Moves reports whether any branch does, or HEAD.
func (p BranchPlan) Moves() bool { return p.Moved || p.Back != nil }

// BranchBack is a branch that moves beside HEAD.
type BranchBack struct {
	Name name.Ref `json:"name"`
	From name.OID `json:"from"` // empty: it was made
	To   name.OID `json:"to"`
}

// MarshalJSON gives the record as stored, then commit, ref, tag and created. It is
// spliced, not decoded and encoded, so that numbers keep their digits and members that
// this version does not know their place.
func (d *Detail) MarshalJSON() ([]byte, error) {
	raw := d.Raw
	if raw == nil {
		var err error
		if raw, err = d.Record.Marshal(record.Limits{}); err != nil {
			return nil, err
		}
	}
	more := struct {
		Commit  string `json:"commit"`
		Ref     string `json:"ref"`
		Tag     string `json:"tag"`
		Created *bool  `json:"created,omitempty"`

		Pruned []Labelled `json:"pruned,omitempty"`
	}{string(d.Commit), string(d.Ref), string(d.Tag), d.Created, d.Pruned}
	tail, err := json.Marshal(more)
	if err != nil {
		return nil, err
	}
	head := strings.TrimSpace(strings.TrimSuffix(strings.TrimSpace(string(raw)), "}"))
	return []byte(head + "," + string(tail[1:])), nil
}

// Finding is one thing that is wrong: its kind, the object, what it means, what to do.
type Finding = proof.Finding
