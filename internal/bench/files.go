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
		// The aim is stricter for large worktrees.
		then := 0.8
		if size >= 100_000 {
			then = 0.5
		}
		jobs = append(jobs,
			job{
				Row{Name: fmt.Sprintf("files/create/%d", size), Work: "`create` ÷ A", Files: size, First: 1.2, Then: then},
				func(ctx context.Context) (samples, error) {
					r, err := b.sized(ctx, size)
					if err != nil {
						return samples{}, err
					}
					return compare(ctx, b.Effort.Rounds, step{r.change, r.create}, step{r.change, r.snapshot})
				},
			},
			job{
				Row{Name: fmt.Sprintf("files/look/%d", size), Work: "`save` that finds nothing changed ÷ A", Files: size, First: 0.6},
				func(ctx context.Context) (samples, error) {
					r, err := b.sized(ctx, size)
					if err != nil {
						return samples{}, err
					}
					return compare(ctx, b.Effort.Rounds, step{r.create, r.look}, step{r.change, r.snapshot})
				},
			},
			job{
				Row{Name: fmt.Sprintf("files/rollback/%d", size), Work: "`rollback` ÷ (A + `git restore`)", Files: size, First: 1.5, Then: 0.7},
				func(ctx context.Context) (samples, error) {
					r, err := b.sized(ctx, size)
					if err == nil {
						err = r.target(ctx)
					}
					if err != nil {
						return samples{}, err
					}
					return compare(ctx, b.Effort.Rounds, step{r.change, r.rollback}, step{r.change, r.snapshotAndRestore})
				},
			})
		jobs = append(jobs, first(b, size)...)
	}
	return jobs
}
