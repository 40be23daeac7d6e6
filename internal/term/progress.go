package term

import (
	"fmt"
	"strings"
	"sync"
	"sync/atomic"
	"time"
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
	ticker := time.NewTicker(redrawEvery)
	defer ticker.Stop()
	const clearRest = "\x1b[K"
	for {
		fmt.Fprint(p.terminal.Err, "\r", p.line(p.terminal.Width()-1), clearRest) // the last column may wrap
		select {
		case <-ticker.C:
		case <-p.stop:
			fmt.Fprint(p.terminal.Err, "\r", clearRest)
			return
		}
	}
}

// leastBar is the narrowest bar that says something.
const leastBar = 10

// line reads "Reading objects [===>------] 1200/3000  40%"; the bar and the ratio come with
// a total, and the bar only where there is room.
func (p *Progress) line(columns int) string {
	done, total := p.done.Load(), p.total.Load()
	if total <= 0 {
		return cut(p.task.Label+"  "+p.amount(done), columns)
	}
	share := min(float64(done)/float64(total), 1)
	numbers := fmt.Sprintf("%s/%s %3.0f%%", p.amount(done), p.amount(total), 100*share)
	if room := columns - len(p.task.Label) - len(numbers) - len(" [] "); room >= leastBar {
		filled := int(share * float64(room))
		bar := strings.Repeat("=", filled) + strings.Repeat("-", room-filled)
		return p.task.Label + " [" + bar + "] " + numbers
	}
	return cut(p.task.Label+" "+numbers, columns)
}

// cut shortens a line of ASCII: one that wraps could not be drawn over.
func cut(line string, columns int) string { return line[:max(0, min(len(line), columns))] }

func (p *Progress) amount(n int64) string {
	if p.task.Unit != Bytes || n < 1024 {
		return fmt.Sprint(n)
	}
	const units = "KMGTPE"
	size, unit := float64(n)/1024, 0
	for ; size >= 1024 && unit < len(units)-1; unit++ {
		size /= 1024
	}
	return fmt.Sprintf("%.1f %ciB", size, units[unit])
}
