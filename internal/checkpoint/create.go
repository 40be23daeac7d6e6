package checkpoint

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"path/filepath"
	"strings"
	"sync"
	"time"
	"unicode"

	"github.com/tidwall/gjson"

	"git-checkpoint/internal/git"
	"git-checkpoint/internal/journal"
	"git-checkpoint/internal/name"
	"git-checkpoint/internal/record"
	"git-checkpoint/internal/snapshot"
	"git-checkpoint/internal/store"
	"git-checkpoint/internal/workflow"
)

// creation is one create on its way: what was captured once, and what is worked
// out anew whenever another writer was faster.
type creation struct {
	s        *Service
	req      CreateRequest
	session  name.Session
	def      *workflow.Definition
	at       time.Time
	head     name.OID
	capture  *snapshot.Capture
	place    place
	outputs  map[string]keptOutput // written already
	document *workflow.Accepted    // what --state brought; nil without it
	aside    *BranchBack           // what the rollback moves beside HEAD
	safety   bool                  // made by a rollback: exempt from every rule
	modes    map[record.Path]string
	made     []madeFile
	learned  func() error // waits for learn

	// Of the last build.
	spot    workflow.Place
	record  *record.Record
	stated  json.RawMessage // the state before the workflow computed anything
	opened  string          // what the session was closed as, when this opens it again
	written store.Written
	tag     name.Ref
}

// Create makes a checkpoint. What a gc takes meanwhile is captured again: an object that is
// missing may have been there before, and one that is lost is missing the next time too.
func (s *Service) Create(ctx context.Context, req CreateRequest) (*Detail, error) {
	for try := 1; ; try++ {
		made, err := s.create(ctx, req)
		taken := vanished(err) || errors.Is(err, git.ErrMissing)
		if !taken || try >= attempts || s.repo.AwaitGC(ctx) != nil {
			return made, err
		}
	}
}

func (s *Service) create(ctx context.Context, req CreateRequest) (*Detail, error) {
	if on, err := s.where.bool("checkpoint.enabled", true); err != nil || !on {
		if err == nil {
			err = &Error{Kind: KindNothing, Message: "checkpoints are switched off here (checkpoint.enabled)"}
		}
		return nil, err
	}
	if req.DryRun {
		return s.lookAhead(ctx, req)
	}
	return s.createNow(ctx, req)
}

func (s *Service) createNow(ctx context.Context, req CreateRequest) (*Detail, error) {
	if !req.DryRun {
		if err := s.refuseHalf(); err != nil {
			return nil, err
		}
	}
	c, err := s.creationFor(ctx, req)
	if err != nil {
		return nil, err
	}
	c.learn(ctx)
	s.sweep()
	made, err := c.make(ctx)
	if wrong := c.learned(); wrong != nil {
		return nil, wrong
	}
	if err == nil && !req.DryRun {
		s.pushLater(c.session)
		s.packLater(c.session)
	}
	if err != nil {
		err = c.failed(err)
	}
	c.rememberFailure(err)
	return made, err
}

// make captures and writes the checkpoint.
func (c *creation) make(ctx context.Context) (*Detail, error) {
	s := c.s
	if !c.req.DryRun {
		s.repo.ReadyRefs(ctx)
	}
	if err := c.look(ctx); err != nil {
		return nil, err
	}
	if c.req.DryRun {
		return c.dryRun(ctx)
	}
	s.trace("captured")
	res, err := s.store.Transact(ctx, c.session, c.build)
	if err != nil {
		err = c.repair(ctx, err)
	}
	if err != nil {
		return nil, err
	}
	s.trace("recorded")
	for _, w := range res.Warnings {
		s.warn(w)
	}
	if c.opened != "" {
		s.warn(fmt.Sprintf("session %q was closed as %s; it is open again", c.session, c.opened))
	}
	if active, err := s.store.ActiveSession(); err == nil && active == "" {
		if err := s.store.SetActiveSession(c.session); err != nil {
			s.warn(err.Error())
		}
	}
	return c.detail(true), nil
}

// sweepAge is how old a temporary file is before it counts as left behind.
const sweepAge = 24 * time.Hour

// sweep removes what killed runs left, unless it belongs to a rollback that can
// still be finished.
func (s *Service) sweep() {
	if in, err := snapshot.ReadIntent(filepath.Join(s.repo.GitDir, "checkpoint")); in != nil || err != nil {
		return
	}
	_, err := s.store.Sweep(sweepAge)
	if err == nil {
		var shot *snapshot.Shot
		if shot, err = s.shots(); err == nil {
			err = shot.Sweep(sweepAge)
		}
	}
	if err != nil {
		s.warn(err.Error())
	}
}

// newCreation checks the request before anything is read or written.
func (s *Service) newCreation(ctx context.Context, req CreateRequest) (*creation, error) {
	c, err := s.creationFor(ctx, req)
	if err != nil {
		return nil, err
	}
	return c, c.define(ctx)
}

func (s *Service) creationFor(ctx context.Context, req CreateRequest) (*creation, error) {
	c := &creation{s: s, req: req, at: req.At, head: s.repo.Head.OID}
	if c.at.IsZero() {
		c.at = s.now()
	}
	if req.Head != nil {
		c.head = *req.Head
	}
	if err := checkRequest(req); err != nil {
		return nil, err
	}
	var err error
	c.session, err = s.sessionForCreate(ctx, req.Session)
	return c, err
}

// define finds the workflow, and what it says of the trigger.
func (c *creation) define(ctx context.Context) error {
	var err error
	if c.def, err = c.s.definitionOf(ctx, c.session); err != nil {
		return err
	}
	return c.checkTrigger()
}

// learn is define beside the look at the worktree: to read the journal of a long session
// takes as long as that. Nothing is written before it has ended.
func (c *creation) learn(ctx context.Context) {
	done := make(chan error, 1)
	go func() { done <- c.define(ctx) }()
	c.learned = sync.OnceValue(func() error { return <-done })
}

func checkRequest(req CreateRequest) error {
	if req.Step != nil && (*req.Step < 0 || *req.Step > 999_999_999) {
		return usage("steps are whole numbers from 0", "step %d is out of range", *req.Step)
	}
	if req.Name != "" && !strings.ContainsFunc(req.Name, nameable) {
		return usage("use letters or digits", "step name %q has none that could be read", req.Name)
	}
	if req.Iteration != "" && name.Slug(req.Iteration) != req.Iteration {
		return usage("a number, or a word of a-z, 0-9, _ and -", "iteration %q cannot stand in a label", req.Iteration)
	}
	if len(req.Message) > 1<<20 {
		return usage("put long text into an output", "the message is %d bytes long; 1 MiB is the limit", len(req.Message))
	}
	for _, o := range req.Outputs {
		if !outputPattern().MatchString(o.Name) {
			return usage("a name is "+outputNames, "invalid output name %q", o.Name)
		}
	}
	return nil
}

// nameable is what at least one character of a step's name has to be. A label shows
// fewer; where it shows none of them it is that of a step without a name.
func nameable(r rune) bool { return unicode.IsLetter(r) || unicode.IsDigit(r) || r == '_' }

// look captures the worktree, keeps the outputs and reads the document.
func (c *creation) look(ctx context.Context) error {
	if len(c.req.State)+len(c.req.Outputs) > 0 {
		if err := c.learned(); err != nil {
			return err
		}
	}
	if len(c.req.State) > 0 {
		if err := c.accept(); err != nil {
			return err
		}
	}
	var err error
	if c.outputs, err = c.s.keepOutputs(ctx, c.req.Outputs); err != nil {
		return err
	}
	if err := c.keepStated(ctx); err != nil {
		return err
	}
	if c.capture == nil && c.req.Tree == "" {
		if c.capture, err = c.s.capture(ctx, c.session, c.req, c.learned); err != nil {
			return err
		}
		if !c.req.DryRun { // a rollback that was waited for may have been killed
			if err := c.s.refuseHalf(); err != nil {
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
	c.place, err = c.s.placeNow(ctx)
	return err
}

// capture takes the worktree by the configured rules. Nothing is written before ready
// says so.
func (s *Service) capture(ctx context.Context, session name.Session, req CreateRequest, ready func() error) (*snapshot.Capture, error) {
	shot, err := s.shots()
	if err != nil {
		return nil, err
	}
	rules := snapshot.Rules{IncludeIgnored: req.IncludeIgnored, Exclude: req.Exclude, Ready: ready}
	if rules.MaxFileSize, err = s.where.size("checkpoint.maxFileSize", defaultMaxFileSize); err != nil {
		return nil, err
	}
	if req.Size == SizeGuarded {
		rules.MaxNewFiles = defaultMaxNewFiles
		if rules.MaxNewSize, err = s.where.size("checkpoint.maxNew", defaultMaxNewSize); err != nil {
			return nil, err
		}
		rules.Known = func() name.OID { return s.knownTree(ctx, session) }
	}
	got, err := shot.Take(ctx, rules)
	if pathspec := (*snapshot.PathspecError)(nil); errors.As(err, &pathspec) {
		return nil, &Error{Kind: KindUsage, Err: err}
	}
	return got, classify(err)
}

// knownTree is the tree of the current checkpoint; empty when there is none to be read.
func (s *Service) knownTree(ctx context.Context, session name.Session) name.OID {
	st, err := s.store.State(ctx, session)
	if err != nil || st.CurrentEntry() == nil {
		return ""
	}
	commit, err := s.repo.ReadCommit(ctx, string(st.CurrentEntry().Event().Commit))
	if err != nil {
		return ""
	}
	return commit.Tree
}

// build works out the checkpoint on top of the journal as it is now.
func (c *creation) build(ctx context.Context, v store.View) (store.Change, error) {
	var change store.Change
	prev, err := c.previous(ctx, v)
	if err != nil {
		return change, err
	}
	if err := c.compose(ctx, v, prev); err != nil {
		return change, err
	}
	if err := c.refuseUnchanged(ctx, prev); err != nil {
		return change, err
	}
	if err := c.write(ctx); err != nil {
		return change, err
	}
	c.s.trace("written")
	if v.State == nil {
		start, err := c.s.startEvent(c.session, c.def.Name, c.record.Topic, string(c.s.repo.Head.Branch))
		if err != nil {
			return change, err
		}
		start.Time = c.at
		change.Events = append(change.Events, start)
	}
	if err := c.reopen(v, &change); err != nil {
		return change, err
	}
	e, err := c.event(journal.KindCreate)
	if err != nil {
		return change, err
	}
	change.Events = append(change.Events, e)
	c.pruneWith(ctx, v, &change, e)
	if c.req.Pin == PinYes {
		pin, err := c.s.event(journal.KindPin, c.session)
		if err != nil {
			return change, err
		}
		pin.Time, pin.Checkpoint, pin.Label = c.at, c.record.ID, c.record.Label
		change.Events = append(change.Events, pin)
	}
	change.Create = []store.NewCheckpoint{{ID: c.record.ID, Commit: c.written.Commit, RecordBlob: c.written.RecordBlob}}
	change.Verify = append(append([]name.OID(nil), c.capture.New...), c.written.NewObjects...)
	change.Mends = true // others may have seen it: no journal is set back
	return change, c.tagChoice(&change)
}

// reopen opens a session that was closed: what is made in it now must not go with what
// was over.
func (c *creation) reopen(v store.View, change *store.Change) error {
	c.opened = ""
	if v.State == nil || !isClosed(v.State.Status) || c.safety || !c.req.At.IsZero() {
		return nil
	}
	e, err := c.s.event(journal.KindStatus, c.session)
	if err != nil {
		return err
	}
	e.Time, e.Status, c.opened = c.at, statusOpen, v.State.Status
	change.Events = append(change.Events, e)
	return nil
}

// tagChoice works out whether the step gets its tag, and which.
func (c *creation) tagChoice(change *store.Change) error {
	on, err := c.s.where.bool("checkpoint.tag", true)
	if err != nil {
		return err
	}
	c.tag = ""
	if !on || c.req.Tag == TagNever {
		change.Tags = store.TagsNone
	} else if c.record.Milestone {
		c.tag = name.TagRef(c.session, c.record.Step, c.record.Iteration)
	}
	return nil
}

// event names the new checkpoint in the journal.
func (c *creation) event(kind journal.Kind) (journal.Event, error) {
	e, err := c.s.event(kind, c.session)
	r := c.record
	e.Time = c.at
	e.Checkpoint, e.Label, e.Step, e.StepName, e.Iteration = r.ID, r.Label, r.Step, r.StepName, r.Iteration
	e.Milestone, e.Trigger, e.CheckpointStatus = r.Milestone, r.Trigger, r.Status
	e.Commit, e.Record, e.Previous = c.written.Commit, r.Checksum, r.Previous
	return e, err
}

// write writes the record commit and the checkpoint commit.
func (c *creation) write(ctx context.Context) error {
	author, committer := c.s.repo.Identity(c.at)
	d := store.Draft{
		Metrics: metricsOf(c.def, c.record.State),
		Record:  c.record, Tree: c.capture.Tree, Head: c.head, IndexTree: c.capture.Index.Tree,
		Outputs: map[string]name.OID{}, Raw: c.capture.Raw, Author: author, Committer: committer,
	}
	for n, o := range c.record.Outputs {
		d.Outputs[n] = o.OID
	}
	for _, u := range c.capture.Index.Unmerged {
		d.Conflicts = append(d.Conflicts, store.Conflict{Stage: u.Stage, Path: u.Path, Entry: u.Entry})
	}
	if len(c.capture.Index.SkipWorktree) > 0 {
		oid, err := c.s.repo.WriteObject(ctx, "blob", encodeFlags(c.capture.Index.SkipWorktree))
		if err != nil {
			return err
		}
		d.Flags = oid
	}
	limit, err := c.s.where.size("checkpoint.maxRecordSize", defaultMaxRecordSize)
	if err == nil && limit > defaultMaxRecordSize {
		err = usage("a record that is larger could not be read again", "checkpoint.maxRecordSize is over 50m")
	}
	if err != nil {
		return err
	}
	d.Limits.Size = limit
	c.written, err = c.s.store.WriteCheckpoint(ctx, d)
	var size *record.SizeError
	if errors.As(err, &size) {
		return tooLarge(limit)
	}
	return err
}

func tooLarge(limit int64) error {
	return &Error{
		Kind: KindRefused, Message: fmt.Sprintf("the record of this checkpoint is over checkpoint.maxRecordSize (%d bytes)", limit),
		Hints: []string{"move the large part of the state into an output: --output NAME=FILE"},
	}
}

// metricsOf is what a state holds where its workflow keeps metrics.
func metricsOf(def *workflow.Definition, state json.RawMessage) json.RawMessage {
	metrics := def.State.Members.Metrics
	if metrics == "" {
		metrics = "metrics"
	}
	return json.RawMessage(gjson.GetBytes(state, metrics).Raw)
}

// repair writes objects again that vanished while the create was under way, as
// when a prune in parallel took them for garbage. When that is not possible the
// create has failed and the checkpoint is taken back.
func (c *creation) repair(ctx context.Context, err error) error {
	var missing *store.MissingObjectsError
	if !errors.As(err, &missing) {
		return classify(err)
	}
	again, captureErr := c.s.capture(ctx, c.session, c.req, nil)
	commit := c.written.Commit
	if captureErr == nil && again.Tree == c.capture.Tree && c.write(ctx) == nil && c.written.Commit == commit {
		still := false
		specs := make([]string, len(missing.OIDs))
		for i, oid := range missing.OIDs {
			specs[i] = string(oid)
		}
		infoErr := c.s.repo.Batch().Info(ctx, specs, func(_ int, _ git.Object, err error) error {
			still = still || err != nil
			return nil
		})
		if infoErr == nil && !still {
			return nil
		}
	}
	if _, dropErr := c.s.drop(ctx, c.session, []name.ID{c.record.ID}, "objects vanished while it was made", pinnedGoes); dropErr != nil {
		c.s.warn(dropErr.Error())
	} else {
		missing.TakenBack = true
	}
	return &Error{Kind: KindFailed, Message: "objects vanished while the checkpoint was made, so it was taken back", Err: err}
}

func (c *creation) detail(created bool) *Detail {
	d := &Detail{Record: c.record, Raw: c.written.Raw, Commit: c.written.Commit, Tag: c.tag, Created: &created}
	if created {
		d.Ref = name.CheckpointRef(c.session, c.record.ID)
	}
	if created {
		d.Said = c.confirmation()
	}
	for _, sk := range c.record.Snapshot.Skipped {
		if sk.Reason == snapshot.ReasonMirror {
			continue
		}
		d.Warnings = append(d.Warnings, fmt.Sprintf("not captured: %s (%s)", strings.ReplaceAll(string(sk.Path), "\n", `\n`), sk.Reason))
	}
	return d
}
