package bench

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"strconv"
)

// first compares the first checkpoint of files that git does not know, and the rollback
// that brings all of them back, with plain git. With fewer files than 20,000, starting the
// programs is what takes time.
func first(b *bench, size int) []job {
	if size < 20_000 || b.Effort.Many > 0 { // a quick run
		return nil
	}
	return []job{
		{
			Row{Name: fmt.Sprintf("first/create/%d", size), Work: "the first `create` of untracked files ÷ `git add -A`", Files: size, First: 0.7},
			func(ctx context.Context) (samples, error) { return firstCreate(ctx, b, size) },
		},
		{
			Row{Name: fmt.Sprintf("first/rollback/%d", size), Work: "`rollback` that brings all files back ÷ `git restore`", Files: size, First: 1.3},
			func(ctx context.Context) (samples, error) { return firstRollback(ctx, b, size) },
		},
	}
}

// firstRounds is how often each side runs: each run takes seconds, and with 100,000 files ten.
func (b *bench) firstRounds(size int) int {
	if size >= 100_000 {
		return min(3, b.Effort.Rounds)
	}
	return min(5, b.Effort.Rounds)
}

func firstCreate(ctx context.Context, b *bench, size int) (samples, error) {
	sized, err := b.sized(ctx, size)
	if err != nil {
		return samples{}, err
	}
	r := b.blank("first", size)
	if err := os.CopyFS(r.dir, os.DirFS(sized.dir)); err != nil { // its .git goes in each round
		return samples{}, err
	}
	defer os.RemoveAll(r.dir) //nolint:errcheck // below the directory of the bench
	aside := asideIn(b)
	defer aside.remove()
	begin := func(ctx context.Context) error {
		if err := aside.take(r.dir, ".git"); err != nil {
			return err
		}
		if _, err := r.git(ctx, nil, "init", "-q", "-b", "main"); err != nil {
			return err
		}
		_, err := r.git(ctx, nil, "commit", "-q", "--allow-empty", "-m", "Start")
		return err
	}
	return compare(ctx, b.firstRounds(size),
		step{begin, r.create},
		step{begin, func(ctx context.Context) error {
			_, err := r.git(ctx, nil, "add", "-A")
			return err
		}})
}

func firstRollback(ctx context.Context, b *bench, size int) (samples, error) {
	r, err := b.sized(ctx, size)
	if err == nil {
		err = r.target(ctx)
	}
	if err != nil {
		return samples{}, err
	}
	aside := asideIn(b)
	defer aside.remove()
	gone := func(context.Context) error {
		for i := 0; i < len(r.paths); i += 500 {
			if err := aside.take(r.dir, filepath.Dir(filepath.Dir(r.paths[i]))); err != nil {
				return err
			}
		}
		return nil
	}
	return compare(ctx, b.firstRounds(size),
		step{gone, r.rollback},
		step{gone, func(ctx context.Context) error {
			_, err := r.git(ctx, nil, "restore", "--source="+r.tree, "--worktree", "--", ".")
			return err
		}})
}

// deletions compares a rollback that deletes all files with a checkpoint and `rm -rf`. The row comes late in
// the table, because it really deletes them; see aside.
func (b *bench) deletions() []job {
	size := b.Effort.many()
	return []job{{
		Row{Name: fmt.Sprintf("delete/%d", size), Work: "`rollback` that deletes all files ÷ (`create` + `rm -rf`)", Files: size, First: 1.2},
		func(ctx context.Context) (samples, error) {
			r, err := b.repository(ctx, "deleted", size)
			if err != nil {
				return samples{}, err
			}
			back := func(ctx context.Context) error {
				if _, err := r.git(ctx, nil, "reset", "-q", "--hard"); err != nil {
					return err
				}
				return r.settle(ctx)
			}
			for _, args := range [][]string{{"rm", "-r", "-q", "."}, {"checkpoint", "create", "--quiet", "--session", "target", "--step", "1"}} {
				if _, err := r.git(ctx, nil, args...); err != nil {
					return samples{}, err
				}
			}
			return compare(ctx, b.firstRounds(size), step{back, r.rollback}, step{back, func(ctx context.Context) error {
				if err := r.create(ctx); err != nil {
					return err
				}
				_, err := r.start(ctx, r.dir, nil, "sh", "-c", "rm -rf part*")
				return err
			}})
		},
	}}
}

// aside is where directories go that must not be there in the next round. They are moved away and
// not deleted: ext4 does not give out an inode again for a minute after its file was deleted, and
// looks at each such inode whenever a file is created.
type aside struct {
	dir   string
	taken int
}

func asideIn(b *bench) *aside { return &aside{dir: filepath.Join(b.root, "aside")} }

func (a *aside) take(dir, name string) error {
	a.taken++
	if err := os.MkdirAll(a.dir, 0o777); err != nil {
		return err
	}
	return os.Rename(filepath.Join(dir, name), filepath.Join(a.dir, strconv.Itoa(a.taken)))
}

func (a *aside) remove() { os.RemoveAll(a.dir) } //nolint:errcheck // below the directory of the bench
