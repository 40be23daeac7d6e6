package checkpoint

import (
	"encoding/json"
	"path/filepath"
	"time"

	"git-checkpoint/internal/format/journal"
	"git-checkpoint/internal/format/name"
	"git-checkpoint/internal/git"
	"git-checkpoint/internal/storage/snapshot"
)

// Intent is what package rollback stores before it moves the first file. If the process is killed,
// `rollback --continue` and `--abort` in another process read it to finish the rollback or to take
// it back.
type Intent struct {
	Session   name.Session
	Event     journal.Event // the first event to write, complete except for its Discard and Restore lists
	Levels    []UndoneLevel // for an undo: one event for each, in this order
	Safety    name.ID       // the safety checkpoint, which holds the worktree as it was
	To        name.ID       // the target; empty for an undo after which nothing is current
	StartedAt time.Time
	Branch    BranchPlan
	OldBranch name.Ref // HEAD's branch before; empty when it was detached
	OldHead   name.OID // HEAD's commit before
	TargetOld name.OID // old value of the branch that moves; empty when it did not exist, or none moves
	Reason    string
	Stays     bool // of a promotion or landing: the current checkpoint stays and nothing is discarded
	// Then is the request of the checkpoint that a promotion makes afterwards, as package create encodes it.
	Then json.RawMessage `json:",omitempty"`
	// Chat is the note of the conversation that was prepared to go on from there, see package continuation.
	Chat string `json:",omitempty"`
}

// UndoneLevel has the members that differ between the events of one undo of several levels. See
// "Rollback and undo" in docs/format.md.
type UndoneLevel struct {
	Undoes       name.OID
	Safety       name.ID
	Mode, Branch string
}

// ReadIntent decodes the Intent in a snapshot's intent file. Damage is an error of KindInvalid.
func ReadIntent(data json.RawMessage) (meta Intent, err error) {
	if err := json.Unmarshal(data, &meta); err != nil {
		return meta, &Error{Kind: KindInvalid, Message: "the file that describes the rollback is damaged", Err: err}
	}
	return meta, nil
}

// RefuseHalfRolledBack returns an error when the worktree is in the middle of a rollback whose
// process is dead: a checkpoint of a mixture of old and new files would be useless. It returns nil
// while the rollback's process is still alive, because a capture waits for that one to finish.
func RefuseHalfRolledBack(repo *git.Repo) error {
	dir := filepath.Join(repo.GitDir, "checkpoint")
	if in, err := snapshot.ReadIntent(dir); in == nil && err == nil || snapshot.Moving(dir) {
		return nil
	}
	in, err := snapshot.ReadIntent(dir) // read again: the process may have finished between ReadIntent and Moving
	if err != nil || in == nil {
		return err
	}
	return &Error{
		Kind: KindRefused, Message: "a rollback in this worktree was cut off",
		Hints: []string{"`git checkpoint rollback --continue` finishes it", "`git checkpoint rollback --abort` takes it back"},
	}
}

// RefuseHalf returns an error for a capture of half a rollback. Unlike RefuseHalfRolledBack it also
// notices a rollback that somebody has finished or taken back since.
func RefuseHalf(repo *git.Repo, c *snapshot.Capture) error {
	if !c.Half {
		return nil
	}
	if err := RefuseHalfRolledBack(repo); err != nil {
		return err
	}
	return snapshot.ErrMoved
}
