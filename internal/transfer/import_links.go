package transfer

import (
	"context"
	"encoding/json"
	"fmt"
	"strings"

	"git-checkpoint/internal/checkpoint"
	"git-checkpoint/internal/git"
	"git-checkpoint/internal/name"
	"git-checkpoint/internal/record"
)

// links are the commits and branches that documents name and that exist here.
type links struct {
	commits  map[string]name.OID // by the name in the document
	trees    map[name.OID]name.OID
	branches map[string]bool
}

// isHash accepts what can only be the id of a commit, maybe abbreviated: nothing that a
// document says is looked up as a ref.
func isHash(s string) bool {
	return len(s) >= 7 && len(s) <= 64 && strings.Trim(s, "0123456789abcdef") == ""
}

// findLinks looks all of them up in one go.
func findLinks(ctx context.Context, s *checkpoint.Service, sessions []ImportSession) (links, error) {
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
	err := s.Repo.Batch().Objects(ctx, specs, func(i int, o git.Object, err error) error {
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
		return l, checkpoint.Classify(fmt.Errorf("look up the commits that documents name: %w", err))
	}
	var refs []name.Ref
	for b := range branches {
		if ref := name.Ref("refs/heads/" + b); b != "" && isPlainBranch(b) {
			refs = append(refs, ref)
		}
	}
	found, err := s.Repo.Batch().ResolveAll(ctx, refs...)
	if err != nil {
		return l, checkpoint.Classify(fmt.Errorf("look up the branches that documents name: %w", err))
	}
	for ref := range found {
		l.branches[strings.TrimPrefix(string(ref), "refs/heads/")] = true
	}
	return l, nil
}

// isPlainBranch refuses what git would take for more than a name.
func isPlainBranch(b string) bool {
	return len(b) < 512 && !strings.ContainsAny(b, " ~^:?*[\\\x7f") && !strings.Contains(b, "..") && !strings.Contains(b, "@{") &&
		strings.IndexFunc(b, func(r rune) bool { return r < ' ' }) < 0
}

// branchOf is the ref of a branch that a document names, empty when it is not here.
func (l links) branchOf(documents, sessions string) name.Ref {
	for _, b := range []string{documents, sessions} {
		if b != "" && l.branches[b] {
			return name.Ref("refs/heads/" + b)
		}
	}
	return ""
}

// maxDocumentDepth leaves room for the record around a document.
const maxDocumentDepth = 95

// ParseDocument takes a JSON document as strictly as a state is taken.
func ParseDocument(text []byte) (json.RawMessage, error) {
	return record.ParseJSON(text, record.Limits{Depth: maxDocumentDepth})
}

// Slug is a step's name as labels have it.
func Slug(stepName string) string { return name.Slug(stepName) }
