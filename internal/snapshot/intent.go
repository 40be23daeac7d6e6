package snapshot

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path"
	"path/filepath"
	"strings"

	"git-checkpoint/internal/git"
	"git-checkpoint/internal/name"
)

// Intent is what a restore in progress needs to be finished or taken back after
// a kill. It is a file in the git directory while files are being moved.
type Intent struct {
	Meta        json.RawMessage        // the domain's own: session, checkpoints, reason
	Ops         []Op                   // in the order of paths
	Stage       string                 // absolute; new/<n>, old/<n> belong to Ops[n]
	Lock        string                 // the index lock that is ours
	LockInode   uint64                 // 0: not known
	IndexTree   name.OID               // staged tree afterwards
	Index       *IndexState            // nil: the index stays
	Directories map[string]fs.FileMode // permission bits of directories that may go
	NewModes    map[string]fs.FileMode // permission bits of directories that are made, names with "/"
	Parents     map[string]bool        // directories of new files that are there already
	HasIndex    bool                   // OldIndex holds the index from before
	OldIndex    string                 // absolute, on the file system of the index
}

// IntentError says that the intent of a rollback that was cut off cannot be read.
type IntentError struct {
	Path string
	Err  error
}

func (e *IntentError) Error() string {
	return fmt.Sprintf("a rollback was cut off, and what it was about cannot be read: %v", e.Err)
}

// Unwrap gives the cause.
func (e *IntentError) Unwrap() error { return e.Err }

func intentPath(dir string) string { return filepath.Join(dir, "rollback") }

// save gives the intent its name before the first file moves. It is as durable as git
// is told to make objects.
func (r *Restore) save() error {
	data, err := encodeIntent(&r.intent)
	if err != nil {
		return fmt.Errorf("write the intent: %w", err)
	}
	f, err := os.CreateTemp(r.shot.dir, "tmp-intent-")
	if err != nil {
		return fmt.Errorf("write the intent: %w", err)
	}
	_, err = f.Write(data)
	if err == nil && r.shot.repo.Syncs() {
		err = f.Sync()
	} else if err == nil {
		startWriting(f)
	}
	if closed := f.Close(); err == nil {
		err = closed
	}
	if err == nil {
		err = claim(f.Name(), intentPath(r.shot.dir))
	}
	os.Remove(f.Name()) //nolint:errcheck // it has its name, or is of no use
	if errors.Is(err, fs.ErrExist) {
		return ErrBusy // with another index file, and so with another lock
	}
	if err != nil {
		return fmt.Errorf("write the intent: %w", err)
	}
	return nil
}

// Unfinished gives the restore that was cut off in this worktree, or nil.
func (s *Shot) Unfinished() (*Restore, error) {
	in, err := ReadIntent(s.dir)
	if in == nil {
		return nil, err
	}
	if err := s.own(); err != nil {
		return nil, err
	}
	return &Restore{shot: s, intent: *in}, nil
}

// ReadIntent reads the intent of a restore that was cut off; nil without one.
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
		return nil, &IntentError{intentPath(dir), err}
	}
	return in, nil
}

// Meta is what the domain stored with the restore.
func (r *Restore) Meta() json.RawMessage { return r.intent.Meta }

// Paths are those that the restore moves.
func (r *Restore) Paths() []string {
	out := make([]string, len(r.intent.Ops))
	for i, o := range r.intent.Ops {
		out[i] = o.Path
	}
	return out
}

// directoryModes remembers directories that a deletion may leave empty.
func (r *Restore) directoryModes() map[string]fs.FileMode {
	out := map[string]fs.FileMode{}
	for _, o := range r.intent.Ops {
		if o.kind() != "delete" {
			continue
		}
		for d := path.Dir(o.Path); d != "."; d = path.Dir(d) {
			if _, known := out[d]; known {
				break
			}
			if info, err := r.shot.tree.lstat(d); err == nil && info != nil {
				out[d] = info.Mode().Perm()
			}
		}
	}
	return out
}

// parents lists the directories that new files go into and that exist.
func (r *Restore) parents() map[string]bool {
	out := map[string]bool{}
	for _, o := range r.intent.Ops {
		if o.kind() != "write" {
			continue
		}
		for d := path.Dir(o.Path); d != "." && !out[d]; d = path.Dir(d) {
			if info, err := r.shot.tree.lstat(d); err == nil && info != nil && info.IsDir() {
				out[d] = true
			}
		}
	}
	return out
}

// discard removes what the restore made beside the worktree.
func (r *Restore) discard() {
	r.unlock()
	r.shot.disown()
	if r.intent.OldIndex != "" {
		os.Remove(r.intent.OldIndex) //nolint:errcheck // disposable, swept by age
	}
	if r.intent.Stage != "" && strings.Contains(filepath.Base(r.intent.Stage), "stag") {
		os.RemoveAll(r.intent.Stage) //nolint:errcheck // disposable, swept by age
	}
}

// Finish forgets the restore: it is done.
func (r *Restore) Finish() error {
	err := os.Remove(intentPath(r.shot.dir))
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return fmt.Errorf("remove the intent: %w", err)
	}
	linked := r.linked()
	r.discard()
	if linked && r.intent.Index != nil {
		// Only stat data are at stake, and nothing is to hold up what is done.
		_, _ = r.shot.repo.Run(context.Background(), git.Cmd{Args: []string{"update-index", "-q", "--unmerged", "--refresh"}, Config: r.shot.config}) //nolint:errcheck // see above
	}
	return nil
}

// linked reports whether what lies aside has other names in the worktree. To remove it
// changes the ctime of those, so that git would take them for changed.
func (r *Restore) linked() bool {
	for i := range r.intent.Ops {
		if info, err := os.Lstat(r.intent.oldFile(i)); err == nil && info.Mode().IsRegular() && links(info) > 1 {
			return true
		}
	}
	return false
}

// Cancel gives up a restore that has not begun.
func (r *Restore) Cancel() { r.discard() }
