// Package chat understands commands that a person types into the chat of a coding agent, such as
// *rollback:3 or /checkpoint save. The agent's hook hands every prompt over. Most prompts hold no
// command, so Parse must be fast, and must not take ordinary text for one.
//
// Parse (grammar.go) finds the command by the table in chat.json, and Do runs it in the session of
// the worktree by calling one of the verb packages. Between two prompts the process ends, so what
// waits for a *yes is remembered in a file of the git directory: see chatMemory in plan.go. inWords
// (words.go) rewrites command lines in answers as chat commands.
package chat

import (
	"context"
	"errors"
	"fmt"
	"path/filepath"
	"strings"
	"time"

	"git-checkpoint/internal/answer"
	"git-checkpoint/internal/core/checkpoint"
	"git-checkpoint/internal/core/workflow"
	"git-checkpoint/internal/format/journal"
	"git-checkpoint/internal/format/name"
	"git-checkpoint/internal/format/render"
	"git-checkpoint/internal/verb/create"
	"git-checkpoint/internal/verb/inspect"
	"git-checkpoint/internal/verb/repair"
	"git-checkpoint/internal/verb/resume"
	"git-checkpoint/internal/verb/retain"
	"git-checkpoint/internal/verb/rollback"
	"git-checkpoint/internal/verb/run"
	"git-checkpoint/internal/verb/session"
	"git-checkpoint/internal/verb/transfer"
)

// Answer is the result of a command: what the verb answered, then free text, then what may be typed
// next.
type Answer struct {
	found      []answer.Answer
	text, next string
	// quotes is set if found quotes messages, states or diffs. A command line in those is somebody's
	// text and stays as it is.
	quotes bool
}

// width is the width of an answer in columns; a chat has no terminal to ask.
const width = 100

// Text returns the answer as a chat shows it, with times relative to now.
func (a *Answer) Text(now time.Time) string {
	var b strings.Builder // writing to it cannot fail
	view := render.View{Layout: render.Aligned, Width: width, Now: now, Clock: true}
	for _, found := range a.found {
		_ = answer.Text(&b, view, found)
	}
	for _, text := range []string{a.text, a.next} {
		if text != "" {
			_ = view.Text(&b, "", text)
		}
	}
	if a.quotes {
		return b.String()
	}
	return inWords(b.String())
}

// Do runs a command in this worktree's session. Both results may be set: then the error says what
// is wrong with the answer, such as a plan that has changed and must be confirmed again. Hints of
// the error name chat commands in place of command lines.
func Do(ctx context.Context, s *checkpoint.Service, c Command) (*Answer, error) {
	line := terminalLine(s, c) // before the command changes what is remembered
	a, err := do(ctx, s, c)
	if err != nil && errors.Is(ctx.Err(), context.DeadlineExceeded) {
		if unfinished, looking := inspect.UnfinishedRollback(s); unfinished == nil && looking == nil {
			return a, tooLong(line)
		}
	}
	return a, checkpoint.WithHints(err, func(hints []string) []string {
		for i, hint := range hints {
			if hints[i] = inWords(hint); strings.HasPrefix(hint, "--") {
				hints[i] = "in a terminal, " + hint
			}
		}
		return hints
	})
}

// TooLong returns the error of a command for which there was no time left.
func TooLong(s *checkpoint.Service, c Command) error { return tooLong(terminalLine(s, c)) }

func tooLong(line string) error {
	return checkpoint.Failure(checkpoint.KindFailed, "in a terminal there is no limit: "+line, "this takes longer than an agent waits for it; nothing was changed")
}

// terminalLine returns the command line that does in a terminal what a command does, or what it confirms.
func terminalLine(s *checkpoint.Service, c Command) string {
	var m chatMemory
	if ok, err := s.Recall(checkpoint.ChatFile, &m); ok && err == nil && (c.Does == "yes" || c.Does == "force") {
		c = Command{Does: "rollback", A: m.Target, OverwriteIgnored: m.OverwriteIgnored || c.Does == "force", Branch: m.Branch}
		if m.Walk != "" {
			c = Command{Does: m.Walk}
		} else if m.Revert != "" {
			c = Command{Does: "revert", A: m.Revert, OverwriteIgnored: c.OverwriteIgnored}
		} else if m.Delete != nil {
			c = Command{Does: "delete", A: strings.Join(m.Delete, " ")}
		}
	}
	words := []string{"git checkpoint"}
	switch c.Does {
	case "list", "show", "diff", "save", "rollback", "revert", "undo", "redo", "history", "delete", "validate", "rebuild", "export":
		words = append(words, c.Does)
	case "cleanup":
		words = append(words, "prune")
	}
	for _, ref := range []string{c.A, c.B} {
		if ref != "" {
			words = append(words, ref)
		}
	}
	if c.OverwriteIgnored {
		words = append(words, "--overwrite-ignored")
	}
	if c.Branch {
		words = append(words, "--branch")
	}
	return "`" + strings.Join(words, " ") + "`"
}

func do(ctx context.Context, s *checkpoint.Service, c Command) (*Answer, error) {
	// A bare "y" confirms only what was asked right before it; any other command ends that.
	if c.Does != "yes" {
		Heard(s)
	}
	switch c.Does {
	case "list":
		return chatList(ctx, s)
	case "mistyped":
		return nil, checkpoint.Usage("*help lists what may be typed", "%q is no command, so nothing was done; did you mean %s?", name.Clip(c.Words, name.Said), c.A)
	case "show":
		found, err := inspect.Show(ctx, s, "", c.A)
		return unless(err, quoted(answer.Shown{Detail: found}, ""))
	case "diff":
		found, err := inspect.Diff(ctx, s, inspect.DiffRequest{A: c.A, B: c.B})
		return unless(err, quoted(answer.Compared{Difference: found, Files: answer.FilesFew}, ""))
	case "save":
		return chatSave(ctx, s, c.Words)
	case "cleanup":
		done, err := retain.Prune(ctx, s, retain.PruneRequest{Unasked: true})
		return unless(err, shown(answer.Pruned{Prune: done}, ""))
	case "rollback":
		return chatPlan(ctx, s, chatMemory{Target: c.A, Reason: c.Words, OverwriteIgnored: c.OverwriteIgnored, Branch: c.Branch})
	case "revert":
		return chatRevert(ctx, s, c)
	case "undo", "redo":
		return chatPlan(ctx, s, chatMemory{Walk: c.Does})
	case "history":
		lines, err := inspect.History(ctx, s, "", inspect.DetailNone)
		return unless(err, shown(answer.Audit(lines[max(0, len(lines)-longestHistory):]), ""))
	case "help":
		return &Answer{text: help}, nil
	case "delete":
		return chatDelete(ctx, s, c.A)
	case "force":
		return chatForce(ctx, s)
	case "yes":
		return chatYes(ctx, s, c)
	case "retry", "skip", "pause", "continue", "abort":
		return chatAnswer(ctx, s, c.Does)
	case "manual":
		return chatManual(ctx, s, c.A)
	case "validate":
		return chatValidate(ctx, s)
	case "rebuild":
		return chatRebuild(ctx, s, c.A)
	default: // "export"
		return chatExport(ctx, s)
	}
}

func chatSave(ctx context.Context, s *checkpoint.Service, message string) (*Answer, error) {
	made, err := create.Checkpoint(ctx, s, create.Request{Message: message})
	if err != nil {
		return nil, err
	}
	saved := shown(answer.Created{Detail: made}, "Enter continues, *pause stops here.")
	saved.text = strings.Join(made.Warnings, "\n")
	return saved, nil
}

func chatRevert(ctx context.Context, s *checkpoint.Service, c Command) (*Answer, error) {
	f, err := s.Resolve(ctx, "", c.A)
	if err != nil {
		return nil, err
	}
	return chatPlan(ctx, s, chatMemory{Revert: string(f.Session) + ":" + string(f.Entry.Checkpoint), Reason: c.Words})
}

// chatList lists the steps of this conversation, after those of the conversation before it: an agent
// that forgets a conversation goes on in another session.
func chatList(ctx context.Context, s *checkpoint.Service) (*Answer, error) {
	list, err := inspect.List(ctx, s, inspect.ListRequest{Limit: 20, Detail: inspect.DetailRows})
	if err != nil {
		return nil, err
	}
	next := "*cp-show:N shows one, *cp-diff:N compares, *rollback:N goes back, *help has the rest."
	if before := conversationBefore(ctx, s); before != "" {
		older, err := inspect.List(ctx, s, inspect.ListRequest{Session: string(before), Limit: 10, Detail: inspect.DetailRows})
		if err != nil {
			return nil, err
		}
		list = append(older, list...)
		next += fmt.Sprintf(" *rollback:%s:N goes back to a step of the conversation before.", before)
	}
	return quoted(answer.Listed{Sessions: list}, next), nil
}

// conversationBefore returns the session of the last conversation with an agent in this worktree before
// that of the active session, or "".
func conversationBefore(ctx context.Context, s *checkpoint.Service) (before name.Session) {
	now, err := checkpoint.ChosenState(ctx, s, "")
	if err != nil || now.Workflow != workflow.AgentName {
		return ""
	}
	id, err := s.Store.WorktreeID()
	if err != nil {
		return ""
	}
	states, err := s.States(ctx, "")
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

// shown returns the answer of a verb with what may be typed next.
func shown(found answer.Answer, next string) *Answer {
	return &Answer{found: []answer.Answer{found}, next: next}
}

// quoted is shown for an answer that quotes messages, states or diffs.
func quoted(found answer.Answer, next string) *Answer {
	return &Answer{found: []answer.Answer{found}, next: next, quotes: true}
}

// unless drops the answer if there is an error.
func unless(err error, a *Answer) (*Answer, error) {
	if err != nil {
		return nil, err
	}
	return a, nil
}

// help is the answer to *help: all that may be typed, the most frequent first.
const help = `*checkpoints, *cp-list   the list of checkpoints
*cp-show:3               one checkpoint
*cp-diff:2:4             what changed between two; *cp-diff:2 compares with the current one
*rollback:3 WHY          go back; shows the plan first, then *yes or y does it, *abort does not
*rollback-force:3 WHY    the same, over ignored files; *rollback-force after a rollback that was refused
*revert:3 WHY            take back only what one did, and leave what was done since; asks as a rollback does
*manual-restore:3        how to get at the files with plain git; *manual-restore is about the current one
*delete:3                delete one for good; asks as a rollback does
*undo, *redo             take back the last rollback, or redo it; asks as a rollback does
*retry-cp, *skip-cp      after a checkpoint that failed: make it now, or go on without it
*pause, *continue        stop here, and go on
*abort                   withdraw a question; without one, end the session
*history                 what happened in this session
*cp-validate             check everything
*cp-rebuild:3            bring back what can be proven of a damaged one
*cp-export               write the session into a bundle
*help                    this list
/checkpoint save WORDS   keep the files as they are now; /crunch --checkpoint is the same
/checkpoint list, /checkpoint restore ID, /checkpoint diff A B, /checkpoint cleanup`

// longestHistory is how many events *history shows.
const longestHistory = 20

// chatAnswer runs the commands that answer a question: what to do about a rollback that was
// interrupted, a plan, or a checkpoint that failed. *continue and *abort are about an unfinished
// rollback if there is one.
func chatAnswer(ctx context.Context, s *checkpoint.Service, does string) (*Answer, error) {
	unfinished, err := inspect.UnfinishedRollback(s)
	if err != nil {
		return nil, err
	}
	switch {
	case does == "continue" && unfinished != nil:
		done, err := rollback.Continue(ctx, s)
		return unless(err, shown(answer.RolledBack{Done: done}, ""))
	case does == "abort" && unfinished != nil:
		done, err := rollback.Abort(ctx, s)
		return unless(err, shown(answer.RolledBack{Done: done}, ""))
	case does == "continue":
		resumed, err := resume.Do(ctx, s, resume.Request{Choice: resume.Accept})
		if resumed == nil && checkpoint.KindOf(err) == checkpoint.KindInvalid {
			return chatWithout(ctx, s, err)
		}
		if resumed == nil {
			return nil, err
		}
		return shown(answer.Resumed{Resume: resumed}, ""), err
	case does == "abort":
		return chatAbort(ctx, s)
	case does == "pause":
		return chatPause(ctx, s)
	}
	return chatFailed(ctx, s, does)
}

// chatWithout goes on although the newest checkpoint is damaged. The next one begins without its state.
func chatWithout(ctx context.Context, s *checkpoint.Service, damage error) (*Answer, error) {
	st, err := checkpoint.ChosenState(ctx, s, "")
	if err != nil {
		return nil, err
	}
	e := st.CurrentEntry()
	if e == nil || checkpoint.IsClosed(st.Status) {
		return nil, damage
	}
	err = s.Append(ctx, st.Session, journal.KindResume, func(ev *journal.Event) {
		ev.Checkpoint, ev.Label = e.Checkpoint, e.Label
		if st.Status != "" {
			ev.Status = checkpoint.StatusOpen
		}
	})
	text := fmt.Sprintf("%s\nSession %s goes on without %s: the next checkpoint does not have its state.", checkpoint.MessageOf(damage), st.Session, s.Said(ctx, e))
	return unless(err, &Answer{text: text, next: strings.Join(checkpoint.HintsOf(damage), "\n")})
}

// chatAbort withdraws the question that waits for an answer, and ends the session if there is none.
func chatAbort(ctx context.Context, s *checkpoint.Service) (*Answer, error) {
	var m chatMemory
	asked, err := s.Recall(checkpoint.ChatFile, &m)
	if err == nil {
		err = s.Forget(checkpoint.ChatFile)
	}
	if err != nil || asked && m.waits() && isFresh(s, m.Time) {
		return unless(err, &Answer{text: "Nothing was changed; the question is withdrawn."})
	}
	st, err := checkpoint.ChosenState(ctx, s, "")
	if err != nil {
		return nil, err
	}
	if checkpoint.IsClosed(st.Status) {
		return nil, checkpoint.Failure(checkpoint.KindRejected, "", "session %q is already %s", st.Session, st.Status)
	}
	if _, err := session.Close(ctx, s, string(st.Session), "abandoned"); err != nil {
		return nil, err
	}
	text := fmt.Sprintf("Session %s ended; its checkpoints stay.", st.Session)
	return unless(create.ForgetFailure(s, st.Session), &Answer{text: text, next: "`git checkpoint resume " + string(st.Session) + " --accept` opens it again."})
}

// chatFailed retries the checkpoint that could not be made, or skips its step, so that the next one
// may begin. The failure was recorded by package create.
func chatFailed(ctx context.Context, s *checkpoint.Service, does string) (*Answer, error) {
	session, err := s.ChooseSession(ctx, "")
	if err != nil && checkpoint.KindOf(err) != checkpoint.KindNotFound {
		return nil, err
	}
	failed, err := create.LastFailure(s, session)
	if err != nil {
		return nil, err
	}
	if failed == nil {
		return nil, checkpoint.Failure(checkpoint.KindRefused, "", "no checkpoint failed here, so there is nothing to retry or to skip")
	}
	if does == "retry" {
		made, err := create.Retry(ctx, s, failed)
		return unless(err, shown(answer.Created{Detail: made}, ""))
	}
	if failed.Step == nil {
		return nil, checkpoint.Failure(checkpoint.KindRefused, "", "the checkpoint that failed belongs to no step, so there is no step to skip")
	}
	if err := run.Skip(ctx, s, string(failed.Session), *failed.Step, "skipped in the chat: "+failed.Problem); err != nil {
		return nil, err
	}
	told := fmt.Sprintf("Step %d is done without a checkpoint; the next step may begin.", *failed.Step)
	return unless(create.ForgetFailure(s, failed.Session), &Answer{text: told})
}

// chatPause sets the session's status to paused with an event in the journal.
func chatPause(ctx context.Context, s *checkpoint.Service) (*Answer, error) {
	st, err := checkpoint.ChosenState(ctx, s, "")
	if err != nil {
		return nil, err
	}
	if checkpoint.IsClosed(st.Status) {
		return nil, checkpoint.Failure(checkpoint.KindRejected, "", "session %q is already %s", st.Session, st.Status)
	}
	if st.Status != checkpoint.StatusPaused {
		err = s.Append(ctx, st.Session, journal.KindStatus, func(e *journal.Event) { e.Status = checkpoint.StatusPaused })
	}
	if err == nil { // a pause is an answer to what failed
		err = create.ForgetFailure(s, st.Session)
	}
	return unless(err, &Answer{text: fmt.Sprintf("Session %s is paused.", st.Session), next: "*continue resumes it."})
}

// chatManual tells how to get at the files of a checkpoint with plain git.
func chatManual(ctx context.Context, s *checkpoint.Service, ref string) (*Answer, error) {
	f, err := s.Resolve(ctx, "", ref)
	if err != nil {
		return nil, err
	}
	at := "checkpoints/" + string(f.Session) + "/" + string(f.Entry.Checkpoint)
	return &Answer{text: fmt.Sprintf(`To get the files of %s with plain git:
git ls-tree -r --name-only %[2]s      lists them
git show %[2]s:PATH      prints one
git restore --source=%[2]s -- PATH      overwrites one that is here
git worktree add --detach ../%[3]s %[2]s      puts all of them beside this worktree`, s.Said(ctx, f.Entry), at, f.Entry.Label)}, nil
}

// chatValidate validates every object of the session's checkpoints and returns those that are
// damaged, with an error if there are any.
func chatValidate(ctx context.Context, s *checkpoint.Service) (*Answer, error) {
	a, looked := &Answer{}, 0
	err := repair.Validate(ctx, s, repair.ValidateRequest{Deep: true}, func(line repair.Validated) error {
		if line.Checkpoint != "" {
			looked++
		}
		if !line.OK {
			a.found = append(a.found, answer.Validated(line))
		}
		return nil
	})
	if err != nil {
		return nil, err
	}
	if n := len(a.found); n > 0 {
		return a, checkpoint.Failure(checkpoint.KindInvalid, "", "%d of %d checkpoints checked: something is damaged", n, looked)
	}
	a.text = fmt.Sprintf("%d checkpoints checked, all are valid.", looked)
	return a, nil
}

// chatRebuild repairs a checkpoint as far as its content can be proven.
func chatRebuild(ctx context.Context, s *checkpoint.Service, ref string) (*Answer, error) {
	session, err := s.ChooseSession(ctx, "")
	if err != nil {
		return nil, err
	}
	a, broken := &Answer{}, 0
	err = repair.Rebuild(ctx, s, repair.RebuildRequest{Ref: ref, Session: string(session)}, func(line repair.Rebuilt) error {
		if !line.OK {
			broken++
		}
		a.found = append(a.found, answer.Rebuilt(line))
		return nil
	})
	switch {
	case err != nil:
		return nil, err
	case broken > 0:
		return a, checkpoint.Failure(checkpoint.KindInvalid, "", "something is still broken")
	case len(a.found) == 0:
		a.text = "Nothing to rebuild."
	}
	return a, nil
}

// chatExport writes the session into a bundle in the git directory: in the worktree the file would
// become part of the next checkpoint.
func chatExport(ctx context.Context, s *checkpoint.Service) (*Answer, error) {
	session, err := s.ChooseSession(ctx, "")
	if err != nil {
		return nil, err
	}
	file := filepath.Join(s.Repo.GitDir, string(session)+".bundle")
	done, err := transfer.ExportBundle(ctx, s, transfer.ExportRequest{Destination: transfer.Destination{Path: file}, Sessions: []string{string(session)}})
	if err != nil {
		return nil, err
	}
	return &Answer{text: fmt.Sprintf("Session %s is in %s: %d checkpoints, %d bytes.", session, file, done.Checkpoints, done.Bytes)}, nil
}
