package journal

import (
	"hash/maphash"
	"sync"
	"time"

	"git-checkpoint/internal/name"
)

// class is the kind of a node, as far as the fold distinguishes them. names relies on the order.
type class uint8

const (
	classMerge  class = iota
	classOther        // an event that introduces no checkpoint
	classCreate       // a create of a known format
	classNaming       // an adopt or rebuild that introduces a checkpoint
)

// node is a commit of a journal as a Log keeps it. It has copies of the few members that the fold
// reads of every event. For a create that was decoded from the cache, own stays nil, and the other
// members are parsed from the cache record when they are asked for.
//
// A session may have ten thousand checkpoints, and every command loads its journal. Touching new
// memory dominates the cost of that, so this struct is kept small.
type node struct {
	own       *Node  // nil: the commit is in the cache record only
	time      int64  // of the event, in milliseconds since the epoch
	step      int32  // of the checkpoint that the event introduces
	at, size  uint32 // place of the cache record's payload in Log.data
	base      int32  // number of the node whose record this one is relative to, or none
	hash      uint32 // of the checkpoint's id, see hashOf
	class     class
	milestone bool
	safety    bool // the event introduces a safety checkpoint
}

// seed is random for each process, so that nobody can prepare ids whose hashes collide.
var seed = sync.OnceValue(maphash.MakeSeed)

// hashOf returns the hash by which the fold's table finds a checkpoint.
func hashOf(id name.ID) uint32 { return uint32(maphash.String(seed(), string(id))) }

// newNode makes a node that holds its commit itself, without a cache record.
func newNode(n Node) node {
	made := node{own: &n}
	made.tell(n.Event)
	return made
}

// tell copies from e what the fold asks of every node. e is nil for a merge, which is the zero
// class.
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

// plain reports whether the cache can store the node as a difference to another plain node. parents
// is the number of its parents. A node without own is stored that way already.
func (n *node) plain(parents int) bool {
	return n.class == classCreate && parents == 1 && (n.own == nil || n.own.Event.isShort())
}

// isShort reports whether the event has no lists. The relative form of the cache cannot hold any.
func (e *Event) isShort() bool { return len(e.Discard)+len(e.Restore)+len(e.Tombstones) == 0 }

// names reports whether the node's event introduces a checkpoint.
func (n *node) names() bool { return n.class >= classCreate }

// kind returns the kind of event i. Only creates are stored in relative form.
func (l *Log) kind(i int32) Kind {
	if own := l.nodes[i].own; own != nil {
		return own.Event.Kind
	}
	return KindCreate
}

// special returns the event unless it is a create, and nil for a create or a merge. Such an event
// is always held in own, so this needs no parsing; a fold treats the many creates without their
// events.
func (n *node) special() *Event {
	if n.class == classMerge || n.class == classCreate {
		return nil
	}
	return n.own.Event
}

// record returns the payload of a node in the cache.
func (l *Log) record(i int32) []byte {
	n := &l.nodes[i]
	return l.data[n.at : n.at+n.size]
}

// oid returns the commit id of a node.
func (l *Log) oid(i int32) name.OID {
	if own := l.nodes[i].own; own != nil {
		return own.OID
	}
	return l.recorded(i)
}

// recorded reads the commit id from a node's cache record. Every payload begins with its type and
// the id. The node must have a record.
func (l *Log) recorded(i int32) name.OID {
	r := reader{rest: l.record(i)[1:]}
	return name.OID(r.text())
}

// event returns the event of a node, nil for a merge. An event that is in the cache only is parsed
// on every call; the caller should keep it.
func (l *Log) event(i int32) *Event {
	if own := l.nodes[i].own; own != nil {
		return own.Event
	}
	return l.open(i)
}

// node returns a commit in its exported form.
func (l *Log) node(i int32) Node {
	if own := l.nodes[i].own; own != nil {
		return *own
	}
	e := l.open(i)
	return Node{OID: e.OID, Parents: e.Parents, Event: e, CommitterTime: l.committed(i)}
}

// committed returns the committer date of a node.
func (l *Log) committed(i int32) time.Time {
	if own := l.nodes[i].own; own != nil {
		return own.CommitterTime
	}
	r := reader{rest: l.record(i)[1:]}
	return time.Unix(r.head(l.nodes[l.base(i)].time).committed, 0).UTC()
}

// session returns the session that an event names. A relative record always has its base's session.
func (l *Log) session(i int32) name.Session {
	if own := l.nodes[i].own; own != nil {
		return own.Event.Session
	}
	return l.session(l.base(i))
}

// base returns the number of the node that a record is relative to.
func (l *Log) base(i int32) int32 { return l.nodes[i].base }
