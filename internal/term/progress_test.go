package term

import (
	"strings"
	"sync"
	"testing"
	"time"
)

// shown waits until f shows text on stderr.
func shown(t *testing.T, f *Fake, text string) {
	t.Helper()
	for late := time.Now().Add(20 * time.Second); !strings.Contains(f.Stderr(), text); time.Sleep(time.Millisecond) {
		if time.Now().After(late) {
			t.Fatalf("never shown: %q, only %q", text, f.Stderr())
		}
	}
}

func TestProgressCounts(t *testing.T) {
	f := NewFake()
	f.ProgressAfter = time.Millisecond
	p := f.Progress(Task{Label: "Reading objects", Total: 10})
	p.Add(3)
	shown(t, f, "Reading objects")
	shown(t, f, "3/10  30%")
	p.Expect(90)
	shown(t, f, "3/100   3%")
	p.Add(197) // more than expected is no reason to end
	shown(t, f, "200/100 100%")
	p.Finish()
	after := f.Stderr()
	p.Finish()
	p.Add(1)
	time.Sleep(3 * redrawEvery)
	if f.Stderr() != after || f.Stdout() != "" {
		t.Errorf("drawn after the end: %q", strings.TrimPrefix(f.Stderr(), after))
	}
}

func TestProgressBytes(t *testing.T) {
	f := NewFake()
	f.ProgressAfter = time.Millisecond
	known := f.Progress(Task{Label: "Sending", Unit: Bytes, Total: 4 << 20})
	known.Add(1 << 20)
	shown(t, f, "1.0 MiB/4.0 MiB  25%")
	known.Finish()
	open := f.Progress(Task{Label: "Receiving", Unit: Bytes})
	open.Add(1536)
	shown(t, f, "Receiving")
	shown(t, f, " 1.5 KiB")
	open.Finish()
	if strings.Contains(f.Stderr()[strings.Index(f.Stderr(), "Receiving"):], "%") {
		t.Error("a ratio of an unknown total")
	}
}

// A line fits into what columns there are, so that it can be drawn over.
func TestProgressFits(t *testing.T) {
	p := &Progress{terminal: &Terminal{}, task: Task{Label: "Reading"}}
	p.Add(5)
	p.Expect(10)
	for columns, want := range map[int]string{30: "Reading [=====-----] 5/10  50%", 20: "Reading 5/10  50%", 9: "Reading 5", 0: ""} {
		if got := p.line(columns); got != want {
			t.Errorf("%d columns: %q", columns, got)
		}
	}
}

// A task that ends within the delay shows nothing. Neither does any task in a pipe or on a dumb
// terminal.
func TestProgressSilent(t *testing.T) {
	quick := NewFake()
	p := quick.Progress(Task{Label: "x", Total: 1})
	p.Add(1)
	p.Finish()
	pipe, dumb := NewFakePipes(""), NewFake()
	dumb.Environ = []string{"TERM=dumb"}
	for _, f := range []*Fake{pipe, dumb} {
		f.ProgressAfter = time.Microsecond
		p := f.Progress(Task{Label: "x", Total: 1})
		time.Sleep(2 * redrawEvery)
		p.Add(1)
		p.Finish()
	}
	for _, f := range []*Fake{quick, pipe, dumb} {
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
		f := NewFake()
		f.ProgressAfter = 3 * time.Millisecond
		p := f.Progress(Task{Label: "x", Total: 8000})
		var workers sync.WaitGroup
		for range 8 {
			workers.Go(func() {
				for range 1000 {
					p.Add(1)
					p.Expect(1)
				}
			})
		}
		workers.Wait()
		time.Sleep(time.Duration(wait) * time.Millisecond)
		workers.Go(p.Finish)
		p.Finish()
		workers.Wait()
		if p.done.Load() != 8000 || p.total.Load() != 16000 {
			t.Errorf("counted %d of %d", p.done.Load(), p.total.Load())
		}
	}
}
