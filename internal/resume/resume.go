// Package resume finds the session to go on with, checks that its checkpoint is whole,
// and brings it back when it is told to.
package resume

import (
	"context"
	"encoding/json"
	"strings"

	"git-checkpoint/internal/checkpoint"
	"git-checkpoint/internal/inspect"
	"git-checkpoint/internal/journal"
	"git-checkpoint/internal/name"
	"git-checkpoint/internal/record"
	"git-checkpoint/internal/retain"
	"git-checkpoint/internal/rollback"
	"git-checkpoint/internal/session"
	"git-checkpoint/internal/workflow"
)

// Choice is the answer to what a resume asks.
type Choice string

// The choices.
const (
	Report Choice = ""       // say how things are, and what is asked
	Accept Choice = "accept" // yes to every question
	Fresh  Choice = "fresh"  // close the session, a new one is to be started
	View   Choice = "view"   // say how things are, and ask nothing
	Delete Choice = "delete" // delete what the session holds
)

// Request is what `resume` was asked for.
type Request struct {
	Target  string // a session or a checkpoint; empty: chosen
	Type    string // prefix of the session's name
	Match   string // text in name, topic or description
	Current []byte // the issue as it is now, JSON
	From    string // the file that it was read from; it is no change to the worktree
	Choice  Choice
}

// Answer is what `resume` answers.
type Answer struct {
	Session     name.Session               `json:"session"`
	Checkpoint  name.ID                    `json:"checkpoint"`
	Status      string                     `json:"status"`
	CanResume   bool                       `json:"can_resume"`
	Action      string                     `json:"action"` // resume, ask or refuse
	ResumePoint string                     `json:"resume_point"`
	Completed   []json.RawMessage          `json:"completed"`
	Pending     []json.RawMessage          `json:"pending"`
	Progress    workflow.Fraction          `json:"progress"`
	Warnings    []string                   `json:"warnings"`
	Questions   []string                   `json:"questions"`
	State       json.RawMessage            `json:"state"`
	Refusals    []string                   `json:"refusals"`
	Label       string                     `json:"label"`
	Workflow    string                     `json:"workflow"`
	Topic       string                     `json:"topic"`
	Message     string                     `json:"message"`
	Text        string                     `json:"progress_text"`
	Batches     [][]json.RawMessage        `json:"batches,omitempty"`
	Restore     map[string]json.RawMessage `json:"restore,omitempty"`
	CreatedAt   checkpoint.Time            `json:"created_at"`
	AgeSeconds  int64                      `json:"age_seconds"`
	Error       json.RawMessage            `json:"error"`
	Changed     []checkpoint.FileChange    `json:"changed"`
	Branch      name.Ref                   `json:"branch"`
	Accepted    bool                       `json:"accepted"`
	Closed      string                     `json:"closed,omitempty"` // what --fresh closed the session as
	Restored    *rollback.Answer           `json:"restored,omitempty"`
	Removed     *retain.Removed            `json:"removed,omitempty"`

	Decisions  json.RawMessage     `json:"-"`
	Number     string              `json:"-"` // what a person types for the checkpoint
	Choice     Choice              `json:"-"` // what was asked for
	Difference *inspect.Difference `json:"-"` // from the checkpoint's files to those of now
}

// resumption is a checkpoint that work may go on from.
type resumption struct {
	s      *checkpoint.Service
	found  *checkpoint.Found
	record *record.Record
	def    *workflow.Definition
	answer *Answer
}

// Do says where work stopped, and does what was chosen. With an answer an error is
// about going on: the answer says what there is all the same.
func Do(ctx context.Context, s *checkpoint.Service, req Request) (*Answer, error) {
	r, err := findResumption(ctx, s, req)
	if err != nil {
		return nil, err
	}
	if req.Choice == Delete {
		return deleteResumption(ctx, s, r.found)
	}
	if err := r.read(ctx); err != nil {
		if req.Choice == Fresh {
			return r.freshWithout(ctx, err)
		}
		return nil, err
	}
	if err := r.weigh(ctx, req); err != nil {
		return nil, err
	}
	r.answer.Choice = req.Choice
	switch a := r.answer; req.Choice {
	case View:
		return a, nil
	case Fresh:
		return a, r.closeOld(ctx, r.record.Status)
	case Accept:
		if !a.CanResume {
			return a, r.refused()
		}
		return a, r.accept(ctx)
	default:
		switch {
		case !a.CanResume:
			return a, r.refused()
		case len(a.Questions) > 0:
			return a, &checkpoint.Error{
				Kind: checkpoint.KindRefused, Message: strings.Join(a.Questions, " "),
				Hints: []string{"--accept answers yes and goes on", "--fresh closes the session, so that work can start anew"},
			}
		}
		return a, nil
	}
}

// refused is the error of a checkpoint that cannot be gone on from.
func (r *resumption) refused() error {
	a := r.answer
	e := &checkpoint.Error{Kind: checkpoint.KindRejected, Message: a.Refusals[0]}
	e.Hints = append(append(e.Hints, a.Refusals[1:]...), a.Warnings...)
	if !checkpoint.IsClosed(r.found.State.Status) {
		e.Hints = append(e.Hints, "`git checkpoint resume "+string(a.Session)+" --fresh` closes the session, so that work can start anew")
	}
	return e
}

// closeOld closes the session, because work is to start anew: as abandoned, unless it
// is over already.
func (r *resumption) closeOld(ctx context.Context, said string) error {
	st, status := r.found.State, "abandoned"
	if checkpoint.IsClosed(st.Status) {
		r.answer.Closed = st.Status
		return nil
	}
	if over := r.def.Statuses.Closes[said]; over != "" {
		status = over
	} else if checkpoint.IsClosed(said) {
		status = said
	}
	if _, err := session.Close(ctx, r.s, string(st.Session), status); err != nil {
		return err
	}
	r.answer.Closed = status
	return nil
}

// freshWithout starts anew where the checkpoint cannot be read: what the journal says of it is
// enough to close the session.
func (r *resumption) freshWithout(ctx context.Context, damage error) (*Answer, error) {
	var err error
	if r.def, err = r.s.ReadableDefinition(ctx, r.found.State); err != nil {
		return nil, err
	}
	r.s.Warn(damage.Error())
	r.answer = bare(r.found)
	r.answer.Choice, r.answer.Workflow = Fresh, r.found.State.Workflow
	return r.answer, r.closeOld(ctx, r.answer.Status)
}

// bare is what the journal says of a checkpoint.
func bare(f *checkpoint.Found) *Answer {
	return &Answer{
		Session: f.Session, Checkpoint: f.Entry.Checkpoint, Label: f.Entry.Label, Status: f.Entry.Event().CheckpointStatus, Topic: f.State.Topic,
		Completed: []json.RawMessage{}, Pending: []json.RawMessage{}, Warnings: []string{}, Questions: []string{}, Refusals: []string{},
		State: json.RawMessage("null"), Error: json.RawMessage("null"), Changed: []checkpoint.FileChange{}, CreatedAt: checkpoint.Time{Time: f.Entry.Event().Time},
	}
}

// deleteResumption deletes what the session holds, damaged or not.
func deleteResumption(ctx context.Context, s *checkpoint.Service, f *checkpoint.Found) (*Answer, error) {
	a := bare(f)
	var err error
	a.Removed, err = retain.DeleteSession(ctx, s, string(f.Session))
	return a, err
}

// accept records that work goes on, makes the session active, and in a clean worktree
// that holds no session's work brings files and index.
func (r *resumption) accept(ctx context.Context) error {
	s, f, a := r.s, r.found, r.answer
	bring, err := r.mayBring(ctx)
	if err != nil {
		return err
	}
	if bring {
		roll, err := rollback.Prepare(ctx, s, rollback.Request{Session: string(f.Session), Ref: string(f.Entry.Checkpoint), Reason: "resume"})
		if err != nil {
			return err
		}
		if a.Restored, err = roll.Apply(ctx); err != nil {
			return err
		}
		a.Changed = []checkpoint.FileChange{}
	} else if tree, err := inspect.TreeNow(ctx, s, r.record); err == nil && tree != r.record.Snapshot.Tree && r.record.Snapshot.Tree != "" {
		a.Warnings = append(a.Warnings, "files stay as they are; `git checkpoint rollback "+typedIn(s, f)+"` brings those of the checkpoint")
	}
	e, err := s.NewEvent(journal.KindResume, f.Session)
	if err != nil {
		return checkpoint.Classify(err)
	}
	e.Checkpoint, e.Label = f.Entry.Checkpoint, f.Entry.Label
	if st := f.State.Status; st != "" && st != checkpoint.StatusOpen {
		e.Status = checkpoint.StatusOpen // closed or paused: it is open again
	}
	if err := s.AppendEvents(ctx, f.Session, e); err != nil {
		return err
	}
	a.Accepted = true
	return checkpoint.ChooseResumed(s, f.Session)
}

// typedIn is what a person types for a checkpoint of what may be another session.
func typedIn(s *checkpoint.Service, f *checkpoint.Found) string {
	if active, err := s.Store.ActiveSession(); err == nil && active == f.Session {
		return checkpoint.TypedName(f.State, f.Entry)
	}
	return string(f.Session) + ":" + checkpoint.TypedName(f.State, f.Entry)
}

// mayBring reports whether files of the checkpoint may take the place of what is here:
// a clean worktree in which no session has worked, and a checkpoint from elsewhere.
func (r *resumption) mayBring(ctx context.Context) (bool, error) {
	active, err := r.s.Store.ActiveSession()
	if err != nil || active != "" || r.record.Snapshot.Tree == "" {
		return false, checkpoint.Classify(err)
	}
	worked, err := hasWorked(ctx, r.s)
	if err != nil || worked {
		return false, err
	}
	return clean(ctx, r.s)
}

// hasWorked reports whether any session has a checkpoint that was made here.
func hasWorked(ctx context.Context, s *checkpoint.Service) (bool, error) {
	id, err := s.Store.WorktreeID()
	if err != nil {
		return false, checkpoint.Classify(err)
	}
	infos, _, err := s.Store.Sessions(ctx)
	if err != nil {
		return false, checkpoint.Classify(err)
	}
	for _, info := range infos {
		st, err := s.Store.State(ctx, info.Session)
		if err != nil {
			continue // a damaged session says nothing of this worktree
		}
		if st.Worked(id, journal.KindCreate) {
			return true, nil
		}
	}
	return false, nil
}

// clean reports whether nothing in the worktree and the index differs from HEAD; without a
// commit, whether nothing is there.
func clean(ctx context.Context, s *checkpoint.Service) (bool, error) {
	want, err := headTree(ctx, s)
	if err != nil {
		return false, checkpoint.Classify(err)
	}
	now, err := inspect.Capture(ctx, s, nil)
	if err != nil {
		return false, err
	}
	return now.Tree == want && now.Index.Tree == want && len(now.Index.Unmerged) == 0, nil
}

// headTree is the tree of HEAD, the empty one before the first commit.
func headTree(ctx context.Context, s *checkpoint.Service) (name.OID, error) {
	if s.Repo.Head.OID == "" {
		return s.Repo.WriteTree(ctx, nil)
	}
	commit, err := s.Repo.ReadCommit(ctx, string(s.Repo.Head.OID))
	return commit.Tree, err
}
