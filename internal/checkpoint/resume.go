package checkpoint

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"

	"git-checkpoint/internal/git"
	"git-checkpoint/internal/journal"
	"git-checkpoint/internal/name"
	"git-checkpoint/internal/record"
	"git-checkpoint/internal/workflow"
)

// ResumeRequest is what `resume` was asked for.
type ResumeRequest struct {
	Target  string // a session or a checkpoint; empty: chosen
	Type    string // prefix of the session's name
	Match   string // text in topic or description
	Current []byte // the issue as it is now, JSON
	Accept  bool
}

// ResumeAnswer is what `resume` answers.
type ResumeAnswer struct {
	Session     name.Session               `json:"session"`
	Checkpoint  name.ID                    `json:"checkpoint"`
	Status      string                     `json:"status"`
	CanResume   bool                       `json:"can_resume"`
	Action      string                     `json:"action"`
	ResumePoint string                     `json:"resume_point"`
	Completed   []json.RawMessage          `json:"completed"`
	Pending     []json.RawMessage          `json:"pending"`
	Progress    workflow.Fraction          `json:"progress"`
	Warnings    []string                   `json:"warnings"`
	Questions   []string                   `json:"questions"`
	State       json.RawMessage            `json:"state"`
	Label       string                     `json:"label"`
	Topic       string                     `json:"topic"`
	Message     string                     `json:"message"`
	Text        string                     `json:"progress_text"`
	Batches     [][]json.RawMessage        `json:"batches,omitempty"`
	Restore     map[string]json.RawMessage `json:"restore,omitempty"`
	Refusals    []string                   `json:"refusals,omitempty"`
	AgeSeconds  int64                      `json:"age_seconds"`
	Error       json.RawMessage            `json:"error"`
	Changed     []FileChange               `json:"changed"`
	Accepted    bool                       `json:"accepted"`
	Restored    *RollbackAnswer            `json:"restored,omitempty"`
}

// resumption is a checkpoint that work may go on from.
type resumption struct {
	found  *found
	record *record.Record
	def    *workflow.Definition
	answer *ResumeAnswer
}

// Resume says where work stopped, and with Accept goes on from there.
func (s *Service) Resume(ctx context.Context, req ResumeRequest) (*ResumeAnswer, error) {
	r, err := s.findResumption(ctx, req)
	if err != nil {
		return nil, err
	}
	if err := s.weigh(ctx, r, req); err != nil {
		return nil, err
	}
	a := r.answer
	if !a.CanResume {
		return a, &Error{Kind: KindRejected, Message: a.Message, Hints: append(append([]string{}, a.Refusals...), a.Warnings...)}
	}
	if !req.Accept {
		if len(a.Questions) > 0 {
			return a, &Error{Kind: KindRefused, Message: strings.Join(a.Questions, " "), Hints: []string{"--accept answers yes", "--fresh closes the session as abandoned"}}
		}
		return a, nil
	}
	return a, s.accept(ctx, r)
}

// findResumption finds the checkpoint: named, or the newest open session that
// fits.
func (s *Service) findResumption(ctx context.Context, req ResumeRequest) (*resumption, error) {
	f, err := s.resumeTarget(ctx, req)
	if err != nil {
		return nil, err
	}
	rec, _, _, err := s.readRecord(ctx, f.entry)
	if err != nil {
		return nil, damaged(f.entry, err)
	}
	def, err := s.definition(f.state.Workflow)
	if err != nil {
		return nil, err
	}
	return &resumption{found: f, record: rec, def: def}, nil
}

func (s *Service) resumeTarget(ctx context.Context, req ResumeRequest) (*found, error) {
	if req.Target != "" {
		if session, err := name.ParseSession(req.Target); err == nil {
			st, err := s.store.State(ctx, session)
			if err == nil {
				return currentOf(st)
			}
		}
		return s.resolve(ctx, "", req.Target)
	}
	if req.Type == "" && req.Match == "" {
		session, err := s.chooseSession(ctx, "")
		if err != nil {
			return nil, err
		}
		st, err := s.state(ctx, session)
		if err != nil {
			return nil, err
		}
		return currentOf(st)
	}
	all, err := s.Sessions(ctx)
	if err != nil {
		return nil, err
	}
	for _, m := range all { // the newest first
		st, err := s.store.State(ctx, m.Session)
		if err != nil || st.CurrentEntry() == nil || !strings.HasPrefix(string(m.Session), req.Type) || isClosed(m.Status) {
			continue
		}
		if req.Match == "" || s.describes(ctx, st, req.Match) {
			return currentOf(st)
		}
	}
	return nil, &Error{Kind: KindNotFound, Message: "no unfinished session fits", Hints: []string{"`git checkpoint session list` shows the sessions"}}
}

func currentOf(st *journal.State) (*found, error) {
	e := st.CurrentEntry()
	if e == nil {
		return nil, noCheckpoint(st)
	}
	return &found{st.Session, st, e}, nil
}

// describes reports whether a session's name, topic or state's own description
// has the text, case aside.
func (s *Service) describes(ctx context.Context, st *journal.State, text string) bool {
	has := func(in string) bool { return strings.Contains(strings.ToLower(in), strings.ToLower(text)) }
	if has(string(st.Session)) || has(st.Topic) {
		return true
	}
	def, err := s.definition(st.Workflow)
	if err != nil {
		return false
	}
	rec, _, _, err := s.readRecord(ctx, st.CurrentEntry())
	if err != nil {
		return false
	}
	facts, err := def.Read(rec.State)
	return err == nil && has(facts.Topic)
}

// weigh lets the workflow judge the checkpoint and its surroundings.
func (s *Service) weigh(ctx context.Context, r *resumption, req ResumeRequest) error {
	in := workflow.ResumeInput{Situation: s.situation(r.found.state, base{record: r.record}), Current: req.Current}
	if len(req.Current) > 0 {
		if _, err := record.ParseJSON(req.Current, record.Limits{}); err != nil {
			return usage("--current FILE takes the issue as JSON", "the current issue is refused: %v", err)
		}
	}
	if b := name.Ref(r.record.Git.Branch); b != "" {
		in.Branch = strings.TrimPrefix(string(b), "refs/heads/")
		_, err := s.repo.Batch().Resolve(ctx, b)
		in.BranchGone = errors.Is(err, git.ErrMissing) && b != s.repo.Head.Branch
	}
	tree, err := s.treeNow(ctx, r.record)
	if err != nil {
		return err
	}
	changed, err := s.diffFiles(ctx, r.record.Snapshot.Tree, tree, nil)
	if err != nil {
		return err
	}
	if s.elsewhereMade(r.found) {
		changed = []FileChange{} // made in another clone or worktree: nothing was edited here
	}
	for _, c := range changed {
		in.Changed = append(in.Changed, c.Path)
	}
	for _, f := range r.def.Files(r.record.State) {
		if !s.fileExists(f.Path) {
			in.Missing = append(in.Missing, f)
		}
	}
	got := r.def.Resume(in)
	r.answer = resumeAnswer(r, got, changed)
	r.answer.AgeSeconds = int64(in.Age.Seconds())
	return nil
}

func resumeAnswer(r *resumption, got workflow.Resume, changed []FileChange) *ResumeAnswer {
	orEmpty := func(l []json.RawMessage) []json.RawMessage {
		if l == nil {
			return []json.RawMessage{}
		}
		return l
	}
	a := &ResumeAnswer{
		Session: r.found.session, Checkpoint: r.found.entry.Checkpoint, Status: r.record.Status, CanResume: got.CanResume,
		Action: string(got.Action), ResumePoint: got.ResumePoint, Completed: orEmpty(got.Completed), Pending: orEmpty(got.Pending),
		Progress: got.Progress, Warnings: append([]string{}, got.Warnings...), Questions: append([]string{}, got.Questions...),
		State: got.State, Label: r.found.entry.Label, Topic: r.found.state.Topic, Message: got.Message, Text: got.ProgressText,
		Batches: got.Batches, Restore: got.Restore, Refusals: got.Refusals, Error: r.record.Error, Changed: changed,
	}
	if a.Error == nil {
		a.Error = json.RawMessage("null")
	}
	return a
}

// elsewhereMade reports whether the checkpoint was made in another worktree or
// clone, and this one holds no session's work.
func (s *Service) elsewhereMade(f *found) bool {
	id, err := s.store.WorktreeID()
	if err != nil {
		return false
	}
	for _, e := range f.state.Events {
		if e.WorktreeID == id {
			return false
		}
	}
	return true
}

func (s *Service) fileExists(p string) bool {
	if !filepath.IsAbs(p) {
		p = filepath.Join(s.repo.WorkTree, filepath.FromSlash(p))
	}
	_, err := os.Lstat(p)
	return err == nil
}

// accept records that work goes on, makes the session active, and in a clean
// worktree that holds no session's work brings files, index and outputs.
func (s *Service) accept(ctx context.Context, r *resumption) error {
	active, err := s.store.ActiveSession()
	if err != nil {
		return classify(err)
	}
	bring := false
	if active == "" && s.elsewhereMade(r.found) {
		if bring, err = s.clean(ctx); err != nil {
			return err
		}
	}
	if bring {
		roll, err := s.PlanRollback(ctx, RollbackRequest{Session: string(r.found.session), Ref: string(r.found.entry.Checkpoint), Reason: "resume"})
		if err != nil {
			return err
		}
		if r.answer.Restored, err = roll.Apply(ctx); err != nil {
			return err
		}
	} else if tree, err := s.treeNow(ctx, r.record); err == nil && tree != r.record.Snapshot.Tree {
		r.answer.Warnings = append(r.answer.Warnings, fmt.Sprintf("files stay as they are; `git checkpoint rollback %s` brings those of the checkpoint", r.found.entry.Checkpoint))
	}
	e, err := s.event(journal.KindResume, r.found.session)
	if err != nil {
		return classify(err)
	}
	e.Checkpoint, e.Label = r.found.entry.Checkpoint, r.found.entry.Label
	if err := s.append(ctx, r.found.session, e); err != nil {
		return err
	}
	r.answer.Accepted = true
	return classify(s.store.SetActiveSession(r.found.session))
}

// clean reports whether nothing in the worktree differs from HEAD.
func (s *Service) clean(ctx context.Context) (bool, error) {
	if s.repo.Head.OID == "" {
		return false, nil
	}
	commit, err := s.repo.ReadCommit(ctx, string(s.repo.Head.OID))
	if err != nil {
		return false, classify(err)
	}
	tree, err := s.treeNow(ctx, nil)
	return tree == commit.Tree, err
}
