package answer

import (
	"fmt"
	"io"
	"slices"
	"strings"

	"git-checkpoint/internal/format/render"
	"git-checkpoint/internal/verb/travel"
)

// Travelled is the answer of push, fetch and sync.
type Travelled struct {
	Trip   *travel.Answer
	Failed bool // the command failed, so an empty list does not mean "up to date"
}

// JSON writes a line for each ref.
func (a Travelled) JSON(w io.Writer) error { return jsonLines(w, a.Trip.Lines) }

// text writes the outcome for each ref, or that there was nothing to do. The remote has a column if
// several are involved.
func (a Travelled) text(p *page) {
	if len(a.Trip.Lines) == 0 && !a.Failed {
		p.line(plain("Everything is up to date with " + a.Trip.Remote))
		return
	}
	columns := []render.Column{{}, {Title: ""}, {}, {Min: 12}}
	// The lines may be about several remotes.
	several := slices.ContainsFunc(a.Trip.Lines, func(l travel.Line) bool { return l.Remote != a.Trip.Lines[0].Remote })
	if several {
		columns = append(columns, render.Column{})
	}
	shown, more := cut(p, a.Trip.Lines, 40)
	p.cutSection("", columns, each(shown, func(l travel.Line) []render.Cell {
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

// JSON writes a line for each session.
func (a RemoteSessions) JSON(w io.Writer) error { return jsonLines(w, a) }

// text writes a table.
func (a RemoteSessions) text(p *page) {
	columns := []render.Column{{Title: "Session"}, {Title: "State"}, {Title: "To push"}, {Title: "To fetch"}, {Title: "Conflicts"}, {Title: "Last sync"}}
	p.table(columns, each(a, func(s travel.RemoteSession) []render.Cell {
		return []render.Cell{
			cell(render.ID, string(s.Session)), say(s.State), say(fmt.Sprint(s.ToPush)),
			say(fmt.Sprint(s.ToFetch)), say(fmt.Sprint(len(s.Conflicts))), say(timeOf(s.LastSync, p.view)),
		}
	}))
}
