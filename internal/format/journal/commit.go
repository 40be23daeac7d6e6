package journal

import (
	"fmt"
	"slices"
	"strconv"
	"strings"
	"time"

	"git-checkpoint/internal/format/name"
)

// The id of the empty tree, in a SHA-1 and in a SHA-256 repository. Every commit of a journal has
// this tree.
const (
	EmptyTreeSHA1   = name.OID("4b825dc642cb6eb9a060e54bf8d69288fbee4904")
	EmptyTreeSHA256 = name.OID("6ef19b41225c5369f1c104d45d8d85efa9b057b53b14b4b9b939dd74decc5321")
)

// Commit is a git commit as read from the object database. Author and Committer are raw header
// values, "Name <email> <seconds> <zone>".
type Commit struct {
	OID       name.OID
	Parents   []name.OID
	Author    string
	Committer string
	Tree      name.OID
	Message   string
}

// Node is one commit of a journal: an event, or a merge of two journals.
type Node struct {
	OID           name.OID
	Parents       []name.OID
	Event         *Event    // nil for a merge
	CommitterTime time.Time // in UTC, with a resolution of one second
}

// ParseCommit reads a commit of a journal and returns an error if it is neither an event nor a
// merge. It requires the empty tree: files in a journal commit would stay reachable after a prune
// removed the checkpoints that they came from.
func ParseCommit(c Commit) (Node, error) {
	if c.Tree != EmptyTreeSHA1 && c.Tree != EmptyTreeSHA256 {
		return Node{}, fmt.Errorf("parse journal commit %q: its tree is %q, not the empty one", c.OID, c.Tree)
	}
	_, committed, err := parseStamp(c.Committer)
	if err != nil {
		return Node{}, fmt.Errorf("parse journal commit %q: committer: %w", c.OID, err)
	}
	n := Node{OID: c.OID, Parents: c.Parents, CommitterTime: time.Unix(committed, 0).UTC()}
	if c.Message == MergeMessage {
		if err := checkMerge(c); err != nil {
			return Node{}, err
		}
		return n, nil
	}
	e, err := Parse(c.OID, c.Parents, c.Author, c.Message)
	if err != nil {
		return Node{}, err
	}
	if e.known() && e.Time.Unix() != committed {
		return Node{}, fmt.Errorf("parse journal commit %q: author and committer have different dates", c.OID)
	}
	n.Event = &e
	return n, nil
}

// checkMerge enforces the rules by which two clones that merge the same tips write identical
// commits: sorted parents without duplicates, a fixed identity, equal author and committer, and
// UTC.
func checkMerge(c Commit) error {
	switch {
	case len(c.Parents) < 2:
		return fmt.Errorf("parse journal commit %q: a merge of %d parents", c.OID, len(c.Parents))
	case !slices.IsSorted(c.Parents) || len(slices.Compact(slices.Clone(c.Parents))) != len(c.Parents):
		return fmt.Errorf("parse journal commit %q: the parents of the merge are not sorted", c.OID)
	case c.Author != c.Committer || !strings.HasPrefix(c.Author, MergeIdentity+" ") || !strings.HasSuffix(c.Author, " +0000"):
		return fmt.Errorf("parse journal commit %q: the merge was not made by %s", c.OID, MergeIdentity)
	}
	return nil
}

// parseStamp reads "Name <email> <seconds> <zone>".
func parseStamp(s string) (identity string, date int64, err error) {
	i := strings.LastIndexByte(s, '>')
	if i < 0 {
		return "", 0, fmt.Errorf("not an identity with a date: %q", name.Clip(s, name.Said))
	}
	seconds, zone, _ := strings.Cut(strings.TrimPrefix(s[i+1:], " "), " ")
	n, err := strconv.ParseInt(seconds, 10, 64)
	if err != nil || n < 0 || len(seconds) > 12 || !isZone(zone) {
		return "", 0, fmt.Errorf("not an identity with a date: %q", name.Clip(s, name.Said))
	}
	return s[:i+1], n, nil
}

func isZone(s string) bool {
	return len(s) == 5 && (s[0] == '+' || s[0] == '-') && strings.Trim(s[1:], "0123456789") == ""
}
