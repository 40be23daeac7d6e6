package create

// This file composes the record of a new checkpoint from the capture, the request and the current
// checkpoint. compose is called again for each try of the transaction, because number, label and id
// depend on the journal.

import (
	"cmp"
	"context"
	"fmt"
	"io/fs"
	"maps"
	"slices"
	"strings"
	"time"

	"git-checkpoint/internal/core/author"
	"git-checkpoint/internal/core/checkpoint"
	"git-checkpoint/internal/core/workflow"
	"git-checkpoint/internal/format/journal"
	"git-checkpoint/internal/format/name"
	"git-checkpoint/internal/format/record"
	"git-checkpoint/internal/git"
	"git-checkpoint/internal/storage/snapshot"
	"git-checkpoint/internal/storage/store"
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
func (c *captured) previous(ctx context.Context, v store.View) (b base, err error) {
	if c.req.Fork != nil {
		return c.forked(ctx, v)
	}
	if v.State != nil {
		if b.entry, b.onHead, err = c.stand(ctx, v.State); err != nil {
			return b, err
		}
	}
	if b.entry != nil {
		got, err := c.s.ReadStored(ctx, b.entry)
		switch {
		case err == nil:
			b.record, b.tree, b.commit = got.Record, got.Record.Snapshot.Tree, got.Commit
			if err := c.leaveOut(ctx, b); err != nil {
				return b, err
			}
		case ctx.Err() != nil:
			return b, context.Cause(ctx)
		case c.handed(): // a whole document replaces the damaged state
			c.s.Warn(fmt.Sprintf("checkpoint %s is damaged, so the document was not compared with it: %v", checkpoint.CalledBy(b.entry), err))
		case c.safety || goesOn(c.req, err):
			c.s.Warn(fmt.Sprintf("checkpoint %s cannot be read, so its state and outputs are not carried over: %v", checkpoint.CalledBy(b.entry), err))
		default:
			return b, c.s.CorruptError(ctx, v.State, b.entry, err)
		}
		if b.record == nil { // its commit has the files all the same
			b.tree, _ = c.s.Repo.Commits.TreeOf(ctx, b.entry.Event().Commit)
		}
	}
	// The first checkpoint, and one after a checkpoint whose files are not known, has the changes
	// since HEAD.
	if b.onHead = b.onHead && b.tree != "" && b.tree != c.headTree; b.tree == "" || b.onHead {
		b.tree = c.headTree
	}
	return b, err
}

// headCommit is the commit of HEAD when a create began.
type headCommit struct {
	head     name.OID // empty without one
	headTree name.OID // empty without a commit, and if headLost
	headLost bool     // it cannot be read: the checkpoint does not need it, and does not have it as a parent
}

func readHead(ctx context.Context, s *checkpoint.Service) (headCommit, error) {
	if err := checkpoint.RefuseDamagedHead(s); err != nil {
		return headCommit{}, err
	}
	h := headCommit{head: s.Repo.Head.OID}
	if h.head == "" {
		return h, nil
	}
	var err error
	if h.headTree, err = s.Repo.Commits.TreeOf(ctx, h.head); err != nil && ctx.Err() == nil {
		h.headLost, err = true, nil
		s.Warn(fmt.Sprintf("the commit of HEAD, %s, is missing or damaged: the checkpoint has all files, but not this commit as its parent; `git checkpoint doctor` names the last good one", h.head.Short()))
	}
	return h, err
}

// compose fills c.record for the journal as it is now. Safety checkpoints and forks skip the
// workflow's check: the first must never be refused, and the second copies a record that passed it.
func (c *draft) compose(ctx context.Context, v store.View) error {
	if err := c.prepare(v); err != nil {
		return err
	}
	if !c.safety && c.req.Fork == nil {
		if err := c.check(ctx, v); err != nil {
			return err
		}
	}
	if err := c.keepDocument(ctx); err != nil {
		return err
	}
	if err := c.noteTag(); err != nil {
		return err
	}
	c.composeOutputs()
	c.composeGit()
	if err := c.composeFiles(ctx, v); err != nil {
		return err
	}
	// The commit of the step names the id.
	if k := c.landing; k != nil && k.draft.Label == c.record.Label && v.State.Entry(k.id) == nil {
		c.record.ID = k.id
		return nil
	}
	var err error
	c.record.ID, err = c.s.FreeID(v.State, c.record.Step, c.at)
	return err
}

// prepare fills the members that do not depend on the worktree: state, status, step and label.
// Foresee uses it before the step has run.
func (c *draft) prepare(v store.View) error {
	r := &record.Record{
		Format: record.Format, Session: c.session, Message: c.req.Message, CreatedAt: c.at,
		Trigger: c.req.trigger(c.document), Workflow: record.Workflow{Name: c.def.Name, Version: c.def.Version},
		Outputs: map[string]record.Output{},
	}
	c.record = r
	if c.req.Agent != nil {
		if err := r.SetAgent(*c.req.Agent); err != nil {
			return err
		}
	}
	if c.req.Reverts != nil {
		MemberReverts.Set(&r.Extra, c.req.Reverts)
	}
	if c.req.Joins != "" {
		record.Joins.Set(&r.Extra, c.req.Joins)
	}
	if c.prev.onHead {
		record.Base.Set(&r.Extra, record.BaseHead)
	}
	if entry := c.prev.entry; entry != nil {
		r.Previous = entry.Checkpoint
	}
	branch := c.s.Repo.Head.Branch.Short()
	if v.State != nil {
		r.Topic = v.State.Topic
	} else if own := name.SessionFromBranch(branch); strings.HasPrefix(string(c.session), string(own)) && strings.Count(string(own), "-") > strings.Count(branch, "-")+strings.Count(branch, "/") {
		r.Topic = branch // the name has lost letters of it
	}
	if err := c.composeState(); err != nil {
		return err
	}
	switch {
	case c.safety:
		c.numberSafety(v)
		return nil
	case c.req.Fork != nil:
		c.placeAsForked()
		return nil
	}
	if err := c.number(v); err != nil {
		return err
	}
	return c.hold(v)
}

// composeOutputs takes over the outputs of the checkpoint before (or of the promoted attempt),
// removes those to drop and adds the new ones.
func (c *draft) composeOutputs() {
	from := c.prev.record
	if c.req.Promote != nil {
		from = c.req.Promote
	}
	if from != nil {
		maps.Copy(c.record.Outputs, from.Outputs)
		if a, ok := from.Agent(); ok && a.Transcript != nil { // these lines belong to that agent's turn
			delete(c.record.Outputs, record.TranscriptOutput)
		}
	}
	for n, o := range c.outputs {
		if o.drop {
			delete(c.record.Outputs, n)
			continue
		}
		c.record.Outputs[n] = o.Output
	}
}

// composeFiles lists the changed files and describes the capture.
func (c *draft) composeFiles(ctx context.Context, v store.View) error {
	if err := c.compareFiles(ctx, v); err != nil {
		return err
	}
	sn := &c.record.Snapshot
	sn.Tree, sn.Complete, sn.Modes = c.capture.Tree, len(c.capture.Skipped) == 0, map[record.Path]string{}
	for _, modes := range []map[string]fs.FileMode{c.capture.Modes, c.move.Modes} {
		for p, m := range modes {
			sn.Modes[record.Path(p)] = fmt.Sprintf("%04o", m)
		}
	}
	record.ModesKnown.Set(&sn.Extra, true)
	sn.Skipped = SkippedOf(c.capture)
	sn.Raw = ToPaths(slices.Sorted(maps.Keys(c.capture.Raw)))
	for _, risk := range c.capture.AtRisk {
		sn.AtRisk = append(sn.AtRisk, record.AtRisk{Path: record.Path(risk.Path), Reason: risk.Reason})
	}
	return c.composeStaged(ctx)
}

// memberSight is a member of a path in snapshot.skipped: Worktree.Sight when the checkpoint was made.
const memberSight record.Member[string] = "sight"

// SkippedOf returns what a capture left out, as a record has it.
func SkippedOf(c *snapshot.Capture) (out []record.Skipped) {
	for _, sk := range c.Skipped {
		left := record.Skipped{Path: record.Path(sk.Path), Reason: sk.Reason, Size: sk.Size}
		if sk.Sight != "" {
			memberSight.Set(&left.Extra, sk.Sight)
		}
		out = append(out, left)
	}
	return out
}

// SightOf returns Worktree.Sight of a path as it was when the checkpoint was made; empty: not known.
func SightOf(sk record.Skipped) string {
	sight, _ := memberSight.Of(sk.Extra)
	return sight
}

// compareFiles lists the files that changed since the checkpoint before, or since the tree
// req.Since or req.Unless. An agent's turn uses the latter, because it changed more than what is new since the
// checkpoint of its last tool. If the tree of the checkpoint before is damaged, the create goes on
// with an empty list, and files.unknown says so: damage must not stop the session.
func (c *draft) compareFiles(ctx context.Context, v store.View) error {
	prev := c.prev
	changes, err := c.s.Repo.Trees.Diff(ctx, prev.tree, c.capture.Tree)
	if err == nil {
		if back := c.broughtBack(ctx, v, changes); len(back) > 0 {
			record.BroughtBack.Set(&c.record.Extra, back)
		}
		if err := c.composeAuthors(changes); err != nil {
			return err
		}
	}
	if since := cmp.Or(c.req.Since, c.req.Unless); since != "" {
		if changes, err := c.s.Repo.Trees.Diff(ctx, since, c.capture.Tree); err == nil {
			c.record.Files = FilesOf(changes)
			return nil
		}
	}
	if err != nil && prev.entry != nil {
		c.unknown = checkpoint.UnknownSince(ctx, c.s, checkpoint.CalledBy(prev.entry), prev.tree)
	}
	if err != nil && c.unknown == "" {
		return err
	}
	c.record.Files = FilesOf(changes)
	if c.unknown != "" {
		record.FilesUnknown.Set(&c.record.Files.Extra, true)
	}
	return nil
}

// broughtBack returns those of the changed paths whose content a revert, rollback, undo or restore brought back since the
// checkpoint before, or, between the prompts of an agent, the agent's own rewind.
func (c *draft) broughtBack(ctx context.Context, v store.View, changes []git.Change) (back []record.Path) {
	if c.prev.entry == nil || len(changes) > record.MaxListed {
		return nil
	}
	var from []name.OID
	for e := range v.State.Latest() {
		if e.OID == c.prev.entry.Event().OID {
			break
		}
		source := v.State.Entry(cmp.Or(e.Files, e.To))
		if (e.Kind == journal.KindRollback || e.Kind == journal.KindUndo) && source != nil && !source.Dead {
			if tree, err := c.s.Repo.Commits.TreeOf(ctx, source.Event().Commit); err == nil {
				from = append(from, tree)
			}
		}
	}
	var rewound map[string]bool
	if c.req.Agent == nil || c.req.Trigger == journal.TriggerPrompt {
		rewound = author.Load(c.s.Repo.GitDir).Rewound(c.session, author.Changes(changes))
	}
	for _, ch := range changes {
		is := c.req.Trigger == workflow.TriggerRevert || rewound[ch.Path]
		for _, tree := range from {
			was, _, err := c.s.Repo.Trees.Lookup(ctx, tree, ch.Path)
			is = is || err == nil && was.Mode == ch.New.Mode && was.OID == ch.New.OID
		}
		if is {
			back = append(back, record.Path(ch.Path))
		}
	}
	return back
}

// composeAuthors says who made the changes since the checkpoint before: what the hook of the agent
// says, or, if no agent was at work, that none of them did.
func (c *draft) composeAuthors(changes []git.Change) error {
	if c.req.Agent != nil {
		if c.req.Authors == nil {
			return nil
		}
		a := *c.req.Agent
		c.req.Authors(&a, c.record.Previous, changes)
		return c.record.SetAgent(a)
	}
	if c.req.tree != "" || c.req.Fork != nil || c.req.Promote != nil || c.req.Trigger == workflow.TriggerRevert {
		return nil // the files are others' work
	}
	var since time.Time
	if c.prev.record != nil {
		since = c.prev.record.CreatedAt
	}
	// Older versions say nothing, which is not the same as false.
	record.Outside.Set(&c.record.Extra, author.Load(c.s.Repo.GitDir).Idle(c.session, since))
	return nil
}

// composeStaged lists the paths where the index differs from HEAD, up to record.MaxListed. The
// index has no tree when what is staged is not known.
func (c *draft) composeStaged(ctx context.Context) error {
	if c.capture.Index.Tree == "" {
		return nil
	}
	if c.headLost {
		record.StagedCut.Set(&c.record.Git.Extra, true)
		return nil
	}
	changes, err := c.s.Repo.Trees.Diff(ctx, c.headTree, c.capture.Index.Tree)
	if err != nil {
		return err
	}
	for i, ch := range changes {
		if i == record.MaxListed {
			record.StagedCut.Set(&c.record.Git.Extra, true)
			break
		}
		c.record.Git.Staged = append(c.record.Git.Staged, record.Path(ch.Path))
	}
	return nil
}

// composeGit fills in HEAD, branch, operation and worktrees, and what is special in the index.
func (c *draft) composeGit() {
	c.record.Git = c.git
	g, ix := &c.record.Git, c.capture.Index
	g.Extra = maps.Clone(g.Extra)
	if c.move.Aside != nil {
		MemberAside.Set(&g.Extra, *c.move.Aside)
	}
	if c.move.Landed != "" {
		MemberLanded.Set(&g.Extra, c.move.Landed)
	}
	g.Head, g.Index = c.head, ix.Tree
	if c.headLost {
		record.HeadDropped.Set(&g.Extra, true)
	}
	// A path has up to three unmerged entries, one for each stage.
	seen := map[string]bool{}
	for _, u := range ix.Unmerged {
		if !seen[u.Path] {
			seen[u.Path] = true
			g.Unmerged = append(g.Unmerged, record.Path(u.Path))
		}
	}
	g.IntentToAdd, g.AssumeUnchanged, g.SparsePresent = ToPaths(ix.IntentToAdd), ToPaths(ix.AssumeUnchanged), ToPaths(ix.SparsePresent)
	if len(ix.SkipWorktree) > 0 {
		MemberSparse.Set(&g.Extra, ix.Sparse)
	}
	if len(c.capture.Ignored) > 0 {
		record.Ignored.Set(&c.record.Snapshot.Extra, ToPaths(c.capture.Ignored))
	}
	if c.move.Made != nil {
		MemberMade.Set(&c.record.Snapshot.Extra, c.move.Made)
	}
	if c.move.Restored != nil {
		MemberRestored.Set(&c.record.Snapshot.Extra, *c.move.Restored)
	}
}

// ToPaths converts to the type that writes paths with any bytes to JSON.
func ToPaths(list []string) []record.Path { return name.All[record.Path](list) }

// FromPaths is the inverse of ToPaths.
func FromPaths(list []record.Path) []string { return name.All[string](list) }

// gitNow returns what a record says about HEAD's branch, the operation in progress and the worktrees.
// The commit of HEAD and the index are added later.
func gitNow(ctx context.Context, s *checkpoint.Service) (record.Git, error) {
	branch := s.Repo.Head.Branch
	g := record.Git{Branch: record.Path(branch), Detached: branch == "", Operation: s.Repo.Checkout.Operation(), Worktree: record.Path(s.WorktreeName())}
	if other := s.Repo.Checkout.OperationHead(); other != "" {
		record.OperationHead.Set(&g.Extra, other)
	}
	list, err := s.Repo.Worktrees(ctx)
	for _, w := range list {
		if w.GitDir != s.Repo.GitDir {
			g.Worktrees = append(g.Worktrees, record.Worktree{Name: record.Path(w.Name), Branch: record.Path(w.Branch), Head: w.Head})
		}
	}
	return g, err
}

// FilesOf sorts changes into created, modified and deleted files. A change of mode or type counts
// as modified.
func FilesOf(changes []git.Change) record.Files {
	var created, modified, deleted []record.Path
	for _, ch := range changes {
		switch {
		case ch.Old.Mode == 0:
			created = append(created, record.Path(ch.Path))
		case ch.New.Mode == 0:
			deleted = append(deleted, record.Path(ch.Path))
		default:
			modified = append(modified, record.Path(ch.Path))
		}
	}
	return record.NewFiles(created, modified, deleted)
}

// MemberAside is a member of git in the record of a safety checkpoint. It names the branch that the
// rollback moves although HEAD is not on it, so that an undo can move it back.
const MemberAside record.Member[checkpoint.BranchBack] = "aside"

// MemberLanded is a member of git in the record of the safety checkpoint of a landing. It is the
// commit that the branch moves to, by which an undo knows what was committed later.
const MemberLanded record.Member[name.OID] = "landed"

// MemberSparse is a member of git in a record that has skip-worktree entries: whether a sparse
// checkout was in force. Older versions left it out.
const MemberSparse record.Member[bool] = "sparse_checkout"

// MemberMade is a member of snapshot in the record of a safety checkpoint. It lists the ignored
// files that a rollback of some paths creates, so that an undo can remove them. It is there, if
// only empty, for each rollback of some paths, and for no other.
const MemberMade record.Member[[]MadeFile] = "made"

// MemberRestored is a member of snapshot in the record of a safety checkpoint: what a restore of some
// paths changes. Its undo brings back these, and no others.
const MemberRestored record.Member[Restored] = "restored"

// Restored has the paths whose files or index entries a restore changes, and whether it moves the entries.
type Restored struct {
	Paths []record.Path `json:"paths"`
	Index bool          `json:"index"`
}

// MadeFile is an ignored file that a rollback of some paths creates.
type MadeFile struct {
	Path record.Path `json:"path"`
	OID  name.OID    `json:"oid"` // the blob that it is created with
}
