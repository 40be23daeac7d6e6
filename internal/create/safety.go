package create

import (
	"context"
	"fmt"
	"io/fs"

	"git-checkpoint/internal/checkpoint"
	"git-checkpoint/internal/name"
	"git-checkpoint/internal/record"
	"git-checkpoint/internal/snapshot"
	"git-checkpoint/internal/workflow"
)

// SafetyRequest is what a rollback keeps before it changes anything.
type SafetyRequest struct {
	Session    name.Session
	Message    string
	Definition *workflow.Definition
	Capture    *snapshot.Capture
	Aside      *checkpoint.BranchBack // what the rollback moves beside HEAD
	Modes      map[string]fs.FileMode // of files that it takes the place of
	Made       []MadeFile             // ignored files that it makes
}

// Safety makes the checkpoint from which a rollback can be undone. No rule of a workflow
// can refuse it.
func Safety(ctx context.Context, s *checkpoint.Service, req SafetyRequest) (*record.Record, error) {
	c := &creation{
		s: s, home: home{session: req.Session}, def: req.Definition, at: s.Now(), head: s.Repo.Head.OID, capture: req.Capture, safety: true, aside: req.Aside, made: req.Made,
		req: Request{Trigger: workflow.TriggerSafety, Tag: TagNever, Message: req.Message},
	}
	if len(req.Modes) > 0 {
		c.modes = map[record.Path]string{}
		for p, m := range req.Modes {
			c.modes[record.Path(p)] = fmt.Sprintf("%04o", m)
		}
	}
	var err error
	if c.place, err = placeNow(ctx, s); err != nil {
		return nil, err
	}
	if _, err = s.Store.Transact(ctx, c.session, c.build); err != nil {
		err = c.repair(ctx, err)
	}
	if err != nil {
		return nil, err
	}
	return c.record, nil
}
