package author

import (
	"context"

	"git-checkpoint/internal/core/checkpoint"
	"git-checkpoint/internal/format/journal"
	"git-checkpoint/internal/format/record"
)

// mostSearched bounds how many checkpoints of another session Origin reads.
const mostSearched = 200

// Origin is a checkpoint that says itself who made a path of its difference.
type Origin struct {
	State *journal.State
	Entry *journal.Entry
	Who   Who
}

// Find returns the checkpoint of the session who.Session in which its agent made what a checkpoint e of
// another session only took over; nil if there is none left that says so.
func (who Who) Find(ctx context.Context, s *checkpoint.Service, e *journal.Entry, path record.Path) (*Origin, error) {
	st, err := s.State(ctx, who.Session)
	if err != nil {
		return nil, nil //nolint:nilerr,nilnil // the session was deleted, or never came here
	}
	read := 0
	for i, standing := range st.Backward() {
		if standing.Dead || standing.Safety {
			continue
		}
		other := st.At(i)
		if other.Event().WorktreeID != e.Event().WorktreeID || other.Event().Time.After(e.Event().Time) {
			continue
		}
		if read++; read > mostSearched {
			break
		}
		step, err := Of(ctx, s, st, other)
		if err != nil && ctx.Err() != nil {
			return nil, err
		}
		if said := step.Who(path); said.Session == who.Session {
			return &Origin{st, other, said}, nil
		}
	}
	return nil, nil //nolint:nilnil // see above
}

// Speaker returns the checkpoint whose message describes e. For what an agent's tool made it is the
// one that ends the turn, because that has the words of the prompt on which the agent worked. If
// there is none, it is e itself.
func Speaker(st *journal.State, e *journal.Entry) *journal.Entry {
	if e.Event().Trigger != journal.TriggerTool {
		return e
	}
	for i := e.Place + 1; i < st.Len(); i++ {
		if later := st.At(i); later.Event().Trigger == journal.TriggerTurn && !later.Dead {
			return later
		}
	}
	return e
}
