package answer

import (
	"strconv"
	"strings"

	"git-checkpoint/internal/core/checkpoint"
	"git-checkpoint/internal/format/render"
	"git-checkpoint/internal/sys/gather"
	"git-checkpoint/internal/verb/land"
)

// ToLand is the plan of land.
type ToLand struct{ Plan *land.Answer }

// text lists the commits that land will make, and the files in them that git has not tracked so
// far.
func (a ToLand) text(p *page) {
	r := a.Plan
	apart := ""
	if r.Apart > 1 {
		apart = " (--each makes " + spelled(r.Apart) + ")"
	}
	p.line(plain(render.Count(len(r.Commits), "commit", "commits") + " from " + r.Steps + apart))
	p.fields(
		field{"Lands on", say("branch " + branchName(r.Branch) + ", at " + r.From.Short())},
		field{"Worktree", say("does not change")},
		field{"Left out", say(p.unlanded(r))},
		field{"Line", say(leaves(r))},
	)
	title := "Commits (" + strconv.Itoa(len(r.Commits)) + "): step, files, subject"
	p.section(title, []render.Column{{}, {Align: render.Right}, {Min: 20}}, gather.List(r.Commits, func(c land.Commit) []render.Cell {
		return []render.Cell{cell(render.ID, p.name(checkpoint.Labelled{Label: c.Label, Mention: checkpoint.Mention{Name: c.Called}})), say(strconv.Itoa(c.Files)), brief(c.Subject)}
	}))
	p.paths("Files that git did not track until now", render.Normal, r.Untracked)
	p.paths(besideDatabases, render.Warning, r.Beside)
}

// besideDatabases is above what a commit would not hold of a database that is in use.
const besideDatabases = "Not landed, so the last changes may be missing from the databases beside them"

// spelled spells a small number out.
func spelled(n int) string {
	words := []string{"none", "one", "two", "three", "four", "five", "six", "seven", "eight", "nine", "ten", "eleven", "twelve"}
	if n < len(words) {
		return words[n]
	}
	return strconv.Itoa(n)
}

// Landed is the result of land.
type Landed struct{ Done *land.Answer }

// text lists the commits that were made, and tells how to undo them.
func (a Landed) text(p *page) {
	r := a.Done
	branch := branchName(r.Branch)
	p.done("Landed "+render.Count(len(r.Commits), "commit", "commits")+" on ", branch)
	for _, c := range r.Commits {
		p.line(render.Span{Role: render.ID, Text: c.OID.Short()}, plain(" "+c.Subject))
	}
	if left := p.unlanded(r); left != "" {
		p.line(plain("Left out: " + left))
	}
	p.paths(besideDatabases, render.Warning, r.Beside)
	if left := leaves(r); left != "" {
		p.line(plain("It " + left))
	}
	undo := "git checkpoint undo"
	// Without a safety checkpoint the commits are on a new branch, and there is nothing else to
	// undo.
	if r.Safety == "" {
		undo = "git branch -D " + branch
	}
	p.line(render.Span{Role: render.Hint, Text: "Undo:"}, plain(" "+undo))
}

// leaves says which other lines of the session are not landed. It is empty if there are none.
func leaves(r *land.Answer) string {
	if len(r.LeftOut) == 0 {
		return ""
	}
	return "leaves " + strings.Join(gather.List(r.LeftOut, checkpoint.Head.Description), ", ") + " out"
}

// unlanded names the steps that make no commit, and tells why. It is empty if there are none.
func (p *page) unlanded(r *land.Answer) string {
	if len(r.Left) == 0 {
		return ""
	}
	return p.enumeration(mentionsOf(r.Left)) + ": no change since what is landed before"
}
