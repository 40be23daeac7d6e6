package git

import (
	"context"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"runtime"
	"strings"
	"sync/atomic"

	"git-checkpoint/internal/format/name"
	"git-checkpoint/internal/git/internal/odb"
	"git-checkpoint/internal/sys/gather"
)

// ErrGarbled says that the content of an object does not have the id under which it is stored.
var ErrGarbled = errors.New("garbled: its content does not match its id")

// Prove reads objects by their full ids and computes their ids anew. git does not do that for a
// loose object that it reads.
//
// For an object of more than keep bytes only the id is checked and Data is nil, so that no object
// can fill the memory. each gets the errors of Objects, and ErrGarbled together with the garbled
// content. It is called in no particular order.
func (b *Batch) Prove(ctx context.Context, oids []string, keep int64, each func(int, Object, error) error) error {
	if len(oids) == 0 {
		return ctx.Err()
	}
	for _, oid := range oids {
		if _, err := name.ParseOID(oid); err != nil {
			return fmt.Errorf("prove object: %w", err)
		}
	}
	b.objects.packs.Refresh()
	r := b.objects.borrow()
	defer b.objects.giveBack(r)
	return b.prove(ctx, r, r.packs.Sound(), oids, keep, each)
}

// prove reads what can be read in this process, if the packs are sound, and asks git for the rest, which
// also says what is wrong with it. An id of the other object format cannot exist here.
func (b *Batch) prove(ctx context.Context, r *reader, sound bool, oids []string, keep int64, each func(int, Object, error) error) error {
	var rest []int // indexes in oids
	for _, l := range r.locate(name.All[name.OID](oids)) {
		if ctx.Err() != nil {
			return context.Cause(ctx)
		}
		o, err := Object{}, odb.ErrUseGit
		if sound {
			o, err = r.readAsGit(l, maxHere)
		}
		if err != nil {
			rest = append(rest, l.index)
			continue
		}
		if o.Size > keep {
			o.Data = nil
		}
		if err := each(l.index, o, nil); err != nil {
			return err
		}
	}
	if err := ctx.Err(); err != nil || len(rest) == 0 {
		return err
	}
	specs := gather.List(rest, func(i int) string { return oids[i] })
	format := b.at.Format
	read := func(r io.Reader, o *Object) error { return proven(r, o, format, keep) }
	return b.exchange(ctx, read, specs, func(k int, o Object, err error) error {
		if err == nil && string(o.OID) != specs[k] {
			err = fmt.Errorf("object %q: %w", specs[k], ErrMissing) // an abbreviated SHA-256 id
		}
		return each(rest[k], o, err)
	})
}

// Follow proves the object from, then the objects that each returns for it, and so on, until there
// are none left. The order is depth first. An object that is named twice is read twice; each must
// prevent loops.
func (b *Batch) Follow(ctx context.Context, from name.OID, keep int64, each func(name.OID, Object, error) ([]name.OID, error)) error {
	b.objects.packs.Refresh()
	r := b.objects.borrow()
	defer b.objects.giveBack(r)
	sound := r.packs.Sound()
	for queue := []name.OID{from}; len(queue) > 0; {
		oid := queue[len(queue)-1]
		queue = queue[:len(queue)-1]
		err := b.prove(ctx, r, sound, []string{string(oid)}, keep, func(_ int, o Object, err error) error {
			next, err := each(oid, o, err)
			queue = append(queue, next...)
			return err
		})
		if err != nil {
			return err
		}
	}
	return nil
}

// ParallelChunks splits n things into parts of chunkLen and handles several of them at once. The order is
// not defined, and after an error some parts are not handled.
func (o *Objects) ParallelChunks(n int, do func(b *Batch, from, to int) error) error {
	const chunkLen = 256 // how many things are handled at a time
	var next atomic.Int64
	return Each(min(Readers(), (n+chunkLen-1)/chunkLen), func(int) error {
		for {
			from := int(next.Add(chunkLen)) - chunkLen
			if from >= n {
				return nil
			}
			if err := do(o.Batch(), from, min(from+chunkLen, n)); err != nil {
				return err
			}
		}
	})
}

// Readers is how many goroutines may read large objects at once. More of them need too much memory.
func Readers() int { return min(runtime.GOMAXPROCS(0), 4) }

// ProveInParallel is Prove by several goroutines, which call each at the same time and in no particular
// order.
func (o *Objects) ProveInParallel(ctx context.Context, oids []string, keep int64, each func(int, Object, error) error) error {
	return o.ParallelChunks(len(oids), func(b *Batch, from, to int) error {
		return b.Prove(ctx, oids[from:to], keep, func(i int, o Object, err error) error { return each(from+i, o, err) })
	})
}

// proven reads the content of an object from cat-file and compares it with the object's id. It
// reads to the end in any case, so that the pipe stays usable.
func proven(r io.Reader, o *Object, format string, keep int64) error {
	sum := odb.NewHash(format == "sha256")
	fmt.Fprintf(sum, "%s %d\x00", o.Type, o.Size)
	if o.Size <= keep {
		data, err := readSized(r, o.Size)
		if err != nil {
			return err
		}
		o.Data = data
		sum.Write(data)
	} else if _, err := io.CopyN(sum, r, o.Size); err != nil {
		return errEnded
	}
	if !strings.EqualFold(hex.EncodeToString(sum.Sum(nil)), string(o.OID)) {
		return fmt.Errorf("object %s: %w", o.OID, ErrGarbled)
	}
	return nil
}
