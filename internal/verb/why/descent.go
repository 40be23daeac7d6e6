package why

import (
	"context"
	"slices"
	"sort"

	"git-checkpoint/internal/format/journal"
	"git-checkpoint/internal/format/name"
	"git-checkpoint/internal/git"
)

// mostBetween is how many commits may lie between a checkpoint and a commit. If there are more, no
// claim is made.
const mostBetween = 5000

// commit reads a commit once. The result is nil if it cannot be read.
func (a *asker) commit(ctx context.Context, oid name.OID) *git.Commit {
	if c, known := a.commits[oid]; known {
		return c
	}
	var c *git.Commit
	if got, err := a.s.Repo.Commits.Read(ctx, string(oid)); err == nil {
		c = &got
	}
	a.commits[oid] = c
	return c
}

// moment is when a checkpoint became the current one of its session.
type moment struct {
	at    int64 // seconds since 1970
	point int32 // -1: none was
	event *journal.Event
	least int64 // of the times from here on: clocks go back
}

// momentsOf returns what was current in a session, in the order of its journal.
func (a *asker) momentsOf(ctx context.Context, of *session) []moment {
	if known, is := a.moments[of.Name]; is {
		return known
	}
	var out []moment
	if st := a.state(ctx, of.Name); st != nil {
		number := map[name.ID]int32{}
		for i := of.From; i < of.To; i++ {
			number[a.x.Checkpoints[i].ID] = i
		}
		for _, e := range st.Events() {
			id := e.To
			switch e.Kind {
			case journal.KindCreate, journal.KindAdopt, journal.KindRebuild:
				if id = e.Checkpoint; e.Trigger == journal.TriggerSafety {
					continue
				}
			case journal.KindRollback, journal.KindUndo:
				if e.Files != "" {
					id = e.Files
				}
			default:
				continue
			}
			m := moment{at: e.Time.Unix(), point: -1, event: e}
			if at, known := number[id]; known {
				m.point = at
			} else if id != "" {
				continue // it was pruned: what was before it is still the best that is known
			}
			out = append(out, m)
		}
	}
	heads := map[name.OID]int{}
	for i, m := range slices.Backward(out) {
		out[i].least = m.at
		if i+1 < len(out) {
			out[i].least = min(m.at, out[i+1].least)
		}
		if m.point >= 0 {
			heads[a.x.Checkpoints[m.point].Head] = i
		}
	}
	a.moments[of.Name], a.heads[of.Name] = out, heads
	return out
}

// state returns the fold of a session's journal, or nil.
func (a *asker) state(ctx context.Context, of name.Session) *journal.State {
	st, known := a.states[of]
	if !known {
		st, _ = a.s.State(ctx, of) //nolint:errcheck // then nothing is claimed by it
		a.states[of] = st
	}
	return st
}

// standing is the state of a session that a commit may have been made from.
type standing struct {
	point  int32
	landed bool // the session went on from this commit, or the commit names the checkpoint
}

// standings returns the checkpoints of a session that c may have been made from: the one that was current
// just before HEAD became c, or else those that were current when c was written and committed.
func (a *asker) standings(ctx context.Context, of *session, c *aim) []standing {
	out, known := c.from[of.Name]
	if !known {
		out = a.findStandings(ctx, of, c)
		c.from[of.Name] = out
	}
	return out
}

func (a *asker) findStandings(ctx context.Context, of *session, c *aim) (out []standing) {
	all := a.momentsOf(ctx, of)
	add := func(i int, landed bool) {
		if i >= 0 && all[i].point >= 0 {
			out = append(out, standing{all[i].point, landed})
		}
	}
	if c.here { // the worktree as it is now
		add(len(all)-1, false)
		return out
	}
	if i, is := a.heads[of.Name][c.oid]; is {
		if i > 0 && (all[i-1].at <= c.Committer.When.Unix() || a.names(of, c)) {
			add(i-1, true)
		}
		return out
	}
	named := -1 // the newest one that the commit names
	for i, m := range all {
		if m.point >= 0 && m.at <= c.Committer.When.Unix() && c.named[string(a.x.Checkpoints[m.point].ID)] {
			named = i
		}
	}
	add(named, true)
	for _, at := range []int64{c.Author.When.Unix(), c.Committer.When.Unix()} {
		after := sort.Search(len(all), func(i int) bool { return all[i].least > at })
		add(after-1, false)
	}
	for i := range out {
		out[i].landed = c.named[string(a.x.Checkpoints[out[i].point].ID)]
	}
	return slices.Compact(out)
}

// names reports whether a commit names a checkpoint of a session, as land does.
func (a *asker) names(of *session, c *aim) bool {
	for i := of.From; len(c.named) > 0 && i < of.To; i++ {
		if c.named[string(a.x.Checkpoints[i].ID)] {
			return true
		}
	}
	return false
}

// ancestors returns the commits that lead to one, without those from long before the first checkpoint.
func (a *asker) ancestors(ctx context.Context, of name.OID) map[name.OID]bool {
	if known := a.leading[of]; known != nil {
		return known
	}
	if len(a.leading) > 8 {
		clear(a.leading)
	}
	met := map[name.OID]bool{of: true}
	for queue := []name.OID{of}; len(queue) > 0 && len(met) < 1<<20; queue = queue[1:] {
		c := a.commit(ctx, queue[0])
		if c == nil || c.Committer.When.Unix() < a.oldest {
			continue
		}
		for _, p := range c.Parents {
			if !met[p] {
				met[p] = true
				queue = append(queue, p)
			}
		}
	}
	a.leading[of] = met
	return met
}

// parting is where the histories of a checkpoint and of a commit parted.
type parting struct {
	at      []name.OID // common commits
	since   []name.OID // commits of the commit's side
	descent bool       // the checkpoint's HEAD is one of at
}

// part compares the HEAD of a checkpoint with the first parent of a commit.
func (a *asker) part(ctx context.Context, head name.OID, c *aim) parting {
	p, known := c.parted[head]
	if !known {
		p = a.findPart(ctx, head, c.parent())
		c.parted[head] = p
	}
	return p
}

func (a *asker) findPart(ctx context.Context, head, parent name.OID) (p parting) {
	if head == parent {
		return parting{at: []name.OID{head}, descent: true}
	}
	if head == "" || parent == "" {
		return p
	}
	leading := a.ancestors(ctx, head)
	met := map[name.OID]bool{parent: true}
	for queue := []name.OID{parent}; len(queue) > 0; queue = queue[1:] {
		oid := queue[0]
		if leading[oid] {
			p.at = append(p.at, oid)
			p.descent = p.descent || oid == head
			continue
		}
		c := a.commit(ctx, oid)
		if c == nil || len(p.since) == mostBetween {
			return parting{}
		}
		p.since = append(p.since, oid)
		if c.Committer.When.Unix() < a.oldest {
			continue
		}
		for _, next := range c.Parents {
			if !met[next] {
				met[next] = true
				queue = append(queue, next)
			}
		}
	}
	return p
}

// sharesBranch reports whether the branch that a checkpoint was made on has the commit.
func (a *asker) sharesBranch(ctx context.Context, point int32, c *aim) bool {
	st := a.state(ctx, a.sessionOf(point).Name)
	if st == nil {
		return false
	}
	e := st.Entry(a.x.Checkpoints[point].ID)
	if e == nil {
		return false
	}
	rec := a.record(ctx, e)
	if rec == nil || rec.Git.Branch == "" {
		return false
	}
	tip, known := a.tips[string(rec.Git.Branch)]
	if !known {
		tip, _ = a.s.Repo.Refs.Resolve(ctx, name.Ref(rec.Git.Branch)) //nolint:errcheck // the branch is gone
		a.tips[string(rec.Git.Branch)] = tip
	}
	if tip == "" {
		return false
	}
	return tip == c.oid || a.ancestors(ctx, tip)[c.oid]
}

// half reports whether at least half of the lines that a commit adds are lines that a session added: it
// is a squash, made elsewhere.
func (a *asker) half(ctx context.Context, of *session, c *aim) bool {
	key := [2]string{string(of.Name), string(c.oid)}
	if known, is := a.halves[key]; is {
		return known
	}
	if c.parent() != "" && a.commit(ctx, c.parent()) == nil {
		return false // what it adds is not known
	}
	total, own := 0, 0
	for _, change := range a.changesOf(ctx, c) {
		after := a.content(ctx, change.New)
		before := a.matched(ctx, change.Old, change.New)
		for i := range after {
			if before[i] >= 0 || bare(after[i]) == "" {
				continue
			}
			if total++; a.hasIn(of, after, i) {
				own++
			}
		}
	}
	a.halves[key] = total > 0 && 2*own >= total
	return a.halves[key]
}

// changesOf returns what a commit changed since its first parent; nil for the worktree.
func (a *asker) changesOf(ctx context.Context, c *aim) []git.Change {
	if c.here {
		return nil
	}
	if !c.compared {
		c.compared = true
		var before name.OID
		if parent := a.commit(ctx, c.parent()); parent != nil { // in a shallow clone it may not be here
			before = parent.Tree
		}
		c.changes, _ = a.s.Repo.Trees.Diff(ctx, before, c.Tree) //nolint:errcheck // then nothing is known of it
		complete(ctx, a.s, filesOf(c.changes))
	}
	return c.changes
}

// hasIn reports whether a session has added line i of a text, anywhere.
func (a *asker) hasIn(of *session, t text, i int) bool {
	for _, e := range a.entriesOf(t, i) {
		if p := a.x.change(e.change).point; p >= of.From && p < of.To {
			return true
		}
	}
	return false
}
