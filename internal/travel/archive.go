package travel

import (
	"context"
	"maps"

	"git-checkpoint/internal/checkpoint"
	"git-checkpoint/internal/name"
	"git-checkpoint/internal/remote"
)

// readArchive fills in what an archive holds whose commit is here.
func (t *trip) readArchive(ctx context.Context, session name.Session, of *remote.Session) error {
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

// wantsArchive reports whether the remote's archive has to be fetched: it is not known,
// or holds what is not here.
func (t *trip) wantsArchive(ctx context.Context, session name.Session, here, there *remote.Session) bool {
	switch {
	case there.Archive == "":
		return false
	case there.Archive == here.Archive:
		there.Archived = here.Archived
		return there.Archived == nil
	case !Exists(ctx, t.s, there.Archive) || t.readArchive(ctx, session, there) != nil:
		return true
	}
	st, err := t.s.Store.State(ctx, session)
	ours := here.Held()
	for id := range there.Archived {
		if ours[id] == "" && (err != nil || !st.Dead(id)) {
			there.Archived = nil
			return true
		}
	}
	return false
}

// wantsArchiveRead reports whether a push has to fetch the remote's archive to know what
// it holds.
func (t *trip) wantsArchiveRead(ctx context.Context, session name.Session, here, there *remote.Session) bool {
	switch {
	case there.Archive == "" || there.Archived != nil:
		return false
	case there.Archive == here.Archive:
		there.Archived = here.Archived
	case Exists(ctx, t.s, there.Archive):
		t.readArchive(ctx, session, there) //nolint:errcheck // it is fetched then
	}
	return there.Archived == nil
}

// unpackArchive reads the archive that came. One that is not valid is not taken.
func (t *trip) unpackArchive(ctx context.Context, session name.Session, there *remote.Session, q *remote.Quarantine) {
	got := q.Got[name.ArchiveRef(session)]
	if got == "" {
		return
	}
	there.Archive, there.Archived = got, nil
	if err := t.readArchive(ctx, session, there); err != nil {
		t.line("fetch", name.ArchiveRef(session), OutcomeRejected, err.Error())
	}
}

// archiveToSend makes the archive that the remote is to have, on top of its own.
func (t *trip) archiveToSend(ctx context.Context, p *remote.Plan, there *remote.Session) (name.OID, error) {
	if len(p.Archive) == 0 {
		return "", nil
	}
	members := maps.Clone(p.Archive)
	maps.Copy(members, there.Archived)
	oid, err := t.s.Store.ArchiveOnto(ctx, p.Session, there.Archive, members)
	return oid, checkpoint.Classify(err)
}

// sendFolds takes refs away at the remote that its archive stands for. That a host keeps
// them is no failure.
func (t *trip) sendFolds(ctx context.Context, c *consignment) error {
	var folds []remote.Update
	for _, p := range c.plans {
		if len(p.Archive) == 0 || c.archived[p.Session] {
			folds = append(folds, p.Fold...)
		}
	}
	for len(folds) > 0 {
		n := min(len(folds), remote.Chunk)
		outcomes, err := t.remote.Push(ctx, folds[:n], remote.EachAlone)
		if err != nil {
			return err
		}
		for _, o := range outcomes {
			if o.Verdict >= remote.Refused {
				t.s.Warn(t.answer.Remote + " keeps refs beside the archive: " + o.Reason)
				return nil
			}
			c.there.Set(o.Ref, "")
			t.line("push", o.Ref, OutcomeDeleted, "it is in the archive")
		}
		folds = folds[n:]
	}
	return nil
}
