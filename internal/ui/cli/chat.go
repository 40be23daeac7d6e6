package cli

import (
	"bytes"
	"context"
	"errors"
	"io"
	"slices"
	"strings"
	"time"

	"git-checkpoint/internal/agents/chat"
	"git-checkpoint/internal/answer"
	"git-checkpoint/internal/core/checkpoint"
	"git-checkpoint/internal/format/name"
	"git-checkpoint/internal/git"
	"git-checkpoint/internal/ui/term"
	"git-checkpoint/internal/verb/inspect"
)

// ChatCmd is "git checkpoint chat <text>": it runs a command that a person typed into the chat of a
// coding agent, such as *rollback:3. An agent hook may pass every prompt to it, so it stays silent,
// with exit code 8, if the text is no such command. Package chat reads the commands.
type ChatCmd struct {
	Text []string `arg:"" optional:"" verbatim:"" complete:"none" help:"Text that was typed; put -- before it if it may begin with a dash."`
}

// Run runs the command that the text is, if it is one.
func (c *ChatCmd) Run(ctx context.Context, app *App) error {
	words := c.Text
	if len(words) > 0 && words[0] == "--" {
		words = words[1:]
	}
	text := strings.Join(words, " ")
	ours := chat.IsCommand(text)
	if strings.TrimSpace(text) == "" {
		return nothingSaid
	}
	err := app.serve(ctx, func(s *checkpoint.Service) (err error) {
		talk := chat.Talk{Service: s, Run: app.typedIn(s.Repo)}
		// A file that cannot be read is one without a question.
		if known, err := checkpoint.Recall(s.Repo, checkpoint.ChatFile, &talk.Asked); err != nil || !known {
			talk.Asked = nil
		}
		var said string
		if said, ours, err = talk.Answer(ctx, text); said != "" {
			_, failed := io.WriteString(app.Terminal.Out, said+"\n")
			err = errors.Join(err, failed)
		}
		if talk.Asked == nil {
			return errors.Join(err, checkpoint.Forget(s.Repo, checkpoint.ChatFile))
		}
		return errors.Join(err, checkpoint.Remember(s.Store, checkpoint.ChatFile, talk.Asked))
	})
	// Outside a repository, too, any other text is an ordinary prompt, which must not cause an error.
	if !ours {
		return nothingSaid
	}
	return err
}

// nothingSaid is the exit code for a text that is no command. It is the code of
// checkpoint.KindNothing.
const nothingSaid exitCode = 8

// sayWorkers names another agent at work here. A conversation is not told: it is one of them.
func (a *App) sayWorkers(ctx context.Context, s *checkpoint.Sessions) {
	if a.typed == nil {
		inspect.SayWorkers(ctx, s)
	}
}

// typedIn returns a function that runs a command line that was typed into a chat, in the worktree of s and
// in this process.
func (a *App) typedIn(repo *git.Repo) chat.Run {
	return func(ctx context.Context, session name.Session, args []string) chat.Result {
		var out bytes.Buffer
		environ := slices.Clone(a.Terminal.Environ)
		if session != "" {
			environ = append(environ, "GIT_CHECKPOINT_SESSION="+string(session))
		}
		inner := &App{
			Terminal: &term.Terminal{In: bytes.NewReader(nil), Out: &out, Err: &out, Environ: environ, ProgressAfter: time.Hour},
			Version:  a.Version, Between: a.Between, args: args, dir: repo.WorkTree, typed: &[]answer.Answer{},
		}
		code := inner.main(ctx)
		return chat.Result{Found: *inner.typed, Text: out.String(), Problem: inner.reported, Code: code, Asks: inner.asks}
	}
}
