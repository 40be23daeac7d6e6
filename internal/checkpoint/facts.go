package checkpoint

import (
	"cmp"
	"context"
	"encoding/json"
	"strings"

	"git-checkpoint/internal/journal"
	"git-checkpoint/internal/workflow"
)

// IsOver reports whether a session was closed, its workflow has come to its end, or
// nothing is left of it.
func IsOver(ctx context.Context, s *Service, st *journal.State) bool {
	if IsClosed(st.Status) {
		return true
	}
	if st.CurrentEntry() == nil {
		return len(st.Tombstones) > 0
	}
	def, err := s.DefinitionFor(ctx, st)
	if err != nil {
		return false
	}
	status := st.CurrentEntry().Event().CheckpointStatus
	return status == "complete" || def.Statuses.Closes[status] == "complete"
}

// StatusOf is where a session stands: how it was closed, else what its workflow makes of the
// current checkpoint's status, which may end it too.
func StatusOf(ctx context.Context, s *Service, st *journal.State) string {
	e := st.CurrentEntry()
	if IsClosed(st.Status) || e == nil {
		return cmp.Or(st.Status, StatusOpen)
	}
	status := e.Event().CheckpointStatus
	if def, err := s.DefinitionFor(ctx, st); err == nil && def.Statuses.Closes[status] != "" {
		return def.Statuses.Closes[status]
	}
	if st.Status != "" && st.Status != StatusOpen {
		return st.Status
	}
	return cmp.Or(status, StatusOpen)
}

// IsOfType reports whether a session's name, or the kind of work that its state names,
// begins like this.
func IsOfType(ctx context.Context, s *Service, st *journal.State, prefix string) bool {
	return strings.HasPrefix(string(st.Session), prefix) || strings.HasPrefix(FactsOf(ctx, s, st).Type, prefix)
}

// FactsOf is what the current state of a session says of itself; nothing where it
// cannot be read.
func FactsOf(ctx context.Context, s *Service, st *journal.State) workflow.Facts {
	e := st.CurrentEntry()
	def, err := s.DefinitionFor(ctx, st)
	if err != nil || e == nil {
		return workflow.Facts{}
	}
	rec, _, _, err := s.ReadRecord(ctx, e)
	if err != nil {
		return workflow.Facts{}
	}
	facts, err := def.Read(rec.State)
	if err != nil {
		return workflow.Facts{}
	}
	return facts
}

// TopicOf is what the session was started for, else what its documents say of themselves.
func TopicOf(ctx context.Context, s *Service, st *journal.State) string {
	if st.Topic != "" {
		return st.Topic
	}
	def, err := s.DefinitionFor(ctx, st)
	if err != nil || def.State.Members.Topic == "" {
		return ""
	}
	return FactsOf(ctx, s, st).Topic
}

// TopicIn is what a document says of itself.
func TopicIn(def *workflow.Definition, state json.RawMessage) string {
	if def.State.Members.Topic == "" {
		return ""
	}
	facts, err := def.Read(state)
	if err != nil {
		return ""
	}
	return facts.Topic
}
