package cli

import (
	"context"
	"io"
	"os"
	"path/filepath"
	"regexp"
	"strings"

	"git-checkpoint/internal/answer"
	"git-checkpoint/internal/core/checkpoint"
	"git-checkpoint/internal/format/name"
	"git-checkpoint/internal/ui/cli/usage"
	"git-checkpoint/internal/verb/why"
	"git-checkpoint/internal/verb/witness"
)

// WhyCmd is "git checkpoint why": from a line or a commit back to the steps behind it.
type WhyCmd struct {
	What  string   `arg:"" optional:"" name:"path:line|commit" complete:"file" help:"File with a line or a range such as api.go:40,60; a file alone, for what blame prints; or a commit. With --notes: commits as for git log; default: since the oldest commit on which a session began."`
	Lines []string `short:"L" sep:"none" placeholder:"<range>" help:"Lines as for git blame -L, such as :function; can be repeated."`
	followFlags
	Notes  notesFlag `placeholder:"<format>" help:"Write for each commit what is known of its lines as a git note: in refs/notes/agent-trace, or with --notes=git-ai in refs/notes/ai."`
	Verify bool      `help:"With --notes: write nothing, and compare the notes that others wrote with what is known here; exit with 6 if a line has another name there."`
	jsonFlag
}

// notesFlag is --notes, a flag whose value is optional; see verifyFlag.
type notesFlag struct{ verifyFlag }

// Run prints what is behind the lines or the commit.
func (c *WhyCmd) Run(ctx context.Context, app *App, s *checkpoint.Service) error {
	progress := app.Terminal.Progress("Reading checkpoints")
	defer progress.Finish()
	tally := func(n int) { progress.Add(int64(n)) }
	switch lines := len(c.Lines)+len(c.options()) > 0; {
	case c.Notes.given && lines:
		return checkpoint.Usage("", "--notes is about whole commits: leave out -L, -w, -M and -C")
	case c.Notes.given:
		return app.notes(ctx, s, witness.Request{Format: c.Notes.since, Range: c.What, Version: app.Version, Progress: tally}, c.Verify)
	case c.Verify:
		return checkpoint.Usage("", "--verify goes with --notes")
	case c.What == "":
		return usage.Error("nothing given for <path:line|commit>", "git checkpoint why -h shows its usage")
	}
	req := why.Request{File: c.What, Lines: c.Lines, Loose: c.Spaces, Options: c.options(), Git: c.Moves || c.Copies > 0, Progress: tally}
	if m := regexp.MustCompile(`(?s)^(.+):(\d+(?:,\+?\d+)?)$`).FindStringSubmatch(c.What); m != nil && len(c.Lines) == 0 {
		if req.File, req.Lines = m[1], []string{m[2]}; !strings.Contains(m[2], ",") {
			req.Lines[0] += "," + m[2] // for git one number means all lines from there
		}
	} else if oid, is := why.ResolveCommit(ctx, s.Repo, c.What); is && len(c.Lines) == 0 {
		return app.printBehind(ctx, s.Rules, oid)
	} else if len(c.Lines) == 0 {
		if _, err := os.Lstat(filepath.Join(app.dir, c.What)); err != nil {
			return checkpoint.Failure(checkpoint.KindNotFound, "for a line of a file, write git checkpoint why FILE:LINE", "no such commit or file: %q", name.Clip(c.What, name.Said))
		}
		if !app.json {
			return (&BlameCmd{First: c.What, followFlags: c.followFlags}).Run(ctx, app, s)
		}
	}
	lines, err := why.Lines(ctx, s.Rules, req)
	if err != nil {
		return err
	}
	witness.Open(s.Repo).Lines(ctx, lines)
	return app.page(ctx, s.Repo, func(w io.Writer) error { return app.giveTo(w, answer.Reasons(lines)) })
}

// printBehind prints the steps behind a commit.
func (a *App) printBehind(ctx context.Context, s *checkpoint.Rules, commit name.OID) error {
	progress := a.Terminal.Progress("Reading checkpoints")
	defer progress.Finish()
	found, err := why.Commits(ctx, s, []name.OID{commit}, func(n int) { progress.Add(int64(n)) })
	if err != nil {
		return err
	}
	witness.Open(s.Repo).Commit(ctx, &found[0])
	return a.give(answer.Behind{Commit: found[0]})
}

// notes writes notes, or compares those of others and exits with rejectedSaid if a line has another name there.
func (a *App) notes(ctx context.Context, s *checkpoint.Service, req witness.Request, verify bool) error {
	if !verify {
		written, err := witness.Write(ctx, s, req)
		return a.giveUnless(err, answer.Notes{Answer: written})
	}
	compared, err := witness.Verify(ctx, s, req)
	if err != nil {
		return err
	}
	if err := a.give(answer.OthersNotes{Compared: compared}); err != nil || len(compared.Differ) == 0 {
		return err
	}
	return rejectedSaid
}

// behindUnless handles the error of a command that was given a name that is not a checkpoint: if it
// is a commit, it prints the steps behind that.
func (a *App) behindUnless(ctx context.Context, s *checkpoint.Rules, typed string, err error) error {
	if checkpoint.KindOf(err) == checkpoint.KindNotFound {
		if oid, is := why.ResolveCommit(ctx, s.Repo, typed); is {
			return a.printBehind(ctx, s, oid)
		}
	}
	return err
}
