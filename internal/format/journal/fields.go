package journal

// This file has the table of trailers. Most members of an Event are plain strings that one trailer
// holds; textFields lists these, and the message writer, the parser and the cache all iterate over
// that list. The few trailers with a type of their own (time, step, lists) are handled by key in
// parse.go and message.go.

import (
	"errors"
	"fmt"
	"strings"

	"git-checkpoint/internal/format/name"
)

// Keys of the trailers that are handled by name. Session is also in the table.
const (
	keyEvent     = "Checkpoint-Event"
	keySession   = "Session"
	keyTime      = "Time"
	keyStep      = "Step"
	keyMilestone = "Milestone"
	keyDiscard   = "Discard"
	keyRestore   = "Restore"
	keyTombstone = "Tombstone"
)

// maxStep is the highest step that the format allows.
const maxStep = 999_999_999

// text connects a trailer's key with the member of an event that holds its value.
type text struct {
	key   string
	value *string            // points into the event
	check func(string) error // checks the grammar of a value; nil: any text is valid
}

// textCount is the length of the table.
const textCount = 26

// textFields returns the table for e. Message writes the trailers in this order, and so does the
// cache: a new entry goes to the end, here and in cacheOrder, and needs a new cacheHeader.
func textFields(e *Event) [textCount]text {
	return [textCount]text{
		{keySession, (*string)(&e.Session), checkSession},
		{"Worktree", &e.Worktree, nil},
		{"Worktree-Id", &e.WorktreeID, nil},
		{"Checkpoint", (*string)(&e.Checkpoint), checkID},
		{"Label", &e.Label, nil},
		{"Step-Name", &e.StepName, nil},
		{"Iteration", &e.Iteration, nil},
		{"Trigger", &e.Trigger, nil},
		{"Checkpoint-Status", &e.CheckpointStatus, nil},
		{"Commit", (*string)(&e.Commit), checkOID},
		{"Record", &e.Record, nil},
		{"Previous", (*string)(&e.Previous), checkID},
		{"Rebuilt-From", (*string)(&e.RebuiltFrom), checkID},
		{"From", (*string)(&e.From), checkID},
		{"From-Label", &e.FromLabel, nil},
		{"To", (*string)(&e.To), checkID},
		{"To-Label", &e.ToLabel, nil},
		{"Safety", (*string)(&e.Safety), checkID},
		{"Mode", &e.Mode, nil},
		{"Undoes", (*string)(&e.Undoes), checkOID},
		{"Status", &e.Status, nil},
		{"Workflow", &e.Workflow, nil},
		{"Topic", &e.Topic, nil},
		{"Branch", &e.Branch, nil},
		{"Reason", &e.Reason, nil},
		{"Files", (*string)(&e.Files), checkID},
	}
}

// The checks of the table. They return the error of the parser and drop the value.
var (
	checkID      = checks(name.ParseID)
	checkOID     = checks(name.ParseOID)
	checkSession = checks(name.ParseSession)
)

func checks[T any](parse func(string) (T, error)) func(string) error {
	return func(s string) error {
		_, err := parse(s)
		return err
	}
}

// isKey reports whether s is a valid key of a trailer: letters, digits and hyphens, as in git, not
// beginning with a hyphen and at most 64 characters.
func isKey(s string) bool {
	if s == "" || len(s) > 64 || s[0] == '-' {
		return false
	}
	for i := 0; i < len(s); i++ {
		c := s[i]
		if c != '-' && (c < '0' || c > '9') && (c < 'A' || c > 'Z') && (c < 'a' || c > 'z') {
			return false
		}
	}
	return true
}

// String returns the value of a Tombstone trailer: id, commit and checksum of the record, "-" for
// each that is not known, and then the reason, which may contain spaces.
func (t Tombstone) String() string {
	fields := []string{string(t.ID), string(t.Commit), t.Record}
	for i, f := range fields {
		if f == "" {
			fields[i] = "-"
		}
	}
	if t.Reason != "" {
		fields = append(fields, t.Reason)
	}
	return strings.Join(fields, " ")
}

// parseTombstone is the inverse of Tombstone.String.
func parseTombstone(s string) (Tombstone, error) {
	fields := strings.SplitN(s, " ", 4)
	if len(fields) < 3 {
		return Tombstone{}, fmt.Errorf("not a tombstone: %q", s)
	}
	if err := checkID(fields[0]); err != nil {
		return Tombstone{}, err
	}
	t := Tombstone{ID: name.ID(fields[0])}
	if fields[1] != "-" {
		if err := checkOID(fields[1]); err != nil {
			return Tombstone{}, err
		}
		t.Commit = name.OID(fields[1])
	}
	if fields[2] != "-" {
		t.Record = fields[2]
	}
	if len(fields) == 4 {
		t.Reason = fields[3]
	}
	return t, nil
}

// require returns an error if e lacks a trailer that its kind must have. It is not called for
// unknown events, whose requirements this version does not know.
func (e *Event) require() error {
	missing := ""
	switch e.Kind {
	case KindCreate, KindAdopt, KindRebuild, KindPin, KindUnpin:
		if e.Checkpoint == "" {
			missing = "Checkpoint"
		}
	case KindRollback:
		if e.To == "" {
			missing = "To"
		}
	case KindUndo:
		if e.Undoes == "" {
			missing = "Undoes"
		}
	case KindPrune:
		if len(e.Tombstones) == 0 {
			missing = keyTombstone
		}
	case KindStatus, KindClose:
		if e.Status == "" {
			missing = "Status"
		}
	}
	switch {
	case e.Session == "":
		missing = keySession
	case e.Time.IsZero():
		missing = keyTime
	}
	if missing != "" {
		return errors.New("a " + string(e.Kind) + " event has no " + missing)
	}
	return nil
}
