package why

import (
	"context"
	"slices"

	"git-checkpoint/internal/format/name"
	"git-checkpoint/internal/format/record"
	"git-checkpoint/internal/git"
	"git-checkpoint/internal/sys/gather"
)

// additions tells where lines like those of a file were added, as the index knows it.
type additions struct {
	x        *index
	files    *files
	commits  *commits
	journals *journals

	found memo[entry, []entry]
	other memo[int32, name.OID] // see brought
}

// brought reports whether git brought a line while a checkpoint was made: the commit that it merged or picked then has it,
// or, of a revert, the one before that.
func (d *additions) brought(ctx context.Context, by saved, line string) bool {
	tree := d.other.of(by.point, func() name.OID {
		_, e := d.journals.entry(ctx, by.point)
		if e == nil {
			return ""
		}
		rec := d.journals.record(ctx, e)
		if rec == nil {
			return ""
		}
		head, _ := record.OperationHead.Of(rec.Git.Extra)
		c := d.commits.read(ctx, head)
		if c != nil && rec.Git.Operation == "revert" && len(c.Parents) > 0 {
			c = d.commits.read(ctx, c.Parents[0])
		}
		if c == nil {
			return ""
		}
		return c.Tree
	})
	return tree != "" && slices.Contains(d.files.read(ctx, d.files.at(ctx, tree, by.path)).text, line)
}

// adds reports whether it was not git that brought the line of an entry.
func (d *additions) adds(ctx context.Context, e entry, line string) bool {
	return !d.brought(ctx, saved{d.x.pointOf(e), d.x.pathOf(d.x.Changes[e.change].Path)}, line)
}

// of returns the entries of the index that have line i of a text. For a very common line it returns only those
// with the same lines around it.
func (d *additions) of(ctx context.Context, t text, i int) []entry {
	const many = 2000
	want := t.entryOf(i)
	return d.found.of(want, func() (out []entry) {
		from, to := d.x.with(want.key)
		for at := from; at < to; at++ {
			e := d.x.at(at)
			if (d.files.loose || e.exact == want.exact) && (to-from <= many || e.context == want.context) && d.adds(ctx, e, t[i]) {
				out = append(out, e)
			}
		}
		return out
	})
}

// sessions returns the numbers of the sessions that have added line i of a text, anywhere.
func (d *additions) sessions(ctx context.Context, t text, i int) map[int]bool {
	return gather.Set(d.of(ctx, t, i), func(e entry) int { return d.x.sessionAt(d.x.pointOf(e)) })
}

// distinct reports whether a file has line i only once, and no session added more than one such line, at one
// place. A line that is there once may still be another one than the one that was there once before.
func (d *additions) distinct(ctx context.Context, e git.Entry, i int) bool {
	if !d.files.once(ctx, e, i) {
		return false
	}
	t := d.files.read(ctx, e).text
	from, to := d.x.with(t.entryOf(i).key)
	if to-from > len(d.x.Sessions) {
		return false
	}
	met, around := map[int]bool{}, -1
	for at := from; at < to; at++ {
		other := d.x.at(at)
		if d.adds(ctx, other, t[i]) {
			of := d.x.sessionAt(d.x.pointOf(other))
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
func (d *additions) partner(ctx context.Context, from, to git.Entry, i int) int {
	at := d.files.matched(ctx, from, to)[i]
	if at < 0 {
		return at
	}
	s, t := d.files.read(ctx, from).numbers, d.files.read(ctx, to).numbers
	for j, k := i, at; j >= 0 && k >= 0; j, k = j-1, k-1 {
		if s[k] != t[j] {
			return doubtful
		}
		if d.distinct(ctx, to, j) && d.files.once(ctx, from, k) {
			return at
		}
	}
	if i == at {
		return at // all before it is the same
	}
	return doubtful
}
