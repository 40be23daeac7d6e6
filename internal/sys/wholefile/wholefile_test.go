//go:build unix

package wholefile

import (
	"errors"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"
)

// content writes a text, for Write.
func content(text string) func(io.Writer) error {
	return func(w io.Writer) error {
		_, err := io.WriteString(w, text)
		return err
	}
}

// check compares a file's content and mode, and that nothing else is in its directory.
func check(t *testing.T, name, want string, mode fs.FileMode) {
	t.Helper()
	data, err := os.ReadFile(name)
	if err != nil || string(data) != want {
		t.Errorf("it has %q, not %q, %v", data, want, err)
	}
	if info, err := os.Stat(name); err != nil || info.Mode() != mode {
		t.Errorf("its mode is %v, not %v, %v", info.Mode(), mode, err)
	}
	if left, err := filepath.Glob(filepath.Join(filepath.Dir(name), ".*")); len(left) > 0 || err != nil {
		t.Errorf("%q is left, %v", left, err)
	}
}

// TestModes checks that a new file has the mode of the umask, and a replaced one that of the old.
func TestModes(t *testing.T) {
	for _, umask := range []int{0o022, 0o077, 0o002} {
		name := filepath.Join(t.TempDir(), "file")
		before := syscall.Umask(umask)
		err := Write(name, 0o666, content("new"))
		syscall.Umask(before)
		if err != nil {
			t.Fatal(err)
		}
		check(t, name, "new", 0o666&^fs.FileMode(umask))
		for _, mode := range []fs.FileMode{0o600, 0o644, 0o755, 0o666} {
			if err := os.Chmod(name, mode); err != nil {
				t.Fatal(err)
			}
			if err := Write(name, 0o666, content("replaced")); err != nil {
				t.Fatal(err)
			}
			check(t, name, "replaced", mode)
		}
	}
}

// TestFails checks that the old file stays when the new one cannot be written, and that the error
// names the file and not a temporary one.
func TestFails(t *testing.T) {
	name := filepath.Join(t.TempDir(), "file")
	if err := os.WriteFile(name, []byte("old"), 0o640); err != nil {
		t.Fatal(err)
	}
	if err := os.Chmod(name, 0o640); err != nil {
		t.Fatal(err)
	}
	half := errors.New("half of it")
	err := Write(name, 0o666, func(w io.Writer) error {
		return errors.Join(content("ne")(w), half)
	})
	if !errors.Is(err, half) {
		t.Errorf("the error is %v", err)
	}
	check(t, name, "old", 0o640)
	err = Write(filepath.Join(name, "below"), 0o666, content("x"))
	if err == nil || !strings.HasSuffix(err.Error(), filepath.Join("file", "below")+": not a directory") {
		t.Errorf("the error is %v", err)
	}
}

// TestDevice checks that a pipe, which stands for any device, is not replaced, nor a link to one.
func TestDevice(t *testing.T) {
	name := filepath.Join(t.TempDir(), "pipe")
	if err := syscall.Mkfifo(name, 0o666); err != nil {
		t.Skip(err)
	}
	if err := os.Symlink(name, name+"-link"); err != nil {
		t.Fatal(err)
	}
	for _, to := range []string{name, name + "-link"} {
		if err := Write(to, 0o666, content("x")); err == nil || !strings.HasSuffix(err.Error(), to+": not a regular file") {
			t.Errorf("the error is %v", err)
		}
		if info, err := os.Stat(to); err != nil || info.Mode()&fs.ModeNamedPipe == 0 {
			t.Errorf("%s is %v, %v", to, info, err)
		}
	}
}

// TestSweep checks that a temporary file of a day ago goes, which a killed process left, and nothing else.
func TestSweep(t *testing.T) {
	dir := t.TempDir()
	old, stays := time.Now().Add(-25*time.Hour), []string{prefix + "ABCDEFGHIJKLMNOPQRSTUVWXYY", prefix + "staging-mine", "file"}
	for i, name := range append([]string{prefix + "ABCDEFGHIJKLMNOPQRSTUVWXYZ"}, stays...) {
		if err := os.WriteFile(filepath.Join(dir, name), nil, 0o600); err != nil {
			t.Fatal(err)
		}
		if i != 1 { // that one is being written
			if err := os.Chtimes(filepath.Join(dir, name), old, old); err != nil {
				t.Fatal(err)
			}
		}
	}
	if err := Bytes(filepath.Join(dir, "new"), 0o600, nil); err != nil {
		t.Fatal(err)
	}
	left, err := os.ReadDir(dir)
	if err != nil || len(left) != len(stays)+1 {
		t.Errorf("%v are left, %v", left, err)
	}
}
