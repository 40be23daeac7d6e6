package travel

import (
	"context"
	"fmt"
	"slices"
	"strings"

	"git-checkpoint/internal/format/name"
	"git-checkpoint/internal/git"
	"git-checkpoint/internal/storage/remote"
	"git-checkpoint/internal/sys/gather"
)

// notesToSend writes the notes commit of a push and returns its id, or "" if the remote's notes
// need no change. Its parent is the remote's notes commit. Its tree is the remote's, with the notes
// here of living checkpoints added and the notes of dead ones removed, for the pushed sessions.
//
// The remote's notes commits never become part of the notes ref here, because their history still
// holds the records of pruned checkpoints.
func (c *pushRound) notesToSend(ctx context.Context) (name.OID, error) {
	if len(c.plans) == 0 || c.here.Notes == "" && c.there.Notes == "" { // no notes anywhere
		return "", nil
	}
	mine, err := c.notesTree(ctx, c.here.Notes)
	if err != nil {
		return "", c.withoutNotes(ctx, "here", err, "`git checkpoint rebuild --all` makes them again")
	}
	theirs, err := c.notesTree(ctx, c.there.Notes)
	if err != nil {
		removal := "git push " + c.answer.Remote + " :" + string(c.remote.Mapping.ToRemote(name.NotesRef))
		return "", c.withoutNotes(ctx, "there", err, "`"+removal+"` deletes them, and the next push makes them again")
	}
	// With tombstones, equal trees may both still hold notes of dead checkpoints.
	buries := func(p remote.Plan) bool {
		st := c.folds[p.Session].Fold()
		return p.Journal != "" && st != nil && len(st.Tombstones) > 0
	}
	if mine == theirs && !slices.ContainsFunc(c.plans, buries) {
		return "", nil
	}
	edits, err := c.noteEdits(ctx, mine, theirs)
	if err != nil || len(edits) == 0 {
		return "", err
	}
	tree, err := c.s.Repo.Trees.Edit(ctx, theirs, edits)
	if err != nil || tree == theirs {
		return "", err
	}
	if c.there.Notes == "" {
		return c.notesCommit(ctx, tree)
	}
	return c.notesCommit(ctx, tree, c.there.Notes)
}

// withoutNotes reports notes that cannot be read as rejected, and what to do. Everything else is
// sent: notes can always be made again.
func (c *pushRound) withoutNotes(ctx context.Context, where string, err error, remedy string) error {
	if ctx.Err() != nil {
		return err
	}
	c.line(name.NotesRef, OutcomeRejected, fmt.Sprintf("the notes %s cannot be read (%v); %s", where, err, remedy))
	return nil
}

// notesCommit writes a notes commit with this tree. Its message names the pushed sessions, at most five.
func (c *pushRound) notesCommit(ctx context.Context, tree name.OID, parents ...name.OID) (name.OID, error) {
	pushed := gather.List(c.plans, func(p remote.Plan) string { return string(p.Session) })
	if len(pushed) > 5 {
		pushed = append(pushed[:5], "…")
	}
	author, committer := c.s.Repo.Commits.Identity(c.s.Store.Now())
	return c.s.Repo.Commits.Write(ctx, git.Commit{
		Tree: tree, Parents: parents, Author: author, Committer: committer, Message: "checkpoint notes: " + strings.Join(pushed, ", ") + "\n",
	})
}

// notesTree returns the tree of a notes commit, "" for none. An unreadable commit is an error,
// since nothing can be built on top of it.
func (c *pushRound) notesTree(ctx context.Context, commit name.OID) (name.OID, error) {
	if commit == "" {
		return "", nil
	}
	return c.s.Repo.Commits.TreeOf(ctx, commit)
}

// fates returns the checkpoint commits that the journals of the push name: those that are alive and
// those that are dead.
func (c *pushRound) fates() (alive, dead map[name.OID]bool) {
	alive, dead = map[name.OID]bool{}, map[name.OID]bool{}
	for _, j := range c.folds {
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

// noteEdits returns the edits that turn the remote's notes tree (theirs) into what it has to be.
// mine is the notes tree here. An entry with a zero mode removes the path.
func (c *pushRound) noteEdits(ctx context.Context, mine, theirs name.OID) (map[string]git.Entry, error) {
	alive, dead := c.fates()
	edits := map[string]git.Entry{}
	changes, err := c.s.Repo.Trees.Diff(ctx, theirs, mine)
	if err != nil {
		return nil, err
	}
	for _, d := range changes {
		commit, err := name.NotedOID(d.Path)
		if err != nil || !alive[commit] || d.New.Mode == 0 || dead[commit] {
			continue
		}
		if d.Old.Mode != 0 { // both sides have a note and they differ: the record in M decides
			blob, err := c.s.Store.RecordBlob(ctx, commit)
			if err != nil || blob != d.New.OID {
				continue
			}
		}
		edits[d.Path] = git.Entry{Mode: git.ModeFile, OID: d.New.OID}
	}
	if len(dead) == 0 || theirs == "" {
		return edits, nil
	}
	err = c.s.Repo.Trees.Walk(ctx, theirs, func(path string, _ git.Entry) error {
		if commit, err := name.NotedOID(path); err == nil && dead[commit] && !alive[commit] {
			edits[path] = git.Entry{}
		}
		return nil
	})
	return edits, err
}
