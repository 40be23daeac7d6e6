package why

import (
	"context"
	"slices"

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
	of       map[int]origin // by line, if all was walked
	walked   bool
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
	key := origin{point, path}
	w := a.origins[key]
	if w == nil {
		w = &walk{versions: a.versions(point, path)}
		a.origins[key] = w
	}
	if o, known := w.of[i]; known || w.walked {
		if !known {
			return none
		}
		return o
	}
	if once(t, i) {
		if o := a.indexed(ctx, w, t, i); o.point >= 0 {
			return o
		}
		return none
	}
	a.walk(ctx, w, e)
	if o, known := w.of[i]; known {
		return o
	}
	return none
}

// once reports whether a text has line i only once.
func once(t text, i int) bool {
	n := 0
	for _, line := range t {
		if line == t[i] {
			n++
		}
	}
	return n == 1
}

// versions returns the checkpoints on the chain of one that changed a path, newest first. It follows
// renames. The entries are read when they are needed.
func (a *asker) versions(point int32, path string) (out []version) {
	number := a.x.path(path)
	if number < 0 {
		return nil
	}
	chain := a.chain(point)
	place := make(map[int32]int, len(chain)) // of the checkpoints on it
	for i, p := range chain {
		place[p] = i
	}
	least := 0 // nothing newer than this counts
	for number >= 0 {
		renamed := int32(-1)
		var on []int32
		for _, c := range a.x.changesOf(number) {
			if at, is := place[a.x.change(c).point]; is && at >= least {
				on = append(on, c)
			}
		}
		slices.SortFunc(on, func(c, d int32) int { return place[a.x.change(c).point] - place[a.x.change(d).point] })
		for _, c := range on {
			change := a.x.change(c)
			out = append(out, version{change: c, point: change.point, path: string(a.x.Paths[change.path])})
			if change.from >= 0 {
				renamed, least = change.from, place[change.point]+1
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
	if base := a.x.base(v.point); base >= 0 {
		v.was = a.file(ctx, a.x.Checkpoints[base].Tree, before)
	} else if head := a.x.Checkpoints[v.point].Head; head != "" {
		if c := a.commit(ctx, head); c != nil {
			v.was = a.file(ctx, c.Tree, before)
		}
	}
	return v
}

// indexed finds the origin of a line that the file has once: the newest version that the index has the
// line of. The hit is verified against the files.
func (a *asker) indexed(ctx context.Context, w *walk, t text, i int) origin {
	hits := map[int32]bool{}
	for _, e := range a.entriesOf(t, i) {
		hits[e.change] = true
	}
	for n := range w.versions {
		if !hits[w.versions[n].change] {
			continue
		}
		v := a.fill(ctx, w, n)
		now := a.content(ctx, v.now)
		at := slices.Index(now, t[i])
		if at < 0 || slices.Contains(now[at+1:], t[i]) {
			return origin{point: -1}
		}
		switch a.matched(ctx, v.was, v.now)[at] {
		case alone:
			return origin{v.point, v.path}
		case doubtful:
			return origin{point: -1}
		}
	}
	return origin{point: -1}
}

// mostVersions is how many versions of a file are compared with one another.
const mostVersions = 400

// walk compares the versions of a file, newest first, and notes the origin of each line.
func (a *asker) walk(ctx context.Context, w *walk, e git.Entry) {
	w.walked, w.of = true, map[int]origin{}
	t := a.content(ctx, e)
	line := make([]int, len(t)) // of each line of t, its number in the version that is looked at; -1: it is done
	for i := range line {
		line[i] = i
	}
	follow := func(to []int, origin func(int) bool) {
		for i, at := range line {
			if at < 0 {
				continue
			}
			if to[at] == alone && origin(i) || to[at] < 0 {
				line[i] = -1
			} else {
				line[i] = to[at]
			}
		}
	}
	for n := range min(len(w.versions), mostVersions) {
		if a.diffs > mostDiffs || ctx.Err() != nil {
			return
		}
		v := a.fill(ctx, w, n)
		if v.now.OID != e.OID { // a commit changed it in between
			if !isFile(v.now) {
				return
			}
			follow(a.matched(ctx, v.now, e), func(int) bool { return true })
		}
		follow(a.matched(ctx, v.was, v.now), func(i int) bool {
			w.of[i] = origin{v.point, v.path}
			return true
		})
		if e = v.was; !isFile(e) || !slices.ContainsFunc(line, func(at int) bool { return at >= 0 }) {
			return
		}
	}
}
