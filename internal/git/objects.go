package git

import (
	"errors"
	"runtime"
	"slices"
	"sync"

	"git-checkpoint/internal/format/name"
	"git-checkpoint/internal/git/internal/odb"
)

// objects reads and writes the files of the object database in this process. It refuses
// (odb.ErrUseGit) whatever it cannot read with certainty, such as unusual packs, objects that a
// promisor remote still has, and damage. The caller asks git then.
type objects struct {
	loose *looseDir
	packs *odb.Packs

	readers sync.Pool // of *reader; a used one has packs' recent objects in memory
}

// reader reads objects for one goroutine at a time.
type reader struct {
	odb.Reader
	*objects
	located []located // the result of the last locate
}

// newObjects connects the two halves: a looseDir writes no object that a pack has.
func (r *Repo) newObjects() *objects {
	loose := r.newLooseDir()
	loose.objects = &objects{loose: loose, packs: odb.New(r.objectDirs(loose.dir), r.HashLen())}
	return loose.objects
}

// whole reports whether a loose object can be read and has its id.
func (o *objects) whole(oid name.OID) bool {
	r := o.borrow()
	defer o.giveBack(r)
	_, err := r.readLoose(oid, maxHere)
	return err == nil
}

// packed reports whether an intact copy of an object of n bytes is in a pack, and freshens that pack.
// A copy that is damaged must not be trusted. One of more than maxHere is not read.
func (o *objects) packed(oid name.OID, n int) bool {
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

// borrow returns a reader. The caller gives it back with giveBack.
func (o *objects) borrow() *reader {
	if r, used := o.readers.Get().(*reader); used {
		return r
	}
	return &reader{objects: o}
}

// giveBack makes a reader available to others.
func (o *objects) giveBack(r *reader) { o.readers.Put(r) }

// misstated reports whether git would read the object from a loose file whose content has another
// size than its header claims. Only a full id is looked up.
func (o *objects) misstated(spec string) bool {
	oid, err := name.ParseOID(spec)
	if err != nil {
		return false
	}
	_, packed := o.packs.Find(oid)
	return !packed && o.loose.misstated(oid)
}

// maxHere is the size in bytes up to which an object is read in this process. Larger ones are left
// to git.
const maxHere = 1 << 20

// inChunks splits n things into parts and has one reader per processor work on one part each. Small
// numbers are not split, because starting goroutines would cost more than it saves.
func (o *objects) inChunks(n int, do func(r *reader, from, to int)) {
	const enough = 32
	parts := max(1, min(runtime.GOMAXPROCS(0), n/enough))
	Each(parts, func(k int) error { //nolint:errcheck // none has an error
		r := o.borrow()
		defer o.giveBack(r)
		do(r, k*n/parts, (k+1)*n/parts)
		return nil
	})
}

// located is an object that was asked for, and its place if it is in a pack.
type located struct {
	index  int // in the list of what was asked for
	oid    name.OID
	place  odb.Place
	packed bool
}

// locate looks ids up in the packs and sorts them by their position in them, because packs are
// fastest to read from front to back. Empty ids are left out. The result is valid until the next
// call.
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

// read returns an object of at most limit bytes. The content is checked against the id. If the copy
// in a pack is damaged, the loose one is tried.
func (r *reader) read(l located, limit int64) (Object, error) {
	o, err := r.readAsGit(l, limit)
	if l.packed && err != nil && !errors.Is(err, odb.ErrLarge) {
		return r.readLoose(l.oid, limit)
	}
	return o, err
}

// readAsGit reads the copy that git would read: the loose object is used only if the one in the
// pack cannot be read. It is not used if the pack holds other content under the id, because git
// does not notice that.
func (r *reader) readAsGit(l located, limit int64) (Object, error) {
	if l.packed {
		o, err := r.Read(l.place, limit)
		if err == nil || errors.Is(err, odb.ErrLarge) {
			return r.proven(l.oid, o, err)
		}
	}
	return r.readLoose(l.oid, limit)
}

// readLoose reads a loose object of the repository itself, not of its alternates.
func (r *reader) readLoose(oid name.OID, limit int64) (Object, error) {
	o, err := r.Loose(r.loose.path(oid), limit)
	return r.proven(oid, o, err)
}

// proven compares the content with the id that was asked for. It returns odb.ErrUseGit if they
// differ.
func (r *reader) proven(oid name.OID, o odb.Object, err error) (Object, error) {
	if err == nil && HashObject(r.loose.format, o.Type, o.Data) != oid {
		err = odb.ErrUseGit
	}
	if err != nil {
		return Object{}, err
	}
	return Object{OID: oid, Type: o.Type, Size: o.Size, Data: o.Data}, nil
}

// info returns type and size of an object without reading its content.
func (r *reader) info(l located) (Object, error) {
	o, err := odb.Object{}, odb.ErrUseGit
	if l.packed {
		o, err = r.Info(l.place, maxHere)
	}
	if err != nil {
		o, err = r.LooseInfo(r.loose.path(l.oid))
	}
	return Object{OID: l.oid, Type: o.Type, Size: o.Size}, err
}
