package cli

import (
	"bytes"
	"cmp"
	"context"
	"strings"

	"git-checkpoint/internal/answer"
	"git-checkpoint/internal/core/checkpoint"
	"git-checkpoint/internal/format/render"
	"git-checkpoint/internal/ui/term"
	"git-checkpoint/internal/verb/inspect"
	"git-checkpoint/internal/verb/resume"
	"git-checkpoint/internal/verb/retain"
	"git-checkpoint/internal/verb/session"
	"git-checkpoint/internal/verb/travel"
)

// ResumeCmd is "git checkpoint resume": it finds the session to go on with, reports where it
// stands, and on a terminal offers what to do with it. Without a terminal one of the flags makes
// the choice.
type ResumeCmd struct {
	Ref     string `arg:"" optional:"" complete:"session" help:"Session or checkpoint; default: the active session, else the only open one of the branch, or of the repository."`
	Type    string `group:"workflow" placeholder:"<prefix>" help:"Take the newest unfinished session whose name begins with this."`
	Match   string `group:"workflow" placeholder:"<text>" help:"Take the newest unfinished session with this text in its name, topic or description."`
	Current string `group:"program" placeholder:"<file>" complete:"file" help:"The issue as it is now, in JSON, to compare with: a file, or - for standard input."`
	Accept  bool   `xor:"choice" help:"Answer yes to all questions, and continue."`
	Fresh   bool   `xor:"choice" help:"Close the session, so that work can start afresh."`
	View    bool   `xor:"choice" help:"Show the details, and ask nothing."`
	Delete  bool   `xor:"choice" help:"Delete all checkpoints of the session."`
	Context bool   `group:"program" xor:"form" help:"Print what an agent needs to know to continue, the most important first."`
	JSON    bool   `group:"common" name:"json" xor:"form" help:"Print the answer as JSON."`
	Yes     bool   `short:"y" help:"With --accept, also bring the files of another branch onto this one."`
	quietFlag
}

// Run prints the report and carries out the choice. Package resume returns a report together with
// an error when the session cannot be resumed as it is: then both are shown.
func (c *ResumeCmd) Run(ctx context.Context, app *App) error {
	request := resume.Request{Target: c.Ref, Type: c.Type, Match: c.Match, Choice: c.choice(), Ask: app.askElsewhere(c.Yes)}
	var err error
	if c.Current != "" {
		if request.Current, _, err = document(ctx, app, "issue", c.Current); err != nil {
			return err
		}
		request.From = c.Current
	}
	return app.serve(ctx, func(s *checkpoint.Service) error {
		found, err := resume.Do(ctx, s, request)
		if ref := app.whichLine(ctx, err); ref != "" {
			request.Target = ref
			found, err = resume.Do(ctx, s, request)
		}
		if said := s.Rules.MayFetch(ctx); found == nil && said != "" && !app.json && app.Terminal.Interactive() {
			if err = app.offerFetch(ctx, s, said, err); err == nil {
				found, err = resume.Do(ctx, s, request)
			}
		}
		if found == nil {
			return err
		}
		app.sayWorkers(ctx, s.Sessions)
		if request.Choice == resume.Report && found.CanResume && !c.Context && !app.json && app.Terminal.Interactive() {
			return app.resumeMenu(ctx, s, request, found)
		}
		if c.Context {
			return cmp.Or(app.view.Text(app.Terminal.Out, "", found.Context()), err)
		}
		return cmp.Or(app.resumed(ctx, s, found), err)
	})
}

// offerFetch fetches if the person agrees. Otherwise it returns the error that there is nothing to resume.
func (a *App) offerFetch(ctx context.Context, s *checkpoint.Service, said string, nothing error) error {
	remote, _, _ := strings.Cut(said, " may ")
	yes, err := a.Terminal.Confirm(ctx, "No session is here. Fetch from "+render.Escape(remote)+"?")
	if err != nil || !yes {
		return cmp.Or(err, nothing)
	}
	_, argument, _ := strings.Cut(said, "fetch")
	found, err := travel.Fetch(ctx, s, travel.Request{Remote: strings.TrimSpace(argument), Ask: true})
	return a.travelled(found, err, answer.FilesByView)
}

// askElsewhere returns a function that asks a person whether the files of another branch may come
// onto this one. With --yes it asks nothing. It is nil where nobody can be asked.
func (a *App) askElsewhere(yes bool) func(context.Context, string) error {
	switch {
	case yes:
		return func(context.Context, string) error { return nil }
	case !a.Terminal.Interactive():
		return nil
	}
	return func(ctx context.Context, question string) error {
		agreed, err := a.Terminal.Confirm(ctx, render.Escape(question))
		if err == nil && !agreed {
			err = refused("not confirmed, nothing was changed")
		}
		return err
	}
}

// choice is the action that the flags select; without one it is only a report.
func (c *ResumeCmd) choice() resume.Choice {
	switch {
	case c.Accept:
		return resume.Accept
	case c.Fresh:
		return resume.Fresh
	case c.View:
		return resume.View
	case c.Delete:
		return resume.Delete
	}
	return resume.Report
}

// resumed prints the report. If it has a question about changed files, a person also sees their
// diff.
func (a *App) resumed(ctx context.Context, s *checkpoint.Service, found *resume.Answer) error {
	if found.Accepted || found.Closed != "" || found.Removed != nil {
		return a.confirmed(answer.Resumed{Resume: found})
	}
	if err := a.give(answer.Resumed{Resume: found}); err != nil || a.json {
		return err
	}
	return printPatch(ctx, a, s, found)
}

// printPatch prints the beginning of the diff between the checkpoint and the worktree.
func printPatch(ctx context.Context, a *App, s *checkpoint.Service, found *resume.Answer) error {
	const longestPatch = 200 // bounds the diff below a report, in lines
	if len(found.Changed) == 0 || len(found.Questions) == 0 {
		return nil
	}
	var diff bytes.Buffer
	code, err := inspect.PrintDiff(ctx, s, found.Difference, nil, []string{"--patch"}, inspect.IO{Out: &diff, Err: a.Terminal.Err, Color: "never"})
	if err := ended(code, err); err != nil {
		return err
	}
	lines := strings.SplitAfterN(diff.String(), "\n", longestPatch+1)
	if len(lines) > longestPatch {
		lines[longestPatch] = "… all of it: git checkpoint diff " + string(found.Checkpoint) + " -p\n"
	}
	return a.view.Text(a.Terminal.Out, "", strings.Join(lines, ""))
}

// resumeMenu prints the report, asks what to do, and does it.
func (a *App) resumeMenu(ctx context.Context, s *checkpoint.Service, request resume.Request, found *resume.Answer) error {
	choice, err := a.resumeChoice(ctx, s, found)
	if err != nil {
		return err
	}
	// The choice is about the session that was shown: --type or --match might find another one by
	// now.
	request = resume.Request{Target: string(found.Session), Choice: choice, Current: request.Current, From: request.From, Ask: request.Ask}
	if choice == resume.Accept {
		request.Target = string(found.Checkpoint)
	}
	done, err := resume.Do(ctx, s, request)
	if err != nil {
		return err
	}
	done.Pending = nil // the report has them
	if done.Begin != nil {
		if _, err = session.Start(ctx, s, *done.Begin); err == nil {
			done.Next = `git checkpoint save "MESSAGE" is the first step of ` + done.Begin.Name
		}
	}
	return cmp.Or(a.resumed(ctx, s, done), err)
}

// resumeChoice prints the report and returns what the person chose: to resume, to start fresh or, after
// the details and a confirmation, to delete.
func (a *App) resumeChoice(ctx context.Context, s *checkpoint.Service, found *resume.Answer) (resume.Choice, error) {
	if err := a.resumed(ctx, s, found); err != nil {
		return resume.Report, err
	}
	choices := []term.Choice{{Letter: 'r', Text: "resume"}, {Letter: 's', Text: "start fresh"}, {Letter: 'v', Text: "view details"}}
	for {
		letter, err := a.Terminal.Ask(ctx, "Go on with "+render.Escape(string(found.Session))+"?", choices)
		if err != nil {
			return resume.Report, unchosen(err)
		}
		switch letter {
		case 'r':
			return resume.Accept, nil
		case 's': // it ends the session, which takes an answer of its own
			old := render.Escape(string(found.Session))
			return resume.Fresh, a.askElsewhere(false)(ctx, "Leave "+old+" closed and begin a new session? `git checkpoint resume "+old+"` comes back to it.")
		case 'd':
			plan, err := retain.WholeSession(ctx, s.Sessions, string(found.Session))
			if err != nil {
				return resume.Report, err
			}
			return resume.Delete, a.confirm(ctx, answer.Deleted{Removed: plan, Planned: true}, yesFlag{})
		}
		// Deleting cannot be undone, so it is offered only to somebody who looks closer.
		choices = append(choices[:2:2], term.Choice{Letter: 'd', Text: "delete"})
		shown, err := inspect.Show(ctx, s.Sessions, string(found.Session), string(found.Checkpoint))
		if err != nil {
			return resume.Report, err
		}
		if err := a.tell(a.Terminal.Out, answer.Shown{Detail: shown}); err != nil {
			return resume.Report, err
		}
	}
}
