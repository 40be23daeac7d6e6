package watch

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/fsnotify/fsnotify"
)

// saves counts the calls of Save, and lets a test wait for the next one however slow the machine
// is.
type saves struct {
	mu   sync.Mutex
	made chan struct{}
	said []string
	err  error
}

func (s *saves) save(context.Context) error { s.made <- struct{}{}; return s.err }

func (s *saves) say(text string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.said = append(s.said, text)
}

func start(t *testing.T, every time.Duration, ignored ...string) (*Watcher, *saves) {
	t.Helper()
	s := &saves{made: make(chan struct{}, 1000)}
	w := &Watcher{
		Top: t.TempDir(), Settle: 10 * time.Millisecond, Every: every, Save: s.save, Say: s.say,
		Ignored: func(_ context.Context, dirs []string) (map[string]bool, error) {
			is := map[string]bool{}
			for _, d := range dirs {
				for _, i := range ignored {
					is[d] = is[d] || d == i || strings.HasPrefix(d, i+"/")
				}
			}
			return is, nil
		},
	}
	for _, i := range ignored {
		if err := os.MkdirAll(filepath.Join(w.Top, i), 0o777); err != nil {
			t.Fatal(err)
		}
	}
	return w, s
}

func run(t *testing.T, w *Watcher) {
	t.Helper()
	ctx, cancel := context.WithCancel(context.Background())
	ended := make(chan error, 1)
	go func() { ended <- w.Run(ctx) }()
	t.Cleanup(func() {
		cancel()
		if err := <-ended; err != nil {
			t.Error(err)
		}
	})
}

func put(t *testing.T, w *Watcher, name string) {
	t.Helper()
	file := filepath.Join(w.Top, name)
	if err := os.MkdirAll(filepath.Dir(file), 0o777); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(file, []byte(name), 0o666); err != nil {
		t.Fatal(err)
	}
}

// A change anywhere leads to a save, also in a directory that was made later.
func TestChangesAreSeen(t *testing.T) {
	w, s := start(t, time.Hour)
	run(t, w)
	<-s.made // the first look
	for _, name := range []string{"a", "new/b", "new/deep/er/c", "new/b"} {
		put(t, w, name)
		<-s.made
	}
}

// A file that is always written, and files that are made one after the other, hold back no other; what was not quiet yet is saved when it is.
func TestAlwaysWritten(t *testing.T) {
	for _, name := range []func(int) string{func(int) string { return "log" }, func(i int) string { return fmt.Sprint("new", i) }} {
		w, s := start(t, time.Hour)
		w.Settle = 100 * time.Millisecond
		run(t, w)
		<-s.made
		put(t, w, "a")
		for i := 0; len(s.made) == 0; i++ {
			if i == 1000 {
				t.Fatal("nothing was saved while one file was written")
			}
			put(t, w, name(i))
			time.Sleep(10 * time.Millisecond)
		}
		<-s.made
		<-s.made // the last ones
	}
}

// Neither ignored directories nor .git are watched.
func TestIgnoredIsNotWatched(t *testing.T) {
	w, s := start(t, time.Hour, "node_modules", ".git")
	run(t, w)
	<-s.made
	put(t, w, "node_modules/x")
	put(t, w, ".git/index")
	put(t, w, "seen")
	<-s.made
	for dir := range w.watched {
		if strings.HasPrefix(dir, "node_modules") || strings.HasPrefix(dir, ".git") {
			t.Errorf("%s is watched", dir)
		}
	}
}

// Without events Save is called by the clock. If it fails, the error is reported and the watcher
// goes on.
func TestClockLooks(t *testing.T) {
	w, s := start(t, 5*time.Millisecond)
	s.err = errors.New("disk full")
	run(t, w)
	for range 3 {
		<-s.made
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	if len(s.said) == 0 || !strings.Contains(s.said[0], "disk full") {
		t.Errorf("said %q", s.said)
	}
}

// watching checks that exactly these directories are watched, beside the top.
func watching(t *testing.T, w *Watcher, want ...string) {
	t.Helper()
	want = append([]string{"."}, want...)
	if got := slices.Sorted(maps.Keys(w.watched)); !slices.Equal(got, want) {
		t.Errorf("watched are %q, not %q", got, want)
	}
	var names []string
	for _, n := range w.events.WatchList() {
		rel, err := filepath.Rel(w.Top, n)
		if err != nil {
			t.Error(err)
		}
		names = append(names, filepath.ToSlash(rel))
	}
	if slices.Sort(names); !slices.Equal(names, want) {
		t.Errorf("the system watches %q, not %q", names, want)
	}
}

// handle starts a Watcher without its loop: events are handled when the test says so.
func handle(t *testing.T) (*Watcher, func(fsnotify.Op, string)) {
	t.Helper()
	w, _ := start(t, time.Hour)
	w.watched = map[string]bool{}
	if err := w.start(t.Context()); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { w.events.Close() }) //nolint:errcheck // the test is over
	return w, func(op fsnotify.Op, name string) {
		w.counts(t.Context(), fsnotify.Event{Name: filepath.Join(w.Top, name), Op: op})
	}
}

// When a directory goes, by a removal or to another name, nothing below it counts as watched
// under the old name.
func TestMovedDirectory(t *testing.T) {
	w, event := handle(t)
	put(t, w, "a/deep/x")
	put(t, w, "ab/x")
	event(fsnotify.Create, "a")
	event(fsnotify.Create, "ab")
	watching(t, w, "a", "a/deep", "ab")
	if err := os.Rename(filepath.Join(w.Top, "a"), filepath.Join(w.Top, "b")); err != nil {
		t.Fatal(err)
	}
	event(fsnotify.Rename, "a")
	event(fsnotify.Create, "b")
	watching(t, w, "ab", "b", "b/deep")
	put(t, w, "a/deep/x")
	event(fsnotify.Create, "a")
	watching(t, w, "a", "a/deep", "ab", "b", "b/deep")
	if err := os.RemoveAll(filepath.Join(w.Top, "b")); err != nil {
		t.Fatal(err)
	}
	event(fsnotify.Remove, "b")
	watching(t, w, "a", "a/deep", "ab")
}

// A repository inside is not watched, whether it arrives as one or becomes one.
func TestNestedRepository(t *testing.T) {
	w, event := handle(t)
	put(t, w, "moved/.git/HEAD")
	put(t, w, "moved/src/x")
	event(fsnotify.Create, "moved")
	watching(t, w)
	put(t, w, "dir/made/src/x")
	event(fsnotify.Create, "dir")
	watching(t, w, "dir", "dir/made", "dir/made/src")
	put(t, w, "dir/made/.git/HEAD")
	event(fsnotify.Create, "dir/made/.git")
	watching(t, w, "dir")
	event(fsnotify.Create, ".git")
	watching(t, w, "dir")
}
