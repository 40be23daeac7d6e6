//go:build unix

package git

import (
	"io/fs"
	"os"
	"path/filepath"
	"syscall"
	"testing"

	"git-checkpoint/internal/test/scripttest"
)

// Files and directories get the modes that git would give them.
func TestWriterModes(t *testing.T) {
	for i, umask := range []int{0o022, 0o002, 0o077} {
		for k, shared := range []string{"umask", "group", "all", "0640", "0660", "0600", "nonsense"} {
			t.Run(shared, func(t *testing.T) {
				scripttest.OneIn(t, 3, i+k) // each value with one umask
				defer syscall.Umask(syscall.Umask(umask))
				f := newFixture(t)
				r := f.open("GIT_CONFIG_PARAMETERS='core.sharedRepository=" + shared + "'")
				oid, err := r.Objects.Write(ctx(t), "blob", []byte("ours"))
				if err != nil {
					t.Fatal(err)
				}
				ours := modes(t, f.Loose(oid))
				if err := os.RemoveAll(filepath.Dir(f.Loose(oid))); err != nil {
					t.Fatal(err)
				}
				if _, err := f.Try("ours", "-c", "core.sharedRepository="+shared, "hash-object", "-w", "--stdin"); err != nil {
					return // git refuses the value
				}
				if theirs := modes(t, f.Loose(oid)); ours != theirs {
					t.Errorf("umask %03o: %v, git's %v", umask, ours, theirs)
				}
			})
		}
	}
}

func modes(t *testing.T, path string) [2]fs.FileMode {
	t.Helper()
	file, err := os.Stat(path)
	if err != nil {
		t.Fatal(err)
	}
	dir, err := os.Stat(filepath.Dir(path))
	if err != nil {
		t.Fatal(err)
	}
	return [2]fs.FileMode{file.Mode(), dir.Mode()}
}
