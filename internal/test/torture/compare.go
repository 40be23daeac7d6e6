package torture

// After a rollback the disk is compared with the forecast of predict.go: every file that
// had to change, every file that had to stay, the directories, and everything outside of
// the worktree.

import (
	"fmt"
	"path"
	"sort"
	"strings"
)

// compareDisk lists the differences of a worktree from the forecast.
func (c *run) compareDisk(m *move) (out []string) {
	f, is := m.forecast, m.then.disk
	for p, n := range f.files {
		got, there := is[p]
		if c.kind.modeless {
			got.Perm = n.Perm
		}
		// The file had to be written or to get other content.
		switch {
		case !there:
			out = append(out, fmt.Sprintf("%q is missing, should be %v", p, n))
		case !got.alike(n):
			out = append(out, fmt.Sprintf("%q should be %v, is %v", p, n, got))
		case m.wish.exact && n.file() && n.Perm != got.Perm:
			out = append(out, fmt.Sprintf("%q should have the permissions %04o, has %04o", p, n.Perm, got.Perm))
		}
	}
	for p, n := range f.stays {
		got, there := is[p]
		switch {
		// Directories are compared below.
		case n.Type.IsDir():
		case !there:
			out = append(out, fmt.Sprintf("%q is lost, was %v", p, n))
		case got.Type != n.Type || got.Data != n.Data || got.Perm != n.Perm && !c.kind.modeless:
			out = append(out, fmt.Sprintf("%q should stay %v, is %v", p, n, got))
		// A file that did not have to change must not be written again: build tools go by
		// the time.
		case !got.Time.Equal(n.Time):
			out = append(out, fmt.Sprintf("%q did not differ, but its time changed from %v to %v", p, n.Time, got.Time))
		}
	}
	for p, got := range is {
		// Nothing may appear that is neither in the target nor was there before.
		_, wanted := f.files[p]
		if _, stays := f.stays[p]; !wanted && !stays && !got.Type.IsDir() {
			out = append(out, fmt.Sprintf("%q should not be there, is %v", p, got))
		}
	}
	out = append(out, m.compareDirectories()...)
	sort.Strings(out)
	return out
}

// compareDirectories lists wrong directories. Those that contain something must exist,
// empty ones stay, and those that became empty must be gone, except for the current
// directory of the command, and for those that stood when the target was captured.
func (m *move) compareDirectories() (out []string) {
	was, is := m.now.disk, m.then.disk
	needed := m.directories()
	for p := range needed {
		if n, there := is[p]; !there || !n.Type.IsDir() {
			out = append(out, fmt.Sprintf("the directory %q is missing", p))
		} else if o, old := was[p]; old && o.Type.IsDir() && o.Perm != n.Perm {
			out = append(out, fmt.Sprintf("the directory %q was %04o, is %04o", p, o.Perm, n.Perm))
		}
	}
	for p, n := range is {
		if stood, there := m.to.then.disk[p]; there && stood.Type.IsDir() {
			continue
		}
		if n.Type.IsDir() && !needed[p] && !under(m.op.In, p) {
			out = append(out, fmt.Sprintf("the directory %q should be gone", p))
		}
	}
	return out
}

// directories returns the directories that must exist: the parents of everything that is
// there afterwards, and those that were empty before.
func (m *move) directories() map[string]bool {
	needed, full := map[string]bool{}, map[string]bool{}
	mark := func(set map[string]bool, p string) {
		for d := path.Dir(p); d != "." && !set[d]; d = path.Dir(d) {
			set[d] = true
		}
	}
	for p, n := range m.now.disk {
		if !n.Type.IsDir() {
			mark(full, p)
		}
	}
	for p, n := range m.forecast.stays {
		if !n.Type.IsDir() {
			mark(needed, p)
		} else if !full[p] {
			needed[p] = true
			mark(needed, p)
		}
	}
	for p := range m.forecast.files {
		mark(needed, p)
	}
	return needed
}

// elsewhere requires that nothing outside the worktree changed, except for our refs, the
// index, and what a move of HEAD changes.
func (c *run) elsewhere(m *move) error {
	gitBefore, restBefore := c.parts(m.before)
	gitAfter, restAfter := c.parts(m.after)
	for _, d := range []disk{restBefore, restAfter} {
		for p := range d {
			// A linked worktree may be inside of this one; it counts as outside.
			if under(p, m.op.Tree) && !c.otherTree(p, m.op.Tree) {
				delete(d, p)
			}
		}
	}
	if diff := changes(restBefore, restAfter); len(diff) > 0 {
		return broken("%s changed something outside the worktree:\n%s", m.op.Verb, list(diff))
	}
	for _, files := range []map[string]string{gitBefore, gitAfter} {
		for p := range files {
			if c.mayChange(m, p) {
				delete(files, p)
			}
		}
	}
	if diff := differences(gitBefore, gitAfter); len(diff) > 0 {
		return broken("%s changed the git directory:\n%s", m.op.Verb, list(diff))
	}
	return nil
}

// otherTree reports whether p is in another worktree that is inside of top.
func (c *run) otherTree(p, top string) bool {
	for other := range c.dirs {
		if other != top && under(other, top) && under(p, other) {
			return true
		}
	}
	return false
}

// mayChange reports whether a rollback may change this file of a git directory.
func (c *run) mayChange(m *move, p string) bool {
	dir := c.gitDir(m.op.Tree)
	common := c.commonOf(dir)
	// A rollback writes the index unless it was asked not to, and HEAD stays.
	if p == c.indexFile(m.op.Tree) || strings.HasPrefix(p, dir+"/sharedindex.") {
		return !m.wish.indexStays || c.moves(m)
	}
	// The branch that the rollback went to goes back too, even if HEAD is where it was before
	// the rollback already.
	if m.op.walks() && m.to.moved {
		to, on := strings.CutPrefix(strings.TrimSpace(m.to.left.head), "ref: ")
		if on && (p == common+"/"+to || p == common+"/logs/"+to) {
			return true
		}
	}
	if !c.moves(m) {
		return false
	}
	branch, _ := strings.CutPrefix(strings.TrimSpace(m.to.then.head), "ref: ")
	switch p {
	case dir + "/HEAD", dir + "/ORIG_HEAD", dir + "/logs/ORIG_HEAD", dir + "/logs/HEAD", common + "/" + branch, common + "/logs/" + branch:
		return true
	}
	return p == common+"/packed-refs" && strings.HasPrefix(branch, "refs/")
}

// quoted returns the paths for a message, sorted.
func quoted(paths []string) string {
	sort.Strings(paths)
	out := make([]string, len(paths))
	for i, p := range paths {
		out[i] = fmt.Sprintf("%q", p)
	}
	return strings.Join(out, ", ")
}
