// Package cli is the command line of git-checkpoint. It parses arguments, prints help, asks for
// confirmation, shows answers and maps errors to exit codes. The work on checkpoints is done by the
// verb packages (create, rollback, travel and so on) that it calls.
//
// Each command has a file of its own with a struct XxxCmd: the fields are its flags and arguments
// (kong struct tags), and Run does the work. Its long help text is in help. A typical Run turns the
// flags into a request, calls one verb with the Service of the repository, and hands the result to
// App.give as an answer (package answer), which renders it as text or JSON.
//
// Start reading at App.Start (process.go) and App.main (this file), then grammar.go, which lists
// all commands, and one short command such as pin.go. Package cli/usage parses the arguments and
// explains them. Nothing in this package calls os.Exit; only package main does.
package cli

import (
	"context"
	"errors"
	"reflect"
	"runtime/debug"
	"syscall"

	"github.com/alecthomas/kong"

	"git-checkpoint/internal/core/checkpoint"
	"git-checkpoint/internal/format/render"
	"git-checkpoint/internal/ui/cli/usage"
	"git-checkpoint/internal/verb/create"
)

// main runs the command line and turns its error into an exit code. It also prints the error,
// unless the code says that there is nothing more to say: an exitCode means that the answer has
// been printed already.
func (a *App) main(ctx context.Context) int {
	// Most runs are short and end before a collection pays off. With 300 the first collection
	// happens at 12 MiB instead of 4, and the heap may grow to four times of what is in use. A
	// large capture lowers it, for the rest of one command.
	debug.SetGCPercent(300)
	err := a.run(ctx)
	if err == nil {
		return 0
	}
	// An exitCode has nothing to print.
	var code exitCode
	if errors.As(err, &code) {
		return int(code)
	}
	// The reader of stdout went away, as with "| head". Exit like a program that SIGPIPE killed,
	// and print no error.
	if unheard(err) {
		return 128 + int(syscall.SIGPIPE)
	}
	kind := checkpoint.KindOf(err)
	// Whatever failed after a signal failed because of it.
	if ctx.Err() != nil {
		kind = checkpoint.KindInterrupt
	}
	// With --quiet, "nothing to do" is only an exit code.
	if kind != checkpoint.KindNothing || !a.quiet || a.json {
		a.report(kind, err)
	}
	return codeOf(kind)
}

// run parses the arguments and runs the command that they name.
func (a *App) run(ctx context.Context) error {
	// An error in the arguments is printed in colour too, so --color is looked up before they are
	// parsed. A bad value of --color is reported by the parser below.
	a.look(usage.Color(a.args))
	parsed, err := a.parse(ctx)
	if err != nil {
		a.json = usage.JSON(a.args)
		help, brief, err := usage.Explain(err, a.model, a.args)
		if help != nil {
			return a.help(ctx, help, brief || help == a.model.Node)
		}
		return err
	}
	color := ""
	for _, flag := range parsed.Flags() {
		switch flag.Name {
		case "color":
			color = flag.Target.String()
		case "json":
			a.json = flag.Target.Bool()
		case "quiet":
			a.quiet = flag.Target.Bool()
		case "verbose":
			a.verbose = flag.Target.Bool()
		}
	}
	if err := a.setClock(); err != nil {
		return err
	}
	a.look(color)
	// kong calls open for a command whose Run has a parameter for a Service.
	var served *checkpoint.Service
	open := func() (_ *checkpoint.Service, err error) {
		served, err = a.open(ctx)
		return served, err
	}
	if err := parsed.BindToProvider(open); err != nil {
		return err
	}
	if err = parsed.Run(); served != nil {
		err = a.close(ctx, served, err)
	}
	return err
}

// parse parses the arguments. It tries a grammar of the one command that they name first, because
// building the whole grammar takes a third of the start-up time. If that fails, or if the command
// needs the others (help, completion), it parses with the whole grammar, so that errors and
// suggestions know every command. It leaves the grammar that was used in a.model.
func (a *App) parse(ctx context.Context) (*kong.Context, error) {
	// git's own commands accept these flags, so people type them here too.
	if len(a.args) == 1 && (a.args[0] == "--version" || a.args[0] == "-v") {
		a.args = []string{"version"}
	}
	// An error here is not reported: the whole grammar below finds it again and explains it better.
	if part := narrowed(a.args); part != nil {
		parser, err := newParser(ctx, a, part)
		if err != nil {
			return nil, err
		}
		a.model = parser.Model
		if parsed, err := usage.Parse(parser, a.args); err == nil {
			return parsed, nil
		}
	}
	parser, err := newParser(ctx, a, &grammar{})
	if err != nil {
		return nil, err
	}
	a.model = parser.Model
	return usage.Parse(parser, a.args)
}

// newParser returns a parser for a grammar. The bindings are what kong passes to the Run methods:
// the App and the context.
func newParser(ctx context.Context, a *App, grammar any) (*kong.Kong, error) {
	const programName = "git checkpoint" // the command as people type it. git finds the executable git-checkpoint
	parser, err := kong.New(grammar,
		kong.Name(programName),
		kong.Description(summary),
		kong.NoDefaultHelp(),
		kong.Bind(a),
		kong.BindTo(ctx, (*context.Context)(nil)),
		kong.ExplicitGroups(groups()),
		kong.KindMapper(reflect.String, kong.MapperFunc(verbatim)),
		kong.TypeMapper(reflect.TypeFor[create.Assign](), kong.MapperFunc(assign)),
	)
	if err != nil {
		return nil, err
	}
	return parser, describe(parser.Model.Node)
}

// report prints an error with its hints on stderr, as JSON when --json was given.
func (a *App) report(kind checkpoint.Kind, err error) {
	p := render.Problem{Kind: string(kind), Message: checkpoint.MessageOf(err), Hints: checkpoint.HintsOf(err)}
	a.reported = &checkpoint.Error{Kind: kind, Message: p.Message, Hints: p.Hints}
	if a.typed != nil {
		return
	}
	// If stderr cannot be written, there is nowhere left to say so.
	if a.json {
		_ = p.JSON(a.Terminal.Err)
		return
	}
	_ = p.Text(a.Terminal.Err, a.errStyle)
}
