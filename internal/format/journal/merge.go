package journal

import (
	"slices"
	"time"

	"git-checkpoint/internal/format/name"
)

// MergeIdentity and MergeMessage are fixed so that every clone that merges the same two tips writes
// a commit with the same bytes, and therefore the same id.
const (
	MergeIdentity = "git-checkpoint <git-checkpoint@localhost>"
	MergeMessage  = "merge journals\n\nCheckpoint-Event: 1 merge\n"
)

// Tip is the newest commit of a journal. MergeOf needs its committer date.
type Tip struct {
	OID           name.OID
	CommitterTime time.Time
}

// MergeCommit describes a commit that joins two journals and is still to be written. Its tree is
// the empty tree, its author and committer MergeIdentity, its message MergeMessage.
type MergeCommit struct {
	Parents []name.OID // sorted
	When    time.Time  // in UTC, with a resolution of one second
}

// MergeOf returns the merge of two tips, neither of which may be an ancestor of the other. It does
// not depend on the order of its arguments. The date is the later of the tips' committer dates, not
// the present time: with clock times, two clones would write different merges, then two merges of
// those merges, and never agree.
func MergeOf(a, b Tip) MergeCommit {
	if b.OID < a.OID {
		a, b = b, a
	}
	later := a.CommitterTime
	if b.CommitterTime.After(later) {
		later = b.CommitterTime
	}
	return MergeCommit{Parents: []name.OID{a.OID, b.OID}, When: later.UTC().Truncate(time.Second)}
}

// Merge joins two journals of a session. If one contains the other, it returns the tip of the
// larger one and no commit. Otherwise it returns a zero Tip and the merge commit to write. A nil
// Log is a journal that does not exist.
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
	return Tip{}, new(MergeOf(mine.Tip(), theirs.Tip()))
}

// SameEvents reports whether two journals have the same set of events, even if they joined them by
// different merges. A push that lost a race uses it: if only merges differ there is nothing left to
// send.
func SameEvents(a, b *Log) bool {
	// The order is a function of the set of events, so equal sets give equal lists.
	return slices.EqualFunc(a.Events(), b.Events(), func(x, y *Event) bool { return x.OID == y.OID })
}

// Covers reports whether a contains every event of b. Merges are ignored.
func Covers(a, b *Log) bool {
	for i := range b.nodes {
		if b.nodes[i].class != classMerge && !a.Contains(b.oid(int32(i))) {
			return false
		}
	}
	return true
}
