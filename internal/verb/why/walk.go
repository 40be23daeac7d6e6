package why

import (
	"cmp"
	"context"
	"slices"

	"git-checkpoint/internal/core/author"
	"git-checkpoint/internal/format/name"
	"git-checkpoint/internal/git"
	"git-checkpoint/internal/sys/gather"
)

// saved is a file of a checkpoint: where a line comes from, or where it is looked for.
type saved struct {
	point int32 // -1: it is in none, or in none that is known
	path  string
	again bool // an older file had the line, too, so that who made this one may only have brought it back
}

var nowhere = saved{point: -1}

// walk is the way back through the versions of a file of a checkpoint, and what it told of its lines.
type walk struct {
	journals *journals
	files    *files

	start    git.Entry // the file where the walk begins
	versions []version // newest first
	origins  memo[int, saved]
	open     map[int]bool // the lines whose origin is being looked for
	followed memo[lineOf, []int]
	drops    memo[int, []int32] // by number of a version
}

// lineOf is a line of a file.
type lineOf struct {
	file name.OID
	line int
}

// version is a checkpoint that changed the file.
type version struct {
	saved
	change   int32
	now, was git.Entry // then, and in the checkpoint before; the zero Entry if it was not there
}

// walk returns the walk from a file of a checkpoint.
func (j *journals) walk(ctx context.Context, from saved) *walk {
	return j.walks.get(from, func() *walk {
		return &walk{journals: j, files: j.files, start: j.file(ctx, from), versions: j.versions(ctx, from), open: map[int]bool{}}
	})
}

// origin returns the checkpoint whose own difference added line i of the file. The index tells it for a line
// that is there once. For others the versions of the file are compared.
func (w *walk) origin(ctx context.Context, i int) saved {
	if i >= len(w.files.read(ctx, w.start).text) {
		return nowhere
	}
	return w.origins.get(i, func() saved {
		w.open[i] = true
		defer delete(w.open, i)
		if w.files.hasOnce(ctx, w.start, i) {
			return w.indexed(ctx, i)
		}
		at := w.follow(ctx, w.start, i)
		if len(at) == 0 {
			return nowhere
		}
		return w.added(ctx, &w.versions[len(at)-1], at[len(at)-1])
	})
}

// added returns the origin of line i of a version, which is not in the file before: that checkpoint, unless its files were
// brought back from another one that has the line. One that leads back to here, as where clocks went back, is none.
func (w *walk) added(ctx context.Context, v *version, i int) saved {
	if now := w.files.read(ctx, v.now); w.journals.brought(ctx, v.saved, now.text[i]) || w.fromHead(ctx, v, now.numbers[i]) {
		return nowhere
	}
	for _, source := range w.journals.turns(ctx).back[v.point] {
		if source.point < 0 || source.only != nil && !source.only[v.path] {
			continue
		}
		from := w.journals.walk(ctx, saved{point: source.point, path: v.path})
		if !isFile(from.start) {
			continue
		}
		switch at := w.files.matched(ctx, from.start, v.now)[i]; {
		case at == doubtful:
			return nowhere
		case at >= 0 && !from.open[at]:
			return from.origin(ctx, at)
		}
	}
	return w.attribute(ctx, v, i)
}

// attribute is added for a line that nothing says to be brought back. If it is there once, and an older file had it, git stash pop may
// have brought it back: then it is of who made it, if enough came back that nobody typed it again, or else its maker is not known.
// Only a tool that names the file, or a person who made it both times, made it beyond doubt.
func (w *walk) attribute(ctx context.Context, v *version, i int) saved {
	by, now := w.journals.author(ctx, v.saved).By, w.files.read(ctx, v.now)
	if by == author.Agent {
		return v.saved
	}
	unsure, from := saved{v.point, v.path, true}, w.earlier(ctx, v, now.numbers[i])
	if from.point < 0 {
		if w.files.hasOnce(ctx, v.now, i) && w.isElsewhere(ctx, v, i) {
			return unsure
		}
		return v.saved
	}
	older, before, came := w.journals.file(ctx, from), w.journals.walk(ctx, from), text{}
	partners := w.files.matched(ctx, older, v.now)
	for k, was := range w.files.matched(ctx, v.was, v.now) {
		if was == alone && partners[k] >= 0 {
			came = append(came, now.text[k])
		}
	}
	if at := partners[i]; at >= 0 && !before.open[at] {
		made, same, many := before.origin(ctx, at), older.OID == v.now.OID, letters(came) >= enough
		if same && (many || by == author.During) || made.point >= 0 && by == author.Outside && (many || w.journals.author(ctx, made).By == by) {
			return made
		}
	}
	return unsure
}

// isElsewhere reports whether an older checkpoint of any session has added a line like line i of a version, in a file of this name or in
// one from which it is gone, other than outside the agents' tools.
func (w *walk) isElsewhere(ctx context.Context, v *version, i int) bool {
	all, now := w.journals.x, w.files.read(ctx, v.now)
	return slices.ContainsFunc(w.files.like(now.text, i), func(hit entry) bool {
		at := saved{point: all.pointOf(hit), path: all.pathOf(all.Changes[hit.change].Path)}
		return all.Checkpoints[at.point].At < all.Checkpoints[v.point].At && w.journals.author(ctx, at).By != author.Outside &&
			(at.path == v.path || w.files.times(ctx, w.journals.file(ctx, saved{point: v.point, path: at.path}), now.numbers[i]) == 0)
	})
}

// earlier returns an older file that is the same as a version, or else has a line that is new in that, and there once.
func (w *walk) earlier(ctx context.Context, v *version, line int32) saved {
	found, past, once, had := nowhere, false, w.files.times(ctx, v.now, line) == 1, w.files.times(ctx, v.was, line)
	for n := range w.compared() {
		older := w.version(ctx, n)
		if past && older.now.OID == v.now.OID {
			return older.saved
		}
		if past && once && found.point < 0 && (had == 0 && slices.Contains(w.dropped(ctx, n), line) ||
			had > 0 && max(w.files.times(ctx, older.now, line), w.files.times(ctx, older.was, line)) > had) {
			found = older.saved
		}
		past = past || older == v
	}
	for n, point := range w.journals.ancestors(ctx, v.point) { // a deletion is no version
		at := saved{point: point, path: v.path}
		if v.was.Mode == 0 && n < mostVersions && point != v.point && w.journals.file(ctx, at).OID == v.now.OID {
			return at
		}
	}
	return found
}

// dropped returns the lines that were lost with version n: those that it took out of the file before it, and those of its own that
// were gone before the next version. An older file has a line that a file lacks exactly if a version in between dropped it.
func (w *walk) dropped(ctx context.Context, n int) []int32 {
	return w.drops.get(n, func() (out []int32) {
		v := w.version(ctx, n)
		pairs := [][2]git.Entry{{v.was, v.now}}
		if n > 0 {
			pairs = append(pairs, [2]git.Entry{v.now, w.version(ctx, n-1).was})
		}
		for _, pair := range pairs {
			before, after := w.files.read(ctx, pair[0]).numbers, w.files.read(ctx, pair[1]).numbers
			for len(before) > 0 && len(after) > 0 && before[0] == after[0] {
				before, after = before[1:], after[1:]
			}
			for len(before) > 0 && len(after) > 0 && before[len(before)-1] == after[len(after)-1] {
				before, after = before[:len(before)-1], after[:len(after)-1]
			}
			kept := gather.SetOf(after)
			out = append(out, gather.Those(before, func(line int32) bool { return !kept[line] })...)
		}
		return out
	})
}

// fromHead reports whether the commit that HEAD stayed at has a line more often than the file before a version: git stash, or
// git restore, brought it back then, and not what made the checkpoint.
func (w *walk) fromHead(ctx context.Context, v *version, line int32) bool {
	c := w.journals.commits.read(ctx, w.journals.x.Checkpoints[v.point].Head)
	return c != nil && !w.headMoved(ctx, v) && w.journals.author(ctx, v.saved).By != author.Agent &&
		w.files.times(ctx, w.files.entryAt(ctx, c.Tree, v.path), line) > w.files.times(ctx, v.was, line)
}

// version returns version n with its two sides.
func (w *walk) version(ctx context.Context, n int) *version {
	v, x := &w.versions[n], w.journals.x
	if v.now.Mode != 0 || v.was.Mode != 0 {
		return v
	}
	v.now = w.journals.file(ctx, v.saved)
	before := cmp.Or(x.pathOf(x.Changes[v.change].From), v.path)
	if base := w.journals.base(ctx, v.point); base >= 0 {
		v.was = w.journals.file(ctx, saved{point: base, path: before})
	} else if c := w.journals.commits.read(ctx, x.Checkpoints[v.point].Head); c != nil {
		v.was = w.files.entryAt(ctx, c.Tree, before)
	}
	return v
}

// indexed finds the origin of a line that the file has once: the newest version that the index has the
// line of. The hit is verified against the files. A line that was gone since then came again with a commit.
func (w *walk) indexed(ctx context.Context, i int) saved {
	e, start := w.start, w.files.read(ctx, w.start)
	line, text := start.numbers[i], start.text[i]
	in := func(e git.Entry) bool { return slices.Contains(w.files.read(ctx, e).numbers, line) }
	hits := gather.Set(w.files.like(start.text, i), func(hit entry) int32 { return hit.change })
	for n := range w.versions {
		v := w.version(ctx, n)
		if v.now.OID != e.OID && !in(v.now) {
			return nowhere
		}
		if e = v.was; !hits[v.change] || w.journals.brought(ctx, v.saved, text) || w.fromHead(ctx, v, line) {
			if w.headMoved(ctx, v) && !in(e) {
				return nowhere
			}
			continue
		}
		now := w.files.read(ctx, v.now).numbers
		at := slices.Index(now, line)
		if at < 0 || slices.Contains(now[at+1:], line) {
			return nowhere
		}
		switch w.files.matched(ctx, v.was, v.now)[at] {
		case alone:
			return w.added(ctx, v, at)
		case doubtful:
			return nowhere
		}
	}
	return nowhere
}

// headMoved reports whether HEAD went on to another commit with a version.
func (w *walk) headMoved(ctx context.Context, v *version) bool {
	all, base := w.journals.x.Checkpoints, w.journals.base(ctx, v.point)
	return base >= 0 && all[base].Head != all[v.point].Head
}

// committed reports whether HEAD went on to a commit that may have line i of a version: then the commit brought
// it, and not the checkpoint.
func (w *walk) committed(ctx context.Context, v *version, i int) bool {
	head := w.journals.x.Checkpoints[v.point].Head
	if head == "" || !w.headMoved(ctx, v) {
		return false
	}
	c := w.journals.commits.read(ctx, head)
	if c == nil {
		return true
	}
	e := w.files.entryAt(ctx, c.Tree, v.path)
	return isFile(e) && w.files.matched(ctx, e, v.now)[i] != alone
}

// mostVersions is how many versions of a file are compared with one another.
const mostVersions = 400

// compared returns how many versions of this file are.
func (w *walk) compared() int { return min(len(w.versions), mostVersions) }

// follow returns where line i of a file is in each of its versions, from the newest to the one that added
// it. It returns nil if that cannot be told.
func (w *walk) follow(ctx context.Context, e git.Entry, i int) []int {
	const mostDiffs = 20_000 // bounds the work of one command. Beyond it, lines that occur several times are unknown
	return w.followed.get(lineOf{e.OID, i}, func() (at []int) {
		for n := range w.compared() {
			if w.files.diffs > mostDiffs || ctx.Err() != nil {
				return nil
			}
			v := w.version(ctx, n)
			if v.now.OID != e.OID { // a commit changed it in between
				if !isFile(v.now) {
					return nil
				}
				if i = w.files.partner(ctx, v.now, e, i); i < 0 {
					return nil
				}
			}
			at = append(at, i)
			if w.headMoved(ctx, v) {
				i = w.files.partner(ctx, v.was, v.now, i)
			} else {
				i = w.files.matched(ctx, v.was, v.now)[i]
			}
			switch {
			case i == alone:
				if w.committed(ctx, v, at[n]) {
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
	})
}

// lacked reports whether a file is one of the steps to the start in which a line of it was not there yet. Where
// the line is there several times, these tell more than a comparison.
func (w *walk) lacked(ctx context.Context, was git.Entry, line int) bool {
	found := false
	has := len(w.follow(ctx, w.start, line)) // so many versions have the line
	for n := range w.compared() {
		v := w.version(ctx, n)
		switch {
		case has == 0 || n < has && v.now.OID == was.OID:
			return false
		case n >= has-1 && v.was.OID == was.OID:
			found = true
		}
	}
	return found
}
