package answer

import (
	"cmp"
	"strings"

	"git-checkpoint/internal/core/checkpoint"
	"git-checkpoint/internal/format/render"
	"git-checkpoint/internal/sys/gather"
	"git-checkpoint/internal/verb/expunge"
)

// Expunged is the result of expunge.
type Expunged struct{ Done *expunge.Answer }

// text writes what was done and what is left to do. Expunging only rewrites checkpoints: the
// objects stay until git removes them, and other clones and remotes keep theirs until they sync.
func (a Expunged) text(p *page) {
	d := a.Done
	p.done("Expunged: "+render.Count(len(d.Checkpoints), "checkpoint", "checkpoints")+" rewritten", "")
	p.rewritten(d.Checkpoints)
	p.stillHeld(d)
	p.line(plain("The next git checkpoint push removes it from a remote, and the next git checkpoint fetch from another clone."))
	p.line(plain("The objects stay here until git deletes them. These two commands do it now, but for good also delete every other commit, stash entry"))
	p.line(plain("and file that only a reflog holds:"))
	p.line(plain("    git reflog expire --expire=now --all"))
	p.line(plain("    git gc --prune=now"))
	p.line(plain("Change the key: whoever fetched before may have it."))
}

// ToExpunge is the plan of expunge.
type ToExpunge struct{ Plan *expunge.Answer }

// text names the checkpoints to be rewritten and where each has the content.
func (a ToExpunge) text(p *page) {
	d := a.Plan
	p.line(plain("Would rewrite " + render.Count(len(d.Checkpoints), "checkpoint", "checkpoints") + ", leaving out " + render.Count(len(d.Objects), "object", "objects")))
	p.rewritten(d.Checkpoints)
	if d.UndoLevels > 0 {
		p.line(plain(render.Count(d.UndoLevels, "undo level", "undo levels") + " will leave these files as they are instead of bringing them back"))
	}
	p.stillHeld(d)
}

// rewritten lists checkpoints with what they contain. Those that come after one of them are
// rewritten too.
func (p *page) rewritten(some []expunge.Rewritten) {
	rows := gather.List(some, func(c expunge.Rewritten) []render.Cell {
		holds := cmp.Or(strings.Join(c.Holds, ", "), "it follows one that holds it")
		return []render.Cell{p.called(checkpoint.Labelled{Label: c.Label, Mention: c.Mention}), cell(render.Dim, string(c.Session)), say(holds)}
	})
	p.section("", []render.Column{{}, {}, {Min: 20}}, rows)
}

// stillHeld names what has the content and is not changed: commits of the user, and places that
// cannot be rewritten.
func (p *page) stillHeld(d *expunge.Answer) {
	if len(d.Copies) > 0 {
		p.line(plain("Copies beside the objects " + when(d.DryRun, "would lose") + when(!d.DryRun, "lost") + " it, too: " + strings.Join(d.Copies, ", ")))
	}
	if len(d.Yours) > 0 {
		p.line(plain("Your own history holds it, too, and is not changed: " + strings.Join(d.Yours, ", ")))
	}
	for _, kept := range d.Kept {
		p.line(plain("Cannot be removed: " + kept))
	}
}
