package torture

import (
	"encoding/json"
	"fmt"
	"path"
	"sort"
	"strings"
)

// create makes a checkpoint and demands that nothing else happened, and that it holds
// what is there.
func (c *run) create(op Op, before scene, now *moment) error {
	r, err := c.program(op, "--json")
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
	if r.code == 8 {
		return nil
	}
	if r.code != 0 {
		return broken("create: exit %d: %s", r.code, r.err)
	}
	c.tally["create"]++
	var made struct{ ID, Session, Ref, Commit string }
	if err := json.Unmarshal([]byte(r.out), &made); err != nil {
		return broken("create --json: %v in %q", err, r.out)
	}
	c.slots[op.Slot] = &saved{then: now, id: made.ID, session: made.Session, ref: made.Ref, commit: made.Commit}
	if !strings.Contains(after.refs, op.Tree+":"+made.Ref+" "+made.Commit) {
		return broken("create: %s is not at %s", made.Ref, made.Commit)
	}
	if err := c.holds(now, made.Commit, op.Tree); err != nil {
		return err
	}
	return c.staged(now, made.Commit, op.Tree)
}

// answer is what rollback and undo print.
type answer struct {
	Safety  string
	Session string
	To      string
}

// rollback goes back and compares the disk with the forecast.
func (c *run) rollback(op Op, before scene, now *moment) error {
	to := c.slots[op.Slot]
	if to == nil {
		return nil
	}
	w := wish{overwrite: has(op.Args, "--overwrite-ignored"), only: scopeOf(op), indexStays: has(op.Args, "--worktree-only")}
	r, err := c.program(op, to.id, "--session", to.session, "-y", "--json")
	if err != nil {
		return err
	}
	after, err := c.scene()
	if err != nil {
		return err
	}
	f := predict(to.then, now, w)
	if to.dead {
		if r.code != 3 && r.code != 4 {
			return broken("rollback to a deleted checkpoint: exit %d: %s", r.code, r.err)
		}
		return c.unmoved("refused rollback", before, after)
	}
	done, err := c.outcome(op, f, before, after, r)
	if !done || err != nil {
		return err
	}
	return c.arrived(op, to, w, f, before, after, now, r)
}

// undo goes back to before the last rollback or undo of the worktree.
func (c *run) undo(op Op, before scene, now *moment) error {
	to := c.last[op.Tree]
	r, err := c.program(op, "-y", "--json")
	if err != nil {
		return err
	}
	after, err := c.scene()
	if err != nil {
		return err
	}
	if to == nil || to.dead {
		if r.code != 3 && r.code != 4 {
			return broken("undo with nothing to undo: exit %d: %s", r.code, r.err)
		}
		return c.unmoved("refused undo", before, after)
	}
	w := wish{overwrite: true, indexStays: to.worktreeOnly, exact: to.exact != nil && len(changes(to.exact.disk, now.disk)) == 0}
	f := predict(to.then, now, w)
	done, err := c.outcome(op, f, before, after, r)
	if !done || err != nil {
		return err
	}
	return c.arrived(op, to, w, f, before, after, now, r)
}

// outcome judges the exit code: 0 only when nothing is in the way, 4 only when
// something is. It reports whether files were moved.
func (c *run) outcome(op Op, f *forecast, before, after scene, r result) (bool, error) {
	reason := c.hindrance(op, before)
	switch {
	case has(op.Args, "-n"):
		return false, c.unmoved("dry run", before, after)
	case r.code == 0 && reason != "":
		return false, broken("%s went ahead although %s", op.Verb, reason)
	case r.code == 0 && len(f.blocked) > 0:
		return false, broken("%s went ahead although these are in the way: %s", op.Verb, quoted(f.blocked))
	case r.code == 0:
		c.tally[op.Verb]++
		return true, nil
	case r.code != 4 && (reason == "" || r.code != 1):
		return false, broken("%s: exit %d: %s", op.Verb, r.code, r.err)
	case reason == "" && len(f.blocked) == 0:
		return false, broken("%s refused, but nothing is in the way: %s", op.Verb, r.err)
	}
	c.tally["refused"]++
	return false, c.unmoved("refused "+op.Verb, before, after)
}

// hindrance says why a rollback must be refused whatever the files are.
func (c *run) hindrance(op Op, before scene) string {
	dir := c.gitDir(op.Tree)
	if _, held := before.all[c.indexFile(op.Tree)+".lock"]; held {
		return "index.lock is held by another"
	}
	if has(op.Args, "--force") || op.Verb == "undo" {
		return ""
	}
	for _, name := range []string{"MERGE_HEAD", "CHERRY_PICK_HEAD", "REVERT_HEAD", "rebase-merge", "rebase-apply", "BISECT_LOG"} {
		if _, there := before.all[dir+"/"+name]; there {
			return name + " is there"
		}
	}
	return ""
}

// arrived compares everything after a rollback with what it should be.
func (c *run) arrived(op Op, to *saved, w wish, f *forecast, before, after scene, now *moment, r result) error {
	var got answer
	if err := json.Unmarshal([]byte(r.out), &got); err != nil {
		return broken("%s --json: %v in %q", op.Verb, err, r.out)
	}
	then, err := c.look(after.all, op.Tree)
	if err != nil {
		return err
	}
	for p := range f.captured {
		now.files[p] = f.captured[p]
		now.forced[p] = true
	}
	c.last[op.Tree] = &saved{then: now, exact: then, id: got.Safety, worktreeOnly: has(op.Args, "--worktree-only") || to.worktreeOnly && op.Verb == "undo"}
	if diff := c.compareDisk(op, w, f, now.disk, then.disk); len(diff) > 0 {
		return broken("after %s:\n%s", op.Verb, list(diff))
	}
	safety := fmt.Sprintf("refs/checkpoints/%s/%s", got.Session, got.Safety)
	if err := c.holds(now, safety, op.Tree); err != nil {
		return err
	}
	if err := c.elsewhere(op, before, after); err != nil {
		return err
	}
	if current := c.currentOf(op.Tree); op.Verb == "undo" && current != to.then.current && !c.deleted(to.then.current) {
		return broken("undo: the current checkpoint is %s, before the rollback it was %s", current, to.then.current)
	}
	return c.compareIndex(op, to, w, now, then)
}

// deleted reports whether a checkpoint was deleted by now.
func (c *run) deleted(id string) bool {
	for _, s := range c.slots {
		if s.id == id {
			return s.dead
		}
	}
	return false
}

// compareDisk tells what of a worktree is not as forecast.
func (c *run) compareDisk(op Op, w wish, f *forecast, was, is disk) (out []string) {
	for p, n := range f.files {
		m, there := is[p]
		switch {
		case !there:
			out = append(out, fmt.Sprintf("%q is missing, should be %v", p, n))
		case !m.alike(n):
			out = append(out, fmt.Sprintf("%q should be %v, is %v", p, n, m))
		case w.exact && n.file() && n.Perm != m.Perm:
			out = append(out, fmt.Sprintf("%q should have the permissions %04o, has %04o", p, n.Perm, m.Perm))
		}
	}
	for p, n := range f.stays {
		m, there := is[p]
		switch {
		case n.Type.IsDir():
		case !there:
			out = append(out, fmt.Sprintf("%q is lost, was %v", p, n))
		case m.Type != n.Type || m.Data != n.Data || m.Perm != n.Perm:
			out = append(out, fmt.Sprintf("%q should stay %v, is %v", p, n, m))
		case !m.Time.Equal(n.Time) && !c.kind.converts: // other attributes, other blob, though the bytes are the same
			out = append(out, fmt.Sprintf("%q did not differ, but its time changed from %v to %v", p, n.Time, m.Time))
		}
	}
	for p, m := range is {
		_, wanted := f.files[p]
		if _, stays := f.stays[p]; !wanted && !stays && !m.Type.IsDir() {
			out = append(out, fmt.Sprintf("%q should not be there, is %v", p, m))
		}
	}
	out = append(out, compareDirectories(op, f, was, is)...)
	sort.Strings(out)
	return out
}

// compareDirectories: those that hold something are there, empty ones are left alone,
// those that were emptied are gone, but for the one where the user is.
func compareDirectories(op Op, f *forecast, was, is disk) (out []string) {
	needed, full := map[string]bool{}, map[string]bool{}
	mark := func(set map[string]bool, p string) {
		for d := path.Dir(p); d != "." && !set[d]; d = path.Dir(d) {
			set[d] = true
		}
	}
	for p, n := range was {
		if !n.Type.IsDir() {
			mark(full, p)
		}
	}
	for p, n := range f.stays {
		if !n.Type.IsDir() {
			mark(needed, p)
		} else if !full[p] { // an empty one
			needed[p] = true
			mark(needed, p)
		}
	}
	for p := range f.files {
		mark(needed, p)
	}
	for p := range needed {
		if n, there := is[p]; !there || !n.Type.IsDir() {
			out = append(out, fmt.Sprintf("the directory %q is missing", p))
		} else if o, old := was[p]; old && o.Type.IsDir() && o.Perm != n.Perm {
			out = append(out, fmt.Sprintf("the directory %q was %04o, is %04o", p, o.Perm, n.Perm))
		}
	}
	for p, n := range is {
		if n.Type.IsDir() && !needed[p] && !under(op.In, p) {
			out = append(out, fmt.Sprintf("the directory %q should be gone", p))
		}
	}
	return out
}

// elsewhere demands that nothing outside the worktree changed, but for our refs, the
// index, and what --branch moves.
func (c *run) elsewhere(op Op, before, after scene) error {
	gitBefore, restBefore := c.parts(before)
	gitAfter, restAfter := c.parts(after)
	for _, d := range []disk{restBefore, restAfter} {
		for p := range d {
			if under(p, op.Tree) {
				delete(d, p)
			}
		}
	}
	if diff := changes(restBefore, restAfter); len(diff) > 0 {
		return broken("%s changed something outside the worktree:\n%s", op.Verb, list(diff))
	}
	dir, common := c.gitDir(op.Tree), c.commonOf(c.gitDir(op.Tree))
	for _, m := range []map[string]string{gitBefore, gitAfter} {
		for p := range m {
			index := p == c.indexFile(op.Tree) || strings.HasPrefix(p, dir+"/sharedindex.")
			moved := has(op.Args, "--branch") || op.Verb == "undo"
			branch := p == dir+"/HEAD" || p == dir+"/ORIG_HEAD" || under(p, dir+"/logs") || under(p, common+"/logs") ||
				under(p, common+"/refs/heads") || p == common+"/packed-refs"
			if index && !has(op.Args, "--worktree-only") || moved && branch {
				delete(m, p)
			}
		}
	}
	if diff := differences(gitBefore, gitAfter); len(diff) > 0 {
		return broken("%s changed the git directory:\n%s", op.Verb, list(diff))
	}
	return nil
}

func has(list []string, flag string) bool {
	for _, f := range list {
		if f == "--" {
			return false
		}
		if f == flag {
			return true
		}
	}
	return false
}

// scopeOf is the test for the paths after --, relative to the directory of the op.
func scopeOf(op Op) func(string) bool {
	for i, a := range op.Args {
		if a == "--" {
			dirs := op.Args[i+1:]
			return func(p string) bool {
				for _, d := range dirs {
					if full := path.Join(op.In, d); full == "." || under(p, full) {
						return true
					}
				}
				return false
			}
		}
	}
	return nil
}

func quoted(paths []string) string {
	sort.Strings(paths)
	out := make([]string, len(paths))
	for i, p := range paths {
		out[i] = fmt.Sprintf("%q", p)
	}
	return strings.Join(out, ", ")
}
