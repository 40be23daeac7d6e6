package checkpoint

import (
	"encoding/json"
	"path/filepath"
	"time"

	"git-checkpoint/internal/journal"
	"git-checkpoint/internal/name"
	"git-checkpoint/internal/snapshot"
)

// Intent is what a cut-off rollback needs to be finished or taken back.
type Intent struct {
	Session   name.Session
	Event     journal.Event // the first one, complete but for its lists
	Levels    []UndoneLevel // of an undo: an event for each, in this order
	Safety    name.ID
	To        name.ID
	StartedAt time.Time
	Branch    BranchPlan
	OldBranch name.Ref
	OldHead   name.OID
	TargetOld name.OID // of the branch that moves; empty when it did not exist
	Reason    string
	Stays     bool // the session stays at its checkpoint, and nothing of it is discarded
}

// UndoneLevel is what the event of one level of an undo names.
type UndoneLevel struct {
	Undoes       name.OID
	Safety       name.ID
	Mode, Branch string
}

// ReadIntent decodes what a rollback wrote down before it moved a file.
func ReadIntent(data json.RawMessage) (meta Intent, err error) {
	if err := json.Unmarshal(data, &meta); err != nil {
		return meta, &Error{Kind: KindInvalid, Message: "the intent of the rollback is damaged", Err: err}
	}
	return meta, nil
}

// RefuseHalfRolledBack refuses to record a worktree that holds half of a rollback, because the
// process that made the rollback is dead. A rollback that still runs is waited for by
// whoever captures.
func (s *Service) RefuseHalfRolledBack() error {
	dir := filepath.Join(s.Repo.GitDir, "checkpoint")
	if in, err := snapshot.ReadIntent(dir); in == nil && err == nil || snapshot.Moving(dir) {
		return nil
	}
	in, err := snapshot.ReadIntent(dir) // again: its process may have finished between the two
	if err != nil || in == nil {
		return Classify(err)
	}
	return &Error{
		Kind: KindRefused, Message: "a rollback in this worktree was cut off",
		Hints: []string{"`git checkpoint rollback --continue` finishes it", "`git checkpoint rollback --abort` takes it back"},
	}
}
