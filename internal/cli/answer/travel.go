package answer

import (
	"fmt"
	"io"
	"slices"

	"git-checkpoint/internal/name"
	"git-checkpoint/internal/render"
	"git-checkpoint/internal/travel"
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
	t := render.Table{Columns: []render.Column{{}, {Title: ""}, {}, {Min: 12}}}
	// The lines may be about several remotes.
	several := slices.ContainsFunc(a.Trip.Lines, func(l travel.Line) bool { return l.Remote != a.Trip.Lines[0].Remote })
	for _, l := range a.Trip.Lines {
		role := render.Normal
		if l.Outcome == travel.OutcomeRejected || l.Outcome == travel.OutcomeConflict {
			role = render.Warning
		}
		t.Rows = append(t.Rows, []render.Cell{
			cell(render.Dim, arrow(l.Verb)), cell(role, string(l.Outcome)), cell(render.Normal, shortRef(l.Ref)), cell(render.Normal, l.Message),
		})
		if several {
			t.Rows[len(t.Rows)-1] = append(t.Rows[len(t.Rows)-1], cell(render.Dim, l.Remote))
		}
	}
	if several {
		t.Columns = append(t.Columns, render.Column{})
	}
	p.beginning(t, 40)
}

// Refused returns a line for each ref that was rejected or in conflict, with the reason.
func (a Travelled) Refused() []string {
	var all []string
	for _, l := range a.Trip.Lines {
		if l.Outcome == travel.OutcomeRejected || l.Outcome == travel.OutcomeConflict {
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

// shortRef returns a ref without "refs/". git accepts this form too.
func shortRef(ref name.Ref) string {
	const root = "refs/"
	if len(ref) > len(root) {
		return string(ref[len(root):])
	}
	return string(ref)
}

// RemoteSessions is the answer of remote status.
type RemoteSessions []travel.RemoteSession

// JSON writes a line for each session.
func (a RemoteSessions) JSON(w io.Writer) error { return jsonLines(w, a) }

// text writes a table.
func (a RemoteSessions) text(p *page) {
	t := render.Table{Columns: []render.Column{{Title: "Session"}, {Title: "State"}, {Title: "To push"}, {Title: "To fetch"}, {Title: "Conflicts"}, {Title: "Last sync"}}}
	for _, s := range a {
		t.Rows = append(t.Rows, []render.Cell{
			cell(render.ID, string(s.Session)), cell(render.Normal, s.State), cell(render.Normal, fmt.Sprint(s.ToPush)),
			cell(render.Normal, fmt.Sprint(s.ToFetch)), cell(render.Normal, fmt.Sprint(len(s.Conflicts))), cell(render.Normal, timeOf(s.LastSync, p.view)),
		})
	}
	p.table(t)
}
