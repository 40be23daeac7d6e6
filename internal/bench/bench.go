// Package bench measures this program beside plain git at the same work. It owns the
// repositories that it makes (a fixed seed, a directory of its own), what is measured,
// and the table. It refuses to judge: a ratio over its budget is printed and no failure,
// because a machine that is busy is no mistake of the program.
package bench

import (
	"context"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
)

// Options say what to measure, and with what.
type Options struct {
	Program string // the built git-checkpoint
	Dir     string // where repositories are made; empty: the system's directory for temporary files
	Effort  Effort
	Out     io.Writer // the table
	Log     io.Writer // what is being done
}

// Effort is how long to look.
type Effort struct {
	Sizes  []int // files of the repositories
	Rounds int   // of each comparison
	Starts int   // rounds of the comparison of two programs that start and end
	Length int   // checkpoints of the long session
}

// Full is what docs/performance.md shows.
func Full() Effort {
	return Effort{Sizes: []int{1000, 20000}, Rounds: 25, Starts: 60, Length: 500}
}

// Quick ends in under two minutes.
func Quick() Effort {
	return Effort{Sizes: []int{1000, 20000}, Rounds: 7, Starts: 20, Length: 150}
}

// changed is in how many files the worktree differs in every comparison.
const changed = 10

// short is how many checkpoints the short session has.
const short = 10

// bench is one run.
type bench struct {
	Options
	root string // everything that is made is below it
}

// Run measures and prints the table.
func Run(ctx context.Context, o Options) error {
	root, err := os.MkdirTemp(o.Dir, "bench-")
	if err != nil {
		return fmt.Errorf("make a directory: %w", err)
	}
	defer os.RemoveAll(root) //nolint:errcheck // what stays is in a directory for temporary files
	b := &bench{o, root}
	if err := os.Mkdir(filepath.Join(root, "home"), 0o700); err != nil {
		return err
	}
	about, err := b.about(ctx)
	if err != nil {
		return err
	}
	fmt.Fprintf(o.Out, "%s\n\n%s", about, header())
	for _, measure := range []func(context.Context, func(row)) error{b.files, b.length, b.starts} {
		if err := measure(ctx, func(r row) { fmt.Fprint(o.Out, r) }); err != nil {
			return err
		}
	}
	fmt.Fprintf(o.Out, "\nLoad at the end: %s\n", load())
	return nil
}

// files compares create and rollback with plain git, size by size.
func (b *bench) files(ctx context.Context, show func(row)) error {
	for _, size := range b.Effort.Sizes {
		r, err := b.repository(ctx, fmt.Sprintf("files-%d", size), size)
		if err != nil {
			return err
		}
		fmt.Fprintf(b.Log, "create, %d files\n", size)
		s, err := compare(ctx, b.Effort.Rounds, step{r.change, r.create}, step{r.change, r.snapshot})
		if err != nil {
			return err
		}
		show(row{"`create` ÷ A", size, s, "≤ 1.2"})

		fmt.Fprintf(b.Log, "rollback, %d files\n", size)
		if err := r.target(ctx); err != nil {
			return err
		}
		s, err = compare(ctx, b.Effort.Rounds, step{r.change, r.rollback}, step{r.change, r.snapshotAndRestore})
		if err != nil {
			return err
		}
		show(row{"`rollback` ÷ (A + `git restore`)", size, s, "≤ 1.5"})
	}
	return nil
}

// length compares creates early and late in a session.
func (b *bench) length(ctx context.Context, show func(row)) error {
	const size = 1000
	var repositories [2]*repository
	for i, n := range []int{short, b.Effort.Length} {
		fmt.Fprintf(b.Log, "a session of %d\n", n)
		r, err := b.repository(ctx, fmt.Sprintf("session-%d", n), size)
		if err != nil {
			return err
		}
		for range n - 1 {
			if err := r.changeAndCreate(ctx); err != nil {
				return err
			}
		}
		repositories[i] = r
	}
	early, late := repositories[0], repositories[1]
	s, err := compare(ctx, b.Effort.Rounds, step{late.change, late.create}, step{early.change, early.create})
	if err != nil {
		return err
	}
	show(row{fmt.Sprintf("create number %d ÷ number %d", b.Effort.Length, short), size, s, "≤ 1.3"})
	return nil
}

// starts compares version with a program that has one empty command.
func (b *bench) starts(ctx context.Context, show func(row)) error {
	empty := filepath.Join(b.root, "empty")
	build := exec.CommandContext(ctx, "go", "build", "-trimpath", "-ldflags", "-s -w", "-o", empty, "git-checkpoint/internal/bench/empty")
	build.Env = append(os.Environ(), "CGO_ENABLED=0")
	if out, err := build.CombinedOutput(); err != nil {
		return fmt.Errorf("build the empty program: %w: %s", err, out)
	}
	fmt.Fprintln(b.Log, "start")
	run := func(program string) step {
		return step{run: func(ctx context.Context) error {
			_, err := b.start(ctx, b.root, nil, program, "version")
			return err
		}}
	}
	s, err := compare(ctx, b.Effort.Starts, run(b.Program), run(empty))
	if err != nil {
		return err
	}
	show(row{"`version` ÷ an empty kong program", 0, s, "≤ 2"})
	return nil
}

// start runs a program and answers what it printed.
func (b *bench) start(ctx context.Context, dir string, env []string, argv ...string) (string, error) {
	c := exec.CommandContext(ctx, argv[0], argv[1:]...)
	c.Dir = dir
	c.Env = append([]string{
		"PATH=" + filepath.Dir(b.Program) + string(os.PathListSeparator) + os.Getenv("PATH"), "HOME=" + filepath.Join(b.root, "home"),
		"GIT_CONFIG_NOSYSTEM=1", "GIT_AUTHOR_NAME=A U Thor", "GIT_AUTHOR_EMAIL=author@example.com",
		"GIT_COMMITTER_NAME=C O Mitter", "GIT_COMMITTER_EMAIL=committer@example.com", "LC_ALL=C.UTF-8",
	}, env...)
	var out, stderr strings.Builder
	c.Stdout, c.Stderr = &out, &stderr
	if err := c.Run(); err != nil {
		return "", fmt.Errorf("%s in %s: %w: %s", strings.Join(argv, " "), dir, err, stderr.String())
	}
	return strings.TrimSpace(out.String()), nil
}
