package answer

import (
	"cmp"
	"encoding/json"
	"fmt"
	"io"
	"strconv"
	"strings"

	"git-checkpoint/internal/core/checkpoint"
	"git-checkpoint/internal/format/record"
	"git-checkpoint/internal/format/render"
	"git-checkpoint/internal/verb/inspect"
)

// Created is the answer of create. The first two lines have the form that users know from go-team;
// the third tells the session and the changes.
type Created struct {
	Detail   *checkpoint.Detail
	Untagged bool // say why the step has no tag
}

// text writes the confirmation. A workflow may word it itself (Said).
func (a Created) text(p *page) {
	d := a.Detail
	if d.Said != "" {
		p.text("", d.Said)
		p.prunedByRule(len(d.Pruned))
		p.expired(d.Expired)
		a.untagged(p)
		return
	}
	p.done("Checkpoint created: ", d.Record.Label)
	p.line(plain(fmt.Sprintf("Files: %d | Git: %s", d.Record.Files.Total(), d.Commit.Short())))
	p.line(plain(whatIsNew(d)))
	p.prunedByRule(len(d.Pruned))
	p.expired(d.Expired)
	a.untagged(p)
}

// untagged says why the step has no tag.
func (a Created) untagged(p *page) {
	if a.Untagged {
		p.line(plain("This step has no tag: it holds " + a.Detail.Private + ", and \"git push --tags\" would send it"))
	}
}

// whatIsNew names the session of a checkpoint and counts the files that it changed.
func whatIsNew(d *checkpoint.Detail) string {
	r, about := d.Record, d.Left
	if d.Record.Previous == "" {
		about = when(about == "", "new session") + when(about != "", "new; "+about)
	}
	what := counted([]string{"new", "changed", "deleted"}, r.Files.Counts[:]...)
	return "In " + string(r.Session) + when(about != "", " ("+about+")") + when(what != "", ": "+what+when(d.Against != "", ", against "+d.Against))
}

// Unchanged is the answer of create if nothing has changed since the current checkpoint, which is
// in Detail.
type Unchanged struct{ Detail *checkpoint.Detail }

// text names that checkpoint.
func (a Unchanged) text(p *page) {
	p.line(plain("nothing changed since "), render.Span{Role: render.ID, Text: a.Detail.Record.Label}, plain(" (--always makes one anyway)"))
}

// JSON writes the record of that checkpoint. Its member created is false.
func (a Unchanged) JSON(w io.Writer) error { return Shown(a).JSON(w) }

// JSON writes the record with commit, ref, tag and created.
func (a Created) JSON(w io.Writer) error { return Shown{a.Detail}.JSON(w) }

// Captured is the answer of create --dry-run.
type Captured struct{ Detail *checkpoint.Detail }

// text writes what the checkpoint would be called and what it would contain.
func (a Captured) text(p *page) {
	r := a.Detail.Record
	p.line(plain("Would create checkpoint: "), render.Span{Role: render.ID, Text: r.Label})
	p.captured(a.Detail)
}

// JSON writes the record that would be stored.
func (a Captured) JSON(w io.Writer) error { return Shown(a).JSON(w) }

// Shown is the answer of show.
type Shown struct{ Detail *checkpoint.Detail }

// JSON writes the record with commit, ref and tag.
func (a Shown) JSON(w io.Writer) error {
	raw, err := a.Document()
	if err != nil {
		return err
	}
	return render.JSON(w, json.RawMessage(raw))
}

// Document returns the answer as JSON.
func (a Shown) Document() ([]byte, error) {
	raw, err := a.Detail.MarshalJSON()
	if err != nil {
		return nil, fmt.Errorf("encoding the record of %q: %w", a.Detail.Record.ID, err)
	}
	return raw, nil
}

// text writes the contents of the record: identity and place first, then message, state, outputs,
// error and files.
func (a Shown) text(p *page) {
	d, r := a.Detail, a.Detail.Record
	title := render.Cell{{Role: render.ID, Text: r.Label}}
	for _, mark := range (marks{current: d.Current, discarded: d.Discarded, pinned: d.Pinned, incomplete: inspect.Incomplete(r.Snapshot.Skipped)}).spans() {
		title = append(title, plain(" "), mark)
	}
	p.fields(
		field{"Checkpoint", title},
		field{"Id", say(string(r.ID))},
		field{"Session", say(string(r.Session))},
		field{"Topic", say(r.Topic)},
		field{"Step", say(stepOf(d))},
		field{"Trigger", say(r.Trigger)},
		field{"Status", say(r.Status)},
		field{"Workflow", say(r.Workflow.Name)},
		field{"Time", say(p.view.Time(r.CreatedAt))},
		field{"Commit", cell(render.ID, p.view.OID(d.Commit))},
		field{"For git", say(d.Plain)},
		field{"Tag", say(strings.TrimPrefix(string(d.Tag), "refs/tags/"))},
		field{"Branch", say(branchOf(d, p.view))},
		field{"Holds", say(when(r.Snapshot.Tree == "", "no files: the document that it was imported from has none"))},
		field{"Staged", say(when(len(r.Git.Staged) > 0, render.Count(len(r.Git.Staged), "file", "files")))},
		field{"Tokens", say(usageOf(d.Usage))},
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
	p.byOthers(r)
}

// stepOf returns the step of a checkpoint with its name and iteration.
func stepOf(d *checkpoint.Detail) string {
	r := d.Record
	return strconv.Itoa(r.Step) + spaceBefore(r.StepName) + when(r.Iteration != "", ", iteration "+r.Iteration) + when(!r.Milestone, ", between steps")
}

// branchOf tells where HEAD was when the checkpoint was made.
func branchOf(d *checkpoint.Detail, v render.View) string {
	g := d.Record.Git
	where := strings.TrimPrefix(string(g.Branch), "refs/heads/")
	// A checkpoint imported from a document without files only has the branch that the document
	// names.
	if d.Record.Snapshot.Tree == "" && g.Head == "" {
		if named, known := record.DocumentBranch.Of(g.Extra); known {
			return named + ", which is not in this repository"
		}
		return where
	}
	where = cmp.Or(where, "detached HEAD")
	if g.Head == "" {
		return where + ", no commit yet" + when(d.Elsewhere != "", " ("+d.Elsewhere+")")
	}
	return where + " at " + v.OID(g.Head) + when(g.Operation != "", ", during a "+g.Operation) + when(d.Elsewhere != "", " ("+d.Elsewhere+")")
}
