package journal

import (
	"crypto/sha1"
	"crypto/sha256"
	"encoding/hex"
	"strings"
	"testing"
	"time"

	"git-checkpoint/internal/format/name"
	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"
)

func TestEmptyTrees(t *testing.T) {
	a, b := sha1.Sum([]byte("tree 0\x00")), sha256.Sum256([]byte("tree 0\x00"))
	if hex.EncodeToString(a[:]) != string(EmptyTreeSHA1) || hex.EncodeToString(b[:]) != string(EmptyTreeSHA256) {
		t.Error("the empty trees have other names")
	}
}

func TestParseCommit(t *testing.T) {
	e := Event{Kind: KindStatus, Session: "demo", Time: epoch.Add(123 * time.Millisecond), Actor: actor, Status: "paused"}
	by := Stamp(actor, e.Time)
	event := Commit{OID: oid(1, 1), Parents: []name.OID{oid(1, 0)}, Author: by, Committer: by, Tree: EmptyTreeSHA256, Message: e.Message()}
	n, err := ParseCommit(event)
	if err != nil || n.Event == nil || n.Event.OID != event.OID || n.Event.Actor != actor || !n.Event.Time.Equal(e.Time) || !n.CommitterTime.Equal(epoch) {
		t.Fatal(n, err)
	}
	m := MergeOf(Tip{oid(1, 2), epoch}, Tip{oid(1, 3), epoch.Add(time.Hour)})
	merge := Commit{OID: oid(1, 4), Parents: m.Parents, Author: m.by(), Committer: m.by(), Tree: EmptyTreeSHA1, Message: MergeMessage}
	n, err = ParseCommit(merge)
	if err != nil || n.Event != nil || !n.CommitterTime.Equal(epoch.Add(time.Hour)) || !cmp.Equal(n, m.Node(oid(1, 4))) {
		t.Fatal(n, err)
	}
	for what, c := range map[string]struct {
		of     Commit
		change func(*Commit)
	}{
		"a tree":            {event, func(c *Commit) { c.Tree = oid(9, 9) }},
		"no tree":           {event, func(c *Commit) { c.Tree = "" }},
		"committer":         {event, func(c *Commit) { c.Committer = "x" }},
		"other dates":       {event, func(c *Commit) { c.Committer = Stamp(actor, epoch.Add(time.Minute)) }},
		"other author date": {event, func(c *Commit) { c.Author = Stamp(actor, epoch.Add(time.Minute)) }},
		"user's commit":     {event, func(c *Commit) { c.Message = "fix: typo\n" }},
		"merge of one":      {merge, func(c *Commit) { c.Parents = c.Parents[:1] }},
		"merge of twins":    {merge, func(c *Commit) { c.Parents = []name.OID{oid(1, 1), oid(1, 1)} }},
		"unsorted merge":    {merge, func(c *Commit) { c.Parents = []name.OID{c.Parents[1], c.Parents[0]} }},
		"merge by a user":   {merge, func(c *Commit) { c.Author, c.Committer = by, by }},
		"merge elsewhere":   {merge, func(c *Commit) { c.Author = strings.ReplaceAll(c.Author, "+0000", "+0100"); c.Committer = c.Author }},
		"merge's committer": {merge, func(c *Commit) { c.Committer = Stamp(MergeIdentity, epoch) }},
	} {
		commit := c.of
		c.change(&commit)
		if n, err := ParseCommit(commit); err == nil {
			t.Errorf("%s: parsed as %+v", what, n)
		}
	}
}

func TestMergeOfIsSymmetric(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		tip := rapid.Custom(func(t *rapid.T) Tip {
			return Tip{oid(0, rapid.Int().Draw(t, "oid")), time.UnixMilli(rapid.Int64Range(0, 4e12).Draw(t, "time"))}
		})
		a, b := tip.Draw(t, "a"), tip.Draw(t, "b")
		x, y := MergeOf(a, b), MergeOf(b, a)
		if d := cmp.Diff(x, y); d != "" {
			t.Fatal(d)
		}
		if x.When.Before(a.CommitterTime.Truncate(time.Second)) || x.When.Before(b.CommitterTime.Truncate(time.Second)) {
			t.Fatal("the merge is older than a parent")
		}
	})
}

func TestMerge(t *testing.T) {
	a, b := newClone(t, "a"), newClone(t, "b")
	if tip, m := Merge(nil, nil); tip != (Tip{}) || m != nil {
		t.Error("merge of nothing", tip, m)
	}
	a.create(1)
	b.pull(a)
	check := func(mine, theirs *Log, want Tip) {
		t.Helper()
		if tip, m := Merge(mine, theirs); tip != want || m != nil {
			t.Error("merge is", tip, m)
		}
	}
	check(a.log, nil, a.log.Tip())
	check(nil, a.log, a.log.Tip())
	check(a.log, b.log, a.log.Tip())
	a.create(2)
	check(a.log, b.log, a.log.Tip())
	check(b.log, a.log, a.log.Tip())
	b.create(3)
	if SameEvents(a.log, b.log) {
		t.Error("different journals have the same events")
	}
	tip, m := Merge(a.log, b.log)
	_, other := Merge(b.log, a.log)
	if tip != (Tip{}) || m == nil || !cmp.Equal(m, other) {
		t.Error("merge is", tip, m, other)
	}
}

// commitOf is a node as git stores it.
func commitOf(n Node) Commit {
	c := Commit{OID: n.OID, Parents: n.Parents, Tree: EmptyTreeSHA1}
	if n.Event == nil {
		c.Author = Stamp(MergeIdentity, n.CommitterTime)
		c.Committer, c.Message = c.Author, MergeMessage
		return c
	}
	c.Author = Stamp(n.Event.Actor, n.Event.Time)
	c.Committer, c.Message = c.Author, n.Event.Message()
	return c
}
