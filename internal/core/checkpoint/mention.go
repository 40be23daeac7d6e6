package checkpoint

import (
	"cmp"
	"context"
	"fmt"
	"maps"
	"slices"
	"strconv"
	"strings"
	"time"

	"git-checkpoint/internal/format/journal"
	"git-checkpoint/internal/format/name"
	"git-checkpoint/internal/format/record"
	"git-checkpoint/internal/storage/store"
)

// Mention is how people see a checkpoint everywhere: what they type for it, and its message.
type Mention struct {
	Name    string // 3, 6.2 or 3+1; the label where the step has a name
	Message string // its first line; empty: there is none
	Files   string // describes a checkpoint without a message: "a, b and 3 more"
	Note    string // follows it, such as in which worktree it was made
	At      time.Time
}

// Mentioned is MentionOf for a checkpoint of a session, with the name that leads to it there. For
// one that is pruned or damaged, only the name is known.
func Mentioned(ctx context.Context, s *store.Store, st *journal.State, e *journal.Entry) Mention {
	if e.Dead {
		return Mention{Name: CalledBy(e), At: e.Event().Time}
	}
	m := Mention{At: e.Event().Time}
	if rec, err := ReadRecord(ctx, s, e); err == nil {
		m = MentionOf(rec)
	}
	m.Name = NameTo(st, e)
	return m
}

// Said is how a sentence mentions a checkpoint.
func Said(ctx context.Context, s *store.Store, st *journal.State, e *journal.Entry) string {
	return Mentioned(ctx, s, st, e).String()
}

// LabelledOf returns a checkpoint of the journal for an answer, as it is Mentioned.
func LabelledOf(ctx context.Context, s *store.Store, st *journal.State, e *journal.Entry) Labelled {
	return Labelled{e.Checkpoint, e.Label, Mentioned(ctx, s, st, e)}
}

// LabelledBy is LabelledOf for a record that was read.
func LabelledBy(rec *record.Record) Labelled {
	return Labelled{ID: rec.ID, Label: rec.Label, Mention: MentionOf(rec)}
}

// MentionOf returns how the checkpoint of a record is mentioned.
func MentionOf(r *record.Record) Mention {
	m := Mention{Name: CalledOf(r), At: r.CreatedAt}
	m.Message, _, _ = strings.Cut(r.Message, "\n")
	if m.Message == "" {
		m.Files = r.Files.Named()
	}
	if head, joins := record.Joins.Of(r.Extra); joins {
		step, _ := head.Step()
		m.Note = fmt.Sprintf(" (from %d.%s)", step, string(head)[strings.LastIndexByte(string(head), '-')+1:])
	}
	return m
}

// Mention returns how the checkpoint that was shown is mentioned.
func (d *Detail) Mention() Mention {
	m := MentionOf(d.Record)
	m.Name = cmp.Or(d.Called, m.Name)
	return m
}

// String returns the name with the message in quotes, or with what changed in parentheses.
func (m Mention) String() string {
	const mentionWidth = 60 // how many characters of a message are repeated where a checkpoint is mentioned
	switch {
	case m.Message != "":
		return m.Name + ` "` + name.Clip(m.Message, mentionWidth) + `"` + m.Note
	case m.Files != "":
		return m.Name + " (" + m.Files + ")" + m.Note
	}
	return m.Name + m.Note
}

// Description returns the message, or in parentheses what changed.
func (m Mention) Description() string {
	if m.Message == "" && m.Files != "" {
		return "(" + m.Files + ")"
	}
	return m.Message
}

// CalledOf returns what people type for a checkpoint: its number, or its label where the step has a
// name.
func CalledOf(r *record.Record) string {
	if r.StepName != "" {
		return r.Label
	}
	return record.Number(r.Step, r.Milestone, r.Iteration, r.Label)
}

// CalledBy is CalledOf for an entry of the journal, whose record need not be read.
func CalledBy(e *journal.Entry) string {
	if e.Event().StepName != "" {
		return e.Label
	}
	return record.Number(e.Step, e.Milestone, e.Event().Iteration, e.Label)
}

// NameTo returns a name that leads to a checkpoint of a session and to no other one: the result of
// CalledBy, else its number with an iteration, its label, its number with the end of its id, the beginning
// of its commit's id, or its id. A discarded checkpoint has a number only at a terminal, and only if no live one has that
// number.
func NameTo(st *journal.State, e *journal.Entry) string { return nameTo(st, e, CalledBy(e)) }

// NumberTo is NameTo that prefers the number of a step with a name to its label.
func NumberTo(st *journal.State, e *journal.Entry) string { return nameTo(st, e, numberOf(e)) }

func nameTo(st *journal.State, e *journal.Entry, preferred string) string {
	step := strconv.Itoa(e.Step)
	for _, ref := range []string{preferred, step + "." + iteration(e), e.Label} {
		found, err := byName(st, ref)
		if err == nil && len(found) == 0 && e.Discarded {
			found = byDiscarded(st, ref)
		}
		if err == nil && len(found) == 1 && found[0].Checkpoint == e.Checkpoint {
			return ref
		}
	}
	if twin := twinName(st, e); twin != "" {
		return twin
	}
	const enough = 8 // digits that are unique within a session
	if commit := string(e.Event().Commit); len(commit) > enough && len(byCommit(st, commit[:enough])) == 1 {
		return commit[:enough]
	}
	return string(e.Checkpoint)
}

// numbersOf says which steps of a session can be named by a number, or "" without any.
func numbersOf(st *journal.State) string {
	has := map[int]bool{}
	for i, c := range st.Standings() {
		has[c.Step] = has[c.Step] || c.Live && !strings.Contains(numberOf(st.At(i)), "+")
	}
	var ranges []string
	for _, n := range slices.Sorted(maps.Keys(has)) {
		if !has[n] || has[n-1] {
			continue
		}
		end := n
		for has[end+1] {
			end++
		}
		if ranges = append(ranges, strconv.Itoa(n)); end > n {
			ranges[len(ranges)-1] += " to " + strconv.Itoa(end)
		}
	}
	const told = 4
	if n := len(ranges); n > told {
		ranges = append(ranges[:told-1:told-1], "… "+ranges[n-1])
	}
	return strings.Join(ranges, ", ")
}
