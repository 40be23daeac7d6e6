// Package bench measures this program beside plain git at the same work, and prints a
// table.
//
// Run measures the rows of the table: plan lists them, one part per file (files.go,
// sessions.go, ...). Most rows compare two steps that run in turn (measure.go), and are
// judged by their ratio, which depends less on the machine than a time does. Repositories
// are made with a fixed seed (repository.go, sessions.go); those that take long are kept
// between runs (cache.go). A row over its budget is printed and is no failure, because a
// busy machine is no mistake of the program.
//
// Compare tells what changed since the last table (difference.go, lasttable.go).
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

// Options say what to measure.
type Options struct {
	Program string // path of the built git-checkpoint
	Entire  string // path of a built Entire; empty: no rows beside it
	// Where repositories are made; empty: the system's temporary directory.
	Dir string
	// Where repositories that take long are kept for the next run; empty: nowhere.
	Cache  string
	Effort Effort
	// Names of the rows to measure; nil: all.
	Only *regexp.Regexp
	// File for a CPU profile of the program in these rows; empty: none.
	Profile string
	Out     io.Writer // gets the table, row by row
	Log     io.Writer // gets the progress
}

// bench is one run of the measurements.
type bench struct {
	Options
	// Everything that is made is below it.
	root string
	made map[string]*repository // repositories by name
	// Number of repositories so far, so that no two have the same content.
	copied uint64
	// Directory for the profiles of single runs.
	traces string
}

// Run measures and prints each row when it is done. If a row fails, the others are still
// measured. The report has the rows that succeeded, and the error is about the others.
func Run(ctx context.Context, o Options) (*Report, error) {
	root, err := os.MkdirTemp(o.Dir, "bench-")
	if err != nil {
		return nil, fmt.Errorf("make a directory: %w", err)
	}
	defer os.RemoveAll(root) //nolint:errcheck // what stays is in a directory for temporary files
	b := &bench{Options: o, root: root, made: map[string]*repository{}}
	// An empty home directory keeps the user's configuration of git out of the measurement.
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
	// A failed row is reported at the end, and the table goes on.
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

// job is a row to measure.
type job struct {
	row     Row
	measure func(context.Context) (samples, error)
}

// measured runs the job and returns the row with its results.
func (j job) measured(ctx context.Context) (Row, error) {
	found, err := j.measure(ctx)
	if err != nil {
		return j.row, err
	}
	return j.row.with(found), nil
}

// plan lists all rows in the order of the table. What a row needs is made by the first row
// that needs it, and kept for those that follow.
func (b *bench) plan() []job {
	var jobs []job
	for _, part := range []func() []job{b.files, b.large, b.sessions, b.lists, b.proof, b.hooks, b.attempts, b.origins, b.pages, b.counts, b.memory, b.day, b.travel, b.starts, b.deletions, b.huge} {
		jobs = append(jobs, part()...)
	}
	return jobs
}

// start runs a program and returns its output.
func (b *bench) start(ctx context.Context, dir string, env []string, argv ...string) (string, error) {
	return b.feed(ctx, dir, env, nil, argv...)
}

// feed runs a program with an input. The environment has a fixed identity and none of the
// user's configuration.
func (b *bench) feed(ctx context.Context, dir string, env []string, in io.Reader, argv ...string) (string, error) {
	c := exec.CommandContext(ctx, argv[0], argv[1:]...)
	c.Dir = dir
	c.Env = append([]string{
		pathWith(b.Program), "HOME=" + filepath.Join(b.root, "home"),
		"GIT_CONFIG_NOSYSTEM=1", "GIT_AUTHOR_NAME=A U Thor", "GIT_AUTHOR_EMAIL=author@example.com",
		"GIT_COMMITTER_NAME=C O Mitter", "GIT_COMMITTER_EMAIL=committer@example.com", "LC_ALL=C.UTF-8",
	}, env...)
	// A watched program writes the profile of each run there.
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

// pathWith returns a PATH in which git finds this program first.
func pathWith(program string) string {
	return "PATH=" + filepath.Dir(program) + string(os.PathListSeparator) + os.Getenv("PATH")
}

// install copies the programs, as an installation does. The linker writes through a memory
// mapping, which leaves the file in many small pieces of the page cache, and starting it
// takes a tenth longer.
func (b *bench) install() error {
	bin := filepath.Join(b.root, "bin")
	if err := os.Mkdir(bin, 0o700); err != nil {
		return err
	}
	for _, program := range []*string{&b.Program, &b.Entire} {
		if *program == "" {
			continue
		}
		to := filepath.Join(bin, filepath.Base(*program))
		if err := copyProgram(*program, to); err != nil {
			return err
		}
		*program = to
	}
	return nil
}

// copyProgram writes a copy beside the target and renames it.
func copyProgram(from, to string) error {
	data, err := os.ReadFile(from)
	if err != nil {
		return fmt.Errorf("copy the program: %w", err)
	}
	if err := os.WriteFile(to+".new", data, 0o700); err != nil {
		return fmt.Errorf("copy the program: %w", err)
	}
	// A background process may still run the old one.
	return os.Rename(to+".new", to)
}

// build builds one of the programs in this directory, with the flags of a release.
func (b *bench) build(ctx context.Context, what, target string) error {
	c := exec.CommandContext(ctx, "go", "build", "-trimpath", "-ldflags", "-s -w", "-o", target+".linked", "git-checkpoint/internal/test/bench/"+what)
	c.Env = append(os.Environ(), "CGO_ENABLED=0")
	if out, err := c.CombinedOutput(); err != nil {
		return fmt.Errorf("build %s: %w: %s", what, err, out)
	}
	return copyProgram(target+".linked", target)
}
