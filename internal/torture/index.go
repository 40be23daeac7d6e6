package torture

import (
	"fmt"
	"sort"
	"strings"
)

// flagIntent is the bit of an intent-to-add entry in ls-files --debug.
const flagIntent = 1 << 29

// readIntents finds the intent-to-add entries, which no tree holds.
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

// compareIndex demands that what is staged is as it was when the checkpoint was made.
func (c *run) compareIndex(op Op, to *saved, w wish, before, after *moment) error {
	switch {
	case c.filesOnly(op) || has(op.Args, "--worktree-only") || to.worktreeOnly:
		if before.index != after.index {
			return broken("%s changed the index, and should not", op.Verb)
		}
		return nil
	case w.only != nil:
		return c.comparePart(op, w, to.then, before, after)
	}
	if diff := differences(records(to.then.listing), records(after.listing)); len(diff) > 0 {
		return broken("after %s ls-files -s -v -t differs:\n%s", op.Verb, list(diff))
	}
	if diff := differences(set(to.then.intents), set(after.intents)); len(diff) > 0 {
		return broken("after %s the intent-to-add entries differ:\n%s", op.Verb, list(diff))
	}
	if to.then.commit == after.commit {
		if diff := differences(records(to.then.status), records(after.status)); len(diff) > 0 && to.then.sameRules(after) {
			return broken("after %s git status differs:\n%s", op.Verb, list(diff))
		}
	}
	return c.trusted(op, after)
}

// sameRules reports whether nothing was left out in either: only then does status have
// to be the same.
func (m *moment) sameRules(o *moment) bool {
	return len(m.frozen)+len(m.links)+len(o.frozen)+len(o.links) == 0
}

// filesOnly reports whether an operation in progress keeps the index out of it.
func (c *run) filesOnly(op Op) bool {
	s, err := c.scene()
	forced := op
	forced.Verb, forced.Args = "rollback", nil
	return err == nil && c.hindrance(forced, s) != ""
}

// comparePart: entries in scope are those of the checkpoint, the others stay.
func (c *run) comparePart(op Op, w wish, then, before, after *moment) error {
	want := map[string]string{}
	for _, e := range entries(before.listing) {
		if !w.only(e.path) {
			want[e.stage+" "+e.path] = e.mode + " " + e.oid
		}
	}
	for _, e := range entries(then.listing) {
		if w.only(e.path) && e.stage == "0" && !then.intents[e.path] {
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
		return broken("after %s of some paths the index is not the recorded one there and the old one elsewhere:\n%s", op.Verb, list(diff))
	}
	return nil
}

// trusted demands that the index neither takes a file for changed that is not, nor for
// unchanged that is.
func (c *run) trusted(op Op, m *moment) error {
	if c.kind.converts {
		return nil
	}
	var wrong []string
	for _, e := range entries(m.listing) {
		n, there := m.disk[e.path]
		if e.stage != "0" || e.tag != "H" || !there || !n.captures() || m.intents[e.path] {
			continue
		}
		equal := n.mode() == e.mode && blob(c.hash, n.Data) == e.oid
		switch {
		case equal && m.dirty[e.path]:
			wrong = append(wrong, fmt.Sprintf("%q looks changed, and is not", e.path))
		case !equal && !m.dirty[e.path]:
			wrong = append(wrong, fmt.Sprintf("%q looks unchanged, and is not", e.path))
		}
	}
	sort.Strings(wrong)
	if len(wrong) > 0 {
		return broken("after %s:\n%s", op.Verb, list(wrong))
	}
	return nil
}

// records maps each NUL-ended record to itself, so that two listings can be compared.
func records(text string) map[string]string {
	out := map[string]string{}
	for _, r := range split(text) {
		out[r] = ""
	}
	return out
}

func set(m map[string]bool) map[string]string {
	out := map[string]string{}
	for k := range m {
		out[k] = ""
	}
	return out
}
