package answer

import (
	"cmp"
	"fmt"
	"slices"
	"strconv"
	"strings"

	"git-checkpoint/internal/core/author"
	"git-checkpoint/internal/core/checkpoint"
	"git-checkpoint/internal/format/name"
	"git-checkpoint/internal/format/render"
	"git-checkpoint/internal/storage/snapshot"
	"git-checkpoint/internal/sys/gather"
	"git-checkpoint/internal/verb/inspect"
	"git-checkpoint/internal/verb/rollback"
)

// Planned is the plan of a rollback, an undo or a redo.
type Planned struct {
	Plan  *rollback.Answer
	Files Files
}

// Unconfirmed returns the plan marked as a dry run, to be given if nobody confirmed it.
func (a Planned) Unconfirmed() Answer {
	r := *a.Plan
	r.DryRun = true
	return Planned{&r, a.Files}
}

// text writes the plan in the order of importance: what others did meanwhile, the target, what is
// discarded, the branch, the files, and what is at risk or left alone.
func (a Planned) text(p *page) {
	p.names = a.Files
	r := a.Plan
	p.warnMeanwhile(r.Meanwhile)
	if r.Empty {
		at := reached(r).String()
		if r.FilesFrom != nil {
			at = r.Source.String()
		}
		others := len(r.NotBroughtBack)+len(r.Plan.Skipped) > 0
		p.line(plain(cmp.Or(when(others, "Everything else"), when(restores(r) != "", "What was asked for"), "Everything") + " is already as it was at " + at + "; there is nothing to bring back."))
		p.paths("Left alone", render.Dim, r.Plan.Skipped)
		p.notBroughtBack(r)
		return
	}
	if r.Reverted != nil {
		p.plannedRevert(r)
		return
	}
	p.text("", r.Said)
	heading, state := p.heading(r)
	p.fields(heading...)
	p.plannedFiles(r)
	left, count := p.leaves(r)
	leaves := "Leaves"
	if r.Command == "undo" {
		leaves = "Undo removes"
	}
	p.fields(
		field{"Restores only", say(restores(r))},
		field{"State", state},
		field{leaves, say(when(!landings(r) && len(r.Leaves) > 0, left+count+"   "+bringsBack(r)))},
		field{"Branch", say(branchPlan(r, p.view))},
		field{"Index", say(indexPlan(r))},
		field{"Chat", say(chatPlan(r))},
		field{savesFirst, say(hereNow)},
		field{"Note", say(r.SavedSince)},
	)
	p.indexPaths(r)
	p.atRisk(r)
	p.paths("Left alone", render.Dim, r.Plan.Skipped)
	unignored := p.enumeration(gather.List(r.Plan.Unignored, func(u snapshot.Unignored) string {
		return string(u.Path) + when(u.Files > 0, " ("+render.Count(u.Files, "file", "files")+")")
	}))
	if unignored != "" {
		p.line(render.Span{Role: render.Warning, Text: "No longer ignored afterwards:"}, plain(" "+unignored))
	}
	p.notBroughtBack(r)
	p.othersWork(r)
}

// atRisk lists what a plan cannot bring back exactly.
func (p *page) atRisk(r *rollback.Answer) {
	p.reasons("At risk", render.Warning, gather.List(r.Plan.Risk, func(risk rollback.Risk) [2]string { return [2]string{string(risk.Path), risk.Reason} }))
}

// heading says where a plan goes, and what becomes of the state.
func (p *page) heading(r *rollback.Answer) (heading []field, state render.Cell) {
	state = say(stateStep(r))
	place := append(mention(reached(r)), plain(when(!r.Target.At.IsZero(), ", "+p.view.Time(r.Target.At))+", in session "+string(r.Session)+when(r.Elsewhere != "", ", "+r.Elsewhere)))
	heading = []field{{"Rollback to", place}}
	// A promotion is a rollback whose files come from another session, and an undo or redo is one
	// that goes over levels. Each has a heading of its own.
	if from := r.Promotes; from != nil {
		heading = []field{{"Promotes", render.Cell{plain(from.Attempt + ": "), {Role: render.ID, Text: from.Mention.Name}, plain(strings.TrimPrefix(from.Mention.String(), from.Mention.Name) + " of " + string(from.Session) + ", into session " + string(r.Session))}}}
	}
	if len(r.Levels) > 0 {
		heading = []field{{map[string]string{"undo": "Undo", "redo": "Redo"}[r.Command], say(p.enumeration(gather.List(r.Levels, func(l rollback.UndoLevel) string { return l.Said })))}, {"Goes to", place}}
	}
	if landings(r) {
		heading[len(heading)-1], state = field{"Worktree", say(when(len(r.Plan.Write)+len(r.Plan.Delete)+len(r.Plan.Mode) == 0, "does not change"))}, nil
	}
	if r.Stays && !landings(r) { // the last line says where the session stays
		heading[len(heading)-1].name, state = "Stays at", nil
	}
	if r.FilesFrom != nil {
		heading = append(heading, field{"Files of", mention(r.Source)})
	}
	return heading, state
}

// How a plan says that what is here is saved before anything changes.
const savesFirst, hereNow = "Saves first", "what is here now"

// leaves names the checkpoints that are left behind, one with its message, more by their numbers, and counts them.
// Both texts are empty if there are none.
func (p *page) leaves(r *rollback.Answer) (text, count string) {
	const leavesListed = 5 // how many checkpoints that are left behind are named to a person, if they are no row of numbers
	named := gather.List(r.Leaves, func(m checkpoint.Mention) string { return m.Name })
	step := func(name string) (n int) {
		_, _ = fmt.Sscanf(name, "%d", &n) // 0 for a name that is no number
		return n
	}
	steps := 0
	for i, name := range named {
		if step(name) == 0 || i > 0 && step(name) < step(named[i-1]) {
			steps = 0
			break
		}
		if strconv.Itoa(step(name)) == name {
			steps++
		}
	}
	if last := len(named) - 1; last > 0 && steps > 0 {
		text, count = named[0]+" to "+named[last], " ("+render.Count(steps, "step", "steps")+")"
	} else {
		shown, more := cut(p, r.Leaves, leavesListed)
		text = strings.Join(gather.List(shown, checkpoint.Mention.String), ", ") + when(more > 0, ", … and "+strconv.Itoa(more)+" more")
	}
	return text, count + when(r.Prompts > 0, " ("+render.Count(r.Prompts, "prompt", "prompts")+")")
}

// bringsBack names the command that brings back what is left behind.
func bringsBack(r *rollback.Answer) string {
	back, them := "undo", "it"
	if r.Command == back {
		back = "redo"
	}
	if len(r.Leaves) > 1 {
		them = "them"
	}
	return "git checkpoint " + back + " brings " + them + " back"
}

// othersWork names what is taken back although the session did not do it, and how to keep it.
func (p *page) othersWork(r *rollback.Answer) {
	const othersListed = 5       // how many paths are named of what one of the others did
	var others []rollback.Others // with what is captured and what is not together
	for _, o := range r.Others {
		i := slices.IndexFunc(others, func(other rollback.Others) bool { return other.Who == o.Who })
		if i < 0 {
			others = append(others, o)
			continue
		}
		paths := slices.Concat(others[i].Paths, o.Paths)
		slices.Sort(paths)
		others[i].Paths = slices.Compact(paths)
	}
	var parts []string
	for i, o := range others {
		count := strconv.Itoa(len(o.Paths))
		if i == 0 {
			count = render.Count(len(o.Paths), "file", "files")
		}
		named := render.First(o.Paths, othersListed, "and %d more", func(path checkpoint.Path) string { return string(path) })
		does := " by " + o.Who
		switch o.Who {
		case string(author.Outside):
			does = " changed outside" + when(o.Since != "", " since step "+o.Since)
		case string(author.Unknown):
			does = " by nobody who is known"
		}
		parts = append(parts, count+does+" ("+strings.Join(named, ", ")+")")
	}
	if len(parts) > 0 {
		p.line(render.Span{Role: render.Warning, Text: "Not by this session:"}, plain(" "+strings.Join(parts, ", ")+". Keep them: "+r.Keep))
	}
}

// notBroughtBack names what the checkpoint left out, and whether it has changed since.
func (p *page) notBroughtBack(r *rollback.Answer) {
	list := p.enumeration(gather.List(r.NotBroughtBack, func(l inspect.LeftOut) string {
		return string(l.Path) + " (" + l.Reason + when(l.Changed, "; changed since") + when(l.Deleted, "; deleted since") + ")"
	}))
	if list != "" {
		p.line(render.Span{Role: render.Warning, Text: "Not brought back:"}, plain(" "+list))
	}
}

// plannedFiles writes the files in three groups: deleted ones, overwritten ones that are saved
// nowhere else, and the rest.
func (p *page) plannedFiles(r *rollback.Answer) {
	// How many paths are named in each group, most of what is deleted: that matters most to the reader. A longer group is
	// counted by directory.
	const deletedListed, unsavedListed, writtenListed = 50, 20, 8
	const notSaved = "not saved yet" // marks a file whose content is in no commit or checkpoint yet. The safety checkpoint will have it
	// The safety checkpoint will capture unsaved files as well, but the user may not expect that
	// they change.
	unsaved := gather.SetOf(r.Plan.Unsaved)
	replaced := gather.Those(r.Plan.Write, func(path checkpoint.Path) bool { return unsaved[path] })
	saved := gather.Those(r.Plan.Write, func(path checkpoint.Path) bool { return !unsaved[path] })
	var rows [][]render.Cell
	add := func(role render.Role, verb string, paths []checkpoint.Path, most int) {
		if p.whole() || len(paths) <= most {
			for _, path := range paths {
				row := []render.Cell{cell(role, verb), cell(role, string(path))}
				n, counted := r.Lines[path]
				about := linesOf(n, counted && !slices.Contains(r.Plan.Delete, path)) // of a deleted file all lines go
				if unsaved[path] {
					about = spaced(slices.Concat(about, cell(render.Warning, notSaved)))
				}
				if about != nil {
					row = append(row, about)
				}
				rows = append(rows, row)
			}
			return
		}
		for _, d := range byDirectory(paths, unsaved) {
			count := render.Count(d.count, "file", "files")
			if d.unsaved > 0 {
				count += fmt.Sprintf(", %d %s", d.unsaved, notSaved)
			}
			rows = append(rows, []render.Cell{cell(role, verb), cell(role, d.name), cell(render.Dim, count)})
		}
	}
	add(render.Removed, "delete", r.Plan.Delete, deletedListed)
	add(render.Normal, "write", replaced, unsavedListed)
	add(render.Normal, "write", saved, writtenListed)
	add(render.Normal, "mode", r.Plan.Mode, writtenListed)
	counted := len(rows)
	rows = oneLineEach(rows, say("write"))
	// The third column is only there if a row needs it.
	columns := []render.Column{{}, {Min: 20}}
	if slices.ContainsFunc(rows, func(row []render.Cell) bool { return len(row) > len(columns) }) {
		columns = append(columns, render.Column{})
	}
	title := "Files (" + amounts(r, "to write", "to delete", "to change mode") + ")"
	if p.view.Layout == render.Tabbed { // a row that ends with its path has no tab after it
		for i, row := range rows {
			if i == 0 {
				p.line(heading(title))
			}
			p.table(make([]render.Column, len(row)+1), [][]render.Cell{append([]render.Cell{nil}, row...)})
		}
	} else {
		p.cutSection(title, columns, rows, 0)
	}
	// Some rows stand for several files.
	if n := len(r.Plan.Write) + len(r.Plan.Delete) + len(r.Plan.Mode); n > counted {
		p.line(dim("  --files names each of them"))
	}
}

// linesOf says how many lines of a file changed, if they were counted.
func linesOf(n inspect.FileCount, counted bool) render.Cell {
	switch {
	case !counted:
		return nil
	case n.Binary:
		return cell(render.Dim, "binary")
	}
	return cell(render.Dim, fmt.Sprintf("+%d -%d", n.Added, n.Deleted))
}

// directory counts the files below a directory, and those of them that are not saved yet.
type directory struct {
	name           string
	count, unsaved int
}

// byDirectory counts paths by the first directory below their common one, largest count first.
func byDirectory(paths []checkpoint.Path, unsaved map[checkpoint.Path]bool) []directory {
	const maxDirectories = 8 // the maximum number of rows for a group. The smallest directories share the last row
	top := commonDirectory(paths)
	at := map[string]int{}
	var out []directory
	for _, path := range paths {
		dir := cmp.Or(top, "./")
		if first, _, deeper := strings.Cut(strings.TrimPrefix(string(path), top), "/"); deeper {
			dir = top + first + "/"
		}
		i, known := at[dir]
		if !known {
			i, at[dir] = len(out), len(out)
			out = append(out, directory{name: dir})
		}
		out[i].count++
		if unsaved[path] {
			out[i].unsaved++
		}
	}
	slices.SortFunc(out, func(a, b directory) int { return cmp.Or(b.count-a.count, strings.Compare(a.name, b.name)) })
	if len(out) <= maxDirectories {
		return out
	}
	rest := directory{name: render.Count(len(out)-maxDirectories+1, "more directory", "more directories")}
	for _, d := range out[maxDirectories-1:] {
		rest.count += d.count
		rest.unsaved += d.unsaved
	}
	return append(out[:maxDirectories-1], rest)
}

// commonDirectory returns the longest directory that contains all paths, with a trailing slash, or
// "". paths must not be empty.
func commonDirectory(paths []checkpoint.Path) string {
	first := string(paths[0])
	dir := first[:strings.LastIndexByte(first, '/')+1]
	for _, path := range paths[1:] {
		for !strings.HasPrefix(string(path), dir) {
			dir = dir[:strings.LastIndexByte(strings.TrimSuffix(dir, "/"), '/')+1]
		}
	}
	return dir
}

// restores describes what a partial rollback restores. It is empty for a complete one.
func restores(r *rollback.Answer) string {
	switch r.Mode {
	case rollback.ModePaths:
		return "these paths and their index entries" + when(!r.Stays, ", and the state")
	case rollback.ModeWorktree:
		return "the files"
	case rollback.ModeState:
		return "the state"
	case rollback.ModeProduced:
		return "the files that changed between checkpoints of this session"
	case rollback.ModeAll:
		return ""
	}
	return string(r.Mode)
}

// stateStep tells between which steps the job's state moves. Ids name them: cp-03-design-...
func stateStep(r *rollback.Answer) string {
	if from := r.Promotes; from != nil { // of another line, the state here goes on
		return when(from.Session != r.Session, "that of "+from.Mention.Name)
	}
	step := func(id name.ID) string {
		var n uint
		if _, err := fmt.Sscanf(string(id), "cp-%d-", &n); err != nil {
			return "none"
		}
		return fmt.Sprint("step ", n)
	}
	return step(r.From) + " → " + step(r.To)
}

const indexStays = "unchanged"

// indexPlan says what happens to the index because HEAD has other files than when it was recorded. It
// is empty if the index comes back as it was.
func indexPlan(r *rollback.Answer) string {
	i := r.Index
	switch {
	case i == nil:
		return when(r.Mode == rollback.ModeWorktree, indexStays)
	case i.Stays != "":
		return indexStays
	case len(i.Staged) == 0:
		return "nothing staged, otherwise as " + headAfter(r) + " has it"
	}
	staged := "staged as then"
	if r.Mode == rollback.ModeWorktree {
		staged = "still staged"
	}
	return render.Count(len(i.Staged), "entry", "entries") + " " + staged + ", otherwise as " + headAfter(r) + " has it"
}

// headAfter returns the branch that HEAD is on after a move, or HEAD.
func headAfter(r *rollback.Answer) string {
	ref := r.Branch.Name
	if r.Branch.Moved {
		ref = r.Branch.Target
	}
	return cmp.Or(ref.Short(), "HEAD")
}

// indexPaths names the entries that need a second look: those that are staged over a change of
// HEAD, and those that cannot be staged again.
func (p *page) indexPaths(r *rollback.Answer) {
	if r.Index == nil {
		return
	}
	head := headAfter(r)
	p.paths("Staged again over what "+head+" changed since", render.Warning, r.Index.Over)
	p.paths("Not staged: "+head+" has a file where a directory would be, or the reverse", render.Warning, r.Index.Left)
}
