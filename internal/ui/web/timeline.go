package web

import (
	"cmp"
	"context"
	"fmt"
	"maps"
	"net/http"
	"slices"
	"strconv"
	"strings"

	"github.com/tidwall/gjson"

	"git-checkpoint/internal/core/checkpoint"
	"git-checkpoint/internal/format/name"
	"git-checkpoint/internal/verb/inspect"
)

// timelinePage shows the job from left to right as a drawing, and below it as a list by day. Both
// show the same window of checkpoints.
type timelinePage struct {
	inspect.Timeline
	Drawing drawing
	Days    []day
	Older   int      // how many checkpoints come before the window
	Before  int      // the parameter of the link to the next older window: the index at which that ends
	Newest  bool     // set if the window ends at the newest checkpoint
	Colour  string   // the name of the metric that colours the steps; empty means by status
	Metrics []string // the names to choose from
}

// Named reports whether the steps have names, so that labels need room.
func (p *timelinePage) Named() bool {
	return slices.ContainsFunc(p.Steps, func(s inspect.TimelineStep) bool { return s.StepName != "" })
}

// row is a checkpoint of the timeline, with what only its record says.
type row struct {
	inspect.TimelineStep
	Session string
	Agent   string
	Value   string // of the chosen metric
	Dot     bool   // it is not a milestone
}

// day is the checkpoints of one day, the newest first.
type day struct {
	Date  string
	Parts []part
}

// part is a milestone, or a run of checkpoints between two milestones, which the list shows folded.
// Label says what is folded.
type part struct {
	Rows  []row
	Fold  bool
	Label string
}

// timeline shows a window of the session's checkpoints.
func (s *Server) timeline(ctx context.Context, service *checkpoint.Service, r *http.Request) (view, error) {
	const window = 100 // how many checkpoints a page of the timeline shows
	session := cmp.Or(r.FormValue("session"), s.Session)
	t, err := inspect.ReadTimeline(ctx, service.Sessions, session)
	if checkpoint.KindOf(err) == checkpoint.KindNotFound && session == "" {
		return view{Name: "empty", Title: "No checkpoints yet"}, nil
	}
	if err != nil {
		return view{}, err
	}
	p := &timelinePage{Timeline: *t, Colour: r.FormValue("colour")}
	end, err := strconv.Atoi(r.FormValue("before"))
	if err != nil || end < 0 || end > len(t.Steps) {
		end = len(t.Steps)
	}
	begin := max(0, end-window)
	p.Older, p.Before, p.Newest = begin, begin, end == len(t.Steps)
	rows := p.rows(ctx, service.Rules, begin, end)
	p.Drawing, p.Days = draw(rows, t.Moves), days(rows)
	return view{Name: "timeline", Title: string(t.Session), Data: p}, nil
}

// rows reads the records of the window. A record that cannot be read adds nothing to its row; the
// page marks the checkpoint as damaged. It also collects the names of all metrics.
func (p *timelinePage) rows(ctx context.Context, service *checkpoint.Rules, begin, end int) []row {
	metrics := map[string]bool{}
	var out []row
	for _, step := range p.Steps[begin:end] {
		one := row{TimelineStep: step, Session: string(p.Session), Dot: !step.Milestone}
		if rec, err := p.Record(ctx, service.Store, step.ID); err == nil {
			if a, has := rec.Agent(); has {
				one.Agent = strings.TrimSpace(a.Name + " " + a.Model)
			}
			for key, value := range numbers(p.Timeline.Metrics(service.Settings, rec)) {
				metrics[key] = true
				if key == p.Colour {
					one.Value = value.Raw
				}
			}
		}
		out = append(out, one)
	}
	p.Metrics = slices.Sorted(maps.Keys(metrics))
	return out
}

// days groups rows by local date, the newest first, and folds checkpoints that lie between
// milestones.
func days(rows []row) []day {
	var out []day
	for _, r := range slices.Backward(rows) {
		date := r.CreatedAt.Local().Format("Monday, 2 January 2006")
		if len(out) == 0 || out[len(out)-1].Date != date {
			out = append(out, day{Date: date})
		}
		d := &out[len(out)-1]
		if n := len(d.Parts); r.Dot && n > 0 && d.Parts[n-1].Fold {
			d.Parts[n-1].Rows = append(d.Parts[n-1].Rows, r)
			continue
		}
		d.Parts = append(d.Parts, part{Rows: []row{r}, Fold: r.Dot})
	}
	for _, d := range out {
		for i := range d.Parts {
			d.Parts[i].Label = folded(d.Parts[i].Rows)
		}
	}
	return out
}

// folded summarizes checkpoints by trigger: "4 more: tool 3, safety 1".
func folded(rows []row) string {
	count := map[string]int{}
	var triggers []string
	for _, r := range rows {
		if count[r.Trigger]++; count[r.Trigger] == 1 {
			triggers = append(triggers, r.Trigger)
		}
	}
	for i, t := range triggers {
		triggers[i] = fmt.Sprintf("%s %d", t, count[t])
	}
	return fmt.Sprintf("%d more: %s", len(rows), strings.Join(triggers, ", "))
}

// Sizes in the drawing, in pixels.
const (
	stepWidth  = 60
	dotWidth   = 22
	laneHeight = 38
	topMargin  = 64 // for the arcs of rollbacks
)

// drawing is the timeline as SVG, from left to right. Live checkpoints are on the first lane. Those
// that a rollback discarded, and safety checkpoints, are on lanes below it, so that each abandoned
// branch is a line of its own. Rollbacks and undos are arcs above.
type drawing struct {
	Width, Height int
	Nodes         []node
	Edges         []edge
	Arcs          []arc
}

// node is a checkpoint: a numbered circle for a milestone, else a dot.
type node struct {
	row
	// X and Y are the centre, R is the radius.
	X, Y, R int
	Class   string
	// Text is in the circle, Below under it.
	Text  string
	Below string
}

// edge joins a checkpoint with the one that it was made after. It is faint if it leads to a
// discarded one.
type edge struct {
	Path  string
	Faint bool
}

// arc is a rollback or an undo, from the checkpoint that was current to the one that became
// current.
type arc struct {
	Path, Title, Class string
}

// draw places the checkpoints from left to right in the order of rows, and draws what joins them.
// Edges and arcs from or to a checkpoint outside the window are left out.
func draw(rows []row, moves []inspect.Move) drawing {
	d := drawing{}
	at := map[name.ID]int{}
	lanes := []name.ID{""} // the newest checkpoint of each
	scale := scaleOf(rows)
	x := 30
	for _, r := range rows {
		lane := laneOf(r, lanes)
		if lane == len(lanes) {
			lanes = append(lanes, "")
		}
		lanes[lane] = r.ID
		n := node{row: r, X: x, Y: topMargin + lane*laneHeight, R: 4, Class: classOf(r, scale)}
		if !r.Dot {
			n.R, n.Text = 13, strconv.Itoa(r.Step)
			n.Below = name.Clip(firstLine(r.StepName), 9)
		}
		at[r.ID] = len(d.Nodes)
		if from, drawn := at[r.Previous]; drawn {
			d.Edges = append(d.Edges, edgeBetween(d.Nodes[from], n))
		}
		d.Nodes = append(d.Nodes, n)
		x += map[bool]int{false: stepWidth, true: dotWidth}[r.Dot]
	}
	for _, m := range moves {
		from, known := at[m.From]
		to, drawn := at[m.To]
		if known && drawn && from != to {
			d.Arcs = append(d.Arcs, arcBetween(d.Nodes[from], d.Nodes[to], m))
		}
	}
	d.Width, d.Height = x+10, topMargin+len(lanes)*laneHeight
	return d
}

// laneOf is the lane of a checkpoint. lanes has the newest checkpoint of each. Live checkpoints are
// on lane 0. A discarded checkpoint continues the lane that ends with the one before it, else it
// begins a new lane.
func laneOf(r row, lanes []name.ID) int {
	if !r.Discarded && !r.Safety {
		return 0
	}
	if at := slices.Index(lanes[1:], r.Previous); at >= 0 && r.Previous != "" {
		return at + 1
	}
	if len(lanes) > 6 { // there are at most six lanes below the first; the last one is shared
		return 6
	}
	return len(lanes)
}

// edgeBetween is a straight line on one lane, and a curve between two.
func edgeBetween(a, b node) edge {
	if a.Y == b.Y {
		return edge{fmt.Sprintf("M%d %dH%d", a.X+a.R, a.Y, b.X-b.R), b.Discarded || b.Safety}
	}
	middle := (a.X + b.X) / 2
	return edge{fmt.Sprintf("M%d %dC%d %d %d %d %d %d", a.X+a.R, a.Y, middle, a.Y, middle, b.Y, b.X-b.R, b.Y), b.Discarded || b.Safety}
}

// arcBetween is a curve above both checkpoints, higher the further they are apart, within the
// margin on top.
func arcBetween(a, b node, m inspect.Move) arc {
	height := min(max(a.X-b.X, b.X-a.X)/3+14, topMargin-18)
	top := min(a.Y, b.Y) - height
	out := arc{Class: "rollback", Title: "rollback " + a.Called() + " → " + b.Called()}
	if m.Undo { // above the arc of the rollback that it takes back
		top -= 9
		out.Class, out.Title = "undo", "undo "+a.Called()+" → "+b.Called()
	}
	if m.Reason != "" {
		out.Title += ": " + firstLine(m.Reason)
	}
	out.Path = fmt.Sprintf("M%d %dC%d %d %d %d %d %d", a.X, a.Y-a.R-2, a.X, top, b.X, top, b.X, b.Y-b.R-4)
	return out
}

// scale is the range of the metric that colours the steps.
type scale struct{ low, high float64 }

// scaleOf is the range of a number over the rows; the zero scale if there is none.
func scaleOf(rows []row) scale {
	var all []float64
	for _, r := range rows {
		if v := gjson.Parse(r.Value); v.Type == gjson.Number {
			all = append(all, v.Num)
		}
	}
	if len(all) == 0 {
		return scale{}
	}
	return scale{slices.Min(all), slices.Max(all)}
}

// classOf is the CSS classes of a checkpoint: its colour by the chosen metric, else by its status,
// and its marks.
func classOf(r row, s scale) string {
	class := "node"
	if r.Dot {
		class += " dot"
	}
	switch v := gjson.Parse(r.Value); {
	case v.Type == gjson.True:
		class += " good"
	case v.Type == gjson.False:
		class += " bad"
	case v.Type == gjson.Number && s.high > s.low:
		class += fmt.Sprintf(" level%d", int(4*(v.Num-s.low)/(s.high-s.low)))
	case r.Status == "failed" || r.Status == "error" || r.Status == "blocked":
		class += " bad"
	case r.Status == "complete" || r.Status == "completed" || r.Status == "done":
		class += " good"
	}
	for i, set := range []bool{r.Discarded, r.Safety, r.Current, !r.Valid} {
		if set {
			class += []string{" gone", " safety", " current", " broken"}[i]
		}
	}
	return class
}
