package answer

import (
	"io"

	"git-checkpoint/internal/render"
	"git-checkpoint/internal/transfer"
)

// Exported is the answer of export.
type Exported struct{ Done *transfer.Exported }

// JSON writes one object.
func (a Exported) JSON(w io.Writer) error { return jsonLine(w, a.Done) }

// text confirms the file and counts its contents.
func (a Exported) text(p *page) {
	p.done("Exported: "+a.Done.File, "")
	p.line(plain(render.Count(len(a.Done.Sessions), "session", "sessions") + ", " + render.Count(a.Done.Checkpoints, "checkpoint", "checkpoints") +
		" | " + a.Done.Format + ", " + p.view.Size(a.Done.Bytes)))
}
