package why

import (
	"context"
	"slices"
	"strings"
	"unicode"

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

	rank     int    // more than 0: the commit was made from this session, or names the checkpoint
	worktree string // where the checkpoint was made
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
	return dropWeaker(all)
}

// confirmed reports whether a claim to line i of the file as it is now holds from there, too. git blame may
// have taken one of several equal lines for another one, and then its commit tells of the wrong one. paths
// are the names that the file has or had.
func (a *asker) confirmed(ctx context.Context, paths []string, e git.Entry, i int, claim Claim) bool {
	t := a.content(ctx, e)
	if i >= len(t) {
		return false
	}
	if a.once(ctx, e, i) {
		return true
	}
	st := a.state(ctx, claim.Session)
	of := a.sessionNamed(claim.Session)
	if st == nil || of == nil {
		return false
	}
	all := a.momentsOf(ctx, of)
	if len(all) == 0 || all[len(all)-1].point < 0 {
		return false
	}
	tip := all[len(all)-1].point
	for _, path := range paths {
		if was := a.file(ctx, a.x.Checkpoints[tip].Tree, path); isFile(was) {
			at := a.matched(ctx, was, e)[i]
			if at < 0 {
				return false
			}
			o := a.origin(ctx, tip, path, at)
			return o.point >= 0 && a.x.Checkpoints[o.point].ID == claim.Checkpoint
		}
	}
	return false
}

// dropWeaker drops the claims that a better one stands against.
func dropWeaker(all []Claim) []Claim {
	known := slices.DeleteFunc(all, func(c Claim) bool { return c.By == author.Unknown })
	if slices.ContainsFunc(known, func(c Claim) bool { return c.rank > 0 }) {
		known = slices.DeleteFunc(known, func(c Claim) bool { return c.rank == 0 })
	}
	// Two sessions of one worktree have seen the same change, and one of them knows whose it is.
	agents := map[string]bool{}
	for _, c := range known {
		agents[c.worktree] = agents[c.worktree] || c.By != author.Outside
	}
	known = slices.DeleteFunc(known, func(c Claim) bool { return c.By == author.Outside && agents[c.worktree] })
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
	if a.delivered(ctx, parted, c, file, path, p.Tree, line) {
		return Claim{}, false
	}
	o := a.origin(ctx, from.point, file, line)
	if o.point < 0 || !c.here && !c.people[a.x.Checkpoints[o.point].Mail] {
		return Claim{}, false
	}
	made := a.authorOf(ctx, o)
	made.worktree = a.x.Checkpoints[o.point].Worktree
	if from.landed {
		made.rank = 1
	}
	return made, true
}

// findLine finds line i of a file of a commit in a checkpoint: in the file of that name, or in another one
// from which the commit took it away.
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

// weight counts letters and digits in the block of lines around i that have partners in a row. git blame
// -C asks for 40 of them, too.
func weight(t text, to []int, i int) (n int) {
	from, end := i, i+1
	for from > 0 && to[from-1] >= 0 && to[from-1] == to[from]-1 {
		from--
	}
	for end < len(t) && to[end] >= 0 && to[end] == to[end-1]+1 {
		end++
	}
	for _, line := range t[from:end] {
		for _, r := range line {
			if unicode.IsLetter(r) || unicode.IsDigit(r) {
				n++
			}
		}
	}
	return n
}

// delivered reports whether a line of a checkpoint's file had come to the commit's history before the
// commit, and was removed again: then the commit's line is another one.
func (a *asker) delivered(ctx context.Context, parted parting, c *aim, file, path string, tree name.OID, line int) bool {
	mine := a.file(ctx, tree, file)
	for _, oid := range slices.Concat(parted.at, parted.since) {
		if oid == c.parent() || oid == "" {
			continue
		}
		x := a.commit(ctx, oid)
		if x == nil {
			return true
		}
		for _, at := range slices.Compact([]string{file, path}) {
			if was := a.file(ctx, x.Tree, at); isFile(was) && a.matched(ctx, was, mine)[line] != alone {
				return true
			}
		}
	}
	return false
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
