package bench

import (
	"context"
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"time"
)

// longSession is the session of the imported documents. The import requires a UUID.
const longSession = "7b0c1c9e-1d2f-4f55-9a52-0e6f3f3f8a11"

// long measures a session of so many checkpoints that creating them one by one would take
// hours. They are imported as documents of go-team.
func long(b *bench) []job {
	n := b.Effort.Long
	if n == 0 {
		return nil
	}
	short := b.Effort.Lengths[0]
	row := func(name, work string, first float64) Row {
		return Row{Name: fmt.Sprintf("long/%s/%d", name, n), Work: work, Files: b.Effort.small(), First: first}
	}
	return []job{
		{row("list", fmt.Sprintf("milliseconds of `list --limit 50` among %d", n), 50), func(ctx context.Context) (samples, error) {
			r, err := imported(ctx, b, n)
			if err != nil {
				return samples{}, err
			}
			return alone(ctx, b.Effort.Rounds, r.checkpoint("list", "--limit", "50", "--session", longSession))
		}},
		{row("create", fmt.Sprintf("`create` number %d ÷ number %d", n, short), 1.5), func(ctx context.Context) (samples, error) {
			return longAndShort(ctx, b, n, short, func(r *repository) step {
				s := r.checkpoint("create", "--quiet", "--always", "--session", longSession, "--step", "4")
				s.ready = r.change
				return s
			})
		}},
		{row("validate", fmt.Sprintf("`validate` of %d ÷ ten times that of %d", n, n/10), 1.2), func(ctx context.Context) (samples, error) {
			found, err := longAndShort(ctx, b, n, n/10, func(r *repository) step {
				return r.checkpoint("validate", "--session", longSession)
			})
			for i := range found.theirs {
				found.theirs[i] *= 10
			}
			return found, err
		}},
	}
}

// longRounds is how often each side runs, because a validation takes seconds.
const longRounds = 5

// longAndShort compares the same work in two imported sessions.
func longAndShort(ctx context.Context, b *bench, n, short int, work func(*repository) step) (samples, error) {
	late, err := imported(ctx, b, n)
	if err != nil {
		return samples{}, err
	}
	early, err := imported(ctx, b, short)
	if err != nil {
		return samples{}, err
	}
	return compare(ctx, min(longRounds, b.Effort.Rounds), work(late), work(early))
}

// checkpoint runs a command of the program.
func (r *repository) checkpoint(args ...string) step {
	return step{run: func(ctx context.Context) error {
		_, err := r.git(ctx, nil, append([]string{"checkpoint"}, args...)...)
		return err
	}}
}

// imported returns a repository with an imported session of n checkpoints.
func imported(ctx context.Context, b *bench, n int) (*repository, error) {
	name := fmt.Sprintf("imported-%d", n)
	if r := b.made[name]; r != nil {
		return r, nil
	}
	size := b.Effort.small()
	from, err := b.kept(fmt.Sprintf("%s-of-%d", name, size), func(dir string) error {
		r, err := b.seedling(ctx, name+"-growing", 0)
		if err != nil {
			return err
		}
		defer os.RemoveAll(r.dir) //nolint:errcheck // it is below the directory for temporary files
		fmt.Fprintf(b.Log, "  an import of %d\n", n)
		for from := 0; from < n; from += perImport {
			if err := r.importDocuments(ctx, from, min(from+perImport, n)); err != nil {
				return err
			}
		}
		if err := r.pack(ctx); err != nil {
			return err
		}
		return copyTree(r.dir, dir)
	})
	if err != nil {
		return nil, err
	}
	r := b.blank(name, size)
	if err := copyTree(from, r.dir); err != nil {
		return nil, fmt.Errorf("copy an imported session: %w", err)
	}
	b.made[name] = r
	return r, r.settle(ctx)
}

// perImport is how many documents are imported at once. The program reads directories of at most
// 100,000 files.
const perImport = 50_000

// importDocuments imports the documents with these numbers, without the last one.
func (r *repository) importDocuments(ctx context.Context, from, to int) error {
	documents := filepath.Join(r.root, "documents")
	defer os.RemoveAll(documents) //nolint:errcheck // it is below the directory for temporary files
	if err := writeDocuments(documents, from, to); err != nil {
		return err
	}
	_, err := r.git(ctx, nil, "checkpoint", "import", "--quiet", documents)
	return err
}

// writeDocuments writes documents of go-team, one a minute.
func writeDocuments(top string, from, to int) error {
	dir := filepath.Join(top, "checkpoints", longSession)
	if err := os.MkdirAll(dir, 0o777); err != nil {
		return err
	}
	names := []string{"init", "requirements", "architecture", "implementation", "testing", "review", "optimization", "release"}
	began := time.Date(2026, 1, 1, 0, 0, 0, 0, time.UTC)
	for i := from; i < to; i++ {
		number, name, at := i%len(names)+1, names[i%len(names)], began.Add(time.Duration(i)*time.Minute)
		document, err := json.Marshal(map[string]any{"checkpoint": map[string]any{
			"id": fmt.Sprintf("cp-%d-%s", number, at.Format("20060102T150405Z")), "session_id": longSession,
			"step_number": number, "step_name": name, "created_at": at.Format(time.RFC3339),
			"state": map[string]any{
				"topic": "inventory", "phase": name, "current_step": number, "iteration_count": 0,
				"metrics": map[string]any{"build_pass": true, "test_coverage": 81.5},
			},
			"outputs": map[string]any{"spec": "# Inventory\n", "code_files": []string{"cmd/inventory/main.go"}},
			"git":     map[string]any{"enabled": false, "branch": "", "commit_hash": "", "staged_files": []string{}},
			"files":   map[string]any{"created": []string{}, "modified": []string{}, "deleted": []string{}},
		}})
		if err != nil {
			return err
		}
		if err := os.WriteFile(filepath.Join(dir, fmt.Sprintf("cp-%02d-%s-%d.json", number, name, i)), document, 0o666); err != nil {
			return err
		}
	}
	return nil
}
