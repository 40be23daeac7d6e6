package travel

// A session that is closed can be archived: one archive commit stands for the refs of many
// checkpoints (docs/format.md, Archives). These functions decide when the content of a remote's
// archive has to be read or fetched, and send archives in a push.

import (
	"cmp"
	"context"
	"fmt"

	"git-checkpoint/internal/format/name"
	"git-checkpoint/internal/format/render"
	"git-checkpoint/internal/storage/remote"
)

// adviseArchive warns, in a push, where many checkpoints have refs of their own, and names the session with most of them.
func (t *transfer) adviseArchive(here *remote.Listing) {
	const advisedFrom = 1000 // from how many refs of checkpoints on their lists are long enough to be worth a word
	total, most := 0, name.Session("")
	for _, session := range here.Names() {
		n := len(here.Sessions[session].Checkpoints)
		if total += n; n > len(here.Session(most).Checkpoints) {
			most = session
		}
	}
	if advice := fmt.Errorf("%s checkpoints have refs of their own, which each push and fetch lists; `git checkpoint session archive %s` makes one of %s, once that session is closed",
		render.Thousands(total), most, render.Thousands(len(here.Session(most).Checkpoints))); total >= advisedFrom && t.verb == "push" && !t.req.Quietly && t.isFirst(advice) {
		t.s.Store.Warn(advice.Error())
	}
}

// readArchive sets of.Archived to the checkpoints that the archive lists. The archive commit has to
// be in this repository.
func (t *transfer) readArchive(ctx context.Context, session name.Session, of *remote.Session) error {
	if of.Archive == "" || of.Archived != nil {
		return nil
	}
	members, err := t.s.Store.CheckArchive(ctx, session, of.Archive)
	if err != nil {
		return err
	}
	of.Archived = members
	return nil
}

// wantsArchive reports whether a fetch has to bring the remote's archive: it is not here, or it
// lists a living checkpoint that is missing here. As a side effect it fills in there.Archived where
// the archive can be read already.
func (t *transfer) wantsArchive(ctx context.Context, session name.Session, here, there *remote.Session) bool {
	if t.wantsArchiveRead(ctx, session, here, there) {
		return true
	}
	if there.Archive == "" || there.Archive == here.Archive {
		return false
	}
	st, err := t.s.Store.State(ctx, session)
	ours := here.Held()
	// Fetch it again although the archive commit is here: objects below it are not.
	for id := range there.Archived {
		if ours[id] == "" && (err != nil || !st.Dead(id)) {
			there.Archived = nil
			return true
		}
	}
	return false
}

// wantsArchiveRead reports whether a push has to fetch the remote's archive to find out what the
// remote holds. Unlike wantsArchive it does not matter whether anything is missing here.
func (t *transfer) wantsArchiveRead(ctx context.Context, session name.Session, here, there *remote.Session) bool {
	switch {
	case there.Archive == "" || there.Archived != nil:
		return false
	case there.Archive == here.Archive:
		there.Archived = here.Archived
	case Exists(ctx, t.s.Repo, there.Archive):
		t.readArchive(ctx, session, there) //nolint:errcheck // it is fetched then
	}
	return there.Archived == nil
}

// unpackArchive reads an archive that was fetched. An invalid one is reported and then ignored.
func (t *transfer) unpackArchive(ctx context.Context, session name.Session, there *remote.Session, q *remote.Quarantine) {
	got := q.Got[name.ArchiveRef(session)]
	if got == "" {
		return
	}
	there.Archive, there.Archived = got, nil
	if err := t.readArchive(ctx, session, there); err != nil {
		t.line(name.ArchiveRef(session), OutcomeRejected, err.Error())
	}
}

// InArchive is the message of a ref that is deleted because the archive has its checkpoint.
const InArchive = "it is in the archive"

// sendFolds deletes refs at the remote that its archive now replaces. A host that keeps them causes
// a warning, not an error: they do no harm beside the archive.
func (c *pushRound) sendFolds(ctx context.Context) error {
	var folds []remote.Update
	for _, p := range c.plans {
		if len(p.Archive) == 0 || c.archived[p.Session] {
			folds = append(folds, p.Fold...)
		}
	}
	kept := ""
	err := c.sendEach(ctx, folds, func(o remote.Outcome) {
		if o.Verdict >= remote.Refused {
			kept = cmp.Or(kept, o.Reason)
			return
		}
		c.there.Set(o.Ref, "")
		c.line(o.Ref, OutcomeDeleted, InArchive)
	})
	if kept != "" {
		c.s.Store.Warn(c.answer.Remote + " still has refs that are in the archive: " + kept)
	}
	return err
}
