package answer

import (
	"cmp"
	"fmt"
	"slices"
	"strconv"
	"strings"

	"git-checkpoint/internal/core/checkpoint"
	"git-checkpoint/internal/format/name"
	"git-checkpoint/internal/format/render"
	"git-checkpoint/internal/sys/gather"
	"git-checkpoint/internal/verb/inspect"
	"git-checkpoint/internal/verb/session"
	"git-checkpoint/internal/verb/travel"
)

// Stands is the answer of status. Files tells how many file names to show.
type Stands struct {
	Status *inspect.StatusAnswer
	Files  Files
}

// Brief is the answer of status --porcelain.
type Brief struct{ Status *inspect.BriefAnswer }

// text writes one line, as docs/json.md describes it. It is the same at a terminal.
func (a Brief) text(p *page) {
	b := a.Status
	changed := strconv.Itoa(b.Changed)
	switch {
	case b.Look == inspect.LookAway:
		changed = "-"
	case b.ChangedUnknown:
		changed = "?"
	}
	if p.err == nil {
		_, p.err = fmt.Fprintln(p.w, strings.Join([]string{string(b.Session), b.Number, b.Label, changed, cmp.Or(strings.Join(b.Marks, ","), "-")}, "\t"))
	}
}

// text writes the state of the job in this worktree, and what to do next.
func (a Stands) text(p *page) {
	a.writeStatus(p)
	p.nameOthers(a.Status.Others, a.Status.MayFetch)
}

// Overview is the answer of the bare command: status, then the commands that fit now.
type Overview struct {
	Status *inspect.StatusAnswer
	Others []checkpoint.OtherSession
}

func (a Overview) text(p *page) {
	Stands{Status: a.Status}.writeStatus(p)
	fit := fitting(a.Status)
	width := 0
	for i, f := range fit {
		if width = max(width, len(f.command)); i == 0 {
			p.line()
		}
	}
	for _, f := range fit {
		p.line(render.Span{Role: render.ID, Text: fmt.Sprintf("  %-*s", width, f.command)}, plain("  "+f.does))
	}
	p.nameOthers(a.Others, a.Status.MayFetch)
}

// nameOthers names other sessions and how to get there, and how those of a remote come here. Where the line is too
// long for the terminal, fewer are named, and the command has a line of its own.
func (p *page) nameOthers(others []checkpoint.OtherSession, fetch string) {
	const titleLength = 30 // bounds the title of another session
	if len(others) > 0 {
		there := "git checkpoint session switch " + when(len(others) == 1, string(others[0].Session)) + when(len(others) > 1, "NAME")
		var named string
		for _, shorter := range []struct{ most, title int }{{checkpoint.OthersNamed, titleLength}, {2, titleLength}, {1, titleLength}, {1, titleLength / 2}, {1, 0}} {
			named = p.besideLine(others[:min(len(others), shorter.most)], len(others), shorter.title)
			if p.view.Width == 0 || render.Width(render.Escape(named)) <= p.view.Width {
				break
			}
		}
		if one := named + "   " + there; p.view.Width == 0 || render.Width(render.Escape(one)) <= p.view.Width {
			p.line(dim(one))
		} else {
			p.line(dim(named))
			p.line(dim("  " + there))
		}
	}
	if fetch != "" {
		p.line(plain(fetch))
	}
}

// besideLine names some sessions of all, with the beginnings of their titles.
func (p *page) besideLine(some []checkpoint.OtherSession, all, title int) string {
	var named []string
	for i, o := range some {
		about := strconv.Itoa(o.Steps)
		if i == 0 {
			about = render.Count(o.Steps, "step", "steps") + ", " + p.view.Time(o.Last)
		}
		named = append(named, string(o.Session)+when(o.Topic != "" && title > 0, ` "`+name.Clip(o.Topic, title)+`"`)+" ("+about+")")
	}
	rest := all - len(some)
	return render.Count(all, "more session", "more sessions") + ": " + strings.Join(named, ", ") + when(rest > 0, fmt.Sprintf(" and %d more", rest))
}

// nameHeads names the heads of other lines: at most three, and a count.
func (p *page) nameHeads(heads []checkpoint.Head) render.Cell {
	others := slices.DeleteFunc(slices.Clone(heads), func(h checkpoint.Head) bool { return h.Here })
	named := gather.List(others[:min(len(others), 3)], checkpoint.Head.Description)
	rest := len(others) - len(named)
	return say(strings.Join(named, ", ") + when(rest > 0, fmt.Sprintf(" and %d more", rest)))
}

// writeStatus writes the answer of status without the last lines.
func (a Stands) writeStatus(p *page) {
	const statusFiles = 5 // how many files a person sees in the answer of status, so that it fits on a small screen
	p.names = a.Files
	s := a.Status
	p.unfinished(s.UnfinishedRollback)
	// The session that was active here is over, and no other one has been started.
	if s.Closed != "" {
		p.line(plain("No session is active here; the last one, "), render.Span{Role: render.ID, Text: string(s.Closed)}, plain(", is "+s.Status+"."))
		p.fields(field{"Branch", say(branchName(s.Branch))}, field{"Next", say("git checkpoint session start <name>")})
		return
	}
	if s.Session == "" {
		p.line(plain("No session here yet; the first checkpoint starts one."))
		p.fields(field{"Branch", say(branchName(s.Branch))})
		return
	}
	p.fields(
		field{"Session", say(sessionLine(string(s.Session), s.Workflow, s.Status, s.Stays))},
		field{"Topic", say(s.Topic)},
		field{when(s.Nowhere, "Newest") + when(!s.Nowhere, "Current"), p.current(s)},
		field{"Elsewhere", p.nameHeads(s.Heads)},
		field{"Last", say(timeOf(s.LastCheckpointAt, p.view))},
		field{"Checkpoints", say(strconv.Itoa(s.CheckpointCount) + when(s.Discarded > 0, fmt.Sprintf(", %d "+when(p.view.Layout == render.Aligned, "left behind")+when(p.view.Layout != render.Aligned, "discarded"), s.Discarded)))},
		field{"Branch", say(branchName(s.Branch))},
		field{"Automatic", say(when(!s.Enabled, "off (checkpoint.enabled)"))},
		field{"Watch", say(when(s.Watching, "a watcher is running in this worktree"))},
		field{"Next", say(s.NextAction)},
		field{"Remote", say(remoteLine(s.Remote, p.view))},
	)
	if s.Bytes > 0 {
		p.line(plain("Checkpoints use " + decimal(s.Bytes)))
	}
	if s.Damaged != "" { // what changed is not known
		return
	}
	p.files(fmt.Sprintf(when(s.Nowhere, "Not as there (%s)")+when(!s.Nowhere, "Changed since (%s)"), render.Count(len(s.Changed), "file", "files")), s.Changed, statusFiles)
	p.moved(s.Repositories)
	p.workers(s.Workers)
}

// workers lists the agents of other sessions that are at work here.
func (p *page) workers(all []inspect.Worker) {
	for _, w := range all {
		p.line(plain("Also at work here: "), render.Span{Role: render.ID, Text: string(w.Session)},
			plain(" ("+w.Agent+when(w.Prompt != "", ": "+w.Prompt)+"), last "+p.view.Time(w.Last.Time)+
				when(len(w.Files) > 0, ", changed "+p.enumeration(gather.List(w.Files, func(path checkpoint.Path) string { return string(path) })))))
	}
}

// unfinished reports a rollback that runs, or one that was interrupted, with both ways to end it.
// It comes first, because the worktree has a mixture of old and new files.
func (p *page) unfinished(u *inspect.Unfinished) {
	if u == nil {
		return
	}
	what, process := "Unfinished rollback", ""
	if u.Process != 0 {
		what, process = "Running rollback", fmt.Sprintf(" (process %d)", u.Process)
	}
	p.line(render.Span{Role: render.Warning, Text: what},
		plain(fmt.Sprintf(" to %s%s, begun %s; its safety checkpoint is %s", u.To, process, p.view.Time(u.StartedAt.Time), u.Safety)))
	if u.Process != 0 {
		return
	}
	p.line(render.Span{Role: render.Hint, Text: "  finish it:"}, plain(" git checkpoint rollback --continue"))
	p.line(render.Span{Role: render.Hint, Text: "  go back:  "}, plain(" git checkpoint rollback --abort"))
}

// fits is a command that fits where somebody stands, and what it does there.
type fits struct{ command, does string }

// fitting returns the one or two commands that fit now. It returns none where the answer of status
// names them already, as it does fetch: where a rollback was interrupted, and where the session is over.
func fitting(s *inspect.StatusAnswer) (fit []fits) {
	const save = `git checkpoint save "MESSAGE"`
	switch {
	case s.UnfinishedRollback != nil || s.Closed != "" || s.Damaged != "":
		return nil
	case s.Happened == inspect.HappenedUndo:
		fit = append(fit, fits{"git checkpoint redo", "takes the undo back"})
	case s.Happened == inspect.HappenedRollback:
		fit = append(fit, fits{"git checkpoint undo", "takes the rollback back"})
	case s.Happened == inspect.HappenedFailure:
		fit = append(fit, fits{"git checkpoint resume", "shows where work stopped, and goes on"})
	}
	switch {
	case s.Current == nil:
		return append(fit, fits{save, "saves every file that git does not ignore"})
	case len(s.Changed) > 0 && len(fit) > 0:
		return append(fit, fits{save, "saves what changed"})
	case len(s.Changed) > 0:
		return append(fit, fits{save, "saves what changed"}, fits{"git checkpoint diff", "shows what changed"})
	}
	return append(fit, fits{"git checkpoint list", "shows the steps"})
}

// current returns the current checkpoint with its message.
func (p *page) current(s *inspect.StatusAnswer) render.Cell {
	if s.Current == nil {
		return say("none yet")
	}
	label := p.called(checkpoint.Labelled{Label: s.Current.Label, Mention: s.Mention})
	if s.Damaged != "" {
		return append(label, plain(" "), render.Span{Role: render.Warning, Text: "damaged"})
	}
	if s.Incomplete {
		label = append(label, plain(" "), render.Span{Role: render.Warning, Text: "incomplete"}, plain(" (git checkpoint show)"))
	}
	return label
}

// remoteLine names the remote, and tells when it was last synchronized and whether the last push in
// the background failed.
func remoteLine(r *travel.RemoteStatus, v render.View) string {
	if r == nil {
		return ""
	}
	synced := "not synchronised yet"
	if r.LastSync != nil {
		synced = "synchronised " + timeOf(r.LastSync, v)
	}
	owed, _ := r.Owing()
	return r.Name + ", " + synced + when(owed != "", "; "+owed) + when(strings.HasPrefix(r.Auto, "failed"), "; the push in the background "+r.Auto)
}

// timeOf returns a time, or "" for nil.
func timeOf(t *checkpoint.Time, v render.View) string {
	if t == nil {
		return ""
	}
	return v.Time(t.Time)
}

// sessionLine returns a session's name, with its workflow and status in parentheses; of one that stays on a branch
// that has another, only what is unusual, and that.
func sessionLine(session, workflow, status, stays string) string {
	if stays != "" {
		workflow, status = when(workflow != "default", workflow), when(status != checkpoint.StatusOpen, status)
	}
	known := strings.Join(slices.DeleteFunc([]string{workflow, status, stays}, func(part string) bool { return part == "" }), ", ")
	return session + when(known != "", " ("+known+")")
}

// decimal returns a number of bytes of a megabyte or more in the units of disks: "746 MB", "1.2 GB".
func decimal(bytes int64) string {
	if bytes < 1e9-5e5 {
		return fmt.Sprintf("%.0f MB", float64(bytes)/1e6)
	}
	return fmt.Sprintf("%.1f GB", float64(bytes)/1e9)
}

// Session is the answer of session show, which is the session's manifest.
type Session struct{ Manifest *session.Manifest }

// text writes the facts about the session, its checkpoints and its rollbacks.
func (a Session) text(p *page) {
	m := a.Manifest
	p.fields(
		field{"Session", say(string(m.Session))},
		field{"Workflow", say(m.Workflow)},
		field{"Topic", say(m.Topic)},
		field{"Status", say(m.Status)},
		field{"Branch", say(when(m.Branch != "", branchName(m.Branch)))},
		field{"Created", say(p.view.Time(m.CreatedAt.Time))},
		field{"Updated", say(p.view.Time(m.UpdatedAt.Time))},
	)
	labels := map[name.ID]string{} // the rollback events have ids only
	p.section("Checkpoints", []render.Column{{}, {}, {}, {Min: 12}}, gather.List(m.Checkpoints, func(c session.ManifestEntry) []render.Cell {
		labels[c.ID] = c.Label
		last := cell(render.Dim, string(c.ID))
		if !p.view.Verbose {
			labels[c.ID], last = cmp.Or(c.Called, c.Label), say(c.Message)
		}
		return []render.Cell{
			cell(render.ID, labels[c.ID]), say(p.view.Time(c.Timestamp.Time)),
			spaced(marks{current: c.ID == m.CurrentCheckpoint, discarded: c.Discarded, invalid: !c.Valid, pinned: c.Pinned}.spans(p.view.Layout)), last,
		}
	}))
	called := p.labelled(labels)
	p.section("Rollbacks", []render.Column{{}, {}, {Min: 12}}, gather.List(m.RollbackHistory, func(r session.RollbackRecord) []render.Cell {
		return []render.Cell{say(p.view.Time(r.Time.Time)), say(called(r.From) + " → " + called(r.To)), say(r.Reason)}
	}))
}

// marksOf returns the marks of a session in a list. A name with the digits of a clone has its branch beside it.
func marksOf(m session.Manifest) (spans []render.Span) {
	if m.Active {
		spans = append(spans, render.Span{Role: render.Success, Text: "active"})
	}
	branch := m.Branch.Short()
	if checkpoint.IsOfClone(m.Session, name.SessionFromBranch(branch)) {
		spans = append(spans, render.Span{Role: render.Dim, Text: "of " + branch})
	}
	return spans
}

// Sessions is the answer of session list.
type Sessions []session.Manifest

// text writes a table. A person does not see sessions without checkpoints, except the active one.
func (a Sessions) text(p *page) {
	t := render.Table{Columns: []render.Column{
		{Title: "Session"}, {Title: "Status"}, {Title: "Checkpoints", Align: render.Right},
		{Title: "Updated"}, {Title: "Workflow"}, {Title: "Topic", Min: 12}, {Title: "Marks"},
	}}
	empty := 0
	for _, m := range a {
		if p.view.Layout == render.Aligned && len(m.Checkpoints) == 0 && !m.Active {
			empty++
			continue
		}
		t.Rows = append(t.Rows, []render.Cell{
			cell(render.ID, string(m.Session)), say(m.Status),
			say(strconv.Itoa(len(m.Checkpoints))), say(p.view.Time(m.UpdatedAt.Time)),
			say(m.Workflow), say(m.Topic), spaced(marksOf(m)),
		})
	}
	p.table(t.Columns, t.Rows)
	switch {
	case p.view.Layout == render.Tabbed:
	case len(a) == 0:
		p.line(plain("No sessions yet: git checkpoint save starts one."))
	case empty > 0:
		p.line(dim(render.Count(empty, "session", "sessions") + " without checkpoints not shown"))
	}
}

// ofBranch says the branch of a new session whose name has the digits of the clone.
func ofBranch(d *checkpoint.Detail) string {
	branch := name.Ref(d.Record.Git.Branch).Short()
	return when(checkpoint.IsOfClone(d.Record.Session, name.SessionFromBranch(branch)), " of "+branch)
}
