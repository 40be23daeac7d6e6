package cli

import (
	"bytes"
	"context"
	"io"
	"os"
	"slices"
	"time"

	"git-checkpoint/internal/agents/mcp"
	"git-checkpoint/internal/sys/mapped"
	"git-checkpoint/internal/ui/term"
)

// MCPCmd is "git checkpoint mcp". Package mcp implements the server; each of its tools is a command
// line of this program, which the function within runs in this process.
type MCPCmd struct {
	Write bool `help:"Let clients roll back, undo and redo, by a plan that the person has seen."`
}

// Run serves requests on stdin until it ends.
func (c *MCPCmd) Run(ctx context.Context, app *App) error {
	dir, err := os.Getwd()
	if err != nil {
		return err
	}
	server := &mcp.Server{Version: app.Version, Dir: dir, Write: c.Write, Run: runWithin(app)}
	return server.Serve(ctx, app.Terminal.In, app.Terminal.Out)
}

// runWithin returns a function that runs another command line of this program in this process: with an
// App of its own, in a directory, with buffers in place of the terminal. "mcp" and "web" use it.
func runWithin(a *App) mcp.Command {
	mapped.Never() // this process may run commands for days
	// git may have started a pager for the outer run, which has nothing to do with the buffers.
	environ := append(slices.Clone(a.Terminal.Environ), "GIT_PAGER_IN_USE=false")
	return func(ctx context.Context, dir string, args []string, stdin []byte) mcp.Result {
		var out bytes.Buffer
		// No stream is a terminal, so nothing is asked and answers are plain. ProgressAfter keeps
		// progress bars out of the error output. installSignals stays nil: ctx is cancelled by the outer run.
		inner := &App{
			Terminal: &term.Terminal{In: bytes.NewReader(stdin), Out: &out, Err: io.Discard, Environ: environ, ProgressAfter: time.Hour},
			Version:  a.Version, args: args, dir: dir,
		}
		code := inner.main(ctx)
		return mcp.Result{Out: out.Bytes(), Problem: inner.reported, Code: code}
	}
}
