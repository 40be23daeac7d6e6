package torture

// A move is a rollback, undo or redo. Its result is judged in two steps: whether it had to
// be refused, by the exit code, and, if it was carried out, whether everything is where it
// has to be.

import (
	"encoding/json"
	"fmt"
	"iter"
	"maps"
	"path"
	"strings"
)

// move is a rollback, undo or redo with what was seen before and after it.
type move struct {
	op            Op
	to            *saved
	wish          wish
	forecast      *forecast
	before, after scene
	now, then     *moment // of the worktree, before and after
	result        result
	safety        string // ref of the safety checkpoint
}

// rollback rolls back to a checkpoint.
func (c *run) rollback(op Op, before scene, now *moment) error {
	to := c.slots[op.Slot]
	if to == nil {
		return nil
	}
	m := &move{op: op, to: to, before: before, now: now}
	m.wish = wish{overwrite: has(op.Args, "--overwrite-ignored"), only: scopeOf(op), indexStays: has(op.Args, "--worktree-only")}
	return c.carryOut(m, to.id, "--session", to.session, "-y", "--json")
}

// walk undoes the last rollback of the worktree that is not undone, or redoes its last
// undo.
func (c *run) walk(op Op, before scene, now *moment) error {
	from := c.undos[op.Tree]
	if op.Verb == "redo" {
		from = c.redos[op.Tree]
	}
	m := &move{op: op, to: &saved{then: now, dead: true}, before: before, now: now}
	if len(from) > 0 {
		m.to = from[len(from)-1]
	}
	// An undo removes what the rollback wrote, whatever the rules say now.
	for p := range m.to.wrote {
		if n, there := now.disk[p]; there && n.captures() && !now.rules(p) && !now.tracked[p] && now.ignored(p) {
			now.files[p], now.forced[p] = n, true
		}
		if held, out := now.frozen[p]; out && held == "" && !now.tracked[p] && now.disk[p].captures() {
			delete(now.frozen, p)
			now.files[p] = now.disk[p]
		}
	}
	// Only if nothing was edited since the rollback can the undo restore permissions as
	// well.
	m.wish = wish{only: m.to.only, overwrite: has(op.Args, "--overwrite-ignored"), walks: true, indexStays: m.to.worktreeOnly && !m.to.moved, exact: m.to.left != nil && len(changes(m.to.left.disk, now.disk)) == 0}
	return c.carryOut(m, "-y", "--json")
}

// carryOut runs the command, predicts the result and compares.
func (c *run) carryOut(m *move, args ...string) error {
	m.now.current = c.currentOf(m.op.Tree, m.to.session)
	var err error
	if m.result, err = c.program(m.op, args...); err != nil {
		return err
	}
	if m.after, err = c.scene(); err != nil {
		return err
	}
	// Which files are spared depends on both sides, so it is asked before predicting.
	if m.wish.spared, err = c.spared(m); err != nil {
		return err
	}
	if m.wish.outside, err = c.outside(m); err != nil {
		return err
	}
	m.forecast = predict(m.to.then, m.now, m.wish)
	done, err := c.outcome(m)
	if !done || err != nil {
		return err
	}
	return c.arrived(m)
}

// outcome judges the exit code and reports whether files were moved. 0 requires that
// nothing was in the way, and a refusal (4) that something was. A refused command must not
// change anything.
func (c *run) outcome(m *move) (bool, error) {
	verb, code, blocked := m.op.Verb, m.result.code, m.forecast.blocked
	reason := c.hindrance(m)
	if refused, err := c.aimless(m, reason); refused || err != nil {
		return false, err
	}
	switch {
	case m.to.dead && code != 3 && code != 4:
		return false, broken("%s to a checkpoint that is gone: exit %d: %s", verb, code, m.result.err)
	case m.to.dead:
	case has(m.op.Args, "-n"):
		return false, c.unmoved("dry run", m.before, m.after)
	case code == 0 && reason != "":
		return false, broken("%s went ahead although %s", verb, reason)
	case code == 0 && len(blocked) > 0:
		return false, broken("%s went ahead although these are in the way: %s", verb, quoted(blocked))
	case code == 0:
		c.tally[verb]++
		return true, nil
	case code != 4 && (reason == "" || code != 1):
		return false, broken("%s: exit %d: %s", verb, code, m.result.err)
	case reason == "" && len(blocked) == 0 && !c.takesOff(m):
		// A refused command must leave everything as it was.
		return false, broken("%s refused, but nothing is in the way: %s", verb, m.result.err)
	}
	c.tally["refused"]++
	return false, c.unmoved("refused "+verb, m.before, m.after)
}

// idle reports whether a rollback had nothing to do: it made no safety checkpoint.
func (m *move) idle() bool {
	var got struct{ Safety string }
	return !m.op.walks() && json.Unmarshal([]byte(m.result.out), &got) == nil && got.Safety == ""
}

// takesOff reports whether an undo or redo would take commits off the branch that were made, or made
// anew, after the move that it takes back. The scripts of undo say when exactly that is refused.
func (c *run) takesOff(m *move) bool {
	if !m.op.walks() || !c.moves(m) || m.now.commit == "" {
		return false
	}
	args := []string{"git", "rev-list", "--count", m.now.commit, "--not", m.to.then.commit}
	if m.to.left != nil && m.to.left.commit != "" {
		args = append(args, m.to.left.commit)
	}
	r, err := c.host.start(m.op.Tree, nil, args...)
	return err == nil && r.code == 0 && strings.TrimSpace(r.out) != "0"
}

// aimless judges a rollback that had nothing to do, which goes ahead whatever is in its way, and one of
// paths that exist on neither side. That must be refused, with
// the exit code of a wrong command line unless something else is in the way as well.
func (c *run) aimless(m *move, reason string) (bool, error) {
	switch {
	case m.to.dead || m.op.walks():
		return false, nil
	case m.result.code == 0 && (reason != "" || len(m.forecast.blocked) > 0) && m.idle() && !has(m.op.Args, "-n"):
		return true, c.unmoved("rollback with nothing to do", m.before, m.after)
	// Only what a rollback leaves alone is there, such as a repository that was made since.
	case m.result.code == 129 && len(m.forecast.files)+len(m.forecast.gone) == 0 && c.nowhere(m, m.to.then):
		return true, c.unmoved(m.op.Verb+" of a path that the checkpoint lacks", m.before, m.after)
	case !c.nowhere(m, m.now, m.to.then) || m.hadDirectory():
		return false, nil
	case m.result.code == 129:
		return true, c.unmoved(m.op.Verb+" of a path that is nowhere", m.before, m.after)
	case m.result.code == 0 && reason == "":
		return false, broken("%s went ahead although neither side has anything at its paths", m.op.Verb)
	}
	return false, nil
}

// nowhere reports whether none of sides has anything at the requested paths: captured,
// staged, or left out by a rule.
func (c *run) nowhere(m *move, sides ...*moment) bool {
	if m.wish.only == nil {
		return false
	}
	for _, side := range sides {
		for _, held := range []iter.Seq[string]{
			maps.Keys(side.files), maps.Keys(side.links), maps.Keys(side.sparse), maps.Keys(side.tracked), maps.Keys(side.intents), maps.Keys(side.frozen),
		} {
			for p := range held {
				if m.wish.only(p) {
					return false
				}
			}
		}
		// The requested path may be inside of it.
		for p := range side.frozen {
			if _, nested := side.disk[p+"/.git"]; nested {
				continue
			}
			if typed := m.op.Args[len(m.op.Args)-1]; under(typed, p) {
				return false
			}
		}
	}
	return true
}

// hadDirectory reports whether the target has a directory at the requested paths, which may be without files.
func (m *move) hadDirectory() bool {
	for p, o := range m.to.then.disk {
		if o.Type.IsDir() && m.wish.only(p) {
			return true
		}
	}
	return false
}

// hindrance returns why a rollback must be refused, whatever the files are, or "".
func (c *run) hindrance(m *move) string {
	if _, held := m.before.all[c.indexFile(m.op.Tree)+".lock"]; held {
		return "index.lock is held by another"
	}
	if m.wish.only != nil && !m.op.walks() && m.now.current == "" {
		return "the session is at no checkpoint, where a restore could stay"
	}
	unfinished := c.unfinished(m.op.Tree, m.before)
	// It was forced then, so only files come back.
	same := m.op.walks() && m.to.unfinished == unfinished
	if unfinished != "" && !has(m.op.Args, "--force") && !same {
		return unfinished
	}
	if !c.moves(m) || unfinished != "" {
		return ""
	}
	if m.to.then.commit == "" {
		return "the branch has no commit to go to"
	}
	// Git allows a branch in one worktree only.
	for top, dir := range c.dirs {
		head := m.before.all[dir+"/HEAD"].Data
		if top != m.op.Tree && head == m.to.then.head && strings.HasPrefix(head, "ref: ") && c.commonOf(dir) == c.commonOf(c.gitDir(m.op.Tree)) {
			return "the branch is checked out in " + top
		}
	}
	return c.leftAlone(m)
}

// leftAlone returns why HEAD cannot go to another branch that has to move: some of its commits are
// on no other ref, and the safety checkpoint holds those of HEAD only. After a move that was carried
// out the branch is at its commit, and there is none.
func (c *run) leftAlone(m *move) string {
	branch, is := strings.CutPrefix(strings.TrimSpace(m.to.then.head), "ref: ")
	if !is || m.to.then.head == m.now.head {
		return ""
	}
	r, err := c.host.start(m.op.Tree, nil, "git", "rev-list", "--count", branch, "--not", m.to.then.commit, "--exclude="+branch, "--all", "--")
	if count := strings.TrimSpace(r.out); err != nil || r.code != 0 || count == "0" {
		return "" // also where there is no such branch yet
	}
	return "nothing else holds what " + branch + " has"
}

// moves reports whether HEAD has to move. During an operation of git it stays, also with --force.
func (c *run) moves(m *move) bool {
	asked := has(m.op.Args, "--branch") || m.op.walks() && m.to.moved
	return asked && c.unfinished(m.op.Tree, m.before) == "" && (m.now.head != m.to.then.head || m.now.commit != m.to.then.commit)
}

// unfinished returns which operation of git is in progress, or "".
func (c *run) unfinished(top string, s scene) string {
	for _, name := range []string{"rebase-merge", "rebase-apply", "MERGE_HEAD", "CHERRY_PICK_HEAD", "REVERT_HEAD", "BISECT_LOG"} {
		if _, there := s.all[path.Join(c.gitDir(top), name)]; there {
			return name + " is there"
		}
	}
	return ""
}

// arrived compares everything after a move with what it has to be.
func (c *run) arrived(m *move) error {
	var got struct{ Safety, Session string }
	if err := json.Unmarshal([]byte(m.result.out), &got); err != nil {
		return broken("%s --json: %v in %q", m.op.Verb, err, m.result.out)
	}
	m.safety = "refs/checkpoints/" + got.Session + "/" + got.Safety
	var err error
	if m.then, err = c.look(m.after.all, m.op.Tree); err != nil {
		return err
	}
	// The safety checkpoint also holds the ignored files that were replaced.
	for p, n := range m.forecast.captured {
		m.now.files[p], m.now.forced[p] = n, true
	}
	left := &saved{
		then: m.now, left: m.then, id: got.Safety, session: got.Session, moved: c.moves(m), unfinished: c.unfinished(m.op.Tree, m.before),
		worktreeOnly: has(m.op.Args, "--worktree-only") || m.to.worktreeOnly && m.op.walks(),
	}
	if left.wrote, err = c.wrote(m); err != nil {
		return err
	}
	switch {
	case m.op.walks():
		left.only = m.to.only
	case m.wish.only != nil:
		left.only = m.changed()
	}
	idle := m.idle() // then it makes no level either
	m.then.idle = idle
	if !idle {
		c.walked(m.op, left)
	}
	if diff := c.compareDisk(m); len(diff) > 0 {
		return broken("after %s:\n%s", m.op.Verb, list(diff))
	}
	if !idle {
		if err := c.unignored(m); err != nil {
			return err
		}
		if err := c.holds(m.now, m.safety, m.op.Tree); err != nil {
			return err
		}
	}
	if err := c.elsewhere(m); err != nil {
		return err
	}
	if err := c.compareHead(m); err != nil {
		return err
	}
	return c.compareIndex(m)
}

// changed returns the paths that the move changed, on the disk or in the index. A directory that went
// with the last file in it is none.
func (m *move) changed() func(string) bool {
	is := map[string]bool{}
	for _, side := range []disk{m.now.disk, m.then.disk} {
		for p := range side {
			a, there := m.now.disk[p]
			b, still := m.then.disk[p]
			if there && !a.Type.IsDir() || still && !b.Type.IsDir() {
				is[p] = is[p] || there != still || a.String() != b.String() || a.Data != b.Data
			}
		}
	}
	staged := func(listing string) map[string]string {
		out := map[string]string{}
		for _, e := range entries(listing) {
			out[e.path] += fmt.Sprint(e)
		}
		return out
	}
	was, now := staged(m.now.listing), staged(m.then.listing)
	for _, side := range []map[string]string{was, now} {
		for p := range side {
			is[p] = is[p] || was[p] != now[p]
		}
	}
	return func(p string) bool { return is[p] }
}

// walked updates the lists of undos and redos. left is what the move left, to which the
// next walk in the other direction goes back.
func (c *run) walked(op Op, left *saved) {
	undos, redos := c.undos[op.Tree], c.redos[op.Tree]
	switch op.Verb {
	case "undo":
		undos, redos = undos[:len(undos)-1], append(redos, left)
	case "redo":
		undos, redos = append(undos, left), redos[:len(redos)-1]
	default:
		undos, redos = append(undos, left), nil
	}
	c.undos[op.Tree], c.redos[op.Tree] = undos, redos
}

// compareHead requires that HEAD moved if it had to, and only then, and that after an undo
// the same checkpoint is current as before the rollback. That of a restore of some paths moves none.
func (c *run) compareHead(m *move) error {
	want := m.now
	if c.moves(m) {
		want = m.to.then
	}
	if m.then.head != want.head || m.then.commit != want.commit {
		return broken("after %s HEAD is %q at %q, should be %q at %q", m.op.Verb, m.then.head, m.then.commit, want.head, want.commit)
	}
	// If that checkpoint was deleted, another one is current.
	was := m.to.then.current
	if m.to.only != nil {
		was = m.now.current
	}
	if !m.op.walks() || c.deleted(was) {
		return nil
	}
	if is := c.currentOf(m.op.Tree, m.to.session); is != was {
		return broken("undo: the current checkpoint is %q, before the rollback it was %q", is, was)
	}
	return nil
}

// deleted reports whether a checkpoint was deleted.
func (c *run) deleted(id string) bool {
	for _, s := range c.slots {
		if s.id == id {
			return s.dead
		}
	}
	return false
}

// has reports whether an option is among the arguments, before "--".
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

// scopeOf returns the test for the paths after "--", which are relative to the command's
// directory.
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
