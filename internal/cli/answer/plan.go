package answer

import (
	"cmp"
	"fmt"
	"io"
	"regexp"
	"slices"
	"strings"
	"sync"

	"git-checkpoint/internal/checkpoint"
	"git-checkpoint/internal/name"
	"git-checkpoint/internal/render"
	"git-checkpoint/internal/rollback"
)

// Planned is what a rollback, an undo or a redo would do.
type Planned struct {
	Plan  *rollback.Answer
	Files Files
}

// JSON writes the whole plan.
func (a Planned) JSON(w io.Writer) error { return rollbackJSON(w, a.Plan) }

// Text writes target, state, files, what is at risk, discarded and left behind.
func (a Planned) Text(w io.Writer, v render.View) error {
	p, r := &page{w: w, view: v, names: a.Files}, a.Plan
	p.meanwhile(r.Meanwhile)
	if r.Empty {
		p.line(plain("Everything is as it was at " + target(r) + " already; there is nothing to bring back."))
		return p.err
	}
	p.text("", r.Said)
	place := value{render.Cell{{Role: render.ID, Text: r.ToLabel}, plain(" in session " + string(r.Session))}}
	heading := []field{{"Rollback to", place}}
	if from := r.Promotes; from != nil {
		heading = []field{{"Promotes", value{render.Cell{plain(from.Attempt + ": "), {Role: render.ID, Text: from.Label}, plain(" of " + string(from.Session) + ", into session " + string(r.Session))}}}}
	}
	if len(r.Levels) > 0 {
		heading = []field{{verbs()[r.Levels[0].List], say(p.enumeration(whats(r.Levels)))}, {"Goes to", place}}
	}
	p.fields(append(heading,
		field{"Brings", say(brings(r))},
		field{"State", say(stateStep(r))},
		field{"Discards", say(p.enumeration(r.Plan.Discard))},
		field{"Branch", say(branchPlan(r, v))},
		field{"First", say("a safety checkpoint of what is here now")},
	)...)
	p.plannedFiles(r)
	var rows [][]render.Cell
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

// verbs head the plan of a walk, by the list that it goes over.
func verbs() map[string]string { return map[string]string{"undo": "Undo", "redo": "Redo"} }

func whats(levels []rollback.UndoLevel) []string {
	var out []string
	for _, l := range levels {
		out = append(out, l.What)
	}
	return out
}

// How many paths a plan names before it counts them by directory.
const (
	deletedListed = 50 // who reads one line of a plan reads what it deletes
	unsavedListed = 20
	writtenListed = 8
)

const notSaved = "not saved yet"

// plannedFiles writes what is deleted, then what is overwritten and saved nowhere else,
// then the rest.
func (p *page) plannedFiles(r *rollback.Answer) {
	unsaved := map[checkpoint.Path]bool{}
	for _, path := range r.Plan.Unsaved {
		unsaved[path] = true
	}
	var saved, replaced []checkpoint.Path
	for _, path := range r.Plan.Write {
		if unsaved[path] {
			replaced = append(replaced, path)
		} else {
			saved = append(saved, path)
		}
	}
	var rows [][]render.Cell
	add := func(role render.Role, verb string, paths []checkpoint.Path, most int) {
		if p.whole() || len(paths) <= most {
			for _, path := range paths {
				row := []render.Cell{cell(role, verb), cell(role, string(path))}
				if unsaved[path] {
					row = append(row, cell(render.Warning, notSaved))
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
	columns := []render.Column{{}, {Min: 20}}
	if slices.ContainsFunc(rows, func(row []render.Cell) bool { return len(row) > len(columns) }) {
		columns = append(columns, render.Column{})
	}
	p.cutSection("Files ("+amounts(r, "to write", "to delete", "to change mode")+")", columns, rows, 0)
	if n := len(r.Plan.Write) + len(r.Plan.Delete) + len(r.Plan.Mode); n > len(rows) {
		p.line(dim("  --files names each of them"))
	}
}

// directory is how many files of a list lie below it.
type directory struct {
	name           string
	count, unsaved int
}

// maxDirectories bounds a sum by directory; the smallest ones are summed again.
const maxDirectories = 8

// byDirectory counts paths by the first directory in which they differ.
func byDirectory(paths []checkpoint.Path, unsaved map[checkpoint.Path]bool) []directory {
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
	slices.SortFunc(out, func(a, b directory) int {
		if a.count != b.count {
			return b.count - a.count
		}
		return strings.Compare(a.name, b.name)
	})
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

// commonDirectory is what all paths begin with, up to a slash.
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
