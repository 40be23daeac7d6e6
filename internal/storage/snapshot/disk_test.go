package snapshot

import (
	"io/fs"
	"os"
	"path/filepath"
	"testing"

	"git-checkpoint/internal/git"
)

// TestModeOnDisk checks which mode a tree gets, by what the disk keeps, what the file shows and what
// the index has.
func TestModeOnDisk(t *testing.T) {
	none, doubtful, noLinks := disk{noModes: true}, disk{doubtful: true}, disk{noLinks: true}
	for _, c := range []struct {
		disk   disk
		shown  fs.FileMode // 0: a symbolic link
		staged git.Mode
		want   git.Mode
	}{
		{disk{}, 0o755, git.ModeFile, git.ModeExec},
		{disk{}, 0o777, git.ModeFile, git.ModeExec},
		{disk{}, 0o644, git.ModeSymlink, git.ModeFile},
		{none, 0o755, git.ModeFile, git.ModeFile},
		{none, 0o777, git.ModeExec, git.ModeExec},
		{none, 0o644, git.ModeExec, git.ModeExec},
		{none, 0o777, 0, git.ModeFile},
		{none, 0o777, git.ModeGitlink, git.ModeFile},
		{none, 0o777, git.ModeSymlink, git.ModeFile},
		{none, 0, git.ModeFile, git.ModeSymlink},
		{doubtful, 0o777, git.ModeFile, git.ModeFile},
		{doubtful, 0o777, git.ModeExec, git.ModeExec},
		{doubtful, 0o777, 0, git.ModeFile},
		{doubtful, 0o755, git.ModeFile, git.ModeExec},
		{doubtful, 0o644, git.ModeExec, git.ModeFile},
		{noLinks, 0o644, git.ModeSymlink, git.ModeSymlink},
		{noLinks, 0o755, git.ModeFile, git.ModeExec},
		{noLinks, 0o644, 0, git.ModeFile},
		{disk{noModes: true, noLinks: true}, 0o777, git.ModeSymlink, git.ModeSymlink},
	} {
		p := filepath.Join(t.TempDir(), "f")
		err := os.Symlink("target", p)
		if c.shown != 0 {
			os.Remove(p) //nolint:errcheck // the write would fail
			if err = os.WriteFile(p, nil, 0o600); err == nil {
				err = os.Chmod(p, c.shown)
			}
		}
		info, statErr := os.Lstat(p)
		if err != nil || statErr != nil {
			t.Fatal(err, statErr)
		}
		if got := c.disk.modeOf(info, c.staged); got != c.want {
			t.Errorf("%+v, shown as %o, staged as %o: got %o, want %o", c.disk, c.shown, c.staged, got, c.want)
		}
	}
}
