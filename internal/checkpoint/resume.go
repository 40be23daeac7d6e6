package checkpoint

import (
	"context"
	"encoding/json"
	"strings"

	"git-checkpoint/internal/journal"
	"git-checkpoint/internal/name"
	"git-checkpoint/internal/record"
	"git-checkpoint/internal/workflow"
)

// ResumeChoice is the answer to what a resume asks.
type ResumeChoice string

// The choices.
const (
	ResumeReport ResumeChoice = ""       // say how things are, and what is asked
	ResumeAccept ResumeChoice = "accept" // yes to every question
	ResumeFresh  ResumeChoice = "fresh"  // close the session, a new one is to be started
	ResumeView   ResumeChoice = "view"   // say how things are, and ask nothing
	ResumeDelete ResumeChoice = "delete" // delete what the session holds
)

// ResumeRequest is what `resume` was asked for.
type ResumeRequest struct {
	Target  string // a session or a checkpoint; empty: chosen
	Type    string // prefix of the session's name
	Match   string // text in name, topic or description
	Current []byte // the issue as it is now, JSON
	From    string // the file that it was read from; it is no change to the worktree
	Choice  ResumeChoice
}

// ResumeAnswer is what `resume` answers.
type ResumeAnswer struct {
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
	CreatedAt   Time                       `json:"created_at"`
	AgeSeconds  int64                      `json:"age_seconds"`
	Error       json.RawMessage            `json:"error"`
	Changed     []FileChange               `json:"changed"`
	Branch      name.Ref                   `json:"branch"`
	Accepted    bool                       `json:"accepted"`
	Closed      string                     `json:"closed,omitempty"` // what --fresh closed the session as
	Restored    *RollbackAnswer            `json:"restored,omitempty"`
	Removed     *Removed                   `json:"removed,omitempty"`

	Decisions  json.RawMessage `json:"-"`
	Number     string          `json:"-"` // what a person types for the checkpoint
	Choice     ResumeChoice    `json:"-"` // what was asked for
	Difference *Difference     `json:"-"` // from the checkpoint's files to those of now
}

// resumption is a checkpoint that work may go on from.
type resumption struct {
	s      *Service
	found  *found
	record *record.Record
	def    *workflow.Definition
	answer *ResumeAnswer
}

// Resume says where work stopped, and does what was chosen. With an answer an error is
// about going on: the answer says what there is all the same.
func (s *Service) Resume(ctx context.Context, req ResumeRequest) (*ResumeAnswer, error) {
	r, err := s.findResumption(ctx, req)
	if err != nil {
		return nil, err
	}
	if req.Choice == ResumeDelete {
		return s.deleteResumption(ctx, r.found)
	}
	if err := r.read(ctx); err != nil {
		return nil, err
	}
	if err := r.weigh(ctx, req); err != nil {
		return nil, err
	}
	r.answer.Choice = req.Choice
	switch a := r.answer; req.Choice {
	case ResumeView:
		return a, nil
	case ResumeFresh:
		return a, r.closeOld(ctx)
	case ResumeAccept:
		if !a.CanResume {
			return a, r.refused()
		}
		return a, r.accept(ctx)
	default:
		switch {
		case !a.CanResume:
			return a, r.refused()
		case len(a.Questions) > 0:
			return a, &Error{
				Kind: KindRefused, Message: strings.Join(a.Questions, " "),
				Hints: []string{"--accept answers yes and goes on", "--fresh closes the session, so that work can start anew"},
			}
		}
		return a, nil
	}
}

// refused is the error of a checkpoint that cannot be gone on from.
func (r *resumption) refused() error {
	a := r.answer
	e := &Error{Kind: KindRejected, Message: a.Refusals[0]}
	e.Hints = append(append(e.Hints, a.Refusals[1:]...), a.Warnings...)
	if !isClosed(r.found.state.Status) {
		e.Hints = append(e.Hints, "`git checkpoint resume "+string(a.Session)+" --fresh` closes the session, so that work can start anew")
	}
	return e
}

// closeOld closes the session, because work is to start anew: as abandoned, unless it
// is over already.
func (r *resumption) closeOld(ctx context.Context) error {
	st, status := r.found.state, "abandoned"
	if isClosed(st.Status) {
		r.answer.Closed = st.Status
		return nil
	}
	if over := r.def.Statuses.Closes[r.record.Status]; over != "" {
		status = over
	} else if isClosed(r.record.Status) {
		status = r.record.Status
	}
	if _, err := r.s.CloseSession(ctx, string(st.Session), status); err != nil {
		return err
	}
	r.answer.Closed = status
	return nil
}

// deleteResumption deletes what the session holds, damaged or not.
func (s *Service) deleteResumption(ctx context.Context, f *found) (*ResumeAnswer, error) {
	a := &ResumeAnswer{
		Session: f.session, Checkpoint: f.entry.Checkpoint, Label: f.entry.Label, Status: f.entry.Event().CheckpointStatus, Topic: f.state.Topic,
		Completed: []json.RawMessage{}, Pending: []json.RawMessage{}, Warnings: []string{}, Questions: []string{}, Refusals: []string{},
		State: json.RawMessage("null"), Error: json.RawMessage("null"), Changed: []FileChange{}, CreatedAt: Time{f.entry.Event().Time},
	}
	var err error
	a.Removed, err = s.DeleteSession(ctx, string(f.session))
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
		roll, err := s.PlanRollback(ctx, RollbackRequest{Session: string(f.session), Ref: string(f.entry.Checkpoint), Reason: "resume"})
		if err != nil {
			return err
		}
		if a.Restored, err = roll.Apply(ctx); err != nil {
			return err
		}
		a.Changed = []FileChange{}
	} else if tree, err := s.treeNow(ctx, r.record); err == nil && tree != r.record.Snapshot.Tree && r.record.Snapshot.Tree != "" {
		a.Warnings = append(a.Warnings, "files stay as they are; `git checkpoint rollback "+typedIn(s, f)+"` brings those of the checkpoint")
	}
	e, err := s.event(journal.KindResume, f.session)
	if err != nil {
		return classify(err)
	}
	e.Checkpoint, e.Label = f.entry.Checkpoint, f.entry.Label
	if st := f.state.Status; st != "" && st != statusOpen {
		e.Status = statusOpen // closed or paused: it is open again
	}
	if err := s.append(ctx, f.session, e); err != nil {
		return err
	}
	a.Accepted = true
	return classify(s.store.SetActiveSession(f.session))
}

// statusOpen is the status of a session that is neither closed nor paused.
const statusOpen = "in_progress"

// typedIn is what a person types for a checkpoint of what may be another session.
func typedIn(s *Service, f *found) string {
	if active, err := s.store.ActiveSession(); err == nil && active == f.session {
		return typed(f.state, f.entry)
	}
	return string(f.session) + ":" + typed(f.state, f.entry)
}

// mayBring reports whether files of the checkpoint may take the place of what is here:
// a clean worktree in which no session has worked, and a checkpoint from elsewhere.
func (r *resumption) mayBring(ctx context.Context) (bool, error) {
	active, err := r.s.store.ActiveSession()
	if err != nil || active != "" || r.record.Snapshot.Tree == "" {
		return false, classify(err)
	}
	worked, err := r.s.hasWorked(ctx)
	if err != nil || worked {
		return false, err
	}
	return r.s.clean(ctx)
}

// hasWorked reports whether any session has a checkpoint that was made here.
func (s *Service) hasWorked(ctx context.Context) (bool, error) {
	id, err := s.store.WorktreeID()
	if err != nil {
		return false, classify(err)
	}
	infos, _, err := s.store.Sessions(ctx)
	if err != nil {
		return false, classify(err)
	}
	for _, info := range infos {
		st, err := s.store.State(ctx, info.Session)
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
func (s *Service) clean(ctx context.Context) (bool, error) {
	want, err := s.headTree(ctx)
	if err != nil {
		return false, classify(err)
	}
	now, err := s.captureNow(ctx, nil)
	if err != nil {
		return false, err
	}
	return now.Tree == want && now.Index.Tree == want && len(now.Index.Unmerged) == 0, nil
}

// headTree is the tree of HEAD, the empty one before the first commit.
func (s *Service) headTree(ctx context.Context) (name.OID, error) {
	if s.repo.Head.OID == "" {
		return s.repo.WriteTree(ctx, nil)
	}
	commit, err := s.repo.ReadCommit(ctx, string(s.repo.Head.OID))
	return commit.Tree, err
}
