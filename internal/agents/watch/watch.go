// Package watch makes a checkpoint when files in a worktree have changed and then been quiet for
// a while. Each file is timed by itself: one that is always written holds back no other for long. It serves
// agents and editors that have no hooks.
//
// A Watcher uses file system events only to know when to look, never to know what changed: Save
// captures the worktree and finds out. So a lost event loses nothing; the change is found the
// next time, at the latest after Every. If the system gives no events, or no more of them, the
// Watcher works by the clock alone.
//
// Directories that git ignores and nested repositories are not watched. Run is the place to
// start.
package watch

import (
	"context"
	"errors"
	"io/fs"
	"maps"
	"os"
	"path"
	"path/filepath"
	"slices"
	"strings"
	"syscall"
	"time"

	"github.com/fsnotify/fsnotify"

	"git-checkpoint/internal/git"
)

// Watcher watches one worktree. All exported fields must be set before Run.
type Watcher struct {
	Top    string        // of the worktree, absolute
	Own    *git.OwnDirs  // the git directories, which may be in the worktree
	Settle time.Duration // how long files must be quiet before Save is called
	Every  time.Duration // how often Save is called in any case

	// Ignored returns those of dirs that git ignores. Paths are relative to Top, with slashes.
	Ignored func(ctx context.Context, dirs []string) (map[string]bool, error)
	// Save makes a checkpoint if something changed. An error is reported with Say, and Run goes
	// on.
	Save func(ctx context.Context) error
	Say  func(string) // shows a message to the user

	// events is the zero Watcher if nothing can be watched: its channels are never ready, and only
	// the clock is used.
	events *fsnotify.Watcher
	// watched has the directories that events come from, relative to Top. inotify and the like do
	// not watch a directory recursively, so each one is added by itself.
	watched map[string]bool
}

// Run saves once, and then after changes and every w.Every, until ctx ends. It returns an error
// only if it cannot start; an error of Save is reported and Save is tried again the next time.
func (w *Watcher) Run(ctx context.Context) error {
	w.watched = map[string]bool{}
	if err := w.start(ctx); err != nil {
		return err
	}
	if w.events.Events != nil {
		defer w.events.Close() //nolint:errcheck // the process ends
	}
	w.saveOnce(ctx)
	settle := time.NewTimer(w.Settle)
	settle.Stop()
	pending := pending{}
	touched := func(file string) {
		if len(pending) == 0 {
			settle.Reset(w.Settle)
		}
		pending[file] = time.Now()
	}
	every := time.NewTicker(w.Every)
	defer every.Stop()
	for {
		select {
		case <-ctx.Done():
			return nil
		case e := <-w.events.Events:
			if w.counts(ctx, e) {
				touched(e.Name)
			}
		case err := <-w.events.Errors:
			if errors.Is(err, fsnotify.ErrEventOverflow) {
				touched(w.Top) // events were dropped, so anything may have changed
			} else {
				w.Say("watch: " + err.Error())
			}
		case <-settle.C:
			now := time.Now()
			if !pending.due(w.Settle).After(now) {
				maps.DeleteFunc(pending, func(_ string, last time.Time) bool { return !last.Add(w.Settle).After(now) })
				w.saveOnce(ctx)
			}
			if len(pending) > 0 {
				settle.Reset(time.Until(pending.due(w.Settle)))
			}
		case <-every.C:
			w.saveOnce(ctx)
		}
	}
}

// pending has the time of the last event of each file that changed since it was saved.
type pending map[string]time.Time

// due returns when to save: once all files were quiet for settle, or one was for twice as long.
func (p pending) due(settle time.Duration) time.Time {
	times := slices.Collect(maps.Values(p))
	all, one := slices.MaxFunc(times, time.Time.Compare).Add(settle), slices.MinFunc(times, time.Time.Compare).Add(2*settle)
	if one.Before(all) {
		return one
	}
	return all
}

// saveOnce saves once. An error because ctx ended is not reported.
func (w *Watcher) saveOnce(ctx context.Context) {
	if err := w.Save(ctx); err != nil && ctx.Err() == nil {
		w.Say("no checkpoint: " + err.Error())
	}
}

// start watches all directories that are not ignored.
func (w *Watcher) start(ctx context.Context) error {
	events, err := fsnotify.NewWatcher()
	if err != nil {
		w.Say("file system events are not available (" + err.Error() + "); checking every " + w.Every.String())
		w.events = &fsnotify.Watcher{}
		return nil //nolint:nilerr // a message was shown, and the clock alone is enough
	}
	w.events = events
	return w.add(ctx, ".")
}

// add watches a directory and those below it. It goes level by level, so that Ignored, which runs
// git, is called once for each level and not for each directory.
func (w *Watcher) add(ctx context.Context, dir string) error {
	for level := []string{dir}; len(level) > 0; {
		ignored, err := w.Ignored(ctx, level)
		if err != nil {
			return err
		}
		var next []string
		for _, d := range level {
			if ignored[d] || w.watched[d] || w.nested(d) {
				continue
			}
			if !w.watch(d) {
				return nil
			}
			next = append(next, w.subdirectories(d)...)
		}
		level = next
	}
	return nil
}

// watch adds one directory. It returns false if the system watches no more directories, for example
// because fs.inotify.max_user_watches is reached. All events are given up then, since half of them
// would not be reliable, and only the clock is used. A directory that has vanished or cannot be
// read is skipped.
func (w *Watcher) watch(dir string) bool {
	err := w.events.Add(filepath.Join(w.Top, filepath.FromSlash(dir)))
	switch {
	case err == nil:
		w.watched[dir] = true
	case errors.Is(err, fs.ErrNotExist), errors.Is(err, fs.ErrPermission), errors.Is(err, syscall.ENOTDIR):
	default:
		w.Say("the system can watch no more directories (" + err.Error() + "); checking every " + w.Every.String())
		w.events.Close() //nolint:errcheck // it is not used again
		w.events = &fsnotify.Watcher{}
		return false
	}
	return true
}

// subdirectories returns the directories directly in dir, except the git directory.
func (w *Watcher) subdirectories(dir string) (dirs []string) {
	entries, err := os.ReadDir(filepath.Join(w.Top, filepath.FromSlash(dir)))
	if err != nil {
		return nil // it was removed in the meantime
	}
	for _, e := range entries {
		if !e.IsDir() || e.Name() == ".git" || w.Own.HasAt(filepath.Join(w.Top, filepath.FromSlash(dir), e.Name())) {
			continue
		}
		at := e.Name()
		if dir != "." {
			at = dir + "/" + at
		}
		dirs = append(dirs, at)
	}
	return dirs
}

// nested reports whether a directory is a repository of its own.
func (w *Watcher) nested(dir string) bool {
	at := filepath.Join(w.Top, filepath.FromSlash(dir), ".git")
	return dir != "." && exists(at) && !w.Own.HasAt(at)
}

// forget stops watching a directory and those below it. A directory that was moved is watched under
// its old name otherwise, even where it is outside of the worktree.
func (w *Watcher) forget(dir string) {
	if !w.watched[dir] { // a file, or a directory with nothing watched below it
		return
	}
	below := dir + "/"
	for d := range w.watched {
		if d != dir && !strings.HasPrefix(d, below) {
			continue
		}
		delete(w.watched, d)
		w.events.Remove(filepath.Join(w.Top, filepath.FromSlash(d))) //nolint:errcheck // it may be gone
	}
}

// counts reports whether an event may be a change of a file, and starts to watch a new directory.
// Events of the git directory itself do not count, nor does the Chmod event of a file that is gone: deleting a
// file changes its attributes too. A directory in which a .git appears is a nested repository from
// then on; that counts.
func (w *Watcher) counts(ctx context.Context, e fsnotify.Event) bool {
	rel, err := filepath.Rel(w.Top, e.Name)
	if err != nil {
		return true
	}
	rel = filepath.ToSlash(rel)
	if path.Base(rel) == ".git" {
		repo := path.Dir(rel)
		if repo == "." || !w.watched[repo] || !exists(e.Name) || w.Own.HasAt(e.Name) {
			return false
		}
		w.forget(repo)
		return true
	}
	if w.Own.HasAt(e.Name) || e.Op == fsnotify.Chmod && !exists(e.Name) {
		return false
	}
	if e.Op.Has(fsnotify.Remove) || e.Op.Has(fsnotify.Rename) {
		w.forget(rel)
	}
	if info, err := os.Lstat(e.Name); err == nil && info.IsDir() {
		if err := w.add(ctx, rel); err != nil {
			w.Say("watch: " + err.Error())
		}
	}
	return true
}

// exists reports whether something is at a path. Links are not followed.
func exists(name string) bool {
	_, err := os.Lstat(name)
	return err == nil
}
