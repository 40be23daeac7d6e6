package journal

// This file handles creates that are in the cache only. Loading a journal scans them (create). A
// single member is read by passing over the texts before it (Log.kept), and a whole event by
// Log.open.

import (
	"errors"
	"hash/maphash"

	"git-checkpoint/internal/format/name"
	"git-checkpoint/internal/sys/gather"
)

// Places in the table of texts of the members that are read one by one.
const (
	textSession    = 0
	textWorktree   = 2
	textCheckpoint = 3
	textLabel      = 4
	textStepName   = 5
	textIteration  = 6
	textTrigger    = 7
	textPrevious   = 11
)

// cacheOrder is the order of the table's texts in the cache.
var cacheOrder = [textCount]int{
	textSession, textCheckpoint, textTrigger, textWorktree, textPrevious, // what create reads
	1, textLabel, textStepName, textIteration, 8, 9, 10,
	12, 13, 14, 15, 16, 17, 18, 19, 20, 21, 22, 23, 24, 25,
}

// create scans the beginning of a create for what the fold asks of every node, and returns the id of its
// checkpoint. before is the node before, whose texts are mostly the same and need not be copied again, and
// last the id of its checkpoint.
func (r reader) create(n, before *node, last []byte) ([]byte, error) {
	n.class, n.time, n.step = classCreate, r.int(), int32(r.int())
	flags := r.uint()
	n.milestone, n.iterated = flags&flagMilestone != 0, flags&flagIterated != 0
	n.session, n.worktree = before.session, before.worktree
	if text := r.raw(); string(text) != string(n.session) {
		n.session = name.Session(text)
	}
	id, trigger := r.raw(), r.raw()
	n.hash, n.safety, n.promoted = uint32(maphash.Bytes(seed(), id)), string(trigger) == TriggerSafety, string(trigger) == triggerPromote
	if text := r.raw(); string(text) != n.worktree {
		n.worktree = string(text)
	}
	previous := string(r.raw())
	n.follows = len(last) > 0 && (previous == string(last) || previous == "" && n.worktree == "" && !before.safety)
	if len(id) == 0 || r.broken {
		return nil, errors.New("it is no create")
	}
	return id, nil
}

// head reads the beginning of a node's record, and returns a reader of the event.
func (l *Log) head(i int32) (r reader, oid []byte, committed int64) {
	r = reader{rest: l.record(i)[1:]}
	committed, oid = r.int(), r.raw()
	for left := r.uint(); left > 0; left-- {
		r.uint()
	}
	return r, oid, committed
}

// open parses the event of a create that is in the cache only. The checksum of the record was right when
// the journal was loaded, so it is what was written.
func (l *Log) open(i int32) *Event {
	r, oid, _ := l.head(i)
	return r.event(name.OID(oid), l.parents(i))
}

// parents returns the commit ids of a node's parents.
func (l *Log) parents(i int32) []name.OID {
	return gather.List(l.edges.parentsOf(i), func(p int32) name.OID { return l.oid(p) })
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
		return *textFields(own.Event)[k].value
	}
	return string(l.kept(i, k))
}

// kept returns one text of a create that is in the cache only.
func (l *Log) kept(i int32, k int) (text []byte) {
	r, _, _ := l.head(i)
	r.int()  // the time
	r.int()  // the step
	r.uint() // the flags
	for _, next := range cacheOrder {
		if text = r.raw(); next == k {
			break
		}
	}
	return text
}
