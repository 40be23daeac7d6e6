package create

// This file decides which session and workflow a new checkpoint belongs to. A state document may
// decide that: a workflow's definition says how to recognise its own documents (session.known_by)
// and in which member they name the session that they belong to, their owner (session.name). So the
// documents of issue 42 go to one session and those of issue 43 to another, whichever is active.

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"sync"

	"git-checkpoint/internal/core/checkpoint"
	"git-checkpoint/internal/core/workflow"
	"git-checkpoint/internal/format/journal"
	"git-checkpoint/internal/format/name"
	"git-checkpoint/internal/format/record"
	"git-checkpoint/internal/storage/store"
)

// home is the session of a new checkpoint.
type home struct {
	session  name.Session
	workflow string       // for a session without checkpoints; empty: the session's own, else the configured one
	moved    bool         // the document belongs to a session other than the active one
	left     name.Session // the active session, if that is another branch's
	renamed  bool         // the branch of the session has another name now
}

// homeOf selects the session of a new checkpoint. A session that the request, the environment or
// the user chose comes first. Otherwise a document that a workflow recognises goes to its own
// session, and anything else goes to the active session or the branch's.
func homeOf(ctx context.Context, s *checkpoint.Sessions, req Request) (home, error) {
	named, err := s.NamedSession(ctx, req.Session)
	if err != nil {
		return home{}, err
	}
	d, err := recognise(s.Rules, req)
	if err != nil {
		return home{}, err
	}
	h := home{session: named}
	// A document goes to its own session unless the user chose one.
	if d != nil && (named == "" || !isChosen(s.Store, req, named)) {
		h.session, h.moved, err = d.find(ctx, s.Rules, named)
	}
	if err == nil && h.session == "" {
		h.session, h.left, err = s.OwnSession(ctx)
		if active, failed := s.Store.ActiveSession(); failed == nil && active != "" && active != h.session {
			h.left = active
		}
	}
	if st, failed := s.Store.State(ctx, h.session); err == nil && failed == nil && req.Session == "" && !checkpoint.IsFixed(s.Repo, h.session) {
		h.renamed = s.Renamed(ctx, st)
	}
	if err != nil || d == nil && req.Workflow == "" {
		return h, err
	}
	return h, h.chooseWorkflow(ctx, s.Rules, req, d)
}

// isChosen reports whether the session was chosen on purpose. A session that is active only because
// the user resumed it was not: a document may still lead to another one.
func isChosen(s *store.Store, req Request, named name.Session) bool {
	active, err := s.ActiveSession()
	return req.Session != "" || err != nil || active != named || checkpoint.IsFixed(s.Repo, named)
}

// chooseWorkflow selects the workflow of the session. It returns an error if the document belongs to
// another session, or if --workflow contradicts the session.
func (h *home) chooseWorkflow(ctx context.Context, s *checkpoint.Rules, req Request, d *foundDocument) error {
	wanted := req.Workflow
	if wanted == "" {
		wanted = d.def.Name
	}
	st, err := s.Store.State(ctx, h.session)
	isNew := errors.Is(err, store.ErrNoSession)
	if err != nil && !isNew {
		return err
	}
	if isNew || isBlank(st) {
		h.workflow = wanted
		return d.refuseName(h.session)
	}
	if req.Workflow != "" && workflowOf(st) != req.Workflow {
		return checkpoint.Usage("--session NAME starts another session", "session %q follows workflow %s, but --workflow is %s", h.session, workflowOf(st), name.Clip(req.Workflow, name.Said))
	}
	return d.refuseSession(ctx, s, st)
}

// isBlank reports whether a session may still take any workflow: it has the default one, and no
// checkpoint now or in the past that another workflow might reject.
func isBlank(st *journal.State) bool {
	return workflowOf(st) == workflow.DefaultName && st.NewestEntry() == nil && len(st.Tombstones) == 0
}

// workflowOf returns the name of the session's workflow. Sessions of the default workflow may have
// no name in the journal.
func workflowOf(st *journal.State) string { return cmp.Or(st.Workflow, workflow.DefaultName) }

// foundDocument is a document that a workflow recognised.
type foundDocument struct {
	def   *workflow.Definition
	req   Request // has the document
	owner string  // the document's name for its session; empty: it has none
	// What the document says; without an owner after the edits, and then also the name of the session that
	// is made for it.
	accepted workflow.Accepted
	made     string
}

// recognise finds the workflow that a document belongs to: the requested or configured one, or else
// a built-in one. It returns nil if none recognises the document. An unknown --workflow is an error
// even without a document.
func recognise(s *checkpoint.Rules, req Request) (*foundDocument, error) {
	if len(req.State) == 0 && req.Workflow == "" {
		return nil, nil
	}
	asked, err := s.Definition(req.Workflow)
	if err != nil && req.Workflow != "" {
		return nil, err
	}
	if len(req.State) == 0 {
		return nil, nil
	}
	d := &foundDocument{req: req}
	if err == nil && d.knownBy(asked) {
		d.def = asked
	}
	for _, n := range workflow.Names() {
		if def, ok := workflow.Builtin(n); d.def == nil && ok && d.knownBy(def) {
			d.def = def
		}
	}
	if d.def == nil {
		return nil, nil
	}
	// --workflow asks for one workflow and the document is of another. If the requested workflow
	// cannot recognise documents, it takes any.
	if d.def != asked && req.Workflow != "" {
		if !asked.KnowsDocuments() {
			return nil, nil
		}
		return nil, checkpoint.Usage("leave out --workflow, or make them agree", "the document belongs to workflow %s, but --workflow is %s", d.def.Name, asked.Name)
	}
	// accept reports what is wrong with the document.
	if a, err := d.def.Accept(req.State); err == nil {
		if d.owner = d.def.SessionOf(a); d.owner == "" {
			if state, err := edited(req, d.def, a.State); err == nil {
				a.State = state
			}
			d.made = d.def.MadeFor(a, s.Store.Now())
		}
		d.accepted = a
	}
	return d, nil
}

// knownBy reports whether a workflow recognises the document as it is or after the edits of the request.
func (d *foundDocument) knownBy(def *workflow.Definition) bool {
	if def.Knows(d.req.State) || len(d.req.Set)+len(d.req.Patch) == 0 {
		return def.Knows(d.req.State)
	}
	a, err := def.Accept(d.req.State)
	if err != nil || a.Record != nil {
		return false
	}
	state, err := edited(d.req, def, a.State)
	return err == nil && def.Knows(state)
}

// activate makes the session active if none is active, or if the document belongs to a session
// other than the active one.
func (r *request) activate(ctx context.Context) {
	s, session := r.s, r.home.session
	active, err := s.Store.ActiveSession()
	if err != nil || active != "" && !r.home.moved && r.home.left == "" {
		// A conversation that ends here did not work on the branch.
		if active == session && r.req.Trigger != workflow.TriggerSessionEnd {
			_ = checkpoint.Follow(ctx, s.Store, session) // the branch's default session is found without that
		}
		return
	}
	choose := checkpoint.Adopt
	if r.req.Session != "" {
		choose = checkpoint.Choose
	}
	err = choose(s, session)
	if err == nil {
		err = checkpoint.Follow(ctx, s.Store, session)
	}
	if err != nil {
		s.Store.Warn(err.Error())
	} else if active != "" && r.home.moved {
		s.Store.Warn(fmt.Sprintf("session %q is now active here: the document belongs to it, not to %q", session, active))
	}
}

// comparedWith names the checkpoint before and its branch if that is another one than that of the checkpoint that was made.
func (b base) comparedWith(in *request, made *record.Record) string {
	if b.onHead {
		before := checkpoint.CalledBy(b.entry)
		if b.record != nil {
			before = checkpoint.MentionOf(b.record).String()
		}
		return fmt.Sprintf("HEAD, not on the files of %s (%s)", before, b.entry.Event().Writer())
	}
	if b.record == nil || in.home.renamed || made.Git.Branch == "" || b.record.Git.Branch == "" || b.record.Git.Branch == made.Git.Branch {
		return ""
	}
	return checkpoint.MentionOf(b.record).String() + " of " + name.Ref(b.record.Git.Branch).Short()
}

// find returns the session that the document belongs to. This is the active one if it has documents
// of the same owner already, or of none yet. Otherwise it is the session named after the owner, or
// one that has the owner's documents under another name. It returns "" for the branch's session.
func (d *foundDocument) find(ctx context.Context, s *checkpoint.Rules, active name.Session) (session name.Session, moved bool, err error) {
	if d.made != "" {
		session, err = d.findNameless(ctx, s, active)
		return session, active != "" && session != active, err
	}
	if active != "" {
		st, err := s.Store.State(ctx, active)
		if err == nil && !isBlank(st) && st.Workflow == d.def.Name && d.refuseSession(ctx, s, st) == nil {
			return active, false, nil
		}
		if err != nil && !errors.Is(err, store.ErrNoSession) {
			return "", false, err
		}
	}
	if d.owner == "" {
		return active, false, nil
	}
	session = name.SessionFor(d.owner)
	sessions, err := s.Store.Sessions(ctx)
	if err != nil {
		return "", false, err
	}
	for _, other := range sessions {
		// The session named after the owner exists. chooseWorkflow checks that it takes the
		// document.
		if other == session {
			break
		}
		if st, err := s.Store.State(ctx, other); err == nil && checkpoint.OwnerOf(st) == d.owner && st.Workflow == d.def.Name {
			session = other // started under another name
			break
		}
	}
	return session, active != "", nil
}

// findNameless is find for a document that does not name its session, such as one of orchestrate without a checkpoint_id. The
// members that all documents of a job share decide (session.job), so that two jobs never mix in one session. It returns the
// active session if it has the document's job, else the newest session with it that is not over, else the one that is made
// for it (session.made).
func (d *foundDocument) findNameless(ctx context.Context, s *checkpoint.Rules, active name.Session) (name.Session, error) {
	made := name.SessionFor(d.made)
	states, err := checkpoint.States(ctx, s.Store, "")
	if err != nil {
		return "", err
	}
	var newest *journal.State
	for _, st := range states {
		if st.Workflow != d.def.Name || st.Session != made && checkpoint.IsOver(ctx, s, st) || d.def.OtherJob(d.accepted.State, stateOf(ctx, s.Store, st)) != "" {
			continue
		}
		if st.Session == active {
			return active, nil
		}
		if st.NewestEntry() != nil && (newest == nil || st.UpdatedAt.After(newest.UpdatedAt)) {
			newest = st
		}
	}
	if newest != nil {
		return newest.Session, nil
	}
	return made, nil
}

// stateOf returns the state of the session's current checkpoint, or nil if there is none that can be
// read.
func stateOf(ctx context.Context, s *store.Store, st *journal.State) []byte {
	if e := st.NewestEntry(); e != nil {
		if rec, err := checkpoint.ReadRecord(ctx, s, e); err == nil {
			return rec.State
		}
	}
	return nil
}

// refuseName returns an error if the session's name is the name of another document, as issue-42 is
// for one of issue 43.
func (d *foundDocument) refuseName(session name.Session) error {
	if d == nil || d.owner == "" || !d.def.NamesDocument(string(session)) || session == name.SessionFor(d.owner) {
		return nil
	}
	return d.stranger(string(session), string(session))
}

// refuseSession returns an error if the session holds documents of another owner or of another
// workflow.
func (d *foundDocument) refuseSession(ctx context.Context, s *checkpoint.Rules, st *journal.State) error {
	if d == nil {
		return nil
	}
	def, err := s.DefinitionFor(ctx, st)
	if err != nil || !def.KnowsDocuments() {
		return nil //nolint:nilerr // the create says what is wrong with the workflow
	}
	if !d.knownBy(def) {
		return checkpoint.Failure(checkpoint.KindRejected, d.hint(), "the document belongs to workflow %s, but session %q follows %s", d.def.Name, st.Session, def.Name)
	}
	if d.owner == "" {
		if def.OtherJob(d.accepted.State, stateOf(ctx, s.Store, st)) != "" {
			return d.stranger(string(st.Session), string(st.Session))
		}
		return nil
	}
	// The journal names the owner, or the current state, for sessions whose documents named it only later.
	switch owner := cmp.Or(checkpoint.OwnerOf(st), def.SessionOf(workflow.Accepted{State: stateOf(ctx, s.Store, st)})); owner {
	case "":
		return d.refuseName(st.Session)
	case d.owner:
		return nil
	default:
		return d.stranger(string(st.Session), owner)
	}
}

// stranger returns the error for a document that belongs to another session.
func (d *foundDocument) stranger(session, owner string) error {
	of := ""
	if owner != session {
		of = fmt.Sprintf(" (%s)", name.Clip(owner, name.Said))
	}
	if d.owner+d.made == "" {
		return checkpoint.Failure(checkpoint.KindRejected, d.hint(), "the document does not say which job it belongs to, and session %q%s holds another one", session, of)
	}
	return checkpoint.Failure(checkpoint.KindRejected, d.hint(), "the document belongs to %q, but session %q%s holds another one", name.Clip(cmp.Or(d.owner, d.made), name.Said), session, of)
}

// hint says how to store the document in its own session.
func (d *foundDocument) hint() string {
	if d.owner == "" { // it does not say which session is its own
		return "--session NAME starts a session for it"
	}
	return "--session " + string(name.SessionFor(d.owner)) + " puts it into its own session"
}

// define selects the workflow and checks that its trigger is switched on.
func (r *request) define(ctx context.Context) (*workflow.Definition, error) {
	if r.req.Fork != nil { // the checkpoint that is copied has passed all rules
		return r.s.Rules.DefinitionFor(ctx, r.req.Fork.From.State)
	}
	var def *workflow.Definition
	var err error
	if r.home.workflow != "" {
		def, err = r.s.Rules.Definition(r.home.workflow)
	} else {
		def, err = r.s.Rules.DefinitionOf(ctx, r.home.session)
	}
	if err != nil {
		return nil, err
	}
	return def, CheckTrigger(r.s.Rules, def, r.home.session, r.req.trigger(workflow.Accepted{}))
}

// definition waits for the workflow that define selects, and returns it or the error of define.
type definition func() (*workflow.Definition, error)

// loadDefinition runs define in the background while capture scans the worktree, because reading the
// journal of a long session takes as long as that scan. No ref and no content may be written before
// the definition is there.
func (r *request) loadDefinition(ctx context.Context) definition {
	var def *workflow.Definition
	done := make(chan error, 1)
	go func() {
		var err error
		def, err = r.define(ctx)
		done <- err
	}()
	wait := sync.OnceValue(func() error { return <-done })
	return func() (*workflow.Definition, error) {
		err := wait()
		return def, err
	}
}
