package bench

import (
	"context"
	"fmt"
)

// files compares create and rollback with plain git, size by size.
func (b *bench) files() []job {
	var jobs []job
	for _, size := range b.Effort.Sizes {
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
