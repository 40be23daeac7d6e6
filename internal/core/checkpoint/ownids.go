package checkpoint

import (
	"context"
	"regexp"
	"sync"

	"git-checkpoint/internal/format/journal"
	"git-checkpoint/internal/format/name"
)

// byOwnID finds a checkpoint by the id that another system gave it, the system that its document or
// import comes from. When a document was updated in place, several checkpoints have the id, and the
// newest one is meant.
func byOwnID(st *journal.State, ref string) *journal.Entry {
	for i, c := range st.Backward() {
		if e := st.At(i); !c.Dead && (Trailer(e.Event(), TrailerKey) == ref || Trailer(e.Event(), TrailerDocument) == ref) {
			return e
		}
	}
	return nil
}

// ownElsewhere finds such an id in other sessions, if the user did not choose one. An id that
// equals the checkpoint's own label does not count, because many sessions have the same labels.
func ownElsewhere(ctx context.Context, s *Service, session, ref string) (*Found, error) {
	if session != "" {
		return nil, nil // the user chose a session; do not look in others
	}
	found, err := inSessions(ctx, s, func(st *journal.State) *journal.Entry {
		if own := byOwnID(st, ref); own != nil && own.Label != ref {
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
		e.Hints = append(e.Hints, string(f.Session)+":"+f.Entry.Label)
	}
	return nil, e
}

// stepWordPattern matches a step's number after a word that other systems use: checkpoint-3,
// step_3, phase3.
var stepWordPattern = sync.OnceValue(func() *regexp.Regexp { return regexp.MustCompile(`^(?:checkpoint|step|phase)[-_]?(\d{1,9})$`) })

// byStepWord finds what byNumber finds for the number alone.
func byStepWord(st *journal.State, ref string) *journal.Entry {
	m := stepWordPattern().FindStringSubmatch(ref)
	if m == nil {
		return nil
	}
	return byNumber(st, m[1])
}
