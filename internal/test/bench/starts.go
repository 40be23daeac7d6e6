package bench

// How long the program takes to start matters, because hooks start it all the time.

import (
	"context"
	"path/filepath"
)

// starts compares `version` with a program that has one empty command.
func (b *bench) starts() []job {
	return []job{{
		Row{Name: "start/version", Work: "`version` ÷ an empty kong program", First: 2, Then: 1.5},
		func(ctx context.Context) (samples, error) {
			empty := filepath.Join(b.root, "empty")
			if err := b.build(ctx, "empty", empty); err != nil {
				return samples{}, err
			}
			run := func(program string) step {
				return step{run: func(ctx context.Context) error {
					_, err := b.start(ctx, b.root, nil, program, "version")
					return err
				}}
			}
			return compare(ctx, b.Effort.Starts, run(b.Program), run(empty))
		},
	}}
}
