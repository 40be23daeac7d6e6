// Package cli owns the command line: its grammar, the help, what is asked and
// confirmed, and which exit code an error gets. One file per command holds its flags,
// its help and a short Run. It refuses to decide anything about checkpoints, which is
// for package checkpoint, and it never exits: that is for main.
package cli

import (
	"context"
	"errors"
	"slices"
	"syscall"

	"github.com/alecthomas/kong"

	"git-checkpoint/internal/checkpoint"
	"git-checkpoint/internal/render"
	"git-checkpoint/internal/term"
)

// Main runs the program with args in a terminal and returns its exit code.
func Main(ctx context.Context, terminal *term.Terminal, args []string, version string) int {
	app := &App{Terminal: terminal, Version: version, args: args}
	return app.main(ctx)
}

func (a *App) main(ctx context.Context) int {
	err := a.run(ctx)
	if err == nil {
		return 0
	}
	var code exitCode
	if errors.As(err, &code) {
		return int(code)
	}
	if unheard(err) {
		return 128 + int(syscall.SIGPIPE)
	}
	kind := checkpoint.KindOf(err)
	if ctx.Err() != nil {
		kind = checkpoint.KindInterrupt
	}
	if kind != checkpoint.KindNothing || !a.quiet || a.json {
		a.report(kind, err)
	}
	return codeOf(kind)
}

func (a *App) run(ctx context.Context) error {
	// How an error looks depends on this, so it is read before anything can go wrong; a
	// bad value is noticed when the line is parsed.
	a.look(colorWish(a.args))
	parsed, err := a.parse(ctx)
	if err != nil {
		return a.unparsed(err)
	}
	if err := a.setClock(); err != nil {
		return err
	}
	a.look(a.color)
	return parsed.Run()
}

// parse reads the line with as little of the grammar as it needs, and with all of it
// where the rest of the commands matters: for help and for what is wrong.
func (a *App) parse(ctx context.Context) (*kong.Context, error) {
	if len(a.args) == 1 && (a.args[0] == "--version" || a.args[0] == "-v") {
		a.args = []string{"version"}
	}
	if part := narrowed(a.args); part != nil {
		parser, err := kong.New(part, options(ctx, a)...)
		if err != nil {
			return nil, err
		}
		a.model = parser.Model
		if parsed, err := parse(parser, a.args); err == nil {
			return parsed, nil
		}
	}
	parser, err := kong.New(&grammar{}, options(ctx, a)...)
	if err != nil {
		return nil, err
	}
	a.model = parser.Model
	return parse(parser, a.args)
}

func options(ctx context.Context, a *App) []kong.Option {
	return []kong.Option{
		kong.Name(programName),
		kong.Description(summary),
		kong.NoDefaultHelp(),
		kong.Bind(a),
		kong.BindTo(ctx, (*context.Context)(nil)),
		kong.ExplicitGroups(groups()),
		kong.Vars{"program": programName},
	}
}

// programName is what people type.
const programName = "git checkpoint"

// report says on stderr what went wrong, as JSON when the answer would have been.
func (a *App) report(kind checkpoint.Kind, err error) {
	p := render.Problem{Kind: string(kind), Message: err.Error()}
	var known *checkpoint.Error
	if errors.As(err, &known) {
		p.Hints = known.Hints
	}
	if kind == checkpoint.KindInterrupt && known == nil {
		p.Message = "interrupted"
	}
	// There is nobody left to tell that this could not be written.
	if a.json {
		_ = p.JSON(a.Terminal.Err)
		return
	}
	_ = p.Text(a.Terminal.Err, a.errStyle)
}

// wantsJSON looks for --json before the line is parsed, because an error in it is to
// be JSON too.
func wantsJSON(args []string) bool {
	if i := slices.Index(args, "--"); i >= 0 {
		args = args[:i]
	}
	return slices.Contains(args, "--json")
}
