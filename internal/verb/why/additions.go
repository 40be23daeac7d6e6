package why

import (
	"context"
	"slices"

	"git-checkpoint/internal/format/name"
	"git-checkpoint/internal/format/record"
	"git-checkpoint/internal/git"
	"git-checkpoint/internal/sys/gather"
)

// brought reports whether git brought a line while a checkpoint was made: the commit that it merged or picked then has it,
// or, of a revert, the one before that.
func (j *journals) brought(ctx context.Context, by saved, line string) bool {
	tree := j.other.get(by.point, func() (tree name.OID) {
		if _, _, rec := j.recordOf(ctx, by.point); rec != nil {
			head, _ := record.OperationHead.Of(rec.Git.Extra)
			c := j.commits.read(ctx, head)
			if c != nil && rec.Git.Operation == "revert" && len(c.Parents) > 0 {
				c = j.commits.read(ctx, c.Parents[0])
			}
			if c != nil {
				tree = c.Tree
			}
		}
		return tree
	})
	return tree != "" && slices.Contains(j.files.read(ctx, j.files.entryAt(ctx, tree, by.path)).text, line)
}

// like returns the entries of the index that have line i of a text. For a very common line it returns only those
// with the same lines around it.
func (f *files) like(t text, i int) []entry {
	const many = 2000
	want := t.entryOf(i)
	return f.found.get(want, func() (out []entry) {
		from, to := f.x.rangeOf(want.key)
		for at := from; at < to; at++ {
			e := f.x.at(at)
			if (f.loose || e.exact == want.exact) && (to-from <= many || e.context == want.context) {
				out = append(out, e)
			}
		}
		return out
	})
}

// adds reports whether it was not git that brought the line of an entry.
func (f *files) adds(ctx context.Context, e entry, line string) bool {
	return !f.journals.brought(ctx, saved{point: f.x.pointOf(e), path: f.x.pathOf(f.x.Changes[e.change].Path)}, line)
}

// sessions returns the numbers of the sessions that have added line i of a text, anywhere.
func (f *files) sessions(t text, i int) map[int]bool {
	return gather.Set(f.like(t, i), func(e entry) int { return f.x.sessionAt(f.x.pointOf(e)) })
}

// distinct reports whether a file has line i only once, and no session added more than one such line, at one
// place. A line that is there once may still be another one than the one that was there once before.
func (f *files) distinct(ctx context.Context, e git.Entry, i int) bool {
	if !f.hasOnce(ctx, e, i) {
		return false
	}
	t := f.read(ctx, e).text
	from, to := f.x.rangeOf(t.entryOf(i).key)
	if to-from > len(f.x.Sessions) {
		return false
	}
	met, around := map[int]bool{}, -1
	for at := from; at < to; at++ {
		other := f.x.at(at)
		if f.adds(ctx, other, t[i]) {
			of := f.x.sessionAt(f.x.pointOf(other))
			if met[of] || around >= 0 && around != int(other.context) {
				return false
			}
			met[of], around = true, int(other.context)
		}
	}
	return true
}

// partner returns the partner of line i of a file in an older version, as matched does; doubtful where too much
// changed to tell. Between versions that lie far apart a function may have gone and a like one come: its lines
// must then follow one that was added only once, without a change between them.
func (f *files) partner(ctx context.Context, from, to git.Entry, i int) int {
	at := f.matched(ctx, from, to)[i]
	if at < 0 {
		return at
	}
	s, t := f.read(ctx, from).numbers, f.read(ctx, to).numbers
	for j, k := i, at; j >= 0 && k >= 0; j, k = j-1, k-1 {
		if s[k] != t[j] {
			return doubtful
		}
		if f.distinct(ctx, to, j) && f.hasOnce(ctx, from, k) {
			return at
		}
	}
	if i == at {
		return at // all before it is the same
	}
	return doubtful
}
