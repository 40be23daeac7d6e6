package torture

import (
	"path"
	"strings"
)

// wish is what a rollback or undo is asked for.
type wish struct {
	only       func(string) bool // nil: everything
	overwrite  bool              // ignored files in the way are captured and go
	indexStays bool              // as with --worktree-only
	exact      bool              // permission bits too, as for an undo at once
	spared     map[string]bool   // they stay although the target lacks them
}

// forecast is the disk that the rules ask for after a rollback.
type forecast struct {
	files    map[string]node // written or changed: path → as it was
	gone     map[string]bool
	stays    disk            // everything else, as it is, times included
	blocked  []string        // what is in the way: the rollback must refuse
	captured map[string]node // ignored files that the safety checkpoint has to hold
}

// predict works out what a rollback from now to then does, from the design alone.
//
//nolint:gocyclo // one rule after the other, as the design has them
func predict(then, now *moment, w wish) *forecast {
	f := &forecast{files: map[string]node{}, gone: map[string]bool{}, stays: disk{}, captured: map[string]node{}}
	for p, n := range now.disk {
		f.stays[p] = n
	}
	have := map[string]node{}
	for p, n := range now.files {
		have[p] = n
	}
	for p := range then.forced {
		if n, there := now.disk[p]; there && n.captures() && !now.rules(p) {
			have[p] = n
			f.captured[p] = n
		}
	}
	inScope := func(p string) bool { return w.only == nil || w.only(p) }
	for p := range have {
		_, wanted := then.files[p]
		if inScope(p) && !wanted && !now.rules(p) && !then.rules(p) && !w.spared[p] {
			delete(f.stays, p)
			f.gone[p] = true
		}
	}
	for p, n := range then.files {
		if !inScope(p) {
			continue
		}
		if _, absent := now.sparse[p]; absent {
			if w.indexStays && !then.tagged(p) { // absent by the user's choice; it stays so
				continue
			}
		}
		if now.rules(p) {
			if held, there := now.disk[p]; !there || !held.alike(n) {
				f.blocked = append(f.blocked, p)
			}
			continue
		}
		if then.rules(p) {
			continue
		}
		f.place(now, p, n, have, w)
	}
	for p := range f.files {
		delete(f.stays, p)
	}
	return f
}

// tagged reports whether p was there at that moment although skip-worktree.
func (m *moment) tagged(p string) bool {
	for _, e := range entries(m.listing) {
		if e.path == p && strings.EqualFold(e.tag, "S") {
			return true
		}
	}
	return false
}

// rules reports whether p is, or lies in, what a rule keeps out of a capture.
func (m *moment) rules(p string) bool {
	for d := p; d != "."; d = path.Dir(d) {
		if _, out := m.frozen[d]; out {
			return true
		}
		if _, out := m.links[d]; out {
			return true
		}
	}
	return false
}

// place puts one file of the target where it belongs, if nothing uncaptured is there.
func (f *forecast) place(now *moment, p string, n node, have map[string]node, w wish) {
	if h, ok := have[p]; ok && h.alike(n) && (!w.exact || n.Type != 0 || h.Perm == n.Perm) {
		return // it stays as it is
	}
	for d := path.Dir(p); d != "."; d = path.Dir(d) {
		if o, there := f.stays[d]; there && !o.Type.IsDir() {
			f.obstacle(now, d, o, have, w)
		}
		if _, nested := now.disk[path.Join(d, ".git")]; nested { // tracked files in what has become a repository
			f.blocked = append(f.blocked, d)
		}
	}
	old, there := f.stays[p]
	switch {
	case !there:
	case old.Type.IsDir():
		for q, o := range f.stays {
			if q != p && under(q, p) && !o.Type.IsDir() {
				f.obstacle(now, q, o, have, w)
			} else if under(q, p) {
				delete(f.stays, q)
			}
		}
	default:
		if _, ok := have[p]; !ok {
			f.obstacle(now, p, old, have, w)
		}
	}
	f.files[p] = n
}

// obstacle is something that is not captured, or out of scope, where a file belongs.
func (f *forecast) obstacle(now *moment, p string, n node, have map[string]node, w wish) {
	_, captured := have[p]
	if w.overwrite && n.captures() && !now.rules(p) && (!captured || w.spared[p]) && !strings.Contains("/"+p+"/", "/.git/") {
		f.captured[p] = n
		f.gone[p] = true
		delete(f.stays, p)
		return
	}
	f.blocked = append(f.blocked, p)
}
