package torture

// The model of a rollback. It knows two moments, the one of the target and the one before
// the rollback, and computes from the rules of the design what the disk must look like
// afterwards. It shares no code with the program, so that the two cannot have the same
// mistake.

import (
	"path"
	"slices"
	"strings"
)

// wish says what a rollback or undo was asked for.
type wish struct {
	only func(string) bool // paths in scope; nil: everything
	// Ignored files in the way are captured and replaced.
	overwrite bool
	// An undo or redo: an ignored file that is right already is captured, too.
	walks bool
	// The index must not change, as with --worktree-only.
	indexStays bool
	// Permissions must match, as after an undo at once.
	exact bool
	// Files that stay although the target lacks them.
	spared map[string]bool
	// Files that only the sparse checkout of now keeps away, which stay away.
	outside map[string]bool
}

// forecast is the disk that the rules require after a rollback.
type forecast struct {
	files map[string]node // files that are written or changed
	gone  map[string]bool
	// Everything else, unchanged, times included.
	stays disk
	// Obstacles, for which the rollback must be refused.
	blocked []string
	// Ignored files that the safety checkpoint must hold.
	captured map[string]node
}

// predict computes the forecast of a rollback from now to then. First everything stays.
// Then files that the target lacks go, and files that it has are written, unless something
// is in the way.
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
	// Files that the target captured although they are ignored are compared, so they are
	// captured now.
	for p := range then.forced {
		if n, there := now.disk[p]; there && n.captures() && !now.rules(p) {
			have[p] = n
			f.captured[p] = n
		}
	}
	inScope := func(p string) bool { return w.only == nil || w.only(p) }
	// What is not captured now, by a rule, is never deleted.
	for p := range have {
		_, wanted := then.files[p]
		if inScope(p) && !wanted && !now.rules(p) && !then.rules(p) && !w.spared[p] && !then.hidden(p, now) {
			delete(f.stays, p)
			f.gone[p] = true
			f.owned(now, p)
		}
	}
	for p, n := range then.files {
		if !inScope(p) || w.outside[p] {
			continue
		}
		if _, absent := now.sparse[p]; absent {
			if w.indexStays && !then.tagged(p) { // absent by the user's choice; it stays so
				continue
			}
		}
		// The file would be written over something that no checkpoint holds.
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

// tagged reports whether p has skip-worktree at that moment.
func (m *moment) tagged(p string) bool {
	for _, e := range entries(m.listing) {
		if e.path == p && strings.EqualFold(e.tag, "S") {
			return true
		}
	}
	return false
}

// hidden reports whether p was absent only because of rules of a sparse checkout that are not those of now. It is
// left alone then.
func (m *moment) hidden(p string, now *moment) bool {
	_, absent := m.sparse[p]
	_, away := now.sparse[p]
	return absent && m.sparsed && !(now.sparsed && away) && !now.keepsAway(p)
}

// keepsAway reports whether the rules of a sparse checkout keep p off the disk. The nearest of p and the
// directories above it that a rule matches decides, and there the last rule.
func (m *moment) keepsAway(p string) bool {
	if !m.sparsed {
		return false
	}
	for q := p; q != "."; q = path.Dir(q) {
		for _, rule := range slices.Backward(m.rulesOf) {
			pattern, negative := strings.CutPrefix(rule, "!")
			pattern, directory := strings.CutSuffix(pattern, "/")
			at := q
			if !strings.Contains(pattern, "/") {
				at = path.Base(q)
			}
			is, err := path.Match(strings.TrimPrefix(pattern, "/"), at)
			if err == nil && is && (q != p || !directory) {
				return negative
			}
		}
	}
	return true
}

// outside returns the files of a move that only the rules of now keep away: those that the index has afterwards
// as they were.
func (c *run) outside(m *move) (map[string]bool, error) {
	out, head := map[string]bool{}, m.now.commit
	if m.wish.walks || m.wish.only != nil || m.wish.indexStays || m.to.dead || c.unfinished(m.op.Tree, m.before) != "" {
		return out, nil
	}
	if c.moves(m) {
		head = m.to.then.commit
	}
	index, err := c.carried(m.op.Tree, m.to.then, m.now, &moment{commit: head})
	for _, e := range index.entries {
		_, away := m.now.sparse[e.path]
		n, there := m.to.then.files[e.path]
		if away && there && m.now.keepsAway(e.path) && e.stage == "0" && n.mode()+" "+blob(c.hash, n.Data) == e.mode+" "+e.oid {
			out[e.path] = true
		}
	}
	return out, err
}

// rules reports whether p is left out of a capture by a rule, or is inside of something
// that is.
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

// place plans to write one file of the target. Uncaptured things in its place are
// obstacles.
func (f *forecast) place(now *moment, p string, n node, have map[string]node, w wish) {
	if h, ok := have[p]; ok && h.alike(n) && (!w.exact || n.Type != 0 || h.Perm == n.Perm) {
		return // it is right already and stays
	}
	// A file may be in the place of a directory that the target needs.
	for d := path.Dir(p); d != "."; d = path.Dir(d) {
		if o, there := f.stays[d]; there && !o.Type.IsDir() {
			f.obstacle(now, d, o, have, w)
		}
	}
	f.owned(now, p)
	old, there := f.stays[p]
	switch {
	case !there:
	case old.Type.IsDir():
		f.replaceDirectory(now, p, have, w)
	default:
		if _, ok := have[p]; !ok {
			may := w
			may.overwrite = w.overwrite || w.walks && old.file() && old.alike(n)
			f.obstacle(now, p, old, have, may)
		}
	}
	f.files[p] = n
}

// owned records the repositories that p is in: files that were tracked before, or that git lists because
// others beside them were. Nothing in another repository is written or deleted.
func (f *forecast) owned(now *moment, p string) {
	for d := path.Dir(p); d != "."; d = path.Dir(d) {
		if _, nested := now.disk[path.Join(d, ".git")]; nested {
			f.blocked = append(f.blocked, d)
		}
	}
}

// replaceDirectory forecasts a file in the place of a directory.
func (f *forecast) replaceDirectory(now *moment, p string, have map[string]node, w wish) {
	for q, o := range f.stays {
		if q != p && under(q, p) && !o.Type.IsDir() {
			f.obstacle(now, q, o, have, w)
		} else if under(q, p) {
			delete(f.stays, q)
		}
	}
}

// obstacle records something in the way of a file that is not captured or out of scope. It
// is replaced only with --overwrite-ignored, and only if the safety checkpoint can hold it.
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
