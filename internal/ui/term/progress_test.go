package term_test

import (
	"strings"
	"sync"
	"testing"
	"time"

	"git-checkpoint/internal/test/screentest"
	"git-checkpoint/internal/ui/term"
)

// shown waits until f shows text on stderr.
func shown(t *testing.T, f *screentest.Screen, text string) {
	t.Helper()
	for late := time.Now().Add(20 * time.Second); !strings.Contains(f.Stderr(), text); time.Sleep(time.Millisecond) {
		if time.Now().After(late) {
			t.Fatalf("never shown: %q, only %q", text, f.Stderr())
		}
	}
}

func TestProgressCounts(t *testing.T) {
	f := screentest.New()
	f.ProgressAfter = time.Millisecond
	p := f.Progress("Reading objects")
	p.Add(3)
	shown(t, f, "Reading objects  3")
	p.Add(197)
	shown(t, f, "Reading objects  200")
	p.Finish()
	after := f.Stderr()
	p.Finish()
	p.Add(1)
	time.Sleep(3 * term.RedrawEvery)
	if f.Stderr() != after || f.Stdout() != "" {
		t.Errorf("drawn after the end: %q", strings.TrimPrefix(f.Stderr(), after))
	}
}

// A line fits into what columns there are, so that it can be drawn over.
func TestProgressFits(t *testing.T) {
	f := screentest.New()
	f.ProgressAfter = time.Millisecond
	f.Environ = append(f.Environ, "COLUMNS=10")
	p := f.Progress("Reading")
	p.Add(5)
	shown(t, f, "\rReading  \x1b[K")
	p.Finish()
}

// A task that ends within the delay shows nothing. Neither does any task in a pipe or on a dumb
// terminal.
func TestProgressSilent(t *testing.T) {
	quick := screentest.New()
	p := quick.Progress("x")
	p.Add(1)
	p.Finish()
	pipe, dumb := screentest.NewPipes(""), screentest.New()
	dumb.Environ = []string{"TERM=dumb"}
	for _, f := range []*screentest.Screen{pipe, dumb} {
		f.ProgressAfter = time.Microsecond
		p := f.Progress("x")
		time.Sleep(2 * term.RedrawEvery)
		p.Add(1)
		p.Finish()
	}
	for _, f := range []*screentest.Screen{quick, pipe, dumb} {
		if f.Stderr() != "" {
			t.Errorf("shown %q", f.Stderr())
		}
	}
	if quick.ProgressAfter != time.Second {
		t.Errorf("shown after %v", quick.ProgressAfter)
	}
}

// Run with -race: many workers, and an end at any moment.
func TestProgressConcurrently(t *testing.T) {
	for wait := range 8 {
		f := screentest.New()
		f.ProgressAfter = 3 * time.Millisecond
		p := f.Progress("x")
		var workers sync.WaitGroup
		for range 8 {
			workers.Go(func() {
				for range 1000 {
					p.Add(1)
				}
			})
		}
		workers.Wait()
		time.Sleep(time.Duration(wait) * time.Millisecond)
		workers.Go(p.Finish)
		p.Finish()
		workers.Wait()
		if p.Done() != 8000 {
			t.Errorf("counted %d", p.Done())
		}
	}
}
