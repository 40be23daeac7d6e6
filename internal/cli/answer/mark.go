package answer

import (
	"io"
	"slices"
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
	if slices.ContainsFunc(a, func(m retain.Marked) bool { return m.Pinned }) {
		verb = "Pinned: "
	}
	p.done(verb+strings.Join(each(a, func(m retain.Marked) string { return m.Label }), ", "), "")
}
