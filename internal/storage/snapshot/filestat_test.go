//go:build linux

package snapshot

import (
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"testing"
	"time"
)

// fileStat returns the same stat data that git stores in the index.
func TestFileStatAgainstGit(t *testing.T) {
	dir := t.TempDir()
	git := func(args ...string) string {
		out, err := exec.CommandContext(t.Context(), "git", append([]string{"-C", dir}, args...)...).Output()
		if err != nil {
			t.Fatalf("git %q: %v", args, err)
		}
		return string(out)
	}
	git("init", "-q")
	file := filepath.Join(dir, "file")
	if err := os.WriteFile(file, []byte("content"), 0o640); err != nil {
		t.Fatal(err)
	}
	if err := os.Symlink("file", filepath.Join(dir, "link")); err != nil {
		t.Fatal(err)
	}
	time.Sleep(20 * time.Millisecond)
	if err := os.Chmod(file, 0o600); err != nil { // now ctime differs from mtime
		t.Fatal(err)
	}
	git("add", ".")
	for _, name := range []string{"file", "link"} {
		info, err := os.Lstat(filepath.Join(dir, name))
		if err != nil {
			t.Fatal(err)
		}
		s, ok := fileStat(info)
		got := fmt.Sprintf("%s\n  ctime: %d:%d\n  mtime: %d:%d\n  dev: %d\tino: %d\n  uid: %d\tgid: %d\n  size: %d\tflags: 0\n", name,
			s.CtimeSec, s.CtimeNsec, s.MtimeSec, s.MtimeNsec, s.Dev, s.Inode, s.UID, s.GID, s.Size)
		if want := git("ls-files", "--debug", name); !ok || got != want {
			t.Errorf("%s: took down\n%s\ngit has\n%s", name, got, want)
		}
	}
}
