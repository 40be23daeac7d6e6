package store

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"
	"time"

	"git-checkpoint/internal/git"
	"git-checkpoint/internal/journal"
	"git-checkpoint/internal/name"
)

// suspicious is the number of lost races after which refs are listed instead of
// asked for one by one: a directory in a ref's place would make it lose for ever.
const suspicious = 3

// Transact changes a session: refs of checkpoints, journal, notes and tags in one
// transaction of git. build says what to change; after a lost race everything is
// read anew and build is called again. An error of build ends it.
//
// Where a gc took what the refs need, they go back to what they were, and that is a
// *MissingObjectsError. One of a change that mends itself comes with a Result: its refs
// stay.
func (s *Store) Transact(ctx context.Context, session name.Session, build func(context.Context, View) (Change, error)) (Result, error) {
	return s.transact(ctx, build, attempt{store: s, session: session})
}

// Bring is Transact for what comes from elsewhere. It may bring events of a later
// version, also into a session that has some; nothing is written on top of these.
func (s *Store) Bring(ctx context.Context, session name.Session, build func(context.Context, View) (Change, error)) (Result, error) {
	return s.transact(ctx, build, attempt{store: s, session: session, brings: true})
}

func (s *Store) transact(ctx context.Context, build func(context.Context, View) (Change, error), fresh attempt) (Result, error) {
	start, session := time.Now(), fresh.session
	turn := s.turn()
	defer turn.end()
	for try := 1; ; try++ {
		if err := turn.await(ctx, try); err != nil {
			return Result{}, err
		}
		a := new(attempt)
		*a = fresh
		a.wary = try > suspicious
		err := a.run(ctx, build)
		a.result.Tries = try
		if err == nil {
			return a.finish(context.WithoutCancel(ctx)) // it is done, whoever wants to stop it now
		}
		if !errors.Is(err, git.ErrRaced) {
			return Result{}, err
		}
		// A lost race means that another writer went on, so only a lock runs out of time.
		busy := &BusyError{Session: session, Tries: try, Elapsed: time.Since(start), Err: err}
		var locked *git.LockedError
		if errors.As(err, &locked) {
			busy.Lock = locked.Path
		}
		if try >= s.Tries || busy.Lock != "" && busy.Elapsed >= s.Patience {
			return Result{}, busy
		}
		if err := s.pause(ctx, try); err != nil {
			return Result{}, err
		}
	}
}

// finish looks whether what the refs need is there, and takes them back where it is not.
func (a *attempt) finish(ctx context.Context) (Result, error) {
	err := a.verify(ctx)
	var missing *MissingObjectsError
	if errors.As(err, &missing) && !a.change.Mends && a.takeBack(ctx) == nil {
		missing.TakenBack = true
		return Result{Tries: a.result.Tries}, err
	}
	a.keep()
	a.store.remember(a)
	return a.result, err
}

// takeBack gives refs the values that they had, as long as nobody went on from the new ones.
func (a *attempt) takeBack(ctx context.Context) error {
	back := make([]git.Update, 0, len(a.updates))
	for _, u := range slices.Backward(a.updates) {
		back = append(back, git.Update{Ref: u.Ref, Old: u.New, New: u.Old})
	}
	if len(back) == 0 {
		return nil
	}
	return a.store.Repo.UpdateRefs(ctx, back)
}

// remember notes which session was written to.
func (s *Store) remember(a *attempt) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if len(a.updates) > 0 {
		if s.written == nil {
			s.written = map[name.Session]bool{}
		}
		s.written[a.session] = true
	}
}

// Written lists the sessions that this Store has written to, sorted.
func (s *Store) Written() []name.Session {
	s.mu.Lock()
	defer s.mu.Unlock()
	return slices.Sorted(maps.Keys(s.written))
}

// pause waits for a random part of a span that grows with the tries.
func (s *Store) pause(ctx context.Context, try int) error {
	span := min(4*time.Millisecond<<min(try, 8), 400*time.Millisecond)
	timer := time.NewTimer(time.Duration(s.Random()) % span)
	defer timer.Stop()
	select {
	case <-timer.C:
		return nil
	case <-ctx.Done():
		return context.Cause(ctx)
	}
}

// attempt is one try of a transaction.
type attempt struct {
	store   *Store
	session name.Session
	wary    bool // looks for refs that are in the way
	patient bool // a gc was at work: what is missing may be written again in a moment
	brings  bool // see Bring

	journal name.OID       // as read
	cache   *cache         // nil: no journal yet
	log     *journal.Log   // with the change's events, as soon as they are written
	before  *journal.State // nil: no journal yet
	change  Change
	result  Result
	written map[name.OID]object // by this attempt
	updates []git.Update

	listed   map[name.Ref]name.OID // by list; what an archive holds as if it had refs
	virtual  map[name.Ref]bool     // those among them that are only in the archive
	members  map[name.ID]name.OID  // of the archive
	removals []Removal             // each once, with the commit as far as it is known
}

// object is kept until it is known to be there.
type object struct {
	typ  string
	data []byte
}

func (a *attempt) run(ctx context.Context, build func(context.Context, View) (Change, error)) error {
	// What one of these takes is written again by whoever needs it, at the end.
	beside := a.store.Repo.GCDropsAll()
	if err := a.store.Repo.AwaitGC(ctx); err != nil {
		return err
	}
	a.patient = beside && !a.wary
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
	if a.brings && a.before != nil && a.change.Base == nil && len(a.change.Events) > 0 {
		if err := a.writable(a.before); err != nil {
			return err
		}
	}
	a.written = map[name.OID]object{}
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
	return a.store.Repo.UpdateRefs(ctx, a.updates)
}

// unlessTaken makes a lost race of what is missing where a gc may have taken it, and its
// owner is about to write it again.
func (a *attempt) unlessTaken(err error) error {
	if a.patient && errors.Is(err, git.ErrMissing) {
		return fmt.Errorf("%w: %w", git.ErrRaced, err)
	}
	return err
}

// keep saves the journal as it is now for the next reader, here and elsewhere.
func (a *attempt) keep() {
	switch {
	case a.log == nil || a.change.Base != nil: // the base is the caller's
		return
	case a.cache == nil:
		a.cache = a.store.newCache(a.session)
		a.cache.log = a.log
	}
	a.cache.state, a.cache.folded = a.result.State, a.log.Len()
	a.cache.save()
	a.store.give(a.cache)
}

// view reads the session. A new one must not be another's twin.
func (a *attempt) view(ctx context.Context) (View, error) {
	v := View{Session: a.session}
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
	v.Log, v.Tip, v.State = a.cache.log, a.journal, a.cache.fold()
	a.before = v.State
	if a.brings {
		return v, nil
	}
	return v, a.writable(v.State)
}

func (a *attempt) writable(st *journal.State) error {
	if st.ReadOnly != "" {
		return &ReadOnlyError{Session: a.session, Reason: st.ReadOnly}
	}
	return nil
}

// list gives all refs of the session's checkpoints, and all tags of ours, by one
// listing: also those whose object is missing.
func (a *attempt) list(ctx context.Context) (map[name.Ref]name.OID, error) {
	if a.listed != nil {
		return a.listed, nil
	}
	refs, err := a.store.Repo.Refs(ctx, name.CheckpointRoot+string(a.session)+"/", strings.TrimSuffix(name.TagRoot, "/"))
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

// settleRemovals finds out what each ref that is removed names. One that is gone
// already, or named twice, must not stop the others.
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
			return &MovedRefError{Ref: ref, Want: r.Commit, Have: have}
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

// remove deletes the refs of what is removed.
func (a *attempt) remove() {
	for _, r := range a.removals {
		ref := name.CheckpointRef(a.session, r.ID)
		if have := a.listed[ref]; have != "" && !a.virtual[ref] {
			a.updates = append(a.updates, git.Update{Ref: ref, Old: have})
		}
	}
}

// write writes an object and remembers it until it is verified.
func (a *attempt) write(ctx context.Context, typ string, data []byte) (name.OID, error) {
	oid, err := a.store.Repo.WriteObject(ctx, typ, data)
	if err == nil {
		a.written[oid] = object{typ, data}
	}
	return oid, err
}

// verify asks once for everything that the refs need now. What this attempt wrote
// itself it writes again; the rest is the caller's.
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
	if err := a.store.Repo.AwaitGC(ctx); err != nil {
		return err
	}
	missing, err := a.store.missing(ctx, need)
	if err != nil || len(missing) == 0 {
		return err
	}
	for _, oid := range missing {
		if o, ours := a.written[oid]; ours {
			if _, err := a.store.Repo.WriteObject(ctx, o.typ, o.data); err != nil {
				return fmt.Errorf("write what vanished: %w", err)
			}
		}
	}
	if missing, err = a.store.missing(ctx, missing); err != nil || len(missing) == 0 {
		return err
	}
	return &MissingObjectsError{OIDs: missing}
}

// missing lists those objects that are not in the repository, each once.
func (s *Store) missing(ctx context.Context, oids []name.OID) ([]name.OID, error) {
	missing, err := s.Repo.Batch().Missing(ctx, s.Repo.Batch().NotLoose(oids))
	if err != nil {
		return nil, fmt.Errorf("verify new objects: %w", err)
	}
	return slices.Sorted(maps.Keys(missing)), nil
}
