package journal

// This file writes the first line of an event's message. It is for people who read the journal with
// git log; no code parses it, so its wording may change.

import (
	"cmp"
	"fmt"
	"strings"
	"unicode/utf8"
)

// maxSubject limits the line, in runes. The trailers hold the full values.
const maxSubject = 160

// Subject returns the first line of e's message, for example "create cp-02-design". It prefers
// labels to ids.
func (e Event) Subject() string {
	s := string(e.Kind)
	switch e.Kind {
	case KindCreate, KindAdopt, KindResume, KindPin, KindUnpin:
		s = join(s, cmp.Or(e.Label, string(e.Checkpoint)))
		if e.Trigger == TriggerSafety {
			s += " (safety)"
		}
	case KindRebuild:
		s = join(s, cmp.Or(e.Label, string(e.Checkpoint)))
		if e.RebuiltFrom != "" {
			s += " from " + string(e.RebuiltFrom)
		}
	case KindRollback, KindUndo:
		if e.Stays() {
			s += " of some files"
			if e.Files != "" {
				s += " to " + string(e.Files)
			}
			break
		}
		from := cmp.Or(e.FromLabel, string(e.From))
		if from == "" && e.To != "" { // the worktree stood nowhere
			from = "to"
		} else {
			from = cmp.Or(from, "none") + " →"
		}
		s = join(s, from) + " " + cmp.Or(e.ToLabel, string(e.To), "none")
	case KindStart:
		s = join(s, string(e.Session))
		if e.Workflow != "" {
			s += " (" + e.Workflow + ")"
		}
		if e.Topic != "" {
			s += ": " + e.Topic
		}
	case KindStatus:
		s = join(s, e.Status)
	case KindClose, KindArchive:
		s = join(join(s, string(e.Session)), e.Status)
	case KindSkip:
		s = join(fmt.Sprintf("%s step %d", s, e.Step), e.StepName)
	case KindPrune:
		s = join(s, pruned(e.Tombstones))
	default:
		s = join(s, cmp.Or(e.Label, string(e.Checkpoint)))
	}
	if e.Reason != "" {
		s += ": " + e.Reason
	}
	return sentence(s)
}

// pruned names the first checkpoint of a prune and counts the rest.
func pruned(ts []Tombstone) string {
	switch len(ts) {
	case 0:
		return ""
	case 1:
		return string(ts[0].ID)
	}
	return fmt.Sprintf("%s and %d more", ts[0].ID, len(ts)-1)
}

func join(a, b string) string {
	if b == "" {
		return a
	}
	return a + " " + b
}

// sentence turns s into one printable line of at most maxSubject runes: unsafe characters become
// spaces, and runs of spaces become a single one. A longer line is cut and ends in an ellipsis.
func sentence(s string) string {
	s = strings.Map(func(r rune) rune {
		if isUnsafe(r, utf8.UTFMax) {
			return ' '
		}
		return r
	}, strings.ToValidUTF8(s, " "))
	line := []rune(strings.Join(strings.FieldsFunc(s, func(r rune) bool { return r == ' ' }), " "))
	cut := maxSubject
	if len(line) > cut && line[cut-1] == ' ' {
		cut++ // a space counts with what follows
	}
	if len(line) <= cut {
		return string(line)
	}
	return string(line[:cut]) + "…"
}
