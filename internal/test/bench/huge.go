package bench

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
)

// hugeRounds is how often each side runs, because a round takes seconds.
const hugeRounds = 5

// huge measures a worktree of a million files. Its rows come last, because deleting and making so many
// files changes how fast the file system is for a while.
func (b *bench) huge() []job {
	n := b.Effort.Huge
	if n == 0 {
		return nil
	}
	open := func(ctx context.Context) (*repository, error) { return b.millions(ctx, n) }
	rounds := min(hugeRounds, b.Effort.Rounds)
	return []job{
		{
			Row{Name: fmt.Sprintf("huge/create/%d", n), Work: "`create` ÷ A", Files: n, First: 0.45},
			func(ctx context.Context) (samples, error) {
				r, err := open(ctx)
				if err != nil {
					return samples{}, err
				}
				return compare(ctx, rounds, step{r.change, r.create}, step{r.change, r.snapshot})
			},
		},
		{
			Row{Name: fmt.Sprintf("huge/memory/%d", n), Work: "peak memory of our process, `create`", Files: n, Unit: "MiB", First: 250},
			func(ctx context.Context) (samples, error) {
				r, err := open(ctx)
				if err != nil {
					return samples{}, err
				}
				return r.peaks(ctx, 0)
			},
		},
		{
			Row{Name: fmt.Sprintf("huge/before/%d", n), Work: "the hook before a tool that finds nothing changed", Files: n, First: 800},
			func(ctx context.Context) (samples, error) { return before(ctx, rounds, open) },
		},
	}
}

// millions makes a worktree of n tiny files. Git writes the blobs into one pack at once, because as
// many loose objects would take several times as long.
func (b *bench) millions(ctx context.Context, n int) (*repository, error) {
	const name = "huge"
	if r := b.made[name]; r != nil {
		return r, nil
	}
	fmt.Fprintf(b.Log, "  a repository of %d files\n", n)
	r := b.blank(name, n)
	for i, path := range r.paths {
		if i%25 == 0 {
			if err := os.MkdirAll(filepath.Join(r.dir, filepath.Dir(path)), 0o777); err != nil {
				return nil, err
			}
		}
		if err := os.WriteFile(filepath.Join(r.dir, path), fmt.Appendf(nil, "file %d\n", i), 0o666); err != nil {
			return nil, err
		}
	}
	for _, args := range [][]string{{"init", "-q", "-b", "main"}, {"-c", "core.bigFileThreshold=1", "add", "-A"}, {"commit", "-q", "-m", "Start"}, {"repack", "-a", "-d", "-q", "--window=0"}} {
		if _, err := r.git(ctx, nil, args...); err != nil {
			return nil, err
		}
	}
	b.made[name] = r
	return r, r.settle(ctx)
}
