package snapshot

import (
	"errors"
	"io/fs"
	"maps"
	"os"
	"path/filepath"
	"testing"

	"github.com/google/go-cmp/cmp"
)

// wholeFiles are the files of these tests. All but one are in a directory that goes away.
var wholeFiles = map[string]string{"stays": "0\n", "a/b/one": "1\n", "a/b/two": "2\n", "a/c/d/three": "3\n", "a-b": "4\n"}

// removed captures the files, removes the directory a, and stages a restore that brings it back.
func removed(t *testing.T, prepare func(top string)) (*Worktree, *Restore, string) {
	t.Helper()
	repo := repository(t)
	shot, err := New(repo)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(shot.Close)
	top := repo.WorkTree
	for p, text := range wholeFiles {
		if err := os.MkdirAll(filepath.Join(top, filepath.Dir(p)), 0o777); err != nil {
			t.Fatal(err)
		}
		put(t, filepath.Join(top, p), text)
	}
	if err := os.Chmod(filepath.Join(top, "a/c"), 0o700); err != nil {
		t.Fatal(err)
	}
	then, err := shot.Take(t.Context(), Rules{MaxFileSize: 1 << 20})
	if err != nil {
		t.Fatal(err)
	}
	if err := os.RemoveAll(filepath.Join(top, "a")); err != nil {
		t.Fatal(err)
	}
	if prepare != nil {
		prepare(top)
	}
	now, err := shot.Take(t.Context(), Rules{MaxFileSize: 1 << 20})
	if err != nil {
		t.Fatal(err)
	}
	return shot, begun(t, shot, now, Target{Tree: then.Tree, Modes: map[string]fs.FileMode{"a/c/": 0o700}}), top
}

// contents reads the files below top, without those of git.
func contents(t *testing.T, top string) map[string]string {
	t.Helper()
	found := map[string]string{}
	err := filepath.WalkDir(top, func(p string, e fs.DirEntry, err error) error {
		switch {
		case err != nil:
			return err
		case e.Name() == ".git":
			return fs.SkipDir
		case e.IsDir():
			return nil
		}
		data, err := os.ReadFile(p)
		found[p[len(top)+1:]] = string(data)
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	return found
}

func same(t *testing.T, what, top string, want map[string]string) {
	t.Helper()
	if d := cmp.Diff(want, contents(t, top)); d != "" {
		t.Errorf("%s: %s", what, d)
	}
}

// withoutDir returns the files that are there without the directory a.
func withoutDir() map[string]string {
	return map[string]string{"stays": "0\n", "a-b": "4\n"}
}

// A missing directory comes in one step, with its permission bits. A process that finds the restore
// after a kill takes it back and, after that, finishes it.
func TestMissingDirectoryComesWhole(t *testing.T) {
	shot, r, top := removed(t, nil)
	steps := 0
	shot.Trace = func(step string) {
		if step == "place" {
			steps++
			same(t, "at the first step", top, wholeFiles)
		}
	}
	if err := r.Apply(t.Context()); err != nil {
		t.Fatal(err)
	}
	if steps == 0 {
		t.Error("nothing was moved")
	}
	hasPerm(t, filepath.Join(top, "a/c"), 0o700)
	for range 2 {
		again, err := shot.Unfinished()
		if err != nil {
			t.Fatal(err)
		}
		if err := again.GoBack(); err != nil {
			t.Fatal(err)
		}
		same(t, "taken back", top, withoutDir())
		if _, err := os.Lstat(filepath.Join(top, "a")); !errors.Is(err, fs.ErrNotExist) {
			t.Errorf("the directory is still there: %v", err)
		}
		if err := again.Apply(t.Context()); err != nil {
			t.Fatal(err)
		}
		same(t, "finished", top, wholeFiles)
		hasPerm(t, filepath.Join(top, "a/c"), 0o700)
	}
	again, err := shot.Unfinished()
	if err != nil {
		t.Fatal(err)
	}
	if err := again.Finish(t.Context()); err != nil {
		t.Error(err)
	}
}

// If another program makes the directory meanwhile, its files stay and those of the restore come
// beside them. If it has one of the same name, the restore is taken back and the other one stays.
func TestMissingDirectoryAppears(t *testing.T) {
	for name, also := range map[string]string{"another file": "a/b/other", "the same file": "a/b/two"} {
		t.Run(name, func(t *testing.T) {
			shot, r, top := removed(t, nil)
			shot.Trace = func(step string) {
				if step == "emptied" {
					if err := os.MkdirAll(filepath.Join(top, "a/b"), 0o777); err != nil {
						t.Error(err)
					}
					put(t, filepath.Join(top, also), "another program\n")
				}
			}
			want := maps.Clone(wholeFiles)
			err := r.Apply(t.Context())
			var changed *ChangedError
			switch {
			case also == "a/b/other" && err != nil:
				t.Fatal(err)
			case also == "a/b/two":
				if !errors.As(err, &changed) {
					t.Fatalf("Apply says %v", err)
				}
				want = withoutDir()
				if err := r.GoBack(); err != nil {
					t.Error(err)
				}
			}
			want[also] = "another program\n"
			same(t, "afterwards", top, want)
			if err := r.Finish(t.Context()); err != nil {
				t.Error(err)
			}
		})
	}
}

// Going back leaves what was written in the directory since.
func TestEditedInMissingDirectory(t *testing.T) {
	_, r, top := removed(t, nil)
	if err := r.Apply(t.Context()); err != nil {
		t.Fatal(err)
	}
	put(t, filepath.Join(top, "a/b/two"), "edited since\n")
	put(t, filepath.Join(top, "a/new"), "new since\n")
	var changed *ChangedError
	if err := r.GoBack(); !errors.As(err, &changed) {
		t.Errorf("going back says %v", err)
	}
	want := withoutDir()
	want["a/b/two"], want["a/new"] = "edited since\n", "new since\n"
	same(t, "taken back", top, want)
	if err := r.Finish(t.Context()); err != nil {
		t.Error(err)
	}
}

// A directory that passes on its group passes it on to what a restore makes in it.
func TestMissingDirectoryTakesGroup(t *testing.T) {
	_, r, top := removed(t, func(top string) {
		if err := os.Chmod(top, 0o777|fs.ModeSetgid); err != nil {
			t.Fatal(err)
		}
	})
	if err := r.Apply(t.Context()); err != nil {
		t.Fatal(err)
	}
	same(t, "afterwards", top, wholeFiles)
	if info, err := os.Lstat(filepath.Join(top, "a/b")); err != nil || info.Mode()&fs.ModeSetgid == 0 {
		t.Errorf("%v, %v", info.Mode(), err)
	}
	if err := r.Finish(t.Context()); err != nil {
		t.Error(err)
	}
}

// After a kill, a link in the place of a staged directory is refused: whoever sent the repository would
// move files of the user.
func TestStagedLink(t *testing.T) {
	shot, r, top := removed(t, nil)
	secret := t.TempDir()
	put(t, filepath.Join(secret, "one"), "secret\n")
	staged := filepath.Dir(r.intent.newFile(opAt(t, r, "a/b/one")))
	if err := errors.Join(os.RemoveAll(staged), os.Symlink(secret, staged)); err != nil {
		t.Fatal(err)
	}
	var refused *IntentError
	if _, err := shot.Unfinished(); !errors.As(err, &refused) {
		t.Errorf("with a link: %v", err)
	}
	same(t, "afterwards", top, withoutDir())
}

func opAt(t *testing.T, r *Restore, p string) int {
	t.Helper()
	for i, o := range r.intent.Ops {
		if o.Path == p {
			return i
		}
	}
	t.Fatalf("nothing happens to %s", p)
	return 0
}
