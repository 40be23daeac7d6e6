package interop

import (
	"cmp"
	"encoding/json"
	"path"
	"strconv"
	"strings"

	"git-checkpoint/internal/format/name"
	"git-checkpoint/internal/verb/create"
	"git-checkpoint/internal/verb/transfer"
)

// facts is what every record has, in the terms that the documents of the five systems have in common. A
// document gets them where the state does not have the member itself.
type facts struct {
	topic                              string
	iteration                          int
	created, modified, deleted, staged []string
	branch, commit                     string
	worktrees                          []string
}

// none is an empty list in a document.
var none = []json.RawMessage{}

func factsOf(a *transfer.Archive, c *transfer.Archived) *facts {
	r := c.Record
	f := &facts{topic: cmp.Or(r.Topic, a.Topic), commit: string(r.Git.Head), branch: shortRef(string(r.Git.Branch))}
	f.staged, f.created = create.FromPaths(r.Git.Staged), create.FromPaths(r.Files.Created)
	f.modified, f.deleted = create.FromPaths(r.Files.Modified), create.FromPaths(r.Files.Deleted)
	for _, w := range r.Git.Worktrees {
		f.worktrees = append(f.worktrees, string(w.Name))
	}
	f.iteration, _ = strconv.Atoi(r.Iteration) //nolint:errcheck // a word has no number
	return f
}

// shortRef returns the name of a branch without refs/heads/.
func shortRef(ref string) string { return strings.TrimPrefix(ref, "refs/heads/") }

// keyOf returns the name that go-team's manifest uses for a checkpoint: the key under which it was
// imported, or else its label. For a checkpoint that does not exist any more, label is used.
func keyOf(a *transfer.Archive, id name.ID, label string) string {
	for _, c := range a.Checkpoints {
		if c.Record.ID != id {
			continue
		}
		if c.Import != nil && c.Import.Format == GoTeam && !c.Import.Here && safeName(c.Import.Key) {
			return c.Import.Key
		}
		return c.Record.Label
	}
	for _, d := range a.Damaged {
		if d.ID == id && d.Key != "" && safeName(d.Key) {
			return d.Key
		} else if d.ID == id {
			return d.Label
		}
	}
	return path.Base(label)
}
