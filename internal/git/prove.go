package git

import (
	"context"
	"crypto/sha1"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"hash"
	"io"
	"runtime"
	"strings"
	"sync/atomic"

	"git-checkpoint/internal/name"
	"git-checkpoint/internal/odb"
)

// ErrGarbled is an object whose content has another id than the one it is kept under.
var ErrGarbled = errors.New("garbled: its content has another id")

// Prove reads objects by their whole ids and computes the ids anew: git itself takes a
// loose object at its word. Content of more than keep bytes is looked at and not kept,
// so that no object fills the memory; its Data is nil, and otherwise good until each
// returns. Errors are those of Objects, and ErrGarbled, with which the content comes all
// the same. Each is called in no order.
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
	rest, err := r.prove(ctx, oids, keep, each)
	b.objects.giveBack(r)
	if err != nil || len(rest) == 0 {
		return err
	}
	return b.proveRest(ctx, oids, rest, keep, each)
}

// proveRest lets git read those that could not be read in process.
func (b *Batch) proveRest(ctx context.Context, oids []string, rest []int, keep int64, each func(int, Object, error) error) error {
	specs := make([]string, len(rest))
	for k, i := range rest {
		specs[k] = oids[i]
	}
	format := b.repo.Format
	how := asking{verb: "contents", read: func(r io.Reader, o *Object) error { return proven(r, o, format, keep) }}
	return b.exchangeAs(ctx, how, specs, func(k int, o Object, err error) error {
		if err == nil && string(o.OID) != specs[k] {
			err = fmt.Errorf("object %q: %w", specs[k], ErrMissing) // it was no whole id
		}
		return each(rest[k], o, err)
	})
}

// Follow proves an object, and then those that each says are next, until there is none.
// Each of them is read as often as it is said, and its content is good until each returns.
func (b *Batch) Follow(ctx context.Context, from name.OID, keep int64, each func(Object, error) ([]name.OID, error)) error {
	b.objects.packs.Refresh()
	r := b.objects.borrow()
	defer b.objects.giveBack(r)
	here := r.packs.Sound()
	for queue := []name.OID{from}; len(queue) > 0; {
		if err := ctx.Err(); err != nil {
			return context.Cause(ctx)
		}
		oid := queue[len(queue)-1]
		queue = queue[:len(queue)-1]
		take := func(_ int, o Object, err error) error {
			next, err := each(o, err)
			queue = append(queue, next...)
			return err
		}
		if _, err := name.ParseOID(string(oid)); err != nil {
			if err := take(0, Object{}, fmt.Errorf("%w: %w", ErrMissing, err)); err != nil {
				return err
			}
			continue
		}
		o, err := Object{}, odb.ErrElsewhere
		if here && len(oid) == 2*r.sum.Size() {
			l := located{oid: oid}
			l.place, l.packed = r.packs.Find(oid)
			o, err = r.readAsGit(l, maxHere, (*odb.Reader).Peek)
		}
		if err != nil {
			err = b.proveRest(ctx, []string{string(oid)}, []int{0}, keep, take)
		} else {
			if o.Size > keep {
				o.Data = nil
			}
			err = take(0, o, nil)
		}
		if err != nil {
			return err
		}
	}
	return nil
}

// prove reads what is whole in process, and lists the rest: what is wrong with it git says.
func (r *reader) prove(ctx context.Context, oids []string, keep int64, each func(int, Object, error) error) (rest []int, err error) {
	if !r.packs.Sound() {
		for i := range oids {
			rest = append(rest, i)
		}
		return rest, ctx.Err()
	}
	ids := make([]name.OID, len(oids))
	for i, oid := range oids {
		if len(oid) == 2*r.sum.Size() {
			ids[i] = name.OID(oid)
		} else {
			rest = append(rest, i)
		}
	}
	for _, l := range r.locate(ids) {
		if err := ctx.Err(); err != nil {
			return nil, context.Cause(ctx)
		}
		o, err := r.readAsGit(l, maxHere, (*odb.Reader).Peek)
		if err != nil {
			rest = append(rest, l.index)
			continue
		}
		if o.Size > keep {
			o.Data = nil
		}
		if err := each(l.index, o, nil); err != nil {
			return nil, err
		}
	}
	return rest, ctx.Err()
}

// Bounds of how many read at once, and of how few are worth it.
const (
	readersApart = 4
	enoughApart  = 32
)

// Batches are several readers that wait for nobody, as many as can be at work at once.
func (r *Repo) Batches() []*Batch {
	r.apartLock.Lock()
	defer r.apartLock.Unlock()
	for len(r.apart) < min(runtime.GOMAXPROCS(0), readersApart) {
		r.apart = append(r.apart, newBatch(r))
	}
	return r.apart
}

// partApart is how many objects a reader takes at once.
const partApart = 256

// Apart lets several readers at once do parts of n things, in no order.
func (r *Repo) Apart(n int, do func(b *Batch, from, to int) error) error {
	batches := r.Batches()
	var next atomic.Int64
	return Each(min(len(batches), (n+partApart-1)/partApart), func(k int) error {
		for {
			from := int(next.Add(partApart)) - partApart
			if from >= n {
				return nil
			}
			if err := do(batches[k], from, min(from+partApart, n)); err != nil {
				return err
			}
		}
	})
}

// ProveApart is Prove by several readers at once, each with a part of the objects. Each
// is called by several goroutines at once, in no order.
func (r *Repo) ProveApart(ctx context.Context, oids []string, keep int64, each func(int, Object, error) error) error {
	apart := r.Batches()
	readers := min(len(apart), len(oids)/enoughApart)
	if readers < 2 {
		return apart[0].Prove(ctx, oids, keep, each)
	}
	return Each(readers, func(k int) error {
		from, to := k*len(oids)/readers, (k+1)*len(oids)/readers
		return apart[k].Prove(ctx, oids[from:to], keep, func(i int, o Object, err error) error { return each(from+i, o, err) })
	})
}

// proven reads the content of an object and compares it with its id.
func proven(r io.Reader, o *Object, format string, keep int64) error {
	sum := newHash(format)
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

func newHash(format string) hash.Hash {
	if format == "sha256" {
		return sha256.New()
	}
	return sha1.New()
}
