//go:build linux

package checkpoint_test

import (
	"context"
	"errors"
	"os"
	"path/filepath"
	"testing"
	"time"

	"git-checkpoint/internal/core/checkpoint"
	"git-checkpoint/internal/storage/snapshot"
	"git-checkpoint/internal/verb/rollback"
)

// editing is a worktree with a checkpoint that a rollback would go back to: "old" in
// a file that it replaces, one that it deletes, and one that it makes.
func editing(t *testing.T) (*clone, func(name, content string)) {
	t.Helper()
	c := newClones(t, 1, 0).all[0]
	write := func(name, content string) {
		if err := os.WriteFile(filepath.Join(c.dir, name), []byte(content), 0o666); err != nil {
			t.Error(err)
		}
	}
	write("replaced", "old\n")
	write("made", "old\n")
	c.create()
	write("replaced", "new\n")
	write("deleted", "new\n")
	if err := os.Remove(filepath.Join(c.dir, "made")); err != nil {
		t.Fatal(err)
	}
	return c, write
}

func content(t *testing.T, c *clone, name string) string {
	t.Helper()
	data, err := os.ReadFile(filepath.Join(c.dir, name))
	if err != nil && !os.IsNotExist(err) {
		t.Error(err)
	}
	return string(data)
}

// A file that an editor saves during a rollback keeps that content, whichever way the editor saves,
// and everything else is as it was.
func TestEditedMeanwhile(t *testing.T) {
	for _, k := range []struct{ name, step, file string }{
		{"before it moves", "begun", "replaced"}, {"before it is deleted", "begun", "deleted"},
		{"with its other name made", "linked", "replaced"}, {"where a file is to come", "emptied", "made"},
	} {
		for _, renames := range []string{"", " by a rename"} {
			t.Run(k.name+renames, func(t *testing.T) {
				c, write := editing(t)
				edit := func(step string) {
					if step != k.step {
						return
					}
					if renames == "" {
						write(k.file, "edited and longer\n")
						return
					}
					write("temporary", "edited and longer\n")
					if err := os.Rename(filepath.Join(c.dir, "temporary"), filepath.Join(c.dir, k.file)); err != nil {
						t.Error(err)
					}
				}
				var changed *snapshot.ChangedError
				if err := c.rolledBack(edit); !errors.As(err, &changed) {
					t.Fatalf("the rollback says %v", err)
				}
				want := map[string]string{"replaced": "new\n", "deleted": "new\n", "made": ""}
				want[k.file] = "edited and longer\n"
				for name, text := range want {
					if got := content(t, c, name); got != text {
						t.Errorf("%s holds %q", name, got)
					}
				}
			})
		}
	}
}

// A write to a file through a descriptor that was opened before the rollback is noticed, until the
// index is put in place.
func TestWrittenMeanwhile(t *testing.T) {
	for _, name := range []string{"replaced", "deleted"} {
		c, _ := editing(t)
		f, err := os.OpenFile(filepath.Join(c.dir, name), os.O_APPEND|os.O_WRONLY, 0)
		if err != nil {
			t.Fatal(err)
		}
		placed := 0
		err = c.rolledBack(func(step string) {
			if step == "place" {
				placed++
			}
			if placed == 2 && step == "place" { // all has been moved
				f.WriteString("and on\n") //nolint:errcheck // the content is compared
			}
		})
		var changed *snapshot.ChangedError
		if !errors.As(err, &changed) || content(t, c, name) != "new\nand on\n" {
			t.Errorf("%s: %v, and it holds %q", name, err, content(t, c, name))
		}
		f.Close() //nolint:errcheck // it was written to
	}
}

// If somebody edits a file that a rollback has written already, and the rollback then fails, the
// edit is kept: --abort stores it in a checkpoint before it goes back.
func TestEditedBeforeGoingBack(t *testing.T) {
	c, write := editing(t)
	done := 0
	err := c.rolledBack(func(step string) {
		if step == "place" {
			if done++; done == 2 {
				write("made", "edited\n")
				write("temporary", "x")
				if err := os.Rename(filepath.Join(c.dir, "temporary"), filepath.Join(c.dir, "replaced")); err != nil {
					t.Error(err)
				}
			}
		}
		if step == "index built" { // so that it fails
			os.Remove(filepath.Join(c.dir, ".git", "index.lock")) //nolint:errcheck // the test sees it
			if err := os.Mkdir(filepath.Join(c.dir, ".git", "index.lock"), 0o777); err != nil {
				t.Error(err)
			}
		}
	})
	if err == nil || content(t, c, "made") != "edited\n" || content(t, c, "replaced") != "x" {
		t.Fatalf("%v; %q, %q", err, content(t, c, "made"), content(t, c, "replaced"))
	}
	if err := os.Remove(filepath.Join(c.dir, ".git", "index.lock")); err != nil {
		t.Fatal(err)
	}
	c.must(func(ctx context.Context, s *checkpoint.Service) error {
		_, err := rollback.Abort(ctx, s)
		return err
	})
	if content(t, c, "made") != "" || content(t, c, "replaced") != "new\n" || content(t, c, "deleted") != "new\n" {
		t.Errorf("%q, %q, %q", content(t, c, "made"), content(t, c, "replaced"), content(t, c, "deleted"))
	}
	found := false
	for _, oid := range c.w.refs(c.dir) {
		found = found || c.w.has(c.dir, oid, "made", "edited")
	}
	if !found {
		t.Error("no checkpoint has what was edited")
	}
}

// A rollback that was planned before another one moved files is refused, whichever files those
// were: its capture may be a mixture of both states.
func TestPlannedBefore(t *testing.T) {
	c, _ := editing(t)
	err := c.do(func(ctx context.Context, s *checkpoint.Service) error {
		r, err := rollback.Prepare(ctx, s, rollback.Request{Session: string(demo), Ref: "1", Paths: []string{"replaced"}})
		if err != nil {
			return err
		}
		c.must(func(ctx context.Context, other *checkpoint.Service) error {
			r, err := rollback.Prepare(ctx, other, rollback.Request{Session: string(demo), Ref: "1", Paths: []string{"deleted"}})
			if err == nil {
				_, err = r.Apply(ctx)
			}
			return err
		})
		_, err = r.Apply(ctx)
		return err
	})
	if !errors.Is(err, snapshot.ErrMoved) || content(t, c, "replaced") != "new\n" || content(t, c, "deleted") != "" {
		t.Errorf("%v; %q, %q", err, content(t, c, "replaced"), content(t, c, "deleted"))
	}
}

// rolledBack goes to the first checkpoint with its files, and calls between at each step.
func (c *clone) rolledBack(between func(string)) error {
	return c.do(func(ctx context.Context, s *checkpoint.Service) error {
		s.Between = between
		r, err := rollback.Prepare(ctx, s, rollback.Request{Session: string(demo), Ref: "1"})
		if err != nil {
			return err
		}
		_, err = r.Apply(ctx)
		return err
	})
}

// has reports whether a path of a commit holds a text.
func (w *clones) has(dir, commit, path, text string) bool {
	w.t.Helper()
	if w.git(dir, "ls-tree", "--name-only", commit, path) == "" {
		return false
	}
	return w.git(dir, "cat-file", "-p", commit+":"+path) == text
}

// What is staged while a rollback is planned is not mixed with what the rollback stages.
func TestStagedMeanwhile(t *testing.T) {
	c := newClones(t, 1, 0).all[0]
	old := time.Now().Add(-time.Hour)
	write := func(name, content string) { // so long ago that the index need not doubt it
		file := filepath.Join(c.dir, name)
		if err := errors.Join(os.WriteFile(file, []byte(content), 0o666), os.Chtimes(file, old, old)); err != nil {
			t.Fatal(err)
		}
		time.Sleep(20 * time.Millisecond)
	}
	write("file", "one\n")
	c.w.git(c.dir, "add", "-A")
	want := c.w.git(c.dir, "ls-files", "--stage")
	c.create()
	write("file", "two\n")
	write("staged", "two\n")
	err := c.rolledBack(func(step string) {
		if step == "planned" {
			c.w.git(c.dir, "add", "staged")
		}
	})
	if err != nil {
		t.Fatal(err)
	}
	if got := c.w.git(c.dir, "ls-files", "--stage"); got != want {
		t.Errorf("staged:\n%s\nwant:\n%s", got, want)
	}
}
