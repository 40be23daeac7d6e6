package hook

// This file counts the tokens that a turn used. They are read from the agent's transcript, or sent
// by its plugin. Only numbers and names of models are kept.

import (
	"bytes"
	"context"
	"io"
	"slices"
	"strings"
	"time"

	"git-checkpoint/internal/core/agent"
	"git-checkpoint/internal/core/checkpoint"
	"git-checkpoint/internal/format/journal"
	"git-checkpoint/internal/format/record"
	"git-checkpoint/internal/verb/continuation"
)

// spending is what is remembered of the tokens of a conversation.
type spending struct {
	File    string       `json:"file,omitempty"`   // the transcript
	Turns   []spent      `json:"turns,omitempty"`  // the last one that was counted, and those that no checkpoint has
	Files   []spent      `json:"files,omitempty"`  // transcripts of subagents
	Pending record.Usage `json:"pending,omitzero"` // was sent, and no checkpoint has it
}

// spent is what checkpoints have of a turn, or of a subagent's transcript.
type spent struct {
	ID    string       `json:"id"`
	Usage record.Usage `json:"usage,omitzero"`
}

// Limits of what is read and remembered.
const (
	mostRead    = 32 << 20 // the end of a transcript, in bytes
	mostTurns   = 100
	longestLag  = 50 * time.Millisecond // for the last line of a turn
	lagInterval = 5 * time.Millisecond
)

// noteUsage remembers what the event says about tokens.
func (h *handler) noteUsage() {
	s, e := &h.c.Spending, h.e
	if e.Transcript != "" {
		s.File = e.Transcript
	}
	if !h.keepsUsage {
		return
	}
	s.Pending.Join(e.Usage)
	known := func(sp spent) bool { return sp.ID == e.SubagentTranscript }
	if e.SubagentTranscript != "" && !slices.ContainsFunc(s.Files, known) {
		s.Files = newest(append(s.Files, spent{ID: e.SubagentTranscript}))
	}
}

// newest returns the last elements of a list.
func newest(list []spent) []spent { return list[max(0, len(list)-mostTurns):] }

// usage returns what no checkpoint has yet of the tokens of the turn and of those before, nil for
// nothing, and what to remember once a checkpoint has it. A turn without a checkpoint is remembered,
// so that a later one counts it.
func (h *handler) usage() (*record.Usage, spending) {
	now := h.c.Spending
	lag := time.Duration(0)
	if h.e.Kind == agent.KindTurnEnd {
		lag = longestLag
	}
	main := h.read(now.File, nil, lag)
	if main != nil {
		h.left = main.Left
	}
	if !h.keepsUsage {
		return nil, now
	}
	now.Turns, now.Files = slices.Clone(now.Turns), slices.Clone(now.Files)
	sum := now.Pending
	now.Pending = record.Usage{}
	if main != nil {
		now.Turns = turnsOf(main.Turns, now.Turns, h.turns())
		h.c.Spending.Turns = slices.Clone(now.Turns)
		for i := range now.Turns {
			sum.Join(h.more(&now.Turns[i], main.SumOf(now.Turns[i].ID)))
		}
	}
	for i := range now.Files {
		// Without the main transcript it is not known what that has counted already.
		if own := h.read(now.Files[i].ID, main, 0); own != nil && main != nil {
			sum.Join(h.more(&now.Files[i], own.All()))
		}
	}
	if n := len(now.Turns); n > 1 {
		now.Turns = now.Turns[n-1:] // lines of the others are not late any more
	}
	if sum.Tokens == (record.Tokens{}) {
		return nil, now
	}
	return &sum, now
}

// leave marks the steps that the person left with the agent's own rewind, as the transcript shows: their messages say so.
func (h *handler) leave(ctx context.Context) error {
	if len(h.left) == 0 {
		return nil
	}
	st, err := checkpoint.State(ctx, h.s.Store, h.c.Session)
	if err != nil {
		return err
	}
	mark := " (left by " + h.def.Title + "'s rewind)"
	for e, rec := range h.steps(ctx, st) {
		subject, rest, _ := strings.Cut(rec.Message, "\n")
		a, _ := rec.Agent()
		if a.Session != h.e.Session || !slices.Contains(h.left, a.Turn) || strings.HasSuffix(subject, mark) {
			continue
		}
		described := func(to *journal.Event) {
			message := strings.TrimSpace(subject + mark + "\n" + rest)
			to.Extra = []journal.Trailer{{Key: journal.TrailerDescribes, Value: string(e.Checkpoint)}, {Key: journal.TrailerMessage, Value: message}}
		}
		if err := checkpoint.Append(ctx, h.s.Store, h.c.Session, journal.KindStart, described); err != nil {
			return err
		}
	}
	return nil
}

// turns returns the ids of the turns that end. A turn may begin without a prompt of the person's.
func (h *handler) turns() (ids []string) {
	if h.c.Turn.ID != "" {
		ids = append(ids, h.c.Turn.ID)
	}
	if h.e.Kind == agent.KindTurnEnd && h.e.Turn != "" {
		ids = append(ids, h.e.Turn)
	}
	return ids
}

// more returns what is new of a turn, and remembers all of it.
func (h *handler) more(s *spent, all record.Usage) record.Usage {
	if all.Requests > 0 && len(all.Models) == 0 {
		// The lines name no model.
		all = record.UsageOf(h.e.Model, all.Tokens)
	}
	more := all.Since(s.Usage)
	s.Usage.Join(more)
	return more
}

// turnsOf returns the turns to count: those remembered and those with the ids. Without ids it is those of
// the transcript that follow the last one remembered, or the last one. A transcript that names no turn is
// one.
func turnsOf(all []string, known []spent, ids []string) []spent {
	add := func(turn string) {
		if !slices.ContainsFunc(known, func(s spent) bool { return s.ID == turn }) {
			known = append(known, spent{ID: turn})
		}
	}
	if len(all) == 1 && all[0] == "" {
		add("")
	}
	for _, id := range ids {
		add(id)
	}
	if len(ids) > 0 {
		return newest(known)
	}
	from := len(all) - 1
	for i, turn := range all {
		if slices.ContainsFunc(known, func(s spent) bool { return s.ID == turn }) {
			from = i + 1
		}
	}
	for _, turn := range all[max(0, from):] {
		add(turn)
	}
	return newest(known)
}

// read returns what the end of a transcript says, or nil if it cannot be read: a checkpoint is
// worth more, or if nobody asks for tokens and it shows no rewind. It waits up to lag for a late line.
func (h *handler) read(path string, before *agent.Spent, lag time.Duration) *agent.Spent {
	u := h.def.Usage
	if !u.Reads() || !h.keepsUsage && u.Number == "" {
		return nil
	}
	for began := time.Now(); ; time.Sleep(lagInterval) {
		text, err := tail(path)
		if err != nil {
			return nil
		}
		s := u.InTranscript(text, before)
		if !s.Late || time.Since(began) >= lag {
			return s
		}
	}
}

// tail returns the last lines of a transcript.
func tail(path string) ([]byte, error) {
	f, err := continuation.Open(path)
	if err != nil {
		return nil, err
	}
	defer f.Close() //nolint:errcheck // it was only read
	from := max(0, f.Size-mostRead)
	text, err := io.ReadAll(io.NewSectionReader(f, from, f.Size-from))
	if from > 0 {
		_, text, _ = bytes.Cut(text, []byte("\n"))
	}
	return text, err
}
