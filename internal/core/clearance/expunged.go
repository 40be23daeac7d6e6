package clearance

import (
	"errors"
	"fmt"
	"io/fs"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"git-checkpoint/internal/format/name"
	"git-checkpoint/internal/git"
)

// Expunged lists the objects and checkpoints that were expunged from this repository. A
// push refuses to send any of them, so that they do not come back from a clone or a backup.
type Expunged struct {
	path string

	Objects     map[name.OID]bool                 // blobs, records and commits
	Checkpoints map[name.Session]map[name.ID]bool // the ids of the expunged checkpoints, by session
	// Anew are the sessions whose journal a rewrite of history replaced, and the sessions that they
	// go on as. Joined with the journal of a clone, the old name would bring everything back.
	Anew map[name.Session]name.Session
}

// ReadExpunged reads the list, which all worktrees of the repository share. Each line is
// "object <oid>", "checkpoint <session> <id>" or "anew <session> <session>". Other lines are ignored.
func ReadExpunged(repo *git.Repo) (*Expunged, error) {
	x := &Expunged{
		path:    filepath.Join(repo.CommonDir, "checkpoint", "expunged"),
		Objects: map[name.OID]bool{}, Checkpoints: map[name.Session]map[name.ID]bool{}, Anew: map[name.Session]name.Session{},
	}
	data, err := os.ReadFile(x.path)
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return nil, fmt.Errorf("read what was expunged: %w", err)
	}
	for line := range strings.Lines(string(data)) {
		fields := strings.Fields(line)
		switch {
		case len(fields) == 2 && fields[0] == "object":
			x.Objects[name.OID(fields[1])] = true
		case len(fields) == 3 && fields[0] == "checkpoint":
			x.checkpoint(name.Session(fields[1]), name.ID(fields[2]))
		case len(fields) == 3 && fields[0] == "anew":
			x.Anew[name.Session(fields[1])] = name.Session(fields[2])
		}
	}
	return x, nil
}

func (x *Expunged) checkpoint(session name.Session, id name.ID) {
	if x.Checkpoints[session] == nil {
		x.Checkpoints[session] = map[name.ID]bool{}
	}
	x.Checkpoints[session][id] = true
}

// Add appends to the list, before anything is expunged. Each line is written whole or not
// at all, and a line that appears twice does no harm, so it can be repeated after a crash.
func (x *Expunged) Add(session name.Session, ids []name.ID, objects []name.OID) error {
	var lines strings.Builder
	for _, oid := range objects {
		if !x.Objects[oid] {
			x.Objects[oid] = true
			fmt.Fprintf(&lines, "object %s\n", oid)
		}
	}
	for _, id := range ids {
		if !x.Checkpoints[session][id] {
			x.checkpoint(session, id)
			fmt.Fprintf(&lines, "checkpoint %s %s\n", session, id)
		}
	}
	return x.write(lines.String())
}

// BeginAnew adds a session whose journal was rewritten, and the one that it goes on as.
func (x *Expunged) BeginAnew(session, as name.Session) error {
	x.Anew[session] = as
	return x.write(fmt.Sprintf("anew %s %s\n", session, as))
}

// write appends lines to the file.
func (x *Expunged) write(lines string) error {
	if lines == "" {
		return nil
	}
	err := os.MkdirAll(filepath.Dir(x.path), 0o777)
	if err == nil {
		var f *os.File
		if f, err = os.OpenFile(x.path, os.O_CREATE|os.O_WRONLY|os.O_APPEND, 0o600); err == nil {
			_, err = f.WriteString(lines)
			err = errors.Join(err, f.Sync(), f.Close())
		}
	}
	if err != nil {
		return fmt.Errorf("save what is expunged: %w", err)
	}
	return nil
}

// Listed returns the objects of the list, sorted.
func (x *Expunged) Listed() []name.OID { return slices.Sorted(maps.Keys(x.Objects)) }
