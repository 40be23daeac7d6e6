package interop

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"

	"git-checkpoint/internal/checkpoint"
	"git-checkpoint/internal/clearance"
	"git-checkpoint/internal/name"
	"git-checkpoint/internal/transfer"
)

// mirrorTries is how often a session is written again when somebody went on meanwhile.
const mirrorTries = 5

// MirrorPaths are what a mirror writes when it is at a path of a worktree. At the top these
// are the layout's own directories, and what lies beside their files; else all that is
// there. None: there is no such format.
func MirrorPaths(format, at string) []string {
	switch {
	case format == SQLite:
		return databaseFiles(at)
	case !Known(format):
		return nil
	case at != ".":
		return []string{at}
	case format == UltraCreate:
		return append(databaseFiles(ultraDatabase), ultraHome)
	}
	return layouts()[format].containers()
}

// databaseFiles are those that SQLite keeps for one.
func databaseFiles(file string) []string {
	return []string{file, file + "-wal", file + "-shm", file + "-journal"}
}

// MirrorAll brings every mirror up to date with the sessions that were written to. It
// gives one warning for each mirror that it could not write: what happened here has
// happened, with or without it.
func MirrorAll(ctx context.Context, s *checkpoint.Service) []string {
	written := s.Written()
	if len(written) == 0 {
		return nil
	}
	mirrors, err := s.Mirrors()
	var warnings []string
	if err != nil {
		warnings = append(warnings, err.Error())
	}
	for _, m := range mirrors {
		if m.Strays {
			warnings = append(warnings, fmt.Sprintf("the mirror %s:%s is behind: a symbolic link leads it out of the worktree", m.Format, m.Dir))
			continue
		}
		for _, session := range written {
			if err := mirror(ctx, s, m, session); err != nil {
				warnings = append(warnings, fmt.Sprintf("the mirror %s:%s is behind: %v%s", m.Format, m.Dir, err, inWords(err)))
				break
			}
		}
	}
	return warnings
}

// mirror writes one session. After it was written the journal is looked at again, so that
// of several writers the last one leaves what is newest.
func mirror(ctx context.Context, s *checkpoint.Service, m checkpoint.Mirror, session name.Session) error {
	for range mirrorTries {
		before, err := s.Tip(ctx, session)
		if err != nil {
			return err
		}
		a, err := transfer.ArchiveToWrite(ctx, s, session, clearance.UnscannedStays)
		if err != nil {
			return err
		}
		if Known(a.Workflow) && a.Workflow != m.Format && m.Format != SQLite {
			return nil // its own layout is another
		}
		if err := mirrorOnce(ctx, s, m, a); err != nil {
			return err
		}
		if now, err := s.Tip(ctx, session); err != nil || now == before {
			return err
		}
	}
	return nil
}

func mirrorOnce(ctx context.Context, s *checkpoint.Service, m checkpoint.Mirror, a *transfer.Archive) error {
	if m.Format == SQLite {
		if err := os.MkdirAll(filepath.Dir(m.Dir), 0o777); err != nil {
			return plain(err)
		}
		req := ExportRequest{To: m.Dir, Format: SQLite, Existing: ExistingReplace}
		return exportDatabase(ctx, []*transfer.Archive{a}, req, &ExportAnswer{})
	}
	t, err := openTarget(m.Dir)
	if err != nil {
		return err
	}
	defer t.root.Close() //nolint:errcheck // everything is written by then
	w := newRendering(m.Format, t.isDirectory)
	w.render(a)
	known, err := readMirrored(s, m)
	if err != nil {
		return err
	}
	before := known.Sessions[string(a.Session)]
	o := &output{target: t, rendering: w}
	o.replace = func(old []byte) bool { return w.kept[string(old)] || known.has(old) }
	err = o.check()
	if err != nil && before == nil && o.onlyDerived() {
		err = nil // the list of what was written is lost, the documents are not
		o.replace = func([]byte) bool { return true }
	}
	if err != nil {
		return err
	}
	now := o.written()
	var rows []string
	for p, digest := range before {
		if id, isRow := strings.CutPrefix(p, rowPrefix); isRow && now[p] == "" {
			rows = append(rows, id)
		} else if now[p] == "" {
			o.forget(p, digest)
		}
	}
	if err := o.writeRows(ctx, rows); err != nil {
		return err
	}
	if err := o.write(ctx); err != nil {
		return err
	}
	known.Sessions[string(a.Session)] = now
	return known.save()
}

const rowPrefix = "row:"

// onlyDerived reports whether all that stands in the way only tells of documents.
func (o *output) onlyDerived() bool {
	if len(o.stays) == 0 {
		return false
	}
	for _, p := range o.stays {
		for _, f := range o.files {
			if f.path == p && f.key != "" {
				return false
			}
		}
	}
	return true
}

// written lists what a rendering is, by path.
func (o *output) written() map[string]string {
	out := map[string]string{}
	for _, f := range o.files {
		out[f.path] = digest(f.content)
	}
	for _, l := range o.links {
		out[l.path] = "link"
	}
	for _, row := range o.rows {
		out[rowPrefix+row.ID] = digest(indented(row.json()))
	}
	return out
}

// forget removes a file that is not part of the layout any more, if it is still what was
// written there.
func (o *output) forget(p, was string) {
	if was == "link" {
		if _, err := o.root.Readlink(p); err == nil {
			o.root.Remove(p) //nolint:errcheck // it stays, then
		}
		return
	}
	if have, err := o.root.ReadFile(p); err == nil && digest(have) == was {
		o.root.Remove(p) //nolint:errcheck // it stays, then
	}
}

func digest(content []byte) string {
	sum := sha256.Sum256(content)
	return hex.EncodeToString(sum[:])
}

// mirrored is what a mirror holds that was written here. It may be lost: then files that
// say something else stay.
type mirrored struct {
	Sessions map[string]map[string]string `json:"sessions"` // path → digest
	file     string
}

func readMirrored(s *checkpoint.Service, m checkpoint.Mirror) (*mirrored, error) {
	dir, err := s.Disposable()
	if err != nil {
		return nil, err
	}
	known := &mirrored{file: filepath.Join(dir, "mirror-"+digest([]byte(m.Format + ":" + m.Dir))[:16])}
	data, err := os.ReadFile(known.file)
	if err == nil && json.Unmarshal(data, known) != nil {
		known.Sessions = nil
	}
	if known.Sessions == nil {
		known.Sessions = map[string]map[string]string{}
	}
	return known, nil //nolint:nilerr // it may be lost
}

func (m *mirrored) has(content []byte) bool {
	want := digest(content)
	for _, files := range m.Sessions {
		for _, d := range files {
			if d == want {
				return true
			}
		}
	}
	return false
}

func (m *mirrored) save() error {
	temp := fmt.Sprintf("%s-%d.tmp", m.file, os.Getpid())
	if err := os.WriteFile(temp, encode(m), fs.FileMode(0o666)); err != nil {
		return plain(err)
	}
	return os.Rename(temp, m.file)
}

// inWords is what a person may do about an error.
func inWords(err error) string {
	if strings.Contains(err.Error(), "say something else") || strings.Contains(err.Error(), "says something else") {
		return "; `git checkpoint import` takes it over, `git checkpoint export --force` replaces it"
	}
	return ""
}
