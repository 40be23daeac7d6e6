package bench

import (
	"context"
	"fmt"
)

// lists compares list with git's own listing of the same refs and fields.
func (b *bench) lists() []job {
	n := b.Effort.longest()
	row := Row{Name: fmt.Sprintf("list/%d", n), Work: fmt.Sprintf("`list` of %d ÷ `git for-each-ref` with the same fields", n), Files: b.Effort.small()}
	// The time of a short list is mostly that of starting processes.
	if n >= 10_000 {
		row.First, row.Then = 1.3, 1.1
	}
	return []job{{
		row,
		func(ctx context.Context) (samples, error) {
			r, err := b.session(ctx, n)
			if err != nil {
				return samples{}, err
			}
			ours := func(ctx context.Context) error {
				_, err := r.git(ctx, nil, "checkpoint", "list", "--session", "main", "--json")
				return err
			}
			theirs := func(ctx context.Context) error {
				_, err := r.git(ctx, nil, "for-each-ref", "--format=%(refname) %(objectname) %(contents)", "refs/checkpoints/main/cp-*")
				return err
			}
			return compare(ctx, b.Effort.Rounds, step{run: ours}, step{run: theirs})
		},
	}}
}
