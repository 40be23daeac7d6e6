package travel

import (
	"context"
	"maps"
	"slices"
	"strings"

	"git-checkpoint/internal/checkpoint"
	"git-checkpoint/internal/git"
	"git-checkpoint/internal/name"
	"git-checkpoint/internal/remote"
)

// notesToSend makes the notes commit of a push: on top of the remote's, with what both
// know of the sessions that are pushed, less what is dead. An equal tree makes none.
//
// The remote's own commits never come into our notes ref: their history holds what was
// pruned.
func (t *trip) notesToSend(ctx context.Context, c *consignment, here *remote.Listing) (name.OID, error) {
	if len(c.plans) == 0 || here.Notes == "" && c.there.Notes == "" { // the remote's were not fetched for nothing
		return "", nil
	}
	mine, err := t.notesTree(ctx, here.Notes)
	if err != nil {
		return "", err
	}
	theirs, err := t.notesTree(ctx, c.there.Notes)
	if err != nil {
		return "", err
	}
	if mine == theirs && !c.buries() {
		return "", nil
	}
	edits, err := t.noteEdits(ctx, c, mine, theirs)
	if err != nil || len(edits) == 0 {
		return "", err
	}
	tree, err := t.s.Repo.EditTree(ctx, theirs, edits)
	if err != nil || tree == theirs {
		return "", checkpoint.Classify(err)
	}
	author, committer := t.s.Repo.Identity(t.s.Now())
	commit := git.Commit{Tree: tree, Author: author, Committer: committer, Message: "checkpoint notes: " + c.about() + "\n"}
	if c.there.Notes != "" {
		commit.Parents = []name.OID{c.there.Notes}
	}
	oid, err := t.s.Repo.WriteCommit(ctx, commit)
	return oid, checkpoint.Classify(err)
}

// notesTree is the tree of a notes commit, "" for none. Notes that cannot be read are
// nothing to go on from: all of them can be made again.
func (t *trip) notesTree(ctx context.Context, commit name.OID) (name.OID, error) {
	if commit == "" {
		return "", nil
	}
	c, err := t.s.Repo.ReadCommit(ctx, string(commit))
	if err != nil {
		return "", checkpoint.Classify(err)
	}
	return c.Tree, nil
}

// buries reports whether a session has dead checkpoints, whose notes may be left.
func (c *consignment) buries() bool {
	for _, p := range c.plans {
		if j := c.folds[p.Session]; p.Journal != "" && len(j.tombs()) > 0 {
			return true
		}
	}
	return false
}

// about names the sessions of the push, a few of them.
func (c *consignment) about() string {
	var words []string
	for _, p := range c.plans {
		words = append(words, string(p.Session))
	}
	if len(words) > 5 {
		words = append(words[:5], "…")
	}
	return strings.Join(words, ", ")
}

// fates are the checkpoint commits that the journals of the push name: those that are
// not dead, and those that are.
func (c *consignment) fates() (alive, dead map[name.OID]bool) {
	alive, dead = map[name.OID]bool{}, map[name.OID]bool{}
	for _, session := range slices.Sorted(maps.Keys(c.folds)) {
		j := c.folds[session]
		if len(j.tombs()) == 0 { // nothing is dead, which takes no fold to know
			for _, e := range j.log.Events() {
				if e.Commit != "" && e.Checkpoint != "" {
					alive[e.Commit] = true
				}
			}
			continue
		}
		st := j.Fold()
		for _, e := range st.Checkpoints() {
			if e.Dead {
				dead[e.Event().Commit] = true
			} else {
				alive[e.Event().Commit] = true
			}
		}
		for _, tomb := range st.Tombstones {
			dead[tomb.Commit] = true
		}
	}
	return alive, dead
}

// noteEdits are the differences of the remote's notes from what they have to be.
func (t *trip) noteEdits(ctx context.Context, c *consignment, mine, theirs name.OID) (map[string]git.Entry, error) {
	alive, dead := c.fates()
	edits := map[string]git.Entry{}
	changes, err := t.s.Repo.DiffTrees(ctx, theirs, mine)
	if err != nil {
		return nil, checkpoint.Classify(err)
	}
	for _, d := range changes {
		commit, err := name.ParseOID(strings.ReplaceAll(d.Path, "/", ""))
		if err != nil || !alive[commit] || d.New.Mode == 0 || dead[commit] {
			continue
		}
		if d.Old.Mode != 0 { // two values: M decides
			blob, err := t.s.Store.RecordBlob(ctx, commit)
			if err != nil || blob != d.New.OID {
				continue
			}
		}
		edits[d.Path] = git.Entry{Mode: git.ModeFile, OID: d.New.OID}
	}
	if len(dead) == 0 || theirs == "" {
		return edits, nil
	}
	err = t.s.Repo.WalkTree(ctx, theirs, func(path string, _ git.Entry) error {
		if commit, err := name.ParseOID(strings.ReplaceAll(path, "/", "")); err == nil && dead[commit] && !alive[commit] {
			edits[path] = git.Entry{}
		}
		return nil
	})
	return edits, checkpoint.Classify(err)
}
