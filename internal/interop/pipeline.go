package interop

import (
	"path"
	"regexp"
	"sync"

	"git-checkpoint/internal/transfer"
)

// pipeline keeps one document per requirement, updated in place.
type pipeline struct{}

const pipelineHome = ".claude/skills/build-pipeline/checkpoints"

func (pipeline) containers() []string { return []string{pipelineHome} }

var pipelineID = sync.OnceValue(func() *regexp.Regexp { return regexp.MustCompile(`^PRD-\d{3}$`) })

func (l pipeline) read(r *reading) {
	seen := ids{}
	for _, e := range r.names(pipelineHome) {
		name, isJSON := stem(e.Name(), ".json")
		p := path.Join(pipelineHome, e.Name())
		if !isJSON || e.IsDir() || !r.wanted(p) {
			continue
		}
		if src, ok := r.json(p); ok {
			l.document(r, name, src, seen)
		}
	}
}

func (pipeline) document(r *reading, name string, src source, seen ids) {
	at := src.at
	if !at.IsObject() || !at.Get("prd").Exists() && !pipelineID().MatchString(name) {
		r.warn("%s: it is no checkpoint of pipeline and stays out", src.path)
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
		r.problem(src.path, "prd %q is not like PRD-014", prd)
		return
	}
	when, ok := moment(text(at, "timestamp"))
	if !ok {
		r.problem(src.path, "timestamp %q is no ISO 8601 time", text(at, "timestamp"))
		return
	}
	if !seen.take(r, prd, &src) {
		return
	}
	for _, other := range r.sessions {
		if other.Session == prd {
			r.warn("%s: it says the same as %s", src.path, pathOf(other))
			return
		}
	}
	r.add(src.path, transfer.ImportSession{
		Session: prd, Workflow: Pipeline, Topic: text(at, "prd_title"), CreatedAt: when,
		Steps: []transfer.ImportStep{{Document: &transfer.ImportDocument{
			Key: prd, Path: src.path, JSON: src.json, Digest: src.digest, Kept: []transfer.ImportFile{src.kept(keptDocument)}, At: when, Step: whole(at.Get("current_phase")),
		}}},
	})
}
