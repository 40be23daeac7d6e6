package cli

import (
	"cmp"
	"io"
	"os"

	"git-checkpoint/internal/answer"
	"git-checkpoint/internal/core/checkpoint"
	"git-checkpoint/internal/format/render"
	"git-checkpoint/internal/ui/cli/usage"
	"git-checkpoint/internal/verb/inspect"
)

// WorkflowCmd is "git checkpoint workflow", the group of commands about workflow definitions.
type WorkflowCmd struct {
	List  WorkflowListCmd  `cmd:"" default:"withargs" help:"List the workflows that can be used here."`
	Show  WorkflowShowCmd  `cmd:"" help:"Print a definition, ready to be renamed and used."`
	Check WorkflowCheckCmd `cmd:"" help:"Check a definition, and say what is wrong by line and member."`
}

// WorkflowListCmd is "workflow list", also what "workflow" alone runs.
type WorkflowListCmd struct {
	jsonFlag
}

// Run prints the built-in workflows and those of the repository.
func (c *WorkflowListCmd) Run(app *App, s *checkpoint.Service) error {
	found, err := inspect.Workflows(s.Repo)
	return app.giveUnless(err, answer.Workflows(found))
}

// WorkflowShowCmd is "workflow show".
type WorkflowShowCmd struct {
	Name string `arg:"" complete:"workflow" help:"Name of the workflow."`
	jsonFlag
}

// Run prints a definition as it was written. Without --json it escapes control characters in
// strings, because the file may come from somebody else and a terminal would act on them.
func (c *WorkflowShowCmd) Run(app *App, s *checkpoint.Service) error {
	text, err := inspect.Workflow(s.Rules, c.Name)
	if err != nil {
		return err
	}
	if app.json {
		return app.give(answer.Value(text))
	}
	_, err = app.Terminal.Out.Write(render.TameJSON(text))
	return err
}

// WorkflowCheckCmd is "workflow check".
type WorkflowCheckCmd struct {
	File string `arg:"" complete:"file" help:"File with the definition."`
	resultFlags
}

// Run prints the mistakes in a definition, and ends with code 5 if there are any. It needs no
// repository.
func (c *WorkflowCheckCmd) Run(app *App) error {
	text, err := definitionText(c.File)
	if err != nil {
		return usage.Error("reading the definition: " + err.Error())
	}
	checked := inspect.CheckWorkflow(text, c.File)
	if checked.OK {
		return app.confirmed(answer.Checked{Workflow: checked})
	}
	return cmp.Or[error](app.give(answer.Checked{Workflow: checked}), checkpoint.Failure(checkpoint.KindInvalid, "", "%s is not a workflow that can be used", c.File))
}

// definitionText reads at most 1 MiB of a file: more than a definition may have, but not all of a
// device that never ends.
func definitionText(file string) ([]byte, error) {
	opened, err := os.Open(file)
	if err != nil {
		return nil, err
	}
	defer opened.Close()
	return io.ReadAll(io.LimitReader(opened, 1<<20))
}
