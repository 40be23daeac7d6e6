package term

import (
	"fmt"
	"sync"
	"sync/atomic"
	"time"

	"github.com/vbauerster/mpb/v8"
	"github.com/vbauerster/mpb/v8/decor"
)

// Unit is what a Task counts.
type Unit uint8

// Things is the zero unit.
const (
	Things Unit = iota
	Bytes
)

// Task is something that may take long. Total may be 0 while it is not known.
type Task struct {
	Label string
	Unit  Unit
	Total int64
}

// Progress shows on stderr how far a task is, once it takes longer than a second; in a
// pipe and on a dumb terminal it shows nothing. All methods may be called at any time
// from any goroutine. Whoever writes to stderr finishes the progress first.
type Progress struct {
	terminal    *Terminal
	task        Task
	done, total atomic.Int64

	mutex    sync.Mutex // over what follows
	finished bool
	timer    *time.Timer
	stop     chan struct{} // closed to end the drawing
	drawn    chan struct{} // closed when the line is gone
}

const redrawEvery = 100 * time.Millisecond

// Progress begins a task. Finish must follow.
func (t *Terminal) Progress(task Task) *Progress {
	p := &Progress{terminal: t, task: task}
	p.total.Store(task.Total)
	if term, _ := t.LookupEnv("TERM"); !t.ErrTerminal || term == "dumb" {
		return p
	}
	p.mutex.Lock()
	defer p.mutex.Unlock()
	p.timer = time.AfterFunc(t.ProgressAfter, p.begin)
	return p
}

// Add counts n more as done. It is cheap enough for every file.
func (p *Progress) Add(n int64) { p.done.Add(n) }

// Expect adds n to the total, for tasks that learn it on the way.
func (p *Progress) Expect(n int64) { p.total.Add(n) }

// Finish takes the progress off the screen. Further calls do nothing.
func (p *Progress) Finish() {
	p.mutex.Lock()
	defer p.mutex.Unlock()
	if p.finished {
		return
	}
	p.finished = true
	if p.timer != nil {
		p.timer.Stop()
	}
	if p.stop != nil {
		close(p.stop)
		<-p.drawn
	}
}

func (p *Progress) begin() {
	p.mutex.Lock()
	defer p.mutex.Unlock()
	if p.finished { // between the timer and here
		return
	}
	p.stop, p.drawn = make(chan struct{}), make(chan struct{})
	go p.draw()
}

func (p *Progress) draw() {
	defer close(p.drawn)
	container := mpb.New(
		mpb.WithOutput(p.terminal.Err),
		mpb.WithWidth(p.terminal.Width()),
		mpb.WithAutoRefresh(),
		mpb.WithRefreshRate(redrawEvery),
	)
	// Total 0 at the start: otherwise the bar would end by itself when all is counted,
	// which may be before the task is over or the whole total is known.
	bar := container.New(0, p.filler(), mpb.BarFillerTrim(), mpb.BarRemoveOnComplete(),
		mpb.PrependDecorators(decor.Name(p.task.Label+" ")),
		mpb.AppendDecorators(decor.Any(p.numbers)))
	ticker := time.NewTicker(redrawEvery)
	defer ticker.Stop()
	for {
		bar.SetTotal(max(p.total.Load(), 0), false)
		bar.SetCurrent(p.done.Load())
		select {
		case <-ticker.C:
			continue
		case <-p.stop:
		}
		break
	}
	bar.Abort(true)
	container.Wait()
}

// filler is a bar when there is a total to fill, and nothing but numbers otherwise.
func (p *Progress) filler() mpb.BarFillerBuilder {
	if p.total.Load() <= 0 {
		return mpb.NopStyle()
	}
	return mpb.BarStyle()
}

// numbers reads "1200/3000 40%", or bytes with units; the ratio only with a total.
func (p *Progress) numbers(s decor.Statistics) string {
	amount := func(n int64) string { return fmt.Sprint(n) }
	if p.task.Unit == Bytes {
		amount = func(n int64) string { return fmt.Sprintf("% .1f", decor.SizeB1024(n)) }
	}
	if s.Total <= 0 {
		return " " + amount(s.Current)
	}
	return fmt.Sprintf(" %s/%s %3.0f%%", amount(s.Current), amount(s.Total), min(100*float64(s.Current)/float64(s.Total), 100))
}
