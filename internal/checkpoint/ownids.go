package checkpoint

import (
	"context"
	"fmt"
	"regexp"
	"sync"

	"git-checkpoint/internal/journal"
	"git-checkpoint/internal/name"
)

// byOwnID takes what the system that a document comes from calls the checkpoint; of a
// document that was updated in place, the newest.
func byOwnID(st *journal.State, ref string) ([]*journal.Entry, error) {
	for i, c := range st.Backward() {
		if e := st.At(i); !c.Dead && (Trailer(e.Event(), TrailerKey) == ref || Trailer(e.Event(), TrailerDocument) == ref) {
			return one(e), nil
		}
	}
	return nil, nil
}

// ownElsewhere finds what the system of a document calls a checkpoint of another session. A
// label is none of these: many sessions have the same.
func ownElsewhere(ctx context.Context, s *Service, session, ref string) (*Found, error) {
	if session != "" {
		return nil, nil // that one was meant
	}
	found, err := inSessions(ctx, s, func(st *journal.State) *journal.Entry {
		own, err := byOwnID(st, ref)
		if err != nil || len(own) == 0 || own[0].Label == ref {
			return nil
		}
		return own[0]
	})
	if err != nil || len(found) == 0 {
		return nil, err
	}
	if len(found) == 1 {
		return found[0], nil
	}
	e := &Error{Kind: KindUsage, Message: fmt.Sprintf("%q is ambiguous: %d sessions have a checkpoint with this id", name.Clip(ref, name.Said), len(found))}
	for _, f := range found {
		e.Hints = append(e.Hints, string(f.Session)+":"+f.Entry.Label)
	}
	return nil, e
}

// stepWordPattern is the number of a step with the word that other systems put before it.
var stepWordPattern = sync.OnceValue(func() *regexp.Regexp { return regexp.MustCompile(`^(?:checkpoint|step|phase)[-_]?(\d{1,9})$`) })

func byStepWord(st *journal.State, ref string) []*journal.Entry {
	m := stepWordPattern().FindStringSubmatch(ref)
	if m == nil {
		return nil
	}
	entries, err := byNumber(st, m[1])
	if err != nil {
		return nil
	}
	return entries
}
