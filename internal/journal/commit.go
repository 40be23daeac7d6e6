package journal

import (
	"fmt"
	"slices"
	"strconv"
	"strings"
	"time"

	"git-checkpoint/internal/name"
)

// The empty tree, which every commit of a journal has, in git's two hashes.
const (
	EmptyTreeSHA1   = name.OID("4b825dc642cb6eb9a060e54bf8d69288fbee4904")
	EmptyTreeSHA256 = name.OID("6ef19b41225c5369f1c104d45d8d85efa9b057b53b14b4b9b939dd74decc5321")
)

// Commit is a commit as git stores it. Author and Committer are the raw values of
// their headers, dates included.
type Commit struct {
	OID       name.OID
	Parents   []name.OID
	Author    string
	Committer string
	Tree      name.OID
	Message   string
}

// Node is one commit of a journal.
type Node struct {
	OID           name.OID
	Parents       []name.OID
	Event         *Event    // nil for a merge
	CommitterTime time.Time // to the second, UTC
}

// ParseCommit reads a commit of a journal, an event or a merge, and refuses any
// other: one with files in it would keep what a prune frees.
func ParseCommit(c Commit) (Node, error) {
	if c.Tree != EmptyTreeSHA1 && c.Tree != EmptyTreeSHA256 {
		return Node{}, fmt.Errorf("parse journal commit %q: its tree is %q, not the empty one", c.OID, c.Tree)
	}
	committed, err := parseStamp(c.Committer)
	if err != nil {
		return Node{}, fmt.Errorf("parse journal commit %q: committer: %w", c.OID, err)
	}
	n := Node{OID: c.OID, Parents: c.Parents, CommitterTime: time.Unix(committed.seconds, 0).UTC()}
	if c.Message == mergeMessage {
		if err := checkMerge(c); err != nil {
			return Node{}, err
		}
		return n, nil
	}
	e := &Event{OID: c.OID, Parents: c.Parents}
	if err := e.parse(c.Author, c.Message); err != nil {
		return Node{}, err
	}
	if e.known() && e.Time.Unix() != committed.seconds {
		return Node{}, fmt.Errorf("parse journal commit %q: author and committer have different dates", c.OID)
	}
	n.Event = e
	return n, nil
}

// checkMerge holds what makes two clones write the same merge.
func checkMerge(c Commit) error {
	switch {
	case len(c.Parents) < 2:
		return fmt.Errorf("parse journal commit %q: a merge of %d parents", c.OID, len(c.Parents))
	case !slices.IsSorted(c.Parents) || len(slices.Compact(slices.Clone(c.Parents))) != len(c.Parents):
		return fmt.Errorf("parse journal commit %q: the parents of the merge are not sorted", c.OID)
	case c.Author != c.Committer || !strings.HasPrefix(c.Author, mergeIdentity+" ") || !strings.HasSuffix(c.Author, " +0000"):
		return fmt.Errorf("parse journal commit %q: the merge was not made by %s", c.OID, mergeIdentity)
	}
	return nil
}

// stamp is the value of an author or committer header.
type stamp struct {
	identity string
	seconds  int64
}

// parseStamp reads "Name <email> <seconds> <zone>".
func parseStamp(s string) (stamp, error) {
	i := strings.LastIndexByte(s, '>')
	if i < 0 {
		return stamp{}, fmt.Errorf("not an identity with a date: %q", clip(s))
	}
	seconds, zone, _ := strings.Cut(strings.TrimPrefix(s[i+1:], " "), " ")
	n, err := strconv.ParseInt(seconds, 10, 64)
	if err != nil || n < 0 || len(seconds) > 12 || !isZone(zone) {
		return stamp{}, fmt.Errorf("not an identity with a date: %q", clip(s))
	}
	return stamp{identity: s[:i+1], seconds: n}, nil
}

func isZone(s string) bool {
	return len(s) == 5 && (s[0] == '+' || s[0] == '-') && strings.Trim(s[1:], "0123456789") == ""
}
