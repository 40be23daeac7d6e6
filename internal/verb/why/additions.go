package why

import (
	"context"

	"git-checkpoint/internal/git"
	"git-checkpoint/internal/sys/gather"
)

// additions tells where lines like those of a file were added, as the index knows it.
type additions struct {
	x     *index
	files *files

	found memo[entry, []entry]
}

// of returns the entries of the index that have line i of a text. For a very common line it returns only those
// with the same lines around it.
func (d *additions) of(t text, i int) []entry {
	const many = 2000
	want := t.entryOf(i)
	return d.found.of(want, func() (out []entry) {
		from, to := d.x.with(want.key)
		for at := from; at < to; at++ {
			e := d.x.at(at)
			if (d.files.loose || e.exact == want.exact) && (to-from <= many || e.context == want.context) {
				out = append(out, e)
			}
		}
		return out
	})
}

// sessions returns the numbers of the sessions that have added line i of a text, anywhere.
func (d *additions) sessions(t text, i int) map[int]bool {
	return gather.Set(d.of(t, i), func(e entry) int { return d.x.sessionAt(d.x.pointOf(e)) })
}

// distinct reports whether a file has line i only once, and no session added more than one such line, at one
// place. A line that is there once may still be another one than the one that was there once before.
func (d *additions) distinct(ctx context.Context, e git.Entry, i int) bool {
	if !d.files.once(ctx, e, i) {
		return false
	}
	from, to := d.x.with(d.files.read(ctx, e).text.entryOf(i).key)
	if to-from > len(d.x.Sessions) {
		return false
	}
	met := map[int]bool{}
	for at := from; at < to; at++ {
		other := d.x.at(at)
		of := d.x.sessionAt(d.x.pointOf(other))
		if met[of] || other.context != d.x.at(from).context {
			return false
		}
		met[of] = true
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
