package checkpoint_test

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"git-checkpoint/internal/core/checkpoint"
	"git-checkpoint/internal/test/scripttest"
	"git-checkpoint/internal/verb/create"
	"git-checkpoint/internal/verb/rollback"
)

// A gc may remove any object that a create writes before a ref holds it. Then the checkpoint is
// whole all the same, or it is removed again.
func TestObjectsVanish(t *testing.T) {
	scripttest.Long(t)
	c := newClones(t, 1, 0).all[0]
	write := func(name, content string) {
		file := filepath.Join(c.dir, filepath.FromSlash(name))
		if err := os.MkdirAll(filepath.Dir(file), 0o777); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(file, []byte(content), 0o666); err != nil {
			t.Fatal(err)
		}
	}
	write("far/down/tracked", "a\n")
	write("top", "a\n")
	c.w.git(c.dir, "add", "-A")
	c.w.git(c.dir, "commit", "-q", "-m", "files")
	c.create()
	unreachable := func() []string {
		var out []string
		for line := range strings.Lines(c.w.git(c.dir, "fsck", "--unreachable", "--no-dangling", "--no-reflogs")) {
			if f := strings.Fields(line); len(f) == 3 && f[0] == "unreachable" {
				out = append(out, f[2])
			}
		}
		return out
	}
	for i, most := 0, 1; i < most; i++ {
		c.w.git(c.dir, "prune", "--expire=now")
		write("far/down/tracked", fmt.Sprint(i, "\n"))
		write("far/new/one", fmt.Sprint(i, " new\n"))
		write("stage/deep/file", fmt.Sprint(i, " staged\n"))
		c.w.git(c.dir, "add", "stage")
		err := c.between("written", func(ctx context.Context, s *checkpoint.Service) error {
			_, err := create.Checkpoint(ctx, s, create.Request{Session: string(demo), Message: "next"})
			return err
		}, func() {
			all := unreachable()
			most = max(most, len(all))
			if oid := all[i%len(all)]; os.Remove(filepath.Join(c.dir, ".git", "objects", oid[:2], oid[2:])) != nil {
				t.Errorf("%s is not loose", oid)
			}
		})
		if err != nil && !strings.Contains(err.Error(), "vanished") {
			t.Errorf("round %d: %v", i, err)
		}
		c.w.git(c.dir, "fsck", "--strict", "--no-dangling", "--connectivity-only") // fails the test
	}
}

// After a rollback the trees that the index names exist, whatever a gc removed before.
func TestTreesOfIndexVanish(t *testing.T) {
	c := newClones(t, 1, 0).all[0]
	for _, name := range []string{"kept", "far/file"} {
		c.ok(os.MkdirAll(filepath.Dir(filepath.Join(c.dir, name)), 0o777))
		c.ok(os.WriteFile(filepath.Join(c.dir, name), []byte("one\n"), 0o666))
	}
	c.w.git(c.dir, "add", "-A")
	c.create()
	for _, name := range []string{"kept", "far/file"} {
		c.ok(os.WriteFile(filepath.Join(c.dir, name), []byte("two\n"), 0o666))
	}
	c.w.git(c.dir, "add", "-A")
	c.ok(c.between("index built", func(ctx context.Context, s *checkpoint.Service) error {
		r, err := rollback.Prepare(ctx, s, rollback.Request{Session: string(demo), Ref: "1", Paths: []string{"far"}})
		if err == nil {
			_, err = r.Apply(ctx)
		}
		return err
	}, func() {
		c.w.git(c.dir, "prune", "--expire=now")
	}))
	c.w.git(c.dir, "rev-list", "--objects", "--indexed-objects", "--all") // fails the test
	c.w.git(c.dir, "gc", "-q", "--prune=now")
}
