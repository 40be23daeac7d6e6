package inspect

// This file collects what the web page draws: the checkpoints of a session as a line, and rollbacks
// and undos as moves on it.

import (
	"context"
	"encoding/json"

	"github.com/tidwall/gjson"
	"github.com/tidwall/sjson"

	"git-checkpoint/internal/core/checkpoint"
	"git-checkpoint/internal/core/workflow"
	"git-checkpoint/internal/format/journal"
	"git-checkpoint/internal/format/name"
	"git-checkpoint/internal/format/record"
	"git-checkpoint/internal/storage/store"
	"git-checkpoint/internal/verb/create"
)

// Timeline is everything that a session did, oldest first, without what was pruned. The web page
// draws it.
type Timeline struct {
	Session name.Session
	Topic   string
	Steps   []TimelineStep
	Moves   []Move

	state *journal.State
	def   *workflow.Definition
}

// TimelineStep is a checkpoint and what was current when it was made.
type TimelineStep struct {
	Item
	Previous name.ID // empty: it was the first one
	Safety   bool    // made by a rollback or an undo
	Who      string  // the name of its author
}

// Move is a rollback or an undo.
type Move struct {
	Undo     bool
	From, To name.ID // empty: nothing was current
	Reason   string
}

// ReadTimeline returns the timeline of a session; "" is the one that ChooseSession chooses.
func ReadTimeline(ctx context.Context, s *checkpoint.Sessions, session string) (*Timeline, error) {
	st, err := checkpoint.ChosenState(ctx, s, session)
	if err != nil {
		return nil, err
	}
	def, err := s.Rules.ReadableDefinition(ctx, st)
	if err != nil {
		return nil, err
	}
	t := &Timeline{Session: st.Session, Topic: checkpoint.TopicOf(ctx, s.Rules, st), state: st, def: def}
	kept := stillThere(st)
	items, _, err := itemsOf(ctx, s.Store, st, kept)
	if err != nil {
		return nil, err
	}
	continued := st.Continued(0)
	for i, e := range kept {
		item := items[i]
		item.Milestone = item.Milestone && !continued[e.Place]
		t.Steps = append(t.Steps, TimelineStep{
			Item: item, Previous: e.Event().Previous, Safety: e.Safety, Who: e.Event().Writer(),
		})
	}
	for _, e := range st.Events() {
		if e.Kind == journal.KindRollback || e.Kind == journal.KindUndo {
			t.Moves = append(t.Moves, Move{Undo: e.Kind == journal.KindUndo, From: e.From, To: e.To, Reason: e.Reason})
		}
	}
	return t, nil
}

// Neighbors returns the checkpoints before and after one in its session's timeline ("" at the ends),
// and the name of its author. It reads no record.
func Neighbors(ctx context.Context, s *store.Store, session name.Session, id name.ID) (older, newer name.ID, who string, err error) {
	st, err := checkpoint.State(ctx, s, session)
	if err != nil {
		return "", "", "", err
	}
	found := false
	for _, e := range st.Checkpoints() {
		switch {
		case e.Dead:
		case e.Checkpoint == id:
			found, who = true, e.Event().Writer()
		// The first one after it. Everything before was noted as older.
		case found:
			return older, e.Checkpoint, who, nil
		default:
			older = e.Checkpoint
		}
	}
	return older, "", who, nil
}

// Metrics returns the member of a record's state in which the session's workflow keeps metrics, and
// the tokens that an agent's turn used, as JSON; empty if there is none.
func (t *Timeline) Metrics(settings *checkpoint.Settings, rec *record.Record) json.RawMessage {
	own := create.MetricsOf(t.def, rec.State)
	u := settings.UsageOf(rec)
	if u == nil || gjson.GetBytes(own, metricTokens).Exists() {
		return own
	}
	if all, err := sjson.SetBytes(own, metricTokens, u.Total()); err == nil {
		return all
	}
	return own
}

// Record reads the record of one of the steps.
func (t *Timeline) Record(ctx context.Context, s *store.Store, id name.ID) (*record.Record, error) {
	e := t.state.Entry(id)
	if e == nil {
		return nil, checkpoint.UnknownCheckpointError(t.Session, t.state, string(id))
	}
	return checkpoint.ReadRecord(ctx, s, e)
}
