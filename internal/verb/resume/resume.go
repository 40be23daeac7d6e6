// Package resume continues a job. Do finds the session to continue, verifies that its checkpoint is
// whole, lets the workflow decide whether work can go on from it, and does what the user chose.
//
// find.go selects the checkpoint, weigh.go compares it with the worktree and asks the workflow,
// this file carries out the choice, and context.go writes the summary for a coding agent.
package resume

import (
	"context"
	"encoding/json"
	"errors"
	"regexp"
	"slices"
	"strconv"
	"strings"

	"git-checkpoint/internal/core/checkpoint"
	"git-checkpoint/internal/core/workflow"
	"git-checkpoint/internal/format/journal"
	"git-checkpoint/internal/format/name"
	"git-checkpoint/internal/format/record"
	"git-checkpoint/internal/git"
	"git-checkpoint/internal/storage/store"
	"git-checkpoint/internal/verb/inspect"
	"git-checkpoint/internal/verb/retain"
	"git-checkpoint/internal/verb/rollback"
	"git-checkpoint/internal/verb/session"
)

// Choice is what the user chose to do.
type Choice string

// The choices.
const (
	Report Choice = ""       // report the situation, with the questions that have to be answered
	Accept Choice = "accept" // answer yes to all questions, and go on
	Fresh  Choice = "fresh"  // close the session, so that a new one can be started
	View   Choice = "view"   // report the situation, without questions
	Delete Choice = "delete" // delete the session's checkpoints
)

// Request is the input of Do.
type Request struct {
	Target  string // a session or a checkpoint; empty: the active or newest unfinished session
	Type    string // prefix of the session's name or of its type of work
	Match   string // text in its name, topic or description
	Current []byte // the issue as it is now, as JSON
	From    string // the file that Current was read from; it does not count as a change
	Choice  Choice
	// Ask asks the person before files come onto a different branch from the one they were made on;
	// an error means no. nil: there is nobody to ask, and it is refused.
	Ask func(ctx context.Context, question string) error
}

// Answer is what `resume` prints.
type Answer struct {
	Session     name.Session               `json:"session"`
	Checkpoint  name.ID                    `json:"checkpoint"`
	Status      string                     `json:"status"`
	CanResume   bool                       `json:"can_resume"`
	Action      string                     `json:"action"` // resume, ask or refuse
	ResumePoint string                     `json:"resume_point"`
	Completed   workflow.Items             `json:"completed"`
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
	Elsewhere   string                     `json:"elsewhere,omitempty"` // the checkpoint was made on another branch
	Accepted    bool                       `json:"accepted"`
	Closed      string                     `json:"closed,omitempty"` // the status that --fresh closed the session with
	Restored    *rollback.Answer           `json:"restored,omitempty"`
	Removed     *retain.Removed            `json:"removed,omitempty"`

	Steps      bool                `json:"-"` // Completed has the finished steps, and nothing else
	BatchNames []string            `json:"-"` // of each of Batches, where known
	Titles     map[string]any      `json:"-"` // of items of Completed and Pending
	Next       string              `json:"-"` // after --fresh, what comes next
	Begin      *session.Request    `json:"-"` // the session that Next begins; nil: a document does
	Decisions  json.RawMessage     `json:"-"`
	Mention    checkpoint.Mention  `json:"-"` // what a person sees of it
	Choice     Choice              `json:"-"` // of the request
	Difference *inspect.Difference `json:"-"` // between the checkpoint's files and the worktree
}

// resumption is a checkpoint that work may be resumed from.
type resumption struct {
	s      *checkpoint.Service
	found  *checkpoint.Found
	record *record.Record
	def    *workflow.Definition
	answer *Answer
}

// Do reports where work stopped, and does what was chosen. It may return an answer and an error:
// then work cannot go on, but the answer still describes the situation.
func Do(ctx context.Context, s *checkpoint.Service, req Request) (*Answer, error) {
	f, err := resumeTarget(ctx, s.Sessions, req)
	if err != nil {
		return nil, err
	}
	if req.Choice == Delete { // damaged or not
		a := bare(f)
		if a.Removed, err = retain.WholeSession(ctx, s.Sessions, string(f.Session)); err == nil {
			a.Removed, err = a.Removed.Apply(ctx, s)
		}
		return a, err
	}
	if req.Choice == Accept && f.Entry.Checkpoint == f.State.Newest && !strings.Contains(req.Target, ":") && !f.State.Has(name.ID(req.Target)) {
		if err := checkpoint.RefuseLines(ctx, s.Store, f.State, "resume "+string(f.Session)+":%s --accept"); err != nil {
			return nil, err
		}
	}
	r := &resumption{s: s, found: f}
	// Deleting and closing must work for damaged checkpoints, too.
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
	if req.Choice == Report || req.Choice == View {
		retain.Use(ctx, s.Rules, f.State)
	}
	switch a := r.answer; req.Choice {
	case View:
		return a, nil
	case Fresh:
		return a, r.closeOld(ctx, a.Status)
	case Accept:
		if !a.CanResume {
			return a, r.refused()
		}
		return a, r.accept(ctx, req)
	// A report fails if work cannot go on, or if there is a question that only the user can answer.
	default:
		switch {
		case !a.CanResume:
			return a, r.refused()
		case len(a.Questions) > 0:
			return a, &checkpoint.Error{
				Kind: checkpoint.KindRefused, Message: strings.Join(a.Questions, " "),
				Hints: []string{"--accept answers yes and continues", "--fresh closes the session, so that work can start afresh"},
			}
		}
		return a, nil
	}
}

// refused returns the error for a checkpoint from which work cannot go on. The workflow gave the
// reasons.
func (r *resumption) refused() error {
	a := r.answer
	e := &checkpoint.Error{Kind: checkpoint.KindRejected, Message: a.Refusals[0]}
	e.Hints = append(append(e.Hints, a.Refusals[1:]...), a.Warnings...)
	if !checkpoint.IsClosed(r.found.State.Status) {
		e.Hints = append(e.Hints, "`git checkpoint resume "+string(a.Session)+" --fresh` closes the session, so that work can start afresh")
	}
	return e
}

// closeOld closes the session, because work will start again in a new one. It is closed as
// abandoned, unless said, the status of its checkpoint, is a final one.
func (r *resumption) closeOld(ctx context.Context, said string) error {
	st, status := r.found.State, "abandoned"
	r.answer.Next = r.next(ctx)
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

// next says how to start afresh: with the first document of a job whose documents name their session,
// otherwise with a session like this one.
func (r *resumption) next(ctx context.Context) string {
	st := r.found.State
	if r.def.NamesDocument(string(st.Session)) {
		return "the first document, with git checkpoint save --state"
	}
	begin := &session.Request{Name: string(r.freeName(ctx)), Workflow: st.Workflow, Topic: r.answer.Topic}
	begin.Branch = st.Started != nil && st.Started.Mode == checkpoint.ModeOwnBranch
	r.answer.Begin = begin
	words := []string{"git checkpoint session start", begin.Name}
	if begin.Workflow != "" {
		words = append(words, "--workflow", begin.Workflow)
	}
	if begin.Topic != "" {
		words = append(words, "--topic", name.Quoted(begin.Topic))
	}
	if begin.Branch {
		words = append(words, "--branch")
	}
	return strings.Join(words, " ")
}

// freeName returns the name of the session with the first number that makes it a new one.
func (r *resumption) freeName(ctx context.Context) name.Session {
	const maxNames = 10000 // how many names are tried
	isFree := func(s string) bool {
		_, err := r.s.Store.State(ctx, name.Session(s))
		return errors.Is(err, store.ErrNoSession) && r.s.Store.CheckTwin(ctx, name.Session(s)) == nil
	}
	base := string(r.found.Session)
	// The next name after tiles-2 is tiles-3 if there is a session tiles, because then the number
	// is of this kind.
	if cut := regexp.MustCompile(`-[0-9]{1,4}$`).ReplaceAllString(base, ""); cut != base && !isFree(cut) {
		base = cut
	}
	for n := 2; ; n++ {
		free := name.SessionFor(base + "-" + strconv.Itoa(n))
		if isFree(string(free)) || n > maxNames {
			return free
		}
	}
}

// freshWithout is Fresh for a checkpoint that cannot be read: the journal is enough to close the
// session.
func (r *resumption) freshWithout(ctx context.Context, damage error) (*Answer, error) {
	var err error
	if r.def, err = r.s.Rules.ReadableDefinition(ctx, r.found.State); err != nil {
		return nil, err
	}
	// The damage is no reason to keep the session open, but the user should know.
	r.s.Store.Warn(damage.Error())
	r.answer = bare(r.found)
	r.answer.Choice, r.answer.Workflow = Fresh, r.found.State.Workflow
	return r.answer, r.closeOld(ctx, r.answer.Status)
}

// bare returns an answer with only what the journal says about a checkpoint.
func bare(f *checkpoint.Found) *Answer {
	return &Answer{
		Session: f.Session, Checkpoint: f.Entry.Checkpoint, Label: f.Entry.Label, Status: f.Entry.Event().CheckpointStatus, Topic: f.State.Topic,
		CreatedAt: checkpoint.Time{Time: f.Entry.Event().Time}, Mention: checkpoint.Mention{Name: checkpoint.NameTo(f.State, f.Entry)},
	}
}

// accept resumes the session: it makes it active and writes a resume event. In a clean worktree in
// which no session has worked, it restores the checkpoint's files and index.
func (r *resumption) accept(ctx context.Context, req Request) error {
	s, f, a := r.s, r.found, r.answer
	bring, err := r.mayBring(ctx)
	if err != nil {
		return err
	}
	if bring {
		// As a rollback, so that it makes a safety checkpoint and can be undone.
		roll, err := rollback.Prepare(ctx, s, rollback.Request{Session: string(f.Session), Ref: string(f.Entry.Checkpoint), Reason: checkpoint.ReasonResume})
		if err != nil {
			return err
		}
		if err := r.askElsewhere(ctx, req, roll.Answer().Branch.Moved); err != nil {
			return err
		}
		if a.Restored, err = roll.Apply(ctx); err != nil {
			return err
		}
		a.Changed = nil
	} else if tree, err := inspect.TreeNow(ctx, s, r.record); err == nil && tree != r.record.Snapshot.Tree && r.record.Snapshot.Tree != "" {
		a.Warnings = append(a.Warnings, "the files were not changed; `git checkpoint rollback "+typedIn(s.Store, f)+"` restores those of the checkpoint")
	}
	err = checkpoint.Append(ctx, s.Store, f.Session, journal.KindResume, func(e *journal.Event) {
		e.Checkpoint, e.Label = f.Entry.Checkpoint, f.Entry.Label
		// Resuming opens a closed or paused session again.
		if st := f.State.Status; st != "" && st != checkpoint.StatusOpen {
			e.Status = checkpoint.StatusOpen
		}
	})
	if err != nil {
		return err
	}
	a.Accepted = true
	if err := checkpoint.ChooseResumed(s, f.Session); err != nil {
		return err
	}
	return checkpoint.Follow(ctx, s.Store, f.Session)
}

// typedIn returns what the user types for the checkpoint, with its session if that is not the
// active one.
func typedIn(s *store.Store, f *checkpoint.Found) string {
	if active, err := s.ActiveSession(); err == nil && active == f.Session {
		return checkpoint.TypedName(f.State, f.Entry)
	}
	return string(f.Session) + ":" + checkpoint.TypedName(f.State, f.Entry)
}

// mayBring reports whether accept may replace the files here. Where the worktree stands in the session, the
// checkpoint is on another line, and nothing here is unsaved. Else no session is active, none has worked
// here, and the worktree is clean: the case of a fresh clone.
func (r *resumption) mayBring(ctx context.Context) (bool, error) {
	if place := r.found.State.Entry(r.found.State.Place); place != nil {
		return r.savedAt(ctx, place)
	}
	active, err := r.s.Store.ActiveSession()
	if err != nil || active != "" || r.record.Snapshot.Tree == "" {
		return false, err
	}
	// If a session has worked here, the files are its work, even if HEAD has them all.
	worked, err := hasWorked(ctx, r.s.Store)
	if err != nil || worked {
		return false, err
	}
	return clean(ctx, r.s)
}

// savedAt reports whether all files here are those of the place, and the checkpoint is on another line.
func (r *resumption) savedAt(ctx context.Context, place *journal.Entry) (bool, error) {
	e := r.found.Entry
	if r.record.Snapshot.Tree == "" || !e.Live || r.found.State.OnLine(place)[e.Place] {
		return false, nil
	}
	was, err := checkpoint.ReadRecord(ctx, r.s.Store, place)
	if err != nil {
		return false, ctx.Err()
	}
	now, err := inspect.TreeNow(ctx, r.s, was)
	return err == nil && now == was.Snapshot.Tree, ctx.Err()
}

// hasWorked reports whether any session has a checkpoint that was made in this worktree.
func hasWorked(ctx context.Context, s *store.Store) (bool, error) {
	// Events carry the id of the worktree that wrote them.
	id, err := s.WorktreeID()
	if err != nil {
		return false, err
	}
	states, err := checkpoint.States(ctx, s, "")
	return slices.ContainsFunc(states, func(st *journal.State) bool { return st.Worked(id, journal.KindCreate) }), err
}

// clean reports whether worktree and index are as in HEAD. Without a commit they must be empty.
func clean(ctx context.Context, s *checkpoint.Service) (bool, error) {
	want, err := headTree(ctx, s.Repo)
	if err != nil {
		return false, err
	}
	now, err := inspect.Capture(ctx, s, nil)
	if err != nil {
		return false, err
	}
	return now.Tree == want && now.Index.Tree == want && len(now.Index.Unmerged) == 0, nil
}

// headTree returns the tree of HEAD, or the empty tree before the first commit.
func headTree(ctx context.Context, repo *git.Repo) (name.OID, error) {
	if repo.Head.OID == "" {
		return repo.Trees.Write(ctx, nil)
	}
	commit, err := repo.Commits.Read(ctx, string(repo.Head.OID))
	return commit.Tree, err
}
