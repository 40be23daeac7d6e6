package why

import (
	"context"
	"slices"

	"git-checkpoint/internal/format/name"
	"git-checkpoint/internal/git"
)

// origin is the difference that added a line.
type origin struct {
	point int32 // -1: none that is known
	path  string
}

// walk is what is known of the lines of one file of a checkpoint.
type walk struct {
	versions []version
	of       map[int]origin   // by line
	followed map[lineOf][]int // what follow returned
}

// lineOf is a line of a file.
type lineOf struct {
	file name.OID
	line int
}

// version is a checkpoint that changed the file.
type version struct {
	change int32
	point  int32
	path   string
	now    git.Entry // as it was then
	was    git.Entry // in the checkpoint before; the zero Entry if it was not there
}

// origin returns the checkpoint whose own difference added line i of a file of a checkpoint. The index
// tells it for a line that is there once. For others the versions of the file are compared.
func (a *asker) origin(ctx context.Context, point int32, path string, i int) origin {
	none := origin{point: -1}
	tree := a.x.Checkpoints[point].Tree
	e := a.file(ctx, tree, path)
	t := a.content(ctx, e)
	if i >= len(t) {
		return none
	}
	w := a.walkOf(ctx, point, path)
	o, known := w.of[i]
	if !known {
		if a.once(ctx, e, i) {
			o = a.indexed(ctx, w, e, i)
		} else {
			o = a.walk(ctx, w, e, i)
		}
		w.of[i] = o
	}
	return o
}

// walkOf returns what is known of the lines of a file of a checkpoint.
func (a *asker) walkOf(ctx context.Context, point int32, path string) *walk {
	key := origin{point, path}
	w := a.walks[key]
	if w == nil {
		w = &walk{versions: a.versions(ctx, point, path), of: map[int]origin{}, followed: map[lineOf][]int{}}
		a.walks[key] = w
	}
	return w
}

// versions returns the checkpoints on the chain of one that changed a path, newest first. It follows
// renames. The entries are read when they are needed.
func (a *asker) versions(ctx context.Context, point int32, path string) (out []version) {
	number := a.x.path(path)
	if number < 0 {
		return nil
	}
	chain := a.chain(ctx, point)
	first, last := slices.Min(chain), slices.Max(chain)
	places := make([]int, last-first+1) // of the checkpoints on it, from 1
	for i, p := range chain {
		places[p-first] = i + 1
	}
	place := func(c int32) int { return places[a.x.change(c).point-first] - 1 }
	least := 0 // nothing newer than this counts
	for number >= 0 {
		renamed := int32(-1)
		var on []int32
		all := a.x.changesOf(number)
		from, _ := slices.BinarySearchFunc(all, first, func(c, p int32) int { return int(a.x.change(c).point - p) })
		for _, c := range all[from:] {
			if a.x.change(c).point > last {
				break
			}
			if at := place(c); at >= least {
				on = append(on, c)
			}
		}
		slices.SortFunc(on, func(c, d int32) int { return place(c) - place(d) })
		for _, c := range on {
			change := a.x.change(c)
			out = append(out, version{change: c, point: change.point, path: string(a.x.Paths[change.path])})
			if change.from >= 0 {
				renamed, least = change.from, place(c)+1
				break
			}
		}
		number = renamed
	}
	return out
}

// fill reads the two sides of version i.
func (a *asker) fill(ctx context.Context, w *walk, i int) *version {
	v := &w.versions[i]
	if v.now.Mode != 0 || v.was.Mode != 0 {
		return v
	}
	v.now = a.file(ctx, a.x.Checkpoints[v.point].Tree, v.path)
	before := v.path
	if from := a.x.change(v.change).from; from >= 0 {
		before = string(a.x.Paths[from])
	}
	if base := a.base(ctx, v.point); base >= 0 {
		v.was = a.file(ctx, a.x.Checkpoints[base].Tree, before)
	} else if head := a.x.Checkpoints[v.point].Head; head != "" {
		if c := a.commit(ctx, head); c != nil {
			v.was = a.file(ctx, c.Tree, before)
		}
	}
	return v
}

// indexed finds the origin of a line that the file has once: the newest version that the index has the
// line of. The hit is verified against the files. A line that was gone since then came again with a commit.
func (a *asker) indexed(ctx context.Context, w *walk, e git.Entry, i int) origin {
	none, t := origin{point: -1}, a.content(ctx, e)
	line, hits := a.read(ctx, e).numbers[i], map[int32]bool{}
	for _, e := range a.entriesOf(t, i) {
		hits[e.change] = true
	}
	for n := range w.versions {
		v := a.fill(ctx, w, n)
		if v.now.OID != e.OID && (!isFile(v.now) || !slices.Contains(a.read(ctx, v.now).numbers, line)) {
			return none
		}
		if !hits[v.change] {
			if e = v.was; a.moved(ctx, v) && (!isFile(e) || !slices.Contains(a.read(ctx, e).numbers, line)) {
				return none
			}
			continue
		}
		now := a.content(ctx, v.now)
		at := slices.Index(now, t[i])
		if at < 0 || slices.Contains(now[at+1:], t[i]) {
			return none
		}
		switch a.matched(ctx, v.was, v.now)[at] {
		case alone:
			return origin{v.point, v.path}
		case doubtful:
			return none
		}
		e = v.was
	}
	return none
}

// moved reports whether HEAD went on to another commit with a version.
func (a *asker) moved(ctx context.Context, v *version) bool {
	base := a.base(ctx, v.point)
	return base >= 0 && a.x.Checkpoints[base].Head != a.x.Checkpoints[v.point].Head
}

// mostVersions is how many versions of a file are compared with one another.
const mostVersions = 400

// walk follows line i of a file through its versions, newest first, to the one that added it.
func (a *asker) walk(ctx context.Context, w *walk, e git.Entry, i int) origin {
	at := a.follow(ctx, w, e, i)
	if len(at) == 0 {
		return origin{point: -1}
	}
	v := w.versions[len(at)-1]
	return origin{v.point, v.path}
}

// committed reports whether HEAD went on to a commit that may have line i of a version: then the commit brought
// it, and not the checkpoint.
func (a *asker) committed(ctx context.Context, v *version, i int) bool {
	head := a.x.Checkpoints[v.point].Head
	if head == "" || !a.moved(ctx, v) {
		return false
	}
	c := a.commit(ctx, head)
	if c == nil {
		return true
	}
	e := a.file(ctx, c.Tree, v.path)
	return isFile(e) && a.matched(ctx, e, v.now)[i] != alone
}

// follow returns where line i of a file is in each of its versions, from the newest to the one that added
// it. It returns nil if that cannot be told.
func (a *asker) follow(ctx context.Context, w *walk, e git.Entry, i int) []int {
	key := lineOf{e.OID, i}
	at, known := w.followed[key]
	if !known {
		at = a.findFollowed(ctx, w, e, i)
		w.followed[key] = at
	}
	return at
}

func (a *asker) findFollowed(ctx context.Context, w *walk, e git.Entry, i int) (at []int) {
	for n := range min(len(w.versions), mostVersions) {
		if a.diffs > mostDiffs || ctx.Err() != nil {
			return nil
		}
		v := a.fill(ctx, w, n)
		if v.now.OID != e.OID { // a commit changed it in between
			if !isFile(v.now) {
				return nil
			}
			if i = a.same(ctx, v.now, e, i); i < 0 {
				return nil
			}
		}
		at = append(at, i)
		if a.moved(ctx, v) {
			i = a.same(ctx, v.was, v.now, i)
		} else {
			i = a.matched(ctx, v.was, v.now)[i]
		}
		switch {
		case i == alone:
			if a.committed(ctx, v, at[n]) {
				return nil
			}
			return at
		case i < 0:
			return nil
		}
		if e = v.was; !isFile(e) {
			return nil
		}
	}
	return nil
}
