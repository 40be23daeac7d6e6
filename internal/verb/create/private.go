package create

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"

	"git-checkpoint/internal/core/checkpoint"
)

// sayPrivate warns once in a worktree that a file which only its owner can read was captured into a
// repository that others can read: git's objects have no permissions of their own, so the directory of
// objects decides.
func (c *captured) sayPrivate() {
	info, err := os.Stat(filepath.Join(c.s.Repo.CommonDir, "objects"))
	if err != nil || info.Mode().Perm()&0o055 == 0 {
		return
	}
	var said bool
	for _, file := range c.capture.Untracked {
		if perm, unusual := c.capture.Modes[file]; !unusual || perm&0o077 != 0 {
			continue
		}
		if _, err := c.s.Recall(checkpoint.PrivateFile, &said); err != nil || said {
			return
		}
		c.s.Warn(fmt.Sprintf("only you can read %q, but others can read this repository, and so the checkpoint with it; `chmod go-rwx %s` closes the repository, `git config --add checkpoint.exclude` leaves the file out",
			strings.ReplaceAll(file, "\n", `\n`), c.s.Repo.CommonDir))
		if err := c.s.Remember(checkpoint.PrivateFile, true); err != nil {
			c.s.Warn(err.Error())
		}
		return
	}
}
