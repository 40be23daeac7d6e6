package chat

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"time"

	"git-checkpoint/internal/answer"
	"git-checkpoint/internal/core/checkpoint"
	"git-checkpoint/internal/format/journal"
	"git-checkpoint/internal/format/name"
	"git-checkpoint/internal/verb/retain"
	"git-checkpoint/internal/verb/revert"
	"git-checkpoint/internal/verb/rollback"
)

// chatMemory is what the last command left for the next one: a plan (rollback, undo, redo or
// delete) that was shown and waits for a *yes, or a rollback that was refused and may be forced. It
// is stored as JSON in a file that may be lost at any time. *yes makes the plan again and compares
// its fingerprint with Seen, so that it does only what was shown.
type chatMemory struct {
	Time time.Time `json:"time"`
	// Target is the checkpoint to go back to. Once a plan was shown it is an id.
	Target string `json:"target,omitempty"`
	// Reason is what was typed after the checkpoint.
	Reason string `json:"reason,omitempty"`
	// Revert is the checkpoint whose step is taken back, in place of a target.
	Revert string `json:"revert,omitempty"`
	// Walk is undo or redo, in place of a target.
	Walk string `json:"walk,omitempty"`
	// Delete are the ids to delete from Session, in place of a target.
	Delete  []string `json:"delete,omitempty"`
	Session string   `json:"session,omitempty"`
	// Asked is set until anything else is typed: only then a bare "y" is an answer.
	Asked            bool `json:"asked,omitempty"`
	OverwriteIgnored bool `json:"overwrite_ignored,omitempty"`
	Branch           bool `json:"branch,omitempty"`
	// Seen is the fingerprint of the plan that was shown; empty if the rollback was refused.
	Seen string `json:"seen"`
	// Tree has the files for which the plan was made.
	Tree name.OID `json:"tree,omitempty"`
}

// waits reports whether the memory is of a plan that was shown and waits for a *yes. Otherwise it
// is of a rollback that was refused.
func (m chatMemory) waits() bool { return m.Seen != "" || m.Delete != nil }

// chatPatience is how long a plan can be confirmed.
const chatPatience = 10 * time.Minute

// chatPlan makes the plan of a rollback, undo or redo, remembers it and shows it. If ignored files
// are in the way, the plan is refused, and remembered so that *rollback-force can repeat it.
func chatPlan(ctx context.Context, s *checkpoint.Service, m chatMemory) (*Answer, error) {
	plan, err := planFor(ctx, s, m)
	if checkpoint.KindOf(err) == checkpoint.KindNotFound && m.Walk == "undo" {
		return nil, checkpoint.WithHints(err, func(hints []string) []string { return slices.Concat(meant(ctx, s), hints) })
	}
	if err != nil {
		var known *checkpoint.Error
		if errors.As(err, &known) && isOverwritable(known) && !m.OverwriteIgnored {
			m.Time, m.Seen = s.Now(), ""
			known.Hints = append(known.Hints, "*rollback-force does it with --overwrite-ignored")
			if m.Target != "" {
				known.Hints = append(known.Hints, "*manual-restore:"+m.Target+" tells how to get at the files with plain git", "*abort ends the session")
			}
			err = errors.Join(err, s.Remember(checkpoint.ChatFile, m))
		}
		return nil, err
	}
	if a := plan.Answer(); a.Empty && m.Walk == "" { // nothing to confirm
		return shown(answer.Planned{Plan: a, Files: answer.FilesFew}, ""), s.Forget(checkpoint.ChatFile)
	}
	// From now on the target is an id: a number may stand for another checkpoint by the time of the
	// *yes.
	if m.Time = s.Now(); m.Walk == "" && m.Revert == "" {
		m.Target = string(plan.Answer().Session) + ":" + string(plan.Answer().To)
	}
	if m.Seen, err = plan.Fingerprint(); err != nil {
		return nil, err
	}
	m.Asked, m.Tree = true, plan.Tree()
	plan.Answer().ChatOf = "" // the agent cannot leave its conversation from within
	next := "*yes does exactly this within ten minutes, *abort leaves everything as it is."
	if m.Walk == "undo" && plan.Answer().Prompts > 0 {
		next += " " + strings.Join(meant(ctx, s), "")
	}
	return unless(s.Remember(checkpoint.ChatFile, m), shown(answer.Planned{Plan: plan.Answer(), Files: answer.FilesFew}, next))
}

// meant says what a person probably means who types *undo after a prompt and not after a rollback: to
// take back what the last prompt did. It is empty if there is nothing before that.
func meant(ctx context.Context, s *checkpoint.Service) []string {
	st, err := checkpoint.ChosenState(ctx, s, "")
	if err != nil {
		return nil
	}
	var last *journal.Entry // the step of the last prompt, which may not have ended
	for e := range st.Line() {
		switch {
		case last == nil && (e.Milestone || e.Event().Trigger == journal.TriggerTool):
			last = e
		case last != nil && (e.Milestone && (e.Step != last.Step || !last.Milestone) || e.Event().Trigger == journal.TriggerPrompt):
			typed := checkpoint.TypedName(st, e)
			if i := strings.LastIndexByte(e.Label, '+'); !e.Milestone && i >= 0 {
				typed = strconv.Itoa(e.Step) + e.Label[i:]
			}
			return []string{fmt.Sprintf("*rollback:%s goes back to before the last prompt", typed)}
		}
	}
	return nil
}

// isOverwritable reports whether a rollback was refused only because ignored files are in the way.
func isOverwritable(e *checkpoint.Error) bool {
	return e.Kind == checkpoint.KindRefused && slices.Contains(e.Hints, rollback.OverwriteHint)
}

// planFor makes the plan that a memory describes, for what is in the worktree now.
func planFor(ctx context.Context, s *checkpoint.Service, m chatMemory) (*rollback.Plan, error) {
	if m.Walk != "" {
		return rollback.PrepareUndo(ctx, s, rollback.UndoRequest{Levels: 1, Redo: m.Walk == "redo"})
	}
	session, err := s.ChooseSession(ctx, "")
	if err != nil {
		return nil, err
	}
	reason := cmp.Or(m.Reason, "asked for in the chat")
	if m.Revert != "" {
		p, err := revert.Prepare(ctx, s, revert.Request{Session: string(session), Refs: []string{m.Revert}, OverwriteIgnored: m.OverwriteIgnored, Reason: reason})
		if err != nil {
			return nil, err
		}
		return p.Plan, p.Refusal
	}
	req := rollback.Request{Session: string(session), Ref: m.Target, OverwriteIgnored: m.OverwriteIgnored, Reason: reason}
	if m.Branch {
		req.Branch = rollback.BranchMove
	}
	f, err := s.Resolve(ctx, req.Session, req.Ref)
	if err != nil {
		return nil, err
	}
	// Resolve finds a whole id in any session, but a chat is about its own and those that are named.
	if in, _, named := strings.Cut(m.Target, ":"); f.Session != session && (!named || in != string(f.Session)) {
		return nil, checkpoint.UnknownCheckpointError(session, f.State, m.Target)
	}
	if err := checkpoint.RefuseForeign(ctx, s, f.State, "", m.Target, "rollback"); err != nil {
		return nil, err
	}
	return rollback.Prepare(ctx, s, req)
}

// chatForce repeats the rollback that was refused, and lets it overwrite ignored files.
func chatForce(ctx context.Context, s *checkpoint.Service) (*Answer, error) {
	var m chatMemory
	ok, err := s.Recall(checkpoint.ChatFile, &m)
	if err != nil {
		return nil, err
	}
	// A plan that was shown was not refused, and one of *delete is not about a rollback at all.
	if !ok || m.waits() || !isFresh(s, m.Time) {
		return nil, checkpoint.Failure(checkpoint.KindRefused, "*rollback-force:N names the checkpoint", "there is no rollback to force")
	}
	m.OverwriteIgnored = true
	return chatPlan(ctx, s, m)
}

// isFresh reports whether a plan is recent enough. A time in the future means that the clock was
// changed.
func isFresh(s *checkpoint.Service, then time.Time) bool {
	age := s.Now().Sub(then)
	return age >= 0 && age <= chatPatience
}

// chatYes carries out what was shown, if it would still do the same. Otherwise it shows the new
// plan, with an error.
func chatYes(ctx context.Context, s *checkpoint.Service, c Command) (*Answer, error) {
	var m chatMemory
	ok, err := s.Recall(checkpoint.ChatFile, &m)
	if err != nil {
		return nil, err
	}
	waits := ok && m.waits()
	switch fresh := waits && isFresh(s, m.Time); {
	case c.Alone && !(fresh && m.Asked): // "y" is an ordinary prompt then: no answer, no error message
		return nil, &checkpoint.Error{Kind: checkpoint.KindNothing}
	case !waits:
		return nil, checkpoint.Failure(checkpoint.KindRefused, "", "there is nothing to confirm")
	case !fresh:
		return nil, checkpoint.Failure(checkpoint.KindRefused, "type the command again to see the new plan", "the plan is more than %d minutes old", int(chatPatience.Minutes()))
	}
	if m.Delete != nil {
		return chatDeleted(ctx, s, m)
	}
	plan, err := planFor(ctx, s, m)
	if err != nil { // something is in the way by now; chatPlan reports it, and remembers what was refused
		m.Seen = ""
		return chatPlan(ctx, s, m)
	}
	seen, err := plan.Fingerprint()
	if err != nil {
		return nil, err
	}
	changed := plan.Since(ctx, m.Tree)
	if seen != m.Seen {
		again, err := chatPlan(ctx, s, m)
		if err != nil {
			return nil, err
		}
		return again, checkpoint.Failure(checkpoint.KindRefused, "", "something has changed since the plan was shown%s; nothing was done, and this is the plan now", rollback.Some(changed))
	}
	done, err := plan.Apply(ctx)
	if err != nil {
		return nil, err
	}
	var result answer.Answer = answer.RolledBack{Done: done}
	switch {
	case m.Walk != "":
		result = answer.Undone{Done: done, Redo: m.Walk == "redo"}
	case m.Revert != "":
		result = answer.Reverted{Done: done}
	}
	next := ""
	if done.NextStep != nil && m.Walk == "" && m.Revert == "" {
		next = fmt.Sprintf("Ready to continue from step %d. [Enter] or *pause", done.NextStep.Step)
	}
	return shown(result, next), s.Forget(checkpoint.ChatFile)
}

// chatDelete shows what would be deleted and remembers the ids, so that a *yes deletes exactly
// these checkpoints.
func chatDelete(ctx context.Context, s *checkpoint.Service, ref string) (*Answer, error) {
	session, err := s.ChooseSession(ctx, "")
	if err != nil {
		return nil, err
	}
	plan, err := retain.PlanDelete(ctx, s, string(session), []string{ref})
	if err != nil {
		return nil, err
	}
	m := chatMemory{Time: s.Now(), Asked: true, Session: string(session)}
	for _, gone := range plan.Removed {
		m.Delete = append(m.Delete, string(gone.ID))
	}
	next := "*yes deletes it for good, within ten minutes; *abort keeps it."
	return unless(s.Remember(checkpoint.ChatFile, m), shown(answer.Deleted{Removed: plan, Planned: true}, next))
}

// chatDeleted deletes what was shown. It goes by id, because a number may stand for another
// checkpoint by now.
func chatDeleted(ctx context.Context, s *checkpoint.Service, m chatMemory) (*Answer, error) {
	gone, err := retain.Delete(ctx, s, m.Session, m.Delete)
	if err != nil {
		return nil, err
	}
	return shown(answer.Deleted{Removed: gone}, ""), s.Forget(checkpoint.ChatFile)
}

// Heard records that another prompt came. After that a bare "y" no longer confirms, because it
// probably answers something else; *yes still does.
func Heard(s *checkpoint.Service) {
	var m chatMemory
	if ok, err := s.Recall(checkpoint.ChatFile, &m); err != nil || !ok || !m.Asked {
		return
	}
	m.Asked = false
	s.Remember(checkpoint.ChatFile, m) //nolint:errcheck // *yes still works
}
