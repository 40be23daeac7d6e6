package git

import (
	"bytes"
	"errors"
	"hash"
	"runtime"
	"slices"
	"strconv"
	"sync"

	"git-checkpoint/internal/name"
	"git-checkpoint/internal/odb"
)

// objects are the object database's files, read in process. What is not read for certain
// is git's to answer: other forms of packs, what a promisor still has, damage.
type objects struct {
	loose *looseDir
	packs *odb.Packs

	mu      sync.Mutex
	readers []*reader // that nobody uses
}

// reader reads for one goroutine at a time.
type reader struct {
	odb.Reader
	*objects
	sum     hash.Hash
	begin   []byte // of what is hashed
	digest  []byte
	want    []byte
	located []located // of the last locate
}

func (r *Repo) newObjects() *objects {
	loose := r.newLooseDir()
	o := &objects{loose: loose, packs: odb.New(r.objectDirs(loose.dir), r.HashLen())}
	loose.whole = func(oid name.OID) bool {
		r := o.borrow()
		defer o.giveBack(r)
		_, err := r.readLoose(oid, maxHere)
		return err == nil
	}
	loose.packed = func(oid name.OID, n int) bool {
		place, ok := o.packs.Find(oid)
		if !ok || !freshenPack(place.Pack()) {
			return false
		}
		if n > maxHere {
			return true
		}
		r := o.borrow()
		defer o.giveBack(r)
		packed, err := r.Read(place, maxHere)
		_, err = r.proven(oid, packed, err)
		return err == nil
	}
	return o
}

// borrow gives a reader, which is to be given back: it remembers what it read.
func (o *objects) borrow() *reader {
	o.mu.Lock()
	defer o.mu.Unlock()
	if n := len(o.readers); n > 0 {
		r := o.readers[n-1]
		o.readers = o.readers[:n-1]
		return r
	}
	return &reader{objects: o, sum: newHash(o.loose.format)}
}

func (o *objects) giveBack(r *reader) {
	o.mu.Lock()
	defer o.mu.Unlock()
	o.readers = append(o.readers, r)
}

// maxHere is the size up to which an object is read in process.
const maxHere = 1 << 20

// apart lets several readers at once do a part of n each, where that is worth it.
func (o *objects) apart(n int, do func(r *reader, from, to int)) {
	const enough = 32
	parts := max(1, min(runtime.GOMAXPROCS(0), n/enough))
	Each(parts, func(k int) error { //nolint:errcheck // none has an error
		r := o.borrow()
		defer o.giveBack(r)
		do(r, k*n/parts, (k+1)*n/parts)
		return nil
	})
}

// located is an object that is asked for, and where it is, when that is a pack.
type located struct {
	index  int // among what was asked for
	oid    name.OID
	place  odb.Place
	packed bool
}

// locate looks ids up, and puts them into the order in which packs are read. An empty one
// is left out. What it gives is good until the next time.
func (r *reader) locate(oids []name.OID) []located {
	all := slices.Grow(r.located[:0], len(oids))
	for i, oid := range oids {
		if oid == "" {
			continue
		}
		l := located{index: i, oid: oid}
		l.place, l.packed = r.packs.Find(oid)
		all = append(all, l)
	}
	slices.SortFunc(all, func(a, b located) int { return a.place.Compare(b.place) })
	r.located = all
	return all
}

// read gives an object of at most limit bytes whose content has the id that it stands
// under. What cannot be read in a pack may be whole as a loose one.
func (r *reader) read(l located, limit int64) (Object, error) {
	o, err := r.readAsGit(l, limit, (*odb.Reader).Read)
	if l.packed && err != nil && !errors.Is(err, odb.ErrLarge) {
		return r.readLoose(l.oid, limit)
	}
	return o, err
}

// readAsGit reads where git reads: a loose object counts where a pack cannot be read, and
// not where it holds other content under the id, which git takes at its word.
// Packs are read by packed, so that the content is as good as it gives it.
func (r *reader) readAsGit(l located, limit int64, packed func(*odb.Reader, odb.Place, int64) (odb.Object, error)) (Object, error) {
	if l.packed {
		o, err := packed(&r.Reader, l.place, limit)
		if err == nil || errors.Is(err, odb.ErrLarge) {
			return r.proven(l.oid, o, err)
		}
	}
	return r.readLoose(l.oid, limit)
}

func (r *reader) readLoose(oid name.OID, limit int64) (Object, error) {
	o, err := r.Loose(r.loose.path(oid), limit)
	return r.proven(oid, o, err)
}

// proven compares content with the id that was asked for.
func (r *reader) proven(oid name.OID, o odb.Object, err error) (Object, error) {
	if err == nil && !r.has(oid, o) {
		err = odb.ErrElsewhere
	}
	if err != nil {
		return Object{}, err
	}
	return Object{OID: oid, Type: o.Type, Size: o.Size, Data: o.Data}, nil
}

// has reports whether content has an id.
func (r *reader) has(oid name.OID, o odb.Object) bool {
	begin := append(append(r.begin[:0], o.Type...), ' ')
	r.begin = append(strconv.AppendInt(begin, o.Size, 10), 0)
	r.sum.Reset()
	r.sum.Write(r.begin)
	r.sum.Write(o.Data)
	r.digest = r.sum.Sum(r.digest[:0])
	r.want = oid.Bytes(r.want[:0])
	return len(r.want) > 0 && bytes.Equal(r.want, r.digest)
}

// info gives type and size of an object, without a look at its content.
func (r *reader) info(l located) (Object, error) {
	o, err := odb.Object{}, odb.ErrElsewhere
	if l.packed {
		o, err = r.Info(l.place, maxHere)
	}
	if err != nil {
		o, err = r.LooseInfo(r.loose.path(l.oid))
	}
	return Object{OID: l.oid, Type: o.Type, Size: o.Size}, err
}
