package transfer

import (
	"io/fs"

	"git-checkpoint/internal/git"
)

// permissions are what a file of a tree may do.
func permissions(e git.Entry) fs.FileMode {
	if e.Mode == git.ModeExec {
		return 0o755
	}
	return 0o644
}
