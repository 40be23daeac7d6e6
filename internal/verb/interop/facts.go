package interop

import (
	"encoding/json"
	"path"
	"strings"

	"git-checkpoint/internal/format/name"
	"git-checkpoint/internal/format/record"
	"git-checkpoint/internal/verb/transfer"
)

// none is an empty list in a document.
var none = []json.RawMessage{}

// branchIn returns the name of the branch that a record was made on, without refs/heads/.
func branchIn(r *record.Record) string {
	return strings.TrimPrefix(string(r.Git.Branch), "refs/heads/")
}

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
