package transfer

// An importMap is a small model of the session that tracks what the fold would say after each event of
// the import. That lets it place later documents and find the targets of rollbacks before the journal
// has any of them.

import (
	"context"
	"strings"
	"time"

	"git-checkpoint/internal/core/checkpoint"
	"git-checkpoint/internal/core/workflow"
	"git-checkpoint/internal/format/journal"
	"git-checkpoint/internal/format/name"
	"git-checkpoint/internal/git"
)

// importMap is a session while an import adds to it.
type importMap struct {
	entries   []importEntry     // in the order of the journal
	current   int               // index in entries; -1: none
	digests   map[string]string // maps a document's key to the digest of its newest version
	byKey     map[string]int    // index of the newest entry with the key
	rollbacks map[string]bool   // the rollbacks that the journal has already, by rollbackKey
}

// importEntry is a checkpoint of the session. In a dry run a new one has no id.
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

// isHash reports whether a string can only be a commit id, possibly abbreviated. Documents
// are untrusted, so nothing else of them is passed to git as a revision.
func isHash(s string) bool {
	return len(s) >= 7 && len(s) <= 64 && strings.Trim(s, "0123456789abcdef") == ""
}

// commitOf returns the commit that a document names, if it is here and no other one begins so.
func (im *importing) commitOf(ctx context.Context, named string) (c git.Commit, err error) {
	if isHash(named) {
		if c, err = im.s.Repo.Commits.Read(ctx, named+"^{commit}"); err != nil {
			return git.Commit{}, ctx.Err()
		}
	}
	return c, nil
}

// branchOf returns the ref of the document's branch, else of the session's, or "" if
// neither exists.
func (im *importing) branchOf(ctx context.Context, document string) name.Ref {
	for _, b := range []string{document, im.in.Branch} {
		ref := name.Ref("refs/heads/" + b)
		if b == "" || !isPlainBranch(b) {
			continue
		}
		if _, err := im.s.Repo.Refs.Resolve(ctx, ref); err == nil {
			return ref
		}
	}
	return ""
}

// isPlainBranch reports whether a string is an ordinary branch name and nothing that git
// would expand.
func isPlainBranch(b string) bool {
	return len(b) < 512 && !strings.ContainsAny(b, " ~^:?*[\\\x7f") && !strings.Contains(b, "..") && !strings.Contains(b, "@{") &&
		strings.IndexFunc(b, func(r rune) bool { return r < ' ' }) < 0
}
