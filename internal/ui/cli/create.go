package cli

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"reflect"
	"slices"
	"strings"

	"git-checkpoint/internal/answer"
	"git-checkpoint/internal/core/checkpoint"
	"git-checkpoint/internal/format/name"
	"git-checkpoint/internal/format/record"
	"git-checkpoint/internal/git"
	"git-checkpoint/internal/ui/cli/usage"
	"git-checkpoint/internal/verb/create"
	"git-checkpoint/internal/verb/inspect"
	"git-checkpoint/internal/verb/interop"
)

// CreateCmd is "git checkpoint save", and "create", which also tags the step. It turns flags into a create.Request
// and reads the documents that they name; package create does everything else. "run" shares the
// flags.
type CreateCmd struct {
	Text   []string `arg:"" optional:"" help:"Message, instead of -m."`
	All    bool     `short:"a" hidden:"" help:"Has no effect: everything is captured anyway."`
	Always bool     `help:"Make a checkpoint even if nothing changed; a message or another flag about the checkpoint does so, too."`
	Amend  bool     `with:"message,text,all,dry-run" help:"Make no checkpoint, but correct the message of the current one, as describe does."`
	createFlags
}

// createFlags are the flags of every command that makes a checkpoint: create and run.
type createFlags struct {
	Message        []string        `brief:"" short:"m" sep:"none" placeholder:"<text>" help:"Message; repeat for more paragraphs."`
	Session        string          `group:"common" placeholder:"<name>" complete:"session" help:"Session to add to; it is started if it does not exist."`
	Workflow       string          `group:"workflow" placeholder:"<name>" complete:"workflow" help:"Workflow of a new session, unless the document names one."`
	Step           *int            `group:"workflow" placeholder:"<n>" help:"Number of the step that is done; makes the checkpoint a milestone."`
	Name           string          `group:"workflow" placeholder:"<name>" help:"Name of the step, if the workflow has none for it."`
	Iteration      string          `group:"workflow" placeholder:"<k>" help:"Iteration of the step: a number, or a word such as final."`
	Trigger        string          `group:"workflow" placeholder:"<name>" complete:"trigger" help:"Why this checkpoint is made; default: manual."`
	Status         string          `group:"workflow" placeholder:"<name>" complete:"status" help:"Status of the job, such as in_progress."`
	State          string          `group:"workflow" placeholder:"<file>" complete:"file" help:"JSON or YAML document that replaces the state: a file, - for standard input, or JSON that begins with {."`
	Patch          string          `group:"workflow" placeholder:"<file>" complete:"file" help:"JSON merge patch (RFC 7396) to apply to the state: a file, or - for standard input."`
	Set            []create.Assign `group:"workflow" sep:"none" placeholder:"<path>=<value>" help:"Set a value in the state; it is read as JSON, else as a string."`
	Unset          []string        `group:"workflow" sep:"none" placeholder:"<path>" help:"Remove a value from the state."`
	Metric         []create.Assign `group:"workflow" sep:"none" placeholder:"<key>=<value>" help:"Set a metric in the state."`
	Output         []create.Assign `group:"workflow" sep:"none" placeholder:"<name>=<file>" complete:"file" help:"Keep a file as the output of this name; without a file, drop the output."`
	Error          *string         `group:"workflow" placeholder:"<json|text>" help:"What went wrong in the job; an empty value clears it."`
	IncludeIgnored []string        `sep:"none" placeholder:"<pathspec>" complete:"file" help:"Capture these ignored files as well."`
	Exclude        []string        `sep:"none" placeholder:"<pathspec>" complete:"file" help:"Leave these files out of the checkpoint."`
	Tag            bool            `help:"Tag the step, as create does; a step with a name, a number or a workflow has a tag anyway."`
	NoTag          bool            `help:"Do not tag the step."`
	Pin            bool            `help:"Pin the checkpoint, so that it is not pruned."`
	SkipUnchanged  bool            `group:"program" help:"If nothing has changed, make no checkpoint and exit with code 8."`
	Large          bool            `help:"Go on even if the checkpoint adds unusually much (checkpoint.maxNew)."`
	dryRunFlag
	resultFlags
}

// Run makes the checkpoint and confirms it. A bare "save" in an unchanged worktree is answered with
// the checkpoint that is already there.
func (c *CreateCmd) Run(ctx context.Context, app *App) error {
	if c.All {
		app.warn("everything is captured anyway, so -a changes nothing")
	}
	if len(c.Text) > 0 {
		if len(c.Message) > 0 {
			return usage.Error("a message was given twice", "use -m or the text alone, not both")
		}
		c.Message = []string{strings.Join(c.Text, " ")}
	}
	if c.Amend {
		amend := &DescribeCmd{Message: c.Message, sessionFlag: sessionFlag{c.Session}, dryRunFlag: c.dryRunFlag}
		return app.serve(ctx, func(s *checkpoint.Service) error { return amend.Run(ctx, app, s) })
	}
	request, err := c.request(ctx, app)
	if err != nil {
		return err
	}
	bare := c.bare()
	if bare {
		request.SkipUnchanged = true
	}
	// "create" is the word for a step that is meant to be one, "save" for anything in between.
	if at := slices.IndexFunc(app.args, func(word string) bool { return word == "create" || word == "save" }); at >= 0 && app.args[at] == "create" {
		request.Tag = true
	}
	return app.serve(ctx, func(s *checkpoint.Service) error {
		amount := app.measuring(ctx, s, &request)
		made, err := create.Checkpoint(ctx, s, request)
		var same *create.UnchangedError
		if bare && errors.As(err, &same) {
			c.warnLeftOut(ctx, app, s.Repo)
			return unchanged(ctx, app, s.Sessions, same)
		}
		if err != nil {
			return notCreated(err)
		}
		app.warnAll(made.Warnings)
		c.warnLeftOut(ctx, app, s.Repo)
		app.sayWorkers(ctx, s.Sessions)
		if c.DryRun {
			return app.give(answer.Captured{Detail: made})
		}
		made.Amount = amount()
		return app.confirmed(answer.Created{Detail: made})
	})
}

// warnLeftOut warns of what the user may take for saved: a directory that git ignores, and pathspecs that name nothing.
func (c *CreateCmd) warnLeftOut(ctx context.Context, app *App, repo *git.Repo) {
	if here := strings.TrimSuffix(repo.Prefix, "/"); here != "" && len(c.IncludeIgnored)+len(create.IncludedAlways(repo)) == 0 {
		if ignored, err := inspect.Ignored(ctx, repo, []string{here}); err == nil && ignored[here] {
			app.warn(fmt.Sprintf("git ignores this directory, %s, so its files are in no checkpoint; --include-ignored . takes them", name.Quoted(here)))
		}
	}
	for _, spec := range create.Unmatched(ctx, repo, c.IncludeIgnored) {
		app.warn(fmt.Sprintf("no ignored file matches --include-ignored %s", name.Quoted(spec)))
	}
}

// measuring has what a checkpoint changes counted while its refs are written, if somebody will read it. The result
// waits for the count.
func (a *App) measuring(ctx context.Context, s *checkpoint.Service, r *create.Request) (amount func() *checkpoint.Amount) {
	counted := make(chan *checkpoint.Amount, 1)
	close(counted)
	if !a.json && !a.quiet {
		r.Composed = func(made *record.Record, before name.OID) {
			counted = make(chan *checkpoint.Amount, 1)
			go func(to chan<- *checkpoint.Amount, first bool, changed int, tree name.OID) {
				to <- inspect.Measure(ctx, s, first, changed, before, tree)
			}(counted, made.Previous == "", made.Files.Total(), made.Snapshot.Tree)
		}
	}
	return func() *checkpoint.Amount { return <-counted }
}

// bare reports whether no flag says anything about the checkpoint. Then one with the same files as
// the current one would carry no information, and is not made. --dry-run, --json and --quiet are
// about the output, so they do not count.
func (c *CreateCmd) bare() bool {
	said := c.createFlags
	said.dryRunFlag, said.resultFlags = dryRunFlag{}, resultFlags{}
	return !c.Always && reflect.ValueOf(said).IsZero()
}

// unchanged answers a bare save with the current checkpoint, marked as not created.
func unchanged(ctx context.Context, a *App, s *checkpoint.Sessions, same *create.UnchangedError) error {
	if a.quiet && !a.json {
		return nil // nobody reads it
	}
	there, err := inspect.Show(ctx, s, string(same.Session), string(same.Checkpoint))
	if err != nil {
		return err
	}
	there.Created = new(bool)
	return a.confirmed(answer.Unchanged{Detail: there})
}

// request turns the flags into a request. It reads the documents of --state and --patch.
func (c *createFlags) request(ctx context.Context, app *App) (create.Request, error) {
	r := create.Request{
		Message: strings.Join(c.Message, "\n\n"), Session: c.Session, Workflow: c.Workflow, Trigger: c.Trigger,
		Numbering: create.Numbering{Step: c.Step, Name: c.Name, Iteration: c.Iteration}, Tag: c.Tag, NoTag: c.NoTag, Pinned: c.Pin, DryRun: c.DryRun,
		Edits: create.Edits{Status: c.Status, Set: c.Set, Unset: c.Unset, Metrics: c.Metric, Error: c.Error}, Comparison: create.Comparison{SkipUnchanged: c.SkipUnchanged},
		Selection: create.Selection{IncludeIgnored: c.IncludeIgnored, Exclude: c.Exclude, Large: c.Large},
	}
	for _, o := range c.Output {
		r.Outputs = append(r.Outputs, create.Output{Name: o.Path, File: o.Value})
	}
	return r, c.documents(ctx, app, &r)
}

// documents reads the documents that --state and --patch name into the request.
func (c *createFlags) documents(ctx context.Context, app *App, r *create.Request) error {
	if c.State == "-" && c.Patch == "-" {
		return usage.Error("--state and --patch cannot both read standard input")
	}
	var err error
	if c.State != "" {
		r.State, r.Original, err = document(ctx, app, "state", c.State)
	}
	if err == nil && c.Patch != "" {
		r.Patch, _, err = document(ctx, app, "patch", c.Patch)
	}
	return err
}

// longestDocument bounds, in bytes, what is read of a document. The limit on records is a setting
// of the repository, which is not open yet.
const longestDocument = 256 << 20

// document reads the document that a flag names: a file, "-" for stdin, or the document itself. The
// parameter what is the document's name in errors. It stops waiting for a terminal or a pipe when
// ctx ends. The result is JSON: interop.Document converts YAML. original is nil unless it differs.
func document(ctx context.Context, app *App, what, file string) (text, original []byte, err error) {
	read, err := create.Patiently(ctx, func() ([]byte, error) { return readDocument(app, what, file) })
	if err != nil {
		return nil, nil, err
	}
	if text, err = interop.Document(read, file); err != nil {
		return nil, nil, usage.Error(fmt.Sprintf("the %s from %q is invalid: %v", what, file, err))
	}
	if !bytes.Equal(text, read) {
		original = read
	}
	return text, original, nil
}

// readDocument reads the bytes of a document.
func readDocument(app *App, what, file string) ([]byte, error) {
	in, from := app.Terminal.In, "standard input"
	if strings.HasPrefix(strings.TrimSpace(file), "{") { // not a name, but the document itself
		in, from, file = strings.NewReader(file), "the command line", "-"
	}
	if file != "-" {
		opened, err := os.Open(file)
		if err != nil {
			return nil, usage.Error("reading the " + what + ": " + err.Error())
		}
		defer opened.Close()
		in, from = opened, file
	}
	text, err := io.ReadAll(io.LimitReader(in, longestDocument+1))
	if err != nil {
		return nil, fmt.Errorf("reading the %s from %q: %w", what, from, err)
	}
	if len(text) > longestDocument {
		return nil, usage.Error(fmt.Sprintf("the %s from %q is larger than 256 MiB", what, from), "move the large part into an output: --output <name>=<file>")
	}
	if len(text) == 0 {
		return nil, usage.Error(fmt.Sprintf("the %s from %q is empty", what, from), "an empty "+what+" is {}")
	}
	return text, nil
}

// notCreated makes "checkpoint not created" the first words of an error, because that is what
// scripts and agents have to know first. If trying again may help, it adds what can be done now.
// Errors whose meaning is not a failed create, such as an interrupt, stay as they are.
func notCreated(err error) error {
	kind := checkpoint.KindOf(err)
	if kind == checkpoint.KindNothing || kind == checkpoint.KindUnusable || kind == checkpoint.KindInterrupt {
		return err
	}
	told := &checkpoint.Error{Kind: kind, Message: "checkpoint not created", Err: err, Hints: checkpoint.HintsOf(err)}
	if kind == checkpoint.KindFailed {
		told.Hints = append(told.Hints, "nothing was changed: retry with the same command, continue without it, or pause here")
	}
	return told
}
