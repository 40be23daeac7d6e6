package transfer

import (
	"context"
	"encoding/json"
	"fmt"
	"strings"

	"git-checkpoint/internal/format/name"
	"git-checkpoint/internal/format/record"
	"git-checkpoint/internal/git"
)

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
