package journal

// This file reads an event from a commit message. The parser is strict, because all clones must
// read the same event: an unknown spelling of a time or number, a repeated trailer or a missing one
// is an error. Only events of an unknown kind or a newer format are read leniently, and kept.

import (
	"errors"
	"fmt"
	"strconv"
	"strings"
	"time"

	"git-checkpoint/internal/format/name"
)

// Limits of one message, in bytes and in trailers. They leave room for a rollback that lists
// 100,000 checkpoints and for a prune of 28,000.
const (
	MaxMessage  = 4 << 20
	maxTrailers = 100_000
)

// Parse reads the event in a commit's message. author is the raw value of the commit's author
// header, including the date. An event of an unknown kind or a newer format is not an error: known
// trailers are read as far as they are valid and all others go to Extra.
func Parse(oid name.OID, parents []name.OID, author, message string) (Event, error) {
	e := Event{OID: oid, Parents: parents}
	if err := e.read(author, message); err != nil {
		return Event{}, fmt.Errorf("parse event %q: %w", oid, err)
	}
	return e, nil
}

// read does the work of Parse, without naming the event in errors.
func (e *Event) read(author, message string) error {
	const kindMerge Kind = "merge" // marks a commit that joins two journals. Such a commit carries no event
	header, rest, err := trailers(message)
	if err != nil {
		return err
	}
	if e.Format, e.Kind, err = parseHeader(header); err != nil {
		return err
	}
	if e.Kind == kindMerge && e.Format == Format {
		return errors.New("it is a merge of journals")
	}
	identity, date, err := parseStamp(author)
	if err != nil {
		return err
	}
	e.Actor = identity
	if err := e.setAll(rest); err != nil {
		return err
	}
	if !e.known() {
		// Every event needs a time to have a place in the order. The author date is what is left
		// when a newer format writes its time in another way.
		if e.Time.IsZero() {
			e.Time = time.Unix(date, 0).UTC()
		}
		return nil
	}
	// git log shows the commit's date and the fold uses the trailer. They must not disagree. A
	// missing Time is reported by require.
	if e.Time.Unix() != date && !e.Time.IsZero() {
		return fmt.Errorf("it says %s, its commit is of %s", e.Time.Format(timeLayout),
			time.Unix(date, 0).UTC().Format(time.RFC3339))
	}
	return e.require()
}

// trailers splits a message. header is the value of its first trailer, Checkpoint-Event, and rest
// holds the lines after it. As in git, only the last paragraph is trailers; a body before it is
// ignored.
func trailers(message string) (header, rest string, err error) {
	if len(message) > MaxMessage {
		return "", "", fmt.Errorf("the message has %d bytes, more than %d", len(message), MaxMessage)
	}
	block := strings.TrimRight(message, "\n")
	i := strings.LastIndex(block, "\n\n")
	if i < 0 {
		return "", "", errors.New("the message has no trailers")
	}
	block = block[i+2:]
	if n := strings.Count(block, "\n"); n >= maxTrailers {
		return "", "", fmt.Errorf("the message has %d trailers, more than %d", n+1, maxTrailers)
	}
	line, rest, _ := strings.Cut(block, "\n")
	header, ok := strings.CutPrefix(line, keyEvent+": ")
	if !ok {
		return "", "", fmt.Errorf("the first trailer is not %s", keyEvent)
	}
	return header, rest, nil
}

// parseHeader reads "<format> <kind>", the value of the Checkpoint-Event trailer. Comparing with
// Itoa rejects other spellings of the number, such as "01" or "+1".
func parseHeader(s string) (int, Kind, error) {
	number, kind, _ := strings.Cut(s, " ")
	format, err := strconv.Atoi(number)
	if err != nil || format < 1 || format > 1_000_000 || strconv.Itoa(format) != number {
		return 0, "", fmt.Errorf("not a format and a kind: %q", s)
	}
	if kind == "" || len(kind) > 32 || strings.Trim(kind, "abcdefghijklmnopqrstuvwxyz-") != "" || kind[0] == '-' {
		return 0, "", fmt.Errorf("not a kind of event: %q", kind)
	}
	return format, Kind(kind), nil
}

// setAll reads trailer lines into e. In an event of a known kind, an invalid value is an error. In
// an unknown event it becomes an extra trailer, since a newer version may have changed what is
// valid.
func (e *Event) setAll(lines string) error {
	fields := textFields(e)
	known := e.known()
	for lines != "" {
		var line string
		line, lines, _ = strings.Cut(lines, "\n")
		key, raw, ok := strings.Cut(line, ": ")
		if !ok || !isKey(key) {
			return fmt.Errorf("not a trailer: %q", name.Clip(line, name.Said))
		}
		value, err := unquote(raw)
		if err != nil {
			return fmt.Errorf("trailer %s: %w", key, err)
		}
		unknown, err := e.set(&fields, key, value)
		if err != nil && known {
			return fmt.Errorf("trailer %s: %w", key, err)
		}
		if unknown || err != nil {
			e.Extra = append(e.Extra, Trailer{key, value})
		}
	}
	return nil
}

// set stores one trailer in its member and reports whether the key is unknown. A member with a
// single value may be set once; an empty value is invalid, because a writer leaves empty members
// out.
func (e *Event) set(fields *[textCount]text, key, value string) (unknown bool, err error) {
	for i := range fields {
		t := &fields[i]
		if t.key != key {
			continue
		}
		switch {
		case *t.value != "":
			return false, errors.New("it is there twice")
		case value == "":
			return false, errors.New("it is empty")
		case t.check != nil:
			if err := t.check(value); err != nil {
				return false, err
			}
		}
		*t.value = value
		return false, nil
	}
	switch key {
	case keyEvent:
		return false, errors.New("it is there twice")
	case keyTime:
		return false, e.setTime(value)
	case keyStep:
		return false, e.setStep(value)
	case keyMilestone:
		if value != "true" || e.Milestone {
			return false, fmt.Errorf("%q is not one \"true\"", name.Clip(value, name.Said))
		}
		e.Milestone = true
		return false, nil
	case keyDiscard:
		return false, appendID(&e.Discard, value)
	case keyRestore:
		return false, appendID(&e.Restore, value)
	case keyTombstone:
		t, err := parseTombstone(value)
		if err == nil {
			e.Tombstones = append(e.Tombstones, t)
		}
		return false, err
	}
	return true, nil
}

func (e *Event) setTime(value string) error {
	// RFC 3339 accepts a fraction too, and time.Parse has a fast path for it. The length and the places
	// of "." and "Z" then enforce timeLayout.
	t, err := time.Parse(time.RFC3339, value)
	switch {
	case !e.Time.IsZero():
		return errors.New("it is there twice")
	case err != nil || len(value) != len(timeLayout) || value[19] != '.' || value[23] != 'Z' || t.Unix() < 0:
		return fmt.Errorf("not a time: %q", name.Clip(value, name.Said))
	}
	e.Time = t
	return nil
}

func (e *Event) setStep(value string) error {
	n, err := strconv.Atoi(value)
	switch {
	case e.Step != 0:
		return errors.New("it is there twice")
	case err != nil || n < 1 || n > maxStep || strconv.Itoa(n) != value:
		return fmt.Errorf("not a step: %q", name.Clip(value, name.Said))
	}
	e.Step = n
	return nil
}

func appendID(ids *[]name.ID, value string) error {
	id, err := name.ParseID(value)
	if err == nil {
		*ids = append(*ids, id)
	}
	return err
}
