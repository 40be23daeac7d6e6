package interop

import (
	"context"
	"crypto/sha256"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"git-checkpoint/internal/core/checkpoint"
	"git-checkpoint/internal/core/clearance"
	"git-checkpoint/internal/format/name"
	"git-checkpoint/internal/git"
	"git-checkpoint/internal/sys/gather"
	"git-checkpoint/internal/sys/wholefile"
	"git-checkpoint/internal/verb/transfer"
)

// MirrorPaths returns the paths that a mirror at the given path of a worktree writes to. Captures
// leave them out. A mirror at the top of the worktree (".") writes to the layout's own directories,
// next to the user's files; any other directory belongs to the mirror as a whole. The result is nil
// for an unknown format.
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
	return containers(format)
}

// databaseFiles returns a database and the files that SQLite may create next to it.
func databaseFiles(file string) []string {
	return []string{file, file + "-wal", file + "-shm", file + "-journal"}
}

// MirrorAll updates every configured mirror with the sessions that this command changed. It returns
// one warning for each mirror that it could not write. It never returns an error, because the
// command's own changes are already done; the next command tries again.
func MirrorAll(ctx context.Context, s *checkpoint.Service) []string {
	written := s.Store.Written()
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
			warnings = append(warnings, fmt.Sprintf("the mirror %s:%s is not up to date: a symbolic link points out of the worktree", m.Format, m.Dir))
			continue
		}
		for _, session := range written {
			if err := mirror(ctx, s, m, session); err != nil {
				warnings = append(warnings, fmt.Sprintf("the mirror %s:%s is not up to date: %v%s", m.Format, m.Dir, err, inWords(err)))
				// The other sessions would fail for the same reason. One warning per mirror is
				// enough.
				break
			}
		}
	}
	return warnings
}

// mirror writes one session to one mirror. Afterwards it compares the journal's tip with the one
// from before and starts again if another writer added to the session, so that the last writer
// always leaves the newest content.
func mirror(ctx context.Context, s *checkpoint.Service, m checkpoint.Mirror, session name.Session) error {
	const mirrorTries = 5 // how often a session is written again if it changed in the meantime
	for range mirrorTries {
		before, err := checkpoint.Tip(ctx, s.Repo, session)
		if err != nil {
			return err
		}
		a, err := transfer.ArchiveToWrite(ctx, s, session, clearance.Sending{})
		if err != nil {
			return err
		}
		if a.Workflow != m.Format && m.Format != SQLite {
			return nil // the layout has no place for it
		}
		// The mirror may have the last copy of a checkpoint that cannot be read any more. An update
		// would remove it, or replace it with an older one.
		if len(a.Problems) > 0 {
			return fmt.Errorf("%s; the mirror keeps what it has of it until `git checkpoint rebuild` mends it", a.Problems[0])
		}
		if err := mirrorOnce(ctx, s.Repo, m, a); err != nil {
			return err
		}
		// Nobody wrote to the session while it was being mirrored.
		if now, err := checkpoint.Tip(ctx, s.Repo, session); err != nil || now == before {
			return err
		}
	}
	return nil
}

// mirrorOnce brings the files of one session up to date. It replaces files that the mirror itself
// wrote or that an import has kept a copy of, removes files of checkpoints that do not exist any
// more, and remembers what it wrote for the next time.
func mirrorOnce(ctx context.Context, repo *git.Repo, m checkpoint.Mirror, a *transfer.Archive) error {
	if m.Format == SQLite {
		if err := os.MkdirAll(filepath.Dir(m.Dir), 0o777); err != nil {
			return plain(err)
		}
		req := ExportRequest{To: m.Dir, Format: SQLite, Replace: true}
		return exportDatabase(ctx, []*transfer.Archive{a}, req, &ExportAnswer{})
	}
	t, err := openTarget(m.Dir)
	if err != nil {
		return err
	}
	defer t.root.Close() //nolint:errcheck // everything is written by then
	w := newRendering(m.Format, t.isDirectory)
	w.render(a)
	known, err := readMirrored(repo, m)
	if err != nil {
		return err
	}
	before := known.Sessions[string(a.Session)]
	// A record of version 0.1.0 does not say where links lead: one that is there counts as the mirror's.
	for p, was := range before {
		if to, err := t.root.Readlink(p); err == nil && was == "link" {
			before[p] = digest(leading(to))
		}
	}
	o := &output{target: t, rendering: w}
	o.replace = func(old []byte) bool { return w.kept[string(old)] || known.has(old) }
	err = o.check()
	// Only an index or manifest is in the way, and there is no record of what the mirror wrote. It
	// can be replaced, because such files are generated from the documents.
	if err != nil && before == nil && o.onlyDerived() {
		err = nil
		o.replace = func([]byte) bool { return true }
	}
	if err != nil {
		return err
	}
	// Files of the previous time that are not written any more belong to checkpoints that were
	// pruned or moved.
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
	return known.save(string(a.Session), now)
}

// rowPrefix marks the ids of database rows among the paths in mirrored.Sessions.
const rowPrefix = "row:"

// onlyDerived reports whether all files in the way are generated from documents. check has set
// them.
func (o *output) onlyDerived() bool {
	return len(o.stays) > 0 && !slices.ContainsFunc(o.files, func(f file) bool { return f.key != "" && slices.Contains(o.stays, f.path) })
}

// written returns the digest of everything in the rendering, by path.
func (o *output) written() map[string]string {
	out := gather.Map(o.files, func(f file) (string, string) { return f.path, digest(f.content) })
	for _, row := range o.rows {
		out[rowPrefix+row.ID] = digest(row.file())
	}
	return out
}

// forget removes a file that is no longer part of the rendering, unless it was modified after the
// mirror wrote it. Errors are ignored: the file stays.
func (o *output) forget(p, was string) {
	if _, have, err := o.existing(p); err == nil && digest(have) == was {
		o.root.Remove(p) //nolint:errcheck // it stays, then
	}
}

// digest returns the SHA-256 of content in hexadecimal.
func digest(content []byte) string { return fmt.Sprintf("%x", sha256.Sum256(content)) }

// mirrored records what a mirror has written, so that the next update can tell its own files from
// those of others. It is kept in a directory of the repository that may be deleted. Without it,
// existing files with other content are not replaced.
//
// Each session has a file of its own with its part of the record, so that commands in several
// sessions cannot undo each other's entries. Two commands in one session settle it as they do for
// the mirror itself, see mirror.
type mirrored struct {
	Sessions map[string]map[string]string `json:"sessions"` // by session: digest by path
	file     string                       // its name without the part for the session
}

// readMirrored reads the record of a mirror. What is missing or damaged is empty. Version 0.1.0 had
// one file for all sessions, which is read first: what is newer replaces it.
func readMirrored(repo *git.Repo, m checkpoint.Mirror) (*mirrored, error) {
	dir, err := repo.Dir()
	if err != nil {
		return nil, err
	}
	known := &mirrored{Sessions: map[string]map[string]string{}, file: filepath.Join(dir, "mirror-"+digest([]byte(m.Format + ":" + m.Dir))[:16])}
	parts, err := os.ReadDir(dir)
	if err != nil {
		return nil, plain(err)
	}
	for _, e := range parts { // by name, so the file of 0.1.0 is the first
		name := filepath.Join(dir, e.Name())
		if rest, ours := strings.CutPrefix(name, known.file); !ours || rest != "" && len(rest) != len(partOf("")) {
			continue
		}
		var part mirrored
		if data, err := os.ReadFile(name); err == nil && json.Unmarshal(data, &part) == nil {
			maps.Copy(known.Sessions, part.Sessions)
		}
	}
	return known, nil
}

// partOf returns what the name of a session's file has at its end.
func partOf(session string) string { return "-" + digest([]byte(session))[:16] }

// has reports whether the mirror has written this content, at any path.
func (m *mirrored) has(content []byte) bool {
	want := digest(content)
	for _, files := range m.Sessions {
		if slices.Contains(slices.Collect(maps.Values(files)), want) {
			return true
		}
	}
	return false
}

// save replaces the file of one session in one step.
func (m *mirrored) save(session string, written map[string]string) error {
	part := mirrored{Sessions: map[string]map[string]string{session: written}}
	return plain(wholefile.Bytes(m.file+partOf(session), 0o600, encode(part)))
}

// inWords returns what the user can do about an error, to be appended to its message.
func inWords(err error) string {
	if _, is := errors.AsType[inTheWayError](err); is {
		return "; `git checkpoint import` takes it over, and `git checkpoint export --force` replaces it"
	}
	return ""
}
