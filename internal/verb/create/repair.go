package create

import (
	"context"
	"errors"

	"git-checkpoint/internal/core/checkpoint"
	"git-checkpoint/internal/format/name"
	"git-checkpoint/internal/storage/snapshot"
	"git-checkpoint/internal/storage/store"
	"git-checkpoint/internal/verb/retain"
)

// repair handles a transaction that wrote its refs but then found objects missing: a concurrent git
// prune removed them. It captures and writes everything again. If that gives the same commit and
// all objects are there, the create has succeeded. Otherwise the checkpoint is removed again and
// the create fails; Checkpoint then makes another try.
func (d *draft) repair(ctx context.Context, err error) error {
	missing, is := errors.AsType[*store.MissingObjectsError](err)
	if !is {
		return err
	}
	s := d.in.s
	again, captureErr := d.in.take(ctx, snapshot.Rules{})
	if k := d.got.landing; k != nil {
		if _, err := s.Repo.Objects.Write(ctx, "commit", k.raw); err != nil {
			return err
		}
	}
	if captureErr == nil && again.Tree == d.got.capture.Tree {
		// The same content has the same ids, so writing again restores the missing objects.
		if written, err := d.write(ctx); err == nil && written.Commit == d.written.Commit {
			if still, err := s.Repo.Objects.Batch().Missing(ctx, missing.OIDs); err == nil && len(still) == 0 {
				return nil
			}
		}
	}
	// Not all objects came back. The journal names a checkpoint that cannot be read, so prune it.
	if _, dropErr := retain.Drop(ctx, s, d.in.home.session, []name.ID{d.record.ID}, "objects disappeared while it was made", retain.PinnedGoes); dropErr != nil {
		s.Store.Warn(dropErr.Error())
	} else {
		missing.TakenBack = true
	}
	return &checkpoint.Error{
		Kind: checkpoint.KindInvalid, Message: "objects disappeared while the checkpoint was made, so it was removed again", Err: err,
		Hints: []string{"`git fsck` shows what is missing"},
	}
}
