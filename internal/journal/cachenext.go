package journal

// This file handles relative records: a create that is stored as its difference to the block's
// base. Loading a journal only scans them (next), for the members that the fold asks of every node.
// A single member is read by skipping the texts before it (Log.text), and a whole event by
// Log.open.

import (
	"encoding/binary"
	"hash/maphash"
	"math/bits"
	"strings"
	"time"

	"git-checkpoint/internal/name"
)

// Places in the table of texts that this file reads or treats specially.
const (
	textSession    = 0
	textWorktreeID = 2
	textCheckpoint = 3
	textLabel      = 4
	textStepName   = 5
	textIteration  = 6
	textTrigger    = 7
	textCommit     = 9
	textPrevious   = 11
)

// Bits of a relative record for members whose value differs from the base's and follows in the
// record. The bits below textCount are for the texts, by their place in the table.
const (
	ownStep      = 1 << (textCount + iota)
	ownMilestone // the value is the opposite of the base's; nothing follows
	ownActor
	withExtra  // extra trailers follow; they are never taken from the base
	fromParent // Previous is the checkpoint that the parent introduces
	ownTexts   = 1<<textCount - 1
	ownAll     = fromParent<<1 - 1
)

// relative is a create together with everything that it is encoded from.
type relative struct {
	oid       name.OID
	event     *Event
	base      *Event
	distance  int32   // between the numbers of the node and its only parent
	parent    name.ID // the checkpoint that the parent introduces, or empty
	committed int64   // in seconds
}

// appendNext appends the payload of node i, relative to base.
func (l *Log) appendNext(dst []byte, i, base int32) []byte {
	parent := l.edges.of(i)[0]
	r := relative{l.oid(i), l.event(i), l.event(base), i - parent, l.checkpoint(parent), l.committed(i).Unix()}
	return r.append(dst)
}

// append appends the payload: type, commit id, distance of the parent, bit set of the members that
// follow, time as a difference to the base's, committer date as a difference to the time, and these
// members.
func (r *relative) append(dst []byte) []byte {
	e, b := r.event, r.base
	mine, theirs := texts(e), texts(b)
	var own uint32
	for k := range mine {
		if k == textCheckpoint || *mine[k].value != *theirs[k].value {
			own |= 1 << k
		}
	}
	if own&(1<<textPrevious) != 0 && e.Previous != "" && e.Previous == r.parent {
		own = own&^(1<<textPrevious) | fromParent
	}
	for _, m := range [...]struct {
		bit  uint32
		have bool
	}{{ownStep, e.Step != b.Step}, {ownMilestone, e.Milestone != b.Milestone}, {ownActor, e.Actor != b.Actor}, {withExtra, len(e.Extra) > 0}} {
		if m.have {
			own |= m.bit
		}
	}
	dst = appendText(append(dst, recordNext), string(r.oid))
	dst = binary.AppendUvarint(dst, uint64(r.distance))
	dst = binary.LittleEndian.AppendUint32(dst, own)
	at := e.Time.UnixMilli()
	dst = binary.AppendVarint(dst, at-b.Time.UnixMilli())
	dst = binary.AppendVarint(dst, r.committed-seconds(at))
	for k := range mine {
		if own&(1<<k) != 0 {
			dst = appendText(dst, *mine[k].value)
		}
	}
	if own&ownStep != 0 {
		dst = binary.AppendVarint(dst, int64(e.Step))
	}
	if own&ownActor != 0 {
		dst = appendText(dst, e.Actor)
	}
	return appendExtra(dst, e.Extra)
}

// seconds converts milliseconds to seconds. It rounds down, as Stamp does.
func seconds(millis int64) int64 { return time.UnixMilli(millis).Unix() }

// nextHead is the beginning of a relative record, after its type and commit id.
type nextHead struct {
	distance  uint64 // of the parent
	own       uint32 // which members follow
	time      int64  // in milliseconds
	committed int64  // in seconds
}

// head reads the beginning of a relative record. base is the time of the base, in milliseconds; it
// may be 0 if the caller does not use the times.
func (r *reader) head(base int64) (h nextHead) {
	r.skip() // the commit id
	h.distance = r.uint()
	if len(r.rest) < 4 {
		r.fail()
		return h
	}
	h.own, r.rest = binary.LittleEndian.Uint32(r.rest), r.rest[4:]
	h.time = base + r.int()
	h.committed = seconds(h.time) + r.int()
	return h
}

// next scans a relative record to its end and fills in n. It returns the distance of the parent.
func (r *reader) next(n, base *node) (distance uint64) {
	h := r.head(base.time)
	n.class, n.time = classCreate, h.time
	n.step, n.milestone, n.safety = base.step, base.milestone, base.safety
	for left := h.own & ownTexts; left != 0; left &= left - 1 {
		switch bits.TrailingZeros32(left) {
		case textCheckpoint:
			n.hash = r.hash()
		case textTrigger:
			_, kept := r.raw()
			n.safety = string(kept) == TriggerSafety
		default:
			r.skip()
		}
	}
	if h.own&ownStep != 0 {
		n.step = int32(r.int())
	}
	n.milestone = n.milestone != (h.own&ownMilestone != 0)
	if h.own&ownActor != 0 {
		r.skip()
	}
	if h.own&withExtra != 0 {
		for left := r.count(); left > 0 && !r.broken; left-- {
			r.skip()
			r.skip()
		}
	}
	// A relative record always has its own Checkpoint and always its base's Session. Log.session
	// relies on it.
	if h.own&(1<<textCheckpoint) == 0 || h.own&(1<<textSession) != 0 || h.own > ownAll {
		r.fail() // it would be the base's, or of another session
	}
	return h.distance
}

// hash reads a text and returns the hash of the id that it is, mostly without building a string.
func (r *reader) hash() uint32 {
	form, kept := r.raw()
	if form == asIs && len(kept) > 0 {
		return uint32(maphash.Bytes(seed(), kept))
	}
	if len(kept) == 0 {
		r.fail()
	}
	return hashOf(name.ID(unpack(form, kept, new(strings.Builder))))
}

// open parses the event of a relative record. It needs no error checks: next has scanned the record
// to its end when the journal was loaded.
func (l *Log) open(i int32) *Event {
	var kept strings.Builder
	r := reader{rest: l.record(i)[1:], texts: &kept}
	kept.Grow(2 * len(r.rest))
	base := &l.nodes[l.base(i)]
	e := *base.own.Event
	e.OID = l.oid(i)
	h, parent := r.head(base.time), l.edges.of(i)[0]
	e.Parents, e.Time, e.Extra = []name.OID{l.oid(parent)}, time.UnixMilli(h.time).UTC(), nil
	fields := texts(&e)
	for k := range fields {
		if h.own&(1<<k) != 0 {
			*fields[k].value = r.text()
		}
	}
	// Without this bit, Previous is the base's or was read above.
	if h.own&fromParent != 0 {
		e.Previous = l.checkpoint(parent)
	}
	if h.own&ownStep != 0 {
		e.Step = int(r.int())
	}
	e.Milestone = l.nodes[i].milestone
	if h.own&ownActor != 0 {
		e.Actor = r.text()
	}
	if h.own&withExtra != 0 {
		e.Extra = r.extra()
	}
	return &e
}

// checkpoint returns the id of the checkpoint that a node introduces, or "".
func (l *Log) checkpoint(i int32) name.ID {
	if !l.nodes[i].names() {
		return ""
	}
	return name.ID(l.text(i, textCheckpoint))
}

// text returns one text of an event, by its place in the table, without parsing the rest of the
// event.
func (l *Log) text(i int32, k int) string {
	if own := l.nodes[i].own; own != nil {
		switch k { // building the whole table takes longer
		case textCheckpoint:
			return string(own.Event.Checkpoint)
		case textLabel:
			return own.Event.Label
		case textStepName:
			return own.Event.StepName
		}
		return *texts(own.Event)[k].value
	}
	form, kept, ok := l.kept(i, k)
	if ok {
		return unpack(form, kept, new(strings.Builder))
	}
	// kept says that the record has no Previous of its own, but fromParent may stand in for it.
	if k == textPrevious {
		r := reader{rest: l.record(i)[1:]}
		if h := r.head(0); h.own&fromParent != 0 {
			return string(l.checkpoint(l.edges.of(i)[0]))
		}
	}
	return l.text(l.base(i), k)
}

// is reports whether one text of an event equals text. If it is stored unpacked, no string is
// built.
func (l *Log) is(i int32, k int, text string) bool {
	if l.nodes[i].own == nil {
		if form, kept, ok := l.kept(i, k); ok && form == asIs {
			return string(kept) == text
		}
	}
	return l.text(i, k) == text
}

// kept returns one text of a relative record in its stored form. ok is false if the record does not
// have it, because it equals the base's.
func (l *Log) kept(i int32, k int) (form int, kept []byte, ok bool) {
	r := reader{rest: l.record(i)[1:]}
	own := r.head(l.nodes[l.base(i)].time).own
	if own&(1<<k) == 0 {
		return asIs, nil, false
	}
	for left := own & (1<<k - 1); left != 0; left &= left - 1 {
		r.skip()
	}
	form, kept = r.raw()
	return form, kept, true
}
