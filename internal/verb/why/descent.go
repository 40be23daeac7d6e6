package why

import (
	"context"
	"slices"
	"sort"

	"git-checkpoint/internal/format/journal"
	"git-checkpoint/internal/format/name"
)

// candidate is the state of a session that a commit may have been made from.
type candidate struct {
	point   int32
	certain bool            // the session went on from this commit, or the commit names the checkpoint
	own     bool            // a tool of the session's agent made the commit
	only    map[string]bool // of these paths; nil: of all
}

// late is how much younger than a commit a checkpoint may seem to be that it comes from: clocks differ. At least half of
// the commit's lines must be the session's then.
const late = 24 * 60 * 60

// candidates returns the checkpoints of a session that c may have been made from: the one that was current
// just before HEAD became c, or else those that were current when c was written and committed.
func (j judge) candidates(ctx context.Context, of *session, c *arrival) []candidate {
	return c.candidates.get(of.Name, func() (out []candidate) {
		course := j.journals.course(ctx, of)
		all := course.moments
		add := func(i int, certain, own bool) {
			if i >= 0 && all[i].point >= 0 {
				out = append(out, candidate{all[i].point, certain, own, nil})
			}
			if i >= 0 && all[i].paths != nil && all[i].paths.point >= 0 {
				out = append(out, candidate{all[i].paths.point, certain, own, all[i].paths.only})
			}
		}
		if c.isWorktree() { // the worktree as it is now, or as it was then
			add(j.momentOf(all, c), false, false)
			return out
		}
		if i, is := course.heads[c.OID]; is {
			if i > 0 && j.isBefore(ctx, of, all[i-1].at, c) {
				before := all[i-1].point
				add(i-1, true, all[i].event.Trigger == journal.TriggerTool && before >= 0 && j.x.Checkpoints[before].Head == c.parent())
			}
			return out
		}
		named := -1 // the newest one that the commit names
		for i, m := range all {
			if m.point >= 0 && m.at <= c.Committer.When.Unix() && c.named[j.x.Checkpoints[m.point].ID] {
				named = i
			}
		}
		add(named, true, false)
		for _, i := range j.currentAt(ctx, of, all, c) {
			add(i, false, false)
		}
		for i := range out {
			out[i].certain = c.named[j.x.Checkpoints[out[i].point].ID]
		}
		return slices.CompactFunc(out, func(s, t candidate) bool { return s.point == t.point })
	})
}

// momentOf returns the moment of a session at which the files were as they are for c: that of its checkpoint, or the last
// one before it.
func (j judge) momentOf(all []moment, c *arrival) int {
	if i := slices.IndexFunc(all, func(m moment) bool { return m.point >= 0 && &j.x.Checkpoints[m.point] == c.at }); i >= 0 {
		return i
	}
	return sort.Search(len(all), func(i int) bool { return c.at != nil && all[i].least > c.at.At }) - 1
}

// currentAt returns the moments of a session that were the newest when c was written and when it was committed, and,
// if half of its lines are the session's, the one that was by clocks which differ; -1 for none.
func (j judge) currentAt(ctx context.Context, of *session, all []moment, c *arrival) (at []int) {
	times := []int64{c.Author.When.Unix(), c.Committer.When.Unix()}
	if j.half(ctx, of, c) {
		times = append(times, times[1]+late)
	}
	for _, time := range times {
		i := sort.Search(len(all), func(i int) bool { return all[i].least > time }) - 1
		if i >= 0 && time > times[1] && all[i].point >= 0 && j.commits.leads(ctx, c.OID, j.x.Checkpoints[all[i].point].Head) {
			continue // the session had the commit before
		}
		at = append(at, i)
	}
	return at
}

// isBefore reports whether a time of a session is before a commit, or may be: the commit names a checkpoint of the
// session, or clocks differ and half of its lines are the session's.
func (j judge) isBefore(ctx context.Context, of *session, at int64, c *arrival) bool {
	when := c.Committer.When.Unix()
	return at <= when || c.names(j.x.pointsOf(of)) || at <= when+late && j.half(ctx, of, c)
}

// rank returns the rank of a claim from a candidate.
func (j judge) rank(of *session, from candidate, c *arrival) int {
	switch {
	case !from.certain:
		return 0
	case c.names(j.x.pointsOf(of)):
		return 2
	}
	return 1
}

// possible reports whether a commit can come from a candidate of a session. parted is where their histories parted.
func (j judge) possible(ctx context.Context, of *session, from candidate, c *arrival, parted divergence) bool {
	return from.certain || parted.descent || len(parted.at) > 0 && j.sharesBranch(ctx, from.point, c) || j.half(ctx, of, c)
}

// sharesBranch reports whether the branch that a checkpoint was made on has the commit.
func (j judge) sharesBranch(ctx context.Context, point int32, c *arrival) bool {
	_, _, rec := j.journals.recordOf(ctx, point)
	if rec == nil || rec.Git.Branch == "" {
		return false
	}
	branch := name.Ref(rec.Git.Branch)
	tip := j.journals.branches.get(branch, func() name.OID {
		tip, _ := j.commits.s.Repo.Refs.Resolve(ctx, branch) //nolint:errcheck // the branch is gone
		return tip
	})
	return tip != "" && j.commits.leads(ctx, c.OID, tip)
}

// half reports whether at least half of the lines that a commit adds are lines that sessions added, and a tenth of them
// lines that this one did: it is a squash, made elsewhere.
func (j judge) half(ctx context.Context, of *session, c *arrival) bool {
	s := j.sharesOf(ctx, c)
	return s.total > 0 && 2*s.anybodys >= s.total && 10*s.of[j.x.sessionAt(of.From)] >= s.total
}

// shares counts the lines that a commit adds, those that sessions added anywhere, and those of each session.
type shares struct {
	total, anybodys int
	of              map[int]int
}

func (j judge) sharesOf(ctx context.Context, c *arrival) *shares {
	if c.shares != nil {
		return c.shares
	}
	s := &shares{of: map[int]int{}}
	c.shares = s
	if c.parent() != "" && j.commits.read(ctx, c.parent()) == nil {
		return s // what it adds is not known
	}
	for _, change := range j.commits.changes(ctx, c) {
		after, lines := j.files.read(ctx, change.New).text, j.files.newLines(ctx, change)
		s.total += len(lines)
		for _, i := range lines {
			by := j.files.sessions(after, i)
			if len(by) > 0 {
				s.anybodys++
			}
			for session := range by {
				s.of[session]++
			}
		}
	}
	return s
}
