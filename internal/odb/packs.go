// Package odb reads single objects out of the files of git's object database, in process:
// it finds them in the indexes of packs, inflates them and applies deltas, and it reads
// loose ones. It knows no repository, starts nothing and writes nothing. It computes no
// id: whoever asks has to compare the content with it.
//
// It refuses whatever is not as git writes it today, or is larger than it was told to keep
// in memory: all that it says then is ErrElsewhere, and git has to be asked, whose
// answers and errors are those that count. What git refuses to read it refuses too.
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

	"git-checkpoint/internal/name"
)

// ErrElsewhere says that an object is in no file that can be read here, for whatever
// reason. ErrLarge is an ErrElsewhere that is over the limit.
var (
	ErrElsewhere = errors.New("in no file that can be read here")
	ErrLarge     = fmt.Errorf("%w: too large", ErrElsewhere)
)

// maxPacks is up to how many packs of a directory are looked into; git keeps far fewer.
const maxPacks = 64

// Packs are those of some object directories. They are safe for concurrent use.
type Packs struct {
	dirs    []string
	hashLen int

	mu     sync.Mutex
	listed []listing              // of each directory
	sound  map[string]fs.FileInfo // indexes of several packs that were found whole
	packs  atomic.Pointer[[]*pack]
	last   atomic.Pointer[pack] // where something was found
}

// listing is what a directory of packs was like.
type listing struct {
	changed, looked time.Time
}

// unsure is how young a change of a directory may be so that another one could have the
// same time.
const unsure = 2 * time.Second

// New looks into the packs of object directories, of ids of so many bytes.
func New(dirs []string, hashLen int) *Packs {
	return &Packs{dirs: dirs, hashLen: hashLen}
}

// Place is where an object is.
type Place struct {
	pack   *pack
	offset int64
}

// Pack is the path of the pack that an object is in.
func (p Place) Pack() string { return strings.TrimSuffix(p.pack.path, ".idx") + ".pack" }

// Compare orders places so that reading in this order goes through each pack once.
func (p Place) Compare(q Place) int {
	switch {
	case p.pack == q.pack:
		return cmp.Compare(p.offset, q.offset)
	case p.pack == nil || q.pack == nil:
		return cmp.Compare(p.offset, q.offset) // of what is nowhere, so that it comes first
	}
	return strings.Compare(p.pack.path, q.pack.path)
}

// Refresh looks whether there are other packs than before. What is found afterwards was
// there at that moment.
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

// list names the packs, the newest first, and keeps those that are open and still there.
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
		there := make(map[string]bool, len(entries))
		for _, e := range entries {
			there[e.Name()] = true
		}
		for _, e := range entries {
			base, ok := strings.CutSuffix(e.Name(), ".idx")
			if !ok || !there[base+".pack"] { // git's maintenance writes loose-<hash>.pack
				continue
			}
			if info, err := e.Info(); err == nil {
				here = append(here, found{filepath.Join(dir, "pack", e.Name()), info.ModTime()})
			}
		}
		if len(here) > maxPacks {
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

// Find tells where an object is, as of the last Refresh.
func (p *Packs) Find(oid name.OID) (Place, bool) {
	var room [32]byte
	id := oid.Bytes(room[:0])
	if len(id) != p.hashLen {
		return Place{}, false
	}
	return p.find(id)
}

// Has reports whether an object, whose id is given as bytes, has a place.
func (p *Packs) Has(id []byte) bool {
	if len(id) != p.hashLen {
		return false
	}
	_, ok := p.find(id)
	return ok
}

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

func (p *pack) find(id []byte) (Place, bool) {
	if !p.ready() {
		return Place{}, false
	}
	at, ok := p.index.find(id)
	return Place{p, at}, ok
}

// Close closes the files of all packs. They are opened anew when something is asked; nobody
// may be reading meanwhile.
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
