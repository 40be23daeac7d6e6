package journal

import (
	"errors"
	"fmt"
	"strings"

	"git-checkpoint/internal/name"
)

// Keys of the trailers that are no plain text.
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

const maxStep = 999_999_999

// text is a member of an event that one trailer holds as it is.
type text struct {
	key   string
	value *string
	check func(string) error // nil: any text
}

const textCount = 26

// texts is the one table of the members that are text: messages are written and
// read by it, and the cache keeps the members in this order. New ones go to its end.
func texts(e *Event) [textCount]text {
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

func checkID(s string) error {
	_, err := name.ParseID(s)
	return err
}

func checkOID(s string) error {
	_, err := name.ParseOID(s)
	return err
}

func checkSession(s string) error {
	_, err := name.ParseSession(s)
	return err
}

// isKey holds git's grammar of a trailer's key.
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

// String is the tombstone as a trailer's value: id, commit, checksum of the record
// ("-" where it is not known), and the reason up to the end of the line.
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

// require reports what an event of a known kind cannot do without.
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
