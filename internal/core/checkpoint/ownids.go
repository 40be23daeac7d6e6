package checkpoint

import (
	"cmp"
	"context"
	"regexp"
	"strconv"
	"strings"
	"sync"

	"git-checkpoint/internal/format/journal"
	"git-checkpoint/internal/format/name"
	"git-checkpoint/internal/storage/store"
	"git-checkpoint/internal/sys/lazy"
)

// byOwnID finds a checkpoint by the id that another system gave it, the system that its document or
// import comes from. When a document was updated in place, several checkpoints have the id, and the
// newest one is meant.
func byOwnID(st *journal.State, ref string) *journal.Entry {
	for i, c := range st.Backward() {
		if e := st.At(i); !c.Dead && (e.Event().Trailer(TrailerKey) == ref || e.Event().Trailer(TrailerDocument) == ref) {
			return e
		}
	}
	return nil
}

// writtenIDs match the ids that an export gives to checkpoints without one of their own, in the forms
// of go-team, ultra-create and crunch. The groups are step, time, number among equal ones; for crunch
// the time is a day, and the last digits of the checkpoint's id replace the step.
var writtenIDs = sync.OnceValue(func() []*regexp.Regexp {
	return []*regexp.Regexp{
		regexp.MustCompile(`^cp-(?P<step>\d{1,9})-(?P<time>\d{8}T\d{6})Z(?:-(?P<nth>\d{1,6}))?$`),
		regexp.MustCompile(`^cp_(?P<time>\d{8}_\d{6})_phase(?P<step>\d{1,9})(?:_(?P<nth>\d{1,6}))?$`),
		regexp.MustCompile(`^CP-[a-z]+-(?P<time>\d{8})-(?P<tail>[0-9a-f]{4})(?:-(?P<nth>\d{1,6}))?$`),
	}
})

// byWrittenID finds a checkpoint by the id that an export wrote for it. Equal ids have numbers in the
// order of the journal.
func byWrittenID(st *journal.State, ref string) *journal.Entry {
	for _, form := range writtenIDs() {
		m := form.FindStringSubmatch(ref)
		if m == nil {
			continue
		}
		part := func(name string) string {
			if i := form.SubexpIndex(name); i >= 0 {
				return m[i]
			}
			return ""
		}
		digits := strings.NewReplacer("T", "", "_", "").Replace(part("time"))
		nth, _ := strconv.Atoi(cmp.Or(part("nth"), "1")) //nolint:errcheck // the pattern bounds it
		for _, e := range st.Checkpoints() {
			at := e.Event().Time.UTC().Format("20060102150405")
			if e.Dead || e.Safety || !strings.HasPrefix(at, digits) || !strings.HasSuffix(string(e.Checkpoint), part("tail")) ||
				part("step") != "" && part("step") != strconv.Itoa(e.Step) {
				continue
			}
			if nth--; nth == 0 {
				return e
			}
		}
	}
	return nil
}

// byOthersID finds what byOwnID finds in other sessions, and then what byWrittenID finds here or there:
// an id that another system gave comes before one that an export made. found is nil if there is no session here.
func (s *Rules) byOthersID(ctx context.Context, found *Found, session, ref string) (*Found, error) {
	got, err := ownElsewhere(ctx, s.Store, session, ref, byOwnID)
	if got != nil || err != nil {
		return got, err
	}
	rule := func(st *journal.State, ref string) *journal.Entry {
		if s.isDocument(ctx, st, ref) {
			return st.CurrentEntry()
		}
		return byWrittenID(st, ref)
	}
	if found != nil {
		if found.Entry = rule(found.State, ref); found.Entry != nil {
			return found, nil
		}
	}
	return ownElsewhere(ctx, s.Store, session, ref, rule)
}

// documentTime matches the end of an id that an export makes for the one document of a session.
var documentTime = lazy.Pattern(`_\d{8}_\d{6}$`)

// isDocument reports whether ref names the document of a session, which an export makes of the current
// checkpoint: by the session's name, or by an id that ends in the time of the first checkpoint.
func (s *Rules) isDocument(ctx context.Context, st *journal.State, ref string) bool {
	def, err := s.DefinitionFor(ctx, st)
	if err != nil || !def.NamesDocument(ref) {
		return false
	}
	return ref == string(st.Session) || documentTime().MatchString(ref) && len(st.Checkpoints()) > 0 &&
		strings.HasSuffix(ref, st.Checkpoints()[0].Event().Time.UTC().Format("_20060102_150405"))
}

// ownElsewhere finds such an id by a rule in other sessions, if the user did not choose one. An id that
// equals the checkpoint's own label does not count, because many sessions have the same labels.
func ownElsewhere(ctx context.Context, s *store.Store, session, ref string, rule func(*journal.State, string) *journal.Entry) (*Found, error) {
	if session != "" {
		return nil, nil // the user chose a session; do not look in others
	}
	found, err := inSessions(ctx, s, func(st *journal.State) *journal.Entry {
		if own := rule(st, ref); own != nil && own.Label != ref {
			return own
		}
		return nil
	})
	if err != nil || len(found) == 0 {
		return nil, err
	}
	if len(found) == 1 {
		return found[0], nil
	}
	e := Failure(KindUsage, "", "%q is ambiguous: %d sessions have a checkpoint with this id", name.Clip(ref, name.Said), len(found))
	for _, f := range found {
		e.Hints = append(e.Hints, string(f.Session)+":"+CalledBy(f.Entry))
	}
	return nil, e
}

// stepWordPattern matches a step's number after a word that other systems use: checkpoint-3,
// step_3, phase3.
var stepWordPattern = lazy.Pattern(`^(?:checkpoint|step|phase)[-_]?(\d{1,9})$`)

// byStepWord finds what byNumber finds for the number alone.
func byStepWord(st *journal.State, ref string) *journal.Entry {
	m := stepWordPattern().FindStringSubmatch(ref)
	if m == nil {
		return nil
	}
	return byNumber(st, m[1])
}
