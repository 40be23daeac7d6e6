package answer

import (
	"cmp"
	"slices"
	"strconv"
	"strings"
	"time"

	"git-checkpoint/internal/core/checkpoint"
	"git-checkpoint/internal/format/name"
	"git-checkpoint/internal/format/render"
	"git-checkpoint/internal/sys/gather"
	"git-checkpoint/internal/verb/retain"
)

// Marked is the answer of pin and unpin.
type Marked []retain.Marked

// text names the checkpoints.
func (a Marked) text(p *page) {
	verb := "Unpinned: "
	if slices.ContainsFunc(a, func(m retain.Marked) bool { return m.Pinned }) {
		verb = "Pinned: "
	}
	p.done(verb+strings.Join(gather.List(a, func(m retain.Marked) string { return m.Mention.String() }), ", "), "")
}

// Described is the answer of describe.
type Described struct {
	Done    *retain.Described
	Planned bool // nothing was done
}

// text names the checkpoint with its new message.
func (a Described) text(p *page) {
	if a.Planned {
		p.line(plain("Would become " + a.Done.Mention.String()))
		return
	}
	p.done("Now ", a.Done.Mention.String())
}

// Pruned is the answer of prune. GC tells that git gc runs afterwards.
type Pruned struct {
	Prune *retain.PruneAnswer // the plan or, if its DryRun is false, the result
	GC    bool
}

// text lists what was or would be pruned, and why. A dry run also lists what is kept.
func (a Pruned) text(p *page) {
	r := a.Prune
	count := render.Count(len(r.Pruned), "checkpoint", "checkpoints")
	size := render.Size(r.Bytes)
	switch {
	case r.DryRun:
		p.line(plain("Would prune: " + count + ", " + size))
	case len(r.Pruned) == 0:
		p.line(plain("Nothing to prune, " + render.Count(len(r.Kept), "checkpoint is", "checkpoints are") + " kept" + freed(r)))
	case r.Freed != nil:
		p.done("Pruned: "+count+freed(r), "")
	default:
		p.done("Pruned: "+count+", "+size+" to be freed by git gc", "")
	}
	if r.Elsewhere > 0 {
		p.line(plain(strconv.Itoa(r.Elsewhere) + " made elsewhere: " + strings.Join(r.By, ", ")))
	}
	p.judged("", r.Pruned)
	if r.Others > 0 {
		p.line(dim("Only session " + string(r.Only) + "; --all also looks at " + render.Count(r.Others, "other session", "other sessions")))
	}
	p.section("These can no longer be undone or redone", []render.Column{{}, {}, {Min: 20}}, gather.List(r.Levels, func(l retain.LostLevel) []render.Cell {
		return []render.Cell{cell(render.Warning, l.List), say(p.view.Time(l.Time.Time)), say(strings.Join(gather.List(strings.Fields(l.What), p.short), " "))}
	}))
	for _, o := range r.Over {
		p.judged("Session "+string(o.Session)+" holds "+render.Size(o.Bytes)+", more than "+o.Setting+" ("+render.Size(o.Budget)+"), because these stay", o.Stay)
	}
	if r.DryRun {
		p.judged("Kept", r.Kept)
	}
	// Also in a dry run, so that the user knows before.
	if len(r.Pruned) > 0 {
		p.line(dim(a.wayBack(p.view.Now)))
	}
}

// wayBack tells how long git keeps the objects of what was pruned. A prune cannot be undone, but
// until then a branch can rescue the files of a checkpoint.
func (a Pruned) wayBack(now time.Time) string {
	const keeps = "git branch <name> <commit> keeps the files of one"
	until := a.Prune.GitKeepsUntil
	switch {
	case until == nil:
		return "A prune cannot be undone, but git deletes nothing here (gc.pruneExpire): " + keeps
	// The grace period of git gc is counted from the age of the objects.
	case until.After(now):
		return "A prune cannot be undone. Git keeps the files until " + until.UTC().Format("2006-01-02 15:04 UTC") + " at least: " + keeps
	case a.GC:
		return "A prune cannot be undone, and this git gc deletes what is older than its grace period"
	}
	return "A prune cannot be undone. Git keeps the files until its next gc: " + keeps
}

// freed tells how much git gc has freed, and when it will free what is still in its grace period.
func freed(r *retain.PruneAnswer) string {
	if r.Freed == nil {
		return ""
	}
	text := ", " + render.Size(*r.Freed) + " freed"
	if *r.Waiting == 0 {
		return text
	}
	size := render.Size(*r.Waiting)
	switch {
	case r.Grace == "never":
		return text + ", but git keeps " + size + " that nothing needs (gc.pruneExpire is never)"
	// A duration, such as "2 weeks". Any other value of the setting is shown as it is.
	case strings.Contains(r.Grace, " "):
		return text + ", " + size + " will be freed after git's grace period of " + r.Grace
	}
	return text + ", " + size + " will be freed after git's grace period (gc.pruneExpire is " + r.Grace + ")"
}

// judged lists checkpoints with the reason why they are pruned or kept.
func (p *page) judged(title string, list []retain.Judged) {
	rows := gather.List(list, func(j retain.Judged) []render.Cell {
		if !p.view.Verbose {
			return []render.Cell{mention(j.Mention), say(j.Reason), cell(render.Dim, string(j.Session)), cell(render.Dim, p.view.OID(j.Commit))}
		}
		return []render.Cell{
			cell(render.ID, j.Label), say(j.Reason), cell(render.Dim, string(j.Session)), cell(render.Dim, string(j.ID)), cell(render.Dim, p.view.OID(j.Commit)),
		}
	})
	p.section(title, []render.Column{{Min: 12}, {Min: 20}, {}, {}, {}}[:4+len(when(p.view.Verbose, "+"))], rows)
}

// prunedByRule tells how many checkpoints were removed by the workflow's retention rules.
func (p *page) prunedByRule(n int) {
	if n > 0 {
		p.line(plain("Pruned: " + render.Count(n, "checkpoint", "checkpoints") + " of this session, as the workflow says (checkpoint.autoPrune=false keeps them)"))
	}
}

// expired names the sessions that were removed because of their age.
func (p *page) expired(sessions []name.Session) {
	if len(sessions) > 0 {
		called := gather.List(sessions, func(s name.Session) string { return string(s) })
		p.line(plain("Removed: " + render.Count(len(sessions), "job that was due", "jobs that were due") + " (checkpoint.autoPrune=false keeps them): " + strings.Join(called, ", ")))
	}
}

// PrunedByClose lists what closing a session pruned.
type PrunedByClose struct {
	Pruned  []retain.Judged
	Expired []name.Session
}

// text names them and why; it writes nothing if there are none.
func (a PrunedByClose) text(p *page) {
	p.prunedByRule(len(a.Pruned))
	p.judged("", a.Pruned)
	p.expired(a.Expired)
}

// shows has one array, on one line.
func (a PrunedByClose) shows() any { return &a.Pruned }

// Deleted is the plan of delete and session delete, or its result.
type Deleted struct {
	Removed *retain.Removed
	Planned bool // nothing is deleted yet
}

// text lists the checkpoints and tells how much space git gc can free.
func (a Deleted) text(p *page) {
	what := render.Count(len(a.Removed.Removed), "checkpoint", "checkpoints") + ", " + render.Size(a.Removed.Bytes)
	if a.Planned {
		p.line(plain("Would delete " + what + "; this cannot be undone"))
	} else {
		p.done("Deleted: "+what+" to be freed by git gc", "")
	}
	p.removed(a.Removed.Removed)
}

// Leaving is what a deinit would remove, and what it would leave.
type Leaving struct {
	Going []string
	Stays []string
}

// text lists both.
func (a Leaving) text(p *page) {
	if len(a.Going) == 0 {
		p.line(plain("Nothing to remove"))
	}
	for _, line := range a.Going {
		p.line(plain("Would remove: " + line))
	}
	for _, line := range a.Stays {
		p.line(dim("Stays: " + line))
	}
}

// RefsToDelete is the plan of deinit: what it would remove from the repository.
type RefsToDelete []string

// text counts the refs: a session has one for each checkpoint.
func (a RefsToDelete) text(p *page) {
	sessions, refs := map[name.Session]bool{}, 0
	for _, r := range a {
		if name.Ref(r).IsOurs() {
			refs++
		}
		if session, _, is := name.SplitCheckpointRef(name.Ref(r)); is {
			sessions[session] = true
		}
	}
	p.line(plain("Would delete " + render.Count(len(sessions), "session", "sessions") + " with checkpoints, notes and tags: " +
		render.Count(refs, "ref", "refs") + " (git checkpoint deinit --all -n names them)"))
}

// removed lists checkpoints, shortened for people.
func (p *page) removed(gone []checkpoint.Labelled) {
	rows := gather.List(gone, func(c checkpoint.Labelled) []render.Cell {
		said := brief(cmp.Or(c.Mention.Message, c.Mention.Files))
		if p.view.Verbose {
			return []render.Cell{cell(render.ID, c.Label), cell(render.Dim, string(c.ID)), said}
		}
		return []render.Cell{cell(render.ID, cmp.Or(c.Mention.Name, c.Label)), said}
	})
	p.section("", []render.Column{{}, {Min: 20}, {}}[:2+len(when(p.view.Verbose, "+"))], rows)
}
