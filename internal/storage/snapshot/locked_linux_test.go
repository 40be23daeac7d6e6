package snapshot

import (
	"os"
	"path/filepath"
	"testing"

	"golang.org/x/sys/unix"
)

// What the system would not let a rollback change is known before anything moves: a directory
// without write permission and, for root, a file with the immutable attribute.
func TestLocked(t *testing.T) {
	repo := repository(t)
	shot, err := New(repo)
	if err != nil {
		t.Fatal(err)
	}
	defer shot.Close()
	file := filepath.Join(repo.WorkTree, "d", "file")
	if err := os.Mkdir(filepath.Dir(file), 0o755); err != nil {
		t.Fatal(err)
	}
	put(t, file, "one\n")
	then, err := shot.Take(t.Context(), Rules{MaxFileSize: 1 << 20})
	if err != nil {
		t.Fatal(err)
	}
	put(t, file, "two\n")
	now, err := shot.Take(t.Context(), Rules{MaxFileSize: 1 << 20})
	if err != nil {
		t.Fatal(err)
	}
	locks := func() int {
		plan, err := shot.Plan(t.Context(), now, Target{Tree: then.Tree}, Scope{SkipIndex: true})
		if err != nil {
			t.Fatal(err)
		}
		return len(plan.Locked)
	}
	if n := locks(); n != 0 {
		t.Errorf("%d locked in an ordinary directory", n)
	}
	if os.Geteuid() != 0 {
		if err := os.Chmod(filepath.Dir(file), 0o555); err != nil {
			t.Fatal(err)
		}
		defer os.Chmod(filepath.Dir(file), 0o755) //nolint:errcheck // of a temporary directory
		if n := locks(); n != 1 {
			t.Errorf("%d locked in a directory without write permission", n)
		}
		return
	}
	if !immutable(t, file, true) {
		t.Log("NOT TESTED: this file system has no immutable files")
		return
	}
	defer immutable(t, file, false)
	if n := locks(); n != 1 {
		t.Errorf("%d locked where a file is immutable", n)
	}
}

// immutableFlag is FS_IMMUTABLE_FL of linux/fs.h.
const immutableFlag = 0x10

// immutable sets or removes the attribute, and reports whether it is as asked.
func immutable(t *testing.T, path string, on bool) bool {
	f, err := os.Open(path)
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close() //nolint:errcheck // read only
	flags, err := unix.IoctlGetUint32(int(f.Fd()), unix.FS_IOC_GETFLAGS)
	if err != nil {
		return false
	}
	flags &^= immutableFlag
	if on {
		flags |= immutableFlag
	}
	return unix.IoctlSetPointerInt(int(f.Fd()), unix.FS_IOC_SETFLAGS, int(flags)) == nil
}
