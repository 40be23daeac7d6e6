package answer

import (
	"cmp"
	"fmt"
	"slices"
	"strconv"
	"strings"

	"git-checkpoint/internal/core/checkpoint"
	"git-checkpoint/internal/core/clearance"
	"git-checkpoint/internal/format/name"
	"git-checkpoint/internal/format/render"
	"git-checkpoint/internal/sys/gather"
	"git-checkpoint/internal/verb/expunge"
)

// Guarded is the answer of guard and guard check.
type Guarded struct {
	Found   *clearance.Answer
	Verbose bool // show people also what was public before the first checkpoint
}

func (a Guarded) shows() any { return a.Found.Secrets }

// text writes a line for each secret to a program. A person sees one for each file, how many there are,
// and what to type next.
func (a Guarded) text(p *page) {
	if p.view.Layout == render.Tabbed {
		a.rows(p)
		return
	}
	if len(a.Found.Secrets) == 0 {
		p.line(render.Span{Text: fmt.Sprintf("No secrets in %s.", render.Count(a.Found.Looked, "object", "objects"))})
		return
	}
	var open, public, allowed []clearance.Secret
	for _, one := range a.Found.Secrets {
		switch {
		case one.Public && !a.Verbose:
			public = append(public, one)
		case one.Allowed != "":
			allowed = append(allowed, one)
		default:
			open = append(open, one)
		}
	}
	shown := slices.DeleteFunc(slices.Clone(a.Found.Secrets), func(s clearance.Secret) bool { return s.Public && !a.Verbose })
	p.table([]render.Column{{Title: "File", Min: 12}, {Title: "Lines", Min: 5}, {Title: "Looks like", Min: 14}, {Title: "Checkpoint", Min: 10}, {Title: "Allowed", Min: 8}},
		gather.List(byFile(shown), secretRow))
	if len(shown) > 0 {
		p.line(plain(counts(shown) + when(len(allowed) > 0, fmt.Sprintf(", %d allowed", len(allowed)))))
	}
	if len(public) > 0 {
		p.line(plain(counts(public)+" "+when(len(public) == 1, "was")+when(len(public) > 1, "were")+" on a remote before the first checkpoint"), dim("   git checkpoint guard -v lists them"))
	}
	if len(open) > 0 {
		p.line(dim("Next: "), plain("git checkpoint guard allow "+targetOf(open[0])+" --reason TEXT"+
			when(open[0].Holder.Name != "", ", or git checkpoint expunge "+targetOf(open[0]))))
	}
}

// counts says how many secrets there are in how many files.
func counts(secrets []clearance.Secret) string {
	return render.Count(len(secrets), "secret", "secrets") + " in " + render.Count(len(byFile(secrets)), "file", "files")
}

// byFile groups secrets that follow each other in one file; a message counts as one.
func byFile(secrets []clearance.Secret) (files [][]clearance.Secret) {
	for i, one := range secrets {
		if i == 0 || one.Path != secrets[i-1].Path || one.Path == "" && one.Blob != secrets[i-1].Blob {
			files = append(files, nil)
		}
		files[len(files)-1] = append(files[len(files)-1], one)
	}
	return files
}

// secretRow is the row of one file.
func secretRow(secrets []clearance.Secret) []render.Cell {
	const named = 4 // lines
	var lines, looks, allowed []string
	open := 0
	for _, one := range secrets {
		if line := strconv.Itoa(one.Line); one.Line > 0 && !slices.Contains(lines, line) {
			lines = append(lines, line)
		}
		if !slices.Contains(looks, one.What) {
			looks = append(looks, one.What)
		}
		if one.Allowed == "" {
			open++
		} else if !slices.Contains(allowed, one.Allowed) {
			allowed = append(allowed, one.Allowed)
		}
	}
	if more := len(lines) - named; more > 0 {
		lines = append(lines[:named], fmt.Sprintf("%d more", more))
	}
	in := say(secrets[0].Checkpoint)
	if secrets[0].Holder.Name != "" {
		in = mention(secrets[0].Holder)
	}
	return []render.Cell{
		say(fileOf(secrets[0])), say(strings.Join(lines, ", ")),
		say(strings.Join(looks, ", ") + when(len(secrets) > len(looks), fmt.Sprintf(" (%d)", len(secrets)))),
		in, cell(render.Dim, when(open > 0 && len(allowed) > 0, fmt.Sprintf("%d of %d: ", len(secrets)-open, len(secrets)))+strings.Join(allowed, ", ")),
	}
}

// fileOf names the place of a secret, which may also be a commit message that has no path.
func fileOf(s clearance.Secret) string { return cmp.Or(string(s.Path), "message of "+s.Blob.Short()) }

// targetOf names a secret in a command.
func targetOf(s clearance.Secret) string {
	if s.Path == "" || strings.HasPrefix(string(s.Path), "-") {
		return string(s.Blob)
	}
	return name.Quoted(string(s.Path))
}

// rows writes the table of all secrets.
func (a Guarded) rows(p *page) {
	columns := []render.Column{{Title: "Where"}, {Title: "Looks like"}, {Title: "Rule"}, {Title: "Checkpoint"}, {Title: "Allowed"}}
	p.table(columns, gather.List(a.Found.Secrets, func(s clearance.Secret) []render.Cell {
		where := fileOf(s)
		if s.Line > 0 {
			where = fmt.Sprintf("%s:%d", where, s.Line)
		}
		return []render.Cell{
			say(where), say(s.What), cell(render.ID, s.Rule),
			say(p.short(s.Checkpoint)), cell(render.Dim, s.Allowed),
		}
	}))
}

// Allowed is the answer of guard allow.
type Allowed struct{ Done *clearance.Allowance }

func (a Allowed) shows() any { return a.Done.Allowed }

// text names the rules and the setting that was changed.
func (a Allowed) text(p *page) {
	var rules []string
	for _, one := range a.Done.Allowed {
		if !slices.Contains(rules, one.Rule) {
			rules = append(rules, one.Rule)
		}
	}
	n := len(a.Done.Allowed)
	p.done("Allowed: "+when(n > 1, counts(a.Done.Allowed)+": ")+strings.Join(rules, ", ")+" ("+a.Done.Key+" in the "+string(a.Done.Scope)+" configuration)", "")
}

// Rules is the answer of guard --rules.
type Rules []clearance.Rule

// text writes the table of rules.
func (a Rules) text(p *page) {
	columns := []render.Column{{Title: "Rule"}, {Title: "Looks like", Min: 10}, {Title: "Described by", Min: 10}}
	p.table(columns, gather.List(a, func(r clearance.Rule) []render.Cell {
		return []render.Cell{cell(render.ID, r.ID), say(r.What), cell(render.Dim, r.Source)}
	}))
}

// Expunged is the result of expunge.
type Expunged struct{ Done *expunge.Answer }

// text writes what was done and what is left to do. Expunging only rewrites checkpoints: the
// objects stay until git removes them, and other clones and remotes keep theirs until they sync.
func (a Expunged) text(p *page) {
	d := a.Done
	p.done("Expunged: "+render.Count(len(d.Checkpoints), "checkpoint", "checkpoints")+" rewritten", "")
	p.rewritten(d.Checkpoints)
	p.stillHeld(d)
	p.line(plain("The next git checkpoint push removes it from a remote, and the next git checkpoint fetch from another clone."))
	p.line(plain("The objects stay here until git deletes them. These two commands do it now, but for good also delete every other commit, stash entry"))
	p.line(plain("and file that only a reflog holds:"))
	p.line(plain("    git reflog expire --expire=now --all"))
	p.line(plain("    git gc --prune=now"))
	p.line(plain("Change the key: whoever fetched before may have it."))
}

// ToExpunge is the plan of expunge.
type ToExpunge struct{ Plan *expunge.Answer }

// text names the checkpoints to be rewritten and where each has the content.
func (a ToExpunge) text(p *page) {
	d := a.Plan
	p.line(plain("Would rewrite " + render.Count(len(d.Checkpoints), "checkpoint", "checkpoints") + ", leaving out " + render.Count(len(d.Objects), "object", "objects")))
	p.rewritten(d.Checkpoints)
	if d.UndoLevels > 0 {
		p.line(plain(render.Count(d.UndoLevels, "undo level", "undo levels") + " will leave these files as they are instead of bringing them back"))
	}
	p.stillHeld(d)
}

// rewritten lists checkpoints with what they contain. Those that come after one of them are
// rewritten too.
func (p *page) rewritten(some []expunge.Rewritten) {
	rows := gather.List(some, func(c expunge.Rewritten) []render.Cell {
		holds := cmp.Or(strings.Join(c.Holds, ", "), "it follows one that holds it")
		return []render.Cell{p.called(checkpoint.Labelled{Label: c.Label, Mention: c.Mention}), cell(render.Dim, string(c.Session)), say(holds)}
	})
	p.section("", []render.Column{{}, {}, {Min: 20}}, rows)
}

// stillHeld names what has the content and is not changed: commits of the user, and places that
// cannot be rewritten.
func (p *page) stillHeld(d *expunge.Answer) {
	if len(d.Copies) > 0 {
		p.line(plain("Copies beside the objects " + when(d.DryRun, "would lose") + when(!d.DryRun, "lost") + " it, too: " + strings.Join(d.Copies, ", ")))
	}
	if len(d.Yours) > 0 {
		p.line(plain("Your own history holds it, too, and is not changed: " + strings.Join(d.Yours, ", ")))
	}
	for _, kept := range d.Kept {
		p.line(plain("Cannot be removed: " + kept))
	}
}
