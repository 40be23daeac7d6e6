package bench

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
)

// packEvery is the number of checkpoints after which a growing session is packed, because a
// million loose files would measure the file system. stage is the number after which it is
// kept, so that an interrupted run can go on from there.
const (
	packEvery = 500
	stage     = 2000
)

// operation is a command that is measured in sessions of different lengths.
type operation struct {
	name, work  string
	first, then float64
	step        func(*repository) step
}

// operations are the commands whose cost must not grow with the session.
func operations() []operation {
	ask := func(args ...string) func(*repository) step {
		// A command that only reads needs no preparation.
		return func(r *repository) step {
			return r.checkpoint(args...)
		}
	}
	return []operation{
		{"create", "`create` number %d ÷ number %d", 1.3, 1.1, func(r *repository) step { return step{r.change, r.create} }},
		{"rollback", "`rollback` after %d checkpoints ÷ after %d", 1.3, 1.1, func(r *repository) step { return step{r.change, r.rollback} }},
		{"status", "`status` after %d ÷ after %d", 1.3, 1.1, ask("status")},
		{"resume", "`resume` after %d ÷ after %d", 1.3, 1.1, ask("resume")},
		{"show", "`show` after %d ÷ after %d", 1.3, 1.1, ask("show", "3")},
		{"diff", "`diff` of two after %d ÷ after %d", 1.3, 1.1, ask("diff", "3", "4")},
	}
}

// sessions compares the same work late and early in a session, and in one that is longer still.
func (b *bench) sessions() []job {
	var jobs []job
	short := b.Effort.Lengths[0]
	for _, op := range operations() {
		for _, n := range b.Effort.Lengths[1:] {
			jobs = append(jobs, job{
				Row{Name: fmt.Sprintf("session/%s/%d", op.name, n), Work: fmt.Sprintf(op.work, n, short), Files: b.Effort.small(), First: op.first, Then: op.then},
				func(ctx context.Context) (samples, error) {
					late, err := b.session(ctx, n)
					if err != nil {
						return samples{}, err
					}
					early, err := b.session(ctx, short)
					if err != nil {
						return samples{}, err
					}
					return compare(ctx, b.Effort.Rounds, op.step(late), op.step(early))
				},
			})
		}
	}
	return append(jobs, long(b)...)
}

// session returns a repository with a session of n checkpoints.
func (b *bench) session(ctx context.Context, n int) (*repository, error) {
	return b.copyOf(ctx, n, fmt.Sprintf("session-%d", n))
}

// copyOf returns a copy of such a repository, under a name of its own if other rows must
// not change it.
func (b *bench) copyOf(ctx context.Context, n int, name string) (*repository, error) {
	if r := b.made[name]; r != nil {
		return r, nil
	}
	from, err := b.grown(ctx, n)
	if err != nil {
		return nil, err
	}
	r := b.blank(name, b.Effort.small())
	if err := copyTree(from, r.dir); err != nil {
		return nil, fmt.Errorf("copy a session: %w", err)
	}
	b.made[name] = r
	if err := r.settle(ctx); err != nil {
		return nil, err
	}
	return r, r.target(ctx)
}

// shorter returns the length from which a session of n grows; 0 means from an empty one.
func (e Effort) shorter(n int) int {
	found := (n - 1) / stage * stage
	for _, other := range e.Lengths {
		if other < n {
			found = max(found, other)
		}
	}
	return found
}

// grown returns the directory of a session of n checkpoints. It grows from a copy of the
// next shorter session, because making thousands of checkpoints takes minutes.
func (b *bench) grown(ctx context.Context, n int) (string, error) {
	size := b.Effort.small()
	return b.kept(fmt.Sprintf("session-%d-of-%d", n, size), func(dir string) error {
		fmt.Fprintf(b.Log, "  a session of %d\n", n)
		shorter := b.Effort.shorter(n)
		r, err := b.seedling(ctx, fmt.Sprintf("growing-%d", n), shorter)
		if err != nil {
			return err
		}
		defer os.RemoveAll(r.dir) //nolint:errcheck // it is below the directory for temporary files
		for made := shorter + 1; made <= n; made++ {
			if err := r.changeFiles(1 + made%2); err != nil {
				return err
			}
			if err := r.create(ctx); err != nil {
				return err
			}
			// Many loose refs would slow down the making of the next checkpoints.
			if made%packEvery == 0 || made == n {
				if err := r.pack(ctx); err != nil {
					return err
				}
			}
		}
		return copyTree(r.dir, dir)
	})
}

// seedling returns the repository from which a session grows.
func (b *bench) seedling(ctx context.Context, name string, shorter int) (*repository, error) {
	if shorter == 0 {
		r, err := b.repository(ctx, name, b.Effort.small())
		if err != nil {
			return nil, err
		}
		delete(b.made, name) // it is deleted after growing
		// Packing in the background would change what is measured.
		_, err = r.git(ctx, nil, "config", "checkpoint.autoPack", "false")
		return r, err
	}
	from, err := b.grown(ctx, shorter)
	if err != nil {
		return nil, err
	}
	r := b.blank(name, b.Effort.small())
	if err := copyTree(from, r.dir); err != nil {
		return nil, fmt.Errorf("copy a session: %w", err)
	}
	return r, r.settle(ctx)
}

// pack packs refs and objects, as a gc does sooner or later.
func (r *repository) pack(ctx context.Context) error {
	if _, err := r.git(ctx, nil, "pack-refs", "--all"); err != nil {
		return err
	}
	if _, err := r.git(ctx, nil, "repack", "--geometric=2", "-d", "-q"); err != nil {
		return err
	}
	return os.RemoveAll(filepath.Join(r.dir, ".git", "objects", "info", "commit-graphs"))
}
