package bench

import (
	"context"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
)

// counts are rows that are counted and not timed, so they are the same on every machine.
func (b *bench) counts() []job {
	size := b.Effort.small()
	// A create writes the changed blobs, their trees, and at most eight objects of its own.
	limit := changed + len(parents(b.blank("paths", size).touched())) + 8
	return []job{
		{
			Row{Name: "count/objects", Work: fmt.Sprintf("objects of a `create` with %d files changed in %d directories", changed, limit-8-changed), Files: size, Unit: "objects", First: float64(limit)},
			b.objects,
		},
		{
			Row{Name: "count/bytes/loose", Work: fmt.Sprintf("bytes of a `create` with nothing changed, after %d, loose", b.countedAfter()), Files: size, Unit: "KiB", First: 12},
			func(ctx context.Context) (samples, error) { return b.bytes(ctx, leaveLoose) },
		},
		{
			Row{Name: "count/bytes/packed", Work: fmt.Sprintf("the same, mean of %d, after `git gc`", b.Effort.Counted), Files: size, Unit: "KiB", First: 2, Then: 1},
			func(ctx context.Context) (samples, error) { return b.bytes(ctx, collect) },
		},
	}
}

// countedAfter is the length of the session in which bytes are counted. The notes tree
// grows with the session, so the length matters.
func (b *bench) countedAfter() int { return b.Effort.Lengths[1] }

// touched returns the paths that change writes.
func (r *repository) touched() []string {
	var paths []string
	for i := range changed {
		paths = append(paths, r.paths[i*len(r.paths)/changed])
	}
	return paths
}

// parents returns all directories above the paths, including the top.
func parents(paths []string) map[string]bool {
	found := map[string]bool{".": true}
	for _, path := range paths {
		for dir := filepath.Dir(path); dir != "."; dir = filepath.Dir(dir) {
			found[dir] = true
		}
	}
	return found
}

// objects counts the objects of creates with ten changed files.
func (b *bench) objects(ctx context.Context) (samples, error) {
	var found samples
	r, err := b.copyOf(ctx, b.countedAfter(), "counted-objects")
	if err != nil {
		return found, err
	}
	for range b.Effort.Counted {
		if err := r.change(ctx); err != nil {
			return found, err
		}
		before, err := r.objectFiles()
		if err != nil {
			return found, err
		}
		if err := r.create(ctx); err != nil {
			return found, err
		}
		after, err := r.objectFiles()
		if err != nil {
			return found, err
		}
		found.ours = append(found.ours, float64(after.count-before.count))
	}
	return found, nil
}

// packing says what happens to objects before their bytes are counted.
type packing int

const (
	leaveLoose packing = iota
	collect
)

// bytes measures what creates of an unchanged worktree add to the object store.
func (b *bench) bytes(ctx context.Context, how packing) (samples, error) {
	r, err := b.copyOf(ctx, b.countedAfter(), fmt.Sprintf("counted-bytes-%d", how))
	if err != nil {
		return samples{}, err
	}
	gc := func() error {
		_, err := r.git(ctx, nil, "gc", "-q")
		return err
	}
	// Start with everything packed, so that only what creates add is measured.
	if how == collect {
		if err := gc(); err != nil {
			return samples{}, err
		}
	}
	start, err := r.objectFiles()
	if err != nil {
		return samples{}, err
	}
	var found samples
	for before, n := start, 0; n < b.Effort.Counted; n++ {
		if err := r.create(ctx); err != nil {
			return found, err
		}
		after, err := r.objectFiles()
		if err != nil {
			return found, err
		}
		found.ours, before = append(found.ours, kib(after.bytes-before.bytes)), after
	}
	// Loose bytes are counted per create. Packed ones only make sense as a mean over many.
	if how == leaveLoose {
		return found, nil
	}
	if err := gc(); err != nil {
		return samples{}, err
	}
	end, err := r.objectFiles()
	return samples{ours: []float64{kib(end.bytes-start.bytes) / float64(b.Effort.Counted)}}, err
}

// kib converts bytes to KiB.
func kib(bytes int64) float64 { return float64(bytes) / 1024 }

// held is the content of an object store: number of loose objects, and bytes of all files.
type held struct {
	count int
	bytes int64
}

// objectFiles reads what the object store holds. Loose objects are in directories of two
// digits.
func (r *repository) objectFiles() (held, error) {
	var found held
	objects := filepath.Join(r.dir, ".git", "objects")
	err := filepath.WalkDir(objects, func(path string, e fs.DirEntry, err error) error {
		if os.IsNotExist(err) {
			return nil // packed by the background process
		}
		if err != nil || e.IsDir() {
			return err
		}
		if info, err := e.Info(); err == nil {
			found.bytes += info.Size()
			if fan := filepath.Base(filepath.Dir(path)); len(fan) == 2 {
				found.count++
			}
		}
		return nil
	})
	return found, err
}
