package watch

import (
	"context"
	"errors"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"
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
