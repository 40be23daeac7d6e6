package answer

import (
	"cmp"

	"git-checkpoint/internal/format/render"
	"git-checkpoint/internal/verb/rollback"
)

// indexPlan says what happens to the index because HEAD has other files than when it was recorded. It
// is empty if the index comes back as it was.
func indexPlan(r *rollback.Answer) string {
	i := r.Index
	switch {
	case i == nil:
		return ""
	case i.Stays != "":
		return "stays as it is"
	case len(i.Staged) == 0:
		return "nothing is staged again; it follows " + headAfter(r)
	}
	again := "entry staged then is staged again"
	several := "entries staged then are staged again"
	if r.Mode == rollback.ModeWorktree {
		again, several = "entry stays staged", "entries stay staged"
	}
	return render.Count(len(i.Staged), again, several) + "; the rest follows " + headAfter(r)
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
