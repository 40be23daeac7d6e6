package checkpoint

import (
	"git-checkpoint/internal/format/journal"
	"git-checkpoint/internal/format/name"
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
		Name:       Trailer(st.Started, TrailerForkName),
		Session:    name.Session(Trailer(st.Started, TrailerForkSession)),
		Checkpoint: name.ID(Trailer(st.Started, TrailerForkCheckpoint)),
	}
	return o, o.Session != "" && o.Checkpoint != ""
}
