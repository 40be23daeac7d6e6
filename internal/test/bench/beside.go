package bench

import (
	"context"
	"fmt"
	"os/exec"
	"path/filepath"
)

// beside compares a create with what people use in its place: git stash, and a copy of the
// worktree. Both keep less than a checkpoint does: a stash has no state and no session, and a copy
// shares no objects with the next one.
func beside(b *bench) []job {
	var jobs []job
	for _, size := range b.Effort.beside() {
		against := func(name, what string, other func(*repository) step) {
			jobs = append(jobs, job{
				Row{Name: fmt.Sprintf("beside/%s/%d", name, size), Work: "`create` ÷ " + what, Files: size},
				func(ctx context.Context) (samples, error) {
					r, err := b.sized(ctx, size)
					if err != nil {
						return samples{}, err
					}
					return compare(ctx, min(b.Effort.Rounds, 9), step{r.change, r.create}, other(r))
				},
			})
		}
		against("stash", "`git stash push -u` and `git stash apply --index`", func(r *repository) step {
			return step{r.change, func(ctx context.Context) error {
				if _, err := r.git(ctx, nil, "stash", "push", "-q", "-u"); err != nil {
					return err
				}
				_, err := r.git(ctx, nil, "stash", "apply", "-q", "--index")
				return err
			}}
		})
		against("copy", "`cp -a` of the worktree", func(r *repository) step {
			// A copy stays until the end, for the reason that aside gives.
			copies := 0
			return step{r.change, func(ctx context.Context) error {
				copies++
				return exec.CommandContext(ctx, "cp", "-a", r.dir, filepath.Join(b.root, fmt.Sprintf("copied-%d-%d", size, copies))).Run()
			}}
		})
	}
	return append(jobs, b.besideEntire()...)
}
