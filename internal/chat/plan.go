package chat

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"time"

	"git-checkpoint/internal/checkpoint"
	"git-checkpoint/internal/rollback"
)

// chatMemory is a rollback that was shown, or that was refused because ignored files
// are in the way.
type chatMemory struct {
	Time             time.Time `json:"time"`
	Target           string    `json:"target,omitempty"`
	Walk             string    `json:"walk,omitempty"`    // undo or redo, in place of a target
	Delete           []string  `json:"delete,omitempty"`  // ids to delete, in place of a target
	Session          string    `json:"session,omitempty"` // of these
	Asked            bool      `json:"asked,omitempty"`   // nothing else was said since: a bare y is an answer
	OverwriteIgnored bool      `json:"overwrite_ignored,omitempty"`
	Branch           bool      `json:"branch,omitempty"`
	Seen             string    `json:"seen"` // what the plan was made of; empty: it was refused
}

// chatPatience is how long a plan is remembered.
const chatPatience = 10 * time.Minute

// chatPlan shows a rollback and remembers it.
func chatPlan(ctx context.Context, s *checkpoint.Service, m chatMemory) (*Answer, error) {
	plan, err := planFor(ctx, s, m)
	if err != nil {
		var known *checkpoint.Error
		if errors.As(err, &known) && isOverwritable(known) && !m.OverwriteIgnored {
			m.Time, m.Seen = s.Now(), ""
			known.Hints = append(known.Hints, "*rollback-force does it with --overwrite-ignored")
			err = errors.Join(err, s.Remember(checkpoint.ChatFile, m))
		}
		return nil, err
	}
	if m.Time = s.Now(); m.Walk == "" {
		m.Target = string(plan.Answer().To)
	}
	if m.Seen, err = plan.Fingerprint(); err != nil {
		return nil, err
	}
	m.Asked = true
	if err := s.Remember(checkpoint.ChatFile, m); err != nil {
		return nil, err
	}
	return &Answer{Plan: plan.Answer(), Next: "*yes does exactly this within ten minutes, *abort leaves everything as it is."}, nil
}

// isOverwritable tells a rollback that ignored files are in the way of.
func isOverwritable(e *checkpoint.Error) bool {
	return e.Kind == checkpoint.KindRefused && slices.Contains(e.Hints, rollback.OverwriteHint)
}

func planFor(ctx context.Context, s *checkpoint.Service, m chatMemory) (*rollback.Plan, error) {
	if m.Walk != "" {
		return rollback.PrepareUndo(ctx, s, rollback.UndoRequest{Levels: 1, Redo: m.Walk == "redo"})
	}
	session, err := chatSession(ctx, s)
	if err != nil {
		return nil, err
	}
	req := rollback.Request{Session: string(session), Ref: m.Target, OverwriteIgnored: m.OverwriteIgnored, Reason: "asked for in the chat"}
	if m.Branch {
		req.Branch = rollback.BranchMove
	}
	f, err := s.Resolve(ctx, req.Session, req.Ref)
	if err != nil {
		return nil, err
	}
	if f.Session != session { // a whole id finds others too
		return nil, checkpoint.UnknownCheckpointError(session, f.State, m.Target)
	}
	return rollback.Prepare(ctx, s, req)
}

// chatForce plans the rollback that was refused once more, and lets it replace ignored
// files.
func chatForce(ctx context.Context, s *checkpoint.Service) (*Answer, error) {
	var m chatMemory
	ok, err := s.Recall(checkpoint.ChatFile, &m)
	if err != nil {
		return nil, err
	}
	if !ok || !isFresh(s, m.Time) {
		return nil, &checkpoint.Error{Kind: checkpoint.KindRefused, Message: "there is no rollback to force", Hints: []string{"*rollback-force:N names the checkpoint"}}
	}
	m.OverwriteIgnored = true
	return chatPlan(ctx, s, m)
}

func isFresh(s *checkpoint.Service, then time.Time) bool {
	age := s.Now().Sub(then)
	return age >= 0 && age <= chatPatience
}

// chatYes does the plan that was shown, if it still is the plan.
func chatYes(ctx context.Context, s *checkpoint.Service, c Command) (*Answer, error) {
	var m chatMemory
	ok, err := s.Recall(checkpoint.ChatFile, &m)
	if err != nil {
		return nil, err
	}
	waits := ok && (m.Seen != "" || m.Delete != nil)
	if c.Alone && !m.Asked || !waits || !isFresh(s, m.Time) {
		if c.Alone { // not a word to us
			return nil, &checkpoint.Error{Kind: checkpoint.KindNothing}
		}
		e := &checkpoint.Error{Kind: checkpoint.KindRefused, Message: "nothing waits for a yes"}
		if waits {
			e = &checkpoint.Error{Kind: checkpoint.KindRefused, Message: fmt.Sprintf("the plan is older than %d minutes", int(chatPatience.Minutes())), Hints: []string{"type the command again to see it anew"}}
		}
		return nil, e
	}
	if m.Delete != nil {
		return chatDeleted(ctx, s, m)
	}
	plan, err := planFor(ctx, s, m)
	if err != nil {
		return nil, err
	}
	seen, err := plan.Fingerprint()
	if err != nil {
		return nil, err
	}
	if seen != m.Seen {
		again, err := chatPlan(ctx, s, m)
		if err != nil {
			return nil, err
		}
		return again, &checkpoint.Error{Kind: checkpoint.KindRefused, Message: "something has changed since the plan was shown; nothing was done, and this is the plan now"}
	}
	done, err := plan.Apply(ctx)
	if err != nil {
		return nil, err
	}
	a := &Answer{}
	switch m.Walk {
	case "undo":
		a.Undone = done
	case "redo":
		a.Redone = done
	default:
		a.Done = done
	}
	return a, s.Forget(checkpoint.ChatFile)
}
