package journal

import (
	"fmt"
	"slices"
	"strconv"
	"strings"
	"time"

	"git-checkpoint/internal/format/name"
)

// timeLayout is the only form of a time in a trailer: RFC 3339, in UTC, with exactly three digits
// for the fraction of the second.
const timeLayout = "2006-01-02T15:04:05.000Z"

// Message returns e as a commit message: a sentence for people, an empty line, and the data as
// trailers in the order of the format. It ends in a newline. It does not validate e; see Check.
func (e Event) Message() string {
	var b strings.Builder
	b.Grow(512)
	b.WriteString(e.Subject())
	b.WriteString("\n\n")
	put(&b, keyEvent, fmt.Sprintf("%d %s", e.format(), e.Kind))
	put(&b, keyTime, e.Time.UTC().Format(timeLayout))
	for _, t := range textFields(&e) {
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

// Check reports whether e can be written and read back unchanged. A writer calls it before every
// write, because one unreadable event makes the whole journal unreadable. Besides e's members it
// checks Actor, which must be a valid git identity.
func (e Event) Check() error {
	if !isIdentity(e.Actor) {
		return fmt.Errorf("check %s event: %q is not \"Name <email>\"", e.Kind, name.Clip(e.Actor, name.Said))
	}
	// Comparing messages and not events ignores differences without meaning, such as nil and an
	// empty list. Message leaves out extra trailers that mayCarry rejects; only the lengths reveal
	// that.
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

// isIdentity reports whether git can store s as "Name <email>" in a commit header: one line with
// one pair of angle brackets.
func isIdentity(s string) bool {
	return strings.Count(s, "<") == 1 && strings.Count(s, ">") == 1 && strings.HasSuffix(s, ">") &&
		strings.Index(s, "<") < strings.Index(s, ">") && isPlain(s)
}

// Stamp returns the author and committer header of the commit that carries an event: the identity,
// the time in seconds since the epoch, and the zone +0000.
func Stamp(identity string, t time.Time) string {
	return identity + " " + strconv.FormatInt(t.Unix(), 10) + " +0000"
}

// format returns the format number of e. A new event leaves Format at 0, which means Format.
func (e *Event) format() int {
	if e.Format == 0 {
		return Format
	}
	return e.Format
}

// mayCarry reports whether Extra may hold a trailer with this key. In an event that this version
// understands it may not have a known key, because the trailer would be read back as the member. In
// an unknown event it may: there set keeps the first valid value as the member and puts repeated or
// invalid ones into Extra.
func (e *Event) mayCarry(key string) bool {
	return isKey(key) && key != keyEvent && key != keyTime && (!isKnownKey(key) || !e.known())
}

// isKnownKey reports whether key belongs to a member of Event.
func isKnownKey(key string) bool {
	switch key {
	case keyEvent, keyTime, keyStep, keyMilestone, keyDiscard, keyRestore, keyTombstone:
		return true
	}
	texts := textFields(new(Event))
	return slices.ContainsFunc(texts[:], func(t text) bool { return t.key == key })
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
