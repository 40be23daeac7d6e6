package hook

import (
	"context"
	"iter"
	"slices"

	"git-checkpoint/internal/core/checkpoint"
	"git-checkpoint/internal/format/journal"
	"git-checkpoint/internal/format/name"
	"git-checkpoint/internal/format/record"
	"git-checkpoint/internal/sys/gather"
	"git-checkpoint/internal/verb/continuation"
	"git-checkpoint/internal/verb/inspect"
)

// steps yields the newest steps of a session, the last fifty, with the records that can be read.
func (h *handler) steps(ctx context.Context, st *journal.State) iter.Seq2[*journal.Entry, *record.Record] {
	const most = 50
	all := gather.Those(st.Checkpoints(), func(e *journal.Entry) bool { return e.Live && e.Milestone })
	return func(yield func(*journal.Entry, *record.Record) bool) {
		for _, e := range slices.Backward(all[max(0, len(all)-most):]) {
			if rec, err := checkpoint.ReadRecord(ctx, h.s.Store, e); err == nil && !yield(e, rec) {
				return
			}
		}
	}
}

// origin returns the step at which the session of a conversation begins if the conversation
// continues another one: the newest step of the other session that has the files as they are now.
// It is nil if there is none.
func (h *handler) origin(ctx context.Context) *checkpoint.Found {
	const sourceFork = "fork" // the source of a conversation that begins as a copy of another one
	session := h.c.Origin
	if session == "" && h.e.Source == sourceFork {
		session = h.copied()
	}
	if session == "" {
		return nil
	}
	st, err := checkpoint.State(ctx, h.s.Store, session)
	if err != nil || st.CurrentEntry() == nil {
		return nil
	}
	now := name.OID("")
	for e, rec := range h.steps(ctx, st) {
		if rec.Snapshot.Tree == "" {
			continue
		}
		if now == "" {
			here, err := inspect.Capture(ctx, h.s, rec)
			if err != nil {
				return nil
			}
			now = here.Tree
		}
		if now == rec.Snapshot.Tree {
			return &checkpoint.Found{Session: session, State: st, Entry: e}
		}
	}
	return nil
}

// copied returns the session of the conversation that this one is a copy of, as its transcript says.
func (h *handler) copied() name.Session {
	f, err := continuation.Open(h.e.Transcript)
	if err != nil {
		return ""
	}
	defer f.Close() //nolint:errcheck // it was only read
	parent := h.def.Chat.ParentIn(f, h.e.Session)
	if parent == "" {
		return ""
	}
	return h.memory.read(h.file(parent)).Session
}
