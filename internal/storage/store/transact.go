package store

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"
	"time"

	"git-checkpoint/internal/format/journal"
	"git-checkpoint/internal/format/name"
	"git-checkpoint/internal/git"
)

// conflictCheckAfter is the number of lost races after which an attempt lists the refs
// (checkConflicts). A foreign ref in the place of a directory, or the reverse, looks like a lost
// race each time, so the transaction would never succeed without a look at what is in the way.
const conflictCheckAfter = 3

// Transact changes a session: it updates the refs of checkpoints, the journal, archive, notes and
// tags in one git transaction. build decides what to change. After a lost race everything is read
// again and build is called again, with a new View, so it must not have side effects that matter.
// An error of build ends the transaction. The error is a *BusyError when all attempts fail.
//
// An attempt takes these steps:
//
//  1. view reads the journal and folds it to the state of the session.
//  2. build returns the Change.
//  3. The attempt writes the new objects: events, archive, notes. It collects the ref updates.
//  4. Refs.Update applies them, if all refs still have the values that were read.
//  5. finish checks that all objects exist. A concurrent `git prune` may have deleted some.
//
// If objects are missing and cannot be written again, the refs are set back to their old values and
// the error is a *MissingObjectsError. If Change.Mends is set the refs stay, and the error comes
// together with the Result.
func (s *Store) Transact(ctx context.Context, session name.Session, build func(context.Context, View) (Change, error)) (Result, error) {
	return s.transact(ctx, attempt{store: s, session: session}, build)
}

// TransactRemote is Transact for events that come from another clone. They may be of a later version, and
// the session may already have such events; nothing is written on top of them.
func (s *Store) TransactRemote(ctx context.Context, session name.Session, build func(context.Context, View) (Change, error)) (Result, error) {
	return s.transact(ctx, attempt{store: s, session: session, fromRemote: true}, build)
}

// transact runs attempts like first until one succeeds.
func (s *Store) transact(ctx context.Context, first attempt, build func(context.Context, View) (Change, error)) (Result, error) {
	start := time.Now()
	turn := s.turn()
	defer turn.end()
	for try := 1; ; try++ {
		if err := turn.await(ctx, try); err != nil {
			return Result{}, err
		}
		a := first
		a.checkConflicts = try > conflictCheckAfter
		err := a.run(ctx, build)
		a.result.Tries = try
		if err == nil {
			return a.finish(context.WithoutCancel(ctx)) // the refs are written, so a cancellation comes too late
		}
		if !errors.Is(err, git.ErrRaced) {
			return Result{}, err
		}
		if try == 1 { // no wait helps against these
			if ref := a.inTheWay(ctx); ref != "" {
				return Result{}, &InTheWayError{Ref: ref}
			}
		}
		// A lost race means that another writer made progress, so races are limited by number. A
		// lock that stays means that nobody makes progress, so that is limited by time, too.
		busy := &BusyError{Session: first.session, Tries: try, Elapsed: time.Since(start), Err: err}
		if locked, is := errors.AsType[*git.LockedError](err); is {
			busy.Lock = locked.Path
		}
		if try >= s.tries || busy.Lock != "" && busy.Elapsed >= s.patience {
			return Result{}, busy
		}
		if err := s.Pause(ctx, min(4*time.Millisecond<<min(try, 8), 400*time.Millisecond)); err != nil {
			return Result{}, err
		}
	}
}

// finish checks that the objects which the refs need exist. If not, it tries to set the refs back.
func (a *attempt) finish(ctx context.Context) (Result, error) {
	err := a.verify(ctx)
	if missing, is := errors.AsType[*MissingObjectsError](err); is && !a.change.Mends && a.takeBack(ctx) == nil {
		missing.TakenBack = true
		return Result{Tries: a.result.Tries}, err
	}
	a.saveCache()
	if len(a.updates) > 0 {
		a.store.Touch(a.session)
	}
	return a.result, err
}

// takeBack sets the refs back to their old values, in reverse order. It fails if another writer has
// moved one of them since.
func (a *attempt) takeBack(ctx context.Context) error {
	back := make([]git.Update, 0, len(a.updates))
	for _, u := range slices.Backward(a.updates) {
		back = append(back, git.Update{Ref: u.Ref, Old: u.New, New: u.Old})
	}
	if len(back) == 0 {
		return nil
	}
	return a.store.Repo.Refs.Update(ctx, back)
}

// Touch adds a session to those that Written returns.
func (s *Store) Touch(session name.Session) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.written[session] = true
}

// Written returns the sessions that this Store has changed, or that were touched, sorted.
func (s *Store) Written() []name.Session {
	s.mu.Lock()
	defer s.mu.Unlock()
	return slices.Sorted(maps.Keys(s.written))
}

// Pause sleeps for a random part of a span.
func (s *Store) Pause(ctx context.Context, span time.Duration) error {
	timer := time.NewTimer(time.Duration(s.Random()) % span)
	defer timer.Stop()
	select {
	case <-timer.C:
		return nil
	case <-ctx.Done():
		return context.Cause(ctx)
	}
}

// attempt is one attempt at a transaction. Everything in it is read or computed anew for each.
type attempt struct {
	store          *Store
	session        name.Session
	checkConflicts bool // list refs to find those in the way, see conflictCheckAfter
	patient        bool // a gc was running: a missing object may exist again in a moment
	fromRemote     bool // see TransactRemote

	journal name.OID       // tip of the journal as it was read; the expected old value of its ref
	cache   *cache         // nil: there is no journal yet
	log     *journal.Log   // contains the new events once they are written
	before  *journal.State // state before the change; nil: there is no journal yet
	change  Change
	result  Result
	written map[name.OID]object // objects that this attempt wrote, until verify has seen them
	updates []git.Update        // in the order in which they must take effect

	listed   map[name.Ref]name.OID               // result of list; includes what the archive holds, as if it had refs
	virtual  map[name.Ref]bool                   // those of listed that are only in the archive
	members  map[name.ID]name.OID                // content of the archive
	private  map[name.OID]func() (string, error) // what Store.Private says of commits
	removals []Removal                           // Change.Remove without duplicates, and with the commits filled in
}

// object is the content of a written object, in case it has to be written again.
type object struct {
	typ  string
	data []byte
}

// run makes the attempt. An error that wraps git.ErrRaced means that it can be repeated. The order
// of the steps is the order of the ref updates, and after a kill a prefix of these may be in
// effect; docs/format.md ("Transactions") says why each prefix is valid.
func (a *attempt) run(ctx context.Context, build func(context.Context, View) (Change, error)) error {
	// If such a gc deletes an object of another transaction, its owner writes it again at the end.
	// Until then an object that we read may be missing.
	beside := a.store.Repo.Maintenance.GCDropsAll()
	if err := a.store.Repo.Maintenance.AwaitGC(ctx); err != nil {
		return err
	}
	a.patient = beside && !a.checkConflicts
	view, err := a.view(ctx)
	if err != nil {
		return a.unlessTaken(err)
	}
	if a.change, err = build(ctx, view); err != nil {
		return err
	}
	a.log, a.result.State, a.result.Tip = view.Log, view.State, view.Tip
	if a.change.empty() {
		return nil
	}
	if err := a.change.check(); err != nil {
		return fmt.Errorf("change session %q: %w", a.session, err)
	}
	if err := a.allowed(ctx); err != nil {
		return err
	}
	a.written = map[name.OID]object{}
	defer a.askAhead(ctx)()
	if a.change.Branch != nil {
		a.updates = append(a.updates, *a.change.Branch)
	}
	for _, c := range a.change.Create {
		a.updates = append(a.updates, git.Update{Ref: name.CheckpointRef(a.session, c.ID), New: c.Commit})
	}
	if err := a.settleRemovals(ctx); err != nil {
		return err
	}
	if err := a.writeJournal(ctx); err != nil {
		return err
	}
	if err := a.writeArchive(ctx); err != nil {
		return err
	}
	if err := a.writeNotes(ctx); err != nil {
		return err
	}
	if err := a.deriveTags(ctx); err != nil {
		return err
	}
	a.remove()
	return a.store.Repo.Refs.Update(ctx, a.updates)
}

// unlessTaken turns the error about a missing object into a lost race if a gc was running: the
// writer of that object is about to write it again.
func (a *attempt) unlessTaken(err error) error {
	if a.patient && errors.Is(err, git.ErrMissing) {
		return fmt.Errorf("%w: %w", git.ErrRaced, err)
	}
	return err
}

// saveCache saves the journal with the new events, for this process and for the next one.
func (a *attempt) saveCache() {
	switch {
	case a.log == nil || a.change.Base != nil: // the base belongs to the caller, who may go on changing it
		return
	case a.cache == nil:
		// A session that this worktree has seen began again: its journal was deleted, but its
		// objects may still be here.
		if was := a.store.Cached(a.session); was != nil {
			a.store.leave(a.session, was.Heads())
		}
		a.cache = a.store.newCache(a.session)
		a.cache.log = a.log
	}
	a.cache.state, a.cache.folded = a.result.State, a.log.Len()
	a.cache.save()
	a.store.giveCache(a.cache)
}

// view reads the session. The name of a new session must not differ from another one's in case
// only.
func (a *attempt) view(ctx context.Context) (View, error) {
	v := View{}
	var err error
	if a.journal, err = a.store.resolve(ctx, name.JournalRef(a.session)); err != nil {
		return v, err
	}
	if a.journal == "" {
		return v, a.store.CheckTwin(ctx, a.session)
	}
	if a.cache, err = a.store.load(ctx, a.session, a.journal); err != nil {
		return v, err
	}
	v.Log, v.Tip, v.State = a.cache.log, a.journal, a.cache.fold(a.store.localFiles)
	a.before = v.State
	if a.fromRemote {
		return v, nil
	}
	return v, a.writable(v.State)
}

// writable returns a ReadOnlyError if the journal has events that this version does not understand.
func (a *attempt) writable(st *journal.State) error {
	if st.ReadOnly != "" {
		return ReadOnly(a.session, st)
	}
	return nil
}

// allowed returns an error if the session must not take the change: if it lost its journal, or has
// one that this version does not understand.
func (a *attempt) allowed(ctx context.Context) error {
	switch {
	case a.journal == "" && !a.fromRemote && !a.change.Anew:
		return a.isNew(ctx)
	case a.fromRemote && a.before != nil && a.change.Base == nil && len(a.change.Events) > 0:
		return a.writable(a.before)
	}
	return nil
}

// isNew returns a LostError if a session without a journal has checkpoints. Where git writes the refs,
// another writer that starts the session may have moved its first ref and not yet its journal, so
// the journal gets a moment to appear.
func (a *attempt) isNew(ctx context.Context) error {
	listed, err := a.list(ctx)
	if err != nil {
		return err
	}
	held := false
	for ref := range listed {
		session, _, ok := SplitRef(ref)
		held = held || ok && session == a.session
	}
	if !held {
		return nil
	}
	for range 50 {
		tip, err := a.store.resolve(ctx, name.JournalRef(a.session))
		if err != nil {
			return err
		}
		if tip != "" {
			return fmt.Errorf("session %q was started: %w", a.session, git.ErrRaced)
		}
		if err := a.store.Pause(ctx, 10*time.Millisecond); err != nil {
			return err
		}
	}
	return &LostError{a.session}
}

// list returns the refs of the session's checkpoints and all tags of this program, from one listing
// of refs. It includes refs whose objects are missing, and the members of the archive as if they
// had refs. The result is kept for the rest of the attempt.
func (a *attempt) list(ctx context.Context) (map[name.Ref]name.OID, error) {
	if a.listed != nil {
		return a.listed, nil
	}
	refs, err := a.store.Repo.Refs.List(ctx, name.CheckpointRoot+string(a.session)+"/", strings.TrimSuffix(name.TagRoot, "/"))
	if err != nil {
		return nil, err
	}
	a.listed = make(map[name.Ref]name.OID, len(refs))
	for _, r := range refs {
		a.listed[r.Ref] = r.OID
	}
	archive := a.listed[name.ArchiveRef(a.session)]
	if archive == "" {
		return a.listed, nil
	}
	if a.members, err = a.store.Members(ctx, archive); err != nil {
		if ctx.Err() != nil {
			return nil, context.Cause(ctx)
		}
		a.result.Warnings = append(a.result.Warnings, err.Error())
	}
	a.virtual = map[name.Ref]bool{}
	for id, oid := range a.members {
		if ref := name.CheckpointRef(a.session, id); a.listed[ref] == "" {
			a.listed[ref], a.virtual[ref] = oid, true
		}
	}
	return a.listed, nil
}

// settleRemovals finds the commit of each checkpoint that is removed. A checkpoint that is gone
// already, or that is named twice, is not an error. A ref at a commit other than the one that the
// change names is one: the ref of a checkpoint never moves, so a retry would not help.
func (a *attempt) settleRemovals(ctx context.Context) error {
	if len(a.change.Remove)+len(a.change.Archive) == 0 {
		return nil
	}
	held, err := a.list(ctx)
	if err != nil {
		return err
	}
	seen := map[name.ID]bool{}
	for _, r := range a.change.Remove {
		ref := name.CheckpointRef(a.session, r.ID)
		have := held[ref]
		if have != "" && r.Commit != "" && r.Commit != have {
			return fmt.Errorf("%s is %s, not %s", ref, have.Short(), r.Commit.Short())
		}
		if r.Commit == "" {
			r.Commit = have
		}
		if !seen[r.ID] {
			a.removals = append(a.removals, r)
		}
		seen[r.ID] = true
	}
	return nil
}

// remove adds the deletion of the removed checkpoints' refs. It comes last: by then the journal has
// their tombstones.
func (a *attempt) remove() {
	for _, r := range a.removals {
		ref := name.CheckpointRef(a.session, r.ID)
		if have := a.listed[ref]; have != "" && !a.virtual[ref] {
			a.updates = append(a.updates, git.Update{Ref: ref, Old: have})
		}
	}
}

// write writes an object and remembers it for verify.
func (a *attempt) write(ctx context.Context, typ string, data []byte) (name.OID, error) {
	oid, err := a.store.Repo.Objects.Write(ctx, typ, data)
	if err == nil {
		a.written[oid] = object{typ, data}
	}
	return oid, err
}

// verify checks in one request that all objects which the refs need now exist. It writes those of
// this attempt again if they are missing. Other missing objects are the caller's, and it returns a
// MissingObjectsError for them.
func (a *attempt) verify(ctx context.Context) error {
	need := make([]name.OID, 0, len(a.written)+len(a.change.Verify)+2*len(a.change.Create))
	for oid := range a.written {
		need = append(need, oid)
	}
	for _, c := range a.change.Create {
		need = append(need, c.Commit, c.RecordBlob)
	}
	for _, oid := range a.change.Archive {
		need = append(need, oid)
	}
	need = append(need, a.change.Verify...)
	if a.change.Base != nil {
		need = append(need, a.result.Tip)
	}
	if len(need) == 0 {
		return nil
	}
	if err := a.store.Repo.Maintenance.AwaitGC(ctx); err != nil {
		return err
	}
	missing, err := a.store.missing(ctx, need)
	if err != nil || len(missing) == 0 {
		return err
	}
	for _, oid := range missing {
		if o, ours := a.written[oid]; ours {
			if _, err := a.store.Repo.Objects.Write(ctx, o.typ, o.data); err != nil {
				return fmt.Errorf("write what disappeared: %w", err)
			}
		}
	}
	if missing, err = a.store.missing(ctx, missing); err != nil || len(missing) == 0 {
		return err
	}
	return &MissingObjectsError{OIDs: missing}
}

// missing returns the objects that do not exist, sorted and each once. An object with a loose file or
// in a pack counts as intact, because this process has written or read it.
func (s *Store) missing(ctx context.Context, oids []name.OID) ([]name.OID, error) {
	missing, err := s.Repo.Objects.Batch().Missing(ctx, s.Repo.Objects.Batch().Absent(oids))
	if err != nil {
		return nil, fmt.Errorf("verify new objects: %w", err)
	}
	return slices.Sorted(maps.Keys(missing)), nil
}
