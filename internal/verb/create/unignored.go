package create

import (
	"context"
	"fmt"

	"git-checkpoint/internal/core/checkpoint"
	"git-checkpoint/internal/format/name"
	"git-checkpoint/internal/storage/snapshot"
)

// lastIgnored returns what the newest checkpoint of the session says of ignored files. A safety checkpoint
// counts for the rules, because a rollback may take them away. In a session without checkpoints it is the newest
// of the session that changed last.
func lastIgnored(ctx context.Context, s *checkpoint.Service, session name.Session) snapshot.Before {
	st, err := s.Store.State(ctx, session)
	if err != nil || st.Len() == 0 {
		states, _ := s.States(ctx, "") //nolint:errcheck // then there is nothing to compare with
		for _, other := range states {
			if other.Len() > 0 && (st == nil || st.Len() == 0 || other.UpdatedAt.After(st.UpdatedAt)) {
				st = other
			}
		}
	}
	if st == nil {
		return snapshot.Before{}
	}
	var before snapshot.Before
	for i, c := range st.Backward() {
		if c.Dead {
			continue
		}
		rec, err := s.ReadRecord(ctx, st.At(i))
		if err != nil {
			return before
		}
		if before.Tree == "" {
			before.Tree = rec.Snapshot.Tree
		}
		if c.Safety { // it holds what is there, and nobody was told of that
			continue
		}
		for _, sk := range rec.Snapshot.Skipped {
			if sk.Reason == snapshot.ReasonUnignored {
				before.Left = append(before.Left, string(sk.Path))
			}
		}
		return before
	}
	return before
}

// mostUnignored is how many paths a warning for each names.
const mostUnignored = 10

// sayUnignored names the files that a checkpoint took and that were ignored at the last one.
func sayUnignored(paths []string) (said []string) {
	for i, p := range paths {
		if i == mostUnignored {
			return append(said, fmt.Sprintf("no longer ignored, and captured: %d more", len(paths)-i))
		}
		said = append(said, "no longer ignored, and captured: "+name.Clip(p, name.Said))
	}
	return said
}
