package web

import (
	"cmp"
	"context"
	"encoding/json"
	"fmt"
	"iter"
	"maps"
	"net/http"
	"slices"
	"strings"

	"github.com/tidwall/gjson"

	"git-checkpoint/internal/core/checkpoint"
	"git-checkpoint/internal/format/name"
	"git-checkpoint/internal/format/record"
	"git-checkpoint/internal/git"
	"git-checkpoint/internal/storage/store"
	"git-checkpoint/internal/verb/attempt"
	"git-checkpoint/internal/verb/inspect"
	"git-checkpoint/internal/verb/session"
)

// stepPage shows one checkpoint. The templates read the embedded structs too.
type stepPage struct {
	*record.Record
	*checkpoint.Detail
	Made checkpoint.Time
	// Who is the author, Agent the coding agent that made the checkpoint.
	Who   string
	Agent string
	// Command goes back to this checkpoint when typed in a shell.
	Command string
	Files   []*fileDiff
	Changes []inspect.StateChange
	State   []leaf
	Outputs []output
	Others  []byOther // what the agent of the step is not known to have made
	Checks  []checked // what validate finds wrong
	Restore bool      // set if the checkpoint has files to go back to
	// Older and Newer are its neighbours; empty at either end.
	Older name.ID
	Newer name.ID
	// Anchor and Missing are used in a file only: the target of links to this step, and the label
	// of a checkpoint that cannot be read.
	Anchor  string
	Missing string
}

// Called is what people call the checkpoint.
func (p *stepPage) Called() string { return checkpoint.CalledOf(p.Record) }

// output is an output of the checkpoint: a named file that the job handed in. Cut is set if Text is
// not all of it.
type output struct {
	Name  string
	Size  int64
	Lines int
	Text  string
	Cut   bool
}

// checked is a finding of validate, as the JSON has it.
type checked struct{ Kind, Object, Message, Hint string }

// step shows the checkpoint of the request. With a path it also shows the lines of that file,
// however many.
func (s *Server) step(ctx context.Context, service *checkpoint.Service, r *http.Request) (view, error) {
	p, err := s.stepOf(ctx, service, r.FormValue("session"), r.FormValue("ref"), r.FormValue("path"))
	if err != nil {
		return view{}, err
	}
	p.Checks = s.checksOf(ctx, string(p.Session), string(p.ID))
	p.Older, p.Newer, p.Who, err = inspect.Neighbors(ctx, service.Store, p.Session, p.ID)
	if err != nil {
		return view{}, err
	}
	return view{Name: "step", Title: p.Called(), Data: p}, nil
}

// stepOf reads a checkpoint, what it changed in files and state, and its outputs. only is the path
// of a file whose lines are shown regardless of their number; empty means none. Parts that cannot
// be read are left out where the rest is still useful.
func (s *Server) stepOf(ctx context.Context, service *checkpoint.Service, in, ref, only string) (*stepPage, error) {
	const mostOutput = 64 << 10 // how much of an output a page shows, in bytes
	detail, err := inspect.Show(ctx, service.Sessions, in, ref)
	if err != nil {
		return nil, err
	}
	rec := detail.Record
	p := &stepPage{
		Record: rec, Detail: detail, Made: checkpoint.Time{Time: rec.CreatedAt}, Restore: rec.Snapshot.Tree != "",
		Command: "git checkpoint rollback " + string(rec.Session) + ":" + string(rec.ID),
	}
	if detail.Tag != "" { // a tag shows that the label means this checkpoint
		p.Command = "git checkpoint rollback " + string(rec.Session) + ":" + rec.Label
	}
	if a, has := rec.Agent(); has {
		p.Agent = strings.TrimSpace(a.Name + " " + a.Version + " " + a.Model)
	}
	p.Others = byOthers(ctx, service.Store, rec)
	changed, err := inspect.ShownFiles(ctx, service.Store, detail)
	if err != nil {
		return nil, err
	}
	if p.Files, err = filesOf(ctx, service, changed, only); err != nil {
		return nil, err
	}
	p.Changes = inspect.ChangesOf(ctx, service, detail).State // if the one before is pruned or damaged, the changes stay unknown
	p.State = treeOf(rec.State, p.Changes)
	for _, n := range slices.Sorted(maps.Keys(rec.Outputs)) {
		o := output{Name: n, Size: rec.Outputs[n].Size, Lines: rec.Outputs[n].Lines}
		if data, err := inspect.Output(ctx, service.Sessions, string(rec.Session), string(rec.ID), n); err == nil {
			o.Cut = len(data) > mostOutput
			o.Text = plain(string(data[:min(len(data), mostOutput)]))
		}
		p.Outputs = append(p.Outputs, o)
	}
	return p, nil
}

// checksOf runs validate on a checkpoint and returns the findings.
func (s *Server) checksOf(ctx context.Context, in, ref string) []checked {
	if s.Read == nil {
		return nil
	}
	var answer struct{ Findings []checked }
	if json.Unmarshal(s.Read(ctx, "validate", "--json", in+":"+ref).Out, &answer) != nil {
		return nil // the page shows the rest
	}
	return answer.Findings
}

// comparePage shows what differs between two checkpoints, or between one and the worktree.
type comparePage struct {
	*inspect.Difference
	// A and B are as they were typed or chosen; an empty B is the worktree.
	A, B    string
	Files   []*fileDiff
	Choices []inspect.TimelineStep // the checkpoints to choose from, the newest first
	Chosen  bool                   // set if A was given, so that there is something to show
}

// compare shows the form to choose two checkpoints, and below it how they differ.
func (s *Server) compare(ctx context.Context, service *checkpoint.Service, r *http.Request) (view, error) {
	in := r.FormValue("session")
	t, err := inspect.ReadTimeline(ctx, service.Sessions, in)
	if err != nil {
		return view{}, err
	}
	p := &comparePage{A: r.FormValue("a"), B: r.FormValue("b"), Choices: slices.Clone(t.Steps)}
	slices.Reverse(p.Choices)
	p.Choices = p.Choices[:min(len(p.Choices), 1000)]
	if p.Chosen = p.A != ""; p.Chosen {
		p.Difference, err = inspect.Diff(ctx, service, inspect.DiffRequest{Session: string(t.Session), A: p.A, B: p.B})
		if err != nil {
			return view{}, err
		}
		if p.Files, err = filesOf(ctx, service, p.Difference, r.FormValue("path")); err != nil {
			return view{}, err
		}
	}
	return view{Name: "compare", Title: "Compare", Data: p}, nil
}

// metricsPage shows how the numbers in the state developed from step to step.
type metricsPage struct {
	Lines []metric // has a chart for each metric
	Older int      // how many milestones were left out
}

// metric is one number over the steps. Its chart is an SVG path in pixels, 24 per step.
type metric struct {
	Name   string
	Points []point
	Path   string // joins the points, in the syntax of an SVG path
	// Low and High are the smallest and the largest value, as they are in the state.
	Low, High string
	Width     int
}

// point is the value at one step. number is the value for scaling; true counts as 1.
type point struct {
	X, Y        int
	Value       string
	Label, Link string
	number      float64
}

// metrics shows a chart for each number or boolean that the milestones have among their metrics.
func (s *Server) metrics(ctx context.Context, service *checkpoint.Service, r *http.Request) (view, error) {
	const mostMetrics = 1000 // how many milestones the page reads, the newest
	t, err := inspect.ReadTimeline(ctx, service.Sessions, r.FormValue("session"))
	if err != nil {
		return view{}, err
	}
	steps := slices.DeleteFunc(slices.Clone(t.Steps), func(s inspect.TimelineStep) bool { return !s.Milestone || s.Discarded })
	p := &metricsPage{Older: max(0, len(steps)-mostMetrics)}
	points := map[string][]point{}
	for i, step := range steps[p.Older:] {
		rec, err := t.Record(ctx, service.Store, step.ID)
		if err != nil {
			continue // the timeline shows that it is damaged
		}
		for key, value := range numbers(t.Metrics(service.Settings, rec)) {
			points[key] = append(points[key], point{
				X: 20 + i*24, Value: value.Raw, number: value.Float(), Label: step.Called(),
				Link: query("/step", "session", t.Session, "ref", step.ID),
			})
		}
	}
	for _, n := range slices.Sorted(maps.Keys(points)) {
		p.Lines = append(p.Lines, charted(plain(n), points[n]))
	}
	return view{Name: "metrics", Title: "Metrics", Data: p}, nil
}

// numbers are the metrics that are numbers or booleans.
func numbers(metrics json.RawMessage) iter.Seq2[string, gjson.Result] {
	return func(yield func(string, gjson.Result) bool) {
		gjson.ParseBytes(metrics).ForEach(func(key, value gjson.Result) bool {
			return value.Type != gjson.Number && !value.IsBool() || yield(key.String(), value)
		})
	}
}

// charted sets the heights of the points and draws the line through them. A metric that never changes
// is a level line at half height.
func charted(name string, points []point) metric {
	byNumber := func(a, b point) int { return cmp.Compare(a.number, b.number) }
	low, high := slices.MinFunc(points, byNumber), slices.MaxFunc(points, byNumber)
	var path strings.Builder
	for i := range points {
		p := &points[i]
		p.Y = 40
		if high.number > low.number {
			p.Y = 70 - int(60*(p.number-low.number)/(high.number-low.number))
		}
		fmt.Fprintf(&path, "%s%d %d", map[bool]string{true: "M", false: "L"}[i == 0], p.X, p.Y)
	}
	return metric{Name: name, Points: points, Path: path.String(), Low: low.Value, High: high.Value, Width: points[len(points)-1].X + 20}
}

// sessionsPage lists the sessions and shows where this worktree is.
type sessionsPage struct {
	Sessions []manifest
	Status   *inspect.StatusAnswer
}

// manifest is a session with the label of its current checkpoint and the number of checkpoints that
// no rollback has discarded.
type manifest struct {
	session.Manifest
	Label string
	Live  int
}

// sessions shows all sessions.
func (s *Server) sessions(ctx context.Context, service *checkpoint.Service, _ *http.Request) (view, error) {
	all, err := session.List(ctx, service.Sessions)
	if err != nil {
		return view{}, err
	}
	p := &sessionsPage{}
	for _, m := range all {
		one := manifest{Manifest: m}
		for _, c := range m.Checkpoints {
			if c.ID == m.CurrentCheckpoint {
				one.Label = c.Called
			}
			if !c.Discarded {
				one.Live++
			}
		}
		p.Sessions = append(p.Sessions, one)
	}
	if p.Status, err = inspect.Status(ctx, service, inspect.LookAtFiles); err != nil && (p.Status == nil || p.Status.Damaged == "") {
		return view{}, err
	}
	return view{Name: "sessions", Title: "Sessions", Data: p}, nil
}

// findPage lists checkpoints that match a text, or an expression over the record.
type findPage struct {
	Text, Where string
	Found       []found
	// Everywhere is set if the text is searched for in everything that sessions keep. Said then has
	// the places.
	Everywhere bool
	Said       []inspect.Found
	Cut        bool // set if there are more than Found or Said shows
	Searched   int  // how many records were read for their paths
}

// found is a checkpoint with those of its changed paths that match.
type found struct {
	inspect.Item
	Paths []string
}

// mostSearched is how many records a search reads, because only records have the paths; mostFound
// is how many results a page shows.
const (
	mostSearched = 1000
	mostFound    = 200
)

// find searches by the expression of the request, else by its text.
func (s *Server) find(ctx context.Context, service *checkpoint.Service, r *http.Request) (view, error) {
	p := &findPage{Text: r.FormValue("q"), Where: r.FormValue("where"), Everywhere: r.FormValue("everywhere") != ""}
	v := view{Name: "find", Title: "Find", Data: p}
	if p.Where != "" {
		listed, err := inspect.List(ctx, service.Sessions, inspect.ListRequest{Session: r.FormValue("session"), Where: p.Where})
		if err != nil {
			return view{}, err
		}
		for _, l := range listed {
			for _, item := range slices.Backward(l.Items) {
				p.Found = append(p.Found, found{Item: item})
			}
		}
	} else if p.Everywhere && strings.TrimSpace(p.Text) != "" {
		said, err := inspect.Search(ctx, service.Sessions, "", []string{p.Text})
		if err != nil {
			return view{}, err
		}
		slices.Reverse(said)
		p.Cut, p.Said = len(said) > mostFound, said[:min(len(said), mostFound)]
		return v, nil
	} else if p.Text != "" {
		t, err := inspect.ReadTimeline(ctx, service.Sessions, r.FormValue("session"))
		if err != nil {
			return view{}, err
		}
		p.search(ctx, service.Store, t)
	}
	if p.Cut = len(p.Found) > mostFound; p.Cut {
		p.Found = p.Found[:mostFound]
	}
	return v, nil
}

// search compares the text with messages, labels, step names and ids of all checkpoints, and with
// the changed paths of the newest mostSearched.
func (p *findPage) search(ctx context.Context, service *store.Store, t *inspect.Timeline) {
	text := strings.ToLower(p.Text)
	for _, step := range slices.Backward(t.Steps) {
		one := found{Item: step.Item}
		hit := strings.Contains(strings.ToLower(step.Message+"\n"+step.Label+"\n"+step.StepName+"\n"+string(step.ID)), text)
		if p.Searched < mostSearched {
			p.Searched++
			if rec, err := t.Record(ctx, service, step.ID); err == nil {
				one.Paths = pathsWith(rec, text)
			}
		}
		if hit || len(one.Paths) > 0 {
			p.Found = append(p.Found, one)
		}
		if len(p.Found) > mostFound {
			return
		}
	}
}

// pathsWith returns up to five changed paths that contain the text.
func pathsWith(rec *record.Record, text string) (out []string) {
	for _, p := range slices.Concat(rec.Files.Created, rec.Files.Modified, rec.Files.Deleted) {
		if strings.Contains(strings.ToLower(string(p)), text) && len(out) < 5 {
			out = append(out, plain(string(p)))
		}
	}
	return out
}

// blob answers with a picture from the repository. It answers with nothing else: an HTML or SVG
// file of the repository could otherwise run scripts with the rights of these pages.
func (s *Server) blob(w http.ResponseWriter, r *http.Request) {
	s.one.Lock()
	defer s.one.Unlock()
	var data []byte
	err := s.Open(r.Context(), func(service *checkpoint.Service) (err error) {
		data, err = pictureOf(r.Context(), service.Repo, r.FormValue("id"))
		return err
	})
	kind := pictureKind(data)
	if err != nil || kind == "" {
		http.NotFound(w, r)
		return
	}
	w.Header().Set("Content-Type", kind)
	w.Header().Set("Content-Security-Policy", "default-src 'none'; sandbox")
	_, _ = w.Write(data) // the browser may have gone
}

// pictureOf reads a blob by its id.
func pictureOf(ctx context.Context, service *git.Repo, id string) ([]byte, error) {
	const largestPicture = 10 << 20 // in bytes
	if !checkpoint.HexPattern().MatchString(id) {
		return nil, fmt.Errorf("%q is not an object id", name.Clip(id, name.Said))
	}
	o, err := service.Objects.Batch().Typed(ctx, id, "blob")
	if err == nil && len(o.Data) > largestPicture {
		err = fmt.Errorf("%s is too large to be shown on a page", id)
	}
	return o.Data, err
}

// pictureKind returns the media type of a raster image, recognised by its first bytes, or "". SVG
// is not one of them, because it may contain scripts.
func pictureKind(data []byte) string {
	switch kind := http.DetectContentType(data); kind {
	case "image/png", "image/jpeg", "image/gif", "image/webp", "image/bmp":
		return kind
	}
	return ""
}

// attemptsPage is the table of the newest fork's attempts, and a list of all attempts.
type attemptsPage struct {
	*attempt.Comparison
	Sort string // the column by which the rows are sorted
	All  []attempt.Attempt
}

// attempts shows the attempts of the repository.
func (s *Server) attempts(ctx context.Context, service *checkpoint.Service, r *http.Request) (view, error) {
	p := &attemptsPage{Sort: r.FormValue("sort")}
	v := view{Name: "attempts", Title: "Attempts", Data: p}
	var err error
	if p.All, err = attempt.List(ctx, service.Store); err != nil || len(p.All) == 0 {
		return v, err
	}
	p.Comparison, err = attempt.Compare(ctx, service, attempt.CompareRequest{Session: r.FormValue("session"), Sort: p.Sort})
	if checkpoint.KindOf(err) == checkpoint.KindNotFound { // there are attempts, but none of this session
		return v, nil
	}
	return v, err
}
