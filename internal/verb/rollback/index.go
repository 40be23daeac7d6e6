package rollback

// This file says under which HEAD an index was recorded and under which one it is restored. Package
// snapshot carries what was staged from the one to the other.

import (
	"cmp"
	"context"
	"encoding/json"

	"git-checkpoint/internal/core/checkpoint"
	"git-checkpoint/internal/format/record"
	"git-checkpoint/internal/git"
	"git-checkpoint/internal/storage/snapshot"
	"git-checkpoint/internal/verb/create"
)

// IndexPlan says what happens to the index when HEAD has other files than when the checkpoint was
// made: the entries that were staged then are staged again, and all others are those of HEAD.
type IndexPlan struct {
	Staged []checkpoint.Path `json:"staged"`          // staged again
	Over   []checkpoint.Path `json:"over"`            // of these: HEAD changed the file since
	Left   []checkpoint.Path `json:"not_staged"`      // those of then that are not: HEAD has a file where a directory would be, or the reverse
	Stays  string            `json:"stays,omitempty"` // why the index stays as it is; empty if it does not
}

// headsFor adds to what a checkpoint says of HEAD where it is now and where it will be. It is nil
// for a landing, which builds the index for the HEAD that it creates.
func (r *target) headsFor(ctx context.Context, h snapshot.Heads) (*snapshot.Heads, error) {
	if r.Branch != nil && r.Branch.Moved {
		return nil, nil
	}
	place, err := r.headRecord(ctx)
	if err != nil {
		return nil, err
	}
	h.Now, h.Exact = r.s.Repo.Head.OID, r.req.ExactIndex
	if h.After = h.Now; r.movesTo(place.Git) {
		h.After = place.Git.Head
	}
	return &h, nil
}

// headsOf returns what a record, whose JSON is raw, says about the HEAD of its index.
func headsOf(rec *record.Record, raw []byte) snapshot.Heads {
	g := rec.Git
	cut := record.StagedCut.IsIn(g.Extra)
	// Expunges of earlier versions cut the list without saying so.
	cut = cut || len(g.Staged) >= record.MaxListed && rec.RebuiltFrom != ""
	var has struct {
		Git struct{ Staged *json.RawMessage }
	}
	if len(g.Staged) == 0 { // there may be no list
		cut = json.Unmarshal(raw, &has) != nil || has.Git.Staged == nil
	}
	return snapshot.Heads{Then: g.Head, Staged: create.FromPaths(g.Staged), Listed: !cut}
}

// indexFits returns an error if HEAD has moved to a commit for which the index of an unfinished
// rollback was not made: that index would stage the reverse of what was committed since.
func indexFits(ctx context.Context, repo *git.Repo, staged *snapshot.Restore, meta checkpoint.Intent) error {
	if !staged.MovesIndex() {
		return nil
	}
	now := repo.Checkout.HeadNow(ctx).OID
	if now == meta.OldHead || meta.Branch.Moved && now == meta.Branch.To {
		return nil
	}
	return checkpoint.Failure(checkpoint.KindRefused, "`git checkpoint rollback --abort` restores the files and leaves HEAD there",
		"HEAD has moved to %s since the rollback was cut off, and the index of the rollback is not for that", cmp.Or(now.Short(), "a branch without commits"))
}
