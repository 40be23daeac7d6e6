package checkpoint

import (
	"encoding/json"
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"strings"

	"git-checkpoint/internal/format/name"
	"git-checkpoint/internal/git"
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
