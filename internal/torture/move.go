package torture

import (
	"encoding/json"
	"iter"
	"maps"
	"path"
	"strings"
)

// move is a rollback or an undo, and what was seen around it.
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

// rollback goes back and compares the disk with the forecast.
func (c *run) rollback(op Op, before scene, now *moment) error {
	to := c.slots[op.Slot]
	if to == nil {
		return nil
	}
	m := &move{op: op, to: to, before: before, now: now}
	m.wish = wish{overwrite: has(op.Args, "--overwrite-ignored"), only: scopeOf(op), indexStays: has(op.Args, "--worktree-only")}
	return c.carryOut(m, to.id, "--session", to.session, "-y", "--json")
}

// walk goes back to before the last rollback of the worktree that is not undone, or to
// before its last undo.
func (c *run) walk(op Op, before scene, now *moment) error {
	from := c.undos[op.Tree]
	if op.Verb == "redo" {
		from = c.redos[op.Tree]
	}
	m := &move{op: op, to: &saved{then: now, dead: true}, before: before, now: now}
	if len(from) > 0 {
		m.to = from[len(from)-1]
	}
	for p := range m.to.wrote { // taken whatever the rules say
		if n, there := now.disk[p]; there && n.captures() && !now.rules(p) && !now.tracked[p] && now.ignored(p) {
			now.files[p], now.forced[p] = n, true
		}
		if held, out := now.frozen[p]; out && held == "" && !now.tracked[p] && now.disk[p].captures() {
			delete(now.frozen, p)
			now.files[p] = now.disk[p]
		}
	}
	m.wish = wish{overwrite: true, indexStays: m.to.worktreeOnly, exact: m.to.left != nil && len(changes(m.to.left.disk, now.disk)) == 0}
	return c.carryOut(m, "-y", "--json")
}

func (c *run) carryOut(m *move, args ...string) error {
	m.now.current = c.currentOf(m.op.Tree, m.to.session)
	var err error
	if m.result, err = c.program(m.op, args...); err != nil {
		return err
	}
	if m.after, err = c.scene(); err != nil {
		return err
	}
	if m.wish.spared, err = c.spared(m); err != nil {
		return err
	}
	m.forecast = predict(m.to.then, m.now, m.wish)
	done, err := c.outcome(m)
	if !done || err != nil {
		return err
	}
	return c.arrived(m)
}

// outcome judges the exit code: 0 only when nothing is in the way, 4 only when
// something is. It reports whether files were moved.
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
	case reason == "" && len(blocked) == 0:
		return false, broken("%s refused, but nothing is in the way: %s", verb, m.result.err)
	}
	c.tally["refused"]++
	return false, c.unmoved("refused "+verb, m.before, m.after)
}

// aimless judges a rollback of paths that are nowhere: it must be refused, and as a wrong
// command line unless something else is in the way too.
func (c *run) aimless(m *move, reason string) (bool, error) {
	switch {
	case m.to.dead || !c.nowhere(m):
		return false, nil
	case m.result.code == 129:
		return true, c.unmoved(m.op.Verb+" of a path that is nowhere", m.before, m.after)
	case m.result.code == 0 && reason == "":
		return false, broken("%s went ahead although neither side has anything at its paths", m.op.Verb)
	}
	return false, nil
}

// nowhere reports whether neither side has anything at the paths that were asked for:
// captured, staged, or left out by rule.
func (c *run) nowhere(m *move) bool {
	if m.wish.only == nil {
		return false
	}
	for _, side := range []*moment{m.now, m.to.then} {
		for _, held := range []iter.Seq[string]{
			maps.Keys(side.files), maps.Keys(side.links), maps.Keys(side.sparse), maps.Keys(side.tracked), maps.Keys(side.intents), maps.Keys(side.frozen),
		} {
			for p := range held {
				if m.wish.only(p) {
					return false
				}
			}
		}
		for p := range side.frozen { // what is asked for may be inside of it
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

// hindrance says why a rollback must be refused whatever the files are.
func (c *run) hindrance(m *move) string {
	if _, held := m.before.all[c.indexFile(m.op.Tree)+".lock"]; held {
		return "index.lock is held by another"
	}
	unfinished := c.unfinished(m.op.Tree, m.before)
	same := m.op.walks() && m.to.unfinished == unfinished // it was forced, so only files come back
	if unfinished != "" && !has(m.op.Args, "--force") && !same {
		return unfinished
	}
	if !c.moves(m) || unfinished != "" {
		return ""
	}
	if m.to.then.commit == "" {
		return "the branch has no commit to go to"
	}
	for top, dir := range c.dirs {
		head := m.before.all[dir+"/HEAD"].Data
		if top != m.op.Tree && head == m.to.then.head && strings.HasPrefix(head, "ref: ") && c.commonOf(dir) == c.commonOf(c.gitDir(m.op.Tree)) {
			return "the branch is checked out in " + top
		}
	}
	return ""
}

// moves reports whether HEAD is to go where it was.
func (c *run) moves(m *move) bool {
	asked := has(m.op.Args, "--branch") || m.op.walks() && m.to.moved
	return asked && (m.now.head != m.to.then.head || m.now.commit != m.to.then.commit)
}

// unfinished names an operation of git's that is in progress.
func (c *run) unfinished(top string, s scene) string {
	for _, name := range []string{"rebase-merge", "rebase-apply", "MERGE_HEAD", "CHERRY_PICK_HEAD", "REVERT_HEAD", "BISECT_LOG"} {
		if _, there := s.all[path.Join(c.gitDir(top), name)]; there {
			return name + " is there"
		}
	}
	return ""
}

// arrived compares everything after a rollback with what it should be.
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
	c.walked(m.op, left)
	if diff := c.compareDisk(m); len(diff) > 0 {
		return broken("after %s:\n%s", m.op.Verb, list(diff))
	}
	if err := c.holds(m.now, m.safety, m.op.Tree); err != nil {
		return err
	}
	if err := c.elsewhere(m); err != nil {
		return err
	}
	if err := c.compareHead(m); err != nil {
		return err
	}
	return c.compareIndex(m)
}

// walked keeps what a move left behind where the next undo or redo has to give it back.
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

// compareHead demands that HEAD moved when it had to, and only then, and that an undo
// makes the checkpoint current that was it.
func (c *run) compareHead(m *move) error {
	want := m.now
	if c.moves(m) && c.unfinished(m.op.Tree, m.before) == "" {
		want = m.to.then
	}
	if m.then.head != want.head || m.then.commit != want.commit {
		return broken("after %s HEAD is %q at %q, should be %q at %q", m.op.Verb, m.then.head, m.then.commit, want.head, want.commit)
	}
	was := m.to.then.current
	if !m.op.walks() || c.deleted(was) {
		return nil
	}
	if is := c.currentOf(m.op.Tree, m.to.session); is != was {
		return broken("undo: the current checkpoint is %q, before the rollback it was %q", is, was)
	}
	return nil
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
