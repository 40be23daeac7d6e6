package inspect

import (
	"context"
	"encoding/json"
	"strings"

	"git-checkpoint/internal/checkpoint"
	"git-checkpoint/internal/create"
	"git-checkpoint/internal/journal"
	"git-checkpoint/internal/name"
	"git-checkpoint/internal/record"
	"git-checkpoint/internal/workflow"
)

// Timeline is everything that a session did and has not pruned, oldest first: what a
// drawing of the job needs.
type Timeline struct {
	Session name.Session
	Topic   string
	Steps   []TimelineStep
	Moves   []Move

	state *journal.State
	def   *workflow.Definition
}

// TimelineStep is a checkpoint and the one that was current when it was made.
type TimelineStep struct {
	Item
	Previous name.ID // empty: it was the first one
	Safety   bool    // a rollback or an undo made it
	Who      string  // the name of its author
	Worktree string
}

// Move is a rollback or an undo.
type Move struct {
	Undo     bool
	From, To name.ID // empty: nothing was current
	Reason   string
	Time     checkpoint.Time
}

// ReadTimeline reads a session, "" for the chosen one.
func ReadTimeline(ctx context.Context, s *checkpoint.Service, session string) (*Timeline, error) {
	st, err := chosenState(ctx, s, session)
	if err != nil {
		return nil, err
	}
	def, err := s.ReadableDefinition(ctx, st)
	if err != nil {
		return nil, err
	}
	t := &Timeline{Session: st.Session, Topic: checkpoint.TopicOf(ctx, s, st), state: st, def: def}
	var kept []*journal.Entry
	for _, e := range st.Checkpoints() {
		if !e.Dead {
			kept = append(kept, e)
		}
	}
	byID, problems, err := Problems(ctx, s, st, kept)
	if err != nil {
		return nil, err
	}
	listing := &Listing{Session: st.Session}
	for _, e := range kept {
		t.Steps = append(t.Steps, TimelineStep{
			Item:     listing.item(st, e, byID[e.Checkpoint], problems[e.Checkpoint]),
			Previous: e.Event().Previous, Safety: e.Safety, Who: nameOf(e.Event().Actor), Worktree: e.Event().Worktree,
		})
	}
	for _, e := range st.Events() {
		if e.Kind == journal.KindRollback || e.Kind == journal.KindUndo {
			t.Moves = append(t.Moves, Move{Undo: e.Kind == journal.KindUndo, From: e.From, To: e.To, Reason: e.Reason, Time: checkpoint.Time{Time: e.Time}})
		}
	}
	return t, nil
}

// chosenState is the journal of a session, "" for the chosen one.
func chosenState(ctx context.Context, s *checkpoint.Service, session string) (*journal.State, error) {
	chosen, err := s.ChooseSession(ctx, session)
	if err != nil {
		return nil, err
	}
	return s.State(ctx, chosen)
}

// Beside are the checkpoints before and after one in the timeline of its session, empty at its ends, and
// who made it. It reads no record.
func Beside(ctx context.Context, s *checkpoint.Service, session name.Session, id name.ID) (older, newer name.ID, who string, err error) {
	st, err := s.State(ctx, session)
	if err != nil {
		return "", "", "", err
	}
	found := false
	for _, e := range st.Checkpoints() {
		switch {
		case e.Dead:
		case e.Checkpoint == id:
			found, who = true, nameOf(e.Event().Actor)
		case found:
			return older, e.Checkpoint, who, nil
		default:
			older = e.Checkpoint
		}
	}
	return older, "", who, nil
}

// Metrics are the numbers of a state, where the session's workflow keeps them: a JSON object, or nothing.
func (t *Timeline) Metrics(state json.RawMessage) json.RawMessage {
	return create.MetricsOf(t.def, state)
}

// nameOf is an identity without its address.
func nameOf(actor string) string {
	name, _, _ := strings.Cut(actor, " <")
	return name
}

// Record reads the record of one of the steps.
func (t *Timeline) Record(ctx context.Context, s *checkpoint.Service, id name.ID) (*record.Record, error) {
	e := t.state.Entry(id)
	if e == nil {
		return nil, checkpoint.UnknownCheckpointError(t.Session, t.state, string(id))
	}
	rec, _, _, err := s.ReadRecord(ctx, e)
	return rec, err
}
