package create

// This file finds the checkpoint that a new one goes on from, and what it takes over from that, which anyone may have written.
// It is the place of the worktree, unless all that another line has is in the files here, as after a clone or a `git pull` of
// what was committed. A safety checkpoint must never fail because of it: a rollback or undo would be impossible then.

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strings"

	"git-checkpoint/internal/core/checkpoint"
	"git-checkpoint/internal/format/journal"
	"git-checkpoint/internal/format/name"
	"git-checkpoint/internal/format/record"
	"git-checkpoint/internal/git"
	"git-checkpoint/internal/storage/store"
	"git-checkpoint/internal/sys/gather"
)

// base is the checkpoint that a new one builds on, see stand. All fields are empty for the
// first checkpoint, except tree, which then is HEAD's tree.
type base struct {
	entry  *journal.Entry // nil for an attempt's first checkpoint, which builds on another session's
	record *record.Record
	tree   name.OID // what the new files are compared with
	commit name.OID // the record commit M
	heads  int      // how many the session had, if it went on elsewhere meanwhile
	onHead bool     // the files begin at HEAD, because those of record were never here; see stand
}

// previous reads the current checkpoint. State and outputs of the new one start from it.
func (c *captured) previous(ctx context.Context, st *journal.State) (b base, err error) {
	in, s := c.in, c.in.s
	if b.entry, b.onHead, err = c.stand(ctx, st); err != nil {
		return b, err
	}
	if b.entry != nil {
		got, err := checkpoint.ReadStored(ctx, s.Store, b.entry)
		switch {
		case err == nil:
			b.record, b.tree, b.commit = got.Record, got.Record.Snapshot.Tree, got.Commit
			if err := in.leaveOut(ctx, b.record); err != nil {
				return b, err
			}
		case ctx.Err() != nil:
			return b, context.Cause(ctx)
		case in.handed(): // a whole document replaces the damaged state
			s.Store.Warn(fmt.Sprintf("checkpoint %s is damaged, so the document was not compared with it: %v", checkpoint.CalledBy(b.entry), err))
		case in.safety || goesOn(in.req, err):
			s.Store.Warn(fmt.Sprintf("checkpoint %s cannot be read, so its state and outputs are not carried over: %v", checkpoint.CalledBy(b.entry), err))
		default:
			return b, s.Rules.CorruptError(ctx, st, b.entry, err)
		}
		if b.record == nil { // its commit has the files all the same
			b.tree, _ = s.Repo.Commits.TreeOf(ctx, b.entry.Event().Commit)
		}
	}
	// The first checkpoint, and one after a checkpoint whose files are not known, has the changes
	// since HEAD.
	if b.onHead = b.onHead && b.tree != "" && b.tree != in.head.tree; b.tree == "" || b.onHead {
		b.tree = in.head.tree
	}
	return b, nil
}

// headCommit is the commit of HEAD when a create began.
type headCommit struct {
	oid  name.OID // empty without one
	tree name.OID // empty without a commit, and if lost
	lost bool     // it cannot be read: the checkpoint does not need it, and does not have it as a parent
}

func readHead(ctx context.Context, s *store.Store) (headCommit, error) {
	if err := checkpoint.RefuseDamagedHead(s.Repo); err != nil {
		return headCommit{}, err
	}
	h := headCommit{oid: s.Repo.Head.OID}
	if h.oid == "" {
		return h, nil
	}
	var err error
	if h.tree, err = s.Repo.Commits.TreeOf(ctx, h.oid); err != nil && ctx.Err() == nil {
		h.lost, err = true, nil
		s.Warn(fmt.Sprintf("the commit of HEAD, %s, is missing or damaged: the checkpoint has all files, but not this commit as its parent; `git checkpoint doctor` names the last good one", h.oid.Short()))
	}
	return h, err
}

// stand returns the checkpoint that the new one goes on from, nil if there is none. A worktree without a
// place follows the newest one for its state and number; onHead says that its files begin at HEAD then. Before a step
// has run nothing is captured, and nobody knows what the files will be.
func (c *captured) stand(ctx context.Context, st *journal.State) (at *journal.Entry, onHead bool, err error) {
	at = st.CurrentEntry()
	if at == nil || c.capture == nil || c.in.safety || c.in.req.tree != "" || st.Place != "" && st.Place == st.Newest {
		return at, false, nil
	}
	for _, head := range slices.Backward(st.Heads()) {
		here, err := c.hasAllOf(ctx, st, head)
		if err != nil || here {
			return head, false, err
		}
	}
	return at, st.Place == "", nil
}

// hasAllOf reports whether the files have all that a head changed since the place, if that is on its line, or
// without a place since a commit that HEAD contains.
func (c *captured) hasAllOf(ctx context.Context, st *journal.State, head *journal.Entry) (bool, error) {
	s := c.in.s
	place := st.Entry(st.Place)
	if place != nil && (place == head || !st.OnLine(head)[place.Place]) {
		return false, nil
	}
	rec, err := checkpoint.ReadRecord(ctx, s.Store, head)
	if err != nil || rec.Snapshot.Tree == "" {
		return false, ctx.Err() // what cannot be read is not here
	}
	var from name.OID
	if place != nil {
		was, err := checkpoint.ReadRecord(ctx, s.Store, place)
		if err != nil {
			return false, ctx.Err()
		}
		from = was.Snapshot.Tree
	} else if rec.Git.Head != "" {
		if from, err = s.Repo.Commits.TreeOf(ctx, rec.Git.Head); err != nil || !checkpoint.HeadContains(ctx, s.Repo, rec.Git.Head) {
			return false, ctx.Err()
		}
	}
	lacks, err := s.Repo.Trees.Diff(ctx, rec.Snapshot.Tree, c.capture.Tree)
	if err != nil {
		return false, ctx.Err()
	}
	differs := gather.Set(lacks, func(ch git.Change) string { return ch.Path })
	changed, err := s.Repo.Trees.Diff(ctx, from, rec.Snapshot.Tree)
	for _, ch := range changed {
		if differs[ch.Path] {
			return false, nil
		}
	}
	return err == nil, ctx.Err()
}

// goesOn reports whether a checkpoint can be made although the record before it cannot be read, as
// err says. The files of the user come first. But an edit needs the state that it edits, and a record
// of a later format is whole: its state would be dropped for no reason.
func goesOn(req Request, err error) bool {
	_, later := errors.AsType[*record.FormatError](err)
	return !later && len(req.Set)+len(req.Unset)+len(req.Metrics)+len(req.Patch) == 0
}

// leaveOut removes from a record what the new record cannot take over: a state that is not an
// object, and outputs whose content is not here. It warns about what it removed.
func (r *request) leaveOut(ctx context.Context, from *record.Record) error {
	if len(from.State) > 0 && from.State[0] != '{' && !r.handed() {
		r.s.Store.Warn(fmt.Sprintf("the state of %s is no object, so it is not carried over", checkpoint.MentionOf(from)))
		from.State = json.RawMessage("{}")
	}
	names := SortedKeys(from.Outputs)
	oids := make([]string, len(names))
	for i, n := range names {
		// Git cannot be asked about an empty id. The zero id names no object either.
		oids[i] = string(cmp.Or(from.Outputs[n].OID, name.OID(strings.Repeat("0", 2*r.s.Repo.HashLen()))))
	}
	return r.s.Repo.Objects.Batch().Info(ctx, oids, func(i int, o git.Object, err error) error {
		if err == nil && o.Type == "blob" {
			return nil
		}
		if ctx.Err() != nil {
			return context.Cause(ctx)
		}
		r.s.Store.Warn(fmt.Sprintf("output %q of %s is not here, so it is not carried over", names[i], checkpoint.MentionOf(from)))
		delete(from.Outputs, names[i])
		return nil
	})
}
