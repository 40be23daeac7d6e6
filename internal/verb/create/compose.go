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
)

// compose composes the record for the journal as it is now, and refuses it if nothing has changed. It may write objects, but
// no refs. Safety checkpoints and forks skip the workflow's check: the first must never be refused, and the second copies a
// record that passed it.
func (c *captured) compose(ctx context.Context, st *journal.State) (*draft, error) {
	in := c.in
	d, err := c.draft(ctx, st)
	if err == nil {
		err = d.prepare()
	}
	if err == nil && !in.safety && in.req.Fork == nil {
		err = d.check(ctx)
	}
	if err == nil {
		err = d.keepDocument(ctx)
	}
	if err == nil {
		err = d.in.noteTag(d.record, d.got.def, d.prev.record)
	}
	if err != nil {
		return nil, err
	}
	r := d.record
	r.Outputs, r.Snapshot = c.outputsAfter(d.prev.record), c.snapshotOf()
	if r.Git, err = c.gitOf(ctx); err != nil {
		return nil, err
	}
	if err := d.compareFiles(ctx); err != nil {
		return nil, err
	}
	// The commit of the step names the id.
	if k := c.landing; k != nil && k.draft.Label == r.Label && d.st.Entry(k.id) == nil {
		r.ID = k.id
	} else if r.ID, err = checkpoint.FreeID(in.s.Store, d.st, r.Step, in.at); err != nil {
		return nil, err
	}
	if err := d.prev.refuseUnchanged(ctx, d); err != nil {
		return nil, err
	}
	if in.req.Words != nil {
		r.Message = in.req.Words()
	}
	return d, nil
}

// draft returns an empty draft on top of the current checkpoint, or of the one that is forked.
func (c *captured) draft(ctx context.Context, st *journal.State) (d *draft, err error) {
	d = &draft{in: c.in, got: c, st: cmp.Or(st, &journal.State{}), isNew: st == nil}
	if c.in.req.Fork != nil {
		d.prev, err = c.in.forked(ctx, st)
	} else {
		d.prev, err = c.previous(ctx, d.st)
	}
	return d, err
}

// prepare fills the members that do not depend on the worktree: state, status, step and label.
// Foresee uses it before the step has run.
func (d *draft) prepare() error {
	in, req, def := d.in, d.in.req, d.got.def
	r := &record.Record{
		Format: record.Format, Session: in.home.session, Message: req.Message, CreatedAt: in.at, Topic: d.st.Topic,
		Trigger: req.trigger(d.got.document), Workflow: record.Workflow{Name: def.Name, Version: def.Version},
	}
	d.record = r
	if req.Agent != nil {
		if err := r.SetAgent(*req.Agent); err != nil {
			return err
		}
	}
	if req.Reverts != nil {
		MemberReverts.Set(&r.Extra, req.Reverts)
	}
	if req.Joins != "" {
		record.Joins.Set(&r.Extra, req.Joins)
	}
	if d.prev.onHead {
		record.Base.Set(&r.Extra, record.BaseHead)
	}
	if d.prev.entry != nil {
		r.Previous = d.prev.entry.Checkpoint
	}
	branch := in.s.Repo.Head.Branch.Short()
	if own := name.SessionFromBranch(branch); d.isNew && strings.HasPrefix(string(r.Session), string(own)) && strings.Count(string(own), "-") > strings.Count(branch, "-")+strings.Count(branch, "/") {
		r.Topic = branch // the name has lost letters of it
	}
	if err := d.got.composeState(r, d.prev.record); err != nil {
		return err
	}
	switch {
	case in.safety:
		numberSafety(r, d.st, d.prev.entry)
		return nil
	case req.Fork != nil:
		from := d.prev.record
		r.Step, r.StepName, r.Iteration, r.Milestone, r.Label = from.Step, from.StepName, from.Iteration, from.Milestone, from.Label
		r.Trigger, r.Message, r.Error, r.Topic = from.Trigger, from.Message, from.Error, req.Fork.From.State.Topic
		return nil
	}
	if err := d.number(); err != nil {
		return err
	}
	return d.hold()
}

// outputsAfter returns the outputs of the checkpoint before (or of the promoted attempt), which may be nil, without
// those to drop, and the new ones.
func (c *captured) outputsAfter(from *record.Record) map[string]record.Output {
	out := map[string]record.Output{}
	if c.in.req.Promote != nil {
		from = c.in.req.Promote
	}
	if from != nil {
		maps.Copy(out, from.Outputs)
		if a, ok := from.Agent(); ok && a.Transcript != nil { // these lines belong to that agent's turn
			delete(out, record.TranscriptOutput)
		}
	}
	for n, o := range c.outputs {
		if out[n] = o.Output; o.drop {
			delete(out, n)
		}
	}
	return out
}

// snapshotOf describes the capture.
func (c *captured) snapshotOf() record.Snapshot {
	got, move := c.capture, c.in.move
	sn := record.Snapshot{
		Tree: got.Tree, Complete: len(got.Skipped) == 0, Modes: map[record.Path]string{}, Skipped: SkippedOf(got),
		Raw: ToPaths(slices.Sorted(maps.Keys(got.Raw))),
	}
	for _, modes := range []map[string]fs.FileMode{got.Modes, move.Modes} {
		for p, m := range modes {
			sn.Modes[record.Path(p)] = fmt.Sprintf("%04o", m)
		}
	}
	for _, risk := range got.AtRisk {
		sn.AtRisk = append(sn.AtRisk, record.AtRisk{Path: record.Path(risk.Path), Reason: risk.Reason})
	}
	record.ModesKnown.Set(&sn.Extra, true)
	if len(got.Ignored) > 0 {
		record.Ignored.Set(&sn.Extra, ToPaths(got.Ignored))
	}
	if move.Made != nil {
		MemberMade.Set(&sn.Extra, move.Made)
	}
	if move.Restored != nil {
		MemberRestored.Set(&sn.Extra, *move.Restored)
	}
	return sn
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
func (d *draft) compareFiles(ctx context.Context) error {
	in, r, s, tree := d.in, d.record, d.in.s, d.got.capture.Tree
	changes, err := s.Repo.Trees.Diff(ctx, d.prev.tree, tree)
	if err == nil {
		if back := in.broughtBack(ctx, d.st, d.prev.entry, changes); len(back) > 0 {
			record.BroughtBack.Set(&r.Extra, back)
		}
		if err := in.composeAuthors(r, d.prev.record, changes); err != nil {
			return err
		}
	}
	if since := cmp.Or(in.req.Since, in.req.Unless); since != "" {
		if changes, err := s.Repo.Trees.Diff(ctx, since, tree); err == nil {
			r.Files = FilesOf(changes)
			return nil
		}
	}
	if err != nil && d.prev.entry != nil {
		d.unknown = checkpoint.UnknownSince(ctx, s.Repo, checkpoint.CalledBy(d.prev.entry), d.prev.tree)
	}
	if err != nil && d.unknown == "" {
		return err
	}
	if r.Files = FilesOf(changes); d.unknown != "" {
		record.FilesUnknown.Set(&r.Files.Extra, true)
	}
	return nil
}

// broughtBack returns those of the changed paths whose content a revert, rollback, undo or restore brought back since the
// checkpoint before, or, between the prompts of an agent, the agent's own rewind.
func (r *request) broughtBack(ctx context.Context, st *journal.State, since *journal.Entry, changes []git.Change) (back []record.Path) {
	if since == nil || len(changes) > record.MaxListed {
		return nil
	}
	repo, req := r.s.Repo, r.req
	var from []name.OID
	for e := range st.Latest() {
		if e.OID == since.Event().OID {
			break
		}
		source := st.Entry(cmp.Or(e.Files, e.To))
		if (e.Kind == journal.KindRollback || e.Kind == journal.KindUndo) && source != nil && !source.Dead {
			if tree, err := repo.Commits.TreeOf(ctx, source.Event().Commit); err == nil {
				from = append(from, tree)
			}
		}
	}
	var rewound map[string]bool
	if req.Agent == nil || req.Trigger == journal.TriggerPrompt {
		rewound = author.Load(repo.GitDir).Rewound(r.home.session, author.Changes(changes))
	}
	for _, ch := range changes {
		is := req.Trigger == workflow.TriggerRevert || rewound[ch.Path]
		for _, tree := range from {
			was, _, err := repo.Trees.Lookup(ctx, tree, ch.Path)
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
func (r *request) composeAuthors(made, prev *record.Record, changes []git.Change) error {
	req := r.req
	if req.Agent != nil {
		if req.Authors == nil {
			return nil
		}
		a := *req.Agent
		req.Authors(&a, made.Previous, changes)
		return made.SetAgent(a)
	}
	if req.tree != "" || req.Fork != nil || req.Promote != nil || req.Trigger == workflow.TriggerRevert {
		return nil // the files are others' work
	}
	var since time.Time
	if prev != nil {
		since = prev.CreatedAt
	}
	// Older versions say nothing, which is not the same as false.
	record.Outside.Set(&made.Extra, author.Load(r.s.Repo.GitDir).Idle(made.Session, since))
	return nil
}

// noteTag writes into the record of a milestone that nobody meant it to have a tag. A step is meant to have
// one if somebody says so, or gives it a number or a name, and each step of a workflow is.
func (r *request) noteTag(made *record.Record, def *workflow.Definition, prev *record.Record) error {
	_, err := r.s.Settings.Bool("checkpoint.tag", true)
	if err == nil {
		_, err = r.s.Settings.Bool("checkpoint.tagPrivate", false)
	}
	meant := r.req.Tag || r.req.Name != "" || r.req.Step != nil || def.Name != workflow.DefaultName && def.Name != workflow.AgentName
	if r.req.Fork != nil {
		was, said := record.Tagged.Of(prev.Extra)
		meant = was || !said
	}
	if made.Milestone && (r.req.NoTag || !meant) {
		record.Tagged.Set(&made.Extra, false)
	}
	return err
}

// gitOf returns HEAD, branch, operation and worktrees, what is special in the index, and the paths where the index differs
// from HEAD, up to record.MaxListed. The index has no tree when what is staged is not known.
func (c *captured) gitOf(ctx context.Context) (record.Git, error) {
	g, ix, move, head := c.git, c.capture.Index, c.in.move, c.in.head
	g.Extra = maps.Clone(g.Extra)
	if move.Aside != nil {
		MemberAside.Set(&g.Extra, *move.Aside)
	}
	if move.Landed != "" {
		MemberLanded.Set(&g.Extra, move.Landed)
	}
	g.Head, g.Index = head.oid, ix.Tree
	if head.lost {
		record.HeadDropped.Set(&g.Extra, true)
	}
	for _, u := range ix.Unmerged { // a path has up to three entries, one for each stage
		if n := len(g.Unmerged); n == 0 || string(g.Unmerged[n-1]) != u.Path {
			g.Unmerged = append(g.Unmerged, record.Path(u.Path))
		}
	}
	g.IntentToAdd, g.AssumeUnchanged, g.SparsePresent = ToPaths(ix.IntentToAdd), ToPaths(ix.AssumeUnchanged), ToPaths(ix.SparsePresent)
	if len(ix.SkipWorktree) > 0 {
		MemberSparse.Set(&g.Extra, ix.Sparse)
	}
	if ix.Tree == "" {
		return g, nil
	}
	var changes []git.Change
	var err error
	if !head.lost {
		changes, err = c.in.s.Repo.Trees.Diff(ctx, head.tree, ix.Tree)
	}
	if head.lost || len(changes) > record.MaxListed {
		record.StagedCut.Set(&g.Extra, true)
	}
	for _, ch := range changes[:min(len(changes), record.MaxListed)] {
		g.Staged = append(g.Staged, record.Path(ch.Path))
	}
	return g, err
}

// ToPaths converts to the type that writes paths with any bytes to JSON.
func ToPaths(list []string) []record.Path { return name.All[record.Path](list) }

// FromPaths is the inverse of ToPaths.
func FromPaths(list []record.Path) []string { return name.All[string](list) }

// gitNow returns what a record says about HEAD's branch, the operation in progress and the worktrees.
// The commit of HEAD and the index are added later.
func gitNow(ctx context.Context, repo *git.Repo) (record.Git, error) {
	branch := repo.Head.Branch
	g := record.Git{Branch: record.Path(branch), Detached: branch == "", Operation: repo.Checkout.Operation(), Worktree: record.Path(checkpoint.WorktreeName(repo))}
	if other := repo.Checkout.OperationHead(); other != "" {
		record.OperationHead.Set(&g.Extra, other)
	}
	list, err := repo.Worktrees(ctx)
	for _, w := range list {
		if w.GitDir != repo.GitDir {
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
