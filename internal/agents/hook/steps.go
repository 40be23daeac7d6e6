package hook

import (
	"cmp"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	"git-checkpoint/internal/agents/chat"
	"git-checkpoint/internal/core/checkpoint"
	"git-checkpoint/internal/core/workflow"
	"git-checkpoint/internal/format/journal"
	"git-checkpoint/internal/format/name"
	"git-checkpoint/internal/format/record"
	"git-checkpoint/internal/storage/snapshot"
	"git-checkpoint/internal/storage/store"
	"git-checkpoint/internal/verb/create"
	"git-checkpoint/internal/verb/resume"
	"git-checkpoint/internal/verb/session"
)

// errOff says that checkpoints are switched off, so that no event starts a session.
var errOff = errors.New("checkpoints are switched off here (checkpoint.enabled)")

// session returns the session from the environment, or the one that a person has chosen.
// Otherwise it is named after the agent, the conversation and the worktree, is started if
// necessary, and becomes the active one.
func (h *handler) session(ctx context.Context) (name.Session, error) {
	s := h.s
	if s.Settings.Getenv("GIT_CHECKPOINT_SESSION") != "" {
		return s.Sessions.NamedSession(ctx, "")
	}
	active, err := s.Store.ActiveSession()
	if err == nil && active != "" && checkpoint.IsChosen(s.Repo, active) {
		return active, nil
	}
	id, err := s.Store.WorktreeID()
	if err != nil {
		return "", err
	}
	sum := sha256.Sum256([]byte(h.c.ID + "\x00" + id))
	own := name.Session(h.def.Name + "-" + hex.EncodeToString(sum[:4]))
	if _, err := s.Store.State(ctx, own); errors.Is(err, store.ErrNoSession) {
		if on, err := s.Settings.Bool("checkpoint.enabled", true); err != nil || !on {
			return "", cmp.Or(err, errOff)
		}
		if from := h.origin(ctx); from != nil {
			_, err = create.Checkpoint(ctx, s, create.Forking(own, create.Fork{From: from}))
		} else {
			_, err = session.Start(ctx, s, session.Request{Name: string(own), Workflow: workflow.AgentName})
		}
		if err != nil {
			return "", err
		}
	} else if err != nil {
		return "", err
	}
	return own, checkpoint.Adopt(s, own)
}

// make makes a checkpoint if something changed. It returns the record, which is nil if none was made, and the files as
// they are now.
func (h *handler) make(ctx context.Context, request create.Request) (made *record.Record, tree name.OID, err error) {
	request.Session, request.SkipUnchanged, request.Automatic = string(h.c.Session), true, true
	request.LeftOut = func(left []record.Skipped) {
		h.leftOut = slices.DeleteFunc(left, func(sk record.Skipped) bool { return sk.Reason == snapshot.ReasonMirror })
	}
	if request.Agent == nil {
		request.Agent = h.agentRecord()
	}
	request.Authors = h.authors(ctx, request.Trigger == journal.TriggerTurn)
	began := time.Now()
	detail, err := create.Checkpoint(ctx, h.s, request)
	if err == nil {
		h.slow = slowWords(h.s.Repo, detail.Record, time.Since(began))
		h.saw = true
		h.work.CatchUp(ctx, h.s.Store, h.captureContext(ctx), h.previous)
		h.work.Staged(ctx, h.s.Repo, h.captureContext(ctx), h.previous, detail.Record.Git)
		h.work.Made(h.captureContext(ctx), h.previous, detail.Record.ID, h.changes, h.claims)
		h.work.Saw(h.c.Session, detail.Record.Snapshot.Tree)
		return detail.Record, detail.Record.Snapshot.Tree, nil
	}
	if checkpoint.KindOf(err) != checkpoint.KindNothing {
		return nil, "", err
	}
	// Other reasons leave a difference that has no checkpoint.
	now := create.CurrentTree(ctx, h.s.Store, h.c.Session)
	unchanged, same := errors.AsType[*create.UnchangedError](err)
	if same && unchanged.Session == h.c.Session || errors.Is(err, create.ErrFilesUnchanged) && now == request.Unless {
		if same {
			h.work.CatchUp(ctx, h.s.Store, h.captureContext(ctx), unchanged.Checkpoint)
		}
		h.work.Saw(h.c.Session, now)
		h.saw = true
	}
	return nil, now, nil
}

// agentRecord returns what the record says about the agent.
func (h *handler) agentRecord() *record.Agent {
	e := h.e
	return &record.Agent{
		Name: h.def.Name, Version: e.Version, Model: e.Model, Session: e.Session, Turn: e.Turn, Tool: e.Tool, Subagent: e.Subagent, Event: h.event,
	}
}

// resumeText returns the same text as `resume --context`.
func (h *handler) resumeText(ctx context.Context) (string, error) {
	a, err := resume.Do(ctx, h.s, resume.Request{Target: string(h.c.Session), Choice: resume.View})
	if kind := checkpoint.KindOf(err); a == nil && (kind == checkpoint.KindNotFound || kind == checkpoint.KindRejected) {
		return "", nil // nothing to continue
	}
	if a == nil {
		return "", err
	}
	return a.Context(), nil
}

// moves describes, oldest first, what others did to the files of this worktree since the agent last
// heard of it: rollbacks and undos, and checkpoints that other sessions made here. What happened
// before the conversation is not reported, as the agent has read the files since.
func (h *handler) moves(ctx context.Context) (moves []string, err error) {
	after := h.c.Seen
	h.c.Seen = h.now()
	if after.IsZero() {
		return nil, nil
	}
	id, err := h.s.Store.WorktreeID()
	if err != nil {
		return nil, err
	}
	states, err := checkpoint.States(ctx, h.s.Store, "")
	if err != nil {
		return nil, err
	}
	for _, st := range states {
		moves = append(moves, movesOf(st, id, h.c.Session, after, h.work.News(h.worker(), st.Session))...)
	}
	h.work.Workers[h.worker()].Told = h.work.Now
	if len(moves) > 0 {
		moves = append(moves, "Read a file again before you change it.")
	}
	return moves, nil
}

// movesOf returns what the events of one session say about this worktree since a time.
func movesOf(st *journal.State, worktree string, own name.Session, after time.Time, changed []string) (told []string) {
	const mostNamed = 10 // how many files of another session's the agent is told by name
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
	files := "files may have changed."
	if over := len(changed) - mostNamed; len(changed) > 0 {
		files = "it changed " + oneLine(strings.Join(changed[:min(mostNamed, len(changed))], ", "))
		if over > 0 {
			files += fmt.Sprintf(" and %d more", over)
		}
		files += "."
	}
	switch {
	case made == 1:
		told = append(told, fmt.Sprintf("Meanwhile another session made a checkpoint in this worktree (%s); %s", st.Session, files))
	case made > 1:
		told = append(told, fmt.Sprintf("Meanwhile another session made %d checkpoints in this worktree (%s); %s", made, st.Session, files))
	}
	return told
}

func oneLine(s string) string { return strings.Join(strings.Fields(s), " ") }

// talk returns the conversation as one in which commands are typed.
func (h *handler) talk() *chat.Talk {
	t := &chat.Talk{Service: h.s, Run: h.run, Keeps: h.def.Prompt.Kept}
	if h.c != nil {
		t.Session, t.Asked = h.c.Session, h.c.Asked
	}
	return t
}

// chat runs a prompt that is one of our commands; ours is false for any other. Any other prompt
// withdraws a question that a command asked before, because an answer counts only as the very
// next prompt. The answer names the repository if the conversation began in another one.
func (h *handler) chat(ctx context.Context) (answer string, ours bool) {
	t := h.talk()
	said, ours, err := t.Answer(ctx, h.e.Prompt)
	if h.c.Asked = t.Asked; !ours {
		h.c.Asked = nil
		return "", false
	}
	var lines []string
	if began := h.places.began(hashed(h.agent, h.e)); began != h.s.Repo.WorkTree {
		lines = append(lines, "in "+oneLine(h.s.Repo.WorkTree))
	}
	if said != "" {
		lines = append(lines, said)
	}
	return strings.Join(append(lines, checkpoint.Lines(err)...), "\n"), true
}
