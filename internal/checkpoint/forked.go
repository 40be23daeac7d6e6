package checkpoint

import (
	"git-checkpoint/internal/journal"
	"git-checkpoint/internal/name"
)

// Keys of the trailers by which the first event of an attempt tells where it came from.
const (
	TrailerForkSession    = "Fork-Session"
	TrailerForkCheckpoint = "Fork-Checkpoint"
	TrailerForkName       = "Fork-Name"
)

// Origin is where an attempt was forked from.
type Origin struct {
	Name       string       // of the attempt
	Session    name.Session // that it was forked from
	Checkpoint name.ID      // there
}

// OriginOf says where a session was forked from; false when it is no attempt.
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
