package answer

import (
	"bytes"
	"encoding/json"
	"fmt"
	"io"
	"regexp"
	"strconv"
	"strings"
	"sync"

	"git-checkpoint/internal/name"
	"git-checkpoint/internal/render"
	"git-checkpoint/internal/rollback"
)

// Planned is what a rollback or an undo would do.
type Planned struct{ Plan *rollback.Answer }

// JSON writes the whole plan.
func (a Planned) JSON(w io.Writer) error { return rollbackJSON(w, a.Plan) }

// Text writes target, state, files, what is at risk, discarded and left behind.
func (a Planned) Text(w io.Writer, v render.View) error {
	p, r := &page{w: w, view: v}, a.Plan
	p.meanwhile(r.Meanwhile)
	p.text("", r.Said)
	p.fields(
		goes(r),
		field{"Brings", say(brings(r))},
		field{"State", say(stateStep(r))},
		field{"Discards", say(p.enumeration(r.Plan.Discard))},
		field{"Branch", say(branchPlan(r, v))},
		field{"First", say("a safety checkpoint of what is here now")},
	)
	var rows [][]render.Cell
	for _, path := range r.Plan.Write {
		rows = append(rows, []render.Cell{cell(render.Normal, "write"), cell(render.Normal, string(path))})
	}
	for _, path := range r.Plan.Delete {
		rows = append(rows, []render.Cell{cell(render.Removed, "delete"), cell(render.Removed, string(path))})
	}
	for _, path := range r.Plan.Mode {
		rows = append(rows, []render.Cell{cell(render.Normal, "mode"), cell(render.Normal, string(path))})
	}
	p.section("Files ("+amounts(r, "to write", "to delete", "to change mode")+")", []render.Column{{}, {Min: 20}}, rows)
	rows = nil
	for _, risk := range r.Plan.Risk {
		rows = append(rows, []render.Cell{cell(render.Warning, string(risk.Path)), cell(render.Normal, risk.Reason)})
	}
	p.section("At risk", []render.Column{{Min: 20}, {Min: 20}}, rows)
	rows = nil
	for _, path := range r.Plan.Skipped {
		rows = append(rows, []render.Cell{cell(render.Dim, string(path))})
	}
	p.section("Left alone", []render.Column{{Min: 20}}, rows)
	return p.err
}

// goes says where a plan leads.
func goes(r *rollback.Answer) field {
	if from := r.Promotes; from != nil {
		return field{"Promotes", value{render.Cell{plain(from.Attempt + ": "), {Role: render.ID, Text: from.Label}, plain(" of " + string(from.Session) + ", into session " + string(r.Session))}}}
	}
	return field{"Rollback to", value{render.Cell{{Role: render.ID, Text: r.ToLabel}, plain(" in session " + string(r.Session))}}}
}

// RolledBack is what a rollback did.
type RolledBack struct{ Done *rollback.Answer }

// JSON writes what was done.
func (a RolledBack) JSON(w io.Writer) error { return rollbackJSON(w, a.Done) }

// Text writes where the worktree is now, what comes next, and how to undo it.
func (a RolledBack) Text(w io.Writer, v render.View) error {
	p := &page{w: w, view: v}
	p.wentTo("Rolled back to", a.Done)
	p.line(render.Span{Role: render.Hint, Text: "Undo:"}, plain(" git checkpoint undo"))
	return p.err
}

// Undone is what an undo did.
type Undone struct{ Done *rollback.Answer }

// JSON writes what was done.
func (a Undone) JSON(w io.Writer) error { return rollbackJSON(w, a.Done) }

// Text writes where the worktree is now, what comes next, and how to undo that.
func (a Undone) Text(w io.Writer, v render.View) error {
	p := &page{w: w, view: v}
	p.wentTo("Undone, back at", a.Done)
	p.walked(a.Done)
	return p.err
}

// Redone is what a redo did.
type Redone struct{ Done *rollback.Answer }

// JSON writes what was done.
func (a Redone) JSON(w io.Writer) error { return rollbackJSON(w, a.Done) }

// Text writes where the worktree is now, what comes next, and how to go on.
func (a Redone) Text(w io.Writer, v render.View) error {
	p := &page{w: w, view: v}
	p.wentTo("Redone, at", a.Done)
	p.walked(a.Done)
	return p.err
}

func (p *page) wentTo(verb string, r *rollback.Answer) {
	if r.Said != "" {
		p.text("", r.Said)
	} else {
		p.line(render.Span{Role: render.Success, Text: "✓"}, plain(" "+verb+": "), render.Span{Role: render.ID, Text: target(r)})
	}
	figures := amounts(r, "written", "deleted", "changed in mode")
	if figures == "" {
		figures = "none changed"
	}
	p.line(plain(fmt.Sprintf("Files: %s | Discarded: %d | Safety: %s", figures, len(r.Plan.Discard), r.Safety)))
	if r.Mode == string(rollback.ModeState) && len(r.State) > 0 {
		p.text("", indented(r.State))
	}
	if r.Branch.Moved || r.Branch.CommitsLeft > 0 {
		p.line(plain("Branch: " + branchDone(r, p.view)))
	}
	p.pending(r.Pending)
	if r.NextStep != nil && r.Said == "" {
		p.line(plain("Next: step "+strconv.Itoa(r.NextStep.Step)), plain(spaceBefore(r.NextStep.Name)))
	}
}

func rollbackJSON(w io.Writer, answer *rollback.Answer) error {
	return render.JSON(w, tidied(answer))
}

// tidied is the answer with lists that are never null.
func tidied(answer *rollback.Answer) rollback.Answer {
	r := *answer
	r.Plan = rollback.PlanFiles{
		Write: all(r.Plan.Write), Delete: all(r.Plan.Delete), Mode: all(r.Plan.Mode),
		Risk: all(r.Plan.Risk), Discard: all(r.Plan.Discard), Skipped: all(r.Plan.Skipped),
	}
	return r
}

func target(r *rollback.Answer) string {
	if r.ToLabel != "" {
		return r.ToLabel
	}
	return string(r.To)
}

// brings says what a rollback of less than everything brings back.
func brings(r *rollback.Answer) string {
	switch rollback.Mode(r.Mode) {
	case rollback.ModeWorktree:
		return "the files; the index is left alone"
	case rollback.ModeState:
		return "the state; the files are left alone"
	case rollback.ModeProduced:
		return "the files that changed between checkpoints of this session"
	case rollback.ModeAll:
		return ""
	}
	return r.Mode
}

var idStep = sync.OnceValue(func() *regexp.Regexp { return regexp.MustCompile(`^cp-0*(\d+)-`) })

// stateStep says between which steps the state moves; the ids have them.
func stateStep(r *rollback.Answer) string {
	if r.Promotes != nil {
		return "that of " + r.Promotes.Label
	}
	step := func(id name.ID) string {
		if m := idStep().FindStringSubmatch(string(id)); m != nil {
			return "step " + m[1]
		}
		return "none"
	}
	return step(r.From) + " → " + step(r.To)
}

func amounts(r *rollback.Answer, write, remove, mode string) string {
	var parts []string
	for _, part := range []struct {
		n    int
		verb string
	}{{len(r.Plan.Write), write}, {len(r.Plan.Delete), remove}, {len(r.Plan.Mode), mode}} {
		if part.n > 0 {
			parts = append(parts, strconv.Itoa(part.n)+" "+part.verb)
		}
	}
	return strings.Join(parts, ", ")
}

func branchPlan(r *rollback.Answer, v render.View) string {
	plan := headPlan(r, v)
	if back := r.Branch.Back; back != nil {
		plan += fmt.Sprintf("; %s goes back from %s to %s", branchName(back.Name), v.OID(back.From), v.OID(back.To))
	}
	return plan
}

func headPlan(r *rollback.Answer, v render.View) string {
	b := r.Branch
	where := branchName(b.Name)
	switch {
	case b.Moved:
		moves := fmt.Sprintf("%s moves from %s to %s", where, v.OID(b.From), v.OID(b.To))
		switch b.Target {
		case b.Name:
		case "":
			moves = fmt.Sprintf("HEAD leaves %s and is detached at %s", where, v.OID(b.To))
		default:
			moves = fmt.Sprintf("HEAD goes from %s to %s, at %s", where, branchName(b.Target), v.OID(b.To))
		}
		if b.CommitsLeft > 0 {
			moves += fmt.Sprintf("; %s left behind", render.Count(b.CommitsLeft, "commit", "commits"))
		}
		return moves
	case b.CommitsLeft > 0:
		return fmt.Sprintf("%s stays where it is, %s after this checkpoint", where,
			render.Count(b.CommitsLeft, "commit", "commits"))
	}
	return where + " stays where it is"
}

func branchDone(r *rollback.Answer, v render.View) string {
	b := r.Branch
	if !b.Moved {
		return fmt.Sprintf("%s stayed, %s after this checkpoint", branchName(b.Name),
			render.Count(b.CommitsLeft, "commit", "commits"))
	}
	at := fmt.Sprintf("%s is at %s", branchName(b.Target), v.OID(b.To))
	if b.CommitsLeft > 0 {
		at += fmt.Sprintf("; %s left behind, kept by the safety checkpoint", render.Count(b.CommitsLeft, "commit", "commits"))
	}
	return at
}

func branchName(ref name.Ref) string {
	if ref == "" {
		return "HEAD (detached)"
	}
	return strings.TrimPrefix(string(ref), "refs/heads/")
}

// pending lists what the state says is still to do.
func (p *page) pending(raw json.RawMessage) {
	var tasks []json.RawMessage
	if json.Unmarshal(raw, &tasks) != nil {
		p.members("Pending", raw)
		return
	}
	p.values("Pending", tasks)
}

func indented(raw json.RawMessage) string {
	var b bytes.Buffer
	if json.Indent(&b, raw, "", "  ") != nil {
		return string(raw)
	}
	return b.String()
}

func spaceBefore(text string) string {
	if text == "" {
		return ""
	}
	return " " + text
}
