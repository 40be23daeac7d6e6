package checkpoint

import (
	"context"
	"fmt"
	"os"
	"path/filepath"

	"git-checkpoint/internal/journal"
	"git-checkpoint/internal/name"
)

// ChatAnswer is what a command typed in a chat has found out or done; one member says
// it. Next is what may be typed then.
type ChatAnswer struct {
	List       []Listing
	Detail     *Detail
	Difference *Difference
	Plan       *RollbackAnswer
	Done       *RollbackAnswer
	Created    *Detail
	Pruned     *PruneAnswer
	Resumed    *ResumeAnswer
	Validated  []Validated // what is damaged
	Rebuilt    []Rebuilt
	Text       string
	Next       string
}

// Chat runs a command in this worktree's session. With an answer an error is what is
// wrong with it: a plan that has to be looked at again.
func (s *Service) Chat(ctx context.Context, c ChatCommand) (*ChatAnswer, error) {
	a := &ChatAnswer{}
	var err error
	switch c.Does {
	case "list":
		a.List, err = s.List(ctx, ListRequest{Limit: 20})
	case "show":
		a.Detail, err = s.Show(ctx, "", c.A)
	case "diff":
		a.Difference, err = s.Diff(ctx, DiffRequest{A: c.A, B: c.B})
	case "save":
		a.Created, err = s.Create(ctx, CreateRequest{Message: c.Words})
	case "cleanup":
		a.Pruned, err = s.Prune(ctx, PruneRequest{})
	case "rollback":
		return s.chatPlan(ctx, chatMemory{Target: c.A, OverwriteIgnored: c.OverwriteIgnored, Branch: c.Branch})
	case "force":
		return s.chatForce(ctx)
	case "yes":
		return s.chatYes(ctx, c)
	case "retry", "skip", "pause", "continue", "abort":
		return s.chatAnswer(ctx, c.Does)
	case "manual":
		return s.chatManual(ctx, c.A)
	case "validate":
		return s.chatValidate(ctx)
	case "rebuild":
		return s.chatRebuild(ctx, c.A)
	default: // "export"
		return s.chatExport(ctx)
	}
	if err != nil {
		return nil, err
	}
	return a, nil
}

// chatAnswer does what answers a question of ours.
func (s *Service) chatAnswer(ctx context.Context, does string) (*ChatAnswer, error) {
	unfinished, err := s.UnfinishedRollback()
	if err != nil {
		return nil, err
	}
	switch {
	case does == "continue" && unfinished != nil:
		done, err := s.Continue(ctx)
		return answered(&ChatAnswer{Done: done}, err)
	case does == "abort" && unfinished != nil:
		done, err := s.Abort(ctx)
		return answered(&ChatAnswer{Done: done}, err)
	case does == "continue":
		resumed, err := s.Resume(ctx, ResumeRequest{Choice: ResumeAccept})
		if resumed == nil {
			return nil, err
		}
		return &ChatAnswer{Resumed: resumed}, err
	case does == "abort":
		if err := s.forget(chatFile, failedFile); err != nil {
			return nil, err
		}
		return &ChatAnswer{Text: "Nothing was changed, and nothing is asked any more."}, nil
	case does == "pause":
		return s.chatPause(ctx)
	}
	return s.chatFailed(ctx, does)
}

func answered(a *ChatAnswer, err error) (*ChatAnswer, error) {
	if err != nil {
		return nil, err
	}
	return a, nil
}

// chatFailed tries again or does without the checkpoint that could not be made.
func (s *Service) chatFailed(ctx context.Context, does string) (*ChatAnswer, error) {
	failed, err := s.rememberedFailure()
	if err != nil {
		return nil, err
	}
	if failed == nil {
		return nil, &Error{
			Kind: KindRefused, Message: "no checkpoint failed here, so there is nothing to retry or to skip",
			Hints: []string{"a failed one is remembered for a day"},
		}
	}
	if does == "retry" {
		made, err := s.Create(ctx, failed.Request)
		return answered(&ChatAnswer{Created: made}, err)
	}
	if failed.Step == nil {
		return nil, &Error{Kind: KindRefused, Message: "the checkpoint that failed belongs to no step, so no step can be skipped"}
	}
	if err := s.Skip(ctx, string(failed.Session), *failed.Step, "skipped in the chat: "+failed.Problem); err != nil {
		return nil, err
	}
	if err := s.forget(failedFile); err != nil {
		return nil, err
	}
	return &ChatAnswer{Text: fmt.Sprintf("Step %d is done without a checkpoint; the next step may begin.", *failed.Step)}, nil
}

// chatPause journals that the session waits.
func (s *Service) chatPause(ctx context.Context) (*ChatAnswer, error) {
	session, err := s.chooseSession(ctx, "")
	if err != nil {
		return nil, err
	}
	st, err := s.state(ctx, session)
	if err != nil {
		return nil, err
	}
	if isClosed(st.Status) {
		return nil, &Error{Kind: KindRejected, Message: fmt.Sprintf("session %q is %s already", session, st.Status)}
	}
	if st.Status != statusPaused {
		e, err := s.event(journal.KindStatus, session)
		if err != nil {
			return nil, classify(err)
		}
		e.Status = statusPaused
		if err := s.append(ctx, session, e); err != nil {
			return nil, err
		}
	}
	return &ChatAnswer{Text: fmt.Sprintf("Session %s is paused.", session), Next: "*continue goes on with it."}, nil
}

// statusPaused is the status of a session that waits for somebody.
const statusPaused = "paused"

// chatManual says how to get at the files of a checkpoint with plain git.
func (s *Service) chatManual(ctx context.Context, ref string) (*ChatAnswer, error) {
	f, err := s.resolve(ctx, "", ref)
	if err != nil {
		return nil, err
	}
	at := "checkpoints/" + string(f.session) + "/" + string(f.entry.Checkpoint)
	return &ChatAnswer{Text: fmt.Sprintf(`The files of %s with plain git:
git ls-tree -r --name-only %[2]s      lists them
git show %[2]s:PATH      prints one
git restore --source=%[2]s -- PATH      overwrites one that is here
git worktree add --detach ../%[3]s %[2]s      puts all of them beside this worktree`, f.entry.Label, at, f.entry.Label)}, nil
}

// chatValidate names what is damaged in this worktree's session.
func (s *Service) chatValidate(ctx context.Context) (*ChatAnswer, error) {
	a, looked := &ChatAnswer{}, 0
	err := s.Validate(ctx, ValidateRequest{Depth: DepthObjects}, func(line Validated) error {
		if line.Checkpoint != "" {
			looked++
		}
		if !line.OK {
			a.Validated = append(a.Validated, line)
		}
		return nil
	})
	if err != nil {
		return nil, err
	}
	if n := len(a.Validated); n > 0 {
		return a, &Error{Kind: KindInvalid, Message: fmt.Sprintf("%d of %d checkpoints looked at: something is damaged", n, looked)}
	}
	a.Text = fmt.Sprintf("%d checkpoints looked at, all are valid.", looked)
	return a, nil
}

// chatRebuild makes again what can be proven of a checkpoint.
func (s *Service) chatRebuild(ctx context.Context, ref string) (*ChatAnswer, error) {
	session, err := s.chooseSession(ctx, "")
	if err != nil {
		return nil, err
	}
	a, broken := &ChatAnswer{}, 0
	err = s.Rebuild(ctx, RebuildRequest{Ref: ref, Session: string(session)}, func(line Rebuilt) error {
		if !line.OK {
			broken++
		}
		a.Rebuilt = append(a.Rebuilt, line)
		return nil
	})
	switch {
	case err != nil:
		return nil, err
	case broken > 0:
		return a, &Error{Kind: KindInvalid, Message: "something stays broken"}
	case len(a.Rebuilt) == 0:
		a.Text = "Nothing to rebuild."
	}
	return a, nil
}

// chatExport writes the session into a bundle in the git directory, where it is no file
// of the work.
func (s *Service) chatExport(ctx context.Context) (*ChatAnswer, error) {
	session, err := s.chooseSession(ctx, "")
	if err != nil {
		return nil, err
	}
	file := filepath.Join(s.repo.GitDir, string(session)+".bundle")
	done, err := s.ExportBundle(ctx, ExportRequest{Path: file, Sessions: []string{string(session)}})
	if err != nil {
		return nil, err
	}
	return &ChatAnswer{Text: fmt.Sprintf("Session %s is in %s: %d checkpoints, %d bytes.", session, file, done.Checkpoints, done.Bytes)}, nil
}

// forget deletes what was remembered.
func (s *Service) forget(files ...string) error {
	for _, file := range files {
		if err := os.Remove(s.memory(file)); err != nil && !os.IsNotExist(err) {
			return classify(err)
		}
	}
	return nil
}

// chatSession is the session of this worktree, for plans.
func (s *Service) chatSession(ctx context.Context) (name.Session, error) {
	return s.chooseSession(ctx, "")
}
