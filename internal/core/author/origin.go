package author

import (
	"git-checkpoint/internal/format/journal"
	"git-checkpoint/internal/format/record"
)

// TurnOf returns the checkpoint that ends the turn in which an agent's tool made another one, with its record: it has the
// words of the prompt. Only the agent's own conversation counts, since a session may hold the work of several. Without
// such a turn, and for what no tool made, it is the checkpoint itself. read returns nil for a record that cannot be read.
func TurnOf(st *journal.State, e *journal.Entry, read func(*journal.Entry) *record.Record) (*journal.Entry, *record.Record) {
	rec := read(e)
	if rec == nil || e.Event().Trigger != journal.TriggerTool {
		return e, rec
	}
	for i := e.Place + 1; i < st.Len(); i++ {
		if n := st.Standing(i); n.Dead || n.Safety {
			continue
		}
		next := st.At(i)
		ends := next.Event().Trigger == journal.TriggerTurn
		if !ends && next.Event().Trigger != journal.TriggerPrompt {
			continue
		}
		if turn := read(next); turn == nil || !SameConversation(turn, rec) {
			continue
		} else if ends && reaches(st, next, e.Checkpoint) {
			return next, turn
		}
		break
	}
	return e, rec
}

// SameConversation reports whether one conversation with an agent made two checkpoints.
func SameConversation(a, b *record.Record) bool {
	one, is := a.Agent()
	other, too := b.Agent()
	return is && too && one.Name == other.Name && one.Session == other.Session
}
