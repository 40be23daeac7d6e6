package torture

// After a rollback the index has to be the recorded one, entry by entry. Its stat data must
// be right as well: git trusts them, so a wrong entry would hide a change or show one that
// is not there.

import (
	"fmt"
	"slices"
	"sort"
	"strings"
)

// flagIntent is the flag of an intent-to-add entry in the output of ls-files --debug.
const flagIntent = 1 << 29

// readIntents finds the intent-to-add entries. Only --debug shows them. They have the id of
// the empty blob, so without such an entry there is nothing to look for.
func (c *run) readIntents(m *moment, top, index string) error {
	m.intents = map[string]bool{}
	if !strings.Contains(m.listing, emptyBlob(c.hash)) {
		return nil
	}
	out, err := c.host.git(top, index, "ls-files", "-s", "-z", "--debug", "--full-name")
	if err != nil {
		return err
	}
	records := strings.Split(out, "\x00")
	for i := 1; i < len(records); i++ {
		head := records[i-1]
		// Each record ends with the debug lines of its entry, so the path is in the one
		// before.
		_, p, _ := strings.Cut(head[strings.LastIndex(head, "\n")+1:], "\t")
		if i == 1 {
			_, p, _ = strings.Cut(head, "\t")
		}
		var flags uint32
		if at := strings.Index(records[i], "flags: "); at >= 0 {
			fmt.Sscanf(records[i][at+7:], "%x", &flags) //nolint:errcheck // zero then
		}
		if flags&flagIntent != 0 {
			m.intents[p] = true
		}
	}
	return nil
}

// compareIndex requires that what was staged when the checkpoint was made is staged again.
func (c *run) compareIndex(m *move) error {
	then, after, verb := m.to.then, m.then, m.op.Verb
	if err := c.commitsOnly(m); err != nil {
		return err
	}
	switch {
	// Then the index is not part of the rollback.
	case c.unfinished(m.op.Tree, m.after) != "", m.wish.indexStays && !c.moves(m):
		if m.now.index != after.index {
			return broken("%s changed the index, and should not", verb)
		}
		return nil
	case m.wish.indexStays: // it goes with HEAD
		then = m.now
	case m.wish.only != nil:
		return c.comparePart(m)
	}
	want, err := c.carried(m.op.Tree, then, m.now, after)
	if err != nil {
		return err
	}
	want.unsparse(m, then)
	hidden := !m.wish.walks && want.keepHidden(m.now) // from git status, too
	if diff := differences(c.flags(after, want), c.flags(after, stagedIndex{entries(after.listing), after.intents})); len(diff) > 0 {
		return broken("after %s ls-files -s -v -t differs:\n%s", verb, list(diff))
	}
	if diff := differences(set(want.intents), set(after.intents)); len(diff) > 0 {
		return broken("after %s the intent-to-add entries differ:\n%s", verb, list(diff))
	}
	if err := c.compareStatus(m, then, hidden || c.trusted(verb, then) != nil); err != nil {
		return err
	}
	if m.wish.indexStays && m.now.index == after.index {
		return nil // HEAD went to the same tree, so the index is as with --worktree-only alone
	}
	return c.trusted(verb, after)
}

// compareStatus requires that git status is as it was. There are two cases in which it may differ: git itself
// missed an edit within the same tick of the clock (blind), or content is converted, where looking at bytes
// again depends on stat data.
func (c *run) compareStatus(m *move, then *moment, blind bool) error {
	after := m.then
	same := then.commit == after.commit && then.sparsed == after.sparsed && slices.Equal(then.rulesOf, after.rulesOf) && then.sameRules(after) && !then.covered(after)
	if m.wish.indexStays || blind || !same || c.kind.converts || c.kind.modeless {
		return nil
	}
	if diff := differences(records(then.status), records(after.status)); len(diff) > 0 {
		return broken("after %s git status differs:\n%s", m.op.Verb, list(diff))
	}
	return nil
}

// unsparse takes away the bits that a sparse checkout had set, which come back only where the rules of now keep the file
// away, and sets those of files that they alone keep away.
func (x stagedIndex) unsparse(m *move, then *moment) {
	for i, e := range x.entries {
		if e.tag == "S" && then.hidden(e.path, m.now) {
			x.entries[i].tag = "H"
		} else if e.tag == "H" && m.wish.outside[e.path] {
			x.entries[i].tag = "S"
		}
	}
}

// keepHidden sets the flags that hide a change from git where they are set now, for a rollback leaves them:
// assume-unchanged, which is a small letter, and skip-worktree of a file that is there. It reports whether that changes
// an entry.
func (x stagedIndex) keepHidden(now *moment) (some bool) {
	assumed, skipped := map[string]bool{}, map[string]bool{}
	for _, e := range entries(now.listing) {
		_, present := now.disk[e.path]
		assumed[e.path] = assumed[e.path] || e.tag != strings.ToUpper(e.tag)
		skipped[e.path] = skipped[e.path] || present && strings.EqualFold(e.tag, "S")
	}
	for i, e := range x.entries {
		if skipped[e.path] && e.tag == "H" {
			x.entries[i].tag = "S"
		}
		if assumed[e.path] {
			x.entries[i].tag = strings.ToLower(x.entries[i].tag)
		}
		some = some || x.entries[i].tag != e.tag
	}
	return some
}

// flags returns the entries as users see them. In a sparse checkout git removes
// skip-worktree, while reading the index, from files that are present. The mode of an intent-to-add
// entry is that of the file when it was added and says nothing: git takes that of the file now, and
// a checkpoint records the path alone.
func (c *run) flags(m *moment, index stagedIndex) map[string]string {
	out := map[string]string{}
	for _, e := range index.entries {
		// A file that is present loses the flag when git reads the index.
		if _, present := m.disk[e.path]; present && e.tag == "S" && m.sparsed {
			e.tag = "H"
		}
		if index.intents[e.path] {
			e.mode = "any mode"
		}
		out[strings.Join([]string{e.tag, e.mode, e.oid, e.stage, e.path}, " ")] = ""
	}
	return out
}

// sameRules reports whether both moments left nothing out. Only then must git status be the
// same.
func (m *moment) sameRules(o *moment) bool {
	return len(m.frozen)+len(m.links)+len(o.frozen)+len(o.links) == 0
}

// covered reports whether an ignored file stays at a path where m had a deleted tracked
// file.
func (m *moment) covered(after *moment) bool {
	for p := range m.tracked {
		_, was := m.disk[p]
		if n, is := after.disk[p]; is && !was && n.captures() {
			return true
		}
	}
	return false
}

// comparePart checks a rollback of some paths: entries in scope are the recorded ones, all
// others stay.
func (c *run) comparePart(m *move) error {
	w, after := m.wish, m.then
	now, err := c.carried(m.op.Tree, m.now, m.now, after)
	if err != nil {
		return err
	}
	then, err := c.carried(m.op.Tree, m.to.then, m.now, after)
	if err != nil {
		return err
	}
	want, stays := map[string]string{}, []string(nil)
	for _, e := range now.entries {
		if !w.only(e.path) {
			want[e.stage+" "+e.path] = e.mode + " " + e.oid
			if e.stage == "0" {
				stays = append(stays, e.path)
			}
		}
	}
	// A recorded path must not collide with one that stays. As with git restore --staged, conflict
	// stages are in the way of nothing.
	fits := func(p string) bool {
		return !slices.ContainsFunc(stays, func(q string) bool { return under(p, q) || under(q, p) })
	}
	for _, e := range then.entries {
		if w.only(e.path) && e.stage == "0" && !then.intents[e.path] && fits(e.path) {
			want[e.stage+" "+e.path] = e.mode + " " + e.oid
		}
	}
	got := map[string]string{}
	for _, e := range entries(after.listing) {
		if !w.only(e.path) || e.stage == "0" && !after.intents[e.path] {
			got[e.stage+" "+e.path] = e.mode + " " + e.oid
		}
	}
	if diff := differences(want, got); len(diff) > 0 {
		return broken("after %s of some paths the index is not the recorded one there and the old one elsewhere:\n%s", m.op.Verb, list(diff))
	}
	return c.trusted(m.op.Verb, after)
}

// trusted requires that the index takes a file for changed exactly if it is.
func (c *run) trusted(verb string, m *moment) error {
	// With conversions, equal bytes on disk do not mean an equal blob.
	if c.kind.converts {
		return nil
	}
	var wrong []string
	for _, e := range entries(m.listing) {
		n, there := m.disk[e.path]
		if e.stage != "0" || e.tag != "H" || !there || !n.captures() || m.intents[e.path] {
			continue
		}
		// The entry and the file agree in mode and content.
		equal := (n.mode() == e.mode || c.kind.modeless && n.file()) && blob(c.hash, n.Data) == e.oid
		switch {
		case equal && m.stale[e.path] && !c.kind.modeless && !m.idle: // there chmod stands for the mount, and changes stat data
			wrong = append(wrong, fmt.Sprintf("%q looks changed, and is not", e.path))
		case !equal && !m.dirty[e.path]:
			wrong = append(wrong, fmt.Sprintf("%q looks unchanged, and is not", e.path))
		}
	}
	sort.Strings(wrong)
	if len(wrong) > 0 {
		return broken("after %s:\n%s", verb, list(wrong))
	}
	return nil
}

// records maps each NUL-terminated record to itself, so that two listings can be compared.
func records(text string) map[string]string {
	out := map[string]string{}
	for _, r := range split(text) {
		out[r] = ""
	}
	return out
}

// set returns a set in the form that differences compares.
func set(m map[string]bool) map[string]string {
	out := map[string]string{}
	for k := range m {
		out[k] = ""
	}
	return out
}
