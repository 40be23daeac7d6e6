package create

import (
	"context"
	"errors"

	"git-checkpoint/internal/checkpoint"
	"git-checkpoint/internal/git"
	"git-checkpoint/internal/name"
	"git-checkpoint/internal/retain"
	"git-checkpoint/internal/snapshot"
	"git-checkpoint/internal/store"
)

// repair writes objects again that vanished while the create was under way, as
// when a prune in parallel took them for garbage. When that is not possible the
// create has failed and the checkpoint is taken back.
func (c *creation) repair(ctx context.Context, err error) error {
	var missing *store.MissingObjectsError
	if !errors.As(err, &missing) {
		return checkpoint.Classify(err)
	}
	again, captureErr := capture(ctx, c.s, c.session, c.req, snapshot.Rules{})
	commit := c.written.Commit
	if captureErr == nil && again.Tree == c.capture.Tree && c.write(ctx) == nil && c.written.Commit == commit {
		still := false
		specs := make([]string, len(missing.OIDs))
		for i, oid := range missing.OIDs {
			specs[i] = string(oid)
		}
		infoErr := c.s.Repo.Batch().Info(ctx, specs, func(_ int, _ git.Object, err error) error {
			still = still || err != nil
			return nil
		})
		if infoErr == nil && !still {
			return nil
		}
	}
	if _, dropErr := retain.Drop(ctx, c.s, c.session, []name.ID{c.record.ID}, "objects vanished while it was made", retain.PinnedGoes); dropErr != nil {
		c.s.Warn(dropErr.Error())
	} else {
		missing.TakenBack = true
	}
	return &checkpoint.Error{Kind: checkpoint.KindFailed, Message: "objects vanished while the checkpoint was made, so it was taken back", Err: err}
}
