package rollback

import (
	"encoding/json"

	"git-checkpoint/internal/checkpoint"
	"git-checkpoint/internal/name"
)

// PlanFiles is what a rollback does to the worktree. Paths are sorted.
type PlanFiles struct {
	Write   []checkpoint.Path `json:"write"` // created or given other content
	Delete  []checkpoint.Path `json:"delete"`
	Mode    []checkpoint.Path `json:"mode"`    // only the executable bit changes
	Risk    []Risk            `json:"risk"`    // what cannot be brought back exactly, or names commands that others run
	Discard []string          `json:"discard"` // labels (or ids) of the checkpoints it discards
	Skipped []checkpoint.Path `json:"skipped"` // paths that stay untouched by rule
	Unsaved []checkpoint.Path `json:"unsaved"` // of write and delete: what is there now is in no checkpoint and no commit yet
}

// Risk names a path and what is not kept of it.
type Risk struct {
	Path   checkpoint.Path `json:"path"`
	Reason string          `json:"reason"`
}

// Answer is what `rollback` and `undo` answer, planned or done.
type Answer struct {
	Session  name.Session          `json:"session"`
	From     name.ID               `json:"from"` // current before; empty when there was none
	To       name.ID               `json:"to"`
	ToLabel  string                `json:"to_label"`
	Safety   name.ID               `json:"safety"` // empty for a dry run
	DryRun   bool                  `json:"dry_run"`
	Digest   string                `json:"digest,omitempty"` // of a plan: --plan takes it
	Mode     string                `json:"mode"`             // all, worktree, state, paths, produced
	Plan     PlanFiles             `json:"plan"`
	Branch   checkpoint.BranchPlan `json:"branch"`
	State    json.RawMessage       `json:"state"`
	Pending  json.RawMessage       `json:"pending"`
	NextStep *NextStep             `json:"next_step"`
	Warnings []string              `json:"warnings,omitempty"`

	Promotes  *Promoted   `json:"promotes,omitempty"`  // of promote: whose files come
	Levels    []UndoLevel `json:"levels,omitempty"`    // of undo and redo: what is taken back, in that order
	Meanwhile []Meanwhile `json:"meanwhile,omitempty"` // of undo and redo: what other worktrees did since
	NextUndo  *UndoLevel  `json:"next_undo,omitempty"` // once it is done
	NextRedo  *UndoLevel  `json:"next_redo,omitempty"` // once it is done

	Empty bool   `json:"-"` // nothing is to be done: everything is as the target has it
	Said  string `json:"-"` // how the workflow says it; empty: as usual
}

// UndoLevel is a rollback that an undo takes back or a redo does again.
type UndoLevel struct {
	List      string          `json:"list"` // undo or redo
	N         int             `json:"n"`    // what `undo N` or `redo N` takes to go over it
	Event     name.OID        `json:"event"`
	Time      checkpoint.Time `json:"time"`
	Session   name.Session    `json:"session"`
	What      string          `json:"what"` // the rollback, in a sentence
	Reason    string          `json:"reason"`
	To        name.ID         `json:"to"` // what is current then
	ToLabel   string          `json:"to_label"`
	Safety    name.ID         `json:"safety"`          // whose files come back
	Available bool            `json:"available"`       // it is not pruned
	Files     *int            `json:"files,omitempty"` // of --list: how many files the rollback changed
}

// Meanwhile is what another worktree did after an event that is to be taken back.
type Meanwhile struct {
	Event    name.OID        `json:"event"`
	Worktree string          `json:"worktree"`
	Time     checkpoint.Time `json:"time"`
	What     string          `json:"what"`
}

// NextStep is the step that follows the current one.
type NextStep struct {
	Step int    `json:"step"`
	Name string `json:"name"`
}
