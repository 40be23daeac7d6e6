package travel

// Expunging a secret has three consequences for travel. A push has to remove it from the remote,
// where it may be reachable from archives, tags and the history of the notes, not only from refs. A
// fetch has to learn from another clone's tombstones what was expunged there, so that this clone
// does not send it again. And a pin made elsewhere at the same time voids a tombstone, which is
// then repeated.

import (
	"cmp"
	"context"
	"fmt"
	"slices"

	"git-checkpoint/internal/core/clearance"
	"git-checkpoint/internal/format/journal"
	"git-checkpoint/internal/format/name"
	"git-checkpoint/internal/git"
	"git-checkpoint/internal/storage/remote"
	"git-checkpoint/internal/verb/retain"
)

// sendExpunged removes from the remote everything that still holds what was expunged here: refs of
// dead checkpoints that an ordinary push may leave for later, the history of the notes, archives
// and tags. Archives, notes and tags are replaced with force. Nothing else in this program uses
// force, and each replacement has a lease: it fails unless the remote still has the value that was
// read.
func (c *pushRound) sendExpunged(ctx context.Context) error {
	list, err := clearance.ReadExpunged(c.s.Repo)
	if err != nil || len(list.Objects) == 0 {
		return err
	}
	var updates []remote.Update
	for session, there := range c.there.Sessions {
		for id, oid := range there.Checkpoints {
			if list.Objects[oid] && c.folds[session].dead(id) {
				updates = append(updates, remote.Update{Ref: name.CheckpointRef(session, id), Lease: oid})
			}
		}
		u, err := c.cleanArchive(ctx, session, there, list)
		if err != nil {
			return err
		}
		updates = append(updates, u...)
	}
	u, err := c.cleanNotes(ctx, list)
	if err != nil {
		return err
	}
	updates = append(updates, u...)
	for tag, oid := range c.there.Tags {
		if list.Objects[oid] {
			// A tag whose checkpoint was replaced moves to where it points here now, or is deleted.
			here, err := c.s.Repo.Refs.Resolve(ctx, tag)
			if err != nil && here != "" || list.Objects[here] {
				here = ""
			}
			updates = append(updates, remote.Update{Ref: tag, New: here, Lease: oid})
		}
	}
	return c.force(ctx, updates)
}

// cleanArchive returns the update that replaces the remote's archive by one that lists only what is
// alive. The new archive has no previous archive as its parent, so it no longer reaches the secret.
// There is no update if the archive holds nothing that was expunged.
func (c *pushRound) cleanArchive(ctx context.Context, session name.Session, there *remote.Session, list *clearance.Expunged) ([]remote.Update, error) {
	holds, err := c.reaches(ctx, there.Archive, list)
	if err != nil || !holds {
		return nil, err
	}
	all, err := c.s.Store.Members(ctx, there.Archive) // read again: this push may have sent that archive
	if err != nil {
		return nil, err
	}
	members := map[name.ID]name.OID{}
	for id, oid := range all {
		if !list.Objects[oid] && !c.folds[session].dead(id) {
			members[id] = oid
		}
	}
	var clean name.OID
	if len(members) > 0 {
		if clean, err = c.s.Store.ArchiveOnto(ctx, session, "", members); err != nil {
			return nil, err
		}
	}
	return []remote.Update{{Ref: name.ArchiveRef(session), New: clean, Lease: there.Archive}}, nil
}

// cleanNotes returns the update that replaces the remote's notes by a commit with the same tree and
// without parents, because the history of the notes reaches the old records.
func (c *pushRound) cleanNotes(ctx context.Context, list *clearance.Expunged) ([]remote.Update, error) {
	holds, err := c.reaches(ctx, c.there.Notes, list)
	if err != nil || !holds {
		return nil, err
	}
	tree, err := c.notesTree(ctx, c.there.Notes)
	if err != nil {
		return nil, err
	}
	clean, err := c.notesCommit(ctx, tree)
	if err != nil {
		return nil, err
	}
	return []remote.Update{{Ref: name.NotesRef, New: clean, Lease: c.there.Notes}}, nil
}

// reaches reports whether a commit or anything reachable from it is an expunged object. One that is
// not here reaches nothing that is known.
func (c *pushRound) reaches(ctx context.Context, commit name.OID, list *clearance.Expunged) (bool, error) {
	if commit == "" || !Exists(ctx, c.s.Repo, commit) {
		return false, nil
	}
	hit := false
	err := clearance.Reachable(ctx, c.s.Repo, []name.OID{commit}, nil, func(oid name.OID, _ string) { hit = hit || list.Objects[oid] })
	if err != nil {
		return false, fmt.Errorf("look for what was expunged: %w", err)
	}
	return hit, nil
}

// force sends the replacing updates. If the host refuses one, its line names the ref that still
// holds expunged content.
func (c *pushRound) force(ctx context.Context, updates []remote.Update) error {
	err := c.sendEach(ctx, updates, func(o remote.Outcome) {
		switch {
		case o.Verdict >= remote.Refused:
			c.line(o.Ref, OutcomeRejected, "it still holds what was expunged: "+o.Reason)
			return
		case o.New == "":
			c.line(o.Ref, OutcomeDeleted, reasonExpunged)
		default:
			c.line(o.Ref, OutcomeUpdated, reasonExpunged)
		}
		c.there.Set(o.Ref, o.New)
	})
	c.s.Trace("expunged there")
	return err
}

// reasonExpunged is the reason in tombstones of expunged checkpoints. Other clones recognise it.
const reasonExpunged = "expunged"

// learnExpunged adds to this clone's list what another clone expunged. The journal names
// checkpoints and not the secret, so it is derived: the blobs that the old checkpoint has and its
// replacement does not. Checkpoints that exist only here may hold the same blobs and must not be
// sent.
func (u *union) learnExpunged(ctx context.Context, st *journal.State, held map[name.ID]name.OID) error {
	var objects []name.OID
	var ids []name.ID
	for id, commit := range held {
		if st.Tombstones[id].Reason != reasonExpunged {
			continue
		}
		instead := st.Entry(st.StandIn(id))
		if instead == nil || instead.Checkpoint == id {
			continue
		}
		ids = append(ids, id)
		lost, err := u.lost(ctx, commit, cmp.Or(u.there[instead.Checkpoint], held[instead.Checkpoint]))
		if err != nil {
			continue // a damaged checkpoint cannot be compared
		}
		objects = append(append(objects, lost...), commit)
	}
	if len(ids) == 0 {
		return nil
	}
	list, err := clearance.ReadExpunged(u.t.s.Repo)
	if err != nil {
		return err
	}
	return list.Add(u.session, ids, objects)
}

// lost returns the blobs of files that are in one checkpoint and were removed or changed in the
// other. Gitlinks are not blobs and are left out.
func (u *union) lost(ctx context.Context, before, now name.OID) ([]name.OID, error) {
	if now == "" {
		return nil, nil
	}
	repo := u.t.s.Repo
	a, err := repo.Commits.Read(ctx, string(before))
	if err != nil {
		return nil, err
	}
	b, err := repo.Commits.Read(ctx, string(now))
	if err != nil {
		return nil, err
	}
	changes, err := repo.Trees.Diff(ctx, a.Tree, b.Tree)
	var lost []name.OID
	for _, c := range changes {
		if c.Old.Mode != 0 && !c.Old.IsTree() && c.Old.Mode != git.ModeGitlink {
			lost = append(lost, c.Old.OID)
		}
	}
	return lost, err
}

// repeatTombstones removes again the checkpoints that were expunged here but are alive after a
// merge. Another clone had pinned one before it knew of the tombstone, which makes that tombstone
// void.
func (t *transfer) repeatTombstones(ctx context.Context) error {
	list, err := clearance.ReadExpunged(t.s.Repo)
	if err != nil {
		return err
	}
	for session, ids := range list.Checkpoints {
		st, err := t.s.Store.State(ctx, session)
		if err != nil {
			continue // the session is gone, or damaged, which has been reported
		}
		var alive []name.ID
		for id := range ids {
			if st.Has(id) && !st.Dead(id) {
				alive = append(alive, id)
			}
		}
		if len(alive) == 0 || st.ReadOnly != "" {
			continue
		}
		slices.Sort(alive)
		if _, err := retain.Drop(ctx, t.s, session, alive, reasonExpunged, retain.PinnedGoes); err != nil {
			return err
		}
		for _, id := range alive {
			t.line(name.CheckpointRef(session, id), OutcomeDeleted, "it was expunged, but pinned elsewhere at the same time")
		}
	}
	return nil
}
