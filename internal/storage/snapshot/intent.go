package snapshot

// The intent is a JSON file, <git dir>/checkpoint/rollback, that exists from Begin to Finish.
// While it exists the worktree may be half rolled back, and other commands refuse to work on it.
// It holds all that another process needs to complete the restore or to take it back.

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"git-checkpoint/internal/format/name"
	"git-checkpoint/internal/git"
	"git-checkpoint/internal/storage/worktree"
	"git-checkpoint/internal/sys/gather"
	"git-checkpoint/internal/sys/lockfile"
)

// Intent is what is needed to finish a restore after a kill, or to take it back.
type Intent struct {
	Meta        json.RawMessage        // for the caller: session, checkpoints, reason
	Ops         []Op                   // sorted by path
	Top         string                 // of the worktree, absolute
	Stage       string                 // the staging directory, absolute; newFile and oldFile say where a file is in it
	Lock        string                 // the index lock that the restore holds
	LockInode   uint64                 // its inode, by which it is recognised; 0: not known
	IndexTree   name.OID               // the staged tree afterwards
	Index       *IndexState            // the rest of the index afterwards; nil: the index stays
	Directories map[string]fs.FileMode // permission bits of directories that deletions may empty; Back restores them
	OldModes    map[string]fs.FileMode // permission bits of files of which only these change
	NewModes    map[string]fs.FileMode // Target.Modes; the names of directories end in "/"
	Parents     map[string]bool        // directories that new files go into and that exist already
	Dirs        []string               // Plan.Dirs
	Missing     map[string]int         // directories that are staged whole, as dirs/<number>
	HasIndex    bool                   // there was an index, and OldIndex holds it
	OldIndex    string                 // absolute, in Worktree.dir
}

// IntentError says that an interrupted rollback can neither be finished nor taken back. Err says
// why; its text follows "and".
type IntentError struct {
	Path string
	Err  error
}

func (e *IntentError) Error() string { return fmt.Sprintf("a rollback was cut off, and %v", e.Err) }

func (e *IntentError) Unwrap() error { return e.Err }

// ElsewhereError says that a rollback was cut off in another worktree that uses the same git
// directory: a copy of a linked worktree, or one that GIT_WORK_TREE named.
type ElsewhereError struct{ Top string }

func (e *ElsewhereError) Error() string {
	return fmt.Sprintf("the rollback was cut off in another worktree, %q", e.Top)
}

// intentPath returns the intent's file in a directory of disposable files (Worktree.dir).
func intentPath(dir string) string { return filepath.Join(dir, "rollback") }

// save writes the intent before the first file moves. It is synced if git syncs loose objects here.
// If another intent exists, the result is ErrBusy: the index lock excludes that only if both use
// the same index file.
func (r *Restore) save() error {
	data, err := encodeIntent(r.intent)
	var then []func(*os.File) error
	if r.worktree.repo.Settings.Syncs() {
		then = append(then, (*os.File).Sync)
	}
	if err == nil {
		err = lockfile.Create(intentPath(r.worktree.dir), data, then...)
	}
	if errors.Is(err, fs.ErrExist) {
		return ErrBusy
	}
	if err != nil {
		return fmt.Errorf("write the description of the rollback: %w", err)
	}
	return nil
}

// Unfinished returns the restore that was interrupted in this worktree, or nil. This process
// becomes its owner; the result is ErrBusy if the process that began it, or another one, is still
// at work.
func (s *restorer) Unfinished() (*Restore, error) {
	if in, err := ReadIntent(s.dir); in == nil {
		return nil, err
	}
	if err := s.own(); err != nil {
		return nil, err
	}
	// Read again: the previous owner may have finished since.
	in, err := ReadIntent(s.dir)
	if in != nil {
		err = s.locate(in)
	}
	if in == nil || err != nil {
		s.disown()
		return nil, err
	}
	r := s.restore(in)
	for _, o := range in.Ops {
		if base := cmp.Or(worktree.DatabaseOf(o.Path), o.Path); !slices.Contains(r.open, base) && s.files.IsDatabase(base) {
			r.open = append(r.open, base)
		}
	}
	return r, nil
}

// locate changes the paths of an intent to where the repository is now. It may be a copy, or was
// moved, and the files at the old paths are not ours: they belong to the rollback of the original.
// It fails if the intent is that of another worktree, or if the files that were put aside are gone.
func (s *restorer) locate(in *Intent) error {
	if filepath.Dir(in.OldIndex) != s.dir {
		// A copy of the lock has another inode, and that number may be any file's here.
		in.Lock, in.LockInode = s.repo.IndexPath+".lock", 0
	} else {
		began, err := os.Stat(in.Top)
		here, hereErr := os.Stat(s.files.Top)
		if err == nil && hereErr == nil && !os.SameFile(began, here) {
			return &ElsewhereError{in.Top}
		}
	}
	in.OldIndex = filepath.Join(s.dir, filepath.Base(in.OldIndex))
	if at := filepath.Base(in.Stage); worktree.IsStaging(at) {
		in.Stage = filepath.Join(s.files.Top, at)
	} else {
		in.Stage = filepath.Join(s.dir, at)
	}
	if _, gone := os.Lstat(in.Stage); gone != nil {
		return &IntentError{intentPath(s.dir), fmt.Errorf("the files that it put aside cannot be read: %w", gone)}
	}
	if err := in.checkStaged(); err != nil {
		return &IntentError{intentPath(s.dir), fmt.Errorf("its files cannot be trusted: %w", err)}
	}
	return nil
}

// ReadIntent reads the intent in a directory of disposable files. It returns nil if there is
// none, and an IntentError if there is one that cannot be read.
func ReadIntent(dir string) (*Intent, error) {
	data, err := os.ReadFile(intentPath(dir))
	if errors.Is(err, fs.ErrNotExist) {
		return nil, nil
	}
	var in *Intent
	if err == nil {
		in, err = decodeIntent(data)
	}
	if err != nil {
		return nil, &IntentError{intentPath(dir), fmt.Errorf("its description cannot be read: %w", err)}
	}
	return in, nil
}

// Meta returns what the caller passed to Begin.
func (r *Restore) Meta() json.RawMessage { return r.intent.Meta }

// PathsTo returns the paths of one kind of operation.
func (r *Restore) PathsTo(kind OpKind) []string { return pathsTo(r.intent.Ops, kind) }

// PathsBack returns the paths at which Back does something of one kind: it writes what Apply
// replaced or deleted, deletes what Apply made, and changes modes.
func (r *Restore) PathsBack(kind OpKind) []string {
	out := []string{}
	for i, o := range r.intent.Ops {
		if r.move.kindBack(i, o) == kind {
			out = append(out, o.Path)
		}
	}
	return out
}

// kindBack returns what Back does about operation i, as far as Apply got; OpNone for nothing.
func (m *mover) kindBack(i int, o Op) OpKind {
	switch o.kind() {
	case OpMode:
		info, err := m.worktree.files.Lstat(o.Path)
		if perm, known := m.intent.OldModes[o.Path]; known && err == nil && info != nil && info.Mode().Perm() != perm {
			return OpMode
		}
	case OpDelete:
		if m.moved(i) {
			return OpWrite
		}
	case OpWrite:
		_, err := os.Lstat(m.intent.newFile(i))
		placed := errors.Is(err, fs.ErrNotExist) || lockfile.Same(m.intent.newFile(i), m.intent.oldFile(i))
		switch {
		case placed && m.moved(i):
			return OpWrite
		case placed:
			return OpDelete
		}
	}
	return OpNone
}

// Paths returns the paths that the restore changes.
func (r *Restore) Paths() []string {
	return gather.List(r.intent.Ops, func(o Op) string { return o.Path })
}

// Cancel gives up a restore for which Begin was not called, or failed: it releases the lock and removes everything that the
// restore made outside of the worktree's files, the old index and the staging directory with the old files.
func (r *Restore) Cancel() {
	for _, f := range r.locked {
		f.Close() //nolint:errcheck // nothing was written to it
	}
	r.worktree.lock.release(r.intent)
	r.worktree.disown()
	if r.intent.OldIndex != "" {
		os.Remove(r.intent.OldIndex) //nolint:errcheck // disposable, swept by age
	}
	// The path may come from a damaged intent, so only a name like that of a staging directory is
	// deleted.
	if r.intent.Stage != "" && strings.Contains(filepath.Base(r.intent.Stage), "stag") {
		os.RemoveAll(r.intent.Stage) //nolint:errcheck // disposable, swept by age
	}
}

// Finish ends a restore after Apply, or after Back. The old files are deleted and it cannot be
// taken back any more. A cancelled context does not stop it.
func (r *Restore) Finish(ctx context.Context) error {
	err := os.Remove(intentPath(r.worktree.dir))
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return fmt.Errorf("remove the description of the rollback: %w", err)
	}
	linked := r.linked()
	r.Cancel()
	// Only stat data are at stake, so an error is ignored: the restore is done.
	if linked && r.intent.Index != nil {
		_, _ = r.worktree.repo.Run(context.WithoutCancel(ctx), git.Cmd{Args: []string{"update-index", "-q", "--unmerged", "--refresh"}, Config: r.worktree.config}) //nolint:errcheck // see above
	}
	return nil
}

// linked reports whether a file in old/ has other names in the worktree. Deleting it changes the
// ctime of these, and git would take them for changed until the index is refreshed.
func (r *Restore) linked() bool {
	if !r.move.resumed() {
		return slices.ContainsFunc(r.intent.Ops, func(o Op) bool {
			was := r.move.seen[o.Path]
			return was != nil && was.Mode().IsRegular() && worktree.Links(was) > 1
		})
	}
	old, _ := os.ReadDir(filepath.Join(r.intent.Stage, "old")) //nolint:errcheck // stat data, as above
	return slices.ContainsFunc(old, func(e fs.DirEntry) bool {
		info, err := e.Info()
		return err == nil && info.Mode().IsRegular() && worktree.Links(info) > 1
	})
}
