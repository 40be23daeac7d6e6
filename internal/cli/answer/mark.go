package answer

import (
	"io"
	"strings"

	"git-checkpoint/internal/render"
	"git-checkpoint/internal/retain"
)

// Marked is the answer of pin and unpin.
type Marked []retain.Marked

// JSON writes a line for each checkpoint.
func (a Marked) JSON(w io.Writer) error {
	return jsonLines(w, a)
}

// Text names the checkpoints.
func (a Marked) Text(w io.Writer, v render.View) error {
	p, verb := &page{w: w, view: v}, "Unpinned: "
	labels := make([]string, len(a))
	for i, m := range a {
		labels[i] = m.Label
		if m.Pinned {
			verb = "Pinned: "
		}
	}
	p.done(verb+strings.Join(labels, ", "), "")
	return p.err
}
