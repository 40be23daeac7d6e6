package inspect

// This file puts the transcripts of coding agents together. Each turn keeps the lines that the
// agent wrote during that turn, as the output "transcript" of its checkpoint.

import (
	"bytes"
	"context"
	"fmt"
	"slices"

	"git-checkpoint/internal/core/checkpoint"
	"git-checkpoint/internal/format/journal"
	"git-checkpoint/internal/format/name"
	"git-checkpoint/internal/format/record"
	"git-checkpoint/internal/storage/store"
)

// TranscriptPart is the part of an agent's transcript that one turn kept, without lines that an earlier turn
// kept already.
type TranscriptPart struct {
	Checkpoint name.ID
	Label      string
	Time       checkpoint.Time
	Agent      record.Agent // its Transcript is set
	Lines      [][]byte     // each ends with a newline
}

// Transcript returns what the turns of a session kept, oldest first, including discarded ones. With
// ref it returns that checkpoint's only.
func Transcript(ctx context.Context, s *checkpoint.Sessions, session, ref string) ([]TranscriptPart, error) {
	var entries []*journal.Entry
	none := checkpoint.Failure(checkpoint.KindNotFound, "`git checkpoint agent add <agent> --transcripts` keeps them from then on", "no transcript is kept here")
	if ref != "" {
		f, err := s.Reach(ctx, session, ref)
		if err != nil {
			return nil, err
		}
		entries = []*journal.Entry{f.Entry}
		none.Message, none.Hints = checkpoint.Said(ctx, s.Store, f.State, f.Entry)+" kept no transcript", append([]string{"`git checkpoint transcript` prints what the session kept"}, none.Hints...)
	} else {
		st, err := checkpoint.ChosenState(ctx, s, session)
		if err != nil {
			return nil, err
		}
		entries = st.Checkpoints()
	}
	var talks []TranscriptPart
	// An agent may rewrite its transcript. Then it has a new file id, and its lines are not
	// compared with the old ones.
	type file struct{ conversation, id string }
	have := map[file][][]byte{}
	for _, e := range entries {
		if e.Dead || e.Safety {
			continue
		}
		t, err := talkOf(ctx, s.Store, e)
		// In a whole session, a damaged checkpoint is skipped. If the user named one, its damage is
		// the answer.
		if err != nil && ref == "" {
			s.Store.Warn(fmt.Sprintf("the transcript of %s cannot be read: %v", checkpoint.CalledBy(e), err))
			continue
		}
		if err != nil {
			return nil, err
		}
		if t == nil {
			continue
		}
		of := file{t.Agent.Session, t.Agent.Transcript.File}
		if have[of] = t.joined(have[of]); len(t.Lines) > 0 {
			talks = append(talks, *t)
		}
	}
	if len(talks) == 0 {
		return nil, none
	}
	return talks, nil
}

// talkOf reads what a checkpoint kept; nil if it kept nothing.
func talkOf(ctx context.Context, s *store.Store, e *journal.Entry) (*TranscriptPart, error) {
	got, err := checkpoint.ReadStored(ctx, s, e)
	if err != nil {
		return nil, err
	}
	rec := got.Record
	agent, _ := rec.Agent()
	if _, kept := rec.Outputs[record.TranscriptOutput]; agent.Transcript == nil || !kept {
		return nil, nil
	}
	said, err := s.Output(ctx, got.Commit, record.TranscriptOutput)
	if err != nil {
		return nil, err
	}
	t := &TranscriptPart{Checkpoint: rec.ID, Label: rec.Label, Time: checkpoint.Time{Time: rec.CreatedAt}, Agent: agent}
	for line := range bytes.Lines(said) {
		t.Lines = append(t.Lines, line)
	}
	return t, nil
}

// joined removes the lines that earlier turns kept, and returns all lines of the transcript so far.
// Lines repeat when a hook lost its notes and kept a file from the beginning again.
func (t *TranscriptPart) joined(have [][]byte) [][]byte {
	// These lines start at From. What lies beyond that in have can be a repetition.
	from := min(t.Agent.Transcript.From, len(have))
	again := min(len(have)-from, len(t.Lines))
	if !slices.EqualFunc(have[from:from+again], t.Lines[:again], bytes.Equal) {
		again = 0
	}
	t.Lines = t.Lines[again:]
	return append(have, t.Lines...)
}
