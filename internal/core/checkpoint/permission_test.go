package checkpoint

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"git-checkpoint/internal/format/name"
	"git-checkpoint/internal/git"
)

// Whose a file is that this account may not write, and what helps, is said whether the system or git
// said no.
func TestPermissionHints(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "with ' space", ".git")
	if err := os.MkdirAll(dir, 0o755); err != nil {
		t.Fatal(err)
	}
	other := "/"
	if os.Geteuid() == 0 {
		other = filepath.Join(dir, "refs")
		if err := errors.Join(os.Mkdir(other, 0o755), os.Chown(other, 12345, 12345)); err != nil {
			t.Fatal(err)
		}
	}
	gone := filepath.Join(other, "checkpoints", "x.lock")
	for _, c := range []struct {
		err  error
		want string
	}{
		{&fs.PathError{Op: "open", Path: gone, Err: fs.ErrPermission}, other + " belongs to "},
		{fmt.Errorf("git update-ref: fatal: Unable to create '%s': Permission denied", gone), "; `sudo chown -R "},
		{fmt.Errorf("%w: detected dubious ownership in repository at '%s'", git.ErrUnusable, other), "safe.directory " + name.Quoted(other) + "` trusts it"},
		{fmt.Errorf("%w: detected dubious ownership in repository at '%s'", git.ErrUnusable, other), other + " belongs to "},
		{&fs.PathError{Op: "open", Path: filepath.Join(dir, "x"), Err: fs.ErrPermission}, "`chmod u+rwX " + name.Quoted(dir) + "`"},
		{fmt.Errorf("%w: not a git repository (or any of the parent directories): .git", git.ErrUnusable), "`git init`"},
		{fmt.Errorf("%w: not a git repository: /old/.git/worktrees/x", git.ErrUnusable), "`git worktree repair`"},
	} {
		if got := strings.Join(HintsOf(c.err), "\n"); !strings.Contains(got, c.want) {
			t.Errorf("%v: %q lacks %q", c.err, got, c.want)
		}
	}
	// Nothing is advised about what is in no repository, and nothing above one.
	if os.Geteuid() == 0 {
		all := filepath.Join(dir, "objects")
		if err := errors.Join(os.Mkdir(all, 0o755), os.Chown(all, 12345, 12345), os.Chown(dir, 12345, 12345), os.Chown(filepath.Dir(dir), 12345, 12345)); err != nil {
			t.Fatal(err)
		}
		for path, want := range map[string]string{
			filepath.Join(all, "x"): " " + name.Quoted(dir) + "` makes", filepath.Join(filepath.Dir(dir), "job.bundle"): "belongs to",
		} {
			got := strings.Join(HintsOf(&fs.PathError{Op: "open", Path: path, Err: fs.ErrPermission}), "\n")
			if !strings.Contains(got, want) || !strings.Contains(path, ".git") && strings.ContainsAny(got, "`") {
				t.Errorf("%s: %q lacks %q", path, got, want)
			}
		}
	}
	for _, plain := range []error{errors.New("no"), &fs.PathError{Op: "open", Path: dir, Err: fs.ErrNotExist}} {
		if got := HintsOf(plain); len(got) > 0 {
			t.Errorf("%v: %q", plain, got)
		}
	}
}
