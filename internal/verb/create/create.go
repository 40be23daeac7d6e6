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
	"sync"
	"time"

	"github.com/tidwall/gjson"

	"git-checkpoint/internal/core/checkpoint"
	"git-checkpoint/internal/core/clearance"
	"git-checkpoint/internal/core/workflow"
	"git-checkpoint/internal/format/journal"
	"git-checkpoint/internal/format/name"
	"git-checkpoint/internal/format/record"
	"git-checkpoint/internal/git"
	"git-checkpoint/internal/storage/snapshot"
	"git-checkpoint/internal/storage/store"
	"git-checkpoint/internal/verb/background"
)

// creation holds the data of one create. The first group of fields is set once; the second group is
// computed again by each call of build.
type creation struct {
	s   *checkpoint.Service
	req Request
	home
	def      *workflow.Definition
	at       time.Time // the time of the checkpoint
	head     name.OID  // the commit of HEAD; empty without one
	capture  *snapshot.Capture
	git      record.Git            // branch, operation and worktrees
	outputs  map[string]KeptOutput // already written as blobs
	document workflow.Accepted     // the parsed --state document, if there is one
	safety   bool                  // made by a rollback: no rule of a workflow applies
	move     SafetyRequest         // what that rollback is about to do
	learned  func() error          // waits for learn and returns its error
	watch    *clearance.Watch      // the secret scanner; nil: it is off

	// Set by each build.
	event   journal.Event // the members that all events of this create share
	spot    workflow.Place
	record  *record.Record
	stated  json.RawMessage     // the state before the workflow derived members
	kept    map[string]name.OID // the document, if a layout may write it back; see keepDocument
	opened  string              // the status of the closed session that this create reopens
	written store.Written
	tag     name.Ref
	private string                // what keeps a milestone from having a tag; empty: nothing
	pruned  []checkpoint.Labelled // what the workflow's rules prune
	unknown string                // a warning: what changed since the last checkpoint is unknown
}

// Checkpoint makes a checkpoint. If a concurrent git gc removes objects, it tries again: the next
// capture writes them anew. A missing object that no capture writes is damage, and fails on the
// last try too.
func Checkpoint(ctx context.Context, s *checkpoint.Service, req Request) (*checkpoint.Detail, error) {
	for try := 1; ; try++ {
		made, err := attempt(ctx, s, req)
		taken := checkpoint.Vanished(err) || errors.Is(err, git.ErrMissing)
		if !taken || try >= checkpoint.Attempts || s.Repo.AwaitGC(ctx) != nil {
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
	if err := s.RefuseHalfRolledBack(); err != nil {
		return nil, err
	}
	return createNow(ctx, s, req)
}

// createNow makes the checkpoint of one try, or with DryRun only computes it. A failure is
// remembered for a retry.
func createNow(ctx context.Context, s *checkpoint.Service, req Request) (*checkpoint.Detail, error) {
	c, err := creationFor(ctx, s, req)
	if err != nil {
		return nil, err
	}
	c.learn(ctx)
	sweep(s)
	if !req.DryRun {
		clearance.ReviewTags(ctx, s)
	}
	made, err := c.make(ctx)
	switch wrong := c.learned(); {
	case wrong != nil: // there is no workflow whose words could be said
		err = wrong
	case err != nil:
		err = c.failed(err)
	case !req.DryRun:
		background.StartPush(s, c.session)
		background.StartPack(s, c.session)
	}
	c.rememberFailure(err)
	return made, err
}

// make captures the worktree and writes the checkpoint.
func (c *creation) make(ctx context.Context) (*checkpoint.Detail, error) {
	s := c.s
	if err := c.look(ctx); err != nil {
		return nil, err
	}
	if c.req.DryRun {
		v, err := c.view(ctx)
		if err == nil {
			err = c.draft(ctx, v)
		}
		if err != nil {
			return nil, err
		}
		return c.detail(false), nil
	}
	if c.req.LeftOut != nil {
		c.req.LeftOut(SkippedOf(c.capture))
	}
	s.Trace("captured")
	res, err := c.transact(ctx)
	if err != nil {
		return nil, err
	}
	s.Trace("recorded")
	if c.watch != nil {
		c.watch.Say()
	}
	c.private = cmp.Or(c.private, res.Private)
	for _, t := range res.Tags {
		if t.New == c.written.Commit && t.Ref == name.TagRef(c.session, c.record.Step, c.record.Iteration) {
			c.tag = t.Ref
		}
	}
	for _, w := range res.Warnings {
		s.Warn(w)
	}
	if c.opened != "" {
		s.Warn(fmt.Sprintf("session %q was closed as %s; it is now open again", c.session, c.opened))
	}
	activate(c)
	pruneOver(ctx, c)
	return c.detail(true), nil
}

// transact writes the checkpoint, and repairs it if objects vanished meanwhile.
func (c *creation) transact(ctx context.Context) (store.Result, error) {
	res, err := c.s.Store.Transact(ctx, c.session, c.build)
	if err != nil {
		err = c.repair(ctx, err)
	}
	if err == nil {
		rememberBits(c.s, c.record, c.capture.Modes, c.move.Modes)
		checkpoint.KeepOutside(ctx, c.s, c.capture.Tree, c.written.RecordCommit)
		if len(c.pruned) > 0 {
			checkpoint.SweepOutside(ctx, c.s)
		}
	}
	return res, err
}

// activate makes the session active if none is active, or if the document belongs to another
// session than the active one.
func activate(c *creation) {
	active, err := c.s.Store.ActiveSession()
	if err != nil || active != "" && !c.moved {
		return
	}
	choose := checkpoint.Adopt
	if c.req.Session != "" {
		choose = checkpoint.Choose
	}
	if err := choose(c.s, c.session); err != nil {
		c.s.Warn(err.Error())
	} else if active != "" {
		c.s.Warn(fmt.Sprintf("session %q is now active here: the document belongs to it, not to %q", c.session, active))
	}
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
		var shot *snapshot.Shot
		if shot, err = s.Shot(); err == nil {
			err = shot.Sweep(SweepAge)
		}
	}
	if err != nil {
		s.Warn(err.Error())
	}
}

// creationFor checks the request and selects the session; define selects the workflow. It removes
// secrets from the texts of the request, and writes nothing.
func creationFor(ctx context.Context, s *checkpoint.Service, req Request) (*creation, error) {
	c := &creation{s: s, req: req, at: s.Now(), head: s.Repo.Head.OID}
	if err := checkRequest(req); err != nil {
		return nil, err
	}
	var err error
	c.home, err = homeOf(ctx, s, req)
	c.req.Message = clearance.Redacted(s, "message", req.Message)
	c.req.Name = clearance.Redacted(s, "step name", req.Name)
	c.req.Status = clearance.Redacted(s, "status", req.Status)
	if req.Error != nil && !json.Valid([]byte(*req.Error)) { // JSON is the job's own data
		text := clearance.Redacted(s, "error", *req.Error)
		c.req.Error = &text
	}
	return c, err
}

// define selects the workflow and checks that its trigger is switched on.
func (c *creation) define(ctx context.Context) error {
	var err error
	if c.req.Fork != nil { // the checkpoint that is copied has passed all rules
		c.def, err = c.s.DefinitionFor(ctx, c.req.Fork.From.State)
		return err
	}
	if c.workflow != "" {
		c.def, err = c.s.Definition(c.workflow)
	} else {
		c.def, err = c.s.DefinitionOf(ctx, c.session)
	}
	if err != nil {
		return err
	}
	return c.checkTrigger()
}

// learn runs define in the background while look scans the worktree, because reading the journal of
// a long session takes as long as that scan. No ref and no content may be written before
// c.learned has returned nil.
func (c *creation) learn(ctx context.Context) {
	done := make(chan error, 1)
	go func() { done <- c.define(ctx) }()
	c.learned = sync.OnceValue(func() error { return <-done })
}

// look captures the worktree, stores the outputs and parses the document.
func (c *creation) look(ctx context.Context) error {
	if c.handed() || len(c.req.Outputs) > 0 {
		if err := c.learned(); err != nil {
			return err
		}
	}
	if c.handed() {
		if err := c.accept(); err != nil {
			return err
		}
	}
	var err error
	if c.outputs, err = keepOutputs(ctx, c.s, c.req.Outputs); err != nil {
		return err
	}
	if err := c.keepStated(ctx); err != nil {
		return err
	}
	if c.capture == nil && c.req.Tree == "" {
		if err := captureWatched(ctx, c); err != nil {
			return err
		}
		if !c.req.DryRun { // the rollback that the capture waited for may have been killed
			if err := checkpoint.RefuseHalf(c.s, c.capture); err != nil {
				return err
			}
		}
	}
	if err := c.learned(); err != nil {
		return err
	}
	if c.capture == nil {
		c.capture = &snapshot.Capture{Tree: c.req.Tree}
	}
	c.git, err = gitNow(ctx, c.s)
	return err
}

// capture captures the worktree by the configured rules.
func capture(ctx context.Context, s *checkpoint.Service, session name.Session, req Request, rules snapshot.Rules) (*snapshot.Capture, error) {
	rules.IncludeIgnored, rules.Exclude = req.IncludeIgnored, req.Exclude
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
	commit, err := s.Repo.ReadCommit(ctx, string(st.CurrentEntry().Event().Commit))
	if err != nil {
		return ""
	}
	return commit.Tree
}

// build computes the checkpoint from the journal as it is now. The transaction calls it once for
// each try.
func (c *creation) build(ctx context.Context, v store.View) (store.Change, error) {
	var change store.Change
	err := c.draft(ctx, v)
	if err == nil {
		err = c.write(ctx)
	}
	if err != nil {
		return change, err
	}
	c.s.Trace("written")
	if c.event, err = c.s.NewEvent("", c.session); err != nil {
		return change, err
	}
	c.event.Time = c.at
	if v.State == nil || c.workflow != "" && isBlank(v.State) {
		change.Events = starting(c)
	}
	c.reopen(v, &change)
	e := c.eventOf(journal.KindCreate)
	checkpoint.NameIn(&e, c.record, c.written.Commit)
	e.Extra = ownIDs(c)
	change.Events = append(change.Events, e)
	c.pruneWith(ctx, v, &change, e)
	if c.req.Pinned {
		pin := c.eventOf(journal.KindPin)
		pin.Checkpoint, pin.Label = c.record.ID, c.record.Label
		change.Events = append(change.Events, pin)
	}
	change.Create = []store.NewCheckpoint{{ID: c.record.ID, Commit: c.written.Commit, RecordBlob: c.written.RecordBlob}}
	change.Verify = slices.Concat(c.capture.New, c.written.NewObjects)
	change.Mends = true // on missing objects repair, as another process may have read the journal
	if err := judgeTag(ctx, c); err != nil {
		return change, err
	}
	if c.req.NoTag || c.private != "" {
		change.Tags = store.TagsNone
	}
	return change, nil
}

// draft composes the record, and refuses it if nothing has changed. It may write objects, but no
// refs.
func (c *creation) draft(ctx context.Context, v store.View) error {
	prev, err := c.previous(ctx, v)
	if err != nil {
		return err
	}
	if err := c.compose(ctx, v, prev); err != nil {
		return err
	}
	return c.refuseUnchanged(ctx, prev)
}

// eventOf returns an event of this create.
func (c *creation) eventOf(kind journal.Kind) journal.Event {
	e := c.event
	e.Kind = kind
	return e
}

// reopen sets a closed session in progress again. Otherwise the retention rules for closed sessions
// would soon prune the new checkpoint.
func (c *creation) reopen(v store.View, change *store.Change) {
	c.opened = ""
	if v.State == nil || !checkpoint.IsClosed(v.State.Status) || c.safety {
		return
	}
	e := c.eventOf(journal.KindStatus)
	e.Status, c.opened = checkpoint.StatusOpen, v.State.Status
	change.Events = append(change.Events, e)
}

// ownIDs returns trailers with the ids that the document's own system has for the checkpoint and
// the session.
func ownIDs(c *creation) []journal.Trailer {
	if !c.handed() || !c.def.Knows(c.req.State) {
		return nil
	}
	return append(checkpoint.DocumentTrailer(checkpoint.TrailerDocument, c.def.CheckpointOf(c.document)),
		checkpoint.DocumentTrailer(checkpoint.TrailerOwner, c.def.SessionOf(c.document))...)
}

// write writes the record commit and the checkpoint commit. It writes no ref.
func (c *creation) write(ctx context.Context) error {
	author, committer := c.s.Repo.Identity(c.at)
	d := store.Draft{
		Metrics: MetricsOf(c.def, c.record.State),
		Record:  c.record, Tree: c.capture.Tree, Head: c.head, IndexTree: c.capture.Index.Tree,
		Outputs: map[string]name.OID{}, Import: c.kept, Raw: c.capture.Raw, Author: author, Committer: committer,
	}
	for n, o := range c.record.Outputs {
		d.Outputs[n] = o.OID
	}
	for _, u := range c.capture.Index.Unmerged {
		d.Conflicts = append(d.Conflicts, store.Conflict(u))
	}
	if len(c.capture.Index.SkipWorktree) > 0 {
		oid, err := c.s.Repo.WriteObject(ctx, "blob", encodeFlags(c.capture.Index.SkipWorktree))
		if err != nil {
			return err
		}
		d.Flags = oid
	}
	limit, err := c.s.Settings.Size("checkpoint.maxRecordSize", checkpoint.DefaultMaxRecordSize)
	if err == nil && limit > checkpoint.DefaultMaxRecordSize {
		err = checkpoint.Usage("a larger record could not be read again", "checkpoint.maxRecordSize is more than 50m")
	}
	if err != nil {
		return err
	}
	d.Limits.Size = limit
	c.written, err = c.s.Store.WriteCheckpoint(ctx, d)
	if _, is := errors.AsType[*record.SizeError](err); is {
		if lighten(c) {
			return c.write(ctx)
		}
		return tooLarge(limit)
	}
	return err
}

func tooLarge(limit int64) error {
	return checkpoint.Failure(checkpoint.KindRefused, "move the large part of the state into an output: --output NAME=FILE",
		"the record of this checkpoint is larger than checkpoint.maxRecordSize (%d bytes)", limit)
}

// MetricsOf returns the member of a state in which its workflow keeps metrics, as raw JSON.
func MetricsOf(def *workflow.Definition, state json.RawMessage) json.RawMessage {
	return json.RawMessage(gjson.GetBytes(state, metricsPath(def)).Raw)
}

// metricsPath returns the path of that member.
func metricsPath(def *workflow.Definition) string {
	return cmp.Or(def.State.Members.Metrics, "metrics")
}

func (c *creation) detail(created bool) *checkpoint.Detail {
	d := &checkpoint.Detail{Record: c.record, Raw: c.written.Raw, Commit: c.written.Commit, Tag: c.tag, Private: c.private, Created: &created, Pruned: c.pruned}
	if created {
		d.Ref = name.CheckpointRef(c.session, c.record.ID)
		d.Said = c.confirmation()
	}
	if c.unknown != "" {
		d.Warnings = append(d.Warnings, c.unknown)
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
