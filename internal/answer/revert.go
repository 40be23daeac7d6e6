package answer

import (
	"cmp"
	"fmt"
	"slices"
	"strings"

	"git-checkpoint/internal/core/checkpoint"
	"git-checkpoint/internal/core/threeway"
	"git-checkpoint/internal/format/name"
	"git-checkpoint/internal/format/render"
	"git-checkpoint/internal/sys/gather"
	"git-checkpoint/internal/verb/revert"
	"git-checkpoint/internal/verb/rollback"
)

// plannedRevert writes the plan of a revert: the steps, then the files in groups.
func (p *page) plannedRevert(r *rollback.Answer) {
	p.fields(
		field{"Takes back", say(p.takenBack(r))},
		field{"Restores only", say("the files; the current step stays")},
		field{"Index", say(indexStays)},
		field{savesFirst, say(hereNow)},
	)
	p.reverted("Taken back", render.Normal, r, func(f rollback.RevertedFile) bool { return f.How == threeway.Restored && !f.During })
	p.reverted("Merged with later work", render.Normal, r, func(f rollback.RevertedFile) bool { return f.How == threeway.Merged && !f.During })
	p.reverted("Changed during a command, by it or by a program beside it", render.Warning, r, func(f rollback.RevertedFile) bool {
		return (f.How == threeway.Restored || f.How == threeway.Merged) && f.During
	})
	p.reverted("Conflicts", render.Error, r, func(f rollback.RevertedFile) bool { return f.How == threeway.Conflict })
	p.paths("Conflicts in the state", render.Error, name.All[checkpoint.Path](r.StateConflicts))
	p.section("Left as it is: not by these steps", []render.Column{{Min: 20}, {}}, gather.List(r.Left, func(l rollback.LeftOfStep) []render.Cell {
		return []render.Cell{cell(render.Dim, string(l.Path)), cell(render.Dim, l.By)}
	}))
	p.atRisk(r)
	p.paths("Left alone", render.Dim, r.Plan.Skipped)
	for _, s := range r.Steps {
		if s.Moved {
			p.line(render.Span{Role: render.Warning, Text: "HEAD moved during " + s.Mention.String() + ":"}, plain(" only its files are taken back; `git revert` is for commits"))
		}
	}
}

// takenBack names the steps whose work is taken back.
func (p *page) takenBack(r *rollback.Answer) string {
	steps := slices.DeleteFunc(slices.Clone(r.Steps), func(s rollback.RevertedStep) bool { return s.Spent })
	return cmp.Or(p.enumeration(slices.Compact(gather.List(steps, func(s rollback.RevertedStep) string {
		return s.Turn.String() + when(s.Session != r.Session, " of "+string(s.Session))
	}))), "what no checkpoint has yet")
}

// reverted writes a group of the files of a revert.
func (p *page) reverted(title string, role render.Role, r *rollback.Answer, in func(rollback.RevertedFile) bool) {
	var rows [][]render.Cell
	for _, f := range r.Files {
		if !in(f) {
			continue
		}
		verb := "write"
		switch {
		case f.How == threeway.Conflict:
			verb = f.Why + when(f.Marked, "; gets conflict markers")
		case slices.Contains(r.Plan.Delete, f.Path):
			verb = "delete"
		}
		with := ""
		if len(f.With) > 0 {
			with = "with " + strings.Join(gather.List(f.With, func(who string) string { return when(who == revert.Outside, "changes from ") + who }), ", ")
		}
		rows = append(rows, []render.Cell{cell(role, string(f.Path)), say(verb), cell(render.Dim, with)})
	}
	p.section(fmt.Sprintf("%s (%d)", title, len(rows)), []render.Column{{Min: 20}, {}, {}}, rows)
}

// Reverted is the result of a revert.
type Reverted struct{ Done *rollback.Answer }

// shows has the members of a rollback's answer, and the checkpoint that was made.
func (a Reverted) shows() any {
	return &struct {
		*rollback.Answer
		Checkpoint *checkpoint.Detail `json:"checkpoint"`
	}{a.Done, a.Done.Created}
}

// text confirms the checkpoint and tells how to undo the revert.
func (a Reverted) text(p *page) {
	r := a.Done
	p.done("Took back "+p.takenBack(r)+": ", checkpoint.CalledOf(r.Created.Record))
	figures := counted([]string{"taken back", "merged", "with conflict markers"}, a.count(threeway.Restored), a.count(threeway.Merged), a.count(threeway.Conflict))
	p.line(plain("Files: " + figures))
	unknown := r.Unsure + gather.Count(r.Left, func(l rollback.LeftOfStep) bool { return l.By == revert.Unknown })
	if unknown > 0 {
		of := cmp.Or(map[string]string{revert.Outside: "yours"}[r.By], when(r.By != "", r.By+"'s"), "of these steps")
		p.line(render.Span{Role: render.Warning, Text: "left: "}, plain(render.Count(unknown, "change", "changes")+" that may be "+of+" (--by unknown)"))
	}
	p.line(render.Span{Role: render.Hint, Text: "Undo:"}, plain(" git checkpoint undo"))
}

// count counts the files that came out in one way.
func (a Reverted) count(how threeway.How) int {
	return gather.Count(a.Done.Files, func(f rollback.RevertedFile) bool { return f.How == how && (how != threeway.Conflict || f.Marked) })
}
