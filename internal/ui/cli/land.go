package cli

import (
	"context"
	"errors"
	"os"
	"path/filepath"
	"strings"

	"git-checkpoint/internal/answer"
	"git-checkpoint/internal/core/checkpoint"
	"git-checkpoint/internal/format/render"
	"git-checkpoint/internal/git"
	"git-checkpoint/internal/sys/command"
	"git-checkpoint/internal/ui/cli/usage"
	"git-checkpoint/internal/verb/land"
	"git-checkpoint/internal/verb/rollback"
)

// LandCmd is "git checkpoint land": it makes ordinary commits of checkpoints.
type LandCmd struct {
	Range string `arg:"" optional:"" name:"from..to" complete:"range" help:"Steps to land, both ends included, or only the last step; default: all up to the current one."`
	sessionFlag
	Line    string `brief:"" placeholder:"<ref>" complete:"ref" help:"Land another line of the session, up to its newest step."`
	Each    bool   `brief:"" help:"Make one commit for each milestone instead of one for all."`
	Message string `brief:"" short:"m" placeholder:"<text>" xor:"message" help:"Message of the commit; default: the last checkpoint's, which the editor shows with the others if there are several."`
	File    string `short:"F" placeholder:"<file>" complete:"file" xor:"message" help:"Take the message from a file; - means standard input."`
	NoEdit  bool   `brief:"" help:"Take the last checkpoint's message without starting the editor."`
	Branch  string `brief:"" placeholder:"<branch>" help:"Create this branch for the commits, and leave the current branch and the index alone."`
	Undo    bool   `brief:"" with:"no-edit,dry-run,yes" help:"Take the last landing of this worktree back, as git checkpoint undo does."`
	confirmFlags
	resultFlags
}

// Run prints the plan, asks, and makes the commits.
func (c *LandCmd) Run(ctx context.Context, app *App) error {
	request := land.Request{Session: c.Session, Range: c.Range, Line: c.Line, Each: c.Each, Message: c.Message, Branch: c.Branch, Unscanned: c.Yes}
	if c.Undo {
		return c.takeBack(ctx, app)
	}
	if c.Each && (c.Message != "" || c.File != "") {
		return usage.Error("--message and --file are for one commit, and --each makes several")
	}
	if c.Line != "" && c.Range != "" {
		return usage.Error("--line lands a whole line, so it takes no steps")
	}
	if c.File != "" {
		text, err := readDocument(app, "message", c.File)
		if err != nil {
			return err
		}
		request.Message = string(text)
	}
	return app.serve(ctx, func(s *checkpoint.Service) error {
		plan, err := land.Prepare(ctx, s, request)
		if ref := app.whichLine(ctx, err); ref != "" {
			request.Line = ref
			plan, err = land.Prepare(ctx, s, request)
		}
		if err != nil {
			return err
		}
		if agreed, err := app.agreed(ctx, answer.ToLand{Plan: plan.Answer}, c.confirmFlags); !agreed {
			return err
		}
		if messages := plan.Messages(); len(messages) > 0 && !c.NoEdit && !c.Yes && app.Terminal.Interactive() {
			text, err := app.edited(ctx, s.Repo, messages)
			if err == nil {
				err = plan.SetMessage(ctx, text)
			}
			if err != nil {
				return err
			}
		}
		done, err := plan.Apply(ctx)
		return app.confirmUnless(err, answer.Landed{Done: done})
	})
}

// whichLine asks a person for one of the lines of an error that names several. It is "" for any other error, and
// where nobody can be asked or chooses one.
func (a *App) whichLine(ctx context.Context, err error) string {
	several, is := errors.AsType[*checkpoint.LinesError](err)
	if !is || a.json || !a.Terminal.Interactive() {
		return ""
	}
	var keys, lines []string
	for _, h := range several.Heads {
		keys, lines = append(keys, h.Number), append(lines, render.Escape(h.Description()))
	}
	chosen, err := a.Terminal.Choose(ctx, "Which line?", keys, lines)
	if err != nil {
		return ""
	}
	return string(several.Heads[chosen].ID)
}

// takeBack undoes the last landing, unless something came after it that undo would take back first.
func (c *LandCmd) takeBack(ctx context.Context, app *App) error {
	err := app.serve(ctx, func(s *checkpoint.Service) error {
		levels, _, err := rollback.Levels(ctx, s.Store)
		if err == nil && (len(levels) == 0 || !levels[0].Landing) {
			hint := "`git checkpoint undo --list` shows what can be undone"
			err = checkpoint.Failure(checkpoint.KindNothing, hint, "the last thing to undo here is no landing")
		}
		return err
	})
	if err != nil {
		return err
	}
	undo := walkFlags{confirmFlags: c.confirmFlags, resultFlags: c.resultFlags}
	return undo.run(ctx, app, rollback.UndoRequest{})
}

// edited lets the user make one message of several in git's editor. The last one comes first,
// because its subject becomes that of the commit if nothing is changed.
func (a *App) edited(ctx context.Context, repo *git.Repo, messages []string) (string, error) {
	editor, err := repo.Output(ctx, "var", "GIT_EDITOR")
	if err != nil {
		return "", err
	}
	dir, err := repo.Dir()
	if err != nil {
		return "", err
	}
	file := filepath.Join(dir, "COMMIT_EDITMSG") // editors know this name
	defer os.Remove(file)                        //nolint:errcheck // the next one replaces it
	last := len(messages) - 1
	text := messages[last] + "\n\n" + strings.Join(messages[:last], "\n\n") + "\n"
	help, err := repo.Run(ctx, git.Cmd{Args: []string{"stripspace", "--comment-lines"}, Stdin: strings.NewReader(
		"\nThis becomes one commit of " + render.Count(len(messages), "step", "steps") + ". The first line is its subject.\nLines that begin like this are left out; an empty message lands nothing.\n")})
	if err != nil {
		return "", err
	}
	if err := os.WriteFile(file, []byte(text+string(help.Stdout)), 0o666); err != nil {
		return "", err
	}
	signals, stop := command.Watch()
	defer stop()
	end, err := command.Command{
		Args: []string{"sh", "-c", strings.TrimSpace(editor) + ` "$@"`, "editor", file}, Dir: repo.WorkTree, Env: a.Terminal.Environ,
		In: a.Terminal.In, Out: a.Terminal.Out, Err: a.Terminal.Err,
	}.Run(signals)
	if err == nil && end.Code != 0 {
		err = refused("the editor failed, nothing was changed", "-m TEXT or --no-edit starts none")
	}
	if err != nil {
		return "", err
	}
	written, err := os.ReadFile(file)
	if err != nil {
		return "", err
	}
	stripped, err := repo.Run(ctx, git.Cmd{Args: []string{"stripspace", "--strip-comments"}, Stdin: strings.NewReader(string(written))})
	if err == nil && len(stripped.Stdout) == 0 {
		err = refused("the message is empty, nothing was changed")
	}
	return string(stripped.Stdout), err
}
