package checkpoint

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"sync"

	"git-checkpoint/internal/core/workflow"
	"git-checkpoint/internal/format/journal"
	"git-checkpoint/internal/format/name"
	"git-checkpoint/internal/git"
	"git-checkpoint/internal/storage/store"
	"git-checkpoint/internal/sys/lazy"
)

// Found is the checkpoint that a user named, with its session.
type Found struct {
	Session name.Session   // which may not be the one that the command works on
	State   *journal.State // the fold of that session's journal
	Entry   *journal.Entry // nil only while Resolve is still searching
}

var (
	// numberPattern matches 3, 6.2 (step and iteration) and 3+1 (step and suffix).
	numberPattern = lazy.Pattern(`^(\d{1,9})(?:\.([A-Za-z0-9_-]+)|\+([A-Za-z0-9_-]+))?$`)
	// datedPattern matches the beginning of an id up to its time. No label begins like this.
	datedPattern = lazy.Pattern(`^cp-\d+-\d{8}T`)
	// parentPattern matches @, @~ and @~2.
	parentPattern = lazy.Pattern(`^@(?:~(\d{0,9}))?$`)
	// HexPattern matches a commit id, full or abbreviated to at least four digits.
	HexPattern = lazy.Pattern(`^[0-9a-f]{4,64}$`)
)

// Resolve finds the checkpoint that a user typed, in the given session, or in the session before
// the colon of "<session>:<name>". An empty ref is the current checkpoint. See "What a person may
// type" in docs/format.md; resolveIn has the order of the rules. Numbers and labels mean live
// checkpoints only; Reach also accepts discarded ones. Errors have KindNotFound, or KindUsage when
// the name is ambiguous.
func (s *Sessions) Resolve(ctx context.Context, session, ref string) (*Found, error) {
	in, rest, inSession := strings.Cut(ref, ":")
	if inSession = inSession && !strings.HasPrefix(ref, "refs/"); inSession {
		session, ref = in, rest
	}
	ref = cmp.Or(ref, "@")
	if strings.HasPrefix(ref, name.CheckpointRoot) || strings.HasPrefix(ref, "refs/tags/") {
		return resolveRef(ctx, s.Store, ref)
	}
	chosen, err := s.ChooseSession(ctx, session)
	if err != nil {
		got, failed := findAnywhere(ctx, s.Store, ref)
		if got == nil && failed == nil {
			got, failed = s.Rules.byOthersID(ctx, nil, session, ref)
		}
		if KindOf(err) == KindNotFound && (got != nil || failed != nil) {
			return got, failed
		}
		return nil, nameThere(ctx, s.Store, ref, err)
	}
	state, err := State(ctx, s.Store, chosen)
	if err != nil && inSession {
		err = fileHint(err, in, rest)
	}
	if err != nil {
		return nil, err
	}
	return s.Rules.resolveIn(ctx, &Found{Session: chosen, State: state}, session, ref)
}

// resolveIn applies the rules for names one after the other; the first rule that finds a checkpoint
// decides. Exact names come before prefixes, and this session comes before other sessions. The
// session argument is what the user typed, "" for nothing: another system's ids are searched in
// other sessions only if the user did not choose one.
func (s *Rules) resolveIn(ctx context.Context, found *Found, session, ref string) (*Found, error) {
	state := found.State
	entries, err := byName(state, ref)
	if err != nil {
		return nil, err
	}
	if len(entries) > 0 {
		return singleMatch(ctx, s.Store, found, ref, entries)
	}
	if got, err := findAnywhere(ctx, s.Store, ref); got != nil || err != nil {
		return got, err
	}
	for _, rule := range []func(*journal.State, string) []*journal.Entry{byPrefix, byCommit} {
		if entries := rule(state, ref); len(entries) > 0 {
			return singleMatch(ctx, s.Store, found, ref, entries)
		}
	}
	if got, err := s.byOthersID(ctx, found, session, ref); got != nil || err != nil {
		return got, err
	}
	if discarded := byDiscarded(state, ref); len(discarded) > 0 {
		if here := preferHere(state, discarded); len(here) == 1 && state.CurrentLine()[here[0].Place] {
			return singleMatch(ctx, s.Store, found, ref, here) // somebody else left it behind; its files are here
		}
		return nil, newDiscardedError(ctx, s.Store, found, ref, discarded)
	}
	entries = bySafetyPrefix(state, ref)
	if e := byStepWord(state, ref); e != nil {
		entries = append(entries, e)
	}
	if len(entries) > 0 {
		return singleMatch(ctx, s.Store, found, ref, entries)
	}
	if before := continued(ctx, s.Store, state); before != nil && numberPattern().MatchString(ref) {
		return s.resolveIn(ctx, before, session, ref)
	}
	return nil, UnknownCheckpointError(found.Session, state, ref)
}

// singleMatch completes f with the single match. More than one is an error of KindUsage that lists the
// first ten.
func singleMatch(ctx context.Context, s *store.Store, f *Found, ref string, entries []*journal.Entry) (*Found, error) {
	if len(entries) == 1 {
		f.Entry = entries[0]
		return f, nil
	}
	e := Failure(KindUsage, "", "%q is ambiguous in session %q: it matches %d checkpoints", ref, f.Session, len(entries))
	for i, c := range entries {
		if i == 10 {
			e.Hints = append(e.Hints, "…")
			break
		}
		e.Hints = append(e.Hints, fmt.Sprintf("%s %s, %s", c.Checkpoint, Mentioned(ctx, s, f.State, c), c.Event().Writer()))
	}
	return nil, e
}

// byName applies the rules that find one checkpoint or none. A number or a label finds several if
// clones took it before they knew of each other.
func byName(st *journal.State, ref string) ([]*journal.Entry, error) {
	if e, err := byKeyword(st, ref); e != nil || err != nil {
		return []*journal.Entry{e}, err
	}
	for _, rule := range []func(*journal.State, string) *journal.Entry{byNumber, byTwin, byID, byLabel, byOwnID} {
		if e := rule(st, ref); e != nil {
			return both(st, e, ref), nil
		}
	}
	return nil, nil
}

// both returns what a user means with a name that finds e: several checkpoints if it is their number or
// their label.
func both(st *journal.State, e *journal.Entry, ref string) []*journal.Entry {
	all := []*journal.Entry{e}
	switch {
	case !e.Live && !e.Safety || byNumber(st, ref) == nil && byTwin(st, ref) == e:
	case ref == e.Label:
		all = labelled(st, e)
	case numberPattern().MatchString(ref):
		all = numbered(st, e)
	}
	if len(all) > 1 {
		return preferHere(st, all)
	}
	return []*journal.Entry{e} // e itself, even if another checkpoint was rebuilt from it
}

// byKeyword finds latest, last, @, @~ and @~N. "latest" is the newest live checkpoint; "@~N" goes
// back from the current one along Previous, past what an agent's tools made.
func byKeyword(st *journal.State, ref string) (*journal.Entry, error) {
	if ref == "latest" || ref == "last" {
		for i, c := range st.Backward() {
			if c.Live {
				return st.At(i), nil
			}
		}
		return nil, NoCheckpointError(st)
	}
	m := parentPattern().FindStringSubmatch(ref)
	if m == nil {
		return nil, nil
	}
	back := 0
	if strings.HasPrefix(ref, "@~") {
		back = 1
		if m[1] != "" {
			back, _ = strconv.Atoi(m[1]) //nolint:errcheck // the pattern bounds it
		}
	}
	passed, landings := 0, sync.OnceValue(func() map[name.ID]name.ID { return Landings(st.Events()) })
	for e := range st.Line() {
		if passed > 0 && e.BesideSteps() || back > 0 && !e.Milestone && e.Event().Trigger == workflow.TriggerPromote && landings()[e.Checkpoint] != "" {
			continue // list does not show it, or it changed no file of the step before it
		}
		if passed == back {
			return e, nil
		}
		passed++
	}
	if passed == 0 {
		return nil, NoCheckpointError(st)
	}
	return nil, Failure(KindNotFound, "`git checkpoint list` shows the checkpoints", "no such checkpoint: %q: there are only %d before the current one", ref, passed-1)
}

// NoCheckpointError returns the error for a session without a live or current checkpoint.
func NoCheckpointError(st *journal.State) error {
	return Failure(KindNotFound, "`git checkpoint save -m MESSAGE` makes one", "session %q has no checkpoints", st.Session)
}

// FirstIteration is the iteration that a milestone without one counts as. The first time a step is
// done, nobody knows that it will be repeated, so that milestone gets no iteration.
const FirstIteration = "1"

// TypedName returns the shortest name that leads to e wherever it is typed: NumberTo, or the id of one that is not live.
func TypedName(st *journal.State, e *journal.Entry) string {
	if e.Live {
		return NumberTo(st, e)
	}
	return string(e.Checkpoint)
}

// byID finds a checkpoint by its whole id, even a discarded one. A pruned checkpoint is never
// found.
func byID(st *journal.State, id string) *journal.Entry {
	if e := st.Entry(name.ID(id)); e != nil && !e.Dead {
		return e
	}
	return nil
}

// shortestPrefix is how many characters of a label or an id must be typed.
const shortestPrefix = 3

// byPrefix finds checkpoints by the beginning of a label or an id. Milestones come first: the
// labels of the other checkpoints of a step begin with the milestone's label and would make each
// prefix ambiguous. Only a prefix that reaches the time in an id can mean a checkpoint that is not
// live.
func byPrefix(st *journal.State, ref string) []*journal.Entry {
	if len(ref) < shortestPrefix {
		return nil
	}
	begins := func(c *journal.Entry) bool {
		return strings.HasPrefix(c.Label, ref) || strings.HasPrefix(string(c.Checkpoint), ref)
	}
	return matching(st,
		func(c *journal.Entry) bool { return c.Live && c.Milestone && begins(c) },
		func(c *journal.Entry) bool { return c.Live && begins(c) },
		func(c *journal.Entry) bool { return datedPattern().MatchString(ref) && begins(c) },
	)
}

// bySafetyPrefix is the last rule, because a safety checkpoint has a label that begins like the
// label of a checkpoint that the rollback discarded. The user means the latter more often.
func bySafetyPrefix(st *journal.State, ref string) []*journal.Entry {
	return matching(st, func(c *journal.Entry) bool {
		return c.Safety && len(ref) >= shortestPrefix && strings.HasPrefix(c.Label, ref)
	})
}

// byCommit finds checkpoints by the beginning of the id of their commit C.
func byCommit(st *journal.State, ref string) []*journal.Entry {
	if !HexPattern().MatchString(ref) {
		return nil
	}
	return matching(st, func(c *journal.Entry) bool { return strings.HasPrefix(string(c.Event().Commit), ref) })
}

// matching returns the checkpoints, except pruned ones, that fit the first of the rules that any fits; nil if none
// does.
func matching(st *journal.State, rules ...func(*journal.Entry) bool) []*journal.Entry {
	for _, fits := range rules {
		found := slices.DeleteFunc(st.Checkpoints(), func(c *journal.Entry) bool { return c.Dead || !fits(c) })
		if len(found) > 0 {
			return found
		}
	}
	return nil
}

// findAnywhere finds names that do not depend on a session: a shortened ref, a whole id, or the whole object id of a
// checkpoint's commit. It returns nil when ref is none of them.
func findAnywhere(ctx context.Context, s *store.Store, ref string) (*Found, error) {
	switch {
	case strings.HasPrefix(ref, "checkpoints/"):
		return resolveRef(ctx, s, "refs/"+ref)
	case strings.HasPrefix(ref, "checkpoint/"):
		return resolveRef(ctx, s, "refs/tags/"+ref)
	}
	rule := byID
	if _, err := name.ParseID(ref); err != nil {
		if _, err := name.ParseOID(ref); err != nil {
			return nil, nil //nolint:nilerr // it is neither
		}
		rule = func(st *journal.State, ref string) *journal.Entry {
			for _, e := range byCommit(st, ref) {
				return e
			}
			return nil
		}
	}
	found, err := inSessions(ctx, s, func(st *journal.State) *journal.Entry { return rule(st, ref) })
	if err != nil || len(found) == 0 {
		return nil, err
	}
	return found[0], nil
}

// inSessions calls wanted for each session and returns what it found. Sessions that cannot be read
// are skipped.
func inSessions(ctx context.Context, s *store.Store, wanted func(*journal.State) *journal.Entry) ([]*Found, error) {
	states, err := States(ctx, s, "") // one damaged session must not hide the others
	var found []*Found
	for _, st := range states {
		if e := wanted(st); e != nil {
			found = append(found, &Found{st.Session, st, e})
		}
	}
	return found, err
}

// resolveRef finds the checkpoint that a full ref points to: a ref of a checkpoint, or a tag. A
// checkpoint ref is looked up by its id, which also works when the ref itself is missing. A tag is
// resolved to its commit first.
func resolveRef(ctx context.Context, s *store.Store, ref string) (*Found, error) {
	notFound := Failure(KindNotFound, "`git for-each-ref refs/checkpoints` lists the refs", "no such checkpoint: %q", name.Clip(ref, name.Said))
	session, leaf, ok := name.SplitCheckpointRef(name.Ref(ref))
	if !ok {
		rest, isTag := strings.CutPrefix(ref, name.TagRoot)
		in, _, below := strings.Cut(rest, "/")
		if !isTag || !below {
			return nil, notFound
		}
		session = name.Session(in)
	}
	st, err := State(ctx, s, session)
	if err != nil {
		return nil, err
	}
	if e := byID(st, leaf); e != nil {
		return &Found{session, st, e}, nil
	}
	commit, err := s.Repo.Refs.Resolve(ctx, name.Ref(ref))
	if errors.Is(err, git.ErrMissing) {
		return nil, notFound
	}
	if err != nil {
		return nil, err
	}
	for _, c := range st.Checkpoints() {
		if c.Event().Commit == commit && !c.Dead {
			return &Found{session, st, c}, nil
		}
	}
	return nil, notFound
}

// UnknownCheckpointError returns the error for a name that nothing fits. Its hints suggest similar
// names and the right syntax.
func UnknownCheckpointError(session name.Session, st *journal.State, ref string) error {
	e := Failure(KindNotFound, "", "no such checkpoint in session %q: %q", session, name.Clip(ref, name.Said))
	if meant := MeantParent(ref); meant != "" {
		e.Hints = append(e.Hints, "did you mean "+meant+"?")
	} else if strings.Contains(ref, "..") {
		e.Hints = append(e.Hints, "`git checkpoint diff A..B` compares two checkpoints")
	} else if near := nearestCheckpoints(st, ref); len(near) > 0 {
		e.Hints = append(e.Hints, "did you mean "+strings.Join(near, ", ")+"?")
	}
	if _, err := strconv.Atoi(ref); err == nil {
		if there := numbersOf(st); there != "" {
			e.Hints = []string{"this session has " + there}
		}
	}
	if _, err := name.ParseOID(ref); err == nil {
		e.Hints = []string{"`git checkpoint show " + ref + "` says which steps are behind a commit"}
		return e
	}
	e.Hints = append(e.Hints, "`git checkpoint list` shows the checkpoints")
	return e
}

// nearestCheckpoints returns up to three labels or ids of live checkpoints that are similar to ref: to the
// label, the label without its "cp-NN-", or the id.
func nearestCheckpoints(st *journal.State, ref string) []string {
	var list []similar
	for _, c := range st.Checkpoints() {
		if !c.Live {
			continue
		}
		forms := []string{c.Label}
		if _, named, ok := strings.Cut(strings.TrimPrefix(c.Label, "cp-"), "-"); ok {
			forms = append(forms, named)
		}
		for _, form := range forms {
			if d, ok := alike(ref, form); ok {
				list = append(list, similar{c.Label, d})
			}
		}
		if d, ok := alike(ref, string(c.Checkpoint)); ok {
			list = append(list, similar{string(c.Checkpoint), d})
		}
	}
	return best(list)
}

// nearest returns up to three of the names, the most similar first.
func nearest[Name ~string](typed string, names []Name) []string {
	var list []similar
	for _, n := range names {
		if d, ok := alike(typed, string(n)); ok {
			list = append(list, similar{string(n), d})
		}
	}
	return best(list)
}

// similar is a candidate and its distance from what the user typed.
type similar struct {
	name     string
	distance int
}

// alike returns the edit distance between typed and full, and whether they are similar enough to
// suggest full: about a third of the characters may differ, or full contains typed.
func alike(typed, full string) (int, bool) {
	d := name.Distance(typed, full)
	return d, d <= 2+len(typed)/3 || len(typed) > 1 && strings.Contains(full, typed)
}

// best returns the three nearest names without duplicates. The sort is stable, so equal ones keep
// their order.
func best(list []similar) []string {
	slices.SortStableFunc(list, func(a, b similar) int { return a.distance - b.distance })
	var out []string
	for _, s := range list {
		if len(out) < 3 && !slices.Contains(out, s.name) {
			out = append(out, s.name)
		}
	}
	return out
}

// RefuseEmptyNames returns an error of KindUsage if one of refs is empty. In a script "" usually
// comes from a variable that is not set. Without this check it would mean the current checkpoint,
// and a delete would remove the wrong one.
func RefuseEmptyNames(refs ...string) error {
	if slices.Contains(refs, "") {
		return Usage("@ is the current one", "an empty name does not name a checkpoint")
	}
	return nil
}

// HighestSuffix returns the highest k of the labels cp-NN...+k among the checkpoints of a step, or 0:
// the live ones, and all where the workflow never uses a number again. The next checkpoint of that
// step gets k+1.
func HighestSuffix(st *journal.State, step int, of workflow.Steps) int {
	highest := 0
	if st == nil {
		return 0
	}
	for i, c := range st.Standings() {
		if (c.Live || of.Counts()) && !c.Milestone && c.Step == step {
			// Suffixes that are not numbers, such as those of safety checkpoints, do not count.
			_, suffix, _ := strings.Cut(st.At(i).Label, "+")
			if k, err := strconv.Atoi(suffix); err == nil && k > highest {
				highest = k
			}
		}
	}
	return highest
}
