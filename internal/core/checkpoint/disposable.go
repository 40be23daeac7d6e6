package checkpoint

import (
	"encoding/json"
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"time"

	"git-checkpoint/internal/format/journal"
	"git-checkpoint/internal/format/name"
	"git-checkpoint/internal/git"
	"git-checkpoint/internal/storage/snapshot"
	"git-checkpoint/internal/storage/store"
)

// Forget deletes disposable files by their names. A file that does not exist is not an error.
func Forget(repo *git.Repo, files ...string) error {
	for _, file := range files {
		if err := os.Remove(memory(repo, file)); err != nil && !os.IsNotExist(err) {
			return err
		}
	}
	return nil
}

// The names of the disposable files in <git dir>/checkpoint of the worktree. Each holds one JSON
// value that has to be kept from one command to the next. Losing any of them loses no checkpoint.
const (
	ChatFile    = "chat.json"          // what chat commands remember between two lines
	FailedFile  = "failed.json"        // the session in which a create failed last
	BitsFile    = "bits.json"          // the records made here that open files to more people than the umask does
	OutsideFile = "outside-rules.json" // the ignore rules outside of the worktree at the last checkpoints
	PrivateFile = "private.json"       // whether it was said that others can read private files
	BesideFile  = "beside.json"        // when another worker was named last
	chosenFile  = "chosen.json"        // the session that a user chose, see Choose

	resumedFile = "resumed.json" // the session that a user resumed, see ChooseResumed

	branchesFile = "branches.json" // by branch, the session in which this worktree last made a checkpoint on it, see Follow
)

// OwnDir is this program's directory in the git directory of one worktree. That of the main
// worktree also has what all of them share.
type OwnDir struct {
	Path     string
	Worktree string // for people: "main" or the name of the linked worktree
}

// Said returns what a file of one line in the directory says; empty: it is not there.
func (d OwnDir) Said(file string) string {
	text, _ := os.ReadFile(filepath.Join(d.Path, file)) //nolint:errcheck // a worktree in which nothing was made has none
	return strings.TrimSpace(string(text))
}

// WorktreeIDFile has the id of a worktree.
const WorktreeIDFile = "worktree-id"

// ReceiptFile lists what `agent add` put into the settings of agents. It is in the directory that
// all worktrees share.
const ReceiptFile = "agents-added.json"

// OwnDirs returns these directories for all worktrees of the repository, existing or not.
func OwnDirs(repo *git.Repo) ([]OwnDir, error) {
	dirs := []OwnDir{{filepath.Join(repo.CommonDir, "checkpoint"), "main"}}
	linked, err := os.ReadDir(filepath.Join(repo.CommonDir, "worktrees"))
	if errors.Is(err, fs.ErrNotExist) {
		return dirs, nil
	}
	for _, w := range linked {
		dirs = append(dirs, OwnDir{filepath.Join(repo.CommonDir, "worktrees", w.Name(), "checkpoint"), w.Name()})
	}
	return dirs, err
}

// FailedFileOf returns the name of the file with the last create that failed in a session. All
// worktrees share it.
func FailedFileOf(session name.Session) string { return failedPrefix + string(session) + ".json" }

// NamedFileOf returns the name of the file with the time at which `resume` showed a session last. All
// worktrees share it.
func NamedFileOf(session name.Session) string { return namedPrefix + string(session) + ".json" }

// The beginnings of the names of disposable files that all worktrees share.
const (
	failedPrefix = "failed-"
	namedPrefix  = "named-"
)

// isShared reports whether all worktrees share a disposable file.
func isShared(file string) bool {
	return strings.HasPrefix(file, failedPrefix) || strings.HasPrefix(file, namedPrefix)
}

// memory returns the path of a disposable file. The directory may not exist yet.
func memory(repo *git.Repo, file string) string {
	if isShared(file) {
		return filepath.Join(repo.CommonDir, "checkpoint", file)
	}
	return filepath.Join(repo.GitDir, "checkpoint", file)
}

// Recall decodes a disposable file into into. It reports false, without an error, when the file
// does not exist or is not valid JSON: a damaged file is treated as a missing one.
func Recall(repo *git.Repo, file string, into any) (bool, error) {
	data, err := os.ReadFile(memory(repo, file))
	if errors.Is(err, fs.ErrNotExist) {
		return false, nil
	}
	if err != nil {
		return false, err
	}
	return json.Unmarshal(data, into) == nil, nil
}

// Remember writes a disposable file as JSON. It replaces the file by a rename, so
// that a concurrent Recall sees the old value or the new one.
func Remember(s *store.Store, file string, what any) error {
	data, err := json.Marshal(what)
	if err != nil {
		return err
	}
	if isShared(file) {
		return s.WriteShared(file, data)
	}
	return s.WriteFile(file, data)
}

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
