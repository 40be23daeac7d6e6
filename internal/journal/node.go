package journal

import (
	"hash/maphash"
	"sync"
	"time"

	"git-checkpoint/internal/name"
)

// class is what the fold has to know of a node.
type class uint8

const (
	classMerge  class = iota
	classOther        // an event that makes no checkpoint known
	classCreate       // one that does, by a create of a known format
	classNaming       // one that does in another way
)

// node is a commit of a journal as a Log keeps it: what the fold asks of all of them. A
// create that came out of the cache stays in its record until somebody asks for the event.
// There may be ten thousand of these, and memory that is touched first costs more than
// all that is done in it, so they are small.
type node struct {
	own       *Node  // nil: it is in the record only
	time      int64  // of the event, in milliseconds
	step      int32  // of the checkpoint that is named
	at, size  uint32 // the record's place in the data
	base      int32  // what it is relative to
	hash      uint32 // of the checkpoint's id
	class     class
	milestone bool
	safety    bool // the checkpoint was made by a rollback or an undo, before these change anything
}

// seed is drawn anew by each process, so that nobody can choose ids that collide.
var seed = sync.OnceValue(maphash.MakeSeed)

func hashOf(id name.ID) uint32 { return uint32(maphash.String(seed(), string(id))) }

func newNode(n Node) node {
	made := node{own: &n}
	made.tell(n.Event)
	return made
}

// tell fills in what the event says.
func (n *node) tell(e *Event) {
	if e == nil {
		return
	}
	n.class, n.time = classOther, e.Time.UnixMilli()
	if !e.names() {
		return
	}
	n.class = classNaming
	if e.Kind == KindCreate {
		n.class = classCreate
	}
	n.hash, n.step, n.milestone, n.safety = hashOf(e.Checkpoint), int32(e.Step), e.Milestone, e.Trigger == TriggerSafety
}

// plain reports whether the cache can keep the node as what differs from another one that
// is plain, with so many parents.
func (n *node) plain(parents int) bool {
	return n.class == classCreate && parents == 1 && (n.own == nil || n.own.Event.isShort())
}

// isShort reports whether the event has no list.
func (e *Event) isShort() bool { return len(e.Discard)+len(e.Restore)+len(e.Tombstones) == 0 }

// names reports whether the node makes a checkpoint known.
func (n *node) names() bool { return n.class >= classCreate }

// kind is that of an event.
func (l *Log) kind(i int32) Kind {
	if own := l.nodes[i].own; own != nil {
		return own.Event.Kind
	}
	return KindCreate
}

// special is an event that is no create: nil for all others.
func (n *node) special() *Event {
	if n.class == classMerge || n.class == classCreate {
		return nil
	}
	return n.own.Event
}

// record is a node's payload in the cache.
func (l *Log) record(i int32) []byte {
	n := &l.nodes[i]
	return l.data[n.at : n.at+n.size]
}

// oid is the name of a commit.
func (l *Log) oid(i int32) name.OID {
	if own := l.nodes[i].own; own != nil {
		return own.OID
	}
	return l.recorded(i)
}

// recorded is the name of a commit whose record is here.
func (l *Log) recorded(i int32) name.OID {
	r := reader{rest: l.record(i)[1:]}
	return name.OID(r.text())
}

// event is that of a node, nil for a merge. One that is in the record only is read anew
// each time.
func (l *Log) event(i int32) *Event {
	if own := l.nodes[i].own; own != nil {
		return own.Event
	}
	return l.open(i)
}

// node is a commit for the world.
func (l *Log) node(i int32) Node {
	if own := l.nodes[i].own; own != nil {
		return *own
	}
	e := l.open(i)
	return Node{OID: e.OID, Parents: e.Parents, Event: e, CommitterTime: l.committed(i)}
}

// committed is the committer date.
func (l *Log) committed(i int32) time.Time {
	if own := l.nodes[i].own; own != nil {
		return own.CommitterTime
	}
	r := reader{rest: l.record(i)[1:]}
	return time.Unix(r.head(l.nodes[l.base(i)].time).committed, 0).UTC()
}

// session is that of an event.
func (l *Log) session(i int32) name.Session {
	if own := l.nodes[i].own; own != nil {
		return own.Event.Session
	}
	return l.session(l.base(i)) // what is relative is of the same
}

// base is the node that a record is relative to.
func (l *Log) base(i int32) int32 { return l.nodes[i].base }
