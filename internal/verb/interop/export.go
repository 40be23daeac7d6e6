package interop

import (
	"bytes"
	"cmp"
	"context"
	"crypto/rand"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path"
	"path/filepath"
	"slices"
	"strings"

	"git-checkpoint/internal/core/checkpoint"
	"git-checkpoint/internal/core/clearance"
	"git-checkpoint/internal/format/name"
	"git-checkpoint/internal/sys/gather"
	"git-checkpoint/internal/verb/transfer"
)

// ExportRequest has the arguments of `export` with a format of this package.
type ExportRequest struct {
	To       string // the directory that is the root of a project; for SQLite a file
	Format   string
	Sessions []string // empty: all
	Replace  bool     // existing files with other content are replaced; else nothing is written

	Unscanned bool            // content that could not be scanned for secrets may be written, too
	Agree     clearance.Agree // asks whether something private may be in the files; nil: nobody can be asked
	private   bool            // something is, so only the owner may read them
}

// ExportAnswer is the result of `export`. Its JSON is part of the program's output.
type ExportAnswer struct {
	Format      string    `json:"format"`
	To          string    `json:"to"`
	Sessions    []string  `json:"sessions"`
	Checkpoints int       `json:"checkpoints"`
	Files       []string  `json:"files"`
	LeftOut     []LeftOut `json:"left_out"`
	Damaged     bool      `json:"-"` // a checkpoint could not be read and is left out
}

// Export writes sessions in a layout or into a SQLite database. For a layout, everything is
// rendered in memory and compared with what exists before the first file is written, so that a
// refusal leaves the directory as it was.
func Export(ctx context.Context, s *checkpoint.Service, req ExportRequest) (*ExportAnswer, error) {
	if req.Format != SQLite && !Known(req.Format) {
		return nil, checkpoint.Usage("known layouts: "+strings.Join(append(Formats(), SQLite), ", "), "no such layout: %q", req.Format)
	}
	archives, err := archives(ctx, s, req.Sessions, req.Unscanned)
	if err != nil {
		return nil, err
	}
	answer := &ExportAnswer{Format: req.Format, To: req.To, Sessions: []string{}, Files: []string{}, LeftOut: []LeftOut{}}
	// A database can represent sessions of every workflow, so nothing is left out of it.
	if req.Format != SQLite {
		if archives, err = answer.own(archives, len(req.Sessions) > 0); err != nil {
			return nil, err
		}
	}
	var commits []name.OID
	for _, a := range archives {
		answer.Sessions = append(answer.Sessions, string(a.Session))
		for _, p := range a.Problems {
			s.Store.Warn(fmt.Sprintf("session %s: %s; the export is without it", a.Session, p))
			answer.Damaged = true
		}
		for _, c := range a.Checkpoints {
			commits = append(commits, c.Commit)
		}
	}
	if req.private, err = clearance.ToFile(ctx, s, clearance.Sending{To: req.To}, commits, req.Agree); err != nil {
		return nil, err
	}
	if req.Format == SQLite {
		return answer, exportDatabase(ctx, archives, req, answer)
	}
	t, err := openTarget(req.To)
	if err != nil {
		return nil, err
	}
	defer t.root.Close() //nolint:errcheck // everything is written by then
	if req.private {
		t.mode = 0o600
	}
	w := newRendering(req.Format, t.isDirectory)
	for _, a := range archives {
		w.render(a)
	}
	answer.LeftOut = append(answer.LeftOut, w.left...)
	o := &output{target: t, rendering: w, replace: func([]byte) bool { return req.Replace }}
	if err := o.check(); err != nil {
		return nil, err
	}
	if err := o.write(ctx); err != nil {
		return nil, err
	}
	answer.Checkpoints, answer.Files = o.documents(), o.paths()
	return answer, nil
}

// own returns the sessions of the layout's own workflow, and lists the others as left out: a layout has no place
// for the job of another system. One that was asked for by name is refused.
func (a *ExportAnswer) own(all []*transfer.Archive, named bool) (own []*transfer.Archive, err error) {
	const hint = "`git checkpoint export FILE.bundle` and `--format sqlite` take sessions of every workflow"
	for _, s := range all {
		switch {
		case s.Workflow == a.Format:
			own = append(own, s)
		case named:
			return nil, checkpoint.Failure(checkpoint.KindRefused, hint, "session %q follows %s, and the layout of %s has only sessions of %s", s.Session, cmp.Or(s.Workflow, "no workflow"), a.Format, a.Format)
		default:
			a.LeftOut = append(a.LeftOut, LeftOut{Session: string(s.Session), What: "a session of " + cmp.Or(s.Workflow, "no workflow")})
		}
	}
	if len(own) == 0 {
		return nil, checkpoint.Failure(checkpoint.KindNotFound, hint, "no session here follows %s", a.Format)
	}
	return own, nil
}

// archives reads the given sessions, or all if there are none.
func archives(ctx context.Context, s *checkpoint.Service, wanted []string, unscanned bool) ([]*transfer.Archive, error) {
	if len(wanted) == 0 {
		names, err := s.Store.Sessions(ctx)
		if err != nil {
			return nil, err
		}
		wanted = name.All[string](names)
	}
	var out []*transfer.Archive
	for _, session := range wanted {
		a, err := transfer.ArchiveToWrite(ctx, s, name.Session(session), clearance.Sending{Unscanned: unscanned})
		if err != nil {
			return nil, err
		}
		out = append(out, a)
	}
	return out, nil
}

// output writes a rendering to a target.
type output struct {
	*target
	*rendering
	replace func(old []byte) bool // reports whether existing content may be replaced
	stays   []string              // existing paths that may not be replaced, set by check
}

// check looks at every path before anything is written. It returns an error if one of them cannot
// be written or has other content that may not be replaced.
func (o *output) check() error {
	o.stays = nil
	for _, f := range o.files {
		there, have, err := o.existing(f.path)
		if err != nil {
			return refusedPlace(err)
		}
		// On a file system without links, a link may be a file with the name of its target in it.
		asFile := f.to != "" && strings.TrimSpace(string(have)) == f.to
		if there && !bytes.Equal(have, f.content) && !asFile && !o.replace(have) {
			o.stays = append(o.stays, f.path)
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
	return inTheWay(o.stays, "nothing was written; use --force to replace them, or another directory")
}

// inTheWayError says that there are files with other content.
type inTheWayError string

// Error names the file, or their number.
func (e inTheWayError) Error() string { return string(e) }

// inTheWay is the error for existing files with other content, an inTheWayError.
func inTheWay(paths []string, hint string) error {
	e := ofMany(checkpoint.KindRefused, paths, paths[0]+" already exists with other contents", "%d files already exist with other contents", hint)
	e.Err, e.Message = inTheWayError(e.Message), ""
	return e
}

// refusedPlace is the error for a path that cannot be written to.
func refusedPlace(err error) error {
	return &checkpoint.Error{Kind: checkpoint.KindRefused, Err: err, Hints: []string{"nothing was written"}}
}

// write writes the rendering. The database comes first, because it may still be refused. Then come
// the documents, and last the files and links that refer to them, so that an index never names a
// document that is not there yet.
func (o *output) write(ctx context.Context) error {
	if err := o.writeRows(ctx, nil); err != nil {
		return err
	}
	for _, derived := range []bool{false, true} {
		for _, f := range o.files {
			// First pass: documents. Second pass: derived files.
			if (f.key == "") != derived {
				continue
			}
			// Leave a file with the same content alone, so that its modification time stays.
			if there, have, err := o.existing(f.path); there && err == nil && bytes.Equal(have, f.content) {
				continue
			}
			if err := o.put(f); err != nil {
				return err
			}
		}
	}
	return nil
}

// writeRows writes the rows of the layout's database in one transaction. gone has ids of rows to
// delete.
func (o *output) writeRows(ctx context.Context, gone []string) error {
	if len(o.rows) == 0 && len(gone) == 0 {
		return nil
	}
	file, err := o.database(ultraDatabase)
	if err != nil {
		return refusedPlace(err)
	}
	return inDatabase(ctx, file, func(tx querier) error {
		// Rows are compared in the form that a mirror remembers them, see written.
		kept, err := writeRows(tx, o.rows, gone, func(old *ultraRow) bool { return o.replace(old.file()) })
		if err != nil || len(kept) == 0 {
			return err
		}
		for i := range kept {
			kept[i] = "row " + kept[i] + " of " + ultraDatabase
		}
		return inTheWay(kept, "nothing was written; --force replaces them")
	})
}

// documents counts the checkpoints in the rendering: its documents, and rows without a document.
func (o *output) documents() int {
	n := gather.Count(o.files, func(f file) bool { return f.key != "" })
	for _, row := range o.rows {
		if !slices.ContainsFunc(o.files, func(f file) bool { return f.key == row.ID }) {
			n++
		}
	}
	return n
}

// paths lists everything that the rendering writes.
func (w *rendering) paths() []string {
	out := gather.List(w.files, func(f file) string { return f.path })
	if len(w.rows) > 0 {
		out = append(out, ultraDatabase)
	}
	return out
}

// target is the directory that a layout is written to. All access goes through os.Root, so no
// symbolic link in it can lead a write to another directory.
type target struct {
	root *os.Root
	dir  string
	mode fs.FileMode // of new files
}

// openTarget opens a directory and creates it if it is missing.
func openTarget(dir string) (*target, error) {
	dir, err := filepath.Abs(dir)
	if err != nil {
		return nil, fmt.Errorf("open %q: %w", dir, err)
	}
	if err := os.MkdirAll(dir, 0o777); err != nil {
		return nil, fmt.Errorf("make %q: %w", dir, plain(err))
	}
	root, err := os.OpenRoot(dir)
	if err != nil {
		return nil, fmt.Errorf("open %q: %w", dir, plain(err))
	}
	return &target{root: root, dir: dir, mode: 0o666}, nil
}

// isDirectory reports whether a directory exists at p.
func (t *target) isDirectory(p string) bool {
	info, err := t.root.Stat(p)
	return err == nil && info.IsDir()
}

// existing reports whether there is anything at p that a write would replace. have is what leading
// gives for a link, the content of a regular file that is not too large, and nil for anything else.
// It returns an error for what can never be replaced: a directory at p, or a parent of p that is
// not a directory.
func (t *target) existing(p string) (there bool, have []byte, err error) {
	info, err := t.root.Lstat(p)
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return false, nil, t.way(p)
	case err != nil:
		return true, nil, fmt.Errorf("%s: %w", p, plain(err))
	case info.IsDir():
		return true, nil, fmt.Errorf("%s: a directory is in the way", p)
	case info.Mode()&fs.ModeSymlink != 0:
		to, err := t.root.Readlink(p)
		return true, leading(to), err
	case !info.Mode().IsRegular() || info.Size() > maxDocument:
		return true, nil, nil
	}
	if have, err = t.root.ReadFile(p); err != nil {
		return true, nil, fmt.Errorf("%s: %w", p, plain(err))
	}
	return true, have, nil
}

// leading stands for the content of a link, so that links are compared and a mirror remembers where
// they lead as it remembers what files say.
func leading(to string) []byte { return []byte("a link to " + to) }

// way returns an error if something other than a directory is on the path to p. Missing directories
// are fine; put creates them.
func (t *target) way(p string) error {
	for dir := path.Dir(p); dir != "."; dir = path.Dir(dir) {
		info, err := t.root.Stat(dir)
		if errors.Is(err, fs.ErrNotExist) {
			// Stat follows links and Lstat does not: the link exists but not its target, so
			// MkdirAll would fail with a confusing error.
			if _, err := t.root.Lstat(dir); err == nil {
				return fmt.Errorf("%s: a broken symbolic link is in the way", dir)
			}
			continue
		}
		if err != nil {
			return fmt.Errorf("%s: %w", dir, plain(err))
		}
		if !info.IsDir() {
			return fmt.Errorf("%s: it is not a directory", dir)
		}
		return nil
	}
	return nil
}

// put writes a file or link under a temporary name and renames it, so that a concurrent reader sees
// either the old content or the new. It replaces a link and does not write through it. The name
// starts with a dot, so that no layout reads it as a document.
func (t *target) put(f file) error {
	p := f.path
	if err := t.root.MkdirAll(path.Dir(p), 0o777); err != nil {
		return fmt.Errorf("%s: %w", path.Dir(p), plain(err))
	}
	temp := path.Join(path.Dir(p), ".git-checkpoint-"+strings.ToLower(rand.Text()[:12])+".tmp")
	var err error
	if f.to != "" {
		err = t.root.Symlink(f.to, temp)
	} else {
		err = t.root.WriteFile(temp, f.content, t.mode)
	}
	if err == nil {
		err = t.root.Rename(temp, p)
	}
	if err != nil {
		t.root.Remove(temp) //nolint:errcheck // the error before is what counts
		return fmt.Errorf("%s: %w", p, plain(err))
	}
	return nil
}

// database returns the path of a database in the file system and creates its directory. SQLite
// opens files by path and does not use os.Root, so this refuses any symbolic link on the way and at
// the file itself.
func (t *target) database(p string) (string, error) {
	if err := t.way(p); err != nil {
		return "", err
	}
	if err := t.root.MkdirAll(path.Dir(p), 0o777); err != nil {
		return "", fmt.Errorf("%s: %w", path.Dir(p), plain(err))
	}
	// The database need not exist, but if it does it has to be a regular file.
	in := &tree{root: t.root}
	if _, err := in.real(p); err != nil && !errors.Is(err, fs.ErrNotExist) {
		return "", fmt.Errorf("%s: %w", p, err)
	}
	return filepath.Join(t.dir, filepath.FromSlash(p)), nil
}
