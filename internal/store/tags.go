package store

import (
	"cmp"
	"context"
	"fmt"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"sync"

	"git-checkpoint/internal/git"
	"git-checkpoint/internal/journal"
	"git-checkpoint/internal/name"
)

// tagKey is a step, or one iteration of it.
type tagKey struct {
	step      int
	iteration string
}

// taggable is what an iteration may be in a ref: journals come from other clones,
// and a name that git refuses would fail the whole transaction.
var taggable = sync.OnceValue(func() *regexp.Regexp { return regexp.MustCompile(`^[A-Za-z0-9_-]{1,64}$`) })

// candidates are the live milestones that could have a tag, newest last.
type candidates map[tagKey][]*journal.Entry

// candidatesOf gathers them for some tags.
func candidatesOf(st *journal.State, only map[tagKey]bool) candidates {
	c := make(candidates, len(only))
	if st == nil {
		return c
	}
	steps := make(map[int]bool, len(only))
	for k := range only {
		steps[k.step] = true
	}
	for i, s := range st.Standings() {
		if !s.Live || !s.Milestone || !steps[s.Step] {
			continue
		}
		e := st.At(i)
		for _, k := range keysOf(e.Step, e.Event().Iteration) {
			if k.step >= 0 && only[k] {
				c[k] = append(c[k], e)
			}
		}
	}
	return c
}

// keysOf are the tags that a milestone could have; a negative step is none.
func keysOf(step int, iteration string) [2]tagKey {
	keys := [2]tagKey{{step: step}, {step: -1}}
	if iteration != "" && taggable().MatchString(iteration) {
		keys[1] = tagKey{step, iteration}
	}
	return keys
}

func newestID(entries []*journal.Entry) name.ID {
	if len(entries) == 0 {
		return ""
	}
	return entries[len(entries)-1].Checkpoint
}

// deriveTags adds the updates of those tags whose checkpoint the change replaces.
func (a *attempt) deriveTags(ctx context.Context) error {
	d := &derivation{attempt: a, removed: map[name.ID]bool{}, created: map[name.ID]name.OID{}}
	for _, r := range a.removals {
		d.removed[r.ID] = true
	}
	for _, c := range a.change.Create {
		d.created[c.ID] = c.Commit
	}
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

// derivation works out the tags of one attempt.
type derivation struct {
	*attempt
	after   candidates
	removed map[name.ID]bool
	created map[name.ID]name.OID  // what arrives, by a ref or in the archive
	held    map[name.Ref]name.OID // refs as they are
	whole   bool                  // held was listed
	below   map[name.Ref]name.Ref // refs where a tag's own name is a directory
	own     map[name.OID]bool     // made when first needed: commits of this session's checkpoints
	blocked name.Ref              // a ref where the directory of the tags has to be
}

// keys are the tags to look at: those whose newest checkpoint the change replaces
// and those of what it removes; or all. It gathers their candidates, too.
func (d *derivation) keys(ctx context.Context) ([]tagKey, error) {
	touched := d.touched()
	if d.change.Tags == TagsRebuilt {
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
	only := make(map[tagKey]bool, len(touched))
	for k := range touched {
		only[k] = true
	}
	before := candidatesOf(d.before, only)
	d.after = candidatesOf(d.result.State, only)
	var out []tagKey
	for k, always := range touched {
		if always || newestID(before[k]) != newestID(d.after[k]) {
			out = append(out, k)
		}
	}
	slices.SortFunc(out, func(a, b tagKey) int {
		return cmp.Or(cmp.Compare(a.step, b.step), strings.Compare(a.iteration, b.iteration))
	})
	return out, nil
}

// touched are the tags of the checkpoints that change; true: whether or not another one is
// the newest.
func (d *derivation) touched() map[tagKey]bool {
	touched := map[tagKey]bool{}
	st := d.result.State
	if st == nil {
		return touched
	}
	add := func(i int, always bool) {
		s := st.Standing(i)
		for _, k := range keysOf(s.Step, st.IterationOf(i)) {
			if s.Milestone && k.step >= 0 {
				touched[k] = touched[k] || always
			}
		}
	}
	same := 0
	if d.before != nil {
		same = st.Since(d.before)
	}
	for i, s := range st.Standings() {
		switch {
		case d.change.Tags == TagsRebuilt || len(d.removed) > 0 && d.removed[st.At(i).Checkpoint]:
			add(i, true)
		case d.brings && d.created[st.At(i).Checkpoint] != "":
			add(i, true) // a journal may have named it before it arrived
		case d.change.Tags == TagsDerived && s.Live != d.wasLive(i, same):
			add(i, false)
		}
	}
	return touched
}

// wasLive reports whether a checkpoint was live before the change; the first ones, as many
// as are the same, stand where they stood.
func (d *derivation) wasLive(i, same int) bool {
	switch {
	case d.before == nil:
		return false
	case i < same:
		return d.before.Standing(i).Live
	}
	old := d.before.Entry(d.result.State.At(i).Checkpoint)
	return old != nil && old.Live
}

func (d *derivation) prefix() string { return name.TagRoot + string(d.session) + "/" }

// parseTagLeaf reads "step-6.review".
func parseTagLeaf(leaf string) (tagKey, bool) {
	step, iteration, dotted := strings.Cut(strings.TrimPrefix(leaf, "step-"), ".")
	n, err := strconv.Atoi(step)
	k := tagKey{n, iteration}
	ok := err == nil && n >= 0 && (!dotted || taggable().MatchString(iteration))
	return k, ok && leaf == strings.TrimPrefix(string(name.TagRef("s", k.step, k.iteration)), name.TagRoot+"s/")
}

// read asks for the tags as they are, for what is in their way, and for the refs of
// the checkpoints that they could name. Where many are looked at, or something is
// odd, it lists them.
func (d *derivation) read(ctx context.Context, keys []tagKey) error {
	root, own := name.Ref(strings.TrimSuffix(name.TagRoot, "/")), name.Ref(strings.TrimSuffix(d.prefix(), "/"))
	var err error
	if d.whole = d.wary || len(d.removals) > 0 || d.change.Tags == TagsRebuilt; d.whole {
		d.held, err = d.list(ctx)
	} else {
		refs := []name.Ref{root, own}
		for _, k := range keys {
			refs = append(refs, name.TagRef(d.session, k.step, k.iteration))
			if n := len(d.after[k]); n > 0 {
				refs = append(refs, name.CheckpointRef(d.session, d.after[k][n-1].Checkpoint))
			}
		}
		d.held, err = d.store.Repo.Batch().ResolveAll(ctx, refs...)
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

// isOwn reports whether a commit is or was a checkpoint of this session.
func (d *derivation) isOwn(oid name.OID) bool {
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

// update adds what one tag needs.
func (d *derivation) update(ctx context.Context, k tagKey) error {
	ref := name.TagRef(d.session, k.step, k.iteration)
	want, err := d.target(ctx, k)
	if err != nil {
		return err
	}
	have := d.held[ref]
	if want == have || have == "" && d.change.Tags == TagsNone {
		return nil
	}
	if in := d.inTheWay(ref, have); in != "" {
		if want != "" {
			d.result.Warnings = append(d.result.Warnings, fmt.Sprintf("%s was left out: %s", strings.TrimPrefix(string(ref), "refs/"), in))
		}
		return nil
	}
	d.updates = append(d.updates, git.Update{Ref: ref, New: want, Old: have})
	d.result.Tags = append(d.result.Tags, TagUpdate{Ref: ref, New: want, Old: have})
	return nil
}

// target is the commit that a tag has to name, "" for none: of the newest live
// milestone whose ref is here. A checkpoint that a remote kept for itself is live
// and has no ref.
func (d *derivation) target(ctx context.Context, k tagKey) (name.OID, error) {
	entries := d.after[k]
	for i := len(entries) - 1; i >= 0; i-- {
		e := entries[i]
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
		if missing, err := d.store.missing(ctx, []name.OID{oid}); err != nil || len(missing) == 0 {
			return oid, err
		}
	}
	return "", nil
}

// inTheWay says which foreign ref keeps a tag from being written, "" when none does.
func (d *derivation) inTheWay(ref name.Ref, have name.OID) string {
	switch {
	case d.blocked != "":
		return fmt.Sprintf("a ref called %s is in the way", d.blocked)
	case have != "" && !d.isOwn(have):
		return "a tag of that name exists, and no journal here names what it points at"
	case d.below[ref] != "":
		return fmt.Sprintf("a ref called %s is in the way", d.below[ref])
	}
	return ""
}
