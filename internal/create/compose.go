package create

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"

	"git-checkpoint/internal/checkpoint"
	"git-checkpoint/internal/git"
	"git-checkpoint/internal/journal"
	"git-checkpoint/internal/name"
	"git-checkpoint/internal/record"
	"git-checkpoint/internal/store"
)

// base is the checkpoint that a new one starts from: the current one. It is
// empty for the first.
type base struct {
	entry  *journal.Entry
	record *record.Record
	tree   name.OID
	commit name.OID // the record commit
}

// previous reads the current checkpoint. State and outputs start from its own.
func (c *creation) previous(ctx context.Context, v store.View) (base, error) {
	b := base{}
	if c.req.Fork != nil {
		return forked(ctx, c, v)
	}
	if v.State == nil || v.State.CurrentEntry() == nil {
		var err error
		b.tree, err = c.headTree(ctx)
		return b, err
	}
	b.entry = v.State.CurrentEntry()
	rec, _, m, err := c.s.ReadRecord(ctx, b.entry)
	if err != nil && len(c.req.State) > 0 { // a whole document needs nothing of the state before
		c.s.Warn(fmt.Sprintf("%s is damaged, so the document is not compared with it: %v", b.entry.Label, err))
		b.tree, err = c.headTree(ctx)
		return b, err
	}
	if err != nil {
		return b, c.s.CorruptError(ctx, v.State, b.entry, err)
	}
	b.record, b.tree, b.commit = rec, rec.Snapshot.Tree, m
	if b.tree == "" { // imported without files
		b.tree, err = c.headTree(ctx)
	}
	return b, err
}

// headTree is the tree of HEAD, empty without a commit.
func (c *creation) headTree(ctx context.Context) (name.OID, error) {
	if c.head == "" {
		return "", nil
	}
	commit, err := c.s.Repo.ReadCommit(ctx, string(c.head))
	return commit.Tree, checkpoint.Classify(err)
}

// compose fills the record for the journal as it is now.
func (c *creation) compose(ctx context.Context, v store.View, prev base) error {
	if err := c.prepare(v, prev); err != nil {
		return err
	}
	if !c.safety && c.req.Fork == nil {
		if err := c.check(v, prev); err != nil {
			return err
		}
	}
	c.composeOutputs(prev)
	if err := c.composeFiles(ctx, prev); err != nil {
		return err
	}
	c.composeGit()
	return c.drawID(v)
}

// prepare settles what does not depend on the worktree: state, status, place.
func (c *creation) prepare(v store.View, prev base) error {
	r := &record.Record{
		Format: record.Format, Session: c.session, Message: c.req.Message, CreatedAt: c.at,
		Trigger: c.trigger(), Workflow: record.Workflow{Name: c.def.Name, Version: c.def.Version},
		Outputs: map[string]record.Output{},
	}
	c.record = r
	if c.req.Agent != nil {
		if err := r.SetAgent(*c.req.Agent); err != nil {
			return err
		}
	}
	if prev.entry != nil {
		r.Previous = prev.entry.Checkpoint
	}
	if v.State != nil {
		r.Topic = v.State.Topic
	}
	if err := c.composeState(prev); err != nil {
		return err
	}
	switch {
	case c.safety:
		c.numberSafety(v, prev)
		return nil
	case c.req.Fork != nil:
		placeAsForked(c, prev)
		return nil
	}
	return c.number(v)
}

// drawID draws until the id is new in this session.
func (c *creation) drawID(v store.View) error {
	for range 64 {
		id := name.NewID(c.record.Step, c.at, uint16(c.s.Store.Random())) // four hex digits are wanted
		if v.State == nil || v.State.Entry(id) == nil && !v.State.Dead(id) {
			c.record.ID = id
			return nil
		}
	}
	return errors.New("no free checkpoint id at this millisecond")
}

// composeOutputs carries the current outputs on, less what is dropped, with what
// is new.
func (c *creation) composeOutputs(prev base) {
	from := prev.record
	if c.req.Promote != nil {
		from = c.req.Promote
	}
	if from != nil {
		maps.Copy(c.record.Outputs, from.Outputs)
		if a, ok := from.Agent(); ok && a.Transcript != nil { // those lines were of its turn
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

// composeFiles compares with the checkpoint before, or HEAD without one.
func (c *creation) composeFiles(ctx context.Context, prev base) error {
	if err := compareFiles(ctx, c, prev); err != nil {
		return err
	}
	sn := &c.record.Snapshot
	sn.Tree, sn.Complete, sn.Modes = c.capture.Tree, len(c.capture.Skipped) == 0, map[record.Path]string{}
	for p, m := range c.capture.Modes {
		sn.Modes[record.Path(p)] = fmt.Sprintf("%04o", m)
	}
	for p, m := range c.modes {
		sn.Modes[p] = m
	}
	if c.capture.ModesKnown {
		AddExtra(&c.record.Snapshot.Extra, "modes_known", true)
	}
	for _, sk := range c.capture.Skipped {
		sn.Skipped = append(sn.Skipped, record.Skipped{Path: record.Path(sk.Path), Reason: sk.Reason, Size: sk.Size})
	}
	for p := range c.capture.Raw {
		sn.Raw = append(sn.Raw, record.Path(p))
	}
	slices.Sort(sn.Raw)
	for _, risk := range c.capture.AtRisk {
		sn.AtRisk = append(sn.AtRisk, record.AtRisk{Path: record.Path(risk.Path), Reason: risk.Reason})
	}
	return c.composeStaged(ctx)
}

// compareFiles lists what changed since the checkpoint before, or since the tree that the
// request compares with: what a turn of an agent changed is more than what is new since its
// last tool. A checkpoint whose tree is damaged must not stop the session: nothing is listed
// then, and the record says so.
func compareFiles(ctx context.Context, c *creation, prev base) error {
	c.unknown = ""
	if c.req.Unless != "" {
		if changes, err := c.s.Repo.DiffTrees(ctx, c.req.Unless, c.capture.Tree); err == nil {
			c.record.Files = FilesOf(changes)
			return nil
		}
	}
	changes, err := c.s.Repo.DiffTrees(ctx, prev.tree, c.capture.Tree)
	if err != nil && prev.entry != nil {
		c.unknown = checkpoint.UnknownSince(ctx, c.s, prev.entry.Label, prev.tree)
	}
	if err != nil && c.unknown == "" {
		return checkpoint.Classify(err)
	}
	c.record.Files = FilesOf(changes)
	if c.unknown != "" {
		AddExtra(&c.record.Files.Extra, "unknown", true)
	}
	return nil
}

// composeStaged lists what the index has that HEAD has not.
func (c *creation) composeStaged(ctx context.Context) error {
	if c.capture.Index.Tree == "" {
		return nil
	}
	headTree, err := c.headTree(ctx)
	if err != nil {
		return err
	}
	changes, err := c.s.Repo.DiffTrees(ctx, headTree, c.capture.Index.Tree)
	if err != nil {
		return checkpoint.Classify(err)
	}
	for i, ch := range changes {
		if i == record.MaxListed {
			AddExtra(&c.record.Git.Extra, "staged_truncated", true)
			break
		}
		c.record.Git.Staged = append(c.record.Git.Staged, record.Path(ch.Path))
	}
	return nil
}

// AddExtra adds a member that the format does not define to a part of the record.
func AddExtra(to *map[string]json.RawMessage, member string, value any) {
	if *to == nil {
		*to = map[string]json.RawMessage{}
	}
	raw, _ := json.Marshal(value) //nolint:errcheck // words, booleans and paths never fail
	(*to)[member] = raw
}

func (c *creation) composeGit() {
	g, ix := &c.record.Git, c.capture.Index
	if c.place.other != "" {
		AddExtra(&c.record.Git.Extra, "operation_head", c.place.other)
	}
	if c.aside != nil {
		AddExtra(&c.record.Git.Extra, MemberAside, c.aside)
	}
	g.Branch, g.Head, g.Detached = record.Path(c.place.branch), c.head, c.place.branch == ""
	g.Operation, g.Worktree, g.Worktrees = c.place.operation, record.Path(c.s.WorktreeName()), c.place.worktrees
	g.Index = ix.Tree
	seen := map[string]bool{}
	for _, u := range ix.Unmerged {
		if !seen[u.Path] {
			seen[u.Path] = true
			g.Unmerged = append(g.Unmerged, record.Path(u.Path))
		}
	}
	g.IntentToAdd, g.AssumeUnchanged, g.SparsePresent = ToPaths(ix.IntentToAdd), ToPaths(ix.AssumeUnchanged), ToPaths(ix.SparsePresent)
	if len(c.capture.Ignored) > 0 {
		AddExtra(&c.record.Snapshot.Extra, "ignored", ToPaths(c.capture.Ignored))
	}
	if len(c.made) > 0 {
		AddExtra(&c.record.Snapshot.Extra, MemberMade, c.made)
	}
}

// ToPaths gives paths the type that a record writes any bytes with.
func ToPaths(list []string) []record.Path {
	out := make([]record.Path, len(list))
	for i, p := range list {
		out[i] = record.Path(p)
	}
	return out
}

// FromPaths is the reverse of ToPaths.
func FromPaths(list []record.Path) []string {
	out := make([]string, len(list))
	for i, p := range list {
		out[i] = string(p)
	}
	return out
}

// encodeFlags keeps the paths of skip-worktree entries, NUL-terminated, each with
// the letter that `git ls-files -t` shows for it.
func encodeFlags(skipWorktree []string) []byte {
	var b bytes.Buffer
	for _, p := range skipWorktree {
		b.WriteString("S " + p + "\x00")
	}
	return b.Bytes()
}

// DecodeFlags lists the paths that had the skip-worktree flag.
func DecodeFlags(data []byte) []string {
	var out []string
	for _, line := range strings.Split(string(data), "\x00") {
		if p, ok := strings.CutPrefix(line, "S "); ok {
			out = append(out, p)
		}
	}
	return out
}

// place is where HEAD and the other worktrees stand.
type place struct {
	branch    name.Ref
	operation string
	other     name.OID // the other commit of the operation
	worktrees []record.Worktree
}

func placeNow(ctx context.Context, s *checkpoint.Service) (place, error) {
	p := place{branch: s.Repo.Head.Branch, operation: s.Repo.Operation(), other: s.Repo.OperationHead()}
	list, err := s.Repo.Worktrees(ctx)
	if err != nil {
		return p, checkpoint.Classify(err)
	}
	for _, w := range list {
		if w.GitDir != s.Repo.GitDir {
			p.worktrees = append(p.worktrees, record.Worktree{Name: record.Path(w.Name), Branch: record.Path(w.Branch), Head: w.Head})
		}
	}
	return p, nil
}

// FilesOf sorts changes into the record's lists.
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

// MemberAside is the member of a safety checkpoint's git that names the branch which the
// rollback moves although HEAD was not on it.
const MemberAside = "aside"

// MemberMade is the member of a safety checkpoint's snapshot that lists the ignored files
// which a rollback of some paths made.
const MemberMade = "made"

// MadeFile is an ignored file that a rollback of some paths makes.
type MadeFile struct {
	Path record.Path `json:"path"`
	OID  name.OID    `json:"oid"`
}
