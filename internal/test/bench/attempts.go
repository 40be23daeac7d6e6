package bench

// Rows for commands that have a counterpart in git: a fork makes a linked worktree, and
// blame walks a chain of commits.

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"strings"
)

// attempts compares fork and blame with the commands of git that do the same work.
func (b *bench) attempts() []job {
	size := b.Effort.many()
	return append(beside(b), []job{
		{
			Row{Name: fmt.Sprintf("fork/%d", size), Work: "`fork` ÷ `git worktree add`", Files: size, First: 1.5, Then: 1.2},
			func(ctx context.Context) (samples, error) { return b.forks(ctx, size) },
		},
		{
			Row{Name: fmt.Sprintf("blame/%d", b.blamedSteps()), Work: fmt.Sprintf("`blame` of %d lines over %d steps ÷ `git blame` over as many commits", blamedLines, b.blamedSteps()), First: 1.5, Then: 1.3},
			func(ctx context.Context) (samples, error) { return b.blames(ctx) },
		},
	}...)
}

// forks measures a fork of a checkpoint against git worktree add. Both begin without the
// directory.
func (b *bench) forks(ctx context.Context, size int) (samples, error) {
	r, err := b.sized(ctx, size)
	if err == nil {
		err = r.target(ctx)
	}
	if err != nil {
		return samples{}, err
	}
	dir, made, aside := filepath.Join(b.root, "attempt"), 0, asideIn(b)
	defer aside.remove()
	// Every attempt needs a name of its own, because its session stays.
	gone := func(ctx context.Context) error {
		made++
		if made == 1 {
			return nil
		}
		if err := aside.take(b.root, filepath.Base(dir)); err != nil {
			return err
		}
		_, err := r.git(ctx, nil, "worktree", "prune")
		return err
	}
	return compare(ctx, min(b.Effort.Rounds, 9),
		step{gone, func(ctx context.Context) error {
			_, err := r.git(ctx, nil, "checkpoint", "fork", "--session", "target", "1", dir, "--name", fmt.Sprintf("a%d", made))
			return err
		}},
		step{gone, func(ctx context.Context) error {
			_, err := r.git(ctx, nil, "worktree", "add", "-q", "--detach", dir)
			return err
		}})
}

// The file for blame: so many lines, of which each step changes some.
const blamedLines = 2000

func (b *bench) blamedSteps() int { return min(200, b.Effort.Day) }

// blames measures blame over the steps of a session against git blame over as many commits.
func (b *bench) blames(ctx context.Context) (samples, error) {
	const file = "blamed.txt"
	steps, err := b.repository(ctx, "blame-steps", b.Effort.small())
	if err != nil {
		return samples{}, err
	}
	commits, err := b.repository(ctx, "blame-commits", b.Effort.small())
	if err != nil {
		return samples{}, err
	}
	lines := make([]string, blamedLines)
	for i := range lines {
		lines[i] = fmt.Sprintf("line %d\n", i)
	}
	for n := range b.blamedSteps() {
		// Ten changed lines per step leave lines of many steps in the last version.
		for range 10 {
			at := steps.random.IntN(len(lines))
			lines[at] = fmt.Sprintf("line %d of step %d\n", at, n)
		}
		for _, r := range []*repository{steps, commits} {
			if err := os.WriteFile(filepath.Join(r.dir, file), []byte(strings.Join(lines, "")), 0o666); err != nil {
				return samples{}, err
			}
		}
		if err := steps.create(ctx); err != nil {
			return samples{}, err
		}
		for _, args := range [][]string{{"add", file}, {"commit", "-q", "-m", fmt.Sprint(n)}} {
			if _, err := commits.git(ctx, nil, args...); err != nil {
				return samples{}, err
			}
		}
	}
	return compare(ctx, b.Effort.Rounds,
		step{nil, func(ctx context.Context) error {
			_, err := steps.git(ctx, nil, "checkpoint", "blame", file)
			return err
		}},
		step{nil, func(ctx context.Context) error {
			_, err := commits.git(ctx, nil, "blame", file)
			return err
		}})
}
