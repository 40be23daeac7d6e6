package create

import (
	"context"
	"io/fs"

	"git-checkpoint/internal/core/checkpoint"
	"git-checkpoint/internal/core/workflow"
	"git-checkpoint/internal/format/name"
	"git-checkpoint/internal/format/record"
	"git-checkpoint/internal/storage/snapshot"
)

// SafetyRequest describes the state that a rollback saves before it changes anything.
type SafetyRequest struct {
	Session    name.Session
	Message    string
	Definition *workflow.Definition   // the workflow, for the record only
	Capture    *snapshot.Capture      // the worktree as it is
	Aside      *checkpoint.BranchBack // a branch other than HEAD's that the rollback moves
	Landed     name.OID               // the commit that a landing moves the branch to
	Modes      map[string]fs.FileMode // permission bits of the files that it replaces
	Made       []MadeFile             // the ignored files that it creates
	Restored   *Restored              // what a restore of some paths changes; nil: it is not a restore
}

// Safety makes the checkpoint that a rollback can be undone from, and returns its record. No rule
// of a workflow can refuse it, and it gets no tag.
func Safety(ctx context.Context, s *checkpoint.Service, req SafetyRequest) (*record.Record, error) {
	// The capture exists already: a rollback needs it for its plan. So this skips place and capture and goes
	// straight to the transaction.
	head, err := readHead(ctx, s.Store)
	if err != nil {
		return nil, err
	}
	in := &request{
		s: s, home: home{session: req.Session}, at: s.Store.Now(), head: head, safety: true, move: req,
		req: Request{Trigger: workflow.TriggerSafety, NoTag: true, Message: req.Message},
	}
	got := &captured{in: in, def: req.Definition, capture: req.Capture}
	if got.git, err = gitNow(ctx, s.Repo); err != nil {
		return nil, err
	}
	d, _, err := got.transact(ctx)
	if err != nil {
		return nil, err
	}
	return d.record, nil
}
