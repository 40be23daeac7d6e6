package checkpoint_test

import (
	"context"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"sync"
	"testing"

	"git-checkpoint/internal/core/checkpoint"
	"git-checkpoint/internal/test/scripttest"
	"git-checkpoint/internal/verb/transfer"
	"git-checkpoint/internal/verb/travel"
)

// If a gc removes objects while a fetch brings them, they are brought again, or nothing of the
// fetch is kept: no ref may name a missing object.
func TestBroughtAgain(t *testing.T) {
	scripttest.Long(t)
	w := newClones(t, 2, 1)
	a, b := w.all[0], w.all[1]
	a.create()
	a.ok(a.sync("r0"))
	b.ok(b.sync("r0"))
	bundle := filepath.Join(t.TempDir(), "job.bundle")
	bring := map[string]func(context.Context, *checkpoint.Service) error{
		"fetch": func(ctx context.Context, s *checkpoint.Service) error {
			_, err := travel.Fetch(ctx, s, travel.Request{Remote: "r0"})
			return err
		},
		"import": func(ctx context.Context, s *checkpoint.Service) error {
			_, err := travel.ImportBundle(ctx, s, bundle)
			return err
		},
	}
	for _, step := range []string{"arrived", "fetched"} {
		for how, f := range bring {
			t.Run(how+" "+step, func(t *testing.T) {
				b.create() // so that the journals are joined
				before := w.refs(b.dir)
				id := a.create()
				a.ok(a.push("r0"))
				os.Remove(bundle) //nolint:errcheck // there may be none
				a.must(func(ctx context.Context, s *checkpoint.Service) error {
					_, err := transfer.Export(ctx, s, transfer.ExportRequest{Destination: transfer.Destination{Path: bundle}}, "bundle")
					return err
				})
				there, done := b.objects(), func() {}
				if step == "arrived" {
					done = b.pretendGC()
				}
				err := b.between(step, f, func() {
					for file := range b.objects() {
						if !there[file] {
							b.ok(os.Remove(file))
						}
					}
					done()
				})
				if step == "arrived" && err != nil {
					t.Error(err)
				}
				if got := w.refs(b.dir)[string(id)]; err == nil && got == "" {
					t.Error("it did not come")
				} else if now := w.refs(b.dir); err != nil && fmt.Sprint(now) != fmt.Sprint(before) {
					t.Errorf("refs are %v, were %v: %v", now, before, err)
				}
				w.git(b.dir, "fsck", "--strict", "--no-dangling", "--connectivity-only") // fails the test
				if err := b.do(f); err != nil {
					t.Errorf("once more: %v", err)
				}
				if w.refs(b.dir)[string(id)] == "" {
					t.Error("it is not there")
				}
			})
		}
	}
}

// objects lists the files of the object store.
func (c *clone) objects() map[string]bool {
	found := map[string]bool{}
	for _, pattern := range []string{"??/*", "pack/*"} {
		files, err := filepath.Glob(filepath.Join(c.dir, ".git", "objects", pattern))
		c.ok(err)
		for _, f := range files {
			found[f] = true
		}
	}
	return found
}

// pretendGC makes it look as if a gc that deletes unreachable objects is running, until done is
// called.
func (c *clone) pretendGC() (done func()) {
	cmd := exec.Command("sh", "-c", "read end", "git", "gc", "--prune=now")
	end, err := cmd.StdinPipe()
	c.ok(err)
	c.ok(cmd.Start())
	mark := filepath.Join(c.dir, ".git", "gc.pid")
	c.ok(os.WriteFile(mark, fmt.Appendf(nil, "%d here", cmd.Process.Pid), 0o666))
	return sync.OnceFunc(func() {
		c.ok(os.Remove(mark))
		end.Close() //nolint:errcheck // it ends either way
		cmd.Wait()  //nolint:errcheck // see above
	})
}
