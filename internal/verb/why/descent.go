package why

import (
	"context"
	"slices"
	"sort"

	"git-checkpoint/internal/format/name"
)

// descent tells which checkpoints of a session a commit may have been made from.
type descent struct {
	x        *index
	files    *files
	added    *additions
	commits  *commits
	arrivals *arrivals
	journals *journals

	tips memo[name.Ref, name.OID] // of branches
}

// standing is the state of a session that a commit may have been made from.
type standing struct {
	point   int32
	certain bool // the session went on from this commit, or the commit names the checkpoint
}

// standings returns the checkpoints of a session that c may have been made from: the one that was current
// just before HEAD became c, or else those that were current when c was written and committed.
func (d *descent) standings(ctx context.Context, of *session, c *arrival) []standing {
	return c.standings.of(of.Name, func() (out []standing) {
		course := d.journals.course(ctx, of)
		all := course.moments
		add := func(i int, certain bool) {
			if i >= 0 && all[i].point >= 0 {
				out = append(out, standing{all[i].point, certain})
			}
		}
		if c.here() { // the worktree as it is now
			add(len(all)-1, false)
			return out
		}
		if i, is := course.heads[c.OID]; is {
			if i > 0 && (all[i-1].at <= c.Committer.When.Unix() || c.names(d.x.pointsOf(of))) {
				add(i-1, true)
			}
			return out
		}
		named := -1 // the newest one that the commit names
		for i, m := range all {
			if m.point >= 0 && m.at <= c.Committer.When.Unix() && c.named[d.x.Checkpoints[m.point].ID] {
				named = i
			}
		}
		add(named, true)
		for _, at := range []int64{c.Author.When.Unix(), c.Committer.When.Unix()} {
			add(sort.Search(len(all), func(i int) bool { return all[i].least > at })-1, false)
		}
		for i := range out {
			out[i].certain = c.named[d.x.Checkpoints[out[i].point].ID]
		}
		return slices.Compact(out)
	})
}

// rank returns the rank of a claim from a standing.
func (d *descent) rank(of *session, from standing, c *arrival) int {
	switch {
	case !from.certain:
		return 0
	case c.names(d.x.pointsOf(of)):
		return 2
	}
	return 1
}

// possible reports whether a commit can come from a standing of a session. parted is where their histories parted.
func (d *descent) possible(ctx context.Context, of *session, from standing, c *arrival, parted parting) bool {
	return from.certain || parted.descent || len(parted.at) > 0 && d.sharesBranch(ctx, from.point, c) || d.half(ctx, of, c)
}

// sharesBranch reports whether the branch that a checkpoint was made on has the commit.
func (d *descent) sharesBranch(ctx context.Context, point int32, c *arrival) bool {
	_, e := d.journals.entry(ctx, point)
	if e == nil {
		return false
	}
	rec := d.journals.record(ctx, e)
	if rec == nil || rec.Git.Branch == "" {
		return false
	}
	branch := name.Ref(rec.Git.Branch)
	tip := d.tips.of(branch, func() name.OID {
		tip, _ := d.arrivals.s.Repo.Refs.Resolve(ctx, branch) //nolint:errcheck // the branch is gone
		return tip
	})
	return tip != "" && (tip == c.OID || d.commits.ancestors(ctx, tip)[c.OID])
}

// half reports whether at least half of the lines that a commit adds are lines that a session added: it
// is a squash, made elsewhere.
func (d *descent) half(ctx context.Context, of *session, c *arrival) bool {
	return c.halves.of(of.Name, func() bool {
		if c.parent() != "" && d.commits.read(ctx, c.parent()) == nil {
			return false // what it adds is not known
		}
		total, own := 0, 0
		for _, change := range d.arrivals.changes(ctx, c) {
			after, lines := d.files.read(ctx, change.New).text, d.files.newLines(ctx, change)
			total += len(lines)
			for _, i := range lines {
				if d.added.by(of, after, i) {
					own++
				}
			}
		}
		return total > 0 && 2*own >= total
	})
}
