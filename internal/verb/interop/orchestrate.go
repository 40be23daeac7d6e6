package interop

import (
	"cmp"
	"errors"
	"fmt"
	"path"

	"git-checkpoint/internal/sys/lazy"
	"git-checkpoint/internal/verb/transfer"
)

// orchestrate has one JSON document per workflow, which its tools update in place. They move the
// documents of failed and abandoned workflows to a subdirectory:
//
//	checkpoints/implement_dark_theme_20260302_120000.json
//	checkpoints/failed/<id>.json
//
// A session is a workflow. The document is the state, and each import of a changed document adds a
// checkpoint to the session.
type orchestrate struct{}

const (
	orchestrateHome   = "checkpoints"
	orchestrateFailed = "failed"
)

// orchestrateID matches the id of a document, which ends in the time at which the workflow started.
var orchestrateID = lazy.Pattern(`^[a-zA-Z].*_(\d{8}_\d{6})$`)

func (o orchestrate) read(r *reading) {
	seen := ids{}
	for _, dir := range []string{orchestrateHome, path.Join(orchestrateHome, orchestrateFailed)} {
		r.each(Orchestrate, dir, r.names(dir), jsonFiles, func(name string, src *source) error { return o.document(r, name, src, seen) })
	}
}

// document adds the session of one document. A time that the document lacks is taken from its name,
// and a session never starts after its first checkpoint. The directory, not the document, tells
// whether the session is closed.
//
// go-team keeps directories in checkpoints/ too, and other tools may keep files there. So a file
// that has nothing in common with a document is left out with a warning. A second document with the
// same id and content is a copy that was not removed when the original was moved to the directory
// of failed ones; it is left out as well.
func (o orchestrate) document(r *reading, name string, src *source, seen ids) error {
	parts := orchestrateID().FindStringSubmatch(name)
	at := src.at
	if !at.IsObject() || !at.Get("workflow_type").Exists() && !at.Get("workflow_state").Exists() && parts == nil {
		return errForeign
	}
	for _, member := range []string{"workflow_type", "workflow_state"} {
		if !at.Get(member).Exists() {
			return fmt.Errorf("it has no %s", member)
		}
	}
	id := cmp.Or(text(at, "checkpoint_id"), name)
	if !isPlainID(id) || !safeName(name) {
		return fmt.Errorf("checkpoint_id %q is not a plain file name", id)
	}
	if err := seen.claim(id, src); err != nil {
		return err
	}
	stamp := ""
	if parts != nil {
		stamp = parts[1]
	}
	when, ok := moment(text(at, "updated_at"), text(at, "created_at"), stamp)
	if !ok {
		return errors.New("neither updated_at nor created_at is a time from 1970 on")
	}
	began, ok := moment(text(at, "created_at"), stamp)
	if !ok || began.After(when) {
		began = when
	}
	session, err := sessionOf(id)
	if err != nil {
		return err
	}
	in := transfer.ImportSession{Session: session, Workflow: Orchestrate, Topic: text(at, "workflow_description"), CreatedAt: began}
	if path.Base(path.Dir(src.path)) == orchestrateFailed {
		in.Status = "failed"
		if text(at, "status") == "abandoned" {
			in.Status = "abandoned"
		}
	}
	d := src.document(id, keptDocument)
	d.At, d.Step = when, whole(at.Get("current_phase"))
	r.addOnce(in, d)
	return nil
}
