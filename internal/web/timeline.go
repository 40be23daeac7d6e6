package web

import (
	"context"
	"fmt"
	"net/http"
	"slices"
	"strconv"
	"strings"

	"github.com/tidwall/gjson"

	"git-checkpoint/internal/checkpoint"
	"git-checkpoint/internal/inspect"
	"git-checkpoint/internal/name"
)

// window is how many checkpoints a page draws; older ones are a page further.
const window = 100

// timelinePage is the job from left to right, and the same as a list.
type timelinePage struct {
	inspect.Timeline
	Drawing drawing
	Days    []day
	Older   int // the number of steps before the window
	Before  int // where the next older window ends
	Newest  bool
	Colour  string   // the path of the metric by which steps are coloured
	Metrics []string // that can be chosen
}

// row is a checkpoint with what its record adds.
type row struct {
	inspect.TimelineStep
	Session string
	Agent   string
	Value   string // of the chosen metric
	Dot     bool   // it is no milestone
}

// day is what was done on one day, the newest first.
type day struct {
	Date  string
	Parts []part
}

// part is one milestone, or several checkpoints between milestones that are folded.
type part struct {
	Rows  []row
	Fold  bool
	Label string
}

func (s *Server) timeline(ctx context.Context, service *checkpoint.Service, r *http.Request) (view, error) {
	session := r.FormValue("session")
	if session == "" {
		session = s.Session
	}
	t, err := inspect.ReadTimeline(ctx, service, session)
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
	rows := p.rows(ctx, service, begin, end)
	p.Drawing, p.Days = draw(rows, t.Moves), days(rows)
	return view{Name: "timeline", Title: string(t.Session), Data: p}, nil
}

// rows reads what the records of a window add. A record that cannot be read adds nothing: the page says
// of the checkpoint that it is damaged.
func (p *timelinePage) rows(ctx context.Context, service *checkpoint.Service, begin, end int) []row {
	metrics := map[string]bool{}
	var out []row
	for _, step := range p.Steps[begin:end] {
		one := row{TimelineStep: step, Session: string(p.Session), Dot: !step.Milestone}
		if rec, err := p.Record(ctx, service, step.ID); err == nil {
			if a, has := rec.Agent(); has {
				one.Agent = strings.TrimSpace(a.Name + " " + a.Model)
			}
			gjson.ParseBytes(p.Timeline.Metrics(rec.State)).ForEach(func(key, value gjson.Result) bool {
				if value.Type == gjson.Number || value.IsBool() {
					metrics[key.String()] = true
					if key.String() == p.Colour {
						one.Value = value.Raw
					}
				}
				return true
			})
		}
		out = append(out, one)
	}
	for key := range metrics {
		p.Metrics = append(p.Metrics, key)
	}
	slices.Sort(p.Metrics)
	return out
}

// days groups rows, the newest first, and folds what lies between milestones.
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

// folded says what is folded: "4 more: tool 3, safety 1".
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

// Sizes of the drawing, in pixels.
const (
	stepWidth  = 60
	dotWidth   = 22
	laneHeight = 38
	topMargin  = 64 // for the arcs of rollbacks
)

// drawing is a timeline from left to right: live checkpoints on the first lane, what rollbacks discarded
// on those below it, and rollbacks as arcs above.
type drawing struct {
	Width, Height int
	Nodes         []node
	Edges         []edge
	Arcs          []arc
}

type node struct {
	row
	X, Y, R int
	Class   string
	Text    string // in it
	Below   string // under it
}

type edge struct {
	Path  string
	Faint bool
}

type arc struct {
	Path, Title, Class string
}

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
			n.Below = clip(r.StepName, 9)
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

// laneOf is the first lane for what is live, and for the rest the one on which the checkpoint before it
// ends, or a new one.
func laneOf(r row, lanes []name.ID) int {
	if !r.Discarded && !r.Safety {
		return 0
	}
	if at := slices.Index(lanes[1:], r.Previous); at >= 0 && r.Previous != "" {
		return at + 1
	}
	if len(lanes) > 6 { // further branches share the last lane
		return 6
	}
	return len(lanes)
}

func edgeBetween(a, b node) edge {
	if a.Y == b.Y {
		return edge{fmt.Sprintf("M%d %dH%d", a.X+a.R, a.Y, b.X-b.R), b.Discarded || b.Safety}
	}
	middle := (a.X + b.X) / 2
	return edge{fmt.Sprintf("M%d %dC%d %d %d %d %d %d", a.X+a.R, a.Y, middle, a.Y, middle, b.Y, b.X-b.R, b.Y), b.Discarded || b.Safety}
}

func arcBetween(a, b node, m inspect.Move) arc {
	height := min(abs(a.X-b.X)/3+14, topMargin-18)
	top := min(a.Y, b.Y) - height
	out := arc{Class: "rollback", Title: "rollback " + a.Label + " → " + b.Label}
	if m.Undo { // beside the rollback that it takes back, not on it
		top -= 9
		out.Class, out.Title = "undo", "undo "+a.Label+" → "+b.Label
	}
	if m.Reason != "" {
		out.Title += ": " + firstLine(m.Reason)
	}
	out.Path = fmt.Sprintf("M%d %dC%d %d %d %d %d %d", a.X, a.Y-a.R-2, a.X, top, b.X, top, b.X, b.Y-b.R-4)
	return out
}

func abs(n int) int { return max(n, -n) }

// clip shortens a text to a number of characters.
func clip(text string, most int) string {
	text = firstLine(text)
	if r := []rune(text); len(r) > most {
		return string(r[:most-1]) + "…"
	}
	return text
}

// scale is the range of a metric that is drawn.
type scale struct{ low, high float64 }

func scaleOf(rows []row) (s scale) {
	first := true
	for _, r := range rows {
		if v := gjson.Parse(r.Value); v.Type == gjson.Number {
			if first {
				s, first = scale{v.Num, v.Num}, false
			}
			s.low, s.high = min(s.low, v.Num), max(s.high, v.Num)
		}
	}
	return s
}

// classOf colours a step by the chosen metric, else by its status.
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
	for _, mark := range []struct {
		set   bool
		class string
	}{{r.Discarded, " gone"}, {r.Safety, " safety"}, {r.Current, " current"}, {!r.Valid, " broken"}} {
		if mark.set {
			class += mark.class
		}
	}
	return class
}
