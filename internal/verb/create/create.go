package create

import (
	"bytes"
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
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

// A create is a pipeline: place checks the Request and finds its session, capture captures for it, compose makes a draft of
// that for each try of the transaction, and write writes it. Each value has those before it, which do not change any more.

// request is a Request that was checked, with the session that it goes to.
type request struct {
	s      *checkpoint.Service
	req    Request // without secrets in its texts
	home   home
	head   headCommit
	at     time.Time     // the time of the checkpoint
	safety bool          // made by a rollback: no rule of a workflow applies
	move   SafetyRequest // what that rollback is about to do
}

// captured is what was captured for a request. It is computed once, and each try of the transaction makes a draft of it.
type captured struct {
	in       *request
	def      *workflow.Definition // the workflow that it follows
	document workflow.Accepted    // the parsed --state document, if there is one
	capture  *snapshot.Capture
	git      record.Git            // branch, operation and worktrees
	outputs  map[string]KeptOutput // already written as blobs
	watch    *clearance.Watch      // the secret scanner; nil: it is off
	// Set by planCommit. A try of the transaction may still give the commit up.
	landing  *stepCommit // the commit on the branch of the session; nil: none
	unlanded []string    // why there is none, for the user
}

// draft is the checkpoint as one try of the transaction makes it, from the journal as it is then.
type draft struct {
	in      *request
	got     *captured
	st      *journal.State // the session; a zero State if it is new
	isNew   bool
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
		if err := checkpoint.RefuseHalfRolledBack(s.Repo); err != nil {
			return nil, err
		}
	}
	return createNow(ctx, s, req)
}

// createNow makes the checkpoint of one try, or with DryRun only computes it.
func createNow(ctx context.Context, s *checkpoint.Service, req Request) (*checkpoint.Detail, error) {
	in, err := place(ctx, s, req)
	if err != nil {
		return nil, err
	}
	definition := in.loadDefinition(ctx)
	sweep(s)
	made, err := in.make(ctx, definition)
	if err != nil {
		return nil, in.failed(ctx, definition, err)
	}
	return made, nil
}

// make is the pipeline after place.
func (r *request) make(ctx context.Context, definition definition) (*checkpoint.Detail, error) {
	got, err := r.capture(ctx, definition)
	if err != nil {
		return nil, err
	}
	if r.req.DryRun {
		st, err := r.view(ctx)
		if err != nil {
			return nil, err
		}
		d, err := got.compose(ctx, st)
		if err != nil {
			return nil, err
		}
		return d.detail(), nil
	}
	r.s.Trace("captured")
	if err := got.planCommit(ctx, definition); err != nil {
		return nil, err
	}
	d, res, err := got.transact(ctx)
	if err != nil {
		return nil, err
	}
	r.s.Trace("recorded")
	return d.recorded(ctx, res), nil
}

// transact composes and writes the checkpoint, and repairs it if objects vanished meanwhile.
func (c *captured) transact(ctx context.Context) (*draft, store.Result, error) {
	var d *draft
	s := c.in.s
	build := func(ctx context.Context, v store.View) (change store.Change, err error) {
		d, change, err = c.build(ctx, v.State)
		return change, err
	}
	res, err := s.Store.Transact(ctx, c.in.home.session, build)
	if c.landed(ctx, err) {
		res, err = s.Store.Transact(ctx, c.in.home.session, build)
	}
	if err != nil && d != nil {
		err = d.repair(ctx, err)
	}
	if err != nil {
		return nil, res, err
	}
	rememberBits(s, d.record, c.capture.Modes, c.in.move.Modes)
	if !c.in.safety { // a rollback names no file that it leaves alone
		rememberOutside(s.Store, c.in.home.session, c.capture.Outside)
	}
	checkpoint.KeepOutside(ctx, s.Rules, c.capture.Tree, d.written.RecordCommit)
	if len(d.pruned) > 0 {
		checkpoint.SweepOutside(ctx, s.Rules)
	}
	return d, res, nil
}

// recorded does what follows after the checkpoint was written, and returns the answer.
func (d *draft) recorded(ctx context.Context, res store.Result) *checkpoint.Detail {
	in, s := d.in, d.in.s
	if d.got.watch != nil {
		d.got.watch.Say()
	}
	sayPrivate(s.Store, d.got.capture)
	for _, w := range res.Warnings {
		s.Store.Warn(w)
	}
	if d.opened != "" {
		s.Store.Warn(fmt.Sprintf("session %q was closed as %s; it is now open again", in.home.session, d.opened))
	}
	if d.prev.heads > 0 && len(res.State.Heads()) > d.prev.heads {
		s.Store.Warn(checkpoint.WentOn(ctx, s.Store, res.State))
	}
	in.activate(ctx)
	over, expired := d.pruneAfter(ctx)
	said := d.detail()
	said.Heads = func() []checkpoint.Head { return checkpoint.RecentHeads(ctx, s.Store, res.State) }
	said.Expired = expired
	if in.home.left != "" {
		said.Left = checkpoint.Steps(ctx, s.Store, in.home.left)
	}
	said.Against, said.First = d.prev.comparedWith(in, d.record), res.State.Len() == 1
	*said.Created, said.Ref, said.Said = true, name.CheckpointRef(in.home.session, d.record.ID), d.got.confirmation(d.record, d.written.Commit)
	if said.Pruned = slices.Concat(d.pruned, over); res.Private != clearance.NotMeant {
		said.Private = res.Private
	}
	for _, t := range res.Tags {
		if t.New == d.written.Commit && t.Ref == name.TagRef(in.home.session, d.record.Step, d.record.Iteration) {
			said.Tag = t.Ref
		}
	}
	background.StartPush(s, in.home.session)
	background.StartPack(s, in.home.session)
	in.resolve(d.waits())
	return said
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
			err = errors.Join(shot.Sweep(SweepAge), clearance.SweepCopies(s.Store))
		}
	}
	if err != nil {
		s.Store.Warn(err.Error())
	}
}

// place checks the request and selects the session; define selects the workflow. It removes
// secrets from the texts of the request, and writes nothing.
func place(ctx context.Context, s *checkpoint.Service, req Request) (*request, error) {
	if err := checkRequest(req); err != nil {
		return nil, err
	}
	if !req.SkipUnchanged || req.Message != "" { // else there is mostly nothing to scan
		guard.Prepare()
	}
	head, err := readHead(ctx, s.Store)
	if err != nil {
		return nil, err
	}
	in, err := homeOf(ctx, s.Sessions, req)
	req.Message = clearance.Redacted(s.Rules, "message", req.Message)
	req.Name = clearance.Redacted(s.Rules, "step name", req.Name)
	req.Status = clearance.Redacted(s.Rules, "status", req.Status)
	if req.Error != nil && !json.Valid([]byte(*req.Error)) { // JSON is the job's own data
		req.Error = new(clearance.Redacted(s.Rules, "error", *req.Error))
	}
	return &request{s: s, req: req, home: in, at: s.Store.Now(), head: head}, err
}

// capture captures the worktree, stores the outputs and parses the document.
func (r *request) capture(ctx context.Context, definition definition) (got *captured, err error) {
	got = &captured{in: r}
	if r.handed() || len(r.req.Outputs) > 0 {
		if got.def, err = definition(); err != nil {
			return nil, err
		}
		if got.document, err = r.accept(got.def); err != nil {
			return nil, err
		}
	}
	if got.outputs, err = r.keepOutputs(ctx, got.document); err != nil {
		return nil, err
	}
	if r.req.tree != "" {
		got.capture = &snapshot.Capture{Tree: r.req.tree}
	} else if err := got.captureWatched(ctx, definition); err != nil {
		return nil, err
	} else if !r.req.DryRun { // the rollback that the capture waited for may have been killed
		if err := checkpoint.RefuseHalf(r.s.Repo, got.capture); err != nil {
			return nil, err
		}
	}
	if got.def, err = definition(); err != nil {
		return nil, err
	}
	if got.git, err = gitNow(ctx, r.s.Repo); err == nil && r.req.LeftOut != nil {
		r.req.LeftOut(SkippedOf(got.capture))
	}
	return got, err
}

// CurrentTree returns the tree of the session's current checkpoint, or "" if there is none that can
// be read.
func CurrentTree(ctx context.Context, s *store.Store, session name.Session) name.OID {
	st, err := s.State(ctx, session)
	if err != nil || st.CurrentEntry() == nil {
		return ""
	}
	tree, _ := s.Repo.Commits.TreeOf(ctx, st.CurrentEntry().Event().Commit) //nolint:errcheck // see above
	return tree
}

// build computes the checkpoint from the journal as it is now. The transaction calls it once for
// each try.
func (c *captured) build(ctx context.Context, st *journal.State) (*draft, store.Change, error) {
	d, err := c.compose(ctx, st)
	var branch *git.Update
	if err == nil && c.landing != nil {
		if branch, err = c.landing.follow(ctx, d); err == nil && branch == nil { // given up, and the index is as before
			d, err = c.compose(ctx, st)
		}
	}
	if err == nil {
		if c.in.req.Composed != nil {
			c.in.req.Composed(d.record, d.prev.tree)
		}
		d.written, err = d.write(ctx)
	}
	if err != nil {
		return nil, store.Change{}, err
	}
	c.in.s.Trace("written")
	change, err := d.change(ctx)
	change.Branch = branch
	return d, change, err
}

// change returns what the transaction writes.
func (d *draft) change(ctx context.Context) (change store.Change, err error) {
	in, r := d.in, d.record
	if d.event, err = checkpoint.NewEvent(in.s.Store, "", in.home.session); err != nil {
		return change, err
	}
	d.event.Time = in.at
	branch := string(in.s.Repo.Head.Branch)
	if d.isNew || in.home.workflow != "" && isBlank(d.st) {
		start := eventOf(d.event, journal.KindStart)
		start.Workflow, start.Topic, start.Branch = d.got.def.Name, r.Topic, branch
		change.Events = in.forking(start, d.event, r.Step)
	} else if in.home.renamed {
		renamed := eventOf(d.event, journal.KindStart)
		renamed.Branch = branch
		change.Events = []journal.Event{renamed}
	}
	if closed := checkpoint.IsClosed(d.st.Status); !in.safety && (closed || endsPause(d.got.def, r.Trigger, d.st)) {
		if closed { // the retention rules for closed sessions would soon prune the new checkpoint
			d.opened = d.st.Status
		}
		open := eventOf(d.event, journal.KindStatus)
		open.Status = checkpoint.StatusOpen
		change.Events = append(change.Events, open)
	}
	if on := d.st.GoOn(d.prev.entry); on != nil { // the event that the create needs before it
		d.prev.heads = len(d.st.Heads())
		on.Session, on.Time, on.Actor = in.home.session, in.at, d.event.Actor
		change.Events = append(change.Events, *on)
	}
	e := eventOf(d.event, journal.KindCreate)
	checkpoint.NameIn(&e, r, d.written.Commit)
	if def := d.got.def; in.handed() && def.Knows(in.req.State) { // the ids that the document's own system has
		e.Extra = slices.Concat(e.Extra, checkpoint.DocumentTrailer(checkpoint.TrailerDocument, def.CheckpointOf(d.got.document)),
			checkpoint.DocumentTrailer(checkpoint.TrailerOwner, def.SessionOf(d.got.document)))
	}
	change.Events = append(change.Events, e)
	d.pruneWith(ctx, &change, e)
	if in.req.Pinned {
		pin := eventOf(d.event, journal.KindPin)
		pin.Checkpoint, pin.Label = r.ID, r.Label
		change.Events = append(change.Events, pin)
	}
	change.Create = []store.NewCheckpoint{{ID: r.ID, Commit: d.written.Commit, RecordBlob: d.written.RecordBlob}}
	change.Verify = slices.Concat(d.got.capture.New, d.written.NewObjects)
	if k := d.got.landing; k != nil {
		change.Verify = append(change.Verify, k.oid, k.draft.Tree)
	}
	change.Mends = true // on missing objects repair, as another process may have read the journal
	return change, nil
}

// eventOf returns an event with the members that all events of a create share.
func eventOf(shared journal.Event, kind journal.Kind) journal.Event {
	shared.Kind = kind
	return shared
}

// write writes the record commit and the checkpoint commit. It writes no ref.
func (d *draft) write(ctx context.Context) (store.Written, error) {
	s, ix := d.in.s, d.got.capture.Index
	author, committer := s.Repo.Commits.Identity(d.in.at)
	w := store.Draft{
		Metrics: MetricsOf(d.got.def, d.record.State), Record: d.record, Tree: d.got.capture.Tree, Head: d.got.parent(), IndexTree: ix.Tree,
		Outputs: map[string]name.OID{}, Import: d.kept, Raw: d.got.capture.Raw, Conflicts: ix.Unmerged, Author: author, Committer: committer,
	}
	for n, o := range d.record.Outputs {
		w.Outputs[n] = o.OID
	}
	var err error
	// For each path the letter S, which `git ls-files -t` shows for it, a space, the path and a NUL.
	if skip := ix.SkipWorktree; len(skip) > 0 {
		if w.Flags, err = s.Repo.Objects.Write(ctx, "blob", []byte("S "+strings.Join(skip, "\x00S ")+"\x00")); err != nil {
			return store.Written{}, err
		}
	}
	if w.Limits.Size, err = longest(s.Settings, d.prev.record != nil && bytes.Equal(d.record.State, d.prev.record.State)); err != nil {
		return store.Written{}, err
	}
	written, err := s.Store.WriteCheckpoint(ctx, w)
	if size, is := errors.AsType[*record.SizeError](err); is {
		if d.in.safety && lighten(s, d.record) {
			return d.write(ctx)
		}
		return store.Written{}, tooLarge(size)
	}
	return written, err
}

// lighten removes everything that a safety checkpoint has taken over, because with it the record is
// too large. It warns, and reports whether there was anything to remove.
func lighten(s *checkpoint.Service, r *record.Record) bool {
	if string(r.State) == "{}" && len(r.Outputs) == 0 && r.Topic == "" {
		return false
	}
	s.Store.Warn(fmt.Sprintf("the safety checkpoint leaves out state and outputs of %s: with them its record would be too large", r.Previous))
	r.State, r.Error, r.Topic, r.Status = json.RawMessage("{}"), nil, "", checkpoint.StatusOpen
	maps.DeleteFunc(r.Outputs, func(string, record.Output) bool { return true })
	return true
}

// longest returns how large the record may be, in bytes. A state that is only carried over was made elsewhere, where more
// may be allowed: checkpoint.maxRecordSize is for what is added here.
func longest(settings *checkpoint.Settings, carried bool) (int64, error) {
	limit, err := settings.Size("checkpoint.maxRecordSize", checkpoint.DefaultMaxRecordSize)
	if err == nil && limit > checkpoint.DefaultMaxRecordSize {
		err = checkpoint.Usage("a larger record could not be read again", "checkpoint.maxRecordSize is more than 50m")
	}
	if carried {
		limit = checkpoint.DefaultMaxRecordSize
	}
	return limit, err
}

func tooLarge(size *record.SizeError) error {
	text := "the record of this checkpoint is larger than checkpoint.maxRecordSize (%d bytes)"
	if size.Values {
		text = "the record of this checkpoint has more than %d members and elements"
	}
	return checkpoint.Failure(checkpoint.KindRefused, "move the large part of the state into an output: --output NAME=FILE", text, size.Limit)
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
func (d *draft) detail() *checkpoint.Detail {
	got := d.got.capture
	said := &checkpoint.Detail{Record: d.record, Raw: d.written.Raw, Commit: d.written.Commit, Created: new(bool), Pruned: d.pruned, Unignored: ToPaths(got.Unignored)}
	if d.unknown != "" {
		said.Warnings = append(said.Warnings, d.unknown)
	}
	if got.TrackedOnly {
		said.Warnings = append(said.Warnings, snapshot.OnlyTracked)
	}
	said.Warnings = slices.Concat(said.Warnings, SayUnignored(got.Unignored), d.got.unlanded)
	for _, risk := range got.AtRisk {
		if risk.Reason == snapshot.ReasonLost {
			said.Warnings = append(said.Warnings, fmt.Sprintf("not captured: %s (%s)", name.Quoted(risk.Path), risk.Reason))
		}
	}
	for _, sk := range got.Skipped {
		if sk.Reason == snapshot.ReasonMirror {
			continue
		}
		reason := sk.Reason
		if sk.Said != "" {
			reason += ": " + sk.Said
		}
		said.Warnings = append(said.Warnings, fmt.Sprintf("not captured: %s (%s)", strings.ReplaceAll(sk.Path, "\n", `\n`), reason))
	}
	return said
}
