package bench

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"io"
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

// millions makes a worktree of n tiny files. Git writes all of them from a pack: to add them one by one
// takes several times as long, and twice the disk.
func (b *bench) millions(ctx context.Context, n int) (*repository, error) {
	const name = "huge"
	if r := b.made[name]; r != nil {
		return r, nil
	}
	fmt.Fprintf(b.Log, "  a repository of %d files\n", n)
	r := b.blank(name, n)
	if _, err := b.start(ctx, b.root, nil, "git", "init", "-q", "-b", "main", r.dir); err != nil {
		return nil, err
	}
	stream, to := io.Pipe()
	go func() {
		w := bufio.NewWriterSize(to, 1<<20)
		fmt.Fprintf(w, "commit refs/heads/main\ncommitter A U Thor <author@example.com> 1700000000 +0000\ndata 0\n")
		for i, path := range r.paths {
			text := fmt.Sprintf("file %d\n", i)
			fmt.Fprintf(w, "M 100644 inline %s\ndata %d\n%s\n", filepath.ToSlash(path), len(text), text)
		}
		to.CloseWithError(w.Flush()) //nolint:errcheck // it gives nil
	}()
	_, err := b.feed(ctx, r.dir, nil, stream, "git", "-c", "core.compression=0", "-c", "pack.compression=0", "fast-import", "--quiet", "--depth=0")
	stream.CloseWithError(errors.New("git reads no more")) //nolint:errcheck // it gives nil
	if err == nil {
		_, err = r.git(ctx, nil, "reset", "-q", "--hard")
	}
	if err != nil {
		return nil, fmt.Errorf("make %d files: %w", n, err)
	}
	b.made[name] = r
	return r, r.settle(ctx)
}
