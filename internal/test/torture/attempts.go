package torture

// Worlds in which long walks are interrupted by attempts and landings. Both change much in
// git (linked worktrees, sessions, branches), and must change nothing on disk except what
// they promise.

import (
	"fmt"
	"strings"
)

// attempting is the kind of long walks in which steps are also forked, promoted and landed.
func attempting() kind {
	k := walking()
	k.name, k.attempts = "attempts", true
	return k
}

// venture replaces a command of a walk, now and then, by an attempt or by a land.
func (g *gen) venture(op Op) Op {
	switch {
	case g.chance(3):
		var lines []string
		for _, o := range g.lines("") {
			lines = append(lines, o.Line)
		}
		return Op{Verb: "promote", Tree: op.Tree, Slot: op.Slot, Line: strings.Join(lines, "\n")}
	case g.chance(5):
		op.Verb, op.Slot, op.Args = "land", 0, nil
		if g.chance(2) {
			op.Args = []string{"--each"}
		}
	}
	return op
}

// attempt forks a step, edits files in the fork, and promotes the result. The fork must
// have exactly the files of the step, and after the promotion the worktree must have
// exactly those of the fork. Before the promotion the worktree must not change.
func (c *run) attempt(op Op) error {
	from := c.slots[op.Slot]
	if from == nil {
		return nil
	}
	// Each attempt gets a name of its own, since sessions of earlier ones stay.
	c.forked++
	called := fmt.Sprint("try", c.forked)
	// spared is the hash of ignored files. No step below may touch these.
	before, spared, err := c.sum(op.Tree)
	if err != nil {
		return err
	}
	steps := []struct {
		in   Op
		args []string
	}{
		{Op{Verb: "fork", Tree: op.Tree}, []string{"--session", from.session, "--name", called, from.id, "../" + called}},
		{Op{Verb: "create", Tree: called}, []string{"--always", "-q"}},
		{Op{Verb: "promote", Tree: op.Tree}, []string{"-y", called}},
	}
	var tried string
	for i, s := range steps {
		r, err := c.program(s.in, s.args...)
		if err != nil {
			return err
		}
		if r.code != 0 {
			return broken("%s: exit %d: %s", s.in.Verb, r.code, r.err)
		}
		is, still, err := c.sum(op.Tree)
		switch {
		case err != nil:
			return err
		case still != spared:
			return broken("%s changed ignored files", s.in.Verb)
		case s.in.Verb != "promote" && is != before:
			return broken("%s changed the worktree that it was called from: %s", s.in.Verb, c.differs(is, before))
		case s.in.Verb == "promote" && is != tried:
			return broken("after promote the files are not those of the attempt: %s", c.differs(is, tried))
		}
		if s.in.Verb == "promote" {
			break
		}
		if tried, _, err = c.sum(called); err != nil {
			return err
		}
		if i == 0 && tried != from.disk {
			return broken("the fork has not the files of the step: %s", c.differs(tried, from.disk))
		}
		// Work in the fork before its checkpoint is made.
		if i == 0 {
			if err := c.host.shell(called, strings.Split(op.Line, "\n")); err != nil {
				return err
			}
		}
	}
	// A promotion is one level of undo.
	c.tally["promote"]++
	c.back[op.Tree], c.forth[op.Tree] = append(c.back[op.Tree], stepOfWalk{before, called}), nil
	r, err := c.program(Op{Verb: "fork", Tree: op.Tree}, "--remove", called, "-y", "--force")
	if err == nil && r.code != 0 {
		err = broken("fork --remove: exit %d: %s", r.code, r.err)
	}
	return err
}

// land makes commits of steps and must not change any file. If it made commits, they are
// one level of undo, which changes no file either.
func (c *run) land(op Op) error {
	before, spared, err := c.sum(op.Tree)
	if err != nil {
		return err
	}
	r, err := c.program(op, "-y", "--json")
	if err != nil {
		return err
	}
	after, still, err := c.sum(op.Tree)
	switch {
	case err != nil:
		return err
	case before != after || spared != still:
		return broken("land changed files: %s", c.differs(after, before))
	// 3, 4 and 8 mean that there is nothing to land, or that it is refused.
	case r.code != 0 && r.code != 3 && r.code != 4 && r.code != 8:
		return broken("land: exit %d: %s", r.code, r.err)
	case r.code != 0 || strings.Contains(r.out, `"commits":[]`):
		return nil
	}
	c.tally["land"]++
	c.back[op.Tree], c.forth[op.Tree] = append(c.back[op.Tree], stepOfWalk{"", "land"}), nil
	return nil
}
