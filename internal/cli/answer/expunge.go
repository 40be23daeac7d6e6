package answer

import (
	"io"
	"strings"

	"git-checkpoint/internal/expunge"
	"git-checkpoint/internal/render"
)

// Expunged is the result of expunge.
type Expunged struct{ Done *expunge.Answer }

// JSON writes one object.
func (a Expunged) JSON(w io.Writer) error {
	d := *a.Done
	d.Checkpoints, d.Objects = all(d.Checkpoints), all(d.Objects)
	d.Yours, d.Kept = all(d.Yours), all(d.Kept)
	return render.JSON(w, d)
}

// text writes what was done and what is left to do. Expunging only rewrites checkpoints: the
// objects stay until git removes them, and other clones and remotes keep theirs until they sync.
func (a Expunged) text(p *page) {
	d := a.Done
	p.done("Expunged: "+render.Count(len(d.Checkpoints), "checkpoint", "checkpoints")+" written again", "")
	p.rewritten(d.Checkpoints)
	p.stillHeld(d)
	p.line(plain("The next git checkpoint push takes it away at a remote, the next git checkpoint fetch in another clone."))
	p.line(plain("The objects stay here until git removes them. These two commands do it now; they also remove every other commit, stash entry and file"))
	p.line(plain("that only a reflog holds, for good:"))
	p.line(plain("    git reflog expire --expire=now --all"))
	p.line(plain("    git gc --prune=now"))
	p.line(plain("Change the key: whoever fetched before may have it."))
}

// ToExpunge is the plan of expunge.
type ToExpunge struct{ Plan *expunge.Answer }

// JSON writes one object.
func (a ToExpunge) JSON(w io.Writer) error { return Expunged{a.Plan}.JSON(w) }

// text names the checkpoints to be rewritten and where each has the content.
func (a ToExpunge) text(p *page) {
	d := a.Plan
	p.line(plain("Would write " + render.Count(len(d.Checkpoints), "checkpoint", "checkpoints") + " again, without " + render.Count(len(d.Objects), "object", "objects")))
	p.rewritten(d.Checkpoints)
	if d.UndoLevels > 0 {
		p.line(plain(render.Count(d.UndoLevels, "undo level", "undo levels") + " will leave these files as they are instead of bringing them back"))
	}
	p.stillHeld(d)
}

// rewritten lists checkpoints with what they contain. Those that come after one of them are
// rewritten too.
func (p *page) rewritten(some []expunge.Rewritten) {
	var rows [][]render.Cell
	for _, c := range some {
		holds := strings.Join(c.Holds, ", ")
		if holds == "" {
			holds = "comes after one that holds it"
		}
		rows = append(rows, []render.Cell{cell(render.ID, c.Label), cell(render.Dim, string(c.Session)), cell(render.Normal, holds)})
	}
	p.beginning(render.Table{Columns: []render.Column{{}, {}, {Min: 20}}, Rows: rows}, listed)
}

// stillHeld names what has the content and is not changed: commits of the user, and places that
// cannot be rewritten.
func (p *page) stillHeld(d *expunge.Answer) {
	if len(d.Yours) > 0 {
		p.line(plain("Your own history holds it too, and stays as it is: " + strings.Join(d.Yours, ", ")))
	}
	for _, kept := range d.Kept {
		p.line(plain("Cannot be taken out: " + kept))
	}
}
