package bench

// The main comparison: the time of create and rollback beside plain git, by the number of
// files.

import (
	"context"
	"fmt"
)

// files compares create and rollback with plain git, for each size of the worktree. A is
// git's own snapshot, see repository.snapshot.
func (b *bench) files() []job {
	var jobs []job
	for _, size := range b.Effort.Sizes {
		sized := func(ctx context.Context) (*repository, error) { return b.sized(ctx, size) }
		// The aim is stricter for large worktrees.
		then := 0.8
		if size >= 100_000 {
			then = 0.5
		}
		jobs = append(jobs,
			createJob(b, Row{Name: fmt.Sprintf("files/create/%d", size), Work: "`create` ÷ A", Files: size, First: 1.2, Then: then}, sized),
			job{
				Row{Name: fmt.Sprintf("files/look/%d", size), Work: "`save` that finds nothing changed ÷ A", Files: size, First: 0.6},
				func(ctx context.Context) (samples, error) {
					r, err := sized(ctx)
					if err != nil {
						return samples{}, err
					}
					return compare(ctx, b.Effort.Rounds, step{r.create, r.look}, step{r.change, r.snapshot})
				},
			},
			job{
				Row{Name: fmt.Sprintf("status/porcelain/%d", size), Work: "`status --porcelain --no-changes` ÷ `version`", Files: size, First: 3},
				func(ctx context.Context) (samples, error) {
					r, err := sized(ctx)
					if err != nil {
						return samples{}, err
					}
					return compare(ctx, b.Effort.Starts, r.checkpoint("status", "--porcelain", "--no-changes"), r.checkpoint("version"))
				},
			},
			rollbackJob(b, Row{Name: fmt.Sprintf("files/rollback/%d", size), Work: "`rollback` ÷ (A + `git restore`)", Files: size, First: 1.5, Then: 0.7}, sized))
		jobs = append(jobs, first(b, size)...)
	}
	return append(jobs, kinds(b)...)
}

// kinds does the same where every file has the attribute text=auto, so that git may convert line
// endings, and where no file is tracked.
func kinds(b *bench) []job {
	size := b.Effort.many()
	untracked := func(ctx context.Context) (*repository, error) {
		r, err := b.repository(ctx, fmt.Sprintf("untracked-%d", size), size)
		if err != nil {
			return nil, err
		}
		return r, r.untrack(ctx)
	}
	attributed := func(ctx context.Context) (*repository, error) {
		r, err := b.repository(ctx, fmt.Sprintf("text-%d", size), size)
		if err != nil {
			return nil, err
		}
		return r, r.attribute(ctx, "* text=auto\n")
	}
	return []job{
		createJob(b, Row{Name: fmt.Sprintf("text/create/%d", size), Work: "`create` with `text=auto` ÷ A", Files: size, First: 1.2, Then: 0.8}, attributed),
		rollbackJob(b, Row{Name: fmt.Sprintf("text/rollback/%d", size), Work: "`rollback` with `text=auto` ÷ (A + `git restore`)", Files: size, First: 1.5, Then: 0.7}, attributed),
		createJob(b, Row{Name: fmt.Sprintf("untracked/create/%d", size), Work: "`create` where all files are untracked ÷ A", Files: size, First: 1.2, Then: 0.8}, untracked),
	}
}

// createJob measures a create of ten changed files beside A.
func createJob(b *bench, row Row, open func(context.Context) (*repository, error)) job {
	return job{row, func(ctx context.Context) (samples, error) {
		r, err := open(ctx)
		if err != nil {
			return samples{}, err
		}
		return compare(ctx, b.Effort.Rounds, step{r.change, r.create}, step{r.change, r.snapshot})
	}}
}

// rollbackJob measures a rollback of ten changed files beside A and git restore.
func rollbackJob(b *bench, row Row, open func(context.Context) (*repository, error)) job {
	return job{row, func(ctx context.Context) (samples, error) {
		r, err := open(ctx)
		if err == nil {
			err = r.target(ctx)
		}
		if err != nil {
			return samples{}, err
		}
		return compare(ctx, b.Effort.Rounds, step{r.change, r.rollback}, step{r.change, r.snapshotAndRestore})
	}}
}
