// Package revert takes back what some steps did to the files, and leaves what others did since.
//
// Prepare selects the checkpoints and, of the difference of each, the paths that are its own (steps.go).
// The plan is that of a move of package rollback: that package captures the worktree, calls merge
// (merge.go) for the files that it should have afterwards, and makes the safety checkpoint. So a revert
// can be undone, and finished or taken back after a kill, like a rollback. It discards no checkpoint: it
// makes one of trigger revert, whose record names the steps.
package revert

import (
	"context"
	"encoding/json"
	"fmt"
	"slices"
	"strings"

	"git-checkpoint/internal/core/checkpoint"
	"git-checkpoint/internal/core/clearance"
	"git-checkpoint/internal/core/threeway"
	"git-checkpoint/internal/core/workflow"
	"git-checkpoint/internal/format/journal"
	"git-checkpoint/internal/format/name"
	"git-checkpoint/internal/format/render"
	"git-checkpoint/internal/sys/gather"
	"git-checkpoint/internal/verb/create"
	"git-checkpoint/internal/verb/inspect"
	"git-checkpoint/internal/verb/rollback"
)

// Request holds the options of `revert`. At least one of Refs, Since and By is set.
type Request struct {
	Session          string
	Refs             []string // checkpoints, or ranges such as 4..6, which include both ends
	Since            string   // a checkpoint: all that the session did after it
	By               string   // only what a session or an agent did, or Outside or Unknown; empty: what the steps did themselves
	Paths            []string // only these files or directories; empty: all
	Conflicts        bool     // write conflicts into the files, with markers
	State            bool     // take back what the steps changed in the state, too
	OverwriteIgnored bool
	Reason           string
	DryRun           bool
	AskHeld          bool // if it is not known who made anything of it, plan to take that back, for a person to confirm
}

// Plan is a planned revert. Nothing has been changed yet.
type Plan struct {
	*rollback.Plan
	Refusal error // the error with which a plan with conflicts is refused; nil: it can be carried out
	Held    bool  // it takes back what nobody is known to have made, since there was nothing else: see Request.AskHeld
}

// reverting is a revert while it is planned.
type reverting struct {
	s       *checkpoint.Service
	req     Request
	into    *checkpoint.Found // the session that gets the checkpoint, at its current one
	wanted  func(path string) bool
	asked   map[name.ID]bool // the checkpoints that Refs name, without ranges
	within  map[name.ID]bool // the saves in the middle of a prompt; see isWithin
	diffs   []*difference    // the newest first
	ignored []string         // what the current checkpoint has although it is ignored
	rest    bool             // what no checkpoint has yet is taken back, too: --by outside
	request create.Request
	what    string            // the steps as the user named them
	state   json.RawMessage   // the job's state afterwards; nil: it stays
	said    rollback.Reverted // without the files
	done    *rollback.Reverted
}

// Prepare plans to take back the steps of a request. It writes no ref and moves no file.
func Prepare(ctx context.Context, s *checkpoint.Service, req Request) (*Plan, error) {
	if len(req.Refs) == 0 && req.Since == "" && req.By == "" {
		return nil, checkpoint.Usage("`git checkpoint list` shows the steps, `git checkpoint revert 4` takes back what step 4 did", "no step was named")
	}
	if err := checkpoint.RefuseEmptyNames(req.Refs...); err != nil {
		return nil, err
	}
	var agent bool
	if req.By, agent = strings.CutPrefix(req.By, "agent:"); agent && req.By == "" {
		return nil, checkpoint.Usage(whoIsMeant, "--by is empty")
	}
	if req.By == "me" {
		req.By = Outside
	}
	r := &reverting{s: s, req: req, asked: map[name.ID]bool{}, within: map[name.ID]bool{}, wanted: func(string) bool { return true }, said: rollback.Reverted{By: req.By}}
	var err error
	if r.into, err = s.Sessions.Resolve(ctx, req.Session, "@"); err != nil && req.Session == "" {
		if session := r.findSession(ctx); session != "" {
			r.into, err = s.Sessions.Resolve(ctx, session, "@")
		}
	}
	if err != nil {
		return nil, err
	}
	if len(req.Paths) > 0 {
		if r.wanted, err = inspect.PathFilter(s.Repo, req.Paths); err != nil {
			return nil, err
		}
		r.wanted = inspect.WithSides(r.wanted)
	}
	if err := r.choose(ctx); err != nil {
		return nil, err
	}
	if err := r.compose(ctx); err != nil {
		return nil, err
	}
	return r.plan(ctx)
}

// findSession returns the session to revert in where none is current here: that of the first step that is named, else the newest
// one that --by means. It is "" if there is none.
func (r *reverting) findSession(ctx context.Context) string {
	if len(r.req.Refs) > 0 {
		first, _, _ := strings.Cut(r.req.Refs[0], "..")
		if f, err := r.s.Sessions.Resolve(ctx, "", first); err == nil {
			return string(f.Session)
		}
		session, _, _ := strings.Cut(first, ":")
		return session
	}
	return append(r.meant(ctx), "")[0]
}

// meant returns the sessions that --by means by their names, the newest first.
func (r *reverting) meant(ctx context.Context) (sessions []string) {
	all, _ := checkpoint.States(ctx, r.s.Store, "") //nolint:errcheck // none then
	for _, st := range slices.SortedFunc(slices.Values(all), func(a, b *journal.State) int { return b.UpdatedAt.Compare(a.UpdatedAt) }) {
		of, _, _ := strings.Cut(string(st.Session), "-")
		if string(st.Session) == r.req.By || st.Workflow == workflow.AgentName && of == r.req.By {
			sessions = append(sessions, string(st.Session))
		}
	}
	return sessions
}

// plan makes the plan of the files, and refuses one that would change nothing.
func (r *reverting) plan(ctx context.Context) (*Plan, error) {
	reason := clearance.Redacted(r.s.Rules, "reason", r.message())
	made, err := rollback.PrepareMove(ctx, r.s, rollback.Move{
		To: r.into, Files: r.into.Entry, Merge: r.merge, Adds: true, Then: &r.request, Says: r.say, Mode: rollback.ModePromote, Before: "before " + reason,
	}, rollback.Request{Mode: rollback.ModeAll, OverwriteIgnored: r.req.OverwriteIgnored, DryRun: r.req.DryRun, Reason: reason})
	if err != nil {
		return nil, err
	}
	p := &Plan{Plan: made}
	conflicts := r.conflicts()
	switch {
	case conflicts > 0 && !r.req.Conflicts, len(r.said.StateConflicts) > 0:
		p.Refusal = r.refusal(conflicts)
	case !r.changes() && r.state == nil && r.req.AskHeld && r.held() > 0:
		held := r.req
		held.By, held.AskHeld = Unknown, false
		p, err := Prepare(ctx, r.s, held)
		if err == nil {
			p.Held = true
		}
		return p, err
	case !r.changes() && r.state == nil:
		return nil, r.nothing()
	}
	return p, nil
}

// say adds to the plan what merge has decided. What a rule keeps from being touched stays the same.
func (r *reverting) say(a *rollback.Answer) {
	for i, f := range r.done.Files {
		if slices.Contains(a.Plan.Skipped, f.Path) && f.How != threeway.Conflict {
			r.done.Files[i].How = threeway.Same
		}
	}
	if a.Reverted = r.done; r.state != nil {
		a.State = r.state
	}
}

// message says what is done, and the user's reason.
func (r *reverting) message() string {
	return strings.TrimSuffix("revert "+r.what+": "+strings.TrimSpace(r.req.Reason), ": ")
}

// compose makes the request of the checkpoint on top: everything is as in the current one, but for the
// files, and the state if that is asked for.
func (r *reverting) compose(ctx context.Context) error {
	rec, err := checkpoint.ReadRecord(ctx, r.s.Store, r.into.Entry)
	if err != nil {
		return checkpoint.DamagedError(r.into.Entry, err)
	}
	r.request = create.Request{
		Session: string(r.into.Session), Trigger: workflow.TriggerRevert, Message: r.message(), Selection: create.Selection{Large: true}, NoTag: true,
	}
	r.ignored = inspect.IgnoredOf(rec)
	for _, p := range r.ignored { // they stay captured
		r.request.IncludeIgnored = append(r.request.IncludeIgnored, ":(top,literal)"+p)
	}
	for _, d := range r.diffs {
		r.request.Reverts = append(r.request.Reverts, create.RevertedStep{Session: d.found.Session, ID: d.found.Entry.Checkpoint})
	}
	if r.req.State {
		if err := r.reverseState(rec.State); err != nil {
			return err
		}
	}
	// The workflow may refuse the checkpoint, for example because checkpoints are switched off.
	_, err = create.Checkpoint(ctx, r.s, r.request.Trying(rec.Snapshot.Tree))
	return err
}

// reverseState sets the state to the current one without what the steps changed in it.
func (r *reverting) reverseState(current json.RawMessage) error {
	now := current
	for _, d := range r.diffs {
		var conflicts []string
		var err error
		if now, conflicts, err = reversed(now, d.stateAfter, d.stateBefore); err != nil {
			return err
		}
		r.said.StateConflicts = append(r.said.StateConflicts, conflicts...)
	}
	slices.Sort(r.said.StateConflicts)
	r.said.StateConflicts = slices.Compact(r.said.StateConflicts)
	if string(now) != string(current) {
		r.request, r.state = r.request.Editing(now), now
	}
	return nil
}

// changes reports whether a file would be changed.
func (r *reverting) changes() bool {
	return slices.ContainsFunc(r.done.Files, func(f rollback.RevertedFile) bool {
		return f.How == threeway.Restored || f.How == threeway.Merged || f.Marked
	})
}

// conflicts counts the files with conflicts.
func (r *reverting) conflicts() int {
	return gather.Count(r.done.Files, func(f rollback.RevertedFile) bool { return f.How == threeway.Conflict })
}

// nothing is the answer to a revert that would change no file.
func (r *reverting) nothing() error {
	e := &checkpoint.Error{Kind: checkpoint.KindNothing, Message: fmt.Sprintf("nothing of %s is left to take back", r.what)}
	if held := r.held(); held > 0 {
		if !r.req.DryRun {
			e.Kind = checkpoint.KindRefused
		}
		e.Message = fmt.Sprintf("%s changed files, and who made these changes is unknown (files: %d); nothing was changed", r.what, held)
		r.req.By = Unknown
		e.Hints = []string{"`" + r.command(r.req.Paths) + "` takes them back all the same"}
	}
	for _, step := range r.said.Steps {
		if step.Moved {
			e.Hints = append(e.Hints, fmt.Sprintf("HEAD moved during %s: `git revert` takes commits back", step.Mention))
		}
	}
	e.Hints = append(e.Hints, render.First(r.done.Left, mostNamed, "… and %d more", func(l rollback.LeftOfStep) string {
		return fmt.Sprintf("%s stays: by %s", name.Clip(string(l.Path), name.Said), l.By)
	})...)
	return e
}

// held counts the files that these steps changed of which nobody knows who made it.
func (r *reverting) held() int {
	return gather.Count(r.said.Left, func(l rollback.LeftOfStep) bool { return l.By == Unknown })
}

// mostNamed is how many paths an error names.
const mostNamed = 10

// refusal is the error for a plan with conflicts. It has the command that leaves them out.
func (r *reverting) refusal(conflicts int) error {
	e := &checkpoint.Error{Kind: checkpoint.KindRefused, Message: fmt.Sprintf("what %s did conflicts with what was done since (conflicts: %d); nothing was changed", r.what, conflicts+len(r.said.StateConflicts))}
	var without []string
	for _, f := range r.done.Files {
		if f.How == threeway.Conflict && len(e.Hints) < mostNamed {
			e.Hints = append(e.Hints, fmt.Sprintf("%s (%s)", name.Clip(string(f.Path), name.Said), f.Why))
		} else if f.How == threeway.Restored || f.How == threeway.Merged {
			without = append(without, r.s.Repo.Typed(string(f.Path)))
		}
	}
	for _, member := range r.said.StateConflicts {
		e.Hints = append(e.Hints, fmt.Sprintf("state: %s was changed since; leave out --state", member))
	}
	if conflicts == 0 {
		return e
	}
	if len(without) > 0 {
		e.Hints = append(e.Hints, "`"+r.command(without)+"` leaves them out")
	}
	if slices.ContainsFunc(r.done.Files, func(f rollback.RevertedFile) bool { return f.Why == threeway.SameLines }) {
		e.Hints = append(e.Hints, rollback.ConflictsHint)
	}
	return e
}

// command returns the command for the request, with other paths.
func (r *reverting) command(paths []string) string {
	words := []string{"git checkpoint revert"}
	add := func(flag, value string) {
		if value != "" {
			words = append(words, flag+"="+name.Quoted(value))
		}
	}
	add("--session", r.req.Session)
	add("--since", r.req.Since)
	add("--by", r.req.By)
	if r.req.State {
		words = append(words, "--state")
	}
	if len(r.req.Refs) > 0 {
		words = append(words, name.Quoted(r.req.Refs...))
	}
	if len(paths) > 0 {
		words = append(words, "--", name.Quoted(paths...))
	}
	return strings.Join(words, " ")
}
