package checkpoint

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"time"

	"git-checkpoint/internal/name"
)

// What a chat has to remember between two lines stands in the worktree's disposable
// files.
const (
	chatFile   = "chat.json"
	failedFile = "failed.json"
)

// chatMemory is a rollback that was shown, or that was refused because ignored files
// are in the way.
type chatMemory struct {
	Time             time.Time `json:"time"`
	Target           string    `json:"target"`
	OverwriteIgnored bool      `json:"overwrite_ignored,omitempty"`
	Branch           bool      `json:"branch,omitempty"`
	Seen             string    `json:"seen"` // what the plan was made of; empty: it was refused
}

// chatPatience is how long a plan is remembered.
const chatPatience = 10 * time.Minute

func (s *Service) memory(file string) string { return filepath.Join(s.repo.GitDir, "checkpoint", file) }

// recall reads what was remembered; false when there is nothing, or nothing that can
// be read.
func (s *Service) recall(file string, into any) (bool, error) {
	data, err := os.ReadFile(s.memory(file))
	if errors.Is(err, fs.ErrNotExist) {
		return false, nil
	}
	if err != nil {
		return false, classify(err)
	}
	return json.Unmarshal(data, into) == nil, nil
}

func (s *Service) remember(file string, what any) error {
	dir, err := s.repo.Dir()
	if err != nil {
		return classify(err)
	}
	data, err := json.Marshal(what)
	if err != nil {
		return classify(err)
	}
	f, err := os.CreateTemp(dir, "tmp-chat-")
	if err != nil {
		return classify(err)
	}
	_, err = f.Write(data)
	if err = errors.Join(err, f.Close()); err == nil {
		err = os.Rename(f.Name(), filepath.Join(dir, file))
	}
	if err != nil {
		os.Remove(f.Name()) //nolint:errcheck // swept by age
	}
	return classify(err)
}

// chatPlan shows a rollback and remembers it.
func (s *Service) chatPlan(ctx context.Context, m chatMemory) (*ChatAnswer, error) {
	plan, err := s.planFor(ctx, m)
	if err != nil {
		var known *Error
		if errors.As(err, &known) && isOverwritable(known) && !m.OverwriteIgnored {
			m.Time, m.Seen = s.now(), ""
			known.Hints = append(known.Hints, "*rollback-force does it with --overwrite-ignored")
			err = errors.Join(err, s.remember(chatFile, m))
		}
		return nil, err
	}
	m.Time, m.Target = s.now(), string(plan.answer.To)
	if m.Seen, err = plan.fingerprint(); err != nil {
		return nil, err
	}
	if err := s.remember(chatFile, m); err != nil {
		return nil, err
	}
	return &ChatAnswer{Plan: plan.answer, Next: "*yes does exactly this within ten minutes, *abort leaves everything as it is."}, nil
}

// isOverwritable tells a rollback that ignored files are in the way of.
func isOverwritable(e *Error) bool {
	return e.Kind == KindRefused && slices.Contains(e.Hints, hintOverwrite)
}

func (s *Service) planFor(ctx context.Context, m chatMemory) (*Rollback, error) {
	session, err := s.chatSession(ctx)
	if err != nil {
		return nil, err
	}
	req := RollbackRequest{Session: string(session), Ref: m.Target, OverwriteIgnored: m.OverwriteIgnored, Reason: "asked for in the chat"}
	if m.Branch {
		req.Branch = BranchMove
	}
	f, err := s.resolve(ctx, req.Session, req.Ref)
	if err != nil {
		return nil, err
	}
	if f.session != session { // a whole id finds others too
		return nil, unknownCheckpoint(session, f.state, m.Target)
	}
	return s.PlanRollback(ctx, req)
}

// fingerprint is what the plan was made of: when it is the same, so is the plan.
func (r *Rollback) fingerprint() (string, error) {
	var tree, index name.OID
	if r.cur != nil {
		tree, index = r.cur.Tree, r.cur.Index.Tree
	}
	data, err := json.Marshal(struct {
		Answer      *RollbackAnswer
		Tree, Index name.OID
		Head        name.OID
		Branch      name.Ref
	}{r.answer, tree, index, r.s.repo.Head.OID, r.s.repo.Head.Branch})
	if err != nil {
		return "", classify(err)
	}
	sum := sha256.Sum256(data)
	return hex.EncodeToString(sum[:]), nil
}

// chatForce plans the rollback that was refused once more, and lets it replace ignored
// files.
func (s *Service) chatForce(ctx context.Context) (*ChatAnswer, error) {
	var m chatMemory
	ok, err := s.recall(chatFile, &m)
	if err != nil {
		return nil, err
	}
	if !ok || !s.isFresh(m.Time) {
		return nil, &Error{Kind: KindRefused, Message: "there is no rollback to force", Hints: []string{"*rollback-force:N names the checkpoint"}}
	}
	m.OverwriteIgnored = true
	return s.chatPlan(ctx, m)
}

func (s *Service) isFresh(then time.Time) bool {
	age := s.now().Sub(then)
	return age >= 0 && age <= chatPatience
}

// chatYes does the plan that was shown, if it still is the plan.
func (s *Service) chatYes(ctx context.Context, c ChatCommand) (*ChatAnswer, error) {
	var m chatMemory
	ok, err := s.recall(chatFile, &m)
	if err != nil {
		return nil, err
	}
	if !ok || m.Seen == "" || !s.isFresh(m.Time) {
		if c.Alone { // not a word to us
			return nil, &Error{Kind: KindNothing}
		}
		e := &Error{Kind: KindRefused, Message: "nothing waits for a yes"}
		if ok && m.Seen != "" {
			e = &Error{Kind: KindRefused, Message: fmt.Sprintf("the plan is older than %d minutes", int(chatPatience.Minutes())), Hints: []string{"*rollback:N shows it anew"}}
		}
		return nil, e
	}
	plan, err := s.planFor(ctx, m)
	if err != nil {
		return nil, err
	}
	seen, err := plan.fingerprint()
	if err != nil {
		return nil, err
	}
	if seen != m.Seen {
		again, err := s.chatPlan(ctx, m)
		if err != nil {
			return nil, err
		}
		return again, &Error{Kind: KindRefused, Message: "something has changed since the plan was shown; nothing was done, and this is the plan now"}
	}
	done, err := plan.Apply(ctx)
	if err != nil {
		return nil, err
	}
	return &ChatAnswer{Done: done}, s.forget(chatFile)
}

// failedCreate is a checkpoint that could not be made, for a retry or a skip.
type failedCreate struct {
	Time    time.Time     `json:"time"`
	Session name.Session  `json:"session"`
	Step    *int          `json:"step"` // nil: of no step
	Problem string        `json:"problem"`
	Request CreateRequest `json:"request"`
}

// failurePatience is how long a failed create is remembered.
const failurePatience = 24 * time.Hour

// rememberFailure keeps a create that failed, and forgets it after one that did not.
// It is never a reason to fail.
func (c *creation) rememberFailure(err error) {
	s := c.s
	if err == nil && c.req.DryRun {
		return
	}
	if err == nil {
		s.forget(failedFile) //nolint:errcheck // disposable
		return
	}
	if !isFailure(KindOf(err)) || c.req.DryRun || !c.req.At.IsZero() {
		return // it would fail again whatever happens, or was not to be made
	}
	failed := failedCreate{Time: s.now(), Session: c.session, Problem: err.Error(), Request: c.req}
	failed.Request.Session = string(c.session)
	failed.Request.Outputs = slices.Clone(c.req.Outputs)
	for i, o := range failed.Request.Outputs {
		if o.File != "" && !filepath.IsAbs(o.File) { // a retry may be typed elsewhere
			failed.Request.Outputs[i].File = filepath.Join(s.repo.WorkTree, filepath.FromSlash(s.repo.Prefix), o.File)
		}
	}
	if r := c.record; r != nil && c.spot.Milestone {
		failed.Step = &r.Step
	}
	s.remember(failedFile, failed) //nolint:errcheck // disposable
}

func (s *Service) rememberedFailure() (*failedCreate, error) {
	var failed failedCreate
	ok, err := s.recall(failedFile, &failed)
	if age := s.now().Sub(failed.Time); !ok || age < 0 || age > failurePatience {
		return nil, err
	}
	return &failed, nil
}
