package interop

import (
	"context"
	"fmt"
	"slices"
	"strings"

	"git-checkpoint/internal/checkpoint"
	"git-checkpoint/internal/clearance"
	"git-checkpoint/internal/transfer"
)

// ExportRequest is what `export --format` of a layout was asked for.
type ExportRequest struct {
	To       string // a directory, the root of a project; for SQLite a file
	Format   string
	Sessions []string // empty: all
	Existing ExistingChoice

	Unscanned clearance.Unscanned
}

// ExistingChoice says what happens to files that are there and say something else.
type ExistingChoice int

// The choices.
const (
	ExistingRefuse ExistingChoice = iota // nothing is written
	ExistingReplace
)

// ExportAnswer is what `export` answers.
type ExportAnswer struct {
	Format      string    `json:"format"`
	To          string    `json:"to"`
	Sessions    []string  `json:"sessions"`
	Checkpoints int       `json:"checkpoints"`
	Files       []string  `json:"files"`
	LeftOut     []LeftOut `json:"left_out"`
}

// Export writes sessions in the layout of another system, or into a database.
func Export(ctx context.Context, s *checkpoint.Service, req ExportRequest) (*ExportAnswer, error) {
	if req.Format != SQLite && !Known(req.Format) {
		return nil, &checkpoint.Error{
			Kind: checkpoint.KindUsage, Message: fmt.Sprintf("no layout is called %q", req.Format),
			Hints: []string{"there is " + strings.Join(append(Formats(), SQLite), ", ")},
		}
	}
	archives, err := archives(ctx, s, req.Sessions, req.Unscanned)
	if err != nil {
		return nil, err
	}
	answer := &ExportAnswer{Format: req.Format, To: req.To, Sessions: []string{}, Files: []string{}, LeftOut: []LeftOut{}}
	if len(req.Sessions) == 0 && req.Format != SQLite {
		archives = answer.own(archives)
	}
	for _, a := range archives {
		answer.Sessions = append(answer.Sessions, string(a.Session))
	}
	if req.Format == SQLite {
		return answer, exportDatabase(ctx, archives, req, answer)
	}
	t, err := openTarget(req.To)
	if err != nil {
		return nil, err
	}
	defer t.root.Close() //nolint:errcheck // everything is written by then
	w := newRendering(req.Format, t.isDirectory)
	for _, a := range archives {
		w.render(a)
	}
	answer.LeftOut = append(answer.LeftOut, w.left...)
	o := &output{target: t, rendering: w, replace: func([]byte) bool { return req.Existing == ExistingReplace }}
	if err := o.check(); err != nil {
		return nil, err
	}
	if err := o.write(ctx); err != nil {
		return nil, err
	}
	answer.Checkpoints, answer.Files = o.documents(), o.paths()
	return answer, nil
}

// own leaves the sessions of the layout's own workflow, where there are any: nobody wants
// those of five systems in the files of one without a word.
func (a *ExportAnswer) own(all []*transfer.Archive) []*transfer.Archive {
	isOwn := func(s *transfer.Archive) bool { return s.Workflow == a.Format }
	if !slices.ContainsFunc(all, isOwn) {
		return all
	}
	var own []*transfer.Archive
	for _, s := range all {
		if isOwn(s) {
			own = append(own, s)
			continue
		}
		a.LeftOut = append(a.LeftOut, LeftOut{Session: string(s.Session), What: "a session of " + either(s.Workflow, "no workflow") + "; --session takes it"})
	}
	return own
}

// archives reads the sessions that were asked for, all without any.
func archives(ctx context.Context, s *checkpoint.Service, wanted []string, unscanned clearance.Unscanned) ([]*transfer.Archive, error) {
	if len(wanted) == 0 {
		names, err := transfer.SessionNames(ctx, s)
		if err != nil {
			return nil, err
		}
		for _, n := range names {
			wanted = append(wanted, string(n))
		}
	}
	var out []*transfer.Archive
	for _, session := range wanted {
		a, err := transfer.ArchiveToWrite(ctx, s, transfer.Session(session), unscanned)
		if err != nil {
			return nil, err
		}
		out = append(out, a)
	}
	return out, nil
}

// output is a rendering on its way into a directory.
type output struct {
	*target
	*rendering
	replace func(old []byte) bool // what stands there may be replaced
	stays   []string              // paths that stand there and are not ours to replace
}

// check looks at every place before anything is written.
func (o *output) check() error {
	o.stays = nil
	for _, f := range o.files {
		at, have, err := o.look(f.path, f.content)
		if err != nil {
			return refusedPlace(err)
		}
		if at == other && !o.replace(have) {
			o.stays = append(o.stays, f.path)
		}
	}
	for _, l := range o.links {
		if to, err := o.root.Readlink(l.path); err == nil && to == l.to {
			continue
		}
		at, have, err := o.look(l.path, nil)
		if err != nil {
			return refusedPlace(err)
		}
		if at != nothing && !o.replace(have) && strings.TrimSpace(string(have)) != l.to {
			o.stays = append(o.stays, l.path)
		}
	}
	if len(o.rows) > 0 {
		if _, err := o.database(ultraDatabase); err != nil {
			return refusedPlace(err)
		}
	}
	if len(o.stays) == 0 {
		return nil
	}
	return inTheWay(o.stays, "nothing was written; --force replaces them, another directory leaves them alone")
}

func inTheWay(paths []string, hint string) error {
	e := &checkpoint.Error{Kind: checkpoint.KindRefused, Message: paths[0] + " is there already and says something else"}
	if len(paths) > 1 {
		e.Message = fmt.Sprintf("%d files are there already and say something else", len(paths))
		for i, p := range paths {
			if i == 20 {
				e.Hints = append(e.Hints, fmt.Sprintf("… and %d more", len(paths)-i))
				break
			}
			e.Hints = append(e.Hints, p)
		}
	}
	e.Hints = append(e.Hints, hint)
	return e
}

func refusedPlace(err error) error {
	return &checkpoint.Error{Kind: checkpoint.KindRefused, Err: err, Hints: []string{"nothing was written"}}
}

// write writes rows first, because they may still be refused, then documents, then what
// tells of them.
func (o *output) write(ctx context.Context) error {
	if err := o.writeRows(ctx, nil); err != nil {
		return err
	}
	for _, derived := range []bool{false, true} {
		for _, f := range o.files {
			if (f.key == "") != derived {
				continue
			}
			if at, _, err := o.look(f.path, f.content); err == nil && at == same {
				continue
			}
			if err := o.put(f.path, f.content); err != nil {
				return err
			}
		}
	}
	for _, l := range o.links {
		if to, err := o.root.Readlink(l.path); err == nil && to == l.to {
			continue
		}
		if err := o.link(l.path, l.to); err != nil {
			return err
		}
	}
	return nil
}

// writeRows writes the database of the layout; gone are ids of rows to be taken out.
func (o *output) writeRows(ctx context.Context, gone []string) error {
	if len(o.rows) == 0 && len(gone) == 0 {
		return nil
	}
	file, err := o.database(ultraDatabase)
	if err != nil {
		return refusedPlace(err)
	}
	return inDatabase(ctx, file, func(tx querier) error {
		kept, err := writeRows(tx, o.rows, gone, func(old *ultraRow) bool { return o.replace(indented(old.json())) })
		if err != nil || len(kept) == 0 {
			return err
		}
		for i := range kept {
			kept[i] = "row " + kept[i] + " of " + ultraDatabase
		}
		return inTheWay(kept, "nothing was written; --force replaces them")
	})
}

func (o *output) documents() int {
	n := 0
	for _, f := range o.files {
		if f.key != "" {
			n++
		}
	}
	for _, row := range o.rows {
		if !o.hasFile(row.ID) {
			n++
		}
	}
	return n
}

func (w *rendering) hasFile(key string) bool {
	for _, f := range w.files {
		if f.key == key {
			return true
		}
	}
	return false
}

func (w *rendering) paths() []string {
	out := []string{}
	for _, f := range w.files {
		out = append(out, f.path)
	}
	for _, l := range w.links {
		out = append(out, l.path)
	}
	if len(w.rows) > 0 {
		out = append(out, ultraDatabase)
	}
	return out
}
