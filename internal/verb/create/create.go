package create

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/tidwall/gjson"

	"git-checkpoint/internal/core/checkpoint"
	"git-checkpoint/internal/core/clearance"
	"git-checkpoint/internal/core/guard"
	"git-checkpoint/internal/core/workflow"
	"git-checkpoint/internal/format/journal"
	"git-checkpoint/internal/format/name"
	"git-checkpoint/internal/format/record"
	"git-checkpoint/internal/git"
	"git-checkpoint/internal/storage/snapshot"
	"git-checkpoint/internal/storage/store"
	"git-checkpoint/internal/verb/background"
)

// A create goes through four types. Each embeds the one before it, which does not change any more:
// request, defined, captured, draft.

// request is a Request that was checked, with the session that it goes to.
type request struct {
	s   *checkpoint.Service
	req Request // without secrets in its texts
	home
	headCommit
	at     time.Time     // the time of the checkpoint
	safety bool          // made by a rollback: no rule of a workflow applies
	move   SafetyRequest // what that rollback is about to do
}

// defined is a request with the workflow that it follows.
type defined struct {
	*request
	def      *workflow.Definition
	document workflow.Accepted // the parsed --state document, if there is one
}

// captured is a request with what was captured for it. It is computed once, and each try of the
// transaction makes a draft of it.
type captured struct {
	*defined
	capture *snapshot.Capture
	git     record.Git            // branch, operation and worktrees
	outputs map[string]KeptOutput // already written as blobs
	watch   *clearance.Watch      // the secret scanner; nil: it is off
	// Set by planCommit. A try of the transaction may still give the commit up.
	landing  *stepCommit // the commit on the branch of the session; nil: none
	unlanded []string    // why there is none, for the user
}

// draft is the checkpoint as one try of the transaction makes it, from the journal as it is then.
type draft struct {
	*captured
	prev    base
	record  *record.Record
	spot    workflow.Place
	early   bool                // a step before it is missing; known only if failures block the workflow
	held    bool                // refused because the session is paused or waits for an answer
	stated  json.RawMessage     // the state before the workflow derived members
	kept    map[string]name.OID // the document, if a layout may write it back; see keepDocument
	unknown string              // a warning: what changed since the last checkpoint is unknown
	written store.Written
	event   journal.Event         // the members that all events of this create share
	opened  string                // the status of the closed session that this create reopens
	pruned  []checkpoint.Labelled // what the workflow's rules prune
}

// Checkpoint makes a checkpoint. If a concurrent git gc removes objects, it tries again: the next
// capture writes them anew. A missing object that no capture writes is damage, and fails on the
// last try too.
func Checkpoint(ctx context.Context, s *checkpoint.Service, req Request) (*checkpoint.Detail, error) {
	for try := 1; ; try++ {
		made, err := attempt(ctx, s, req)
		taken := checkpoint.Vanished(err) || errors.Is(err, git.ErrMissing)
		if !taken || try >= checkpoint.Attempts || s.Repo.Maintenance.AwaitGC(ctx) != nil {
			return made, err
		}
	}
}

func attempt(ctx context.Context, s *checkpoint.Service, req Request) (*checkpoint.Detail, error) {
	if on, err := s.Settings.Bool("checkpoint.enabled", true); err != nil || !on {
		if err == nil {
			err = &checkpoint.Error{Kind: checkpoint.KindNothing, Message: "checkpoints are switched off here (checkpoint.enabled)"}
		}
		return nil, err
	}
	if req.DryRun {
		return checkpoint.RetryBorrowed(s, func() (*checkpoint.Detail, error) { return createNow(ctx, s, req) })
	}
	if !req.Moving {
		if err := s.RefuseHalfRolledBack(); err != nil {
			return nil, err
		}
	}
	return createNow(ctx, s, req)
}

// createNow makes the checkpoint of one try, or with DryRun only computes it. A failure is
// remembered for a retry.
func createNow(ctx context.Context, s *checkpoint.Service, req Request) (*checkpoint.Detail, error) {
	c, err := requestFor(ctx, s, req)
	if err != nil {
		return nil, err
	}
	definition := c.loadDefinition(ctx)
	sweep(s)
	made, last, err := c.make(ctx, definition)
	switch def, wrong := definition(); {
	case wrong != nil: // no definition was loaded, so it has no custom message
		err = wrong
	case err != nil && !last.isHeld() && !req.DryRun:
		err = c.failed(ctx, definition, def, last, err)
	case err == nil && !req.DryRun:
		background.StartPush(s, c.session)
		background.StartPack(s, c.session)
	}
	c.rememberFailure(ctx, definition, last, err)
	return made, err
}

// make captures the worktree and writes the checkpoint. It also returns the last draft, as far as it
// got, or nil if there was none.
func (c *request) make(ctx context.Context, definition definition) (*checkpoint.Detail, *draft, error) {
	got, err := c.captureAll(ctx, definition)
	if err != nil {
		return nil, nil, err
	}
	if c.req.DryRun {
		v, err := c.view(ctx)
		if err != nil {
			return nil, nil, err
		}
		d, err := got.draft(ctx, v)
		if err != nil {
			return nil, d, err
		}
		return d.detail(), d, nil
	}
	if c.req.LeftOut != nil {
		c.req.LeftOut(SkippedOf(got.capture))
	}
	c.s.Trace("captured")
	if d, err := got.planCommit(ctx, definition); err != nil {
		return nil, d, err
	}
	d, res, err := got.transact(ctx)
	if err != nil {
		return nil, d, err
	}
	c.s.Trace("recorded")
	return d.recorded(ctx, res), d, nil
}

// transact writes the checkpoint, and repairs it if objects vanished meanwhile. It returns the draft
// of the last try, or nil if there was none.
func (c *captured) transact(ctx context.Context) (*draft, store.Result, error) {
	var d *draft
	build := func(ctx context.Context, v store.View) (change store.Change, err error) {
		d, change, err = c.build(ctx, v)
		return change, err
	}
	res, err := c.s.Store.Transact(ctx, c.session, build)
	if c.landed(ctx, err) {
		res, err = c.s.Store.Transact(ctx, c.session, build)
	}
	if err != nil && d != nil {
		err = d.repair(ctx, err)
	}
	if err == nil {
		rememberBits(c.s, d.record, c.capture.Modes, c.move.Modes)
		if !c.safety { // a rollback names no file that it leaves alone
			rememberOutside(c.s, c.session, c.capture.Outside)
		}
		checkpoint.KeepOutside(ctx, c.s, c.capture.Tree, d.written.RecordCommit)
		if len(d.pruned) > 0 {
			checkpoint.SweepOutside(ctx, c.s)
		}
	}
	return d, res, err
}

// recorded does what follows after the checkpoint was written, and returns the answer.
func (c *draft) recorded(ctx context.Context, res store.Result) *checkpoint.Detail {
	if c.watch != nil {
		c.watch.Say()
	}
	c.sayPrivate()
	for _, w := range res.Warnings {
		c.s.Warn(w)
	}
	if c.opened != "" {
		c.s.Warn(fmt.Sprintf("session %q was closed as %s; it is now open again", c.session, c.opened))
	}
	c.tellHeads(ctx, res.State)
	c.activate(ctx)
	over := slices.Concat(c.pruneOver(ctx), c.thin(ctx))
	d := c.detail()
	d.Heads = func() []checkpoint.Head { return c.s.RecentHeads(ctx, res.State) }
	d.Expired = c.pruneDue(ctx)
	if c.left != "" {
		d.Left = c.s.Steps(ctx, c.left)
	}
	d.Against, d.First = c.against(), res.State.Len() == 1
	*d.Created, d.Ref, d.Said = true, name.CheckpointRef(c.session, c.record.ID), c.confirmation()
	if d.Pruned = slices.Concat(c.pruned, over); res.Private != clearance.NotMeant {
		d.Private = res.Private
	}
	for _, t := range res.Tags {
		if t.New == c.written.Commit && t.Ref == name.TagRef(c.session, c.record.Step, c.record.Iteration) {
			d.Tag = t.Ref
		}
	}
	return d
}

// SweepAge is the age at which a temporary file counts as left behind by a killed process.
const SweepAge = 24 * time.Hour

// sweep removes temporary files that killed runs left behind. It removes none while a rollback is
// unfinished, because --continue and --abort need them.
func sweep(s *checkpoint.Service) {
	if in, err := snapshot.ReadIntent(filepath.Join(s.Repo.GitDir, "checkpoint")); in != nil || err != nil {
		return
	}
	_, err := s.Store.Sweep(SweepAge)
	if err == nil {
		var shot *snapshot.Worktree
		if shot, err = s.Worktree(); err == nil {
			err = errors.Join(shot.Sweep(SweepAge), clearance.SweepCopies(s))
		}
	}
	if err != nil {
		s.Warn(err.Error())
	}
}

// requestFor checks the request and selects the session; define selects the workflow. It removes
// secrets from the texts of the request, and writes nothing.
func requestFor(ctx context.Context, s *checkpoint.Service, req Request) (*request, error) {
	if err := checkRequest(req); err != nil {
		return nil, err
	}
	if !req.SkipUnchanged { // else there is mostly nothing to scan
		guard.Prepare()
	}
	head, err := readHead(ctx, s)
	if err != nil {
		return nil, err
	}
	in, err := homeOf(ctx, s, req)
	req.Message = clearance.Redacted(s, "message", req.Message)
	req.Name = clearance.Redacted(s, "step name", req.Name)
	req.Status = clearance.Redacted(s, "status", req.Status)
	if req.Error != nil && !json.Valid([]byte(*req.Error)) { // JSON is the job's own data
		req.Error = new(clearance.Redacted(s, "error", *req.Error))
	}
	return &request{s: s, req: req, home: in, at: s.Now(), headCommit: head}, err
}

// captureAll captures the worktree, stores the outputs and parses the document.
func (c *request) captureAll(ctx context.Context, definition definition) (*captured, error) {
	got := &captured{defined: &defined{request: c}}
	if c.handed() || len(c.req.Outputs) > 0 {
		def, err := definition()
		if err != nil {
			return nil, err
		}
		if got.defined, err = c.accept(def); err != nil {
			return nil, err
		}
	}
	var err error
	if got.outputs, err = c.keepOutputs(ctx, got.document); err != nil {
		return nil, err
	}
	if c.req.tree != "" {
		got.capture = &snapshot.Capture{Tree: c.req.tree}
	} else if got.capture, got.watch, err = c.captureWatched(ctx, definition); err != nil {
		return nil, err
	} else if !c.req.DryRun { // the rollback that the capture waited for may have been killed
		if err := checkpoint.RefuseHalf(c.s, got.capture); err != nil {
			return nil, err
		}
	}
	if got.def, err = definition(); err != nil {
		return nil, err
	}
	got.git, err = gitNow(ctx, c.s)
	return got, err
}

// capture captures the worktree by the configured rules.
func capture(ctx context.Context, s *checkpoint.Service, session name.Session, req Request, rules snapshot.Rules) (*snapshot.Capture, error) {
	rules.IncludeIgnored, rules.Exclude = req.IncludeIgnored, req.Exclude
	rules.LeaveUnignored = req.Automatic
	WatchIgnored(ctx, s, session, &rules)
	if !req.Large {
		rules.MaxNewFiles = checkpoint.DefaultMaxNewFiles
		var err error
		if rules.MaxNewSize, err = s.Settings.Size("checkpoint.maxNew", checkpoint.DefaultMaxNewSize); err != nil {
			return nil, err
		}
		rules.Known = func() name.OID { return CurrentTree(ctx, s, session) }
	}
	return Take(ctx, s, rules)
}

// CurrentTree returns the tree of the session's current checkpoint, or "" if there is none that can
// be read.
func CurrentTree(ctx context.Context, s *checkpoint.Service, session name.Session) name.OID {
	st, err := s.Store.State(ctx, session)
	if err != nil || st.CurrentEntry() == nil {
		return ""
	}
	tree, _ := s.Repo.Commits.TreeOf(ctx, st.CurrentEntry().Event().Commit) //nolint:errcheck // see above
	return tree
}

// build computes the checkpoint from the journal as it is now. The transaction calls it once for
// each try.
func (c *captured) build(ctx context.Context, v store.View) (*draft, store.Change, error) {
	d, err := c.draft(ctx, v)
	var branch *git.Update
	if err == nil && c.landing != nil {
		if branch, err = d.follow(ctx); err == nil && branch == nil { // given up, and the index is as before
			d, err = c.draft(ctx, v)
		}
	}
	if err == nil {
		if c.req.Composed != nil {
			c.req.Composed(d.record, d.prev.tree)
		}
		d.written, err = d.write(ctx)
	}
	if err != nil {
		return d, store.Change{}, err
	}
	c.s.Trace("written")
	change, err := d.change(ctx, v)
	change.Branch = branch
	return d, change, err
}

// draft composes the record, and refuses it if nothing has changed. It may write objects, but no
// refs. With an error it returns the draft as far as it got.
func (c *captured) draft(ctx context.Context, v store.View) (*draft, error) {
	prev, err := c.previous(ctx, v)
	if err != nil {
		return nil, err
	}
	d := &draft{captured: c, prev: prev}
	if err := d.compose(ctx, v); err != nil {
		return d, err
	}
	if err := d.refuseUnchanged(ctx); err != nil || c.req.Words == nil {
		return d, err
	}
	d.record.Message = c.req.Words()
	return d, nil
}

// change returns what the transaction writes.
func (c *draft) change(ctx context.Context, v store.View) (change store.Change, err error) {
	if c.event, err = c.s.NewEvent("", c.session); err != nil {
		return change, err
	}
	c.event.Time = c.at
	if v.State == nil || c.workflow != "" && isBlank(v.State) {
		change.Events = c.starting()
	} else if c.renamed {
		renamed := c.eventOf(journal.KindStart)
		renamed.Branch = string(c.s.Repo.Head.Branch)
		change.Events = []journal.Event{renamed}
	}
	c.reopen(v, &change)
	change.Events = append(change.Events, c.goOn(v.State)...)
	e := c.eventOf(journal.KindCreate)
	checkpoint.NameIn(&e, c.record, c.written.Commit)
	e.Extra = append(e.Extra, c.ownIDs()...)
	change.Events = append(change.Events, e)
	c.pruneWith(ctx, v, &change, e)
	if c.req.Pinned {
		pin := c.eventOf(journal.KindPin)
		pin.Checkpoint, pin.Label = c.record.ID, c.record.Label
		change.Events = append(change.Events, pin)
	}
	change.Create = []store.NewCheckpoint{{ID: c.record.ID, Commit: c.written.Commit, RecordBlob: c.written.RecordBlob}}
	change.Verify = slices.Concat(c.capture.New, c.written.NewObjects)
	if c.landing != nil {
		change.Verify = append(change.Verify, c.landing.oid, c.landing.draft.Tree)
	}
	change.Mends = true // on missing objects repair, as another process may have read the journal
	return change, nil
}

// eventOf returns an event of this create.
func (c *draft) eventOf(kind journal.Kind) journal.Event {
	e := c.event
	e.Kind = kind
	return e
}

// ownIDs returns trailers with the ids that the document's own system has for the checkpoint and
// the session.
func (c *draft) ownIDs() []journal.Trailer {
	if !c.handed() || !c.def.Knows(c.req.State) {
		return nil
	}
	return append(checkpoint.DocumentTrailer(checkpoint.TrailerDocument, c.def.CheckpointOf(c.document)),
		checkpoint.DocumentTrailer(checkpoint.TrailerOwner, c.def.SessionOf(c.document))...)
}

// write writes the record commit and the checkpoint commit. It writes no ref.
func (c *draft) write(ctx context.Context) (store.Written, error) {
	author, committer := c.s.Repo.Commits.Identity(c.at)
	head, _ := c.committed()
	d := store.Draft{
		Metrics: MetricsOf(c.def, c.record.State),
		Record:  c.record, Tree: c.capture.Tree, Head: head, IndexTree: c.capture.Index.Tree,
		Outputs: map[string]name.OID{}, Import: c.kept, Raw: c.capture.Raw, Conflicts: c.capture.Index.Unmerged, Author: author, Committer: committer,
	}
	for n, o := range c.record.Outputs {
		d.Outputs[n] = o.OID
	}
	// For each path the letter S, which `git ls-files -t` shows for it, a space, the path and a NUL.
	if skip := c.capture.Index.SkipWorktree; len(skip) > 0 {
		oid, err := c.s.Repo.Objects.Write(ctx, "blob", []byte("S "+strings.Join(skip, "\x00S ")+"\x00"))
		if err != nil {
			return store.Written{}, err
		}
		d.Flags = oid
	}
	var err error
	if d.Limits.Size, err = c.longest(); err != nil {
		return store.Written{}, err
	}
	written, err := c.s.Store.WriteCheckpoint(ctx, d)
	if size, is := errors.AsType[*record.SizeError](err); is {
		if c.lighten() {
			return c.write(ctx)
		}
		return store.Written{}, tooLarge(size)
	}
	return written, err
}

// MetricsOf returns the member of a state in which its workflow keeps metrics, as raw JSON.
func MetricsOf(def *workflow.Definition, state json.RawMessage) json.RawMessage {
	return json.RawMessage(gjson.GetBytes(state, metricsPath(def)).Raw)
}

// metricsPath returns the path of that member.
func metricsPath(def *workflow.Definition) string {
	return cmp.Or(def.State.Members.Metrics, "metrics")
}

// detail describes the draft. recorded adds what is known after it was written.
func (c *draft) detail() *checkpoint.Detail {
	d := &checkpoint.Detail{Record: c.record, Raw: c.written.Raw, Commit: c.written.Commit, Created: new(bool), Pruned: c.pruned}
	if c.unknown != "" {
		d.Warnings = append(d.Warnings, c.unknown)
	}
	if c.capture.TrackedOnly {
		d.Warnings = append(d.Warnings, snapshot.OnlyTracked)
	}
	d.Unignored = ToPaths(c.capture.Unignored)
	d.Warnings = append(d.Warnings, SayUnignored(c.capture.Unignored)...)
	d.Warnings = append(d.Warnings, c.unlanded...)
	for _, risk := range c.capture.AtRisk {
		if risk.Reason == snapshot.ReasonLost {
			d.Warnings = append(d.Warnings, fmt.Sprintf("not captured: %s (%s)", name.Quoted(risk.Path), risk.Reason))
		}
	}
	for _, sk := range c.record.Snapshot.Skipped {
		if sk.Reason == snapshot.ReasonMirror {
			continue
		}
		reason := sk.Reason
		at := slices.IndexFunc(c.capture.Skipped, func(got snapshot.Skip) bool { return got.Path == string(sk.Path) && got.Said != "" })
		if at >= 0 {
			reason += ": " + c.capture.Skipped[at].Said
		}
		d.Warnings = append(d.Warnings, fmt.Sprintf("not captured: %s (%s)", strings.ReplaceAll(string(sk.Path), "\n", `\n`), reason))
	}
	return d
}
