package create

import (
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"

	"git-checkpoint/internal/core/checkpoint"
	"git-checkpoint/internal/format/name"
	"git-checkpoint/internal/storage/snapshot"
	"git-checkpoint/internal/storage/store"
)

// openToOthers reports whether another account can enter a directory: it, and each directory above it, lets
// the same others in.
func openToOthers(dir string) bool {
	who := fs.FileMode(0o011)
	for ; dir != filepath.Dir(dir); dir = filepath.Dir(dir) {
		info, err := os.Stat(dir)
		if err != nil {
			return false
		}
		who &= info.Mode()
	}
	return who != 0
}

// sayPrivate warns once in a worktree that a file which only its owner can read was captured into a
// repository that others can read: git's objects have no permissions of their own, so the directory of
// objects decides.
func sayPrivate(s *store.Store, got *snapshot.Capture) {
	if !openToOthers(filepath.Join(s.Repo.CommonDir, "objects")) {
		return
	}
	var said bool
	for _, file := range got.Untracked {
		if perm, unusual := got.Modes[file]; !unusual || perm&0o077 != 0 {
			continue
		}
		if _, err := checkpoint.Recall(s.Repo, checkpoint.PrivateFile, &said); err != nil || said {
			return
		}
		s.Warn(fmt.Sprintf("only you can read %q, but others can read this repository, and so the checkpoint with it; `chmod go-rwx %s` closes the repository, `git config --add checkpoint.exclude %s` leaves the file out",
			strings.ReplaceAll(file, "\n", `\n`), name.Quoted(s.Repo.CommonDir), name.Quoted(file)))
		if err := checkpoint.Remember(s, checkpoint.PrivateFile, true); err != nil {
			s.Warn(err.Error())
		}
		return
	}
}
