package answer

import (
	"fmt"
	"slices"
	"strings"

	"git-checkpoint/internal/format/name"
	"git-checkpoint/internal/format/render"
	"git-checkpoint/internal/sys/gather"
	"git-checkpoint/internal/verb/travel"
)

// Travelled is the answer of push, fetch and sync.
type Travelled struct {
	Trip   *travel.Answer
	Failed bool  // the command failed, so an empty list does not mean "up to date"
	Refs   Files // whether each ref is listed
}

func (a Travelled) shows() any { return a.Trip.Lines }

// text writes what moved, a line for each session, or that there was nothing to do. A program gets each
// ref before that; a person sees those that did not go well.
func (a Travelled) text(p *page) {
	if len(a.Trip.Lines) == 0 && !a.Failed {
		p.line(plain("Everything is up to date with " + a.Trip.Remote))
		return
	}
	p.names = a.Refs
	listed := a.Trip.Lines
	if !p.whole() {
		listed = slices.DeleteFunc(slices.Clone(listed), func(l travel.Line) bool { return !isRefused(l) })
	}
	a.refs(p, listed)
	for _, moved := range a.moved() {
		p.line(plain(moved))
	}
}

// refs writes a row for each ref. The remote has a column if several are involved.
func (a Travelled) refs(p *page, lines []travel.Line) {
	columns := []render.Column{{}, {Title: ""}, {}, {Min: 12}}
	several := slices.ContainsFunc(a.Trip.Lines, func(l travel.Line) bool { return l.Remote != a.Trip.Lines[0].Remote })
	if several {
		columns = append(columns, render.Column{})
	}
	shown, more := cut(p, lines, 40)
	p.cutSection("", columns, gather.List(shown, func(l travel.Line) []render.Cell {
		role := render.Normal
		if isRefused(l) {
			role = render.Warning
		}
		ref := strings.TrimPrefix(string(l.Ref), "refs/") // git accepts this form too
		row := []render.Cell{cell(render.Dim, arrow(l.Verb)), cell(role, string(l.Outcome)), say(ref), say(l.Message)}
		if several {
			row = append(row, cell(render.Dim, l.Remote))
		}
		return row
	}), more)
}

// freight is what moved of one session in one direction, to or from one remote.
type freight struct{ brought, deleted int }

// moved returns a sentence for each session of which something moved.
func (a Travelled) moved() (said []string) {
	type trip struct {
		verb, remote string
		session      name.Session
	}
	var trips []trip
	of := map[trip]*freight{}
	for _, l := range a.Trip.Lines {
		session, leaf, ok := name.SplitCheckpointRef(l.Ref)
		if !ok || isRefused(l) {
			continue
		}
		key := trip{l.Verb, l.Remote, session}
		if of[key] == nil {
			trips, of[key] = append(trips, key), &freight{}
		}
		switch _, err := name.ParseID(leaf); {
		case err != nil, l.Message == travel.InArchive: // the journal, or what is archived
		case l.Outcome == travel.OutcomeDeleted:
			of[key].deleted++
		default:
			of[key].brought++
		}
	}
	for _, key := range trips {
		did, from := "Pushed ", " to "
		if key.verb != "push" {
			did, from = "Fetched ", " from "
		}
		said = append(said, did+of[key].String()+" of "+string(key.session)+from+key.remote+a.Trip.Address(key.remote))
	}
	return said
}

// String counts the checkpoints. Without any, the journal alone has moved, or refs became an archive.
func (f freight) String() string {
	var parts []string
	if f.brought > 0 {
		parts = append(parts, render.Count(f.brought, "checkpoint", "checkpoints"))
	}
	if f.deleted > 0 {
		parts = append(parts, "the removal of "+render.Count(f.deleted, "checkpoint", "checkpoints"))
	}
	if len(parts) == 0 {
		return "the history"
	}
	return strings.Join(parts, " and ")
}

// isRefused reports whether a ref was rejected or is in conflict.
func isRefused(l travel.Line) bool {
	return l.Outcome == travel.OutcomeRejected || l.Outcome == travel.OutcomeConflict
}

// Refused returns a line for each ref that was rejected or in conflict, with the reason.
func (a Travelled) Refused() []string {
	var all []string
	for _, l := range a.Trip.Lines {
		if isRefused(l) {
			all = append(all, fmt.Sprintf("%s: %s: %s", l.Ref, l.Outcome, l.Message))
		}
	}
	return all
}

// arrow returns the direction of the transfer.
func arrow(verb string) string {
	if verb == "push" {
		return "→"
	}
	return "←"
}

// RemoteSessions is the answer of remote status.
type RemoteSessions []travel.RemoteSession

// text writes a table.
func (a RemoteSessions) text(p *page) {
	columns := []render.Column{{Title: "Session"}, {Title: "State"}, {Title: "To push"}, {Title: "To fetch"}, {Title: "Conflicts"}, {Title: "Last sync"}}
	p.table(columns, gather.List(a, func(s travel.RemoteSession) []render.Cell {
		return []render.Cell{
			cell(render.ID, string(s.Session)), say(s.State), say(fmt.Sprint(s.ToPush)),
			say(fmt.Sprint(s.ToFetch)), say(fmt.Sprint(len(s.Conflicts))), say(timeOf(s.LastSync, p.view)),
		}
	}))
}
