// Package bench measures this program beside plain git at the same work. It owns the
// repositories that it makes (a fixed seed, a directory of its own), what is measured,
// the table and its comparison with the last one. It refuses to judge: a ratio over its
// budget is printed and no failure, because a machine that is busy is no mistake of the
// program.
package bench

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
)

// Options say what to measure, and with what.
type Options struct {
	Program string // the built git-checkpoint
	Dir     string // where repositories are made; empty: the system's directory for temporary files
	Cache   string // where those that take long to make are kept for the next run; empty: nowhere
	Effort  Effort
	Only    *regexp.Regexp // names of the rows to measure; nil: all
	Profile string         // file for a CPU profile of the program at these rows; empty: none
	Out     io.Writer      // the table, row by row
	Log     io.Writer      // what is being done
}

// bench is one run.
type bench struct {
	Options
	root   string                 // everything that is made is below it
	made   map[string]*repository // by name
	copied uint64                 // repositories so far, so that no two draw the same content
	traces string                 // directory of the profiles of single runs
}

// Run measures, and prints each row of the table when it is there. A row that cannot be
// measured stops no other; the report has the rest.
func Run(ctx context.Context, o Options) (*Report, error) {
	root, err := os.MkdirTemp(o.Dir, "bench-")
	if err != nil {
		return nil, fmt.Errorf("make a directory: %w", err)
	}
	defer os.RemoveAll(root) //nolint:errcheck // what stays is in a directory for temporary files
	b := &bench{Options: o, root: root, made: map[string]*repository{}}
	if err := os.Mkdir(filepath.Join(root, "home"), 0o700); err != nil {
		return nil, err
	}
	if err := b.install(); err != nil {
		return nil, err
	}
	if err := b.watch(ctx); err != nil {
		return nil, err
	}
	report, err := b.about(ctx)
	if err != nil {
		return nil, err
	}
	fmt.Fprintf(o.Out, "%s\n\n%s", report.About(), header)
	var failed []error
	for _, j := range b.plan() {
		if o.Only != nil && !o.Only.MatchString(j.row.Name) {
			continue
		}
		fmt.Fprintf(o.Log, "%s\n", j.row.Name)
		row, err := j.measured(ctx)
		if ctx.Err() != nil {
			return nil, context.Cause(ctx)
		}
		if err != nil {
			failed = append(failed, fmt.Errorf("row %s: %w", j.row.Name, err))
			fmt.Fprintln(o.Log, failed[len(failed)-1])
			continue
		}
		report.Rows = append(report.Rows, row)
		fmt.Fprint(o.Out, row)
	}
	report.LoadAtEnd = load()
	fmt.Fprintf(o.Out, "\nLoad at the end: %s\n", report.LoadAtEnd)
	return report, errors.Join(append(failed, b.mergeProfiles(ctx))...)
}

// job is a row that is to be measured.
type job struct {
	row     Row
	measure func(context.Context) (samples, error)
}

// measured is the row with what was found.
func (j job) measured(ctx context.Context) (Row, error) {
	found, err := j.measure(ctx)
	if err != nil {
		return j.row, err
	}
	return j.row.with(found), nil
}

// plan lists all rows in the order of the table. What a row needs is made when it is its
// turn, and kept for those that follow.
func (b *bench) plan() []job {
	var jobs []job
	for _, part := range []func() []job{b.files, b.large, b.sessions, b.lists, b.proof, b.hooks, b.attempts, b.pages, b.counts, b.memory, b.day, b.starts} {
		jobs = append(jobs, part()...)
	}
	return jobs
}

// start runs a program and answers what it printed.
func (b *bench) start(ctx context.Context, dir string, env []string, argv ...string) (string, error) {
	return b.feed(ctx, dir, env, nil, argv...)
}

// feed runs a program that reads.
func (b *bench) feed(ctx context.Context, dir string, env []string, in io.Reader, argv ...string) (string, error) {
	c := exec.CommandContext(ctx, argv[0], argv[1:]...)
	c.Dir = dir
	c.Env = append([]string{
		pathWith(b.Program), "HOME=" + filepath.Join(b.root, "home"),
		"GIT_CONFIG_NOSYSTEM=1", "GIT_AUTHOR_NAME=A U Thor", "GIT_AUTHOR_EMAIL=author@example.com",
		"GIT_COMMITTER_NAME=C O Mitter", "GIT_COMMITTER_EMAIL=committer@example.com", "LC_ALL=C.UTF-8",
	}, env...)
	if b.traces != "" {
		c.Env = append(c.Env, "BENCH_PROFILES="+b.traces)
	}
	var out, stderr strings.Builder
	c.Stdin, c.Stdout, c.Stderr = in, &out, &stderr
	if err := c.Run(); err != nil {
		return "", fmt.Errorf("%s in %s: %w: %s", strings.Join(argv, " "), dir, err, stderr.String())
	}
	return strings.TrimSpace(out.String()), nil
}

// pathWith is a PATH in which git finds this program first.
func pathWith(program string) string {
	return "PATH=" + filepath.Dir(program) + string(os.PathListSeparator) + os.Getenv("PATH")
}

// install copies the program, as who installs it does: a linker writes through a mapping,
// and what it wrote lies in memory in small pieces, which a start takes a tenth longer to
// find than those of a copy.
func (b *bench) install() error {
	to := filepath.Join(b.root, "bin", filepath.Base(b.Program))
	if err := os.Mkdir(filepath.Dir(to), 0o700); err != nil {
		return err
	}
	err := copyProgram(b.Program, to)
	b.Program = to
	return err
}

func copyProgram(from, to string) error {
	data, err := os.ReadFile(from)
	if err != nil {
		return fmt.Errorf("copy the program: %w", err)
	}
	if err := os.WriteFile(to+".new", data, 0o700); err != nil {
		return fmt.Errorf("copy the program: %w", err)
	}
	return os.Rename(to+".new", to) // what packs in the background may still run the old one
}

// build builds one of the programs of this directory.
func (b *bench) build(ctx context.Context, what, target string) error {
	c := exec.CommandContext(ctx, "go", "build", "-trimpath", "-ldflags", "-s -w", "-o", target+".linked", "git-checkpoint/internal/bench/"+what)
	c.Env = append(os.Environ(), "CGO_ENABLED=0")
	if out, err := c.CombinedOutput(); err != nil {
		return fmt.Errorf("build %s: %w: %s", what, err, out)
	}
	return copyProgram(target+".linked", target)
}
