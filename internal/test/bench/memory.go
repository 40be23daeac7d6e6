package bench

// Memory is measured by a special build of the program (watched), which asks the kernel for
// its own peak at its end and for that of the processes that it started.

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
)

// memory measures the peak memory of a create, as reported by the kernel.
func (b *bench) memory() []job {
	size := b.Effort.biggest()
	row := func(name, work string, first, then float64, which int) job {
		return job{
			Row{Name: name, Work: work, Files: size, Unit: "MiB", First: first, Then: then},
			// Each row measures again, because rows can be selected one by one.
			func(ctx context.Context) (samples, error) {
				r, err := b.sized(ctx, size)
				if err != nil {
					return samples{}, err
				}
				return r.peaks(ctx, which)
			},
		}
	}
	return []job{
		row("memory/own", "peak memory of our process, `create`", 64, 64, 0),
		row("memory/whole", "peak memory of the largest process of a `create`, git's too", 0, 64, 1),
	}
}

// peakRounds is small, because the peak hardly varies.
const peakRounds = 5

// peaks runs creates of the watched program. It returns for each its own peak (0) or that of the
// largest of all its processes (1), in MiB.
func (r *repository) peaks(ctx context.Context, which int) (found samples, err error) {
	if err := r.build(ctx, "watched", r.watched()); err != nil {
		return found, err
	}
	file := filepath.Join(r.root, "peak")
	env := []string{"BENCH_PEAK=" + file, pathWith(r.watched())}
	for range peakRounds {
		if err := r.change(ctx); err != nil {
			return found, err
		}
		if _, err := r.git(ctx, env, "checkpoint", "create", "--quiet", "--always"); err != nil {
			return found, err
		}
		text, err := os.ReadFile(file)
		if err != nil {
			return found, fmt.Errorf("read the peak: %w", err)
		}
		var own, children float64
		if _, err := fmt.Sscan(string(text), &own, &children); err != nil {
			return found, fmt.Errorf("read the peak %q: %w", text, err)
		}
		found.ours = append(found.ours, [2]float64{own, max(own, children)}[which]/1024)
	}
	return found, nil
}
