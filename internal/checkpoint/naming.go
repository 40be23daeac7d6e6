package checkpoint

import (
	"context"
	"errors"
	"fmt"
	"regexp"
	"slices"
	"sort"
	"strconv"
	"strings"
	"sync"

	"git-checkpoint/internal/git"
	"git-checkpoint/internal/journal"
	"git-checkpoint/internal/name"
)

// Found is a checkpoint that a person named.
type Found struct {
	Session name.Session
	State   *journal.State
	Entry   *journal.Entry
}

var (
	numberPattern = sync.OnceValue(func() *regexp.Regexp {
		return regexp.MustCompile(`^(\d{1,9})(?:\.([A-Za-z0-9_-]+)|\+([A-Za-z0-9_-]+))?$`)
	})
	// datedPattern is the beginning of an id, which can be that of no label of a step.
	datedPattern  = sync.OnceValue(func() *regexp.Regexp { return regexp.MustCompile(`^cp-\d+-\d{8}T`) })
	parentPattern = sync.OnceValue(func() *regexp.Regexp { return regexp.MustCompile(`^@(?:~(\d{0,9}))?$`) })
	// HexPattern is an id of a commit, or the beginning of one.
	HexPattern = sync.OnceValue(func() *regexp.Regexp { return regexp.MustCompile(`^[0-9a-f]{4,64}$`) })
)

// Resolve finds what a person typed, in a session or, with "<session>:" before
// it, in that one. An exact match wins: keyword, number, label, id, ref; then a
// unique prefix, then a commit. Names mean live checkpoints: see Reach.
func (s *Service) Resolve(ctx context.Context, session, ref string) (*Found, error) {
	in, rest, inSession := strings.Cut(ref, ":")
	if inSession = inSession && !strings.HasPrefix(ref, "refs/"); inSession {
		session, ref = in, rest
	}
	if ref == "" {
		ref = "@"
	}
	if strings.HasPrefix(ref, name.CheckpointRoot) || strings.HasPrefix(ref, "refs/tags/") {
		return s.resolveRef(ctx, ref)
	}
	chosen, err := s.ChooseSession(ctx, session)
	if err != nil {
		return nil, err
	}
	state, err := s.State(ctx, chosen)
	if err != nil && inSession {
		err = fileHint(err, in, rest)
	}
	if err != nil {
		return nil, err
	}
	return s.resolveIn(ctx, &Found{Session: chosen, State: state}, session, ref)
}

// resolveIn finds a name in a session. What was typed for the session decides where else its own ids
// are looked for.
func (s *Service) resolveIn(ctx context.Context, found *Found, session, ref string) (*Found, error) {
	state := found.State
	for _, rule := range []func(*journal.State, string) ([]*journal.Entry, error){byKeyword, byNumber, byLabel, byID, byOwnID} {
		entries, err := rule(state, ref)
		if err != nil {
			return nil, err
		}
		if len(entries) > 0 {
			return found.only(ref, entries)
		}
	}
	if got, err := elsewhere(ctx, s, ref); got != nil || err != nil {
		return got, err
	}
	for _, rule := range []func(*journal.State, string) ([]*journal.Entry, error){byPrefix, byCommit} {
		entries, err := rule(state, ref)
		if err != nil {
			return nil, err
		}
		if len(entries) > 0 {
			return found.only(ref, entries)
		}
	}
	if got, err := ownElsewhere(ctx, s, session, ref); got != nil || err != nil {
		return got, err
	}
	if discarded := byDiscarded(state, ref); len(discarded) > 0 {
		return nil, newDiscardedError(ctx, s, found, ref, discarded)
	}
	if entries := append(bySafetyPrefix(state, ref), byStepWord(state, ref)...); len(entries) > 0 {
		return found.only(ref, entries)
	}
	return nil, UnknownCheckpointError(found.Session, state, ref)
}

// only refuses more than one match.
func (f *Found) only(ref string, entries []*journal.Entry) (*Found, error) {
	if len(entries) == 1 {
		f.Entry = entries[0]
		return f, nil
	}
	e := &Error{Kind: KindUsage, Message: fmt.Sprintf("%q is ambiguous in session %q: it fits %d checkpoints", ref, f.Session, len(entries))}
	for i, c := range entries {
		if i == 10 {
			e.Hints = append(e.Hints, "…")
			break
		}
		e.Hints = append(e.Hints, fmt.Sprintf("%s (%s)", c.Checkpoint, c.Label))
	}
	return nil, e
}

func one(e *journal.Entry) []*journal.Entry {
	if e == nil {
		return nil
	}
	return []*journal.Entry{e}
}

func byKeyword(st *journal.State, ref string) ([]*journal.Entry, error) {
	if ref == "latest" || ref == "last" {
		for i, c := range st.Backward() {
			if c.Live {
				return one(st.At(i)), nil
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
	passed := 0
	for e := range st.Line() {
		if passed == back {
			return one(e), nil
		}
		passed++
	}
	if passed == 0 {
		return nil, NoCheckpointError(st)
	}
	return nil, &Error{
		Kind: KindNotFound, Message: fmt.Sprintf("no such checkpoint: %q: only %d before the current one", ref, passed-1),
		Hints: []string{"`git checkpoint list` shows what there is"},
	}
}

// NoCheckpointError says that a session has none.
func NoCheckpointError(st *journal.State) error {
	return &Error{
		Kind: KindNotFound, Message: fmt.Sprintf("session %q has no checkpoint", st.Session),
		Hints: []string{"`git checkpoint create -m MESSAGE` makes one"},
	}
}

func byNumber(st *journal.State, ref string) ([]*journal.Entry, error) {
	m := numberPattern().FindStringSubmatch(ref)
	if m == nil {
		return nil, nil
	}
	step, err := strconv.Atoi(m[1])
	if err != nil {
		return nil, nil //nolint:nilerr // it may still be a prefix
	}
	if m[3] != "" {
		for i, c := range st.Backward() {
			if (c.Live || c.Safety && !c.Dead) && !c.Milestone && c.Step == step && strings.HasSuffix(st.At(i).Label, "+"+m[3]) {
				return one(st.At(i)), nil
			}
		}
		return nil, nil
	}
	if e := st.Milestone(step, m[2]); e != nil || m[2] != FirstIteration {
		return one(e), nil
	}
	for i, c := range st.Backward() {
		if c.Live && c.Milestone && c.Step == step && st.At(i).Event().Iteration == "" {
			return one(st.At(i)), nil
		}
	}
	return nil, nil
}

// FirstIteration is the number of a step's checkpoint that got none, because nobody knew
// that the step would be done again.
const FirstIteration = "1"

// TypedName is what a person types for a checkpoint: 3, 6.2, else its id: a number means the newest
// live checkpoint that has it.
func TypedName(st *journal.State, e *journal.Entry) string {
	number := fmt.Sprint(e.Step)
	if iteration := e.Event().Iteration; iteration != "" {
		number += "." + iteration
	} else if newest := st.Milestone(e.Step, ""); newest != nil && newest.Checkpoint != e.Checkpoint {
		number += "." + FirstIteration
	}
	if e.Live && e.Milestone {
		if got, err := byNumber(st, number); err == nil && len(got) == 1 && got[0].Checkpoint == e.Checkpoint {
			return number
		}
	}
	return string(e.Checkpoint)
}

// byLabel takes live checkpoints; the label of a discarded one means nothing.
// Twins made at the same time elsewhere share a label: the newest is meant.
func byLabel(st *journal.State, ref string) ([]*journal.Entry, error) {
	return one(st.Labelled(ref)), nil
}

func byID(st *journal.State, ref string) ([]*journal.Entry, error) {
	e := st.Entry(name.ID(ref))
	if e == nil || e.Dead {
		return nil, nil
	}
	return one(e), nil
}

// shortestPrefix is how much of a label or an id names it.
const shortestPrefix = 3

// byPrefix prefers milestones: what hangs on a step has a label that begins as the step's, and
// must not make that ambiguous.
func byPrefix(st *journal.State, ref string) ([]*journal.Entry, error) {
	if len(ref) < shortestPrefix {
		return nil, nil
	}
	begins := func(c *journal.Entry) bool {
		return strings.HasPrefix(c.Label, ref) || strings.HasPrefix(string(c.Checkpoint), ref)
	}
	for _, fits := range []func(*journal.Entry) bool{
		func(c *journal.Entry) bool { return c.Live && c.Milestone && begins(c) },
		func(c *journal.Entry) bool { return c.Live && begins(c) },
		func(c *journal.Entry) bool { return datedPattern().MatchString(ref) && begins(c) },
	} {
		if found := matching(st, fits); len(found) > 0 {
			return found, nil
		}
	}
	return nil, nil
}

// bySafetyPrefix comes last: the safety checkpoint of a rollback has a label that begins as
// that of a checkpoint which the rollback discarded.
func bySafetyPrefix(st *journal.State, ref string) []*journal.Entry {
	return matching(st, func(c *journal.Entry) bool {
		return c.Safety && len(ref) >= shortestPrefix && strings.HasPrefix(c.Label, ref)
	})
}

func byCommit(st *journal.State, ref string) ([]*journal.Entry, error) {
	if !HexPattern().MatchString(ref) {
		return nil, nil
	}
	return matching(st, func(c *journal.Entry) bool { return strings.HasPrefix(string(c.Event().Commit), ref) }), nil
}

func matching(st *journal.State, fits func(*journal.Entry) bool) []*journal.Entry {
	var out []*journal.Entry
	for _, c := range st.Checkpoints() {
		if !c.Dead && fits(c) {
			out = append(out, c)
		}
	}
	return out
}

// elsewhere finds a short ref, or a whole id of another session.
func elsewhere(ctx context.Context, s *Service, ref string) (*Found, error) {
	switch {
	case strings.HasPrefix(ref, "checkpoints/"):
		return s.resolveRef(ctx, "refs/"+ref)
	case strings.HasPrefix(ref, "checkpoint/"):
		return s.resolveRef(ctx, "refs/tags/"+ref)
	}
	if _, err := name.ParseID(ref); err != nil {
		return nil, nil //nolint:nilerr // it is no id
	}
	found, err := inSessions(ctx, s, func(st *journal.State) *journal.Entry {
		if e := st.Entry(name.ID(ref)); e != nil && !e.Dead {
			return e
		}
		return nil
	})
	if err != nil || len(found) == 0 {
		return nil, err
	}
	return found[0], nil
}

// inSessions gives the checkpoint that is wanted in each session.
func inSessions(ctx context.Context, s *Service, wanted func(*journal.State) *journal.Entry) ([]*Found, error) {
	sessions, _, err := s.Store.Sessions(ctx)
	if err != nil {
		return nil, Classify(err)
	}
	var found []*Found
	for _, info := range sessions {
		st, err := s.State(ctx, info.Session)
		if err != nil {
			continue // one damaged session hides no other
		}
		if e := wanted(st); e != nil {
			found = append(found, &Found{info.Session, st, e})
		}
	}
	return found, nil
}

// resolveRef finds the checkpoint that a full ref points to.
func (s *Service) resolveRef(ctx context.Context, ref string) (*Found, error) {
	notFound := &Error{
		Kind: KindNotFound, Message: fmt.Sprintf("no such checkpoint: %q", name.Clip(ref, name.Said)),
		Hints: []string{"`git for-each-ref refs/checkpoints` lists the refs"},
	}
	session, leaf, ok := name.SplitCheckpointRef(name.Ref(ref))
	if !ok {
		rest, isTag := strings.CutPrefix(ref, name.TagRoot)
		in, _, below := strings.Cut(rest, "/")
		if !isTag || !below {
			return nil, notFound
		}
		session = name.Session(in)
	}
	st, err := s.State(ctx, session)
	if err != nil {
		return nil, err
	}
	if e := st.Entry(name.ID(leaf)); e != nil && !e.Dead {
		return &Found{session, st, e}, nil
	}
	commit, err := s.Repo.Batch().Resolve(ctx, name.Ref(ref))
	if errors.Is(err, git.ErrMissing) {
		return nil, notFound
	}
	if err != nil {
		return nil, Classify(err)
	}
	for _, c := range st.Checkpoints() {
		if c.Event().Commit == commit && !c.Dead {
			return &Found{session, st, c}, nil
		}
	}
	return nil, notFound
}

// UnknownCheckpointError says that nothing has this name, and which names are near.
func UnknownCheckpointError(session name.Session, st *journal.State, ref string) error {
	e := &Error{Kind: KindNotFound, Message: fmt.Sprintf("no such checkpoint in session %q: %q", session, name.Clip(ref, name.Said))}
	if meant := MeantParent(ref); meant != "" {
		e.Hints = append(e.Hints, "did you mean "+meant+"?")
	} else if strings.Contains(ref, "..") {
		e.Hints = append(e.Hints, "`git checkpoint diff A..B` compares two checkpoints")
	} else if near := nearestCheckpoints(st, ref); len(near) > 0 {
		e.Hints = append(e.Hints, "did you mean "+strings.Join(near, ", ")+"?")
	}
	e.Hints = append(e.Hints, "`git checkpoint list` shows what there is")
	return e
}

// nearestCheckpoints gives the labels or ids that are nearest to what was typed: the
// number of a step, a name without its number, or all of it.
func nearestCheckpoints(st *journal.State, ref string) []string {
	number, err := strconv.Atoi(ref)
	var list []similar
	for _, c := range st.Checkpoints() {
		if !c.Live {
			continue
		}
		if err == nil {
			list = append(list, similar{c.Label, max(number-c.Step, c.Step-number)})
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

// nearest gives up to three names by edit distance.
func nearest(typed string, names []string) []string {
	var list []similar
	for _, n := range names {
		if d, ok := alike(typed, n); ok {
			list = append(list, similar{n, d})
		}
	}
	return best(list)
}

// similar is a name and how far what was typed is from it.
type similar struct {
	name     string
	distance int
}

// alike tells how far a name is from what was typed, and whether anybody could mean it.
func alike(typed, full string) (int, bool) {
	d := name.Distance(typed, full)
	return d, d <= 2+len(typed)/3 || len(typed) > 1 && strings.Contains(full, typed)
}

// best gives the three nearest, each once.
func best(list []similar) []string {
	sort.SliceStable(list, func(i, j int) bool { return list[i].distance < list[j].distance })
	var out []string
	for _, s := range list {
		if len(out) < 3 && !slices.Contains(out, s.name) {
			out = append(out, s.name)
		}
	}
	return out
}

// RefuseEmptyNames refuses an empty name where one has to be given: a variable that is not
// set must not stand for the current checkpoint.
func RefuseEmptyNames(refs ...string) error {
	if slices.Contains(refs, "") {
		return Usage("@ is the current one", "an empty name is no checkpoint")
	}
	return nil
}

// HighestSuffix is the highest k of the live labels cp-NN…+k of a step.
func HighestSuffix(st *journal.State, step int) int {
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
