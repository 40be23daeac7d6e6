package git

import (
	"errors"
	"os"
	"runtime"
	"slices"
	"sync"

	"git-checkpoint/internal/format/name"
	"git-checkpoint/internal/git/gitconfig"
	"git-checkpoint/internal/git/internal/odb"
)

// Objects reads and writes objects of every type. It hides where they are: in loose files and packs that
// this process reads itself, behind a git that it started, in the pack of InPacks, or in the directory of
// Borrow.
type Objects struct {
	at *Location

	batch *Batch // started on first use, see Batch
	once  sync.Once

	files    *database // created on first use, see database
	fileOnce sync.Once

	writer  ObjectWriter // where Write writes: a looseDir, a processWriter, or pack
	writing sync.Once
	pack    *packWriter // set while InPacks runs

	borrowed string // the temporary object directory of Borrow, or ""
}

// Batch returns the repository's reader of objects. It starts no process before it needs one.
func (o *Objects) Batch() *Batch {
	o.once.Do(func() { o.batch = newBatch(o) })
	return o.batch
}

// database returns the in-process reader and writer of the object directory.
func (o *Objects) database() *database {
	o.fileOnce.Do(func() { o.files = o.newObjects() })
	return o.files
}

// close ends the processes, closes the open packs, and removes the directory of Borrow.
func (o *Objects) close() {
	if o.borrowed != "" {
		defer os.RemoveAll(o.borrowed) //nolint:errcheck // a temporary directory
	}
	o.database().packs.Close()
	if o.batch != nil {
		o.batch.close()
	}
}

// database reads and writes the files of the object database in this process. It refuses
// (odb.ErrUseGit) whatever it cannot read with certainty, such as unusual packs, objects that a
// promisor remote still has, and damage. The caller asks git then.
type database struct {
	loose *looseDir
	packs *odb.Packs

	readers sync.Pool // of *reader; a used one has packs' recent objects in memory
}

// reader reads objects for one goroutine at a time.
type reader struct {
	odb.Reader
	*database
	located []located // the result of the last locate
}

// isWhole reports whether an object exists. A loose one is also read and checked.
func (o *Objects) isWhole(oid name.OID) bool {
	d := o.database()
	if d.loose.has(oid) {
		return d.whole(oid)
	}
	d.packs.Refresh()
	_, packed := d.packs.Find(oid)
	return packed
}

// newObjects connects the two halves: a looseDir writes no object that a pack has.
func (o *Objects) newObjects() *database {
	loose := o.newLooseDir()
	dirs := odb.Directories(loose.dir, gitconfig.Getenv(o.at.env, alternates), o.at.WorkTree)
	loose.objects = &database{loose: loose, packs: odb.New(dirs, o.at.HashLen())}
	return loose.objects
}

// whole reports whether a loose object can be read and has its id.
func (o *database) whole(oid name.OID) bool {
	r := o.borrow()
	defer o.giveBack(r)
	_, err := r.readLoose(oid, maxHere)
	return err == nil
}

// packed reports whether an intact copy of an object of n bytes is in a pack, and freshens that pack.
// A copy that is damaged must not be trusted. One of more than maxHere is not read.
func (o *database) packed(oid name.OID, n int) bool {
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
func (o *database) borrow() *reader {
	if r, used := o.readers.Get().(*reader); used {
		return r
	}
	return &reader{database: o}
}

// giveBack makes a reader available to others.
func (o *database) giveBack(r *reader) { o.readers.Put(r) }

// misstated reports whether git would read the object from a loose file whose content does not have
// the size that its header claims. Only a full id is looked up.
func (o *database) misstated(spec string) bool {
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
func (o *database) inChunks(n int, do func(r *reader, from, to int)) {
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
