// Package watch makes a checkpoint when files have changed and then been quiet. Events of the file
// system say only when to look, never what changed, so a lost event loses nothing: the next look finds
// it. Ignored directories are not watched.
package watch

import (
	"context"
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"syscall"
	"time"

	"github.com/fsnotify/fsnotify"
)

// Watcher watches one worktree.
type Watcher struct {
	Top    string        // of the worktree, absolute
	Settle time.Duration // how long files have to be quiet
	Every  time.Duration // how often to look without an event

	// Ignored says which of some directories (relative to Top, with slashes) git ignores.
	Ignored func(ctx context.Context, dirs []string) (map[string]bool, error)
	// Save makes a checkpoint where something changed.
	Save func(ctx context.Context) error
	// Say tells a person what they have to know.
	Say func(string)

	events  *fsnotify.Watcher // nil: nothing can be watched, only the clock counts
	watched map[string]bool
}

// Run watches until the context ends. What goes wrong with a checkpoint is said, and tried again.
func (w *Watcher) Run(ctx context.Context) error {
	w.watched = map[string]bool{}
	if err := w.start(ctx); err != nil {
		return err
	}
	if w.events != nil {
		defer w.events.Close() //nolint:errcheck // the process ends
	}
	w.look(ctx)
	settle := time.NewTimer(w.Settle)
	settle.Stop()
	every := time.NewTicker(w.Every)
	defer every.Stop()
	for {
		select {
		case <-ctx.Done():
			return nil
		case e := <-w.changes():
			if w.counts(ctx, e) {
				settle.Reset(w.Settle)
			}
		case err := <-w.errors():
			if errors.Is(err, fsnotify.ErrEventOverflow) {
				settle.Reset(w.Settle) // something happened, nobody knows what
			} else {
				w.Say("watch: " + err.Error())
			}
		case <-settle.C:
			w.look(ctx)
		case <-every.C:
			w.look(ctx)
		}
	}
}

func (w *Watcher) changes() <-chan fsnotify.Event {
	if w.events == nil {
		return nil
	}
	return w.events.Events
}

func (w *Watcher) errors() <-chan error {
	if w.events == nil {
		return nil
	}
	return w.events.Errors
}

func (w *Watcher) look(ctx context.Context) {
	if err := w.Save(ctx); err != nil && ctx.Err() == nil {
		w.Say("no checkpoint: " + err.Error())
	}
}

// start watches all directories that are not ignored.
func (w *Watcher) start(ctx context.Context) error {
	events, err := fsnotify.NewWatcher()
	if err != nil {
		w.Say("file system events are not to be had (" + err.Error() + "); looking every " + w.Every.String())
		return nil //nolint:nilerr // it is said, and the clock does
	}
	w.events = events
	return w.add(ctx, ".")
}

// add watches a directory and what is below it, one level after the other.
func (w *Watcher) add(ctx context.Context, dir string) error {
	for level := []string{dir}; len(level) > 0; {
		ignored, err := w.Ignored(ctx, level)
		if err != nil {
			return err
		}
		var next []string
		for _, d := range level {
			if ignored[d] || w.watched[d] {
				continue
			}
			if !w.watch(d) {
				return nil
			}
			next = append(next, w.below(d)...)
		}
		level = next
	}
	return nil
}

// watch adds one directory. When the system's limit is reached it is said, and the clock takes over.
func (w *Watcher) watch(dir string) bool {
	err := w.events.Add(filepath.Join(w.Top, filepath.FromSlash(dir)))
	switch {
	case err == nil:
		w.watched[dir] = true
	case errors.Is(err, fs.ErrNotExist), errors.Is(err, fs.ErrPermission), errors.Is(err, syscall.ENOTDIR):
	default:
		w.Say("the system watches no more directories (" + err.Error() + "); looking every " + w.Every.String())
		w.events.Close() //nolint:errcheck // it is not used again
		w.events = nil
		return false
	}
	return true
}

// below lists the directories in a directory, less git's own and other repositories.
func (w *Watcher) below(dir string) (dirs []string) {
	entries, err := os.ReadDir(filepath.Join(w.Top, filepath.FromSlash(dir)))
	if err != nil {
		return nil // it went meanwhile
	}
	for _, e := range entries {
		if !e.IsDir() || e.Name() == ".git" {
			continue
		}
		at := e.Name()
		if dir != "." {
			at = dir + "/" + at
		}
		if _, err := os.Lstat(filepath.Join(w.Top, filepath.FromSlash(at), ".git")); err == nil {
			continue
		}
		dirs = append(dirs, at)
	}
	return dirs
}

// counts reports whether an event may be a change, and watches a new directory.
func (w *Watcher) counts(ctx context.Context, e fsnotify.Event) bool {
	if filepath.Base(e.Name) == ".git" || e.Op == fsnotify.Chmod && !exists(e.Name) {
		return false
	}
	rel, err := filepath.Rel(w.Top, e.Name)
	if err != nil {
		return true
	}
	rel = filepath.ToSlash(rel)
	if e.Op.Has(fsnotify.Remove) || e.Op.Has(fsnotify.Rename) {
		delete(w.watched, rel)
	}
	if info, err := os.Lstat(e.Name); err == nil && info.IsDir() && w.events != nil {
		if err := w.add(ctx, rel); err != nil {
			w.Say("watch: " + err.Error())
		}
	}
	return true
}

func exists(name string) bool {
	_, err := os.Lstat(name)
	return err == nil
}
