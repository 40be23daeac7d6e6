package journal

// This file encodes a whole event for the cache: every member in a fixed order, including the empty
// ones. What the fold asks of every create comes first, so that loading a journal need not read on.

import (
	"encoding/binary"
	"time"

	"git-checkpoint/internal/format/name"
)

// appendEvent appends everything that Parse gets from a message, and the actor. Numbers are
// varints, the time is in milliseconds.
func appendEvent(dst []byte, e *Event) []byte {
	dst = binary.AppendVarint(dst, e.Time.UnixMilli())
	dst = binary.AppendVarint(dst, int64(e.Step))
	dst = append(dst, flagsOf(e))
	values := textFields(e)
	for _, k := range cacheOrder {
		dst = appendText(dst, *values[k].value)
	}
	dst = appendText(dst, string(e.Kind))
	dst = appendText(dst, e.Actor)
	dst = appendIDs(dst, e.Discard)
	dst = appendIDs(dst, e.Restore)
	dst = binary.AppendUvarint(dst, uint64(len(e.Tombstones)))
	for _, t := range e.Tombstones {
		for _, text := range []string{string(t.ID), string(t.Commit), t.Record, t.Reason} {
			dst = appendText(dst, text)
		}
	}
	dst = binary.AppendUvarint(dst, uint64(len(e.Extra)))
	for _, t := range e.Extra {
		dst = appendText(appendText(dst, t.Key), t.Value)
	}
	return binary.AppendUvarint(dst, uint64(e.format()))
}

// Flags of an event.
const (
	flagMilestone = 1 << iota
	flagIterated  // it has an iteration, so that nobody looks for the text of one in the many that have none
)

func flagsOf(e *Event) (flags byte) {
	if e.Milestone {
		flags |= flagMilestone
	}
	if e.Iteration != "" {
		flags |= flagIterated
	}
	return flags
}

// appendIDs appends the number of ids and the ids.
func appendIDs(dst []byte, ids []name.ID) []byte {
	dst = binary.AppendUvarint(dst, uint64(len(ids)))
	for _, id := range ids {
		dst = appendText(dst, string(id))
	}
	return dst
}

// event is the inverse of appendEvent, for an event with the given commit.
func (r *reader) event(oid name.OID, parents []name.OID) *Event {
	r.whole = string(r.rest)
	e := &Event{OID: oid, Parents: parents}
	e.Time = time.UnixMilli(r.int()).UTC()
	e.Step = int(r.int())
	e.Milestone = r.uint()&flagMilestone != 0
	values := textFields(e)
	for _, k := range cacheOrder {
		*values[k].value = r.text()
	}
	e.Kind = Kind(r.text())
	e.Actor = r.text()
	e.Discard = r.ids()
	e.Restore = r.ids()
	for n := r.count(); n > 0 && !r.broken; n-- {
		e.Tombstones = append(e.Tombstones, Tombstone{
			ID: name.ID(r.text()), Commit: name.OID(r.text()), Record: r.text(), Reason: r.text(),
		})
	}
	for n := r.count(); n > 0 && !r.broken; n-- {
		e.Extra = append(e.Extra, Trailer{r.text(), r.text()})
	}
	e.Format = int(r.uint())
	return e
}

// count reads the length of a list. Every element takes at least one byte, so a greater length than
// the rest of the payload is invalid. Without this check it would cause a huge allocation.
func (r *reader) count() uint64 {
	n := r.uint()
	if n > uint64(len(r.rest)) {
		r.fail()
		return 0
	}
	return n
}

func (r *reader) ids() []name.ID {
	n := r.count()
	if n == 0 {
		return nil
	}
	ids := make([]name.ID, n)
	for i := range ids {
		ids[i] = name.ID(r.text())
	}
	return ids
}
