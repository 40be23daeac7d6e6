package store

import (
	"cmp"
	"context"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"sync"

	"git-checkpoint/internal/format/journal"
	"git-checkpoint/internal/format/name"
	"git-checkpoint/internal/git"
	"git-checkpoint/internal/sys/gather"
	"git-checkpoint/internal/sys/lazy"
)

// tagKey identifies a tag of a session: that of a step, or that of one iteration of a step.
type tagKey struct {
	step      int
	iteration string
}

// taggable matches the iterations that may be part of a tag. Journals come from other clones, and a
// tag name that git refuses would make the whole transaction fail.
var taggable = lazy.Pattern(`^[A-Za-z0-9_-]{1,64}$`)

// newest holds, for each tag, the place of the newest live milestone that it could point to.
type newest map[tagKey]int

// newestOf finds those of the tags in only. It looks no further back than it has to: a session may have a
// hundred thousand checkpoints.
func newestOf(st *journal.State, only map[tagKey]bool) newest {
	found := make(newest, len(only))
	if st == nil {
		return found
	}
	steps := map[int]bool{} // so that few iterations are read
	for k := range only {
		steps[k.step] = true
	}
	for i, s := range st.Backward() {
		if len(found) == len(only) {
			break
		}
		if !s.Live || !s.Milestone || !steps[s.Step] {
			continue
		}
		for _, k := range keysOf(s.Step, st.IterationOf(i)) {
			_, in := only[k]
			if _, has := found[k]; in && !has {
				found[k] = i
			}
		}
	}
	return found
}

// idIn returns the id of a tag's checkpoint, or "".
func (n newest) idIn(st *journal.State, k tagKey) name.ID {
	if at, has := n[k]; has {
		return st.At(at).Checkpoint
	}
	return ""
}

// keysOf returns the tags that a milestone could have: step-<N>, and step-<N>.<iteration>.
func keysOf(step int, iteration string) []tagKey {
	keys := []tagKey{{step: step}}
	if iteration != "" && taggable().MatchString(iteration) {
		keys = append(keys, tagKey{step, iteration})
	}
	return keys
}

// deriveTags adds the updates of all tags that the change affects. A tag points to the newest live
// milestone of its step (or iteration) that is in this repository. If that one is private there is no
// tag: on an older one it would say that this is the step's result. Tags are derived data: a foreign
// ref in the way of a tag causes a warning, and the tag is left out.
func (a *attempt) deriveTags(ctx context.Context) error {
	d := &derivation{
		attempt: a, removed: gather.Set(a.removals, func(r Removal) name.ID { return r.ID }),
		created: gather.Map(a.change.Create, func(c NewCheckpoint) (name.ID, name.OID) { return c.ID, c.Commit }),
	}
	// An archived checkpoint that had a ref is not new here.
	for id, oid := range a.change.Archive {
		if a.listed[name.CheckpointRef(a.session, id)] == "" {
			d.created[id] = oid
		}
	}
	keys, err := d.keys(ctx)
	if err != nil || len(keys) == 0 {
		return err
	}
	if err := d.read(ctx, keys); err != nil {
		return err
	}
	for _, k := range keys {
		if err := d.update(ctx, k); err != nil {
			return err
		}
	}
	return nil
}

// derivation computes the tags of one attempt.
type derivation struct {
	*attempt
	after   newest // after the change
	removed map[name.ID]bool
	created map[name.ID]name.OID  // checkpoints that arrive with this change, as a ref or in the archive
	held    map[name.Ref]name.OID // tags and checkpoint refs as they are now
	whole   bool                  // held is a complete listing
	below   map[name.Ref]name.Ref // refs below the name of a tag, where the file of the tag would be a directory
	own     map[name.OID]bool     // commits of this session's checkpoints; see isOwn
	blocked name.Ref              // a ref in the place of the directory of the tags
}

// keys returns the tags to update, sorted: those whose newest checkpoint the change replaces, and
// those that touched marks as always. With Change.Retag these are all tags of the session. It also
// finds the newest candidates.
func (d *derivation) keys(ctx context.Context) ([]tagKey, error) {
	touched := d.touched()
	if d.change.Retag {
		listed, err := d.list(ctx)
		if err != nil {
			return nil, err
		}
		for r := range listed {
			leaf, ours := strings.CutPrefix(string(r), d.prefix())
			if k, ok := parseTagLeaf(leaf); ours && ok {
				touched[k] = true
			}
		}
	}
	// A tag needs an update if its newest candidate is not the same as before.
	before := newestOf(d.before, touched)
	d.after = newestOf(d.result.State, touched)
	var out []tagKey
	for k, always := range touched {
		if always || before.idIn(d.before, k) != d.after.idIn(d.result.State, k) {
			out = append(out, k)
		}
	}
	slices.SortFunc(out, func(a, b tagKey) int {
		return cmp.Or(cmp.Compare(a.step, b.step), strings.Compare(a.iteration, b.iteration))
	})
	return out, nil
}

// touched returns the tags of checkpoints that the change affects. The value says whether to look
// at the tag in any case; otherwise only if its newest checkpoint is another one afterwards.
func (d *derivation) touched() map[tagKey]bool {
	touched := map[tagKey]bool{}
	st := d.result.State
	if st == nil {
		return touched
	}
	add := func(i int, always bool) {
		s := st.Standing(i)
		for _, k := range keysOf(s.Step, st.IterationOf(i)) {
			if s.Milestone {
				touched[k] = touched[k] || always
			}
		}
	}
	last := -1 // the furthest place that one of those so far had before
	for i, s := range st.Standings() {
		was := st.PlaceIn(d.before, i)
		switch {
		case d.change.Retag || len(d.removed) > 0 && d.removed[st.At(i).Checkpoint]:
			add(i, true)
		case d.fromRemote && d.created[st.At(i).Checkpoint] != "":
			// The journal may have named it before its objects arrived.
			add(i, true)
		case s.Live != (was >= 0 && d.before.Standing(was).Live):
			add(i, false)
		case was >= 0 && was < last:
			// A checkpoint after which this one came before now comes later: it was only adopted
			// here, and the earlier event that made this one has arrived.
			add(i, false)
		}
		last = max(last, was)
	}
	return touched
}

// prefix returns the prefix of the session's tags.
func (d *derivation) prefix() string { return name.TagRoot + string(d.session) + "/" }

// parseTagLeaf parses the last part of a tag, such as "step-6" or "step-6.review". It accepts only
// the form that TagRef makes, so not "step-06".
func parseTagLeaf(leaf string) (tagKey, bool) {
	step, iteration, dotted := strings.Cut(strings.TrimPrefix(leaf, "step-"), ".")
	n, err := strconv.Atoi(step)
	k := tagKey{n, iteration}
	ok := err == nil && n >= 0 && (!dotted || taggable().MatchString(iteration))
	return k, ok && leaf == strings.TrimPrefix(string(name.TagRef("s", k.step, k.iteration)), name.TagRoot+"s/")
}

// read looks up the tags as they are, what is in their way, and the refs of the checkpoints to
// which they could point. Usually these are few, and they are asked for one by one. Everything is
// listed if the change affects many, or if lost races suggest that a ref is in the way.
func (d *derivation) read(ctx context.Context, keys []tagKey) error {
	root, own := name.Ref(strings.TrimSuffix(name.TagRoot, "/")), name.Ref(strings.TrimSuffix(d.prefix(), "/"))
	var err error
	if d.whole = d.checkConflicts || len(d.removals) > 0 || d.change.Retag; d.whole {
		d.held, err = d.list(ctx)
	} else {
		refs := []name.Ref{root, own}
		for _, k := range keys {
			refs = append(refs, name.TagRef(d.session, k.step, k.iteration))
			if id := d.after.idIn(d.result.State, k); id != "" {
				refs = append(refs, name.CheckpointRef(d.session, id))
			}
		}
		d.held, err = d.store.Repo.Refs.ResolveAll(ctx, refs...)
	}
	if err != nil {
		return fmt.Errorf("read tags: %w", err)
	}
	d.below = map[name.Ref]name.Ref{}
	for r := range d.held {
		path, ours := strings.CutPrefix(string(r), d.prefix())
		if leaf, _, deeper := strings.Cut(path, "/"); ours && deeper {
			d.below[name.Ref(d.prefix()+leaf)] = r
		}
	}
	for _, r := range []name.Ref{root, own} {
		if d.held[r] != "" {
			d.blocked = r
		}
	}
	return nil
}

// isOwn reports whether a commit, at which the tag k points, is or was a checkpoint of this session.
// Only tags on such commits may be moved or deleted; any other tag is the user's.
func (d *derivation) isOwn(k tagKey, oid name.OID) bool {
	// Nearly always the tag is where the newest milestone of the step was. Looking at all checkpoints took
	// most of the time of a create among 100,000.
	if d.before != nil && d.own == nil {
		if e := d.before.Milestone(k.step, k.iteration); e != nil && e.Event().Commit == oid {
			return true
		}
	}
	if d.own != nil {
		return d.own[oid]
	}
	d.own = map[name.OID]bool{}
	for _, side := range []*journal.State{d.before, d.result.State} {
		if side == nil {
			continue
		}
		for _, e := range side.Checkpoints() {
			d.own[e.Event().Commit] = true
			if e.LastNamed != nil {
				d.own[e.LastNamed.Commit] = true
			}
		}
	}
	return d.own[oid]
}

// update adds the update of one tag, if it needs one.
func (d *derivation) update(ctx context.Context, k tagKey) error {
	ref := name.TagRef(d.session, k.step, k.iteration)
	want, err := d.target(ctx, k)
	if err != nil {
		return err
	}
	have := d.held[ref]
	if want != have && d.store.Tagless {
		want = ""
	}
	if want == have {
		return nil // even if it is private: a plain fetch may have brought it, and would bring it again
	}
	if want, err = d.public(ctx, want); err != nil {
		return err
	}
	if want == have {
		return nil
	}
	if in := d.inTheWay(k, ref, have); in != "" {
		if want != "" {
			d.result.Warnings = append(d.result.Warnings, fmt.Sprintf("%s was left out: %s", strings.TrimPrefix(string(ref), "refs/"), in))
		}
		return nil
	}
	moved := git.Update{Ref: ref, New: want, Old: have}
	d.updates, d.result.Tags = append(d.updates, moved), append(d.result.Tags, moved)
	return nil
}

// public returns the commit if it may have a tag, or "".
func (d *derivation) public(ctx context.Context, want name.OID) (name.OID, error) {
	if want == "" || d.store.Private == nil {
		return want, nil
	}
	if d.private[want] == nil {
		d.private[want] = d.askPrivate(ctx, want)
	}
	why, err := d.private[want]()
	if err != nil || why == "" {
		return want, err
	}
	if slices.ContainsFunc(d.change.Create, func(c NewCheckpoint) bool { return c.Commit == want }) {
		d.result.Private = why
	}
	return "", nil
}

// askPrivate returns a function that asks Store.Private once.
func (a *attempt) askPrivate(ctx context.Context, commit name.OID) func() (string, error) {
	return sync.OnceValues(func() (string, error) { return a.store.Private(ctx, commit) })
}

// askAhead asks whether the tag of a new milestone would be private while the journal and the notes are written. The function
// that it returns waits for the answer.
func (a *attempt) askAhead(ctx context.Context) func() {
	a.private = map[name.OID]func() (string, error){}
	isMilestone := func(e journal.Event) bool { return e.Milestone }
	if len(a.change.Create) != 1 || !slices.ContainsFunc(a.change.Events, isMilestone) || a.store.Private == nil || a.store.Tagless {
		return func() {}
	}
	commit := a.change.Create[0].Commit
	ask := a.askPrivate(ctx, commit)
	a.private[commit] = ask
	go func() {
		defer func() { _ = recover() }() // it panics again where public asks
		ask()                            //nolint:errcheck // public asks again
	}()
	return func() { ask() } //nolint:errcheck // likewise
}

// target returns the commit to which a tag has to point, or "" for no tag. It tries the candidates
// from the newest to the oldest. A checkpoint that is live in the journal may still be missing
// here, because its ref was not fetched or its object is lost or damaged.
func (d *derivation) target(ctx context.Context, k tagKey) (name.OID, error) {
	st := d.result.State
	at, has := d.after[k]
	for ; has && at >= 0; at-- {
		if s := st.Standing(at); !s.Live || !s.Milestone || s.Step != k.step || !slices.Contains(keysOf(s.Step, st.IterationOf(at)), k) {
			continue
		}
		e := st.At(at)
		if d.removed[e.Checkpoint] {
			continue
		}
		if oid := d.created[e.Checkpoint]; oid != "" {
			return oid, nil
		}
		ref := name.CheckpointRef(d.session, e.Checkpoint)
		oid := d.held[ref]
		if oid == "" && !d.whole {
			var err error
			if oid, err = d.store.resolveHeld(ctx, d.session, e.Checkpoint); err != nil {
				return "", err
			}
		}
		if oid == "" {
			continue
		}
		if _, err := d.store.Repo.Commits.Read(ctx, string(oid)); err == nil || ctx.Err() != nil {
			return oid, err
		}
	}
	return "", nil
}

// inTheWay returns why a tag cannot be written, or "" if it can.
func (d *derivation) inTheWay(k tagKey, ref name.Ref, have name.OID) string {
	switch {
	case d.blocked != "":
		return fmt.Sprintf("a ref called %s is in the way", d.blocked)
	case have != "" && !d.isOwn(k, have):
		return "a tag of that name exists, but no journal here names what it points at"
	case d.below[ref] != "":
		return fmt.Sprintf("a ref called %s is in the way", d.below[ref])
	}
	return ""
}

// DerivedTags returns the tags that a session should have, and their commits. held says which
// checkpoints are in this repository. The commits are those of the journal, even if a ref was
// moved.
func DerivedTags(st *journal.State, held map[name.ID]name.OID) map[name.Ref]name.OID {
	tags := map[name.Ref]name.OID{}
	for i, c := range st.Standings() {
		if e := st.At(i); c.Live && c.Milestone && held[e.Checkpoint] != "" {
			for _, k := range keysOf(c.Step, e.Event().Iteration) {
				tags[name.TagRef(st.Session, k.step, k.iteration)] = e.Event().Commit // the newest comes last and wins
			}
		}
	}
	return tags
}

// IsTag reports whether ref has the form of one of the session's tags.
func IsTag(session name.Session, ref name.Ref) bool {
	leaf, ours := strings.CutPrefix(string(ref), name.TagRoot+string(session)+"/")
	_, ok := parseTagLeaf(leaf)
	return ours && ok
}
