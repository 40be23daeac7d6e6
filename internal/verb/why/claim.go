package why

import (
	"context"
	"slices"
	"strings"

	"git-checkpoint/internal/core/author"
	"git-checkpoint/internal/core/checkpoint"
	"git-checkpoint/internal/format/journal"
	"git-checkpoint/internal/format/name"
	"git-checkpoint/internal/format/record"
	"git-checkpoint/internal/git"
)

// Claim says that a checkpoint added a line.
type Claim struct {
	By         author.By    `json:"by"`
	Session    name.Session `json:"session"`
	Step       int          `json:"step"` // 0: it belongs to no step yet
	Checkpoint name.ID      `json:"checkpoint"`
	Agent      string       `json:"agent"`
	Model      string       `json:"model"`
	Prompt     string       `json:"prompt"`
	// Since is when the checkpoint was made.
	Since checkpoint.Time `json:"since"`
	// Message is that of the step: of a turn the words of its prompt.
	Message string `json:"-"`
	// Of is the step's own checkpoint, and Ref what people type for it.
	Of  name.ID `json:"-"`
	Ref string  `json:"-"`
	// Label is that of Checkpoint.
	Label string `json:"-"`
	// Files is how many files the step changed.
	Files int `json:"-"`

	rank     int    // 1: the session went on from the commit; 2: the commit names a checkpoint of it
	worktree string // where the checkpoint was made
	after    bool   // it was compared with what was there before, of any session
}

// authoring is a checkpoint and a path of its own difference.
type authoring struct {
	point int32
	path  string
}

// claims returns who may have made line i of a file that came with c: nobody, one, or several that cannot
// be told apart. path is the file's name in c.
func (a *asker) claims(ctx context.Context, c *aim, path string, e git.Entry, i int) []Claim {
	var all []Claim
	if !c.here && c.Committer.When.Unix() < a.oldest {
		return nil
	}
	t := a.content(ctx, e)
	if i >= len(t) || len(a.entriesOf(t, i)) == 0 {
		return nil
	}
	for n, can := range a.adding(t, i) {
		if !can {
			continue
		}
		of := &a.x.Sessions[n]
		for _, from := range a.standings(ctx, of, c) {
			if claim, is := a.claim(ctx, of, from, c, path, e, i); is {
				all = append(all, claim)
				break
			}
		}
	}
	known := slices.DeleteFunc(slices.Clone(all), func(claim Claim) bool {
		return claim.By == author.Outside && !claim.after && a.seenBefore(t, i, claim, all)
	})
	return dropWeaker(known)
}

// seenBefore reports whether another session of the same worktree had added such a line before a claim, and
// cannot tell any more whose this one is. Then it need not come from outside.
func (a *asker) seenBefore(t text, i int, claim Claim, all []Claim) bool {
	return slices.ContainsFunc(a.entriesOf(t, i), func(e entry) bool {
		point := a.x.change(e.change).point
		p, of := &a.x.Checkpoints[point], a.sessionOf(point).Name
		return p.Worktree == claim.worktree && p.At <= claim.Since.Unix() && of != claim.Session &&
			!slices.ContainsFunc(all, func(o Claim) bool { return o.Session == of })
	})
}

// confirmed reports whether a claim to line i of the file as it is now holds from there, too. git
// blame may have taken one of several equal lines for another one, and then its commit is that of
// the wrong line. paths are the names that the file has or had.
func (a *asker) confirmed(ctx context.Context, paths []string, e git.Entry, i int, claim Claim) bool {
	t := a.content(ctx, e)
	if i >= len(t) {
		return false
	}
	if a.distinct(ctx, e, i) {
		return true
	}
	of := a.sessionNamed(claim.Session)
	if of == nil {
		return false
	}
	point, name := a.holding(ctx, of, paths, e)
	if tip := a.tip(ctx, of); point < 0 && tip >= 0 {
		at := slices.IndexFunc(paths, func(path string) bool { return isFile(a.file(ctx, a.x.Checkpoints[tip].Tree, path)) })
		if at < 0 {
			return false
		}
		if i = a.same(ctx, a.file(ctx, a.x.Checkpoints[tip].Tree, paths[at]), e, i); i < 0 {
			return false
		}
		point, name = tip, paths[at]
	}
	if point < 0 {
		return false
	}
	o := a.origin(ctx, point, name, i)
	return o.point >= 0 && a.x.Checkpoints[o.point].ID == claim.Checkpoint
}

// dropWeaker drops the claims for which there is a better one.
func dropWeaker(all []Claim) []Claim {
	known := slices.DeleteFunc(all, func(c Claim) bool { return c.By == author.Unknown })
	// Sessions of one worktree have seen the same change. One of them may know whose it is, or else the first one
	// tells. That counts for more than from which of them it was committed.
	seen := slices.Clone(known)
	known = slices.DeleteFunc(known, func(c Claim) bool {
		return c.By == author.Outside && slices.ContainsFunc(seen, func(o Claim) bool {
			return o.worktree == c.worktree && (o.By != author.Outside || o.Since.Before(c.Since.Time))
		})
	})
	// In another worktree a session may go on from a commit that was made elsewhere.
	best, highest := map[string]int{}, 0
	for _, c := range known {
		best[c.worktree], highest = max(best[c.worktree], c.rank), max(highest, c.rank)
	}
	known = slices.DeleteFunc(known, func(c Claim) bool { return c.rank < best[c.worktree] || highest == 2 && c.rank < 2 })
	var out []Claim
	for _, c := range known {
		if !slices.ContainsFunc(out, func(o Claim) bool { return o.Session == c.Session && o.Checkpoint == c.Checkpoint }) {
			out = append(out, c)
		}
	}
	return out
}

// claim returns the claim of one session from one of its standings.
func (a *asker) claim(ctx context.Context, of *session, from standing, c *aim, path string, e git.Entry, i int) (Claim, bool) {
	p := a.x.Checkpoints[from.point]
	if p.Tree == "" || !c.here && !c.people[p.Mail] || c.here && p.Worktree != a.worktree || a.landed(ctx, &p, c) {
		return Claim{}, false
	}
	file, line := a.findLine(ctx, from.point, c, path, e, i)
	if line < 0 {
		return Claim{}, false
	}
	parted := a.part(ctx, p.Head, c)
	if !from.landed && !parted.descent && !(len(parted.at) > 0 && a.sharesBranch(ctx, from.point, c)) && !a.half(ctx, of, c) {
		return Claim{}, false
	}
	if a.delivered(ctx, parted, c, origin{from.point, file}, path, line) {
		return Claim{}, false
	}
	o := a.origin(ctx, from.point, file, line)
	if o.point < 0 || !c.here && !c.people[a.x.Checkpoints[o.point].Mail] {
		return Claim{}, false
	}
	made := a.authorOf(ctx, o)
	made.worktree = a.x.Checkpoints[o.point].Worktree
	made.rank = a.rankOf(of, from, c)
	if a.wide {
		_, made.after = a.theTurns(ctx).before[o.point]
	}
	return made, true
}

// rankOf returns the rank of a claim from a standing.
func (a *asker) rankOf(of *session, from standing, c *aim) int {
	switch {
	case !from.landed:
		return 0
	case a.names(of, c):
		return 2
	}
	return 1
}

// findLine finds line i of a file of a commit in a checkpoint: in the file of that name, or in
// another file from which the commit removed the line.
func (a *asker) findLine(ctx context.Context, point int32, c *aim, path string, e git.Entry, i int) (string, int) {
	tree := a.x.Checkpoints[point].Tree
	if here := a.file(ctx, tree, path); isFile(here) {
		if at := a.matched(ctx, here, e)[i]; at >= 0 {
			return path, at
		}
	}
	t := a.content(ctx, e)
	tried := map[int32]bool{}
	for _, entry := range a.entriesOf(t, i) {
		change := a.x.change(entry.change)
		other := string(a.x.Paths[change.path])
		if tried[change.path] || other == path {
			continue
		}
		if tried[change.path] = true; len(tried) > 20 {
			break
		}
		from := a.file(ctx, tree, other)
		if !isFile(from) || a.keeps(ctx, c, other, t[i]) {
			continue
		}
		to := a.matched(ctx, from, e)
		if to[i] >= 0 && weight(t, to, i) >= 40 {
			return other, to[i]
		}
	}
	return "", -1
}

// keeps reports whether the file at a path still has a line after the commit: then it was not moved from
// there.
func (a *asker) keeps(ctx context.Context, c *aim, path, line string) bool {
	e := a.hereAt(path)
	if !c.here {
		e = a.file(ctx, c.Tree, path)
	}
	return slices.Contains(a.content(ctx, e), line)
}

// weight counts letters and digits in the block of lines around i that have partners in a row.
func weight(t text, to []int, i int) int {
	from, end := i, i+1
	for from > 0 && to[from-1] >= 0 && to[from-1] == to[from]-1 {
		from--
	}
	for end < len(t) && to[end] >= 0 && to[end] == to[end-1]+1 {
		end++
	}
	return letters(t[from:end])
}

// delivered reports whether a line of a checkpoint's file had come to the commit's history before the
// commit, and was removed again: then the commit's line is another one.
func (a *asker) delivered(ctx context.Context, parted parting, c *aim, of origin, path string, line int) bool {
	mine := a.file(ctx, a.x.Checkpoints[of.point].Tree, of.path)
	for _, oid := range slices.Concat(parted.at, parted.since) {
		if oid == c.parent() || oid == "" {
			continue
		}
		x := a.commit(ctx, oid)
		if x == nil {
			return true
		}
		for _, at := range slices.Compact([]string{of.path, path}) {
			if was := a.file(ctx, x.Tree, at); isFile(was) && a.matched(ctx, was, mine)[line] != alone && !a.before(ctx, was, of, line) {
				return true
			}
		}
	}
	return false
}

// before reports whether a file is one of the steps to a checkpoint's file in which a line was not there yet.
// Where the line is there several times, these tell more than a comparison.
func (a *asker) before(ctx context.Context, was git.Entry, of origin, line int) bool {
	mine := a.file(ctx, a.x.Checkpoints[of.point].Tree, of.path)
	if a.once(ctx, mine, line) {
		return false
	}
	w, found := a.walkOf(ctx, of.point, of.path), false
	has := len(a.follow(ctx, w, mine, line)) // so many versions have the line
	for n := range min(len(w.versions), mostVersions) {
		v := a.fill(ctx, w, n)
		switch {
		case has == 0 || n < has && v.now.OID == was.OID:
			return false
		case n >= has-1 && v.was.OID == was.OID:
			found = true
		}
	}
	return found
}

// authorOf reads who made a path of a checkpoint's own difference.
func (a *asker) authorOf(ctx context.Context, o origin) Claim {
	key := authoring(o)
	if known, is := a.authored[key]; is {
		return known
	}
	a.authored[key] = Claim{By: author.Unknown} // also for two sessions that name each other
	of := a.sessionOf(o.point)
	claim := Claim{By: author.Unknown}
	if st := a.state(ctx, of.Name); st != nil {
		if e := st.Entry(a.x.Checkpoints[o.point].ID); e != nil {
			claim = a.authorIn(ctx, st, e, o)
		}
	}
	a.authored[key] = claim
	return claim
}

// authorIn is authorOf for a checkpoint that was found.
func (a *asker) authorIn(ctx context.Context, st *journal.State, e *journal.Entry, o origin) Claim {
	rec := a.record(ctx, e)
	if rec == nil {
		return Claim{By: author.Unknown}
	}
	who := author.In(st, e, rec).Who(record.Path(o.path))
	claim := Claim{By: who.By, Session: st.Session, Checkpoint: e.Checkpoint, Since: checkpoint.Time{Time: rec.CreatedAt}}
	step, said := a.stepOf(ctx, st, e, rec)
	claim.Of, claim.Label = step.Checkpoint, e.Label
	claim.Message, claim.Ref, claim.Files = said.Message, string(st.Session)+":"+checkpoint.TypedName(st, step), said.Files.Counts[0]+said.Files.Counts[1]+said.Files.Counts[2]
	if step.Milestone {
		claim.Step = step.Step
	}
	if agent, has := said.Agent(); has && who.By != author.Outside {
		claim.Agent, claim.Model = agent.Name, agent.Model
		if said.HasPrompt() {
			// The first words of the agent's answer may follow.
			claim.Prompt, _, _ = strings.Cut(said.Message, "\n")
		}
	}
	return claim
}

// record reads the record of a checkpoint once. It is nil if it cannot be read.
func (a *asker) record(ctx context.Context, e *journal.Entry) *record.Record {
	commit := e.Event().Commit
	rec, known := a.records[commit]
	if !known {
		rec, _ = a.s.ReadRecord(ctx, e) //nolint:errcheck // then nothing is known of it
		a.records[commit] = rec
	}
	return rec
}

// stepOf returns the step that a checkpoint belongs to: for what a tool made, the turn that ends after
// it.
func (a *asker) stepOf(ctx context.Context, st *journal.State, e *journal.Entry, rec *record.Record) (*journal.Entry, *record.Record) {
	if e.Milestone || rec.Trigger != journal.TriggerTool {
		return e, rec
	}
	mine, _ := rec.Agent()
	for i := e.Place + 1; i < st.Len(); i++ {
		if n := st.Standing(i); n.Dead || n.Safety || !n.Milestone {
			continue
		}
		next := st.At(i)
		for before := range st.LineTo(next) {
			if before.Place < e.Place {
				break
			}
			if before.Checkpoint != e.Checkpoint {
				continue
			}
			if turn := a.record(ctx, next); turn != nil {
				if its, has := turn.Agent(); has && its.Session == mine.Session && turn.Trigger == journal.TriggerTurn {
					return next, turn
				}
			}
			return e, rec
		}
	}
	return e, rec
}
