package web

import (
	"context"
	"fmt"
	"net/http"
	"os"
	"path/filepath"
	"sync"
	"time"

	"github.com/fsnotify/fsnotify"
)

// Waits of live.
const (
	settled = 100 * time.Millisecond // one create changes several refs
	polled  = 2 * time.Second        // where directories cannot be watched
)

// live tells readers that refs changed. It watches directories, because git replaces the files in
// them; what changed is for the page to find out.
type live struct {
	mu      sync.Mutex
	readers map[chan struct{}]bool
}

func (l *live) subscribe() (changes chan struct{}, leave func()) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.readers == nil {
		l.readers = map[chan struct{}]bool{}
	}
	changes = make(chan struct{}, 1)
	l.readers[changes] = true
	return changes, func() {
		l.mu.Lock()
		defer l.mu.Unlock()
		delete(l.readers, changes)
	}
}

func (l *live) tell() {
	l.mu.Lock()
	defer l.mu.Unlock()
	for reader := range l.readers {
		select {
		case reader <- struct{}{}:
		default: // it has not heard of the last change yet
		}
	}
}

// watch watches directories until the context ends.
func (l *live) watch(ctx context.Context, dirs []string) {
	watcher, err := fsnotify.NewWatcher()
	if err == nil {
		for _, dir := range dirs {
			err = watchBelow(watcher, dir)
			if err != nil {
				_ = watcher.Close() // it is replaced by polling
				break
			}
		}
	}
	if err != nil {
		go l.poll(ctx, dirs)
		return
	}
	go l.follow(ctx, watcher)
}

func (l *live) follow(ctx context.Context, watcher *fsnotify.Watcher) {
	defer watcher.Close() //nolint:errcheck // the process ends
	quiet := time.NewTimer(settled)
	for {
		select {
		case <-ctx.Done():
			return
		case e := <-watcher.Events:
			if e.Has(fsnotify.Create) {
				_ = watchBelow(watcher, e.Name) // a session that was started; a file is none
			}
			quiet.Reset(settled)
		case _, open := <-watcher.Errors: // events were lost
			if !open {
				return
			}
			quiet.Reset(settled)
		case <-quiet.C:
			l.tell()
		}
	}
}

// watchBelow watches a directory and those in it. One that is not there is created by git later, and
// seen in the directory above it.
func watchBelow(watcher *fsnotify.Watcher, dir string) error {
	info, err := os.Lstat(dir)
	if err != nil || !info.IsDir() {
		return nil //nolint:nilerr // it is gone again
	}
	if err := watcher.Add(dir); err != nil {
		return err
	}
	entries, err := os.ReadDir(dir)
	if err != nil {
		return nil //nolint:nilerr // as above
	}
	for _, e := range entries {
		if e.IsDir() {
			if err := watchBelow(watcher, filepath.Join(dir, e.Name())); err != nil {
				return err
			}
		}
	}
	return nil
}

// poll compares the times of directories.
func (l *live) poll(ctx context.Context, dirs []string) {
	last := timesOf(dirs)
	for ctx.Err() == nil {
		select {
		case <-ctx.Done():
			return
		case <-time.After(polled):
		}
		if now := timesOf(dirs); now != last {
			last = now
			l.tell()
		}
	}
}

func timesOf(dirs []string) string {
	var all []byte
	for _, dir := range dirs {
		_ = filepath.WalkDir(dir, func(path string, d os.DirEntry, err error) error {
			if err != nil || !d.IsDir() {
				return nil //nolint:nilerr // it is gone again
			}
			if info, err := d.Info(); err == nil {
				all = fmt.Appendf(all, "%s %d\n", path, info.ModTime().UnixNano())
			}
			return nil
		})
	}
	return string(all)
}

// events sends a line whenever something changed, until the reader leaves.
func (s *Server) events(w http.ResponseWriter, r *http.Request) {
	changes, leave := s.live.subscribe()
	defer leave()
	w.Header().Set("Content-Type", "text/event-stream")
	send := func(text string) bool {
		_, err := fmt.Fprint(w, text)
		return err == nil && http.NewResponseController(w).Flush() == nil
	}
	if !send("retry: 2000\n\n") {
		return
	}
	for {
		select {
		case <-r.Context().Done():
			return
		case <-changes:
			if !send("data: changed\n\n") {
				return
			}
		case <-time.After(time.Minute): // so that a reader that is gone is noticed
			if !send(": still here\n\n") {
				return
			}
		}
	}
}
