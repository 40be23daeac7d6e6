package torture

// These checks compare two readings of the disk. What the program owns in a git directory
// may change with every command; everything else must stay as it was, times included.

import (
	"fmt"
	"path"
	"sort"
	"strings"
)

// ours reports whether a path in a git directory belongs to the program.
func ours(p string) bool {
	for _, dir := range []string{"refs/checkpoints", "refs/notes/checkpoints", "refs/tags/checkpoint"} {
		if under(p, dir) {
			return true
		}
	}
	return false
}

// parts splits a scene in two: the files of git directories, without ours and without their
// times, because git rewrites files with the same content; and everything else, with times.
func (c *run) parts(s scene) (gitFiles map[string]string, rest disk) {
	gitFiles, rest = map[string]string{}, disk{}
	for p, n := range s.all {
		dir := c.inGitDir(p)
		switch {
		case dir == "":
			rest[p] = n
		// Directories of git come and go with the files in them.
		case n.Type.IsDir() || ours(strings.TrimPrefix(p, dir+"/")):
		case path.Base(p) == "packed-refs":
			gitFiles[p] = packed(n.Data)
		default:
			gitFiles[p] = fmt.Sprintf("%04o %s", n.Perm, n.Data)
		}
	}
	return gitFiles, rest
}

// inGitDir returns the git directory that contains p, or "". Git directories may be nested.
func (c *run) inGitDir(p string) string {
	found := ""
	for _, d := range c.dirs {
		if common := c.commonOf(d); under(p, common) && len(common) > len(found) {
			found = common
		}
	}
	return found
}

// packed returns the content of packed-refs without our refs and comments.
func packed(text string) string {
	var out []string
	for _, line := range strings.Split(text, "\n") {
		if _, ref, ok := strings.Cut(line, " "); !ok || !ours(ref) && !strings.HasPrefix(line, "#") {
			out = append(out, line)
		}
	}
	return strings.Join(out, "\n")
}

// untouched requires that nothing except our refs has changed.
func (c *run) untouched(verb string, before, after scene) error {
	gitBefore, restBefore := c.parts(before)
	gitAfter, restAfter := c.parts(after)
	if diff := changes(restBefore, restAfter); len(diff) > 0 {
		return broken("%s changed the worktree:\n%s", verb, list(diff))
	}
	if diff := differences(gitBefore, gitAfter); len(diff) > 0 {
		return broken("%s changed the git directory:\n%s", verb, list(diff))
	}
	return nil
}

// unmoved requires that nothing at all has changed, our refs included.
func (c *run) unmoved(verb string, before, after scene) error {
	if err := c.untouched(verb, before, after); err != nil {
		return err
	}
	if before.refs != after.refs {
		return broken("%s changed refs:\n%s", verb, list(differences(byFirst(before.refs), byFirst(after.refs))))
	}
	return nil
}

// byFirst maps the first word of each line to the rest of it.
func byFirst(text string) map[string]string {
	out := map[string]string{}
	for _, line := range strings.Split(text, "\n") {
		if k, v, ok := strings.Cut(line, " "); ok {
			out[k] = v
		}
	}
	return out
}

// differences lists what differs between two maps of paths to descriptions, sorted.
func differences(before, after map[string]string) (out []string) {
	for p, was := range before {
		is, there := after[p]
		switch {
		case !there:
			out = append(out, fmt.Sprintf("%q is gone, was %s", p, short(was)))
		case is != was:
			out = append(out, fmt.Sprintf("%q was %s, is %s", p, short(was), short(is)))
		}
	}
	for p, is := range after {
		if _, there := before[p]; !there {
			out = append(out, fmt.Sprintf("%q is new: %s", p, short(is)))
		}
	}
	sort.Strings(out)
	return out
}

// short quotes a text and cuts long ones.
func short(s string) string {
	if len(s) > 120 {
		s = s[:120] + fmt.Sprintf("… (%d bytes)", len(s))
	}
	return fmt.Sprintf("%q", s)
}

// list joins the lines of a message and cuts long lists.
func list(lines []string) string {
	if len(lines) > 12 {
		lines = append(lines[:12:12], fmt.Sprintf("… and %d more", len(lines)-12))
	}
	return "  " + strings.Join(lines, "\n  ")
}

// holds requires that the tree of a checkpoint has exactly what a capture has to hold.
func (c *run) holds(m *moment, commit, top string) error {
	out, err := c.host.git(top, "", "ls-tree", "-r", "-z", "--full-tree", commit)
	if err != nil {
		return err
	}
	got := map[string]string{}
	for _, line := range split(out) {
		meta, p, _ := strings.Cut(line, "\t")
		f := strings.Fields(meta)
		got[p] = f[0] + " " + f[2]
	}
	want := m.tree(c.hash)
	// The blob of a file under conversion is git's choice, so several are accepted.
	if c.kind.converts {
		m.allow(want, got)
	}
	// was is what was expected, since differences takes two states as before and after.
	if diff := differences(want, got); len(diff) > 0 {
		return broken("the tree of the checkpoint is not the worktree (was: expected, is: in the tree):\n%s", list(diff))
	}
	return nil
}

// allow adapts want to what git's conversions may make of a file: its bytes as they are, or
// any of the blobs that git add makes. Whether the bytes come back is checked after a
// rollback.
func (m *moment) allow(want, got map[string]string) {
	for p, n := range m.files {
		mode, oid, _ := strings.Cut(got[p], " ")
		// Any of these blobs is right. Else report the one that git add makes.
		if m.added == nil || oid == m.added[p] || oid == m.renewed[p] || got[p] == m.held(p) || oid == blob(len(oid), n.Data) {
			want[p] = n.mode() + " " + oid
		} else {
			want[p] = mode + " " + m.added[p]
		}
	}
}

// staged requires that the recorded index tree equals the index, and that the parents of
// the checkpoint are HEAD, if there is one, and the record.
func (c *run) staged(m *moment, commit, top string) error {
	parents, err := c.host.git(top, "", "rev-parse", commit+"^@")
	if err != nil {
		return err
	}
	list := strings.Fields(parents)
	if m.commit != "" && (len(list) != 2 || list[0] != m.commit) || m.commit == "" && len(list) != 1 {
		return broken("the parents of the checkpoint are %v; HEAD was %q", list, m.commit)
	}
	got, err := c.host.git(top, "", "ls-tree", "-r", "-z", "--full-tree", list[len(list)-1]+":index")
	if err != nil {
		return err
	}
	// Compare with the index as it was read from a copy by git.
	have, want := map[string]string{}, map[string]string{}
	for _, line := range split(got) {
		meta, p, _ := strings.Cut(line, "\t")
		f := strings.Fields(meta)
		have[p] = f[0] + " " + f[2]
	}
	for _, e := range entries(m.listing) {
		// Unmerged entries are recorded elsewhere, and no tree has intent-to-add entries.
		if e.stage == "0" && !m.intents[e.path] {
			want[e.path] = e.mode + " " + e.oid
		}
	}
	if diff := differences(want, have); len(diff) > 0 {
		return broken("the recorded staged tree is not the index:\n%s", "  "+strings.Join(diff, "\n  "))
	}
	return nil
}
