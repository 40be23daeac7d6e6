// Package odb reads single objects from git's object database without starting git. It reads
// packs (through their .idx files) and loose objects, inflates them and applies deltas. It never
// writes.
//
// A caller makes one Packs for its object directories. Packs.Refresh looks for new packs, and
// Packs.Find returns the Place of an object. A Reader, one per goroutine, then reads the object
// at a Place (Read, Info), or a loose object by the path of its file (Loose, LooseInfo).
//
// The package accepts only what git writes today and what fits into the caller's limit. Anything
// else is ErrUseGit, and the caller must ask git, whose answers and error messages are
// authoritative. It also refuses whatever git refuses. It does not compute object ids: a caller
// that needs proof of the content must hash it.
//
// Start reading with Packs (packs.go), then index.go for the lookup and reader.go for entries.
package odb

import (
	"cmp"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	"git-checkpoint/internal/format/name"
	"git-checkpoint/internal/sys/gather"
)

// ErrUseGit says that an object cannot be read here, for whatever reason; git may still find
// it. ErrLarge is an ErrUseGit for an object that is larger than the limit.
var (
	ErrUseGit = errors.New("in no file that this program can read")
	ErrLarge  = fmt.Errorf("%w: too large", ErrUseGit)
)

// MaxPacks is the largest number of packs in a directory that are searched. If there are more,
// the directory is ignored. `git gc` keeps far fewer.
const MaxPacks = 64

// Packs finds objects in the packs of some object directories. It is safe for concurrent use,
// except for Close.
type Packs struct {
	dirs    []string // object directories; each has its packs in "pack"
	hashLen int      // bytes of an id: 20 or 32

	mu     sync.Mutex
	listed []listing               // by directory, as of the last time that the packs were listed
	sound  map[string]fs.FileInfo  // multi-pack-indexes whose checksum was right, by path
	packs  atomic.Pointer[[]*pack] // nil until the first Refresh; replaced as a whole, never changed
	last   atomic.Pointer[pack]    // where the last object was found; the next one is often there too
}

// listing is the state of a pack directory when its packs were listed: its mtime, and when it was
// looked at.
type listing struct {
	changed, looked time.Time
}

// unsure is the resolution that directory times have at worst. If a directory was changed less
// than that before it was listed, a later change could have left the same mtime, so it is listed
// again.
const unsure = 2 * time.Second

// New returns the packs of object directories whose ids have hashLen bytes. Nothing is read yet.
func New(dirs []string, hashLen int) *Packs { return &Packs{dirs: dirs, hashLen: hashLen} }

// Place says where an object is: a pack and an offset in it.
type Place struct {
	pack   *pack
	offset int64
}

// Pack returns the path of the .pack file.
func (p Place) Pack() string { return strings.TrimSuffix(p.pack.path, ".idx") + ".pack" }

// Compare orders places by pack and offset, so that reading in this order goes through each pack
// once from its beginning to its end. A zero Place comes first.
func (p Place) Compare(q Place) int {
	if p.pack == q.pack || p.pack == nil || q.pack == nil {
		return cmp.Compare(p.offset, q.offset)
	}
	return strings.Compare(p.pack.path, q.pack.path)
}

// Refresh looks whether packs were added or removed. git does that at any time (fetch, gc), so a
// caller refreshes before it concludes from Find that an object does not exist. What Find returns
// afterwards was there at the time of Refresh.
func (p *Packs) Refresh() {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.listed == nil {
		p.listed = make([]listing, len(p.dirs))
	}
	stale := p.packs.Load() == nil
	now := make([]listing, len(p.dirs))
	for i, dir := range p.dirs {
		now[i].looked = time.Now()
		if info, err := os.Stat(filepath.Join(dir, "pack")); err == nil {
			now[i].changed = info.ModTime()
		}
		was := p.listed[i]
		stale = stale || !was.changed.Equal(now[i].changed) || was.looked.Sub(was.changed) < unsure
	}
	if stale {
		p.listed = now
		p.list()
	}
}

// list lists the packs of all directories, in each directory the newest first, since new objects
// are read most often. It keeps the packs that are open and still exist. Packs without an .idx,
// or an .idx without its pack, are not used.
func (p *Packs) list() {
	known := map[string]*pack{}
	if old := p.packs.Load(); old != nil {
		for _, one := range *old {
			known[one.path] = one
		}
	}
	type found struct {
		path string
		time time.Time
	}
	packs := []*pack{}
	for _, dir := range p.dirs {
		var here []found
		entries, err := os.ReadDir(filepath.Join(dir, "pack"))
		if err != nil {
			continue
		}
		there := gather.Set(entries, func(e os.DirEntry) string { return e.Name() })
		for _, e := range entries {
			base, ok := strings.CutSuffix(e.Name(), ".idx")
			if !ok || !there[base+".pack"] { // `git maintenance` names a pack loose-<hash>.pack
				continue
			}
			if info, err := e.Info(); err == nil {
				here = append(here, found{filepath.Join(dir, "pack", e.Name()), info.ModTime()})
			}
		}
		if len(here) > MaxPacks {
			continue
		}
		slices.SortStableFunc(here, func(a, b found) int { return b.time.Compare(a.time) })
		for _, f := range here {
			one := known[f.path]
			if one == nil {
				one = &pack{path: f.path, hashLen: p.hashLen}
			}
			packs = append(packs, one)
		}
	}
	p.packs.Store(&packs)
	p.last.Store(nil)
}

// Find returns the place of an object, as of the last Refresh.
func (p *Packs) Find(oid name.OID) (Place, bool) {
	var room [32]byte
	id := oid.Bytes(room[:0])
	if len(id) != p.hashLen {
		return Place{}, false
	}
	return p.find(id)
}

// Has reports whether Find would find the object with this id, given as bytes.
func (p *Packs) Has(id []byte) bool {
	if len(id) != p.hashLen {
		return false
	}
	_, ok := p.find(id)
	return ok
}

// find searches the pack of the last hit first and then the others.
func (p *Packs) find(id []byte) (Place, bool) {
	packs := p.packs.Load()
	if packs == nil {
		p.Refresh()
		packs = p.packs.Load()
	}
	last := p.last.Load()
	if last != nil {
		if at, ok := last.find(id); ok {
			return at, true
		}
	}
	for _, one := range *packs {
		if one == last {
			continue
		}
		if at, ok := one.find(id); ok {
			p.last.Store(one)
			return at, true
		}
	}
	return Place{}, false
}

// find returns the place of an object in this pack.
func (p *pack) find(id []byte) (Place, bool) {
	if !p.ready() {
		return Place{}, false
	}
	at, ok := p.index.find(id)
	return Place{p, at}, ok
}

// Close closes the files of all packs. Nobody may be reading at the time, and places that were
// found before are no longer valid. The Packs can be used again; it opens the files anew.
func (p *Packs) Close() {
	p.mu.Lock()
	defer p.mu.Unlock()
	if packs := p.packs.Load(); packs != nil {
		for _, one := range *packs {
			one.close()
		}
	}
	p.packs.Store(nil)
	p.last.Store(nil)
}
