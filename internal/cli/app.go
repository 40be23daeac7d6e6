package cli

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"slices"
	"strings"
	"time"

	"github.com/alecthomas/kong"

	"git-checkpoint/internal/checkpoint"
	"git-checkpoint/internal/cli/answer"
	"git-checkpoint/internal/inspect"
	"git-checkpoint/internal/interop"
	"git-checkpoint/internal/render"
	"git-checkpoint/internal/setup"
	"git-checkpoint/internal/term"
)

// App is one run of the program, as its commands see it.
type App struct {
	Terminal *term.Terminal
	Version  string
	Between  func(step string) // see checkpoint.Options; only tests set it

	args     []string
	dir      string                 // where the repository is looked for; empty: the working directory
	heed     func() <-chan struct{} // has signals cancel the run; nil: somebody else sees to it
	model    *kong.Application
	view     render.View // of stdout
	errStyle render.Style
	color    string
	json     bool
	quiet    bool
	fixed    time.Time // what GIT_CHECKPOINT_NOW says; zero: the clock runs
}

// look decides how things are shown, by what each stream leads to. A pager that git
// has started (git -p checkpoint …) is a person's screen too.
func (a *App) look(color string) {
	when, err := render.ParseColorWhen(color)
	if err != nil || color == "" {
		when = render.ColorAuto
	}
	t := a.Terminal
	emulation, _ := t.LookupEnv("TERM")
	noColor, _ := t.LookupEnv("NO_COLOR")
	paged, _ := t.LookupEnv("GIT_PAGER_IN_USE")
	screen := render.Screen{Terminal: t.OutTerminal || isTrue(paged), Term: emulation, NoColor: noColor}
	a.view = render.View{Style: when.Style(screen), Now: a.now()}
	if screen.Terminal {
		a.view.Layout, a.view.Width = render.Aligned, t.Width()
	}
	screen.Terminal = t.ErrTerminal
	a.errStyle = when.Style(screen)
}

func isTrue(value string) bool {
	return slices.Contains([]string{"1", "true", "yes", "on"}, strings.ToLower(value))
}

func (a *App) setClock() error {
	value, set := a.Terminal.LookupEnv("GIT_CHECKPOINT_NOW")
	if !set || value == "" {
		return nil
	}
	fixed, err := time.Parse(time.RFC3339Nano, value)
	if err != nil {
		return usageError(fmt.Sprintf("GIT_CHECKPOINT_NOW is %q", value), "it takes a time such as 2026-11-20T09:43:11Z")
	}
	if fixed.Unix() < 0 { // git's commits have no such dates
		return usageError(fmt.Sprintf("GIT_CHECKPOINT_NOW is %q", value), "it takes a time from 1970 on")
	}
	a.fixed = fixed
	return nil
}

func (a *App) now() time.Time {
	if !a.fixed.IsZero() {
		return a.fixed
	}
	return time.Now()
}

// serve opens the repository for as long as do runs.
func (a *App) serve(ctx context.Context, do func(*checkpoint.Service) error) (err error) {
	options := checkpoint.Options{Dir: a.dir, Env: a.Terminal.Environ, Now: a.now, Warn: a.warn, MirrorPaths: interop.MirrorPaths, Between: a.Between}
	if a.Terminal.Interactive() {
		options.Asking = checkpoint.AskOnTerminal
		if a.view.Layout == render.Aligned {
			options.Names = checkpoint.NamesOfAny
		}
	}
	heeded := a.heeding()
	s, err := checkpoint.Open(ctx, options)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, s.Close()) }()
	<-heeded
	a.lookConfigured(s)
	err = do(s)
	for _, w := range interop.MirrorAll(context.WithoutCancel(ctx), s) {
		a.warn(w)
	}
	return err
}

// heeding begins to heed signals, where that is this program's to do.
func (a *App) heeding() <-chan struct{} {
	if a.heed != nil {
		return a.heed()
	}
	at := make(chan struct{})
	close(at)
	return at
}

// lookConfigured takes colours as git is configured to, unless the line says how.
func (a *App) lookConfigured(s *checkpoint.Service) {
	if colorWish(a.args) != "" {
		return
	}
	for _, key := range []string{"color.checkpoint", "color.ui"} {
		if value, set := setup.Setting(s, key); set {
			a.look(value)
			return
		}
	}
}

// give writes an answer to stdout in the form that was asked for.
func (a *App) give(found answer.Answer) error { return a.giveTo(a.Terminal.Out, found) }

func (a *App) giveTo(w io.Writer, found answer.Answer) error {
	if a.json {
		return write(w, found.JSON)
	}
	return a.tell(w, found)
}

// giveMany gives answers that come one after the other: a person sees each at once, a
// program many together. Flush gives the last ones.
func (a *App) giveMany() (give func(answer.Answer) error, flush func() error) {
	if a.Terminal.OutTerminal {
		return a.give, func() error { return nil }
	}
	g := &gathered{to: a.Terminal.Out}
	return func(found answer.Answer) error { return a.giveTo(g, found) }, g.flush
}

// confirmed gives an answer that only confirms: the quiet do without it, programs not.
func (a *App) confirmed(found answer.Answer) error {
	if a.quiet && !a.json {
		return nil
	}
	return a.give(found)
}

// tell writes an answer for people.
func (a *App) tell(w io.Writer, found answer.Answer) error {
	return write(w, func(w io.Writer) error { return found.Text(w, a.view) })
}

// write writes at once: nothing is half-shown when the answer cannot be made. A long one
// is written as it comes.
func write(w io.Writer, show func(io.Writer) error) error {
	g := gathered{to: w}
	if err := show(&g); err != nil {
		return err
	}
	return g.flush()
}

// gathered is an answer that is being made.
type gathered struct {
	to     io.Writer
	buffer bytes.Buffer
}

// maxGathered is how much of an answer is kept until more of it is there.
const maxGathered = 64 << 10

func (g *gathered) Write(p []byte) (int, error) {
	if g.buffer.Len()+len(p) > maxGathered {
		if err := g.flush(); err != nil {
			return 0, err
		}
	}
	return g.buffer.Write(p)
}

func (g *gathered) flush() error {
	if _, err := g.buffer.WriteTo(g.to); err != nil {
		return fmt.Errorf("writing the answer: %w", err)
	}
	return nil
}

// page shows, through the pager where there is a person, what show writes.
func (a *App) page(ctx context.Context, s *checkpoint.Service, show func(io.Writer) error) error {
	var configured *string
	if value, ok := setup.Setting(s, "core.pager"); ok {
		configured = &value
	}
	return a.Terminal.Page(ctx, configured, show)
}

// git is where git's own output goes when it is part of an answer on w.
func (a *App) git(w io.Writer) inspect.IO {
	to := inspect.IO{Out: w, Err: a.Terminal.Err, Color: "never"}
	if a.view.Style == render.Coloured {
		to.Color = "always"
	}
	return to
}

// warn says something on stderr that is not the answer.
func (a *App) warn(message string) {
	if !a.quiet {
		_ = render.Warn(a.Terminal.Err, a.errStyle, message) // nobody is left to tell
	}
}

// say confirms on stdout that something was done.
func (a *App) say(format string, values ...any) error {
	if a.quiet {
		return nil
	}
	return a.view.Line(a.Terminal.Out, render.Span{Role: render.Success, Text: "✓ "},
		render.Span{Text: fmt.Sprintf(format, values...)})
}
