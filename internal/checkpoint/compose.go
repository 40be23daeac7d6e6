package checkpoint

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strconv"
	"strings"

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
	if v.State == nil || v.State.CurrentEntry() == nil {
		var err error
		b.tree, err = c.headTree(ctx)
		return b, err
	}
	b.entry = v.State.CurrentEntry()
	rec, _, m, err := c.s.readRecord(ctx, b.entry)
	if err != nil {
		return b, c.s.corrupt(ctx, v.State, b.entry, err)
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
	commit, err := c.s.repo.ReadCommit(ctx, string(c.head))
	return commit.Tree, classify(err)
}

// readRecord reads the record of a checkpoint and holds it against what the journal
// and the checkpoint commit say: nobody may swap one of them unseen.
func (s *Service) readRecord(ctx context.Context, e *journal.Entry) (*record.Record, []byte, name.OID, error) {
	rec, raw, m, err := s.store.Record(ctx, e.Event().Commit)
	if err != nil {
		return rec, raw, m, err
	}
	commit, err := s.repo.ReadCommit(ctx, string(e.Event().Commit))
	switch {
	case err != nil:
	case rec.ID != e.Checkpoint:
		err = fmt.Errorf("its record is that of %s", rec.ID)
	case e.Event().Record != "" && rec.Checksum != e.Event().Record:
		err = errors.New("its record is not the one that the journal names")
	case rec.Snapshot.Tree == "" && commit.Tree == git.HashObject(s.repo.Format, "tree", nil): // no files were captured
	case rec.Snapshot.Tree != commit.Tree:
		err = fmt.Errorf("its record names the tree %s and its commit %s", rec.Snapshot.Tree, commit.Tree)
	}
	return rec, raw, m, err
}

// corrupt is damaged with a way out: the last valid checkpoint before it, and a rebuild.
func (s *Service) corrupt(ctx context.Context, st *journal.State, e *journal.Entry, err error) error {
	known := &Error{Kind: KindInvalid, Message: fmt.Sprintf("checkpoint %s cannot be read", e.Label), Err: err}
	last := s.lastValid(ctx, st, e)
	if last != nil {
		known.Hints = append(known.Hints, fmt.Sprintf("`git checkpoint rollback %s` goes back to %s, the last valid one", typed(st, last), last.Label))
	}
	known.Hints = append(known.Hints,
		"`git checkpoint rebuild "+string(e.Checkpoint)+"` saves what can be proven",
		"`git checkpoint delete "+string(e.Checkpoint)+"` goes on without it")
	if def, defErr := s.ofSession(ctx, st); defErr == nil && own(def, "corrupt") {
		said := map[string]any{"session": string(st.Session), "workflow": def.Name, "label": e.Label, "id": string(e.Checkpoint), "step": e.Step, "step_name": e.Event().StepName, "error": err.Error()}
		if last != nil {
			said["last_valid"] = last.Label
		}
		known.Hints = append(strings.Split(def.Message("corrupt", said), "\n"), known.Hints...)
	}
	return known
}

// lastValid is the newest live checkpoint before one that is damaged whose record can be
// read; nil where there is none near.
func (s *Service) lastValid(ctx context.Context, st *journal.State, e *journal.Entry) *journal.Entry {
	looked := 0
	for i, c := range st.Backward() {
		if !c.Live || i >= e.Place {
			continue
		}
		if _, _, _, err := s.readRecord(ctx, st.At(i)); err == nil {
			return st.At(i)
		}
		if looked++; looked == mostLenders {
			break
		}
	}
	return nil
}

func damaged(e *journal.Entry, err error) error {
	return &Error{
		Kind: KindInvalid, Message: fmt.Sprintf("checkpoint %s cannot be read", e.Label), Err: err,
		Hints: []string{"`git checkpoint rollback` to an older one, or `git checkpoint delete " + string(e.Checkpoint) + "`, goes on without it"},
	}
}

// compose fills the record for the journal as it is now.
func (c *creation) compose(ctx context.Context, v store.View, prev base) error {
	if err := c.prepare(v, prev); err != nil {
		return err
	}
	if !c.safety {
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
	if prev.entry != nil {
		r.Previous = prev.entry.Checkpoint
	}
	if v.State != nil {
		r.Topic = v.State.Topic
	}
	if err := c.composeState(prev); err != nil {
		return err
	}
	if c.safety {
		c.numberSafety(v, prev)
		return nil
	}
	return c.number(v)
}

// drawID draws until the id is new in this session.
func (c *creation) drawID(v store.View) error {
	for range 64 {
		id := name.NewID(c.record.Step, c.at, uint16(c.s.store.Random())) //nolint:gosec // four hex digits are wanted
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
	if prev.record != nil {
		for n, o := range prev.record.Outputs {
			c.record.Outputs[n] = o
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
	changes, err := c.s.repo.DiffTrees(ctx, prev.tree, c.capture.Tree)
	if err != nil {
		return classify(err)
	}
	c.record.Files = filesOf(changes)
	sn := &c.record.Snapshot
	sn.Tree, sn.Complete, sn.Modes = c.capture.Tree, len(c.capture.Skipped) == 0, map[record.Path]string{}
	for p, m := range c.capture.Modes {
		sn.Modes[record.Path(p)] = fmt.Sprintf("%04o", m)
	}
	for p, m := range c.modes {
		sn.Modes[p] = m
	}
	if c.capture.ModesKnown {
		c.snapshotExtra("modes_known", true)
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

// composeStaged lists what the index has that HEAD has not.
func (c *creation) composeStaged(ctx context.Context) error {
	if c.capture.Index.Tree == "" {
		return nil
	}
	headTree, err := c.headTree(ctx)
	if err != nil {
		return err
	}
	changes, err := c.s.repo.DiffTrees(ctx, headTree, c.capture.Index.Tree)
	if err != nil {
		return classify(err)
	}
	for i, ch := range changes {
		if i == record.MaxListed {
			c.gitExtra("staged_truncated", true)
			break
		}
		c.record.Git.Staged = append(c.record.Git.Staged, record.Path(ch.Path))
	}
	return nil
}

// gitExtra adds a member to the record's git, snapshotExtra to its snapshot.
func (c *creation) gitExtra(member string, value any) { addExtra(&c.record.Git.Extra, member, value) }

func (c *creation) snapshotExtra(member string, value any) {
	addExtra(&c.record.Snapshot.Extra, member, value)
}

func addExtra(to *map[string]json.RawMessage, member string, value any) {
	if *to == nil {
		*to = map[string]json.RawMessage{}
	}
	raw, _ := json.Marshal(value) //nolint:errcheck // words, booleans and paths never fail
	(*to)[member] = raw
}

func (c *creation) composeGit() {
	g, ix := &c.record.Git, c.capture.Index
	if c.place.other != "" {
		c.gitExtra("operation_head", c.place.other)
	}
	if c.aside != nil {
		c.gitExtra(memberAside, c.aside)
	}
	g.Branch, g.Head, g.Detached = record.Path(c.place.branch), c.head, c.place.branch == ""
	g.Operation, g.Worktree, g.Worktrees = c.place.operation, record.Path(c.s.worktreeName()), c.place.worktrees
	g.Index = ix.Tree
	seen := map[string]bool{}
	for _, u := range ix.Unmerged {
		if !seen[u.Path] {
			seen[u.Path] = true
			g.Unmerged = append(g.Unmerged, record.Path(u.Path))
		}
	}
	g.IntentToAdd, g.AssumeUnchanged, g.SparsePresent = toPaths(ix.IntentToAdd), toPaths(ix.AssumeUnchanged), toPaths(ix.SparsePresent)
	if len(c.capture.Ignored) > 0 {
		c.snapshotExtra("ignored", toPaths(c.capture.Ignored))
	}
	if len(c.made) > 0 {
		c.snapshotExtra(memberMade, c.made)
	}
}

func toPaths(list []string) []record.Path {
	out := make([]record.Path, len(list))
	for i, p := range list {
		out[i] = record.Path(p)
	}
	return out
}

func fromPaths(list []record.Path) []string {
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

func decodeFlags(data []byte) []string {
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

func (s *Service) placeNow(ctx context.Context) (place, error) {
	p := place{branch: s.repo.Head.Branch, operation: s.repo.Operation(), other: s.repo.OperationHead()}
	list, err := s.repo.Worktrees(ctx)
	if err != nil {
		return p, classify(err)
	}
	for _, w := range list {
		if w.GitDir != s.repo.GitDir {
			p.worktrees = append(p.worktrees, record.Worktree{Name: record.Path(w.Name), Branch: record.Path(w.Branch), Head: w.Head})
		}
	}
	return p, nil
}

// lastHanging is the highest k of the live labels cp-NN…+k of a step.
func lastHanging(st *journal.State, step int) int {
	highest := 0
	if st == nil {
		return 0
	}
	for i, c := range st.Standings() {
		if c.Live && !c.Milestone && c.Step == step {
			_, suffix, _ := strings.Cut(st.At(i).Label, "+")
			if k, err := strconv.Atoi(suffix); err == nil && k > highest {
				highest = k
			}
		}
	}
	return highest
}
