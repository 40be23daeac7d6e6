package interop

import (
	"regexp"
	"sync"

	"git-checkpoint/internal/transfer"
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

func (pipeline) containers() []string { return []string{pipelineHome} }

// pipelineID matches the id of a requirement, such as PRD-014.
var pipelineID = sync.OnceValue(func() *regexp.Regexp { return regexp.MustCompile(`^PRD-\d{3}$`) })

func (l pipeline) read(r *reading) {
	seen := ids{}
	for name, src := range r.documents(pipelineHome, r.wanted) {
		l.document(r, name, src, seen)
	}
}

// document adds the session of one document. The id is the document's own, whatever the file is
// called. Two files with the same content are one session; with different content they are a
// problem.
func (pipeline) document(r *reading, name string, src source, seen ids) {
	at := src.at
	// A file that has neither the name nor the main member of a document is somebody else's. One
	// that has either of them, but not the rest, is a damaged document and therefore a problem.
	if !at.IsObject() || !at.Get("prd").Exists() && !pipelineID().MatchString(name) {
		r.warn("%s: it is not a checkpoint of pipeline and is left out", src.path)
		return
	}
	for _, member := range []string{"prd", "status", "timestamp"} {
		if text(at, member) == "" {
			r.problem(src.path, "it has no %s", member)
			return
		}
	}
	prd := text(at, "prd")
	if !pipelineID().MatchString(prd) || !safeName(name) {
		r.problem(src.path, "prd %q is not of the form PRD-014", prd)
		return
	}
	when, ok := moment(text(at, "timestamp"))
	if !ok {
		r.problem(src.path, "timestamp %q is not an ISO 8601 time", text(at, "timestamp"))
		return
	}
	if !seen.take(r, prd, &src) {
		return
	}
	r.addOnce(src.path, transfer.ImportSession{
		Session: prd, Workflow: Pipeline, Topic: text(at, "prd_title"), CreatedAt: when,
		// A changed document has the same key, so the import adds a checkpoint after the existing
		// one.
		Steps: []transfer.ImportStep{{Document: &transfer.ImportDocument{
			Key: prd, Path: src.path, JSON: src.json, Digest: src.digest, Kept: []transfer.ImportFile{src.kept(keptDocument)}, At: when, Step: whole(at.Get("current_phase")),
		}}},
	})
}
