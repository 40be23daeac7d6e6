package journal

import (
	"hash/maphash"
	"sync"
	"time"

	"git-checkpoint/internal/format/name"
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
	own       *Node // nil: the commit is in the cache record only
	time      int64 // of the event, in milliseconds since the epoch
	session   name.Session
	worktree  string // the id of the one that wrote the event
	step      int32  // of the checkpoint that the event introduces
	at, size  uint32 // place of the cache record's payload in Log.data
	hash      uint32 // of the checkpoint's id, see hashOf
	class     class
	milestone bool
	iterated  bool // the event has an iteration
	safety    bool // the event introduces a safety checkpoint
	promoted  bool // it introduces one that a promotion made
	follows   bool // that checkpoint was made on the one that the node before introduces; only known of what was decoded
}

// seed is random for each process, so that nobody can prepare ids whose hashes collide.
var seed = sync.OnceValue(maphash.MakeSeed)

// hashOf returns the hash by which the fold's table finds a checkpoint.
func hashOf(id name.ID) uint32 { return uint32(maphash.String(seed(), string(id))) }

// newNode makes a node that holds its commit itself, without a cache record.
func newNode(n Node) node {
	made := node{own: &n}
	made.copyFacts(n.Event)
	return made
}

// copyFacts copies from e what the fold asks of every node. e is nil for a merge, which is the zero
// class.
func (n *node) copyFacts(e *Event) {
	if e == nil {
		return
	}
	n.class, n.time, n.session, n.worktree = classOther, e.Time.UnixMilli(), e.Session, e.WorktreeID
	if !e.names() {
		return
	}
	n.class = classNaming
	if e.Kind == KindCreate {
		n.class = classCreate
	}
	n.hash, n.step, n.milestone, n.safety = hashOf(e.Checkpoint), int32(e.Step), e.Milestone, e.Trigger == TriggerSafety
	n.iterated, n.promoted = e.Iteration != "", e.Trigger == triggerPromote
}

// names reports whether the node's event introduces a checkpoint.
func (n *node) names() bool { return n.class >= classCreate }

// kind returns the kind of event i. Only creates can be in the cache alone.
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
	_, oid, _ := l.head(i)
	return name.OID(oid)
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
	_, _, committed := l.head(i)
	return time.Unix(committed, 0).UTC()
}
