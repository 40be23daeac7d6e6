package hook

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"strings"
	"time"

	"git-checkpoint/internal/agent"
	"git-checkpoint/internal/chat"
	"git-checkpoint/internal/checkpoint"
	"git-checkpoint/internal/create"
	"git-checkpoint/internal/journal"
	"git-checkpoint/internal/name"
	"git-checkpoint/internal/record"
	"git-checkpoint/internal/resume"
	"git-checkpoint/internal/session"
	"git-checkpoint/internal/store"
)

// Repository does for a Handler what concerns the repository of a worktree.
type Repository struct {
	Service *checkpoint.Service
}

// Session returns the session from the environment, or the one that a person has chosen.
// Otherwise it is named after the agent, the conversation and the worktree, is started if
// necessary, and becomes the active one.
func (r *Repository) Session(ctx context.Context, conversation string, def *agent.Definition) (name.Session, error) {
	s := r.Service
	if s.Getenv("GIT_CHECKPOINT_SESSION") != "" {
		return s.NamedSession("")
	}
	active, err := s.Store.ActiveSession()
	if err == nil && active != "" && checkpoint.IsChosen(s, active) {
		return active, nil
	}
	id, err := s.Store.WorktreeID()
	if err != nil {
		return "", checkpoint.Classify(err)
	}
	sum := sha256.Sum256([]byte(conversation + "\x00" + id))
	own := name.Session(def.Name + "-" + hex.EncodeToString(sum[:4]))
	if _, err := s.Store.State(ctx, own); errors.Is(err, store.ErrNoSession) {
		if _, err := session.Start(ctx, s, session.Request{Name: string(own), Workflow: Workflow}); err != nil {
			return "", err
		}
	} else if err != nil {
		return "", checkpoint.Classify(err)
	}
	return own, checkpoint.Adopt(s, own)
}

// Workflow is the built-in workflow of sessions that hooks start.
const Workflow = "agent"

// Save makes a checkpoint if something changed. Saved.Tree is set in either case.
func (r *Repository) Save(ctx context.Context, save Save) (Saved, error) {
	request := create.Request{
		Session: string(save.Session), Trigger: save.Trigger, Message: save.Message,
		SkipUnchanged: true, Unless: save.Unless, Agent: &save.Agent,
	}
	if len(save.Lines) > 0 {
		request.Outputs = []create.Output{{Name: record.TranscriptOutput, Data: save.Lines}}
	}
	made, err := create.Checkpoint(ctx, r.Service, request)
	if err == nil {
		return Saved{Label: made.Record.Label, Tree: made.Record.Snapshot.Tree}, nil
	}
	if checkpoint.KindOf(err) != checkpoint.KindNothing {
		return Saved{}, err
	}
	return Saved{Tree: create.CurrentTree(ctx, r.Service, save.Session)}, nil
}

// Context returns the same text as `resume --context`.
func (r *Repository) Context(ctx context.Context, session name.Session) (string, error) {
	a, err := resume.Do(ctx, r.Service, resume.Request{Target: string(session), Choice: resume.View})
	if kind := checkpoint.KindOf(err); a == nil && (kind == checkpoint.KindNotFound || kind == checkpoint.KindRejected) {
		return "", nil // nothing to continue
	}
	if a == nil {
		return "", err
	}
	return a.Context(), nil
}

// Moves describes, oldest first, what others did to the files of this worktree since a time:
// rollbacks and undos in it, and checkpoints that other sessions made in it.
func (r *Repository) Moves(ctx context.Context, own name.Session, after time.Time) ([]string, error) {
	s := r.Service
	id, err := s.Store.WorktreeID()
	if err != nil {
		return nil, checkpoint.Classify(err)
	}
	states, err := s.States(ctx, "")
	if err != nil {
		return nil, err
	}
	var told []string
	for _, st := range states {
		told = append(told, movesOf(st, id, own, after)...)
	}
	if len(told) > 0 {
		told = append(told, "Read a file again before you change it.")
	}
	return told, nil
}

// movesOf returns what the events of one session say about this worktree since a time.
func movesOf(st *journal.State, worktree string, own name.Session, after time.Time) (told []string) {
	for _, e := range st.Rollbacks {
		if e.WorktreeID != worktree || !e.Time.After(after) {
			continue
		}
		line := fmt.Sprintf("The files of this worktree went back at %s: %s.", e.Time.Local().Format("15:04:05"), oneLine(e.Subject()))
		told = append(told, line)
	}
	if st.Session == own {
		return told
	}
	made := 0
	for _, c := range st.Checkpoints() {
		e := c.Event()
		if !c.Safety && e.WorktreeID == worktree && e.Time.After(after) {
			made++
		}
	}
	switch {
	case made == 1:
		told = append(told, fmt.Sprintf("Meanwhile another session made a checkpoint in this worktree (%s); files may have changed.", st.Session))
	case made > 1:
		told = append(told, fmt.Sprintf("Meanwhile another session made %d checkpoints in this worktree (%s); files may have changed.", made, st.Session))
	}
	return told
}

func oneLine(s string) string { return strings.Join(strings.Fields(s), " ") }

// Chat runs a prompt that is one of our commands; ours is false for any other. Any other prompt
// withdraws a question that a command asked before, because an answer counts only as the very
// next prompt; err says that this failed.
func (r *Repository) Chat(ctx context.Context, prompt string) (answer string, ours bool, err error) {
	command, ours := chat.Parse(prompt)
	if !ours {
		return "", false, r.Service.Forget(checkpoint.ChatFile)
	}
	said, problem := chat.Do(ctx, r.Service, command)
	if said == nil && checkpoint.KindOf(problem) == checkpoint.KindNothing && problem.Error() == "" {
		// A "y" without a question is an ordinary prompt.
		return "", false, nil
	}
	var lines []string
	if said != nil {
		lines = append(lines, strings.TrimRight(said.Text(r.Service.Now()), "\n"))
	}
	return strings.Join(append(lines, told(problem)...), "\n"), true, nil
}

// told returns the lines that tell a person in a chat about an error, with its hints.
func told(problem error) (lines []string) {
	if problem == nil {
		return nil
	}
	lines = append(lines, problem.Error())
	var known *checkpoint.Error
	if errors.As(problem, &known) {
		for _, hint := range known.Hints {
			lines = append(lines, "hint: "+hint)
		}
	}
	return lines
}
