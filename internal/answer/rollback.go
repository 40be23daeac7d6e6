package answer

import (
	"cmp"
	"encoding/json"
	"fmt"
	"slices"
	"strconv"
	"strings"

	"git-checkpoint/internal/core/checkpoint"
	"git-checkpoint/internal/format/name"
	"git-checkpoint/internal/format/render"
	"git-checkpoint/internal/sys/gather"
	"git-checkpoint/internal/verb/continuation"
	"git-checkpoint/internal/verb/create"
	"git-checkpoint/internal/verb/rollback"
)

// RolledBack is the result of a rollback, an undo or a redo.
type RolledBack struct {
	Done     *rollback.Answer
	Finished bool // it had been cut off
}

// text writes where the worktree is now, what comes next, and what undo and redo would do. After
// --abort there is nothing to undo, and after an undo that --continue finished, another undo would
// go one level further.
func (a RolledBack) text(p *page) {
	r := a.Done
	verb := cmp.Or(map[string]string{"undo": "Undone, back at", "redo": "Redone, at"}[r.Command], "Rolled back to")
	switch {
	case r.Command == "" && r.Stays && r.FilesFrom != nil:
		verb = "Restored some files of " + r.Source.String() + "; the session stays at"
	case r.Command != "" && r.Stays && !a.Finished:
		verb, _, _ = strings.Cut(verb, ",")
		verb += "; the session stays at"
	}
	if landings(r) {
		did := map[string]string{"undo": " Taken back: ", "redo": " Landed again: "}[r.Command]
		p.line(render.Span{Role: render.Success, Text: "✓"}, plain(did+p.enumeration(gather.List(r.Levels, func(l rollback.UndoLevel) string { return l.Said }))))
		p.line(plain("Branch: " + branchDone(r, p.view)))
	} else {
		p.wentTo(verb, r)
	}
	switch {
	case r.Mode == rollback.ModeAbort:
	case r.Command == "":
		p.line(render.Span{Role: render.Hint, Text: "Undo:"}, plain(" git checkpoint undo"))
	case a.Finished:
		p.line(render.Span{Role: render.Hint, Text: "Undo:"}, plain(" git checkpoint undo --list shows what can be undone and redone"))
	default:
		p.nextUndoRedo(r)
	}
	p.goOn(r.Chat)
	p.notBroughtBack(r)
}

// goOn writes the command with which a conversation goes on.
func (p *page) goOn(chat *continuation.Answer) {
	if chat == nil || chat.Command == "" {
		return
	}
	command := chat.Command
	if chat.Elsewhere {
		command = "cd " + name.Quoted(chat.Directory) + " && " + command
	}
	p.line(render.Span{Role: render.Hint, Text: "Go on there:"}, plain(" "+command))
}

// chatPlan says what happens to the conversation with an agent, or offers it.
func chatPlan(r *rollback.Answer) string {
	switch {
	case r.Chat != nil && len(r.Levels) == 0:
		return "a new conversation with " + r.Chat.Title + " goes on from there; the old one stays"
	case r.ChatOf != "":
		return "--chat also takes the conversation with " + r.ChatOf + " back"
	}
	return ""
}

// landings reports whether an undo or redo is about landings alone, which move a branch and no file.
func landings(r *rollback.Answer) bool {
	return len(r.Levels) > 0 && !slices.ContainsFunc(r.Levels, func(l rollback.UndoLevel) bool { return !l.Landing })
}

// wentTo writes the result of a rollback, an undo or a redo: target, numbers, branch and next step.
// A workflow may word the first line itself (Said).
func (p *page) wentTo(verb string, r *rollback.Answer) {
	if r.Said != "" {
		p.text("", r.Said)
	} else {
		figures := cmp.Or(amounts(r, "written", "deleted", "changed in mode"), "no file changed")
		line := append([]render.Span{{Role: render.Success, Text: "✓"}, plain(" " + verb + " ")}, mention(reached(r))...)
		p.line(append(line, plain(": "+figures))...)
	}
	if left, _ := p.leaves(r); left != "" { // the plan has said how many
		p.line(plain("Left behind: " + left))
	} else if n := len(r.Plan.Discard); n > 0 { // a rollback that was cut off knows only how many
		p.line(plain("Left behind: " + render.Count(n, "checkpoint", "checkpoints")))
	}
	// A rollback of the state alone changes no file, so show the state itself.
	if r.Mode == rollback.ModeState && len(r.State) > 0 {
		p.text("", strings.TrimSuffix(string(create.JSONFile(r.State)), "\n"))
	}
	if r.Branch.Moved || r.Branch.CommitsLeft > 0 {
		p.line(plain("Branch: " + branchDone(r, p.view)))
	}
	if changed := p.enumeration(gather.List(r.ChangedSince, func(path checkpoint.Path) string { return string(path) })); changed != "" {
		p.line(plain("Changed since the plan was shown, and kept in the safety checkpoint: " + changed))
	}
	p.pending(r.Pending)
	if r.NextStep != nil && r.Said == "" {
		p.line(plain("Next: step "+strconv.Itoa(r.NextStep.Step)), plain(spaceBefore(r.NextStep.Name)))
	}
}

// reached returns the checkpoint that a rollback goes to. One that was cut off knows its label only.
func reached(r *rollback.Answer) checkpoint.Mention {
	m := r.Target
	m.Name = cmp.Or(m.Name, r.ToLabel, string(r.To), "none")
	return m
}

// amounts counts the files of a plan with the given verbs, as in "3 written, 1 deleted". It is
// empty if there are none.
func amounts(r *rollback.Answer, write, remove, mode string) string {
	return counted([]string{write, remove, mode}, len(r.Plan.Write), len(r.Plan.Delete), len(r.Plan.Mode))
}

// counted returns the numbers that are not zero with their words, as in "3 new, 1 deleted".
func counted(words []string, numbers ...int) string {
	var parts []string
	for i, n := range numbers {
		if n > 0 {
			parts = append(parts, strconv.Itoa(n)+" "+words[i])
		}
	}
	return strings.Join(parts, ", ")
}

// branchPlan describes what happens to HEAD, to its branch, and to a branch that HEAD is not on.
func branchPlan(r *rollback.Answer, v render.View) string {
	plan := headPlan(r, v)
	if back := r.Branch.Back; back != nil {
		plan += fmt.Sprintf("; %s goes back from %s to %s", branchName(back.Name), v.OID(back.From), v.OID(back.To))
	}
	return plan
}

// headPlan describes what happens to HEAD and its branch. Commits after the checkpoint are left
// behind if the branch moves, and stay reachable from the safety checkpoint.
func headPlan(r *rollback.Answer, v render.View) string {
	b := r.Branch
	where := branchName(b.Name)
	if b.Moved {
		moves := fmt.Sprintf("%s moves from %s to %s", where, cmp.Or(v.OID(b.From), "no commit"), cmp.Or(v.OID(b.To), "no commit"))
		// Target is the branch that HEAD is on afterwards, empty for a detached HEAD.
		switch b.Target {
		case b.Name:
		case "":
			moves = fmt.Sprintf("HEAD leaves %s and is detached at %s", where, v.OID(b.To))
		default:
			moves = fmt.Sprintf("HEAD goes from %s to %s, at %s", where, branchName(b.Target), cmp.Or(v.OID(b.To), "no commit"))
		}
		return moves + when(b.CommitsLeft > 0, "; "+render.Count(b.CommitsLeft, "commit", "commits")+" left behind")
	}
	return where + " stays where it is" + when(b.CommitsLeft > 0, ", "+render.Count(b.CommitsLeft, "commit", "commits")+" after this checkpoint")
}

// branchDone describes what happened to HEAD and its branch.
func branchDone(r *rollback.Answer, v render.View) string {
	b := r.Branch
	if !b.Moved {
		return fmt.Sprintf("%s stayed, %s after this checkpoint", branchName(b.Name),
			render.Count(b.CommitsLeft, "commit", "commits"))
	}
	left := "; " + render.Count(b.CommitsLeft, "commit", "commits") + " left behind, kept by the safety checkpoint"
	return branchName(b.Target) + " is at " + cmp.Or(v.OID(b.To), "no commit") + when(b.CommitsLeft > 0, left)
}

// branchName returns the short name of a branch. An empty ref means a detached HEAD.
func branchName(ref name.Ref) string {
	if ref == "" {
		return "HEAD (detached)"
	}
	return ref.Short()
}

// pending writes the tasks that are still to do according to the state, which may be an array or an
// object.
func (p *page) pending(raw json.RawMessage) {
	var tasks []json.RawMessage
	if json.Unmarshal(raw, &tasks) != nil {
		p.members("Pending", raw)
		return
	}
	p.values("Pending", tasks)
}

// spaceBefore returns text after a space, or "" if it is empty.
func spaceBefore(text string) string { return when(text != "", " "+text) }

// Levels is the answer of undo --list: the undo list and the redo list of the worktree, each with
// the next level first.
type Levels struct{ Undo, Redo []rollback.UndoLevel }

func (a Levels) shows() any { return slices.Concat(a.Undo, a.Redo) }

// text writes both lists in one table. A level whose safety checkpoint was pruned cannot be undone.
func (a Levels) text(p *page) {
	columns := []render.Column{
		{Title: "List"}, {Title: "#", Align: render.Right}, {Title: "Time"}, {Title: "Rollback", Min: 16}, {Title: "Files", Align: render.Right},
		{Title: "Goes to"}, {Title: "Safety"},
	}
	all := slices.Concat(a.Undo, a.Redo)
	if !p.view.Verbose { // the first columns tell the rows apart
		columns = []render.Column{{Title: "List"}, {Title: "#", Align: render.Right}, {Title: "Rollback", Min: 36}, {Title: "Files", Align: render.Right}, {Title: "Goes to", Min: 8}, {Title: "Time", Min: 8}}
	}
	p.table(columns, gather.List(all, func(l rollback.UndoLevel) []render.Cell {
		// The number is unknown for a partial rollback, and if a checkpoint was pruned or is
		// damaged.
		files := "?"
		if l.Files != nil {
			files = strconv.Itoa(*l.Files)
		}
		safety := cell(render.Dim, string(l.Safety))
		if !l.Available {
			safety = cell(render.Warning, "pruned")
		}
		if !p.view.Verbose {
			what := say(l.Said)
			if !l.Available {
				what = cell(render.Warning, "pruned: "+l.Said)
			}
			return []render.Cell{say(l.List), say(strconv.Itoa(l.N)), what, say(files), mention(l.Goes), say(p.view.Time(l.Time.Time))}
		}
		goes := cell(render.ID, cmp.Or(l.ToLabel, string(l.To), "none"))
		return []render.Cell{say(l.List), say(strconv.Itoa(l.N)), say(p.view.Time(l.Time.Time)), say(l.What), say(files), goes, safety}
	}))
	if len(all) == 0 && p.view.Layout == render.Aligned {
		p.line(plain("Nothing to undo and nothing to redo in this worktree."))
	}
}

// nextUndoRedo tells what another undo and a redo would do now.
func (p *page) nextUndoRedo(r *rollback.Answer) {
	if next := r.NextUndo; next != nil {
		does := "takes back "
		if !next.Stays && next.To != "" {
			does = "goes on to " + next.Goes.String() + ", before "
		}
		said := " git checkpoint undo " + does + when(!next.Landing, "the ") + next.Said
		p.line(render.Span{Role: render.Hint, Text: "Undo:"}, plain(said))
	}
	if next := r.NextRedo; next != nil {
		does := "does it again: " + next.Said
		if !next.Stays && next.To != "" {
			does = "goes to " + next.Goes.String()
		}
		p.line(render.Span{Role: render.Hint, Text: "Redo:"}, plain(" git checkpoint redo "+does))
	}
}

// warnMeanwhile warns about events of other worktrees since then, which an undo may affect. It comes
// first in a plan.
func (p *page) warnMeanwhile(events []rollback.Meanwhile) {
	p.section("Since then, in other worktrees", []render.Column{{}, {}, {Min: 20}}, gather.List(events, func(m rollback.Meanwhile) []render.Cell {
		return []render.Cell{cell(render.Warning, "worktree "+m.Worktree), say(p.view.Time(m.Time.Time)), say(cmp.Or(when(p.view.Verbose, m.What), m.Said))}
	}))
}
