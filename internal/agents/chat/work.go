package chat

import (
	"context"
	"fmt"
	"path/filepath"
	"strings"
	"time"

	"git-checkpoint/internal/core/checkpoint"
	"git-checkpoint/internal/core/workflow"
	"git-checkpoint/internal/format/journal"
	"git-checkpoint/internal/format/name"
	"git-checkpoint/internal/verb/create"
	"git-checkpoint/internal/verb/inspect"
	"git-checkpoint/internal/verb/run"
)

// work runs the commands that are more than a command line, or none. *continue and *abort are about an
// unfinished rollback if there is one.
func (t *Talk) work(ctx context.Context, c command) (string, error) {
	const longestHistory = 20 // how many lines *history shows
	unfinished, err := inspect.UnfinishedRollback(t.Service.Repo)
	if err != nil {
		return "", err
	}
	switch {
	case unfinished != nil && (c.Does == "continue" || c.Does == "abort"):
		return t.run(ctx, []string{"rollback", "--" + c.Does}, c.form)
	case c.Does == "abort" && t.Asked.waits() && t.fresh():
		t.Asked = nil
		return "Nothing was changed; the question is withdrawn.", nil
	case c.Does == "retry" || c.Does == "skip":
		return t.failed(ctx, c)
	}
	st, err := checkpoint.ChosenState(ctx, t.Service.Sessions, string(t.Session))
	if err != nil {
		return "", err
	}
	switch c.Does {
	case "continue":
		return t.goOn(ctx, c, st)
	case "history":
		r := t.Run(ctx, t.Session, c.args())
		lines := strings.SplitAfter(strings.TrimRight(r.Text, "\n"), "\n")
		r.Text = strings.Join(lines[max(0, len(lines)-longestHistory):], "")
		return t.show(r, c.form)
	case "manual":
		return t.manual(ctx, c.args()[1])
	case "export":
		// In the worktree the file would become part of the next checkpoint. It stays where the checkpoints
		// are, so nobody is asked about what is private.
		file := filepath.Join(t.Service.Repo.GitDir, string(st.Session)+".bundle")
		return t.run(ctx, append(c.args(), "--yes", "--session="+string(st.Session), file), c.form)
	}
	if checkpoint.IsClosed(st.Status) {
		return "", checkpoint.Failure(checkpoint.KindRejected, "", "session %q is already %s", st.Session, st.Status)
	}
	var said string
	if c.Does == "abort" {
		if r := t.Run(ctx, t.Session, []string{"session", "close", string(st.Session), "--status=abandoned", "--quiet"}); r.Problem != nil {
			return "", r.Problem
		}
		said = fmt.Sprintf("Session %s ended; its checkpoints stay.\n`git checkpoint resume %[1]s --accept` in a terminal opens it again.", st.Session)
	} else {
		said = fmt.Sprintf("Session %s is paused.\n*continue resumes it.", st.Session)
		if st.Status != checkpoint.StatusPaused {
			err = checkpoint.Append(ctx, t.Service.Store, st.Session, journal.KindStatus, func(e *journal.Event) { e.Status = checkpoint.StatusPaused })
		}
	}
	if err == nil { // both are answers to what failed
		err = create.ForgetFailure(t.Service.Repo, st.Session)
	}
	return said, err
}

// goOn resumes the session. If its newest checkpoint is damaged, the next one begins without its state.
func (t *Talk) goOn(ctx context.Context, c command, st *journal.State) (string, error) {
	r := t.Run(ctx, t.Session, []string{"resume", "--accept"})
	e := st.CurrentEntry()
	if r.Problem == nil || r.Problem.Kind != checkpoint.KindInvalid || r.Text != "" || e == nil || checkpoint.IsClosed(st.Status) {
		return t.show(r, c.form)
	}
	err := checkpoint.Append(ctx, t.Service.Store, st.Session, journal.KindResume, func(ev *journal.Event) {
		ev.Checkpoint, ev.Label = e.Checkpoint, e.Label
		if st.Status != "" {
			ev.Status = checkpoint.StatusOpen
		}
	})
	text := fmt.Sprintf("%s\nSession %s goes on without %s: the next checkpoint does not have its state.", r.Problem.Message, st.Session, checkpoint.Said(ctx, t.Service.Store, st, e))
	return inWords(strings.Join(append([]string{text}, r.Problem.Hints...), "\n")), err
}

// failed retries the checkpoint that could not be made, or skips its step, so that the next one
// may begin. The failure was recorded by package create.
func (t *Talk) failed(ctx context.Context, c command) (string, error) {
	session, err := t.Service.Sessions.ChooseSession(ctx, string(t.Session))
	if err != nil && checkpoint.KindOf(err) != checkpoint.KindNotFound {
		return "", err
	}
	failed, err := create.LastFailure(t.Service.Store, session)
	switch {
	case err != nil:
		return "", err
	case failed == nil:
		return "", checkpoint.Failure(checkpoint.KindRefused, "", "no checkpoint failed here, so there is nothing to retry or to skip")
	case c.Does == "retry":
		made, err := create.Retry(ctx, t.Service, failed)
		if err != nil {
			return "", err
		}
		return "✓ Saved " + checkpoint.MentionOf(made.Record).String(), nil
	case failed.Step == nil:
		return "", checkpoint.Failure(checkpoint.KindRefused, "", "the checkpoint that failed belongs to no step, so there is no step to skip")
	}
	if err := run.Skip(ctx, t.Service.Sessions, string(failed.Session), *failed.Step, "skipped in the chat: "+failed.Problem); err != nil {
		return "", err
	}
	return fmt.Sprintf("Step %d is done without a checkpoint; the next step may begin.", *failed.Step), create.ForgetFailure(t.Service.Repo, failed.Session)
}

// manual tells how to get at the files of a checkpoint with plain git.
func (t *Talk) manual(ctx context.Context, ref string) (string, error) {
	f, err := t.Service.Sessions.Resolve(ctx, string(t.Session), ref)
	if err != nil {
		return "", err
	}
	at := "checkpoints/" + string(f.Session) + "/" + string(f.Entry.Checkpoint)
	return fmt.Sprintf(`To get the files of %s with plain git:
git ls-tree -r --name-only %[2]s      lists them
git show %[2]s:PATH      prints one
git restore --source=%[2]s -- PATH      overwrites one that is here
git worktree add --detach ../%[3]s %[2]s      puts all of them beside this worktree`, checkpoint.Said(ctx, t.Service.Store, f.State, f.Entry), at, f.Entry.Label), nil
}

// list lists the steps of this conversation, after those of the conversation before it: an agent
// that forgets a conversation goes on in another session.
func (t *Talk) list(ctx context.Context, c command) (string, error) {
	before := t.previousSession(ctx)
	if before == "" {
		return t.run(ctx, c.args(), c.form)
	}
	older, err := t.run(ctx, []string{"list", "--session=" + string(before), "--limit=10", "--hidden"}, form{Quotes: true})
	if err != nil {
		return older, err
	}
	c.Next += fmt.Sprintf(" *rollback:%s:N goes back to a step of the conversation before.", before)
	text, err := t.run(ctx, c.args(), c.form)
	return older + "\n\n" + text, err
}

// previousSession returns the session of the last conversation with an agent in this worktree before this one,
// or "".
func (t *Talk) previousSession(ctx context.Context) (before name.Session) {
	now, err := checkpoint.ChosenState(ctx, t.Service.Sessions, string(t.Session))
	if err != nil || now.Workflow != workflow.AgentName {
		return ""
	}
	id, err := t.Service.Store.WorktreeID()
	if err != nil {
		return ""
	}
	states, err := checkpoint.States(ctx, t.Service.Store, "")
	if err != nil {
		return ""
	}
	var newest time.Time
	for _, st := range states {
		if st.Session != now.Session && st.Workflow == now.Workflow && st.CurrentEntry() != nil && !st.CreatedAt.After(now.CreatedAt) && st.Worked(id) && st.UpdatedAt.After(newest) {
			before, newest = st.Session, st.UpdatedAt
		}
	}
	return before
}

// meant says what a person probably means who types *undo after a prompt and not after a rollback: to
// take back what the last prompt did. It is empty if there is nothing before that.
func (t *Talk) meant(ctx context.Context) []string {
	st, err := checkpoint.ChosenState(ctx, t.Service.Sessions, string(t.Session))
	if err != nil {
		return nil
	}
	var last *journal.Entry // the step of the last prompt, which may not have ended
	for e := range st.Line() {
		switch {
		case last == nil && (e.Milestone || e.Event().Trigger == journal.TriggerTool):
			last = e
		case last != nil && (e.Milestone && (e.Step != last.Step || !last.Milestone) || e.Event().Trigger == journal.TriggerPrompt):
			return []string{fmt.Sprintf("*rollback:%s goes back to before the last prompt", checkpoint.TypedName(st, e))}
		}
	}
	return nil
}
