package answer

import (
	"io"
	"strings"

	"git-checkpoint/internal/retain"
)

// Marked is the answer of pin and unpin.
type Marked []retain.Marked

// JSON writes a line for each checkpoint.
func (a Marked) JSON(w io.Writer) error { return jsonLines(w, a) }

// text names the checkpoints.
func (a Marked) text(p *page) {
	verb := "Unpinned: "
	labels := make([]string, len(a))
	for i, m := range a {
		labels[i] = m.Label
		if m.Pinned {
			verb = "Pinned: "
		}
	}
	p.done(verb+strings.Join(labels, ", "), "")
}
