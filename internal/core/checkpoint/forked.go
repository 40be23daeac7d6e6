package checkpoint

import (
	"context"

	"git-checkpoint/internal/core/workflow"
	"git-checkpoint/internal/format/journal"
	"git-checkpoint/internal/format/name"
	"git-checkpoint/internal/storage/store"
)

// An attempt is a session that was forked from a checkpoint of another one. Its start event has
// these extra trailers, which say from where.
const (
	TrailerForkSession    = "Fork-Session"
	TrailerForkCheckpoint = "Fork-Checkpoint"
	TrailerForkName       = "Fork-Name"
)

// Origin says where an attempt was forked from.
type Origin struct {
	Name       string       // the name of the attempt
	Session    name.Session // the session that it was forked from
	Checkpoint name.ID      // the checkpoint of that session, which the attempt's first one copies
}

// OriginOf returns the origin of a session. The result is false when the session is not an attempt.
func OriginOf(st *journal.State) (Origin, bool) {
	if st.Started == nil {
		return Origin{}, false
	}
	o := Origin{
		Name:       st.Started.Trailer(TrailerForkName),
		Session:    name.Session(st.Started.Trailer(TrailerForkSession)),
		Checkpoint: name.ID(st.Started.Trailer(TrailerForkCheckpoint)),
	}
	return o, o.Session != "" && o.Checkpoint != ""
}

// continued returns the session of the conversation that an agent's session goes on from; nil if there is
// none. Its numbers go on from those there.
func continued(ctx context.Context, s *store.Store, st *journal.State) *Found {
	from, forked := OriginOf(st)
	if !forked || from.Name != "" || st.Workflow != workflow.AgentName {
		return nil
	}
	before, err := State(ctx, s, from.Session)
	if err != nil {
		return nil
	}
	return &Found{Session: from.Session, State: before}
}
