package transfer

// A plan is made in memory, in an importMap: a small model of the session that tracks what the fold
// would say after each planned event. That lets it place later documents and find the targets of
// rollbacks before anything is written.

import (
	"context"
	"encoding/json"
	"fmt"
	"strings"
	"time"

	"git-checkpoint/internal/core/checkpoint"
	"git-checkpoint/internal/core/workflow"
	"git-checkpoint/internal/format/journal"
	"git-checkpoint/internal/format/name"
	"git-checkpoint/internal/format/record"
	"git-checkpoint/internal/git"
	"git-checkpoint/internal/storage/store"
)

// importMap is a session while an import adds to it.
type importMap struct {
	entries   []importEntry     // in the order of the journal
	current   int               // index in entries; -1: none
	digests   map[string]string // maps a document's key to the digest of its newest version
	byKey     map[string]int    // index of the newest entry with the key
	rollbacks map[string]bool   // the rollbacks that the journal has already, by rollbackKey
}

// importEntry is a checkpoint of the session. The id is empty until the checkpoint is
// written.
type importEntry struct {
	id        name.ID
	key       string
	label     string
	step      int
	stepName  string
	iteration string
	milestone bool
	live      bool
	tree      name.OID
}

// newImportMap returns the importMap of the session as it is now. known are the documents that an
// export of the session's own checkpoints would write.
func newImportMap(st *journal.State, known map[string]KnownDocument) *importMap {
	l := &importMap{current: -1, digests: map[string]string{}, byKey: map[string]int{}, rollbacks: map[string]bool{}}
	if st == nil {
		return l
	}
	keys := map[name.ID]string{}
	for key, k := range known {
		keys[k.ID], l.digests[key] = key, k.Digest
	}
	current := -1
	for _, e := range st.Checkpoints() {
		// Dead checkpoints cannot become current again, and safety checkpoints are not part of a
		// layout.
		if e.Dead || e.Safety {
			continue
		}
		key := e.Event().Trailer(checkpoint.TrailerKey)
		// Imported checkpoints have a digest in their event. Others are known by what they
		// would export to.
		if digest := e.Event().Trailer(checkpoint.TrailerDigest); digest != "" {
			l.digests[key] = digest
		} else {
			key = keys[e.Checkpoint]
		}
		l.add(importEntry{
			id: e.Checkpoint, key: key, label: e.Label, step: e.Step, stepName: e.Event().StepName, iteration: e.Event().Iteration,
			milestone: e.Milestone, live: e.Live,
		})
		if e.Checkpoint == st.Newest {
			current = len(l.entries) - 1
		}
	}
	l.current = current
	for _, r := range st.Rollbacks {
		l.rollbacks[rollbackKey(r.FromLabel, r.ToLabel, r.Time, r.Reason)] = true
	}
	return l
}

// rollbackKey identifies a rollback of another system, which has no id.
func rollbackKey(from, to string, at time.Time, reason string) string {
	return strings.Join([]string{from, to, at.UTC().Format(time.RFC3339), reason}, "\x00")
}

// add appends a live checkpoint and makes it current.
func (l *importMap) add(e importEntry) {
	l.entries = append(l.entries, e)
	l.byKey[e.key] = len(l.entries) - 1
	l.current = len(l.entries) - 1
}

// find returns the index of the checkpoint with this key or, failing that, label; -1 if
// none has it.
func (l *importMap) find(called string) int {
	if i, ok := l.byKey[called]; ok {
		return i
	}
	for i := len(l.entries) - 1; i >= 0; i-- {
		if l.entries[i].label == called {
			return i
		}
	}
	return -1
}

// addTo fills in req with what the workflow needs to know of the session to place a new
// checkpoint.
func (l *importMap) addTo(st *journal.State, req *workflow.PlaceRequest) {
	req.Milestones = func(step int) (iterations []string, named string) {
		for _, e := range l.entries {
			if e.live && e.milestone && e.step == step {
				iterations, named = append(iterations, e.iteration), e.stepName
			}
		}
		return iterations, named
	}
	if l.current >= 0 {
		n := l.entries[l.current].step
		req.Last = &n
	}
	if st != nil {
		for n := range st.Skipped {
			req.Skipped = append(req.Skipped, n)
		}
	}
}

// planned is a step of the import that adds something: a document, a rollback, or neither
// for the event that makes a checkpoint current.
type planned struct {
	document *ImportDocument
	digest   string // of the document
	rollback *ImportRollback
	record   *record.Record
	// entry is the index of the new checkpoint in the importMap, target that of a rollback's
	// target, and discard are those that the rollback discards. told is the index of the
	// document in the report.
	entry   int
	told    int
	target  int
	discard []int
}

// plan decides for each document whether it is new, changed or known, and for each rollback
// whether it is new. It resets the importMap and the report (im.told) first.
func (im *importing) plan(v store.View) []planned {
	im.importMap, im.told = newImportMap(v.State, im.in.Known), nil
	var out []planned
	for i := range im.in.Steps {
		d, r := im.in.Steps[i].Document, im.in.Steps[i].Rollback
		if r != nil {
			if p, ok := im.planRollback(r); ok {
				out = append(out, p)
			}
			continue
		}
		told := Imported{Session: im.session, Key: d.Key, Path: d.Path, Action: ImportAdded, At: checkpoint.Time{Time: d.At}, Commit: im.links.commits[d.Commit]}
		// A known document with another digest was changed in its own system. It becomes a
		// new checkpoint with the same key.
		had := im.importMap.digests[d.Key]
		// An export writes one document for a key. If that is made of a checkpoint of ours, it is
		// known, too, like the one that was imported.
		if had == im.digests[i] || im.in.Known[d.Key].Digest == im.digests[i] {
			told.Action = ImportUnchanged
			if at := im.importMap.find(d.Key); at >= 0 {
				e := im.importMap.entries[at]
				told.ID, told.Label, told.Step = e.id, e.label, e.step
			}
			im.told = append(im.told, told)
			continue
		}
		if had != "" {
			told.Action = ImportChanged
		}
		rec := im.compose(v, d)
		im.importMap.add(importEntry{
			key: d.Key, label: rec.Label, step: rec.Step, stepName: rec.StepName, iteration: rec.Iteration,
			milestone: rec.Milestone, live: true, tree: rec.Snapshot.Tree,
		})
		im.importMap.digests[d.Key] = im.digests[i]
		told.Label, told.Step = rec.Label, rec.Step
		im.told = append(im.told, told)
		out = append(out, planned{document: d, digest: im.digests[i], record: rec, entry: im.importMap.current, told: len(im.told) - 1})
	}
	return append(out, im.planCurrent(len(out) > 0)...)
}

// planRollback plans a rollback. It returns false if the journal has it already or its
// target is not here. In the latter case the history stays available in the kept files
// only.
func (im *importing) planRollback(r *ImportRollback) (planned, bool) {
	to := im.importMap.find(r.To)
	key := rollbackKey(r.From, r.To, r.At, r.Reason)
	if to < 0 || im.importMap.rollbacks[key] {
		return planned{}, false
	}
	im.importMap.rollbacks[key] = true
	p := planned{rollback: r, target: to}
	// As in a rollback here, everything after the target is discarded, and the target lives
	// again.
	for i := to + 1; i < len(im.importMap.entries); i++ {
		if im.importMap.entries[i].live {
			im.importMap.entries[i].live = false
			p.discard = append(p.discard, i)
		}
	}
	im.importMap.entries[to].live = true
	im.importMap.current = to
	return p, true
}

// planCurrent plans the event that makes the layout's current checkpoint current, if the
// documents that were added leave another one current.
func (im *importing) planCurrent(changed bool) []planned {
	if im.in.Current == "" || !changed {
		return nil
	}
	to := im.importMap.find(im.in.Current)
	if to < 0 || to == im.importMap.current {
		return nil
	}
	im.importMap.entries[to].live = true
	im.importMap.current = to
	return []planned{{target: to}}
}

// links are the commits and branches named in documents, as far as they exist in this
// repository.
type links struct {
	commits  map[string]name.OID // by the name in the document
	trees    map[name.OID]name.OID
	branches map[string]bool
}

// isHash reports whether a string can only be a commit id, possibly abbreviated. Documents
// are untrusted, so nothing else of them is passed to git as a revision.
func isHash(s string) bool {
	return len(s) >= 7 && len(s) <= 64 && strings.Trim(s, "0123456789abcdef") == ""
}

// findLinks looks up all commits and branches with two batches.
func findLinks(ctx context.Context, repo *git.Repo, sessions []ImportSession) (links, error) {
	l := links{commits: map[string]name.OID{}, trees: map[name.OID]name.OID{}, branches: map[string]bool{}}
	hashes, branches := map[string]bool{}, map[string]bool{}
	for _, in := range sessions {
		branches[in.Branch] = true
		for _, step := range in.Steps {
			if d := step.Document; d != nil {
				branches[d.Branch] = true
				if isHash(d.Commit) {
					hashes[d.Commit] = true
				}
			}
		}
	}
	var specs, names []string
	for h := range hashes {
		specs, names = append(specs, h+"^{commit}"), append(names, h)
	}
	err := repo.Objects.Batch().Objects(ctx, specs, func(i int, o git.Object, err error) error {
		if err != nil || o.Type != "commit" {
			return nil //nolint:nilerr // it is not here, or several begin so
		}
		c, err := git.ParseCommit(o.OID, o.Data)
		if err == nil {
			l.commits[names[i]], l.trees[o.OID] = o.OID, c.Tree
		}
		return nil
	})
	if err != nil {
		return l, fmt.Errorf("look up the commits that documents name: %w", err)
	}
	var refs []name.Ref
	for b := range branches {
		if ref := name.Ref("refs/heads/" + b); b != "" && isPlainBranch(b) {
			refs = append(refs, ref)
		}
	}
	found, err := repo.Refs.ResolveAll(ctx, refs...)
	if err != nil {
		return l, fmt.Errorf("look up the branches that documents name: %w", err)
	}
	for ref := range found {
		l.branches[strings.TrimPrefix(string(ref), "refs/heads/")] = true
	}
	return l, nil
}

// isPlainBranch reports whether a string is an ordinary branch name and nothing that git
// would expand.
func isPlainBranch(b string) bool {
	return len(b) < 512 && !strings.ContainsAny(b, " ~^:?*[\\\x7f") && !strings.Contains(b, "..") && !strings.Contains(b, "@{") &&
		strings.IndexFunc(b, func(r rune) bool { return r < ' ' }) < 0
}

// branchOf returns the ref of the document's branch, else of the session's, or "" if
// neither exists.
func (l links) branchOf(documents, sessions string) name.Ref {
	for _, b := range []string{documents, sessions} {
		if b != "" && l.branches[b] {
			return name.Ref("refs/heads/" + b)
		}
	}
	return ""
}

// ParseDocument parses a JSON document with the same strict rules as a state.
func ParseDocument(text []byte) (json.RawMessage, error) {
	const maxDocumentDepth = 95 // less than the depth that a record may have, because the record wraps the document
	return record.ParseJSON(text, record.Limits{Depth: maxDocumentDepth})
}
