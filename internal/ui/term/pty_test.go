//go:build !windows

package term_test

import (
	"context"
	"errors"
	"io"
	"os"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/creack/pty"

	"git-checkpoint/internal/ui/term"
)

// screen is a real terminal: what is typed at it and what it shows.
type screen struct {
	t       *testing.T
	keys    *os.File
	device  *os.File
	mutex   sync.Mutex
	shown   strings.Builder
	changed chan struct{}
}

func newScreen(t *testing.T) *screen {
	t.Helper()
	keys, device, err := pty.Open()
	if err != nil {
		t.Skipf("no pseudo-terminal: %v", err)
	}
	if err := pty.Setsize(device, &pty.Winsize{Rows: 24, Cols: 61}); err != nil {
		t.Fatal(err)
	}
	s := &screen{t: t, keys: keys, device: device, changed: make(chan struct{}, 1)}
	t.Cleanup(func() {
		_ = device.Close()
		_ = keys.Close()
	})
	go s.follow()
	return s
}

func (s *screen) follow() {
	buffer := make([]byte, 4096)
	for {
		n, err := s.keys.Read(buffer)
		s.mutex.Lock()
		s.shown.Write(buffer[:n])
		s.mutex.Unlock()
		select {
		case s.changed <- struct{}{}:
		default:
		}
		if err != nil {
			return
		}
	}
}

func (s *screen) text() string {
	s.mutex.Lock()
	defer s.mutex.Unlock()
	return s.shown.String()
}

// waitFor returns when text is shown, and fails after a time no machine needs.
func (s *screen) waitFor(text string) {
	s.t.Helper()
	late := time.After(20 * time.Second)
	for !strings.Contains(s.text(), text) {
		select {
		case <-s.changed:
		case <-late:
			s.t.Fatalf("never shown: %q, only %q", text, s.text())
		}
	}
}

func (s *screen) terminal(environ ...string) *term.Terminal {
	return term.New(s.device, s.device, s.device, append([]string{"TERM=xterm", "PATH=" + os.Getenv("PATH")}, environ...))
}

func TestNewOnATerminal(t *testing.T) {
	s := newScreen(t)
	if !s.terminal().Interactive() {
		t.Error("a terminal is not interactive")
	}
	if got := s.terminal().Width(); got != 61 {
		t.Errorf("width %d, want the device's", got)
	}
	if got := s.terminal("COLUMNS=100").Width(); got != 100 {
		t.Errorf("width %d, want that of COLUMNS", got)
	}
	r, w, err := os.Pipe()
	if err != nil {
		t.Fatal(err)
	}
	defer r.Close()
	defer w.Close()
	for _, term := range []*term.Terminal{term.New(r, s.device, s.device, nil), term.New(s.device, w, s.device, nil), term.New(s.device, s.device, w, nil)} {
		if term.Interactive() {
			t.Error("interactive with a pipe for one stream")
		}
	}
}

func TestConfirmOnATerminal(t *testing.T) {
	s := newScreen(t)
	if _, err := io.WriteString(s.keys, "y\n"); err != nil {
		t.Fatal(err)
	}
	got, err := s.terminal().Confirm(context.Background(), "Continue?")
	if !got || err != nil {
		t.Errorf("got %v, %v", got, err)
	}
	s.waitFor("Continue? [y/N] ")
}

func TestInterruptOnATerminal(t *testing.T) {
	s := newScreen(t)
	ctx, cancel := context.WithCancel(context.Background())
	go func() {
		s.waitFor("[y/N] ")
		cancel()
	}()
	if _, err := s.terminal().Confirm(ctx, "Continue?"); !errors.Is(err, context.Canceled) {
		t.Errorf("got %v", err)
	}
	s.waitFor("[y/N] \r\n")
	_, _ = io.WriteString(s.keys, "\n") // ends the read that stayed behind
}

func TestProgressOnATerminal(t *testing.T) {
	s := newScreen(t)
	term := s.terminal()
	term.ProgressAfter = time.Millisecond
	p := term.Progress("Capturing files")
	p.Add(1200)
	s.waitFor("Capturing files  1200")
	p.Finish()
	_, _ = io.WriteString(s.device, "done\n")
	s.waitFor("done")
	// The line is cleared: nothing of it is left beside "done".
	if !strings.HasSuffix(s.text(), "\r\x1b[Kdone\r\n") {
		t.Errorf("the line was left behind: %q", s.text())
	}
}

// A pager started for real: it gets the terminal as its stdout.
func TestPageOnATerminal(t *testing.T) {
	s := newScreen(t)
	err := s.terminal("GIT_PAGER=test -t 1 && sed s/^/paged:/").Page(context.Background(), nil, func(w io.Writer) error {
		_, err := io.WriteString(w, "text\n")
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	s.waitFor("paged:text\r\n")
}
