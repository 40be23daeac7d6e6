package cli

import (
	"context"
	"errors"
	"fmt"
	"os"
	"runtime"
	"slices"
	"strconv"

	"git-checkpoint/internal/answer"
	"git-checkpoint/internal/core/checkpoint"
	"git-checkpoint/internal/format/render"
	"git-checkpoint/internal/sys/command"
	"git-checkpoint/internal/ui/cli/usage"
	"git-checkpoint/internal/ui/pick"
	"git-checkpoint/internal/ui/term"
	"git-checkpoint/internal/verb/inspect"
)

// PickCmd is "git checkpoint pick": it prints the id of the checkpoint that a person chose, for use
// in other commands. Package pick draws the list and the preview on the whole screen; package term
// asks line by line where that is not possible.
type PickCmd struct {
	sessionFlag
}

// Run lets a person choose and prints the id on stdout.
func (c *PickCmd) Run(ctx context.Context, app *App, s *checkpoint.Service) error {
	id, err := pickOne(ctx, app, s.Sessions, c.Session, "Which checkpoint?", nil)
	if err != nil {
		return err
	}
	_, err = fmt.Fprintln(app.Terminal.Out, id)
	return err
}

// pickedID is the placeholder for the id of the checkpoint under the cursor in a preview's command
// line. No argument of a process can contain a NUL byte.
const pickedID = "\x00"

// pickOne lets a person choose from the live, valid checkpoints of a session, the newest first, and
// returns the id. plan is a command line of this program with pickedID in it, whose output becomes
// the first preview; nil means none.
func pickOne(ctx context.Context, a *App, s *checkpoint.Sessions, session, question string, plan []string) (string, error) {
	found, err := inspect.List(ctx, s, inspect.ListRequest{Session: session, Hidden: inspect.HiddenCounted, Detail: inspect.DetailRows})
	if err != nil {
		return "", err
	}
	var items []inspect.Item
	var of string
	for _, listing := range found {
		of = string(listing.Session)
		items = append(items, slices.DeleteFunc(listing.Items, func(i inspect.Item) bool { return !i.Valid })...)
	}
	if len(items) == 0 {
		return "", checkpoint.Failure(checkpoint.KindNotFound, "`git checkpoint save` makes one", "there is no checkpoint to choose from")
	}
	view := a.view // it is for stdout, but the list is drawn on stderr
	view.Layout, view.Width, view.Style = render.Aligned, a.Terminal.Width(), a.errStyle
	ids, keys, lines := answer.Choices(items, view)
	var chosen int
	// The whole screen needs real files to read keys from and to draw on; a test or a dumb terminal
	// has none, and is asked line by line.
	if in, out, ok := screenOf(a.Terminal); ok {
		list := pick.List{Question: question, Views: previews(a, ids, of, plan), Keys: keys, Lines: func(width int) []string {
			view.Width = width
			_, _, lines := answer.Choices(items, view)
			return lines
		}}
		chosen, err = pick.Choose(ctx, list, in, out, a.Terminal.Environ)
	} else {
		chosen, err = a.Terminal.Choose(ctx, question, keys, lines)
	}
	switch {
	case errors.Is(err, term.ErrNotInteractive):
		return "", usage.Error("no checkpoint was named, and there is no terminal to ask on", "name one; `git checkpoint list` shows them")
	case errors.Is(err, pick.ErrInterrupted):
		return "", &checkpoint.Error{Kind: checkpoint.KindInterrupt, Message: "interrupted"}
	case err != nil:
		return "", unchosen(err)
	}
	return ids[chosen], nil
}

// screenOf returns the streams to use for the whole screen, and whether the terminal can be
// controlled. The list goes to stderr, because stdout may be a pipe: show "$(git checkpoint pick)".
func screenOf(t *term.Terminal) (in, out *os.File, ok bool) {
	emulation, _ := t.LookupEnv("TERM")
	in, fromFile := t.In.(*os.File)
	out, toFile := t.Err.(*os.File)
	obeys := emulation != "dumb" && (emulation != "" || runtime.GOOS == "windows")
	return in, out, fromFile && toFile && t.InTerminal && t.ErrTerminal && obeys
}

// previews are the views of a checkpoint beside the list. Each runs this program again as a
// process, so that a preview is exactly what the command prints, and can be cancelled when the
// cursor moves on. GIT_PAGER_IN_USE makes the process format for a terminal of that width although
// it writes to a pipe.
func previews(a *App, ids []string, session string, plan []string) []pick.View {
	const longestPreview = 1 << 20 // bounds, in bytes, what is read of a command's output for a preview; nobody scrolls further
	self, err := os.Executable()
	ask := func(line ...string) func(context.Context, int, int) (string, error) {
		return func(ctx context.Context, item, width int) (string, error) {
			if err != nil {
				return "", err
			}
			words := slices.Clone(line)
			for i, word := range words {
				if word == pickedID {
					words[i] = ids[item]
				}
			}
			env := append(slices.Clone(a.Terminal.Environ), "GIT_PAGER_IN_USE=1", "COLUMNS="+strconv.Itoa(width))
			return command.Beginning(ctx, longestPreview, env, self, words...)
		}
	}
	views := []pick.View{
		{Key: "i", Name: "info", About: "show it", Show: ask("show", pickedID, "--session", session)},
		{Key: "f", Name: "files", About: "what it changed", Show: ask("show", pickedID, "--session", session, "-p")},
		{Key: "d", Name: "diff", About: "from it to the files as they are now", Show: ask("diff", pickedID, "--session", session, "-p")},
		{Key: "s", Name: "state", About: "from it to now: state, outputs, files, commits", Show: ask("diff", pickedID, "--session", session)},
	}
	if plan != nil {
		views = slices.Insert(views, 0, pick.View{Key: "p", Name: "plan", About: "what the rollback would do", Show: ask(plan...)})
	}
	return views
}
