package interop

import (
	"fmt"

	"git-checkpoint/internal/sys/lazy"
	"git-checkpoint/internal/verb/transfer"
)

// pipeline has one JSON document per requirement (PRD), which its tools update in place:
//
//	.claude/skills/build-pipeline/checkpoints/PRD-014.json
//
// A session is a requirement. The document is the state, and each import of a changed document adds
// a checkpoint to the session.
type pipeline struct{}

// pipelineHome is the directory of the documents.
const pipelineHome = ".claude/skills/build-pipeline/checkpoints"

// pipelineID matches the id of a requirement, such as PRD-014.
var pipelineID = lazy.Pattern(`^PRD-\d{3}$`)

func (l pipeline) read(r *reading) {
	seen := ids{}
	r.each(Pipeline, pipelineHome, r.names(pipelineHome), jsonFiles, func(name string, src *source) error { return l.document(r, name, src, seen) })
}

// document adds the session of one document. The id is the document's own, whatever the file is
// called. Two files with the same content are one session; with different content they are a
// problem.
func (pipeline) document(r *reading, name string, src *source, seen ids) error {
	at := src.at
	// A file that has neither the name nor the main member of a document is somebody else's. One
	// that has either of them, but not the rest, is a damaged document and therefore a problem.
	if !at.IsObject() || !at.Get("prd").Exists() && !pipelineID().MatchString(name) {
		return errForeign
	}
	for _, member := range []string{"prd", "status", "timestamp"} {
		if text(at, member) == "" {
			return fmt.Errorf("it has no %s", member)
		}
	}
	prd := text(at, "prd")
	if !pipelineID().MatchString(prd) || !safeName(name) {
		return fmt.Errorf("prd %q is not of the form PRD-014", prd)
	}
	when, ok := moment(text(at, "timestamp"))
	if !ok {
		return fmt.Errorf("timestamp %q is not an ISO 8601 time from 1970 on", text(at, "timestamp"))
	}
	if err := seen.claim(prd, src); err != nil {
		return err
	}
	// A changed document has the same key, so the import adds a checkpoint after the existing one.
	d := src.document(prd, keptDocument)
	d.At, d.Step = when, whole(at.Get("current_phase"))
	r.addOnce(transfer.ImportSession{Session: prd, Workflow: Pipeline, Topic: text(at, "prd_title"), CreatedAt: when}, d)
	return nil
}
