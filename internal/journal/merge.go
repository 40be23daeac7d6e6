package journal

import (
	"time"

	"git-checkpoint/internal/name"
)

// Every clone writes the merge of the same two tips with the same bytes.
const (
	mergeIdentity = "git-checkpoint <git-checkpoint@localhost>"
	mergeMessage  = "merge journals\n\nCheckpoint-Event: 1 merge\n"
)

// Tip is the newest commit of a journal. CommitterTime is its committer date.
type Tip struct {
	OID           name.OID
	CommitterTime time.Time
}

// MergeCommit is the commit that joins two journals. Its tree is the empty one.
type MergeCommit struct {
	Parents       []name.OID // sorted
	Author        string     // raw header value, date included
	Committer     string
	Message       string
	CommitterTime time.Time
}

// MergeOf is the merge of two tips of which neither descends from the other. Its
// date is the later of theirs: a clock would make two clones write two merges, and
// the merges of those, for ever.
func MergeOf(a, b Tip) MergeCommit {
	if b.OID < a.OID {
		a, b = b, a
	}
	later := a.CommitterTime
	if b.CommitterTime.After(later) {
		later = b.CommitterTime
	}
	later = later.UTC().Truncate(time.Second)
	by := Stamp(mergeIdentity, later)
	return MergeCommit{
		Parents: []name.OID{a.OID, b.OID},
		Author:  by, Committer: by,
		Message:       mergeMessage,
		CommitterTime: later,
	}
}

// Node is the merge as a node of a journal, once its commit has a name.
func (m MergeCommit) Node(oid name.OID) Node {
	return Node{OID: oid, Parents: m.Parents, CommitterTime: m.CommitterTime}
}

// Merge joins two journals of a session: the tip of the one that descends from the
// other, or a commit to be written. Either may be nil, a journal that is not there.
func Merge(mine, theirs *Log) (Tip, *MergeCommit) {
	switch {
	case theirs == nil && mine == nil:
		return Tip{}, nil
	case theirs == nil:
		return mine.Tip(), nil
	case mine == nil:
		return theirs.Tip(), nil
	case mine.Contains(theirs.Tip().OID):
		return mine.Tip(), nil
	case theirs.Contains(mine.Tip().OID):
		return theirs.Tip(), nil
	}
	m := MergeOf(mine.Tip(), theirs.Tip())
	return Tip{}, &m
}

// SameEvents reports whether two journals know the same events, whatever merges
// they have: after a lost race such a pair needs no further push.
func SameEvents(a, b *Log) bool {
	x, y := a.Events(), b.Events()
	if len(x) != len(y) {
		return false
	}
	// The order is a function of the set, so equal sets are equal lists.
	for i := range x {
		if x[i].OID != y[i].OID {
			return false
		}
	}
	return true
}

// Covers reports whether a knows every event of b, whatever merges they have.
func Covers(a, b *Log) bool {
	for i := range b.nodes {
		if b.nodes[i].class != classMerge && !a.Contains(b.oid(int32(i))) {
			return false
		}
	}
	return true
}
