package answer

import (
	"cmp"

	"git-checkpoint/internal/format/render"
	"git-checkpoint/internal/verb/rollback"
)

const indexStays = "unchanged"

// indexPlan says what happens to the index because HEAD has other files than when it was recorded. It
// is empty if the index comes back as it was.
func indexPlan(r *rollback.Answer) string {
	i := r.Index
	switch {
	case i == nil:
		return when(r.Mode == rollback.ModeWorktree, indexStays)
	case i.Stays != "":
		return indexStays
	case len(i.Staged) == 0:
		return "nothing staged, otherwise as " + headAfter(r) + " has it"
	}
	staged := "staged as then"
	if r.Mode == rollback.ModeWorktree {
		staged = "still staged"
	}
	return render.Count(len(i.Staged), "entry", "entries") + " " + staged + ", otherwise as " + headAfter(r) + " has it"
}

// headAfter returns the branch that HEAD is on after a move, or HEAD.
func headAfter(r *rollback.Answer) string {
	ref := r.Branch.Name
	if r.Branch.Moved {
		ref = r.Branch.Target
	}
	return cmp.Or(ref.Short(), "HEAD")
}

// indexPaths names the entries that need a second look: those that are staged over a change of
// HEAD, and those that cannot be staged again.
func (p *page) indexPaths(r *rollback.Answer) {
	if r.Index == nil {
		return
	}
	head := headAfter(r)
	p.paths("Staged again over what "+head+" changed since", render.Warning, r.Index.Over)
	p.paths("Not staged: "+head+" has a file where a directory would be, or the reverse", render.Warning, r.Index.Left)
}
