package attempt

import (
	"bytes"
	"cmp"
	"context"
	"io"
	"strings"
	"sync"

	"git-checkpoint/internal/core/checkpoint"
	"git-checkpoint/internal/sys/gather"
	"git-checkpoint/internal/verb/create"
	"git-checkpoint/internal/verb/inspect"
	"git-checkpoint/internal/verb/run"
)

// runAll runs the command in each attempt, at most Jobs at a time, with the same rules as
// `run`. A command that fails does not stop the others. It returns the first error.
func (f *forking) runAll(ctx context.Context) error {
	next := make(chan int)
	var workers sync.WaitGroup
	// Serialises the lines of several commands.
	var terminal sync.Mutex
	errs := make([]error, len(f.made))
	for range min(f.req.Jobs, len(f.made)) {
		workers.Go(func() {
			for i := range next {
				// Commands that were started end by the signal. No other one is started, and the
				// caller must be told that it did not run.
				if errs[i] = ctx.Err(); errs[i] == nil {
					errs[i] = f.runOne(ctx, f.made[i], &terminal)
				}
			}
		})
	}
	for i := range f.made {
		next <- i
	}
	close(next)
	workers.Wait()
	return cmp.Or(errs...)
}

// runOne runs the command in one attempt and records the result in p.
func (f *forking) runOne(ctx context.Context, p *place, terminal *sync.Mutex) error {
	to := f.req.IO
	// With several attempts, standard input belongs to none, and each line of output gets a
	// label.
	if len(f.made) > 1 {
		out, errOut := &labelled{to: to.Out, name: p.Name, lock: terminal}, &labelled{to: to.Err, name: p.Name, lock: terminal}
		defer out.end()
		defer errOut.end()
		to = inspect.IO{In: strings.NewReader(""), Out: out, Err: errOut, Color: to.Color}
	}
	args := gather.List(f.req.Command, func(arg string) string { return strings.ReplaceAll(arg, "{}", p.Name) })
	done, err := run.Do(ctx, p.s, run.Request{Create: create.Request{Session: string(p.Session)}, Command: args, IO: to})
	if done == nil {
		return err
	}
	p.Run = &Ran{Code: done.Code, Problem: done.Problem}
	if err != nil && p.Run.Problem == "" {
		p.Run.Code, p.Run.Problem = max(done.Code, 1), err.Error()
	}
	if done.Created != nil {
		p.Run.Created, p.Run.Label = done.Created.Record.ID, done.Created.Record.Label
		p.Current.ID, p.Current.Label = p.Run.Created, p.Run.Label
		p.Steps = 1
		if done.Before != nil {
			p.Steps++
		}
	}
	return checkpoint.Remember(p.s.Store, forkFile, p.Attempt) // compare shows the exit code
}

// labelled writes complete lines, each with the name of its attempt in front.
type labelled struct {
	to   io.Writer
	name string
	lock *sync.Mutex
	open []byte // start of a line whose end was not written yet
}

func (l *labelled) Write(p []byte) (int, error) {
	l.open = append(l.open, p...)
	whole := bytes.LastIndexByte(l.open, '\n') + 1
	if whole == 0 {
		return len(p), nil
	}
	var out bytes.Buffer
	for line := range bytes.Lines(l.open[:whole]) {
		out.WriteString(l.name + ": ")
		out.Write(line)
	}
	l.open = append([]byte(nil), l.open[whole:]...)
	l.lock.Lock()
	defer l.lock.Unlock()
	if _, err := l.to.Write(out.Bytes()); err != nil {
		return 0, err
	}
	return len(p), nil
}

// end writes the last line if it has no newline.
func (l *labelled) end() {
	if len(l.open) > 0 {
		l.Write([]byte("\n")) //nolint:errcheck // nobody is left to tell
	}
}
