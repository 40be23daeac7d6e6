package cli

import (
	"bufio"
	"bytes"
	"context"
	"fmt"
	"io"
	"slices"
	"strings"
	"time"

	"github.com/alecthomas/kong"

	"git-checkpoint/internal/answer"
	"git-checkpoint/internal/core/checkpoint"
	"git-checkpoint/internal/core/clearance"
	"git-checkpoint/internal/format/render"
	"git-checkpoint/internal/git"
	"git-checkpoint/internal/ui/cli/usage"
	"git-checkpoint/internal/ui/term"
	"git-checkpoint/internal/verb/inspect"
	"git-checkpoint/internal/verb/interop"
)

// App is one run of the program: the terminal, the parsed global flags, and how output is rendered.
// kong passes it to the Run method of every command.
type App struct {
	Terminal *term.Terminal
	Version  string // what "git checkpoint version" prints
	// Between is called between the steps that must survive a kill, so that a test can end the
	// process there. See checkpoint.Options.
	Between func(step string)

	args []string // the arguments without the program's name
	dir  string   // where the search for the repository starts; empty means the working directory
	// installSignals handles signals from its call on. It is nil when the caller handles signals itself: tests,
	// and commands such as "web" that must finish what they have begun.
	installSignals func()
	model          *kong.Application // the grammar that the arguments were parsed with: one command, or all of them
	// view is how values are rendered on stdout, errStyle how text is coloured on stderr.
	view     render.View
	errStyle render.Style
	// json and quiet are the flags of these names: answers and errors are printed as JSON, and
	// confirmations and warnings not at all.
	json, quiet bool
	verbose     bool              // --verbose: answers have labels and ids
	fixed       time.Time         // the time that GIT_CHECKPOINT_NOW sets for tests; zero means the clock
	reported    *checkpoint.Error // the error that was printed, for a run within another one; nil: none
	// typed is set for a command line that was typed into a chat: it collects the answers, whose text is
	// laid out as for a person, and the error is not printed.
	typed *[]answer.Answer
	asks  bool // a plan waits for a confirmation, which a chat asks for
}

// look chooses colours and layout for stdout and stderr from the value of --color or of a git
// setting ("auto", "always", "never"). Both depend on whether the stream is a terminal. stdout also
// counts as one when git has started a pager for it (git -p checkpoint list): git tells so in
// GIT_PAGER_IN_USE.
func (a *App) look(color string) {
	const chatWidth = 100 // the width of an answer in columns; a chat has no terminal to ask
	t := a.Terminal
	emulation, _ := t.LookupEnv("TERM")
	noColor, _ := t.LookupEnv("NO_COLOR")
	paged, _ := t.LookupEnv("GIT_PAGER_IN_USE")
	byGit := slices.Contains([]string{"1", "true", "yes", "on"}, strings.ToLower(paged))
	screen := render.Screen{Terminal: t.OutTerminal || byGit, Term: emulation, NoColor: noColor}
	a.view = render.View{Style: screen.Style(color), Now: a.currentTime(), Verbose: a.verbose}
	if screen.Terminal {
		a.view.Layout, a.view.Width = render.Aligned, t.Width()
	}
	screen.Terminal = t.ErrTerminal
	a.errStyle = screen.Style(color)
	if a.typed != nil {
		a.view = render.View{Layout: render.Aligned, Width: chatWidth, Now: a.currentTime(), Clock: true}
	}
}

// setClock fixes the time to GIT_CHECKPOINT_NOW, if that is set. Tests need ids and dates that do
// not change.
func (a *App) setClock() error {
	value, set := a.Terminal.LookupEnv("GIT_CHECKPOINT_NOW")
	if !set || value == "" {
		return nil
	}
	fixed, err := time.Parse(time.RFC3339Nano, value)
	if err != nil {
		return usage.Error(fmt.Sprintf("GIT_CHECKPOINT_NOW is %q", value), "it must be a time such as 2026-11-20T09:43:11Z")
	}
	if fixed.Unix() < 0 { // git cannot store dates before 1970
		return usage.Error(fmt.Sprintf("GIT_CHECKPOINT_NOW is %q", value), "it must be a time from 1970 or later")
	}
	a.fixed = fixed
	return nil
}

// currentTime is the current time, or the one that setClock fixed.
func (a *App) currentTime() time.Time {
	if !a.fixed.IsZero() {
		return a.fixed
	}
	return time.Now()
}

// serve calls do with the Service of the repository. A command whose Run has no parameter for a
// Service calls it, because it checks its flags first or works without a repository too.
func (a *App) serve(ctx context.Context, do func(*checkpoint.Service) error) error {
	s, err := a.open(ctx)
	if err != nil {
		return err
	}
	return a.close(ctx, s, do(s))
}

// open opens the repository. From here on signals cancel the run, and colours follow git's
// configuration.
func (a *App) open(ctx context.Context) (*checkpoint.Service, error) {
	options := checkpoint.Options{Dir: a.dir, Env: a.Terminal.Environ, Now: a.currentTime, Warn: a.warn, MirrorPaths: interop.MirrorPaths, TagRule: clearance.TagRule, Between: a.Between}
	// Where a person types, gpg may ask for a passphrase, and a number may also stand for a
	// discarded checkpoint. A script must not depend on either.
	if a.Terminal.Interactive() {
		options.MayAsk = true
		if a.view.Layout == render.Aligned {
			options.Names = checkpoint.NamesOfAny
		}
	}
	s, err := checkpoint.Open(ctx, options)
	if err != nil {
		return nil, err
	}
	if a.installSignals != nil { // before anything may be written
		a.installSignals()
	}
	a.lookConfigured(s.Repo)
	return s, nil
}

// close closes what open returned after a command that ended with err. Mirrors of the sessions that
// it wrote to are brought up to date first, even when it failed or was interrupted.
func (a *App) close(ctx context.Context, s *checkpoint.Service, err error) error {
	ctx = context.WithoutCancel(ctx)
	a.warnAll(interop.MirrorAll(ctx, s))
	s.Close()
	return s.Rules.OrFetch(ctx, err)
}

// lookConfigured applies color.checkpoint, else color.ui, unless --color was given.
func (a *App) lookConfigured(repo *git.Repo) {
	if usage.Color(a.args) != "" {
		return
	}
	for _, key := range []string{"color.checkpoint", "color.ui"} {
		if value, set := repo.Config.Get(key); set {
			a.look(value)
			return
		}
	}
}

// give writes an answer to stdout, as JSON with --json, else as text.
func (a *App) give(found answer.Answer) error { return a.giveTo(a.Terminal.Out, found) }

// giveUnless is give for what a verb returned with an error.
func (a *App) giveUnless(err error, found answer.Answer) error {
	if err != nil {
		return err
	}
	return a.give(found)
}

// giveTo is give for another writer, such as a pager.
func (a *App) giveTo(w io.Writer, found answer.Answer) error {
	return write(w, func(w io.Writer) error { return a.show(w, found) })
}

// confirmed is give for an answer that only confirms what was done: --quiet suppresses it, but not
// with --json, because a program that reads the output expects it.
func (a *App) confirmed(found answer.Answer) error {
	if a.quiet && !a.json {
		return nil
	}
	return a.give(found)
}

// confirmUnless is confirmed for what a verb returned with an error.
func (a *App) confirmUnless(err error, found answer.Answer) error {
	if err != nil {
		return err
	}
	return a.confirmed(found)
}

// tell writes an answer as text, also with --json: for questions to a person.
func (a *App) tell(w io.Writer, found answer.Answer) error {
	return write(w, func(w io.Writer) error { return answer.Text(w, a.view, found) })
}

// show writes an answer as JSON with --json, else as text.
func (a *App) show(w io.Writer, found answer.Answer) error {
	if a.json {
		return answer.JSON(w, found)
	}
	if a.typed != nil {
		*a.typed = append(*a.typed, found)
	}
	return answer.Text(w, a.view, found)
}

// write calls show and writes what it produced to w. The beginning is held back until show returns,
// so that an answer that fails early leaves no half of it on the screen.
func write(w io.Writer, show func(io.Writer) error) error {
	out := held(w)
	if err := show(out); err != nil {
		return err
	}
	return out.Flush()
}

// held returns a writer to w that holds 64 KiB back.
func held(w io.Writer) *bufio.Writer { return bufio.NewWriterSize(answerWriter{w}, 64<<10) }

// answerWriter says in an error what was written.
type answerWriter struct{ to io.Writer }

func (w answerWriter) Write(p []byte) (int, error) {
	n, err := w.to.Write(p)
	if err != nil {
		err = fmt.Errorf("writing the answer: %w", err)
	}
	return n, err
}

// giveLong is give for an answer that may be long: at a terminal, more than a screen goes through the pager.
// s may be nil if there is no repository.
func (a *App) giveLong(ctx context.Context, repo *git.Repo, found answer.Answer) error {
	if !a.Terminal.OutTerminal || a.json {
		return a.give(found)
	}
	return a.long(ctx, repo, func(w io.Writer) error { return a.show(w, found) })
}

// long writes what show writes to stdout, or to the pager if it does not fit on the screen.
func (a *App) long(ctx context.Context, repo *git.Repo, show func(io.Writer) error) error {
	var text bytes.Buffer
	if err := show(&text); err != nil {
		return err
	}
	to := func(w io.Writer) error {
		_, err := answerWriter{w}.Write(text.Bytes())
		return err
	}
	if a.Terminal.OutTerminal && bytes.Count(text.Bytes(), []byte("\n")) >= a.Terminal.Height() {
		return a.page(ctx, repo, to)
	}
	return to(a.Terminal.Out)
}

// page runs show with a writer that leads to the user's pager on a terminal, else to stdout.
func (a *App) page(ctx context.Context, repo *git.Repo, show func(io.Writer) error) error {
	var configured *string
	if repo != nil {
		if value, ok := repo.Config.Get("core.pager"); ok {
			configured = &value
		}
	}
	return a.Terminal.Page(ctx, configured, show)
}

// git returns the streams for a git command whose output is part of an answer on w. git sees a pipe
// instead of the terminal, so it is told whether to colour.
func (a *App) git(w io.Writer) inspect.IO {
	to := inspect.IO{Out: w, Err: a.Terminal.Err, Color: "never"}
	if a.view.Style == render.Coloured {
		to.Color = "always"
	}
	return to
}

// sideStreams returns the streams for commands whose output is printed besides the answer. With --json
// stdout is for the answer alone, and they write to stderr.
func (a *App) sideStreams() inspect.IO {
	to := inspect.IO{In: a.Terminal.In, Out: a.Terminal.Out, Err: a.Terminal.Err}
	if a.json {
		to.Out = a.Terminal.Err
	}
	return to
}

// warn prints a warning on stderr, unless --quiet was given.
func (a *App) warn(message string) {
	if !a.quiet {
		_ = render.Warn(a.Terminal.Err, a.errStyle, message) // if stderr cannot be written, nobody can be told
	}
}

// warnAll is warn for several warnings.
func (a *App) warnAll(messages []string) {
	for _, m := range messages {
		a.warn(m)
	}
}

// say prints a line with a check mark on stdout: what was done. --quiet suppresses it.
func (a *App) say(format string, values ...any) error {
	if a.quiet {
		return nil
	}
	return a.view.Line(a.Terminal.Out, render.Span{Role: render.Success, Text: "✓ "},
		render.Span{Text: fmt.Sprintf(format, values...)})
}
