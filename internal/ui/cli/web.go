package cli

import (
	"bufio"
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"net/url"
	"os"
	"os/signal"
	"path/filepath"
	"runtime"
	"strings"
	"syscall"
	"time"

	"git-checkpoint/internal/core/checkpoint"
	"git-checkpoint/internal/core/clearance"
	"git-checkpoint/internal/ui/cli/usage"
	"git-checkpoint/internal/ui/web"
	"git-checkpoint/internal/verb/inspect"
	"git-checkpoint/internal/verb/transfer"
)

// WebCmd is "git checkpoint web": it serves pages about the job to the browser, or writes them into
// one file. Package web draws the pages.
type WebCmd struct {
	sessionFlag
	Port       int    `placeholder:"<n>" help:"Port on 127.0.0.1; default: any free one."`
	NoOpen     bool   `help:"Print the address, but open no browser."`
	Write      bool   `help:"Let the page save, pin, roll back, revert, undo, redo and promote; it shows each plan first."`
	Output     string `with:"force,yes,no-contents" placeholder:"<file>" complete:"file" help:"Write the page to a file that needs no server, and exit; - means standard output."`
	Force      bool   `help:"With --output: replace a file that is not such a page."`
	Yes        bool   `short:"y" help:"With --output: write without asking, even what is private."`
	NoContents bool   `help:"With --output: leave out the contents of files, state and outputs."`
}

// Run serves the pages until it is interrupted, or writes the file.
func (c *WebCmd) Run(ctx context.Context, app *App) error {
	switch {
	case c.Output == "" && c.NoContents:
		return usage.Error("--no-contents needs --output")
	case c.Output == "" && (c.Force || c.Yes):
		return usage.Error("--force and --yes need --output")
	case c.Port < 0 || c.Port > 65535:
		return usage.Error("--port must be a number from 1 to 65535")
	}
	// Session may be empty; the server then shows the session that other commands would use.
	server := &web.Server{Open: app.serve, Session: c.Session, Now: app.currentTime}
	if c.Output != "" {
		return app.serve(ctx, func(s *checkpoint.Service) error { return c.write(ctx, app, s, server) })
	}
	return c.serve(ctx, app, server)
}

// serve starts the server, prints its address, opens the browser, and prints a new address whenever
// the user presses Enter: each works once.
func (c *WebCmd) serve(ctx context.Context, app *App, server *web.Server) error {
	ctx, stop := signal.NotifyContext(ctx, os.Interrupt, syscall.SIGTERM, syscall.SIGHUP)
	defer stop()
	app.installSignals = nil // Ctrl+C must end the server, but not a rollback that it has begun
	var top string
	err := app.serve(ctx, func(s *checkpoint.Service) error {
		top = s.Repo.WorkTree
		// git keeps refs in one of these directories, depending on its ref format.
		server.Refs = []string{filepath.Join(s.Repo.CommonDir, "refs"), filepath.Join(s.Repo.CommonDir, "reftable")}
		if c.Session == "" {
			return nil
		}
		_, err := checkpoint.ChosenState(ctx, s.Sessions, c.Session) // a page that only says that it does not exist is of no use
		return err
	})
	if err != nil {
		return err
	}
	run := runWithin(app)
	server.Read = func(ctx context.Context, args ...string) web.Result { return web.Result(run(ctx, top, args, nil)) }
	if c.Write {
		server.Write = server.Read
	}
	l, err := server.Listen(ctx, c.Port)
	if err != nil {
		return err
	}
	if err := app.say("%s", server.Address()); err != nil {
		return err
	}
	if !c.NoOpen {
		door, err := c.open(ctx, app, server)
		if err != nil {
			app.warn("no browser could be started; open the address yourself")
		}
		shut := time.AfterFunc(web.DoorLife, door)
		defer door()
		defer shut.Stop()
	}
	if app.Terminal.Interactive() {
		// A read from the terminal cannot be interrupted, so this goroutine is left behind when the
		// server ends.
		go func() {
			for lines := bufio.NewScanner(app.Terminal.In); lines.Scan() && ctx.Err() == nil; {
				_, _ = fmt.Fprintln(app.Terminal.Out, server.Address()) // if stdout cannot be written, nobody can be told
			}
		}()
	}
	return server.Serve(ctx, l)
}

// open opens the user's browser with git's own web--browse, at a file that leads to the server. shut
// removes that file; it may be called more than once. Without a display git would start a text browser
// that takes over the terminal, so it is called only with a display or with web.browser set.
func (c *WebCmd) open(ctx context.Context, app *App, server *web.Server) (shut func(), err error) {
	shut = func() {}
	err = app.serve(ctx, func(s *checkpoint.Service) error {
		if err := hasBrowser(s.Rules); err != nil {
			return err
		}
		dir, err := s.Repo.Dir()
		var door string
		if err == nil {
			door, err = server.Door(dir)
		}
		if err != nil { // the repository can only be read
			door, err = server.Door(os.TempDir())
		}
		if err != nil {
			return err
		}
		shut = func() { os.Remove(door) } //nolint:errcheck // its address has expired by itself
		file := url.URL{Scheme: "file", Path: "/" + strings.TrimPrefix(filepath.ToSlash(door), "/")}
		_, err = s.Repo.Output(ctx, "web--browse", file.String())
		return err
	})
	return shut, err
}

// hasBrowser returns an error if git would start no browser, or one in the terminal.
func hasBrowser(s *checkpoint.Rules) error {
	_, chosen := s.Repo.Config.Get("web.browser")
	if !chosen && runtime.GOOS == "linux" && s.Settings.Getenv("DISPLAY") == "" && s.Settings.Getenv("WAYLAND_DISPLAY") == "" {
		return errors.New("there is no graphical display")
	}
	return nil
}

// write writes the file, after the secret scanner has passed what it contains. A failure leaves no
// half of a file and keeps an older one.
func (c *WebCmd) write(ctx context.Context, app *App, s *checkpoint.Service, server *web.Server) error {
	t, err := inspect.ReadTimeline(ctx, s.Sessions, c.Session)
	if err == nil {
		err = c.destination(app).Check(web.IsFile)
	}
	if err != nil {
		return err
	}
	sending := clearance.Sending{To: c.Output}
	for _, step := range t.Steps {
		sending.Labels = append(sending.Labels, clearance.Holder{Commit: step.Commit, Label: step.Label})
	}
	contents := web.WithoutContents
	if !c.NoContents { // the file leaves the repository like a push does, so it passes the same gate
		contents, sending.Tips = web.WithContents, web.Tips(t)
	}
	private, err := clearance.ToFile(ctx, s, sending, web.Tips(t), app.agreeing(c.Yes, "Write it?"))
	if err != nil {
		return err
	}
	write := func(w io.Writer) error { return server.WriteFile(ctx, s, t, contents, w) }
	if c.NoContents { // only what is written is looked through
		var page bytes.Buffer
		if err := write(&page); err != nil {
			return err
		}
		if err := clearance.PageMayLeave(ctx, s, c.Output, page.String(), web.Tips(t)); err != nil {
			return err
		}
		write = func(w io.Writer) error { _, err := page.WriteTo(w); return err }
	}
	to := c.destination(app)
	to.Private = private
	if _, err = to.Write(ctx, web.IsFile, write); err != nil || c.Output == "-" {
		return err
	}
	return app.say("Written: %s", c.Output)
}

// destination returns where the file goes.
func (c *WebCmd) destination(app *App) transfer.Destination {
	return transfer.Destination{Path: c.Output, Out: app.Terminal.Out, Force: c.Force}
}
