package torture

import (
	"fmt"
	"path"
	"sort"
	"strings"
)

// ours reports paths in a git directory that belong to the program.
func ours(p string) bool {
	for _, dir := range []string{"refs/checkpoints", "refs/notes/checkpoints", "refs/tags/checkpoint"} {
		if under(p, dir) {
			return true
		}
	}
	return false
}

// parts separates the files of git directories, without ours and without times, from
// the rest of the disk.
func (c *run) parts(s scene) (gitFiles map[string]string, rest disk) {
	gitFiles, rest = map[string]string{}, disk{}
	for p, n := range s.all {
		dir := c.inGitDir(p)
		switch {
		case dir == "":
			rest[p] = n
		case n.Type.IsDir() || ours(strings.TrimPrefix(p, dir+"/")):
		case path.Base(p) == "packed-refs":
			gitFiles[p] = packed(n.Data)
		default:
			gitFiles[p] = fmt.Sprintf("%04o %s", n.Perm, n.Data)
		}
	}
	return gitFiles, rest
}

func (c *run) inGitDir(p string) string {
	found := ""
	for _, d := range c.dirs {
		if common := c.commonOf(d); under(p, common) && len(common) > len(found) {
			found = common
		}
	}
	return found
}

// packed leaves our refs out of packed-refs.
func packed(text string) string {
	var out []string
	for _, line := range strings.Split(text, "\n") {
		if _, ref, ok := strings.Cut(line, " "); !ok || !ours(ref) && !strings.HasPrefix(line, "#") {
			out = append(out, line)
		}
	}
	return strings.Join(out, "\n")
}

// untouched demands that nothing but our refs differs, times included.
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

// unmoved demands that nothing differs, our refs included.
func (c *run) unmoved(verb string, before, after scene) error {
	if err := c.untouched(verb, before, after); err != nil {
		return err
	}
	if before.refs != after.refs {
		return broken("%s changed refs:\n%s", verb, list(differences(byFirst(before.refs), byFirst(after.refs))))
	}
	return nil
}

// byFirst maps the first word of each line to the rest.
func byFirst(text string) map[string]string {
	out := map[string]string{}
	for _, line := range strings.Split(text, "\n") {
		if k, v, ok := strings.Cut(line, " "); ok {
			out[k] = v
		}
	}
	return out
}

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

func short(s string) string {
	if len(s) > 120 {
		s = s[:120] + fmt.Sprintf("… (%d bytes)", len(s))
	}
	return fmt.Sprintf("%q", s)
}

func list(lines []string) string {
	if len(lines) > 12 {
		lines = append(lines[:12:12], fmt.Sprintf("… and %d more", len(lines)-12))
	}
	return "  " + strings.Join(lines, "\n  ")
}

// holds compares the tree of a checkpoint with what a capture has to hold.
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
	if c.kind.converts {
		m.allow(want, got)
	}
	if diff := differences(want, got); len(diff) > 0 {
		return broken("the tree of the checkpoint is not the worktree (was: expected, is: in the tree):\n%s", list(diff))
	}
	return nil
}

// allow takes any of the blobs for right that git makes of a file, or its bytes. Whether
// they come back is seen after a rollback.
func (m *moment) allow(want, got map[string]string) {
	for p, n := range m.files {
		mode, oid, _ := strings.Cut(got[p], " ")
		if m.added == nil || oid == m.added[p] || oid == m.renewed[p] || got[p] == m.held(p) || oid == blob(len(oid), n.Data) {
			want[p] = n.mode() + " " + oid
		} else {
			want[p] = mode + " " + m.added[p]
		}
	}
}

// staged compares the recorded staged tree with one that git writes from a copy.
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
	have, want := map[string]string{}, map[string]string{}
	for _, line := range split(got) {
		meta, p, _ := strings.Cut(line, "\t")
		f := strings.Fields(meta)
		have[p] = f[0] + " " + f[2]
	}
	for _, e := range entries(m.listing) {
		if e.stage == "0" && !m.intents[e.path] {
			want[e.path] = e.mode + " " + e.oid
		}
	}
	if diff := differences(want, have); len(diff) > 0 {
		return broken("the recorded staged tree is not the index:\n%s", "  "+strings.Join(diff, "\n  "))
	}
	return nil
}
