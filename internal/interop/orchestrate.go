package interop

import (
	"path"
	"regexp"
	"strings"
	"sync"

	"git-checkpoint/internal/transfer"
)

// orchestrate keeps one document per workflow, updated in place; failed and abandoned
// ones stand in a directory of their own.
type orchestrate struct{}

const (
	orchestrateHome   = "checkpoints"
	orchestrateFailed = "failed"
)

func (orchestrate) containers() []string { return []string{orchestrateHome} }

// orchestrateID is how a document of this layout is called.
var orchestrateID = sync.OnceValue(func() *regexp.Regexp {
	return regexp.MustCompile(`^[a-zA-Z].*_(\d{8}_\d{6})$`)
})

func (o orchestrate) read(r *reading) {
	seen := ids{}
	for _, dir := range []string{orchestrateHome, path.Join(orchestrateHome, orchestrateFailed)} {
		for _, e := range r.names(dir) {
			name, isJSON := stem(e.Name(), ".json")
			p := path.Join(dir, e.Name())
			if !isJSON || e.IsDir() || !r.wanted(p) {
				continue
			}
			if src, ok := r.json(p); ok {
				o.document(r, name, src, seen)
			}
		}
	}
}

func (o orchestrate) document(r *reading, name string, src source, seen ids) {
	parts := orchestrateID().FindStringSubmatch(name)
	at := src.at
	if !at.IsObject() || !at.Get("workflow_type").Exists() && !at.Get("workflow_state").Exists() && parts == nil {
		r.warn("%s: it is no checkpoint of orchestrate and stays out", src.path)
		return
	}
	for _, member := range []string{"workflow_type", "workflow_state"} {
		if !at.Get(member).Exists() {
			r.problem(src.path, "it has no %s", member)
			return
		}
	}
	id := text(at, "checkpoint_id")
	if id == "" {
		id = name
	}
	if !isPlainID(id) || !safeName(name) {
		r.problem(src.path, "checkpoint_id %q leads elsewhere", id)
		return
	}
	if !seen.take(r, id, &src) {
		return
	}
	stamp := ""
	if parts != nil {
		stamp = parts[1]
	}
	when, ok := moment(text(at, "updated_at"), text(at, "created_at"), stamp)
	if !ok {
		r.problem(src.path, "it has neither updated_at nor created_at")
		return
	}
	began, ok := moment(text(at, "created_at"), stamp)
	if !ok || began.After(when) {
		began = when
	}
	session, err := sessionOf(id)
	if err != nil {
		r.problem(src.path, "%v", err)
		return
	}
	in := transfer.ImportSession{
		Session: session, Workflow: Orchestrate, Topic: text(at, "workflow_description"), CreatedAt: began,
		Steps: []transfer.ImportStep{{Document: &transfer.ImportDocument{
			Key: id, Path: src.path, JSON: src.json, Digest: src.digest, Kept: []transfer.ImportFile{src.kept(keptDocument)}, At: when, Step: whole(at.Get("current_phase")),
		}}},
	}
	if strings.HasPrefix(src.path, path.Join(orchestrateHome, orchestrateFailed)+"/") {
		in.Status = "failed"
		if text(at, "status") == "abandoned" {
			in.Status = "abandoned"
		}
	}
	for _, other := range r.sessions {
		if other.Session == session { // the same document twice
			r.warn("%s: it says the same as %s", src.path, pathOf(other))
			return
		}
	}
	r.add(src.path, in)
}
