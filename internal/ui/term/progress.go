package term

import (
	"fmt"
	"sync"
	"sync/atomic"
	"time"
)

// Progress shows on stderr how much of a task is done, once it has taken longer than
// Terminal.ProgressAfter. In a pipe or on a dumb terminal it shows nothing. All methods may be
// called at any time and from any goroutine. Call Finish before writing anything else to stderr.
type Progress struct {
	done    atomic.Int64
	finish  func()         // closes stop, once
	stop    chan struct{}  // closed to end the drawing
	drawing sync.WaitGroup // ends when the line has been cleared
}

// redrawEvery is the interval between two drawings.
const redrawEvery = 100 * time.Millisecond

// Progress begins a task. Its label must be ASCII. The caller must call Finish.
func (t *Terminal) Progress(label string) *Progress {
	p := &Progress{stop: make(chan struct{})}
	p.finish = sync.OnceFunc(func() { close(p.stop) })
	if term, _ := t.LookupEnv("TERM"); t.ErrTerminal && term != "dumb" {
		p.drawing.Go(func() { p.draw(t, label) })
	}
	return p
}

// Add counts n more units as done. It is cheap enough to call for every file.
func (p *Progress) Add(n int64) { p.done.Add(n) }

// Finish removes the progress from the screen and returns when that is done. Further calls do
// nothing.
func (p *Progress) Finish() {
	p.finish()
	p.drawing.Wait()
}

// draw waits for the time after which progress is shown, and then redraws the line until stop is
// closed.
func (p *Progress) draw(t *Terminal, label string) {
	const clearRest = "\x1b[K"
	drawn := false
	for wait := t.ProgressAfter; ; wait = redrawEvery {
		select {
		case <-time.After(wait):
			// A line that wraps could not be overwritten, and the terminal may wrap after the last
			// column.
			line := fmt.Sprintf("%s  %d", label, p.done.Load())
			fmt.Fprint(t.Err, "\r", line[:max(0, min(len(line), t.Width()-1))], clearRest)
			drawn = true
		case <-p.stop:
			if drawn {
				fmt.Fprint(t.Err, "\r", clearRest)
			}
			return
		}
	}
}
