package bench

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"time"
)

// The day of an agent: how many files change before each checkpoint, and which part of the
// checkpoints the prune in the evening keeps (one in dayKept).
const (
	dayFiles = 3
	dayKept  = 20
)

// diary is the result of a day. All rows of the day use the same one.
type diary struct {
	creates []float64 // milliseconds of each create
	// The highest numbers of loose objects and of loose refs during the day.
	looseMost, refsMost float64
	// Bytes per checkpoint in the evening, after git gc, and after the prune.
	before, gc, pruned samples
	gcTook, pruneTook  time.Duration
	began              held
}

// day measures what the checkpoints of a day cost on disk, with packing in the background
// as by default.
func (b *bench) day() []job {
	n := b.Effort.Day
	var kept *diary
	row := func(r Row, read func(*diary) samples) job {
		r.Files = b.Effort.small()
		// The first row that is measured makes the day for all of them.
		return job{r, func(ctx context.Context) (samples, error) {
			if kept == nil {
				d, err := b.live(ctx, n)
				if err != nil {
					return samples{}, err
				}
				kept = d
			}
			return read(kept), nil
		}}
	}
	// Rows of a single number have one sample.
	one := func(read func(*diary) float64) func(*diary) samples {
		return func(d *diary) samples { return samples{ours: []float64{read(d)}} }
	}
	return []job{
		row(Row{Name: "day/create", Work: fmt.Sprintf("one `create` of a day of %d, %d files each", n, dayFiles)},
			func(d *diary) samples { return samples{ours: d.creates} }),
		row(Row{Name: "day/slowest", Work: "its slowest hundredth: packing goes on beside some"},
			one(func(d *diary) float64 { return quantile(d.creates, 0.99) })),
		row(Row{Name: "day/loose", Work: "most loose objects at any time", Unit: "objects", First: 6700},
			one(func(d *diary) float64 { return d.looseMost })),
		row(Row{Name: "day/refs", Work: "most loose refs of the session at any time", Unit: "refs", First: 2000},
			one(func(d *diary) float64 { return d.refsMost })),
		row(Row{Name: "day/bytes/evening", Work: "bytes per checkpoint in the evening", Unit: "KiB"}, func(d *diary) samples { return d.before }),
		row(Row{Name: "day/bytes/gc", Work: "after `git gc`", Unit: "KiB"}, func(d *diary) samples { return d.gc }),
		row(Row{Name: "day/gc", Work: "how long that `git gc` takes"}, one(func(d *diary) float64 { return ms(d.gcTook) })),
		row(Row{Name: "day/bytes/pruned", Work: fmt.Sprintf("bytes that the day still holds after `prune --keep %d --gc`, per checkpoint made", n/dayKept), Unit: "KiB"},
			func(d *diary) samples { return d.pruned }),
		row(Row{Name: "day/prune", Work: "how long that prune takes"}, one(func(d *diary) float64 { return ms(d.pruneTook) })),
	}
}

// ms converts a duration to milliseconds.
func ms(d time.Duration) float64 { return float64(d.Microseconds()) / 1000 }

// live makes the checkpoints of a day and then cleans up.
func (b *bench) live(ctx context.Context, n int) (*diary, error) {
	r, err := b.repository(ctx, "day", b.Effort.small())
	if err != nil {
		return nil, err
	}
	var d diary
	if d.began, err = r.objectFiles(); err != nil {
		return nil, err
	}
	for i := range n {
		if err := r.changeFiles(dayFiles); err != nil {
			return nil, err
		}
		took, err := step{run: r.create}.took(ctx)
		if err != nil {
			return nil, err
		}
		d.creates = append(d.creates, ms(took))
		// Counting takes time itself, so it is done for every tenth checkpoint.
		if i%10 == 0 || i == n-1 {
			if err := d.look(r); err != nil {
				return nil, err
			}
		}
	}
	return &d, d.evening(ctx, r, float64(n))
}

// look counts loose objects and loose refs.
func (d *diary) look(r *repository) error {
	now, err := r.objectFiles()
	if err != nil {
		return err
	}
	d.looseMost = max(d.looseMost, float64(now.count))
	refs, err := os.ReadDir(filepath.Join(r.dir, ".git", "refs", "checkpoints", "main"))
	d.refsMost = max(d.refsMost, float64(len(refs)))
	return err
}

// evening waits until the background packing is done, and then measures git gc and a prune.
func (d *diary) evening(ctx context.Context, r *repository, n float64) error {
	for range 600 {
		if _, err := os.Stat(filepath.Join(r.dir, ".git", "checkpoint", "autopack")); os.IsNotExist(err) {
			break
		}
		time.Sleep(100 * time.Millisecond)
	}
	each := func(to *samples) error {
		now, err := r.objectFiles()
		to.ours = []float64{kib(now.bytes-d.began.bytes) / n}
		return err
	}
	if err := each(&d.before); err != nil {
		return err
	}
	var err error
	run := func(args ...string) step {
		return step{run: func(ctx context.Context) error {
			_, err := r.git(ctx, nil, args...)
			return err
		}}
	}
	if d.gcTook, err = run("gc", "-q").took(ctx); err != nil {
		return err
	}
	if err := each(&d.gc); err != nil {
		return err
	}
	if d.pruneTook, err = run("checkpoint", "prune", "-q", "-y", "--keep", fmt.Sprint(int(n)/dayKept), "--gc").took(ctx); err != nil {
		return err
	}
	return each(&d.pruned)
}
