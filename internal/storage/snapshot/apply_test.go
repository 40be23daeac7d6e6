package snapshot

import (
	"encoding/json"
	"io/fs"
	"os"
	"path/filepath"
	"testing"
)

// Going back after a kill restores the permission bits that a file had.
func TestModeComesBackAfterAKill(t *testing.T) {
	repo := repository(t)
	shot, err := New(repo)
	if err != nil {
		t.Fatal(err)
	}
	defer shot.Close()
	file := filepath.Join(repo.WorkTree, "file")
	put(t, file, "text\n")
	took := map[fs.FileMode]*Capture{}
	for _, perm := range []fs.FileMode{0o600, 0o755} {
		if err := os.Chmod(file, perm); err != nil {
			t.Fatal(err)
		}
		if took[perm], err = shot.Take(t.Context(), Rules{MaxFileSize: 1 << 20}); err != nil {
			t.Fatal(err)
		}
	}
	then := took[0o600]
	r := begun(t, shot, took[0o755], Target{Tree: then.Tree, Modes: then.Modes, ModesKnown: true})
	if err := r.Apply(t.Context()); err != nil {
		t.Fatal(err)
	}
	hasPerm(t, file, 0o600)
	again, err := shot.Unfinished()
	if err != nil {
		t.Fatal(err)
	}
	if err := again.GoBack(); err != nil {
		t.Error(err)
	}
	hasPerm(t, file, 0o755)
	if err := again.Finish(t.Context()); err != nil {
		t.Error(err)
	}
}

// begun begins a restore of the files of a target.
func begun(t *testing.T, shot *Worktree, now *Capture, target Target) *Restore {
	t.Helper()
	plan, err := shot.Plan(t.Context(), now, target, Scope{SkipIndex: true})
	if err != nil {
		t.Fatal(err)
	}
	r, err := shot.Stage(t.Context(), plan)
	if err != nil {
		t.Fatal(err)
	}
	if err := r.Begin(json.RawMessage(`{}`)); err != nil {
		t.Fatal(err)
	}
	return r
}

// A file without any permission bits, which only root can capture, gets none again.
func TestNoPermissionBitsComeBack(t *testing.T) {
	if os.Geteuid() != 0 {
		t.Skip("only root can read such a file")
	}
	repo := repository(t)
	shot, err := New(repo)
	if err != nil {
		t.Fatal(err)
	}
	defer shot.Close()
	file := filepath.Join(repo.WorkTree, "file")
	put(t, file, "text\n")
	if err := os.Chmod(file, 0); err != nil {
		t.Fatal(err)
	}
	then, err := shot.Take(t.Context(), Rules{MaxFileSize: 1 << 20})
	if err != nil {
		t.Fatal(err)
	}
	if err := os.Remove(file); err != nil {
		t.Fatal(err)
	}
	now, err := shot.Take(t.Context(), Rules{MaxFileSize: 1 << 20})
	if err != nil {
		t.Fatal(err)
	}
	plan, err := shot.Plan(t.Context(), now, Target{Tree: then.Tree, Modes: then.Modes, ModesKnown: true}, Scope{SkipIndex: true})
	if err != nil {
		t.Fatal(err)
	}
	r, err := shot.Stage(t.Context(), plan)
	if err != nil {
		t.Fatal(err)
	}
	defer r.Cancel()
	hasPerm(t, r.intent.newFile(0), 0)
}

func hasPerm(t *testing.T, file string, want fs.FileMode) {
	t.Helper()
	if info, err := os.Lstat(file); err != nil || info.Mode().Perm() != want {
		t.Errorf("%v, %v; want %v", info.Mode(), err, want)
	}
}

// If many files change while a rollback is prepared, it names one of them, and not each on a line.
func TestOneChangedFileIsNamed(t *testing.T) {
	repo := repository(t)
	shot, err := New(repo)
	if err != nil {
		t.Fatal(err)
	}
	defer shot.Close()
	take := func(text string) *Capture {
		for _, leaf := range []string{"a", "b", "c"} {
			put(t, filepath.Join(repo.WorkTree, leaf), leaf+text)
		}
		c, err := shot.Take(t.Context(), Rules{MaxFileSize: 1 << 20})
		if err != nil {
			t.Fatal(err)
		}
		return c
	}
	then, now := take(" then\n"), take(" is now longer\n")
	plan, err := shot.Plan(t.Context(), now, Target{Tree: then.Tree}, Scope{SkipIndex: true})
	if err != nil {
		t.Fatal(err)
	}
	take(" was changed meanwhile\n")
	_, err = shot.Secure(t.Context(), plan)
	if want := (&ChangedError{"a"}).Error(); err == nil || err.Error() != want {
		t.Errorf("Secure says %v, not %s", err, want)
	}
}
