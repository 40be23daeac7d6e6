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

// settled is how long refs must be unchanged before pages are told, because one create changes
// several refs. polled is the interval of poll.
const (
	settled = 100 * time.Millisecond
	polled  = 2 * time.Second
)

// live tells open pages that refs have changed; the script of the page then asks for what is new.
// Every checkpoint, rollback or pin changes a ref, so there is nothing else to watch.
//
// It watches directories rather than files, because git replaces a ref file by renaming another one
// over it.
type live struct {
	mu sync.Mutex
	// readers has one channel per open page, with room for one notice.
	readers map[chan struct{}]bool
}

// subscribe returns a channel that receives a value after a change, and a function to end that.
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

// tell notifies all readers without waiting for any of them.
func (l *live) tell() {
	l.mu.Lock()
	defer l.mu.Unlock()
	for reader := range l.readers {
		select {
		case reader <- struct{}{}:
		default: // the last notice has not been read yet, and covers this change
		}
	}
}

// watch watches the directories until ctx ends. If they cannot be watched, for example because the
// limit of inotify watches is reached, it polls them.
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

// follow tells readers after a series of events has ended.
func (l *live) follow(ctx context.Context, watcher *fsnotify.Watcher) {
	defer watcher.Close() //nolint:errcheck // the process ends
	quiet := time.NewTimer(settled)
	for {
		select {
		case <-ctx.Done():
			return
		case e := <-watcher.Events:
			if e.Has(fsnotify.Create) {
				_ = watchBelow(watcher, e.Name) // a new session is a new directory; for a file this does nothing
			}
			quiet.Reset(settled)
		case _, open := <-watcher.Errors: // the queue overflowed and events were lost: treat it as a change
			if !open {
				return
			}
			quiet.Reset(settled)
		case <-quiet.C:
			l.tell()
		}
	}
}

// watchBelow watches a directory and all below it. If it does not exist, that is no error: git
// creates it later, which is an event of the directory above.
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

// poll compares the modification times of the directories every polled.
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

// timesOf lists all directories below dirs with their modification times. Creating, replacing or
// deleting a ref changes that of its directory.
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

// events is the stream of server-sent events that an open page listens to. It sends "changed" after
// each change, and a comment every minute: if that cannot be written, the reader is gone and no
// longer keeps the server alive.
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
