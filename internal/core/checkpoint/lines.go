package checkpoint

// This file names the checkpoints of several lines of a session, and says that there are several: worktrees
// that do not know of each other each go on from their own last checkpoint.

import (
	"cmp"
	"context"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"time"

	"git-checkpoint/internal/format/journal"
	"git-checkpoint/internal/format/name"
	"git-checkpoint/internal/format/record"
	"git-checkpoint/internal/format/render"
	"git-checkpoint/internal/storage/store"
	"git-checkpoint/internal/sys/lazy"
)

// twinPattern matches 2.4b0d, 2.1.4b0d and 3+1.4b0d: a number, and the last four characters of an id.
var twinPattern = lazy.Pattern(`^(\d{1,9}(?:[.+][A-Za-z0-9_-]+)?)\.([0-9a-f]{4})$`)

// byTwin finds a checkpoint by its number and the end of its id. That name means the same everywhere and for
// good, so it also finds one that was left behind.
func byTwin(st *journal.State, ref string) *journal.Entry {
	m := twinPattern().FindStringSubmatch(ref)
	if m == nil {
		return nil
	}
	found := matching(st, func(e *journal.Entry) bool {
		return !e.Safety && strings.HasSuffix(string(e.Checkpoint), "-"+m[2]) && (numberOf(e) == m[1] || e.Milestone && iteration(e) == FirstIteration && numberOf(e)+"."+FirstIteration == m[1])
	})
	if len(found) != 1 {
		return nil
	}
	return found[0]
}

// numberOf returns the number of a checkpoint, whether its step has a name or not.
func numberOf(e *journal.Entry) string {
	return record.Number(e.Step, e.Milestone, e.Event().Iteration, e.Label)
}

// twinName returns the number of a checkpoint with the end of its id, or "" if that does not lead to it alone.
func twinName(st *journal.State, e *journal.Entry) string {
	id := string(e.Checkpoint)
	twin := numberOf(e) + "." + id[strings.LastIndexByte(id, '-')+1:]
	if found, err := byName(st, twin); err != nil || len(found) != 1 || found[0].Checkpoint != e.Checkpoint {
		return ""
	}
	return twin
}

// preferHere returns the one of several on the line here, or all of them.
func preferHere(st *journal.State, all []*journal.Entry) []*journal.Entry {
	here := st.CurrentLine()
	on := slices.DeleteFunc(slices.Clone(all), func(e *journal.Entry) bool { return !here[e.Place] })
	if len(on) == 1 {
		return on
	}
	return all
}

// Head is the newest checkpoint of a line of a session.
type Head struct {
	ID       name.ID `json:"id"`
	Number   string  `json:"number"`
	Steps    int     `json:"steps"` // that it has beside the line here; of that line all
	By       string  `json:"by"`
	Worktree string  `json:"worktree"`
	Time     Time    `json:"time"`
	Here     bool    `json:"here"`

	Mention Mention `json:"-"`
}

// HeadsOf returns the heads of a session that has several, that of the line here first and then the newest.
// It is nil for a session with one line.
func HeadsOf(ctx context.Context, s *store.Store, st *journal.State) []Head {
	if len(st.Heads()) < 2 {
		return nil
	}
	return heads(ctx, s, st, st.OnLine(st.Entry(st.Place)))
}

// heads is HeadsOf for a line that is marked by place.
func heads(ctx context.Context, s *store.Store, st *journal.State, here []bool) (heads []Head) {
	for _, e := range slices.Backward(st.Heads()) {
		h := Head{
			ID: e.Checkpoint, Number: NameTo(st, e), By: e.Event().Writer(), Worktree: e.Event().Worktree, Time: Time{Time: e.Event().Time},
			Here: here[e.Place], Mention: Mentioned(ctx, s, st, e),
		}
		for i, on := range st.OnLine(e) {
			if c := st.Standing(i); on && c.Live && c.Milestone && (h.Here || !here[i]) {
				h.Steps++
			}
		}
		if h.Here {
			heads = slices.Insert(heads, 0, h)
		} else {
			heads = append(heads, h)
		}
	}
	return heads
}

// HeadsBeside returns the heads of other lines that have steps which the line of a checkpoint has not.
func HeadsBeside(ctx context.Context, s *store.Store, st *journal.State, e *journal.Entry) []Head {
	return slices.DeleteFunc(heads(ctx, s, st, st.OnLine(e)), func(h Head) bool { return h.Here || h.Steps == 0 || st.OnLine(st.Entry(h.ID))[e.Place] })
}

// LinesError says that a session went on in two places, of which one has to be named.
type LinesError struct {
	told  *Error
	Heads []Head
}

func (e *LinesError) Error() string { return e.told.Error() }

// Unwrap returns the error with its kind and hints.
func (e *LinesError) Unwrap() error { return e.told }

// RefuseLines returns a LinesError where the worktree stands nowhere in a session with several heads. command is what takes
// the name of one, with %s for it.
func RefuseLines(ctx context.Context, s *store.Store, st *journal.State, command string) error {
	if st.Place != "" || len(st.Heads()) < 2 {
		return nil
	}
	e := &LinesError{Failure(KindRefused, "", "%s; name one", WentOn(ctx, s, st)), HeadsOf(ctx, s, st)}
	for _, h := range e.Heads[:min(len(e.Heads), toldHeads)] {
		e.told.Hints = append(e.told.Hints, fmt.Sprintf("`git checkpoint "+command+"`: %s", h.Number, h.Description()))
	}
	return e
}

// LineOf returns the newest checkpoint of the line that a checkpoint is on: itself if several lines have it.
func LineOf(st *journal.State, e *journal.Entry) *journal.Entry {
	var found *journal.Entry
	for _, head := range st.Heads() {
		if !st.OnLine(head)[e.Place] {
			continue
		}
		if found != nil {
			return e
		}
		found = head
	}
	return cmp.Or(found, e)
}

// Whose says who made a head, and where if that is no main worktree.
func (h Head) Whose() string {
	if h.Worktree == "" || h.Worktree == "main" {
		return h.By
	}
	return h.By + ", " + h.Worktree
}

// Description names the head with the number of its steps and who made it: `2.4b0d "B2" (3 steps, Ben)`.
func (h Head) Description() string {
	return h.Mention.String() + " (" + render.Count(h.Steps, "step", "steps") + ", " + h.Whose() + ")"
}

// toldHeads is how many heads a sentence names.
const toldHeads = 3

// WentOn says that a session went on in several places, or "" if it did not.
func WentOn(ctx context.Context, s *store.Store, st *journal.State) string {
	heads := HeadsOf(ctx, s, st)
	if heads == nil {
		return ""
	}
	count := cmp.Or(map[int]string{2: "two", 3: "three"}[len(heads)], "many")
	said := make([]string, 0, toldHeads+1)
	for i, h := range heads {
		if i == toldHeads {
			said = append(said, "…")
			break
		}
		where := " here"
		if !h.Here {
			where = " (" + h.Whose() + ", " + h.Time.Format("2006-01-02 15:04") + ")"
		}
		said = append(said, h.Mention.String()+where)
	}
	return string(st.Session) + " went on in " + count + " places: " + strings.Join(said, ", ")
}

// RecentHeads returns the heads that a person is told of without asking: those of an open session, and of other
// lines than the one here those of the last 30 days. It is nil if there is no other line.
func RecentHeads(ctx context.Context, s *store.Store, st *journal.State) []Head {
	const told = 30 * 24 * time.Hour
	if IsClosed(st.Status) {
		return nil
	}
	heads := slices.DeleteFunc(HeadsOf(ctx, s, st), func(h Head) bool { return !h.Here && s.Now().Sub(h.Time.Time) > told })
	if len(heads) < 2 {
		return nil
	}
	return heads
}

// StartsAtHead reports whether the files of a checkpoint count from HEAD, and not from the one before. Only the first one that a
// worktree made in a session may, so seen, by worktree, saves reading the others.
func StartsAtHead(ctx context.Context, s *store.Store, e *journal.Entry, seen map[string]bool) bool {
	id := e.Event().WorktreeID
	if e.Safety || id == "" || seen[id] {
		return false
	}
	if seen[id] = true; e.Event().Previous == "" {
		return false
	}
	rec, err := ReadRecord(ctx, s, e)
	return err == nil && rec.IsOnHead()
}

// twins returns the live checkpoints of a step, or the safety checkpoints if e is one, for which same is true: the one
// that a user named, and those of other clones that took the same number before they knew of it. A checkpoint that another one was
// rebuilt from is not among them.
func twins(st *journal.State, e *journal.Entry, same func(*journal.Entry) bool) (all []*journal.Entry) {
	for i, c := range st.Standings() {
		if c.Step != e.Step || c.Milestone != e.Milestone || !(c.Live || e.Safety && c.Safety && !c.Dead) {
			continue
		}
		if t := st.At(i); same(t) {
			all = append(all, t)
		}
	}
	return slices.DeleteFunc(all, func(t *journal.Entry) bool {
		return slices.ContainsFunc(all, func(r *journal.Entry) bool { return r.Event().RebuiltFrom == t.Checkpoint })
	})
}

// numbered returns the live checkpoints that have the number of e.
func numbered(st *journal.State, e *journal.Entry) []*journal.Entry {
	if !e.Milestone {
		return labelled(st, e)
	}
	return twins(st, e, func(t *journal.Entry) bool { return iteration(t) == iteration(e) })
}

// labelled returns the live checkpoints that have the label of e.
func labelled(st *journal.State, e *journal.Entry) []*journal.Entry {
	return twins(st, e, func(t *journal.Entry) bool { return t.Label == e.Label })
}

// iteration returns that of a milestone. The first one of a step has none, or FirstIteration.
func iteration(e *journal.Entry) string {
	if own := e.Event().Iteration; own != "" {
		return own
	}
	return FirstIteration
}

// byNumber is numberedHere, unless the number is kept.
func byNumber(st *journal.State, ref string) *journal.Entry {
	return unlessKept(st, numberedHere(st, ref))
}

// byLabel finds the newest checkpoint with a label, unless its number is kept.
func byLabel(st *journal.State, ref string) *journal.Entry { return unlessKept(st, st.Labelled(ref)) }

// unlessKept returns e, but nil where its number stays with what this worktree made and left behind, as it was shown: what
// came from another line since has it with the end of its id.
func unlessKept(st *journal.State, e *journal.Entry) *journal.Entry {
	if e == nil || st.Place == "" || st.IsOwn(e) {
		return e
	}
	for i, c := range st.Standings() {
		if c.Discarded && c.Step == e.Step && st.IsOwn(st.At(i)) && numberOf(st.At(i)) == numberOf(e) && !st.CurrentLine()[e.Place] {
			return nil
		}
	}
	return e
}

// numberedHere finds a step's newest live milestone by "3" or "6.2", and a checkpoint that is not a
// milestone by "3+1". One on the line here comes before those of other lines.
func numberedHere(st *journal.State, ref string) *journal.Entry {
	m := numberPattern().FindStringSubmatch(ref)
	if m == nil {
		return nil
	}
	step, err := strconv.Atoi(m[1])
	if err != nil {
		return nil // it may still be a prefix
	}
	var here []bool // nil: there is one line only
	if st.Place != "" && len(st.Heads()) > 1 {
		here = st.CurrentLine()
	}
	// If "6.1" was asked for and no milestone of step 6 has iteration 1, the first one was made
	// without an iteration.
	var first, elsewhere *journal.Entry
	for i, c := range st.Backward() {
		if c.Step != step || !(c.Live || m[3] != "" && c.Safety && !c.Dead) || !isNumbered(st.At(i), m) {
			continue
		}
		e := st.At(i)
		exact := m[3] != "" || m[2] == "" || e.Event().Iteration == m[2]
		switch {
		case here != nil && !here[i]:
			if elsewhere == nil {
				elsewhere = e
			}
		case exact:
			return e
		case first == nil:
			first = e
		}
	}
	return cmp.Or(first, elsewhere)
}
