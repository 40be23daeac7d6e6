package cli

import (
	"context"

	"git-checkpoint/internal/ui/term"
)

// Main runs the program with args, without the program's name, on a terminal and returns its exit
// code. It leaves signals alone; a process that is nothing but this program uses App.Start.
func Main(ctx context.Context, terminal *term.Terminal, args []string, version string) int {
	app := &App{Terminal: terminal, Version: version, args: args}
	return app.main(ctx)
}
