package torture

// A create must hold everything that is there and change nothing. What it leaves out, by a
// rule such as the size limit or by --exclude, it must list.

import (
	"encoding/json"
	"net/url"
	"os"
	"path"
	"path/filepath"
	"strings"
)

// create makes a checkpoint. It requires that nothing else changed, that its tree and its
// recorded index are what is there, and that it lists what it left out.
func (c *run) create(op Op, before scene, now *moment) error {
	if err := c.selected(op, now); err != nil {
		return err
	}
	r, err := c.program(op, "--json", "--always")
	if err != nil {
		return err
	}
	after, err := c.scene()
	if err != nil {
		return err
	}
	if err := c.untouched("create", before, after); err != nil {
		return err
	}
	// Exit code 8: no checkpoint was wanted, as with a trigger that is switched off.
	if r.code == 8 {
		return nil
	}
	if r.code != 0 {
		return broken("create: exit %d: %s", r.code, r.err)
	}
	c.tally["create"]++
	var made struct {
		ID, Session, Ref, Commit string
		Snapshot                 recorded
	}
	if err := json.Unmarshal([]byte(r.out), &made); err != nil {
		return broken("create --json: %v in %q", err, r.out)
	}
	c.slots[op.Slot] = &saved{then: now, id: made.ID, session: made.Session, ref: made.Ref}
	// for-each-ref, and not the program, has to show the new ref.
	if !strings.Contains(after.refs, op.Tree+":"+made.Ref+" "+made.Commit) {
		return broken("create: %s is not at %s", made.Ref, made.Commit)
	}
	if err := c.holds(now, made.Commit, op.Tree); err != nil {
		return err
	}
	if err := now.lists(made.Snapshot.paths()); err != nil {
		return err
	}
	return c.staged(now, made.Commit, op.Tree)
}

// selected applies --include-ignored and --exclude to what a capture has to hold. Plain git
// interprets the pathspecs.
func (c *run) selected(op Op, m *moment) error {
	index := ""
	if c.kind.index != "" {
		index = filepath.Join(c.host.root, c.indexFile(op.Tree))
	}
	var absent []string
	for i := 0; i+1 < len(op.Args); i++ {
		spec, in := op.Args[i+1], path.Join(op.Tree, op.In)
		// The directory may have been removed by an edit.
		if info, err := os.Stat(filepath.Join(c.host.root, in)); err != nil || !info.IsDir() {
			in = op.Tree
		}
		switch op.Args[i] {
		case "--include-ignored":
			out, err := c.host.git(in, index, "ls-files", "-z", "--full-name", "-o", "-i", "--exclude-standard", "--", spec)
			if err != nil {
				return err
			}
			for _, p := range split(out) {
				if n := m.disk[p]; n.captures() && !m.rules(p) && !strings.HasSuffix(p, "/") {
					m.files[p], m.forced[p] = n, true
				}
			}
		case "--exclude":
			out, err := c.host.git(in, index, "ls-files", "-z", "--full-name", "-c", "-o", "--exclude-standard", "--", spec)
			if err != nil {
				return err
			}
			for _, p := range split(out) {
				if p = strings.TrimSuffix(p, "/"); !c.exclude(m, p) {
					absent = append(absent, p)
				}
			}
		}
	}
	for _, p := range absent {
		if !m.replaced(p) {
			m.frozen[p] = m.held(p)
		}
	}
	return nil
}

// replaced reports whether a directory with captured files has taken the place of a tracked file
// that is not there. The file would otherwise keep its staged version, but a tree cannot hold both.
func (m *moment) replaced(p string) bool {
	for q := range m.files {
		if under(q, p) {
			return true
		}
	}
	for q := range m.links {
		if under(q, p) {
			return true
		}
	}
	return false
}

// exclude removes a path from what a capture has to hold. A tracked file keeps its staged
// version, and is not left out at all if that version is what is on disk. The result is false for
// one that is not there.
func (c *run) exclude(m *moment, p string) bool {
	n, captured := m.files[p]
	d, present := m.disk[p]
	present = present && !d.Type.IsDir() // its content has paths of its own
	switch {
	case m.links[p] != "":
		if m.held(p) != "160000 "+m.links[p] { // else the index has the commit, so nothing is left out
			delete(m.links, p)
			m.frozen[p] = m.held(p)
		}
	case captured:
		m.leaveOut(p, blob(c.hash, n.Data))
	case m.tracked[p] && !present && m.sparse[p] == "":
		return false
	}
	return true
}

// recorded is the part of create --json about the snapshot.
type recorded struct {
	Skipped []skipped
}

// skipped is a file that a capture left out. A path that is not UTF-8 is percent-encoded.
type skipped struct{ Path, Encoding, Reason string }

func (s skipped) path() string {
	p := s.Path
	if s.Encoding == "percent" {
		p, _ = url.PathUnescape(p) //nolint:errcheck // then it is no path that was expected
	}
	return strings.TrimSuffix(p, "/")
}

// paths returns the listed paths.
func (r recorded) paths() map[string]string {
	out := map[string]string{}
	for _, s := range r.Skipped {
		out[s.path()] = ""
	}
	return out
}

// lists requires that a capture lists what it had to leave out, and nothing else. For a
// submodule only the commit is known here and not whether its files changed, so one at its
// commit may be listed.
func (m *moment) lists(listed map[string]string) error {
	want := map[string]string{}
	for p := range m.frozen {
		want[p] = ""
	}
	for p, commit := range m.links {
		if m.held(p) != "160000 "+commit {
			want[p] = ""
		} else {
			delete(listed, p)
		}
	}
	if diff := differences(want, listed); len(diff) > 0 {
		return broken("what is listed as left out is not what was (was: expected, is: listed):\n%s", list(diff))
	}
	return nil
}
