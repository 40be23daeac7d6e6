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

// The units. Things, the zero value, are shown as plain numbers.
const (
	Things Unit = iota
	Bytes
)

// Task is something that may take long. Total is 0 if it is not known yet. Label must be ASCII.
type Task struct {
	Label string
	Unit  Unit
	Total int64
}

// Progress shows on stderr how far a task is, once it has taken longer than Terminal.ProgressAfter.
// In a pipe or on a dumb terminal it shows nothing. All methods may be called at any time and from
// any goroutine. Call Finish before writing anything else to stderr.
//
// A timer starts the drawing goroutine (begin), which redraws the line until Finish closes stop,
// then clears the line and closes drawn.
type Progress struct {
	terminal    *Terminal
	task        Task
	done, total atomic.Int64

	mutex    sync.Mutex // guards the fields below
	finished bool
	timer    *time.Timer
	stop     chan struct{} // closed to end the drawing; nil: it has not begun
	drawn    chan struct{} // closed when the line has been cleared
}

// redrawEvery is the interval between two drawings.
const redrawEvery = 100 * time.Millisecond

// Progress begins a task. The caller must call Finish.
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

// Add counts n more units as done. It is cheap enough to call for every file.
func (p *Progress) Add(n int64) { p.done.Add(n) }

// Expect adds n to the total, for tasks that learn it on the way.
func (p *Progress) Expect(n int64) { p.total.Add(n) }

// Finish removes the progress from the screen and returns when that is done. Further calls do
// nothing.
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

// begin starts the drawing, unless the task is finished by now.
func (p *Progress) begin() {
	p.mutex.Lock()
	defer p.mutex.Unlock()
	if p.finished { // Stop does not wait for a timer that has fired
		return
	}
	p.stop, p.drawn = make(chan struct{}), make(chan struct{})
	go p.draw()
}

// draw redraws the line until stop is closed.
func (p *Progress) draw() {
	defer close(p.drawn)
	ticker := time.NewTicker(redrawEvery)
	defer ticker.Stop()
	const clearRest = "\x1b[K"
	for {
		fmt.Fprint(p.terminal.Err, "\r", p.line(p.terminal.Width()-1), clearRest) // the terminal may wrap after the last column
		select {
		case <-ticker.C:
		case <-p.stop:
			fmt.Fprint(p.terminal.Err, "\r", clearRest)
			return
		}
	}
}

// leastBar is the width of the narrowest useful bar, in columns.
const leastBar = 10

// line returns the line in at most the given number of columns: "Reading objects [===>------]
// 1200/3000  40%". Bar and percentage need a total, and the bar enough room.
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

// cut shortens a line of ASCII. A line that wraps could not be overwritten.
func cut(line string, columns int) string { return line[:max(0, min(len(line), columns))] }

// amount returns a number in the task's unit.
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
