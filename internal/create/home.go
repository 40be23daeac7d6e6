package create

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"

	"git-checkpoint/internal/checkpoint"
	"git-checkpoint/internal/journal"
	"git-checkpoint/internal/name"
	"git-checkpoint/internal/store"
	"git-checkpoint/internal/workflow"
)

// home is where a new checkpoint belongs.
type home struct {
	session  name.Session
	workflow string // for a session without checkpoints; empty: its own, else the configured one
	moved    bool   // the document belongs elsewhere than to the active session
}

// homeOf finds the session of a new checkpoint. What the request, the environment or a person
// chose comes first; else a document that a workflow recognises goes to its own session, and
// anything else to the active session or the one of the branch.
func homeOf(ctx context.Context, s *checkpoint.Service, req Request) (home, error) {
	named, err := s.NamedSession(req.Session)
	if err != nil {
		return home{}, err
	}
	d, err := recognise(s, req)
	if err != nil {
		return home{}, err
	}
	h := home{session: named}
	switch {
	case d != nil && (named == "" || !isChosen(s, req, named)):
		h.session, h.moved, err = d.find(ctx, s, named)
	case named == "":
		h.session, err = branchSession(ctx, s)
	}
	if err != nil || d == nil && req.Workflow == "" {
		return h, err
	}
	return h, h.settle(ctx, s, req, d)
}

// isChosen reports whether somebody said that this session is meant. To go on with one says only
// that it is meant until a document says otherwise.
func isChosen(s *checkpoint.Service, req Request, named name.Session) bool {
	active, err := s.Store.ActiveSession()
	return req.Session != "" || err != nil || active != named || checkpoint.IsFixed(s, named)
}

// settle works out the workflow of the session, and refuses a document that belongs to another
// session.
func (h *home) settle(ctx context.Context, s *checkpoint.Service, req Request, d *foundDocument) error {
	wanted := req.Workflow
	if wanted == "" {
		wanted = d.def.Name
	}
	st, err := s.Store.State(ctx, h.session)
	if errors.Is(err, store.ErrNoSession) {
		h.workflow = wanted
		return d.refuseName(h.session)
	}
	if err != nil {
		return checkpoint.Classify(err)
	}
	if isBlank(st) {
		h.workflow = wanted
		return d.refuseName(h.session)
	}
	if req.Workflow != "" && workflowOf(st) != req.Workflow {
		return checkpoint.Usage("--session NAME starts another one", "session %q follows workflow %s, and --workflow says %s", h.session, workflowOf(st), name.Clip(req.Workflow, name.Said))
	}
	return d.refuseSession(ctx, s, st)
}

// isBlank reports whether a session follows no workflow yet and has nothing that one could
// reject.
func isBlank(st *journal.State) bool {
	return (st.Workflow == "" || st.Workflow == workflow.DefaultName) && st.CurrentEntry() == nil && len(st.Tombstones) == 0
}

func workflowOf(st *journal.State) string {
	if st.Workflow == "" {
		return workflow.DefaultName
	}
	return st.Workflow
}

// foundDocument is a document that a workflow recognised.
type foundDocument struct {
	def   *workflow.Definition
	text  json.RawMessage
	owner string // what it calls its session; empty: it does not tell
}

// recognise finds the workflow that a document is of: the one that was asked for, the
// configured one, else one that is built in. It is nil where none knows the document.
func recognise(s *checkpoint.Service, req Request) (*foundDocument, error) {
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
	d := &foundDocument{text: req.State}
	if err == nil && asked.Knows(req.State) {
		d.def = asked
	} else if d.def = builtinFor(req.State); d.def == nil {
		return nil, nil
	}
	if d.def != asked && req.Workflow != "" {
		if !asked.KnowsDocuments() {
			return nil, nil
		}
		return nil, checkpoint.Usage("leave --workflow out, or make them agree", "the document is one of workflow %s, and --workflow says %s", d.def.Name, asked.Name)
	}
	d.owner = ownerIn(d.def, d.text)
	return d, nil
}

// builtinFor is the built-in workflow that knows a document; nil where none does.
func builtinFor(document json.RawMessage) *workflow.Definition {
	for _, n := range workflow.Names() {
		if def, ok := workflow.Builtin(n); ok && def.Knows(document) {
			return def
		}
	}
	return nil
}

// ownerIn is what a document calls its session; empty where it does not tell.
func ownerIn(def *workflow.Definition, document json.RawMessage) string {
	a, err := def.Accept(document)
	if err != nil {
		return "" // what is wrong with it is said later
	}
	return def.SessionOf(a)
}

// find gives the session that the document belongs to. The active one is it when it holds the
// documents of that name already, or none yet.
func (d *foundDocument) find(ctx context.Context, s *checkpoint.Service, active name.Session) (session name.Session, moved bool, err error) {
	if active != "" {
		st, err := s.Store.State(ctx, active)
		if err == nil && d.fits(ctx, s, st) {
			return active, false, nil
		}
		if err != nil && !errors.Is(err, store.ErrNoSession) {
			return "", false, checkpoint.Classify(err)
		}
	}
	if d.owner == "" {
		if active != "" {
			return active, false, nil
		}
		session, err = branchSession(ctx, s)
		return session, false, err
	}
	session = name.SessionFor(d.owner)
	sessions, _, err := s.Store.Sessions(ctx)
	if err != nil {
		return "", false, checkpoint.Classify(err)
	}
	for _, info := range sessions {
		if info.Session == session {
			break
		}
		if st, err := s.Store.State(ctx, info.Session); err == nil && checkpoint.OwnerOf(st) == d.owner && st.Workflow == d.def.Name {
			session = info.Session // started under another name
			break
		}
	}
	return session, active != "", nil
}

// fits reports whether a session takes the document without a word.
func (d *foundDocument) fits(ctx context.Context, s *checkpoint.Service, st *journal.State) bool {
	return !isBlank(st) && st.Workflow == d.def.Name && d.refuseSession(ctx, s, st) == nil
}

// refuseName refuses a session whose name is that of another document.
func (d *foundDocument) refuseName(session name.Session) error {
	if d == nil || d.owner == "" || !d.def.NamesDocument(string(session)) || session == name.SessionFor(d.owner) {
		return nil
	}
	return d.stranger(string(session), string(session))
}

// refuseSession refuses a session that holds documents of another name or of another system.
func (d *foundDocument) refuseSession(ctx context.Context, s *checkpoint.Service, st *journal.State) error {
	if d == nil {
		return nil
	}
	def, err := s.DefinitionFor(ctx, st)
	if err != nil || !def.KnowsDocuments() {
		return nil //nolint:nilerr // the create says what is wrong with the workflow
	}
	if !def.Knows(d.text) {
		return &checkpoint.Error{
			Kind: checkpoint.KindRejected, Message: fmt.Sprintf("the document is one of workflow %s, and session %q follows %s", d.def.Name, st.Session, def.Name),
			Hints: d.hints(),
		}
	}
	if d.owner == "" {
		return nil
	}
	if owner := ownerOf(ctx, s, def, st); owner != "" && owner != d.owner {
		return d.stranger(string(st.Session), owner)
	} else if owner != "" {
		return nil
	}
	return d.refuseName(st.Session)
}

// ownerOf is what the documents of a session call it; empty where none tells.
func ownerOf(ctx context.Context, s *checkpoint.Service, def *workflow.Definition, st *journal.State) string {
	if owner := checkpoint.OwnerOf(st); owner != "" {
		return owner
	}
	e := st.CurrentEntry()
	if e == nil {
		return ""
	}
	rec, _, _, err := s.ReadRecord(ctx, e)
	if err != nil {
		return ""
	}
	return def.SessionOf(workflow.Accepted{State: rec.State})
}

// stranger says that a session is not the one of the document.
func (d *foundDocument) stranger(session, owner string) error {
	of := ""
	if owner != session {
		of = fmt.Sprintf(" (%s)", name.Clip(owner, name.Said))
	}
	return &checkpoint.Error{
		Kind:    checkpoint.KindRejected,
		Message: fmt.Sprintf("the document belongs to %q, and session %q%s holds another one", name.Clip(d.owner, name.Said), session, of),
		Hints:   d.hints(),
	}
}

func (d *foundDocument) hints() []string {
	if d.owner == "" {
		return nil
	}
	return []string{"--session " + string(name.SessionFor(d.owner)) + " puts it into its own session"}
}
