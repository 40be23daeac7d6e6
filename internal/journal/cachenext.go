package journal

import (
	"encoding/binary"
	"hash/maphash"
	"math/bits"
	"strings"
	"time"

	"git-checkpoint/internal/name"
)

// Places in the table of texts.
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

// Bits of a relative record that say which members differ from the base's and follow;
// those below are the texts, by their place in the table.
const (
	ownStep      = 1 << (textCount + iota)
	ownMilestone // it is the other one
	ownActor
	withExtra  // never the base's
	fromParent // the previous checkpoint is the one that the parent names
	ownTexts   = 1<<textCount - 1
	ownAll     = fromParent<<1 - 1
)

// relative is a create, and what it is kept relative to.
type relative struct {
	oid       name.OID
	event     *Event
	base      *Event
	distance  int32   // of the parent
	parent    name.ID // that it names, where that is known
	committed int64   // in seconds
}

// appendNext appends the payload of a create that is relative to a base.
func (l *Log) appendNext(dst []byte, i, base int32) []byte {
	parent := l.edges.of(i)[0]
	r := relative{l.oid(i), l.event(i), l.event(base), i - parent, l.checkpoint(parent), l.committed(i).Unix()}
	return r.append(dst)
}

// append appends a payload: type, OID, distance of the parent, which members follow, times
// as differences, and these members.
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

func seconds(millis int64) int64 { return time.UnixMilli(millis).Unix() }

// nextHead is what every relative record begins with, behind its type.
type nextHead struct {
	distance  uint64 // of the parent
	own       uint32
	time      int64 // in milliseconds
	committed int64 // in seconds
}

// head reads the beginning of a record that is relative to a base of a time.
func (r *reader) head(base int64) (h nextHead) {
	r.skip() // the id
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

// next reads a relative record to its end, and of it what the fold asks for.
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
	if h.own&(1<<textCheckpoint) == 0 || h.own&(1<<textSession) != 0 || h.own > ownAll {
		r.fail() // it would be the base's, or of another session
	}
	return h.distance
}

// hash is that of the next text.
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

// open reads the event of a relative record, which next has read to its end.
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
	if h.own&fromParent != 0 { // else it is the base's or its own
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

// checkpoint is the id that a node makes known, "" for one that makes none.
func (l *Log) checkpoint(i int32) name.ID {
	if !l.nodes[i].names() {
		return ""
	}
	return name.ID(l.text(i, textCheckpoint))
}

// text is a member of an event, by its place in the table, without all others.
func (l *Log) text(i int32, k int) string {
	if own := l.nodes[i].own; own != nil {
		switch k { // the table of all is long
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
	if k == textPrevious {
		r := reader{rest: l.record(i)[1:]}
		if h := r.head(0); h.own&fromParent != 0 {
			return string(l.checkpoint(l.edges.of(i)[0]))
		}
	}
	return l.text(l.base(i), k)
}

// is reports whether a member of an event is a text.
func (l *Log) is(i int32, k int, text string) bool {
	if l.nodes[i].own == nil {
		if form, kept, ok := l.kept(i, k); ok && form == asIs {
			return string(kept) == text
		}
	}
	return l.text(i, k) == text
}

// kept is a text of a relative record, as it is kept; ok is false where it is the base's.
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
