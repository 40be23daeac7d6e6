package answer

import (
	"encoding/json"
	"fmt"
	"io"
	"strconv"
	"strings"

	"git-checkpoint/internal/checkpoint"
	"git-checkpoint/internal/record"
	"git-checkpoint/internal/render"
)

// Created is what create answers: one line that says so and one with figures, the
// two that people know from go-team, and one that says in which session and what is new.
type Created struct{ Detail *checkpoint.Detail }

// Text writes the confirmation.
func (a Created) Text(w io.Writer, v render.View) error {
	p := &page{w: w, view: v}
	d := a.Detail
	if d.Said != "" {
		p.text("", d.Said)
		p.prunedByRule(len(d.Pruned))
		return p.err
	}
	p.line(render.Span{Role: render.Success, Text: "✓"}, plain(" Checkpoint created: "),
		render.Span{Role: render.ID, Text: d.Record.Label})
	p.line(plain(fmt.Sprintf("Files: %d | Git: %s", d.Record.Files.Total(), d.Commit.Short())))
	p.line(plain(whatIsNew(d.Record)))
	p.prunedByRule(len(d.Pruned))
	return p.err
}

// whatIsNew says in which session a checkpoint is, and what it adds there.
func whatIsNew(r *record.Record) string {
	text := "In " + string(r.Session)
	if r.Previous == "" {
		text += " (new session)"
	}
	var parts []string
	for i, what := range []string{"new", "changed", "deleted"} {
		if n := r.Files.Counts[i]; n > 0 {
			parts = append(parts, fmt.Sprintf("%d %s", n, what))
		}
	}
	if len(parts) == 0 {
		return text
	}
	return text + ": " + strings.Join(parts, ", ")
}

// Unchanged is what create answers when the current checkpoint says it all.
type Unchanged struct{ Detail *checkpoint.Detail }

// Text says which one that is.
func (a Unchanged) Text(w io.Writer, v render.View) error {
	p := &page{w: w, view: v}
	p.line(plain("nothing changed since "), render.Span{Role: render.ID, Text: a.Detail.Record.Label}, plain(" (--always makes one anyway)"))
	return p.err
}

// JSON writes its record, and that nothing was created.
func (a Unchanged) JSON(w io.Writer) error { return Shown(a).JSON(w) }

// JSON writes the record with commit, ref, tag and created.
func (a Created) JSON(w io.Writer) error { return Shown(a).JSON(w) }

// Captured is what create would capture.
type Captured struct{ Detail *checkpoint.Detail }

// Text writes what the checkpoint would be called and what it would hold.
func (a Captured) Text(w io.Writer, v render.View) error {
	p := &page{w: w, view: v}
	r := a.Detail.Record
	p.line(plain("Would create checkpoint: "), render.Span{Role: render.ID, Text: r.Label})
	p.captured(a.Detail)
	return p.err
}

// JSON writes the record as it would be.
func (a Captured) JSON(w io.Writer) error { return Shown(a).JSON(w) }

// Shown is what show answers.
type Shown struct{ Detail *checkpoint.Detail }

// JSON writes the record with commit, ref and tag.
func (a Shown) JSON(w io.Writer) error {
	raw, err := a.Document()
	if err != nil {
		return err
	}
	return render.JSON(w, json.RawMessage(raw))
}

// Document is the answer in JSON.
func (a Shown) Document() ([]byte, error) {
	raw, err := a.Detail.MarshalJSON()
	if err != nil {
		return nil, fmt.Errorf("encoding the record of %q: %w", a.Detail.Record.ID, err)
	}
	return raw, nil
}

// Text writes all that the record says, in the order in which people ask for it.
func (a Shown) Text(w io.Writer, v render.View) error {
	p := &page{w: w, view: v}
	d, r := a.Detail, a.Detail.Record
	title := render.Cell{{Role: render.ID, Text: r.Label}}
	for _, mark := range marks(d.Current, d.Discarded, d.Pinned, true) {
		title = append(title, plain(" "), mark)
	}
	p.fields(
		field{"Checkpoint", value{title}},
		field{"Id", say(string(r.ID))},
		field{"Session", say(string(r.Session))},
		field{"Topic", says(render.Normal, r.Topic)},
		field{"Step", say(stepOf(d))},
		field{"Trigger", say(r.Trigger)},
		field{"Status", say(r.Status)},
		field{"Workflow", say(r.Workflow.Name)},
		field{"Time", say(v.Time(r.CreatedAt))},
		field{"Commit", says(render.ID, v.OID(d.Commit))},
		field{"Tag", say(strings.TrimPrefix(string(d.Tag), "refs/tags/"))},
		field{"Branch", say(branchOf(d, v))},
		field{"Holds", say(held(d))},
		field{"Staged", say(counted(len(r.Git.Staged), "file", "files"))},
		field{"Rebuilt from", say(string(r.RebuiltFrom))},
	)
	if r.Message != "" {
		p.gap()
		p.text("    ", r.Message)
		p.gap()
	}
	p.members("State", r.State)
	p.outputs(d)
	if len(r.Error) > 0 && string(r.Error) != "null" {
		p.line(heading("Error"))
		p.text("  ", jsonText(r.Error))
	}
	p.captured(d)
	return p.err
}

func stepOf(d *checkpoint.Detail) string {
	r := d.Record
	text := strconv.Itoa(r.Step)
	if r.StepName != "" {
		text += " " + r.StepName
	}
	if r.Iteration != "" {
		text += ", iteration " + r.Iteration
	}
	if !r.Milestone {
		text += ", between steps"
	}
	return text
}

func branchOf(d *checkpoint.Detail, v render.View) string {
	g := d.Record.Git
	where := strings.TrimPrefix(string(g.Branch), "refs/heads/")
	if d.Record.Snapshot.Tree == "" && g.Head == "" { // what an imported document says
		var named string
		if raw, ok := g.Extra[record.DocumentBranch]; ok && json.Unmarshal(raw, &named) == nil {
			return named + ", which is not here"
		}
		return where
	}
	if where == "" {
		where = "detached HEAD"
	}
	if g.Head == "" {
		return where + ", no commit yet"
	}
	if g.Operation != "" {
		return fmt.Sprintf("%s at %s, during a %s", where, v.OID(g.Head), g.Operation)
	}
	return fmt.Sprintf("%s at %s", where, v.OID(g.Head))
}

// held says what is missing in a checkpoint without files.
func held(d *checkpoint.Detail) string {
	if d.Record.Snapshot.Tree == "" {
		return "no files: the document that it was imported from has none"
	}
	return ""
}

func counted(n int, one, many string) string {
	if n == 0 {
		return ""
	}
	return render.Count(n, one, many)
}
