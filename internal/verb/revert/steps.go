package revert

import (
	"cmp"
	"context"
	"encoding/json"
	"fmt"
	"slices"
	"strings"

	"git-checkpoint/internal/core/author"
	"git-checkpoint/internal/core/checkpoint"
	"git-checkpoint/internal/core/threeway"
	"git-checkpoint/internal/core/workflow"
	"git-checkpoint/internal/format/journal"
	"git-checkpoint/internal/format/name"
	"git-checkpoint/internal/format/record"
	"git-checkpoint/internal/format/render"
	"git-checkpoint/internal/storage/snapshot"
	"git-checkpoint/internal/verb/rollback"
)

// Words for those who are not sessions, as --by takes them and answers have them.
const (
	Outside = string(author.Outside) // no known tool: a person, or a program left running
	Unknown = string(author.Unknown) // nobody can tell

	whoIsMeant = "--by takes a session, an agent, outside or unknown"
)

// difference is what a checkpoint changed, and of that what is taken back.
type difference struct {
	found   *checkpoint.Found
	label   string
	after   threeway.Side
	before  name.OID          // the tree before it
	changes []threeway.Change // from what it left to what was there before
	during  map[string]bool   // of these: a command changed them

	stateBefore, stateAfter json.RawMessage
}

// choose selects the checkpoints of the request and what each of them did itself.
func (r *reverting) choose(ctx context.Context) error {
	worker, err := r.worker(ctx)
	if err != nil {
		return err
	}
	chosen, err := r.selected(ctx, worker)
	if err != nil {
		return err
	}
	r.said.Steps, r.said.Left = []rollback.RevertedStep{}, []rollback.LeftOfStep{}
	for _, f := range chosen {
		d, err := r.difference(ctx, f)
		if err != nil {
			return err
		}
		if len(d.changes) == 0 && string(d.stateBefore) == string(d.stateAfter) {
			continue
		}
		r.diffs = append(r.diffs, d)
	}
	slices.Reverse(r.said.Steps) // as people count them
	return nil
}

// selected returns the checkpoints that the request names, the newest first: those of the worker if it
// names none.
func (r *reverting) selected(ctx context.Context, worker *checkpoint.Found) ([]*checkpoint.Found, error) {
	var chosen []*checkpoint.Found
	var what []string
	for _, ref := range r.req.Refs {
		more, said, err := r.named(ctx, ref)
		if err != nil {
			return nil, err
		}
		if !strings.Contains(ref, "..") {
			r.asked[more[0].Entry.Checkpoint] = true
		}
		chosen, what = append(chosen, more...), append(what, said)
	}
	switch {
	case r.req.Since != "":
		first, err := r.s.Sessions.ResolveOne(ctx, r.req.Session, r.req.Since)
		if err != nil {
			return nil, err
		}
		more, err := line(&checkpoint.Found{Session: first.Session, State: first.State, Entry: first.State.CurrentEntry()}, first.Entry)
		if err != nil {
			return nil, err
		}
		chosen, what = append(chosen, more...), append(what, "--since "+checkpoint.NumberTo(first.State, first.Entry))
	case len(r.req.Refs) == 0: // --by alone
		more, err := line(worker, nil)
		if err != nil {
			return nil, err
		}
		others := slices.DeleteFunc(r.meant(ctx), func(of string) bool { return of == string(worker.Session) })
		if len(others) > 0 {
			r.s.Store.Warn(fmt.Sprintf("only what %s did in %s; it also worked in %s: git checkpoint revert --by %s", r.req.By, worker.Session, render.Count(len(others), "other session", "other sessions"), others[0]))
		}
		chosen = more
	}
	if r.req.By != "" {
		what = append(what, "--by "+r.req.By)
	}
	r.what = strings.Join(what, " ")
	r.rest = r.req.By == Outside && len(r.req.Refs) == 0
	seen := map[name.ID]bool{}
	chosen = slices.DeleteFunc(chosen, func(f *checkpoint.Found) bool {
		twice := seen[f.Entry.Checkpoint]
		seen[f.Entry.Checkpoint] = true
		return twice
	})
	// Checkpoints of several sessions are in the order of time.
	slices.SortStableFunc(chosen, func(a, b *checkpoint.Found) int {
		if a.Session == b.Session {
			return b.Entry.Place - a.Entry.Place
		}
		return b.Entry.Event().Time.Compare(a.Entry.Event().Time)
	})
	return chosen, nil
}

// worker returns the session whose own checkpoints say best what --by did: the one that it names, or of those in
// which the agent worked that it names the newest. It is the one that the checkpoint goes to if that agent worked
// there, and for who is neither.
func (r *reverting) worker(ctx context.Context) (found *checkpoint.Found, err error) {
	if r.req.By == "" || r.req.By == Outside || r.req.By == Unknown || r.hasAgent(ctx, r.into) {
		return r.into, nil
	}
	states, err := checkpoint.States(ctx, r.s.Store, "")
	for _, st := range states {
		f := &checkpoint.Found{Session: st.Session, State: st, Entry: st.CurrentEntry()}
		switch {
		case string(st.Session) == r.req.By && f.Entry == nil:
			return r.into, nil
		case string(st.Session) == r.req.By:
			return f, nil
		case f.Entry != nil && (found == nil || f.Entry.Event().Time.After(found.Entry.Event().Time)) && r.hasAgent(ctx, f):
			found = f
		}
	}
	if found == nil && err == nil {
		err = checkpoint.Failure(checkpoint.KindNotFound, whoIsMeant, "nobody here is called %q", name.Clip(r.req.By, name.Said))
	}
	return found, err
}

// hasAgent reports whether the agent that --by names made one of the checkpoints that lead to one.
func (r *reverting) hasAgent(ctx context.Context, f *checkpoint.Found) bool {
	for e := range f.State.LineTo(f.Entry) {
		if e.Dead || f != r.into && e.Event().Trigger == workflow.TriggerManual { // no agent's, and there may be many
			continue
		}
		rec, err := checkpoint.ReadRecord(ctx, r.s.Store, e)
		if err != nil {
			continue
		}
		if a, has := rec.Agent(); has && a.Name == r.req.By {
			return true
		}
	}
	return false
}

// named returns the checkpoints of a step, or of a range of steps, the newest first, and the numbers that say which.
func (r *reverting) named(ctx context.Context, ref string) (_ []*checkpoint.Found, said string, _ error) {
	from, to, ranged := strings.Cut(ref, "..")
	first, err := r.s.Sessions.ResolveOne(ctx, r.req.Session, from)
	if err != nil {
		return nil, "", err
	}
	oldest, err := r.ofStep(ctx, first)
	said = checkpoint.NumberTo(first.State, first.Entry)
	if first.Session != r.into.Session {
		said = string(first.Session) + ":" + said
	}
	if err != nil || !ranged {
		return oldest, said, err
	}
	last, err := r.s.Sessions.Resolve(ctx, string(first.Session), to)
	if err != nil {
		return nil, "", err
	}
	if first.Session != last.Session {
		return nil, "", checkpoint.Usage("", "%s and %s are not of one session", checkpoint.Said(ctx, r.s.Store, first.State, first.Entry), checkpoint.Said(ctx, r.s.Store, last.State, last.Entry))
	}
	between, err := line(last, first.Entry)
	return append(between, oldest...), said + ".." + checkpoint.NumberTo(last.State, last.Entry), err
}

// line returns the checkpoints that lead to one, the newest first, down to before, without that. A nil
// before stands for all.
func line(to *checkpoint.Found, before *journal.Entry) (found []*checkpoint.Found, err error) {
	for e := range to.State.LineTo(to.Entry) {
		if before != nil && e.Checkpoint == before.Checkpoint {
			return found, nil
		}
		if !e.Dead && !e.Safety {
			found = append(found, &checkpoint.Found{Session: to.Session, State: to.State, Entry: e})
		}
	}
	if before != nil {
		return nil, checkpoint.Usage("`git checkpoint list` shows their order", "%s is not before %s", checkpoint.CalledBy(before), checkpoint.CalledBy(to.Entry))
	}
	return found, nil
}

// ofStep returns the checkpoints that make up a step, the newest first. The step of a prompt has those
// that tools of its conversation made, and what somebody saved in the middle of it, of which see isWithin; one that somebody
// saved has those that the watcher made since the step before.
func (r *reverting) ofStep(ctx context.Context, f *checkpoint.Found) ([]*checkpoint.Found, error) {
	if f.Entry.Safety {
		return nil, checkpoint.Failure(checkpoint.KindRefused, fmt.Sprintf("`git checkpoint rollback %s` goes back to it", checkpoint.NameTo(f.State, f.Entry)), "%s was made by a rollback, not as a step", checkpoint.CalledBy(f.Entry))
	}
	found := []*checkpoint.Found{f}
	if !f.Entry.Milestone {
		return found, nil
	}
	rec, err := checkpoint.ReadRecord(ctx, r.s.Store, f.Entry)
	if err != nil {
		return nil, checkpoint.DamagedError(f.Entry, err)
	}
	parts, turn := []string{"watch", "user_interrupt", "session_end"}, f.Entry.Event().Trigger == journal.TriggerTurn
	if turn {
		parts = []string{journal.TriggerTool, journal.TriggerBefore, "compaction", "subagent"}
	}
	within := turn && r.req.By == ""
	ends := []string{journal.TriggerTurn, journal.TriggerPrompt}
	for e := range f.State.LineTo(f.Entry) {
		trigger := e.Event().Trigger
		saved := within && trigger == workflow.TriggerManual
		part := saved || slices.Contains(parts, trigger) && !e.Milestone
		switch {
		case e == f.Entry, turn && !part && !slices.Contains(ends, trigger), turn && r.isNoPart(ctx, e, rec, saved):
		case part:
			r.within[e.Checkpoint] = saved
			if !e.Dead {
				found = append(found, &checkpoint.Found{Session: f.Session, State: f.State, Entry: e})
			}
		case !turn || slices.Contains(ends, trigger):
			return found, nil
		}
	}
	return found, nil
}

// isWithin reports whether a checkpoint is a save in the middle of a prompt that is taken back. Of it, only what the prompt's
// conversation made is taken back.
func (r *reverting) isWithin(f *checkpoint.Found) bool {
	return r.within[f.Entry.Checkpoint] && !r.asked[f.Entry.Checkpoint]
}

// isNoPart reports whether a checkpoint is known to be of another conversation than a step, or is a save that cannot be read.
func (r *reverting) isNoPart(ctx context.Context, e *journal.Entry, step *record.Record, saved bool) bool {
	if e.Dead {
		return false
	}
	part, err := checkpoint.ReadRecord(ctx, r.s.Store, e)
	if saved {
		return err != nil || part.Snapshot.Tree == ""
	}
	return err == nil && !author.SameConversation(part, step)
}

// difference reads the difference of a checkpoint, and divides it into what is taken back and what is
// not its own.
func (r *reverting) difference(ctx context.Context, f *checkpoint.Found) (*difference, error) {
	rec, err := checkpoint.ReadRecord(ctx, r.s.Store, f.Entry)
	if err != nil {
		return nil, checkpoint.DamagedError(f.Entry, err)
	}
	if rec.Snapshot.Tree == "" {
		return nil, checkpoint.Failure(checkpoint.KindRefused, "", "%s was imported without files, so nothing is known of what it changed", checkpoint.MentionOf(rec))
	}
	did := author.StepIn(f.State, f.Entry, rec)
	if safety := safetyOf(f); safety != nil {
		did.Base = safety
	}
	d := &difference{found: f, label: checkpoint.MentionOf(rec).String(), during: map[string]bool{}, stateAfter: rec.State, stateBefore: json.RawMessage("{}")}
	after, err := rollback.TargetOf(ctx, r.s, f.Entry)
	if err != nil {
		return nil, err
	}
	d.after = threeway.SideOf(after)
	before, was, err := r.filesBefore(ctx, rec, did.Base)
	if err != nil {
		return nil, err
	}
	if d.before = before.Tree; was != nil {
		d.stateBefore = was.State
	}
	if r.isWithin(f) { // the state is the person's
		d.stateBefore = d.stateAfter
	}
	changes, err := threeway.Diff(ctx, r.s.Repo, d.after, threeway.SideOf(before), threeway.Names{Ours: "now", Base: d.label, Theirs: "before " + d.label})
	if err != nil {
		return nil, err
	}
	_, agent := rec.Agent()
	whole, err := r.whole(ctx, f, rec, did.Base)
	if err != nil {
		return nil, err
	}
	for _, c := range changes {
		switch who := whoIn(f, did, c.Path); {
		case was == nil && c.From.Entry == c.To.Entry: // a commit does not say which bytes were on disk
		case !r.wanted(c.Path) || slices.ContainsFunc(slices.Concat(after.Skipped, before.Skipped), func(p string) bool { return snapshot.Covers(p, c.Path) }):
		case r.takes(who, f, agent, whole):
			d.changes = append(d.changes, c)
			if who.By == author.During {
				d.during[c.Path] = true
			}
		case who.BroughtBack, r.isWithin(f) && nameOf(who) != Unknown: // the step does not have what the person made
		default:
			r.leave(c.Path, who)
		}
	}
	r.sayStep(ctx, d, rec, was != nil && was.Git.Head != rec.Git.Head)
	return d, nil
}

// whoIn returns who made a change of a checkpoint's difference. A revert brought back all that it changed: its record does not
// list what is as it was in the step before.
func whoIn(f *checkpoint.Found, did author.Step, p string) author.Who {
	who := did.Who(record.Path(p))
	who.BroughtBack = who.BroughtBack || f.Entry.Event().Trigger == workflow.TriggerRevert
	return who
}

// sayStep adds the step of a difference to the answer, unless there is nothing of it to take back.
func (r *reverting) sayStep(ctx context.Context, d *difference, rec *record.Record, moved bool) {
	f := d.found
	if len(d.changes) > 0 || r.inState(d) || moved && r.req.By == "" && !r.isWithin(f) {
		_, turn := author.TurnOf(f.State, f.Entry, func(e *journal.Entry) *record.Record {
			rec, _ := checkpoint.ReadRecord(ctx, r.s.Store, e) //nolint:errcheck // the checkpoint itself is named then
			return rec
		})
		r.said.Steps = append(r.said.Steps, rollback.RevertedStep{Session: f.Session, Step: f.Entry.Step, ID: f.Entry.Checkpoint, Label: f.Entry.Label, Moved: moved, Mention: checkpoint.MentionOf(rec), Turn: checkpoint.MentionOf(cmp.Or(turn, rec))})
	}
}

// inState reports whether what a checkpoint did to the state is taken back.
func (r *reverting) inState(d *difference) bool {
	return r.req.State && string(d.stateBefore) != string(d.stateAfter)
}

// leave notes a change that is not taken back: that of a step by its path; of a session, only how many nobody is known
// to have made.
func (r *reverting) leave(p string, who author.Who) {
	left := rollback.LeftOfStep{Path: checkpoint.Path(p), By: nameOf(who)}
	if r.req.By != "" && r.req.By != Unknown && left.By == Unknown {
		r.said.Unsure++
	} else if r.req.By == "" && !slices.Contains(r.said.Left, left) {
		r.said.Left = append(r.said.Left, left)
	}
}

// safetyOf returns the safety checkpoint that a revert or a promotion made, for its own checkpoint: what
// was there and in no other checkpoint before is not its work. It is nil for others, and if it is pruned.
func safetyOf(f *checkpoint.Found) *journal.Entry {
	e := f.Entry.Event()
	if e.Trigger != workflow.TriggerRevert && e.Trigger != workflow.TriggerPromote {
		return nil
	}
	for i, c := range f.State.Backward() {
		if i >= f.Entry.Place || !c.Safety {
			continue
		}
		if at := f.State.At(i); at.Event().WorktreeID == e.WorktreeID && at.Event().Previous == e.Previous {
			if c.Dead {
				return nil
			}
			return at
		}
	}
	return nil
}

// filesBefore returns the files before a checkpoint, and the record that has them, if any.
func (r *reverting) filesBefore(ctx context.Context, rec *record.Record, base *journal.Entry) (t snapshot.Target, was *record.Record, err error) {
	if base == nil { // the first one has what was changed since HEAD
		if rec.Git.Head != "" {
			t.Tree, err = r.s.Repo.Commits.TreeOf(ctx, rec.Git.Head)
		} else {
			t.Tree, err = r.s.Repo.Trees.Write(ctx, nil)
		}
		return t, nil, err
	}
	was, err = checkpoint.ReadRecord(ctx, r.s.Store, base)
	if err != nil {
		return t, nil, checkpoint.DamagedError(base, err)
	}
	if was.Snapshot.Tree == "" {
		return t, nil, checkpoint.Failure(checkpoint.KindRefused, "", "%s was imported without files, so nothing is known of what %s changed", checkpoint.MentionOf(was), checkpoint.MentionOf(rec))
	}
	t, err = rollback.TargetOf(ctx, r.s, base)
	return t, was, err
}

// nameOf returns the session that did something, or Outside or Unknown.
func nameOf(who author.Who) string {
	switch {
	case who.By == author.Outside:
		return Outside
	case who.Shared:
		return Unknown
	case who.Session != "":
		return string(who.Session)
	}
	return Unknown
}

// takes reports whether what somebody did in a checkpoint's difference is taken back. agent says that an agent made the
// checkpoint, and whole that it stands for its whole difference.
func (r *reverting) takes(who author.Who, f *checkpoint.Found, agent, whole bool) bool {
	switch by := r.req.By; {
	case r.isWithin(f):
		return who.Session == f.Session && ofAgent(who)
	case who.BroughtBack: // only whoever asks for it takes that away again
		return by == "" && whole && r.asked[f.Entry.Checkpoint]
	case by == "":
		return ofAgent(who) || whole || !agent && who.By == author.Outside
	case by == Outside:
		return who.By == author.Outside || whole
	case by == Unknown:
		return who.Shared || who.By == author.Unknown && who.Session == "" && !whole
	}
	return !who.Shared && r.names(who) || whole && string(f.Session) == r.req.By
}

// ofAgent reports whether an agent made it, itself or by a command.
func ofAgent(who author.Who) bool {
	return who.By == author.Agent || who.By == author.During && !who.Shared
}

// names reports whether --by gives the session of somebody, or the agent.
func (r *reverting) names(who author.Who) bool {
	return string(who.Session) == r.req.By || who.Agent != "" && who.Agent == r.req.By
}

// whole reports whether a checkpoint stands for its whole difference: no agent made it or was at work
// meanwhile, and no other session worked in this worktree.
func (r *reverting) whole(ctx context.Context, f *checkpoint.Found, rec *record.Record, base *journal.Entry) (bool, error) {
	_, agent := rec.Agent()
	if outside, said := record.Outside.Of(rec.Extra); agent || said && !outside {
		return false, nil
	}
	busy, err := r.busy(ctx, f, base)
	return !busy && err == nil, err
}

// busy reports whether another session made a checkpoint in the same worktree between two of a session.
func (r *reverting) busy(ctx context.Context, f *checkpoint.Found, base *journal.Entry) (bool, error) {
	states, err := checkpoint.States(ctx, r.s.Store, "")
	if err != nil {
		return false, err
	}
	e := f.Entry.Event()
	for _, st := range states {
		if st.Session == f.Session {
			continue
		}
		for i, c := range st.Standings() {
			if c.Dead || c.Safety {
				continue
			}
			other := st.At(i).Event()
			if other.WorktreeID == e.WorktreeID && other.Time.Before(e.Time) && (base == nil || other.Time.After(base.Event().Time)) {
				return true, nil
			}
		}
	}
	return false, nil
}
