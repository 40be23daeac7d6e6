package answer

import (
	"cmp"
	"fmt"
	"strconv"
	"strings"

	"git-checkpoint/internal/core/checkpoint"
	"git-checkpoint/internal/core/workflow"
	"git-checkpoint/internal/format/record"
	"git-checkpoint/internal/format/render"
	"git-checkpoint/internal/sys/lazy"
	"git-checkpoint/internal/verb/inspect"
)

// Created is the answer of create: what the checkpoint is called, and how much it holds.
type Created struct {
	Detail *checkpoint.Detail
}

// text writes the confirmation. A workflow may word it itself (Said).
func (a Created) text(p *page) {
	d := a.Detail
	if d.Said != "" {
		p.text("", d.Said)
	} else {
		p.saved(d)
	}
	p.prunedByRule(len(d.Pruned))
	p.expired(d.Expired)
	if d.Private != "" {
		p.line(plain("This step has no tag: it holds " + d.Private + ", and \"git push --tags\" would send it"))
	}
}

// saved writes the line that confirms a checkpoint, and its session where that is new or has
// changed.
func (p *page) saved(d *checkpoint.Detail) {
	said := []render.Span{{Role: render.Success, Text: "✓"}, plain(" Saved ")}
	p.line(append(append(said, mention(checkpoint.MentionOf(d.Record))...), plain(": "+holds(d)))...)
	about := d.Left
	if d.First {
		about = when(about == "", "new session"+ofBranch(d)) + when(about != "", "new; "+about)
	}
	if about != "" {
		p.line(plain("In " + string(d.Record.Session) + " (" + about + ")"))
	}
}

// mention returns a checkpoint's name in the color of names, and its message.
func mention(m checkpoint.Mention) render.Cell {
	return []render.Span{{Role: render.ID, Text: m.Name}, plain(strings.TrimPrefix(m.String(), m.Name))}
}

// name returns what people type for a checkpoint; with --verbose its label.
func (p *page) name(c checkpoint.Labelled) string { return p.mentioned(c).Name }

// called is mention for a list.
func (p *page) called(c checkpoint.Labelled) render.Cell { return mention(p.mentioned(c)) }

// mentioned returns how an answer mentions a checkpoint: with --verbose by its label.
func (p *page) mentioned(c checkpoint.Labelled) checkpoint.Mention {
	if p.view.Verbose || c.Mention.Name == "" {
		return checkpoint.Mention{Name: p.short(c.Label)}
	}
	return c.Mention
}

// numbered matches the label of a step without a name.
var numbered = lazy.Pattern(`^cp-0*(\d+)(\+.*)?$`)

// short returns a label, or without --verbose the number that people type for it, where that is known from it alone.
func (p *page) short(label string) string {
	if p.view.Verbose {
		return label
	}
	return numbered().ReplaceAllString(label, "$1$2")
}

// holds says how much a checkpoint holds: the first one of a session all its files and how they
// differ from HEAD, a later one what it changed.
func holds(d *checkpoint.Detail) string {
	n := d.Record.Files.Counts
	changed := counted([]string{"changed", "new", "deleted"}, n[1], n[0], n[2])
	if d.Amount != nil && d.Amount.Added+d.Amount.Deleted > 0 {
		changed += fmt.Sprintf(" (+%d -%d)", d.Amount.Added, d.Amount.Deleted)
	}
	unknown, _ := record.FilesUnknown.Of(d.Record.Files.Extra)
	switch {
	case d.Record.Snapshot.Tree == "":
		return "the state, without files"
	case unknown:
		return "what changed is unknown"
	case d.Amount == nil || d.Record.Previous != "":
		return cmp.Or(changed, "no file changed") + when(d.Against != "", ", against "+d.Against)
	case d.Record.Git.Head == "":
		return render.Count(d.Amount.All, "file", "files")
	}
	return render.Count(d.Amount.All, "file", "files") + ", " + cmp.Or(when(changed != "", "against HEAD "+changed), "same as HEAD")
}

// Unchanged is the answer of create if nothing has changed since the current checkpoint, which is
// in Detail.
type Unchanged struct{ Detail *checkpoint.Detail }

// text names that checkpoint.
func (a Unchanged) text(p *page) {
	line := append([]render.Span{plain("nothing changed since ")}, mention(checkpoint.MentionOf(a.Detail.Record))...)
	p.line(append(line, plain(" (--always makes one anyway)"))...)
}

// Captured is the answer of create --dry-run.
type Captured struct{ Detail *checkpoint.Detail }

// text writes what the checkpoint would be called and what it would contain.
func (a Captured) text(p *page) {
	r := a.Detail.Record
	p.line(append([]render.Span{plain("Would save ")}, mention(checkpoint.MentionOf(r))...)...)
	p.captured(a.Detail, nil)
}

// Shown is the answer of show.
type Shown struct {
	Detail *checkpoint.Detail
	Since  *inspect.Since // what it changed; nil: not asked for
}

// text writes the contents of the record: what it is called, its message, files, state, outputs and error, and last
// what programs and documents call it. A person does not see members with their usual value.
func (a Shown) text(p *page) {
	d, r := a.Detail, a.Detail.Record
	people := p.view.Layout == render.Aligned
	title := cell(render.ID, d.Mention().Name)
	if p.view.Verbose && !people {
		title = cell(render.ID, r.Label)
	}
	for _, mark := range (marks{current: d.Current, discarded: d.Discarded, pinned: d.Pinned, incomplete: inspect.Incomplete(r.Snapshot.Skipped)}).spans(p.view.Layout) {
		title = append(title, plain(" "), mark)
	}
	if people {
		p.line(append(title, plain(", "+p.view.Time(r.CreatedAt)+", in session "+string(r.Session)+when(r.Topic != "", ` "`+r.Topic+`"`)))...)
	} else {
		p.fields(field{"Checkpoint", title})
	}
	if r.Message != "" {
		p.gap()
		p.text("    ", r.Message)
		p.gap()
	}
	p.captured(d, a.Since)
	if a.Since != nil && a.Since.Known && (people || !p.view.Verbose) {
		p.stateChanges(a.Since.State)
	} else {
		p.members("State", r.State)
	}
	p.outputs(d)
	if len(r.Error) > 0 && string(r.Error) != "null" {
		p.line(heading("Error"))
		p.text("  ", jsonText(r.Error))
	}
	p.byOthers(r)
	p.gap()
	p.identity(d)
}

// identity writes what programs and documents call a checkpoint, and where and how it was made.
func (p *page) identity(d *checkpoint.Detail) {
	r := d.Record
	unusual := func(value, usual string) render.Cell {
		return say(when(value != usual || p.view.Layout == render.Tabbed && p.view.Verbose, value))
	}
	if p.view.Layout == render.Tabbed { // people have them in the first line
		p.fields(field{"Session", say(string(r.Session))}, field{"Topic", say(r.Topic)}, field{"Time", say(p.view.Time(r.CreatedAt))})
	}
	named := func(text string) render.Cell { return say(when(p.view.Verbose, text)) }
	p.fields(
		field{"Step", unusual(stepOf(d), checkpoint.CalledOf(r))},
		field{"Trigger", unusual(r.Trigger, workflow.TriggerManual)},
		field{"Status", unusual(r.Status, checkpoint.StatusOpen)},
		field{"Workflow", unusual(r.Workflow.Name, workflow.DefaultName)},
		field{"Branch", say(branchOf(d, p.view))},
		field{"Holds", say(when(r.Snapshot.Tree == "", "no files: the document that it was imported from has none"))},
		field{"Staged", say(when(len(r.Git.Staged) > 0, render.Count(len(r.Git.Staged), "file", "files")))},
		field{"Tokens", say(d.Usage.Words())},
		field{"Rebuilt from", say(string(r.RebuiltFrom))},
		field{"Commit", cell(render.ID, p.view.OID(d.Commit))},
		field{"Label", named(r.Label)},
		field{"Id", named(string(r.ID))},
		field{"For git", named(d.Plain)},
		field{"Tag", named(strings.TrimPrefix(string(d.Tag), "refs/tags/"))},
	)
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
