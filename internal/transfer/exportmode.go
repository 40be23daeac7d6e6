package transfer

import (
	"io/fs"

	"git-checkpoint/internal/git"
)

// permissions returns the file mode for a tree entry: git records only whether a file is
// executable.
func permissions(e git.Entry) fs.FileMode {
	if e.Mode == git.ModeExec {
		return 0o755
	}
	return 0o644
}
