package web

import (
	"context"

	"git-checkpoint/internal/core/author"
	"git-checkpoint/internal/core/checkpoint"
	"git-checkpoint/internal/format/name"
	"git-checkpoint/internal/format/record"
	"git-checkpoint/internal/storage/store"
)

// byOther is a path of an agent's step that the agent is not known to have made.
type byOther struct {
	Path    record.Path
	Who     string       // outside or unknown; empty: a session did it
	Session name.Session // that one
}

// byOthers returns what of an agent's step the agent is not known to have made, as `show` lists it.
func byOthers(ctx context.Context, service *store.Store, rec *record.Record) (all []byOther) {
	a, has := rec.Agent()
	st, err := checkpoint.State(ctx, service, rec.Session)
	if !has || err != nil || st.Entry(rec.ID) == nil {
		return nil
	}
	step := author.Turn(st, st.Entry(rec.ID), a)
	for _, path := range step.Paths() {
		switch who := step.Who(path); {
		case who.Other() == "":
		case who.Session != "":
			all = append(all, byOther{Path: path, Session: who.Session})
		default:
			all = append(all, byOther{Path: path, Who: who.Other()})
		}
	}
	return all
}
