package journal

import (
	"fmt"
	"strconv"
	"strings"
	"time"

	"git-checkpoint/internal/name"
)

// timeLayout is how a trailer has a time: RFC 3339, UTC, always three digits of a
// second.
const timeLayout = "2006-01-02T15:04:05.000Z"

// Message is e as a commit message: a sentence, an empty line, and the data as
// trailers. It ends in a newline.
func (e Event) Message() string {
	var b strings.Builder
	b.Grow(512)
	b.WriteString(e.Subject())
	b.WriteString("\n\n")
	put(&b, keyEvent, fmt.Sprintf("%d %s", e.format(), e.Kind))
	put(&b, keyTime, e.Time.UTC().Format(timeLayout))
	for _, t := range texts(&e) {
		if *t.value != "" {
			put(&b, t.key, *t.value)
		}
	}
	if e.Step != 0 {
		put(&b, keyStep, strconv.Itoa(e.Step))
	}
	if e.Milestone {
		put(&b, keyMilestone, "true")
	}
	putIDs(&b, keyDiscard, e.Discard)
	putIDs(&b, keyRestore, e.Restore)
	for _, t := range e.Tombstones {
		put(&b, keyTombstone, t.String())
	}
	for _, t := range e.Extra {
		if e.mayCarry(t.Key) {
			put(&b, t.Key, t.Value)
		}
	}
	return b.String()
}

// Check reports whether e can be read back exactly as it is. A writer calls it
// before it writes, because a journal with one unreadable event is unreadable.
func (e Event) Check() error {
	if !isIdentity(e.Actor) {
		return fmt.Errorf("check %s event: %q is not \"Name <email>\"", e.Kind, clip(e.Actor))
	}
	message := e.Message()
	back, err := Parse(e.OID, e.Parents, Stamp(e.Actor, e.Time), message)
	if err != nil {
		return fmt.Errorf("check %s event: %w", e.Kind, err)
	}
	if message != back.Message() || len(e.Extra) != len(back.Extra) {
		return fmt.Errorf("check %s event: it does not read back as it is", e.Kind)
	}
	return nil
}

// isIdentity holds what git can keep in a header: one line, one pair of brackets.
func isIdentity(s string) bool {
	return strings.Count(s, "<") == 1 && strings.Count(s, ">") == 1 && strings.HasSuffix(s, ">") &&
		strings.Index(s, "<") < strings.Index(s, ">") && isPlain(s)
}

// Stamp is the author and committer of the commit that carries an event: an
// identity, the event's time to the second, and UTC.
func Stamp(identity string, t time.Time) string {
	return identity + " " + strconv.FormatInt(t.Unix(), 10) + " +0000"
}

func (e *Event) format() int {
	if e.Format == 0 {
		return Format
	}
	return e.Format
}

// mayCarry reports whether a trailer of that key may stand among the extra ones. A
// key that this version knows may not, else it could fill a member that is empty;
// in an event that this version only keeps, it may, because there the first trailer
// of a key was read as the member and the others are here.
func (e *Event) mayCarry(key string) bool {
	return isKey(key) && key != keyEvent && key != keyTime && (!isKnownKey(key) || !e.known())
}

func isKnownKey(key string) bool {
	switch key {
	case keyEvent, keyTime, keyStep, keyMilestone, keyDiscard, keyRestore, keyTombstone:
		return true
	}
	var e Event
	for _, t := range texts(&e) {
		if t.key == key {
			return true
		}
	}
	return false
}

func putIDs(b *strings.Builder, key string, ids []name.ID) {
	for _, id := range ids {
		put(b, key, string(id))
	}
}

func put(b *strings.Builder, key, value string) {
	b.WriteString(key)
	b.WriteString(": ")
	b.WriteString(quote(value))
	b.WriteByte('\n')
}
