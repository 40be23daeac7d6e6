package cli

import (
	"bytes"
	"context"
	"io"
	"os"
	"time"

	"git-checkpoint/internal/mcp"
	"git-checkpoint/internal/term"
)

// MCPCmd is mcp.
type MCPCmd struct {
	Write bool `help:"Let clients roll back, undo and redo, by a plan that the person saw."`
}

// Help is the detail of mcp.
func (*MCPCmd) Help() string {
	return `
A server of the Model Context Protocol on standard input and output, for agents and desktop clients without hooks. It works in the directory where it was started, or in a root that the client names.`
}

// Run serves until the input ends.
func (c *MCPCmd) Run(ctx context.Context, app *App) error {
	dir, err := os.Getwd()
	if err != nil {
		return err
	}
	server := &mcp.Server{Version: app.Version, Dir: dir, Write: c.Write, Run: within(app)}
	return server.Serve(ctx, io.NopCloser(app.Terminal.In), closable{app.Terminal.Out})
}

type closable struct{ io.Writer }

// Close leaves the terminal's stream to the process.
func (closable) Close() error { return nil }

// within runs other command lines of this program, in a directory and off a terminal.
func within(a *App) mcp.Command {
	return func(ctx context.Context, dir string, args []string, stdin []byte) mcp.Result {
		var out, problems bytes.Buffer
		inner := &App{
			Terminal: &term.Terminal{In: bytes.NewReader(stdin), Out: &out, Err: &problems, Environ: a.Terminal.Environ, ProgressAfter: time.Hour},
			Version:  a.Version, args: args, dir: dir,
		}
		code := inner.main(ctx)
		return mcp.Result{Out: out.Bytes(), Err: problems.Bytes(), Code: code}
	}
}
