package journal

// This file encodes a whole event for the cache. The payload begins with a bit set of the members
// that are present; absent members take no space.

import (
	"encoding/binary"
	"time"

	"git-checkpoint/internal/name"
)

// Bits for members that are not plain texts. The bits below textCount are for the texts, by their
// place in the table.
const (
	hasStep = 1 << (textCount + iota)
	hasMilestone
	hasDiscard
	hasRestore
	hasTombstones
	hasExtra
	hasFormat
)

// appendEvent appends everything that Parse gets from a message, and the actor. Numbers are
// varints, the time is in milliseconds.
func appendEvent(dst []byte, e *Event) []byte {
	fields := texts(e)
	dst = binary.AppendUvarint(dst, e.members(&fields))
	dst = appendText(dst, string(e.Kind))
	dst = binary.AppendVarint(dst, e.Time.UnixMilli())
	dst = appendText(dst, e.Actor)
	for i := range fields {
		if v := *fields[i].value; v != "" {
			dst = appendText(dst, v)
		}
	}
	if e.Step != 0 {
		dst = binary.AppendVarint(dst, int64(e.Step))
	}
	dst = appendIDs(dst, e.Discard)
	dst = appendIDs(dst, e.Restore)
	if len(e.Tombstones) > 0 {
		dst = binary.AppendUvarint(dst, uint64(len(e.Tombstones)))
		for _, t := range e.Tombstones {
			dst = appendText(dst, string(t.ID))
			dst = appendText(dst, string(t.Commit))
			dst = appendText(dst, t.Record)
			dst = appendText(dst, t.Reason)
		}
	}
	if len(e.Extra) > 0 {
		dst = binary.AppendUvarint(dst, uint64(len(e.Extra)))
		for _, t := range e.Extra {
			dst = appendText(appendText(dst, t.Key), t.Value)
		}
	}
	if e.format() != Format {
		dst = binary.AppendUvarint(dst, uint64(e.Format))
	}
	return dst
}

// members returns the bit set of the members that are not empty.
func (e *Event) members(fields *[textCount]text) uint64 {
	var set uint64
	for i := range fields {
		if *fields[i].value != "" {
			set |= 1 << i
		}
	}
	for _, m := range [...]struct {
		bit  uint64
		have bool
	}{
		{hasStep, e.Step != 0},
		{hasMilestone, e.Milestone},
		{hasDiscard, len(e.Discard) > 0},
		{hasRestore, len(e.Restore) > 0},
		{hasTombstones, len(e.Tombstones) > 0},
		{hasExtra, len(e.Extra) > 0},
		{hasFormat, e.format() != Format},
	} {
		if m.have {
			set |= m.bit
		}
	}
	return set
}

// appendIDs appends the number of ids and the ids, or nothing for an empty list.
func appendIDs(dst []byte, ids []name.ID) []byte {
	if len(ids) == 0 {
		return dst
	}
	dst = binary.AppendUvarint(dst, uint64(len(ids)))
	for _, id := range ids {
		dst = appendText(dst, string(id))
	}
	return dst
}

// event is the inverse of appendEvent, for an event with the given commit. It marks r as broken if a
// bit is set that this version does not use.
func (r *reader) event(oid name.OID, parents []name.OID) *Event {
	r.whole = string(r.rest)
	set := r.uint()
	e := &Event{OID: oid, Parents: parents, Format: Format}
	e.Kind = Kind(r.text())
	e.Time = time.UnixMilli(r.int()).UTC()
	e.Actor = r.text()
	fields := texts(e)
	for i := range fields {
		if set&(1<<i) != 0 {
			*fields[i].value = r.text()
		}
	}
	if set&hasStep != 0 {
		e.Step = int(r.int())
	}
	e.Milestone = set&hasMilestone != 0
	if set&hasDiscard != 0 {
		e.Discard = r.ids()
	}
	if set&hasRestore != 0 {
		e.Restore = r.ids()
	}
	if set&hasTombstones != 0 {
		for n := r.count(); n > 0 && !r.broken; n-- {
			e.Tombstones = append(e.Tombstones, Tombstone{
				ID: name.ID(r.text()), Commit: name.OID(r.text()), Record: r.text(), Reason: r.text(),
			})
		}
	}
	if set&hasExtra != 0 {
		for n := r.count(); n > 0 && !r.broken; n-- {
			e.Extra = append(e.Extra, Trailer{r.text(), r.text()})
		}
	}
	if set&hasFormat != 0 {
		e.Format = int(r.uint())
	}
	if set >= hasFormat<<1 {
		r.broken = true
	}
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
