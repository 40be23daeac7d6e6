package answer

import (
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"time"

	"git-checkpoint/internal/core/checkpoint"
	"git-checkpoint/internal/format/render"
	"git-checkpoint/internal/sys/gather"
	"git-checkpoint/internal/verb/resume"
)

// Resumed is the answer of resume.
type Resumed struct{ Resume *resume.Answer }

// text writes a report: where work stopped, open questions, and what is left to do. If the user has
// made a choice, it writes the result of that instead.
func (a Resumed) text(p *page) {
	r := a.Resume
	switch {
	case r.Removed != nil:
		Deleted{Removed: r.Removed}.text(p)
	case r.Closed != "":
		p.done("Session "+string(r.Session)+" is closed as "+r.Closed, "")
		p.line(render.Span{Role: render.Hint, Text: "Next:"}, plain(" "+r.Next))
	case r.Accepted:
		p.line(append([]render.Span{{Role: render.Success, Text: "✓"}, plain(" Resumed at ")}, mention(r.Mention)...)...)
		p.field("Continues at", r.ResumePoint)
		p.warnings(r.Warnings)
		if r.Restored != nil {
			restored := *r.Restored
			restored.Pending = nil // it follows below
			p.wentTo("Rolled back to", &restored)
			p.notBroughtBack(r.Restored)
		}
		p.values("Pending", titled(r.Pending, r))
	default:
		p.report(r)
	}
}

// done writes a line with a check mark.
func (p *page) done(words, label string) {
	p.line(render.Span{Role: render.Success, Text: "✓"}, plain(" "+words), render.Span{Role: render.ID, Text: label})
}

// field writes a single field, unless text is empty.
func (p *page) field(name, text string) { p.fields(field{name, say(text)}) }

// report writes the state of the job before a choice is made.
func (p *page) report(r *resume.Answer) {
	p.fields(
		field{"Checkpoint", append(p.called(checkpoint.Labelled{Label: r.Label, Mention: r.Mention}), plain(", "+created(r.CreatedAt.Time, p.view)))},
		field{"Progress", say(r.Text)},
		field{"Continues at", say(r.ResumePoint)},
		field{"Message", say(when(p.view.Verbose || r.Message != r.Mention.Message, r.Message))},
	)
	p.problem(r.Error)
	p.completed(r)
	// Batches hold the same tasks as Pending, in groups.
	if len(r.Batches) == 0 {
		p.values("Pending", titled(r.Pending, r))
	}
	for i, batch := range r.Batches {
		p.values("Pending"+when(r.BatchNames[i] != "", ", "+r.BatchNames[i]), batch)
	}
	p.restored(r)
	if len(r.Changed) > 0 {
		p.files(fmt.Sprintf("Changed since (%s)", render.Count(len(r.Changed), "file", "files")), r.Changed, FilesListed)
	}
	p.beforeQuestion(r)
	// At a terminal the user is asked after the report, and sees the choices there.
	if r.Choice == resume.View {
		p.members("State", r.State)
	} else if r.CanResume && p.view.Layout != render.Aligned {
		p.line(plain("Choices: --accept resumes, --fresh starts afresh, --view shows the details, --delete deletes"))
	}
}

// beforeQuestion writes what the choice depends on, beside the question.
func (p *page) beforeQuestion(r *resume.Answer) {
	p.fields(
		field{"Session", say(sessionLine(string(r.Session), r.Workflow, r.Status, ""))},
		field{"Topic", say(r.Topic)},
		field{"Age", say(age(r.AgeSeconds))},
		field{"Branch", say(strings.TrimPrefix(string(r.Branch), "refs/heads/") + when(r.Elsewhere != "", " ("+r.Elsewhere+")"))},
	)
	for _, text := range r.Refusals {
		p.line(render.Span{Role: render.Error, Text: "Refused:"}, plain(" "+text))
	}
	p.warnings(r.Warnings)
	for _, text := range r.Questions {
		p.line(render.Span{Role: render.Warning, Text: "Question:"}, plain(" "+text))
	}
}

// titled returns work items with their titles. Items without a title stay as they are.
func titled(items []json.RawMessage, r *resume.Answer) []json.RawMessage {
	return gather.List(items, func(item json.RawMessage) json.RawMessage {
		title, ok := r.Titles[resume.Plain(item)].(string)
		if !ok {
			return item
		}
		text, _ := json.Marshal(resume.Plain(item) + ": " + title) //nolint:errcheck // a string never fails
		return text
	})
}

// created returns the time of a checkpoint in full. The report has the age in a line of its own.
func created(t time.Time, v render.View) string {
	if v.Layout == render.Aligned && !t.IsZero() {
		return t.Local().Format("2006-01-02 15:04:05")
	}
	return v.Time(t)
}

// age returns a number of seconds in its two largest units: 45s, 3m 12s, 2h 5m, 3d 4h. It is
// negative if the clock was set back.
func age(seconds int64) string {
	if seconds < 0 {
		return "-" + age(-seconds)
	}
	units, of := []string{"d", "h", "m", "s"}, []int64{seconds / 86400, seconds / 3600 % 24, seconds / 60 % 60, seconds % 60}
	for i, n := range of[:3] {
		switch {
		case n > 0 && of[i+1] > 0:
			return fmt.Sprintf("%d%s %d%s", n, units[i], of[i+1], units[i+1])
		case n > 0:
			return fmt.Sprintf("%d%s", n, units[i])
		}
	}
	return fmt.Sprintf("%ds", seconds)
}

// warnings writes a line for each warning.
func (p *page) warnings(texts []string) {
	for _, text := range texts {
		p.line(render.Span{Role: render.Warning, Text: "Warning:"}, plain(" "+text))
	}
}

// problem writes the error of the job: member by member if it is an object.
func (p *page) problem(raw json.RawMessage) {
	if len(raw) == 0 || string(raw) == "null" {
		return
	}
	var members map[string]json.RawMessage
	if json.Unmarshal(raw, &members) == nil {
		p.members("Error", raw)
		return
	}
	p.field("Error", resume.Plain(raw))
}

// restored writes the values of the state that the job has to carry over.
func (p *page) restored(r *resume.Answer) {
	if len(r.Restore) == 0 {
		return
	}
	raw, err := json.Marshal(r.Restore)
	if err == nil {
		p.members("To carry over", raw)
	}
}

// reported is the number of values that a report shows of one list in a pipe. Nobody reads the ten
// thousand steps of a long session, and --json has them all.
const reported = 1000

// values writes a list of JSON values, one per row.
func (p *page) values(title string, values []json.RawMessage) {
	shown, more := cut(p, values, listed)
	if rest := len(shown) - reported; rest > 0 {
		shown, more = shown[:reported], more+rest
	}
	p.cutSection(title, []render.Column{{Min: 20}}, valueRows(shown), more)
}

// completed writes the newest of the completed items, and says where the others are.
func (p *page) completed(r *resume.Answer) {
	rows := valueRows(titled(r.Completed.Last(resume.Shown), r))
	if before := len(r.Completed) - len(rows); before > 0 {
		all := "git checkpoint list --all"
		if !r.Steps { // items of the state, which are not checkpoints
			all = "git checkpoint resume " + string(r.Session) + " --json"
		}
		rows = slices.Insert(rows, 0, []render.Cell{{dim("… " + render.Thousands(before) + " before: " + all)}})
	}
	p.cutSection("Completed", []render.Column{{Min: 20}}, rows, 0)
}

func valueRows(values []json.RawMessage) [][]render.Cell {
	return gather.List(values, func(v json.RawMessage) []render.Cell { return []render.Cell{brief(resume.Plain(v))} })
}
