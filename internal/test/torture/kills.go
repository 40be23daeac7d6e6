package torture

// A command may be killed at any moment, with all of its git processes. Afterwards
// `rollback --abort` or `--continue` has to end what it left: the files are then either all
// as before or all as wanted.

import (
	"encoding/json"
	"fmt"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"time"
)

// killing is the kind of long walks in which commands are killed, and in which `run` runs
// commands that fail.
func killing() kind {
	k := walking()
	k.name, k.kills = "walks-killed", true
	return k
}

// disturb makes a command be killed after some time, or replaces it by a failing `run`.
func (g *gen) disturb(op Op) Op {
	switch {
	case g.chance(8) && op.Verb != "create":
		op.Verb, op.Slot = "run", 0
		op.Args = []string{"--session", "s", "--retries", strconv.Itoa(g.IntN(3)), "--on-fail", "rollback", "--", "sh", "-c", "echo try >>tried; rm -f a; exit 9"}
	case g.chance(2):
		// Up to a second, short times being more likely.
		op.Kill = 1 + g.IntN(1<<g.IntN(11))
		op.Mend = g.pick([]string{"--abort", "--continue"})
	}
	return op
}

// unknown stands for a state of the disk that was not read: what a failed try of `run`
// left.
const unknown = "?"

// runThrough runs a failing command with rollbacks. The disk must end as it began. Each
// rollback adds a level of undo whose files are unknown.
func (c *run) runThrough(op Op) error {
	before, spared, err := c.sum(op.Tree)
	if err != nil {
		return err
	}
	levels, err := c.count(op.Tree)
	if err != nil {
		return err
	}
	r, err := c.program(op)
	if err != nil {
		return err
	}
	after, still, err := c.sum(op.Tree)
	switch {
	case err != nil:
		return err
	case r.code != 9:
		return broken("run: exit %d: %s", r.code, r.err)
	case before != after:
		return broken("after run the disk is not what it was: %s", c.differs(after, before))
	case still != spared:
		return broken("run changed ignored files")
	}
	c.tally["run"]++
	now, err := c.count(op.Tree)
	// What these levels bring back was never read.
	for range now - levels {
		c.back[op.Tree], c.forth[op.Tree] = append(c.back[op.Tree], stepOfWalk{unknown, "run"}), nil
	}
	return err
}

// count returns the number of undo levels, by the program's own list.
func (c *run) count(tree string) (int, error) {
	r, err := c.host.start(tree, nil, c.host.program, "undo", "--list", "--json")
	if err == nil && r.code != 0 {
		err = broken("undo --list: exit %d: %s", r.code, r.err)
	}
	return strings.Count(r.out, `"list":"undo"`), err
}

// killThrough kills a rollback, undo or redo, and ends what it left. Either all of it must
// be done, or nothing. The dead process is not reaped until then and so stays a zombie, as
// in a container whose init process does not reap. The program must not take it for alive.
func (c *run) killThrough(op Op) error {
	to := c.slots[op.Slot]
	args := []string{"-y"}
	if op.Verb == "rollback" {
		if to == nil {
			return nil
		}
		args = append(args, to.id, "--session", to.session)
	} else if list := map[string][]stepOfWalk{"undo": c.back[op.Tree], "redo": c.forth[op.Tree]}[op.Verb]; len(list) > 0 {
		// One level at a time, so that the result of a kill is clear.
		op.Args = []string{"1"}
	} else {
		return nil
	}
	before, spared, err := c.sum(op.Tree)
	if err != nil {
		return err
	}
	levels, err := c.count(op.Tree)
	if err != nil {
		return err
	}
	reap, err := c.killed(op, args)
	if err != nil {
		return err
	}
	// The zombie is reaped only after the mending.
	defer reap()
	r, err := c.host.start(op.Tree, nil, c.host.program, "rollback", op.Mend)
	if err != nil {
		return err
	}
	if r.code != 0 && r.code != 3 && r.code != 4 {
		return broken("rollback %s after a kill: exit %d: %s\nthere are:\n%s", op.Mend, r.code, r.err, c.leftovers())
	}
	if err := c.unlocked(); err != nil {
		return err
	}
	after, still, err := c.sum(op.Tree)
	if err != nil {
		return err
	}
	if still != spared {
		return broken("%s, killed, and %s changed ignored files", op.Verb, op.Mend)
	}
	now, err := c.count(op.Tree)
	if err != nil {
		return err
	}
	return c.settled(op, before, after, now-levels)
}

// settled records the result of a killed command. The program's own list says whether it
// was completed, and the disk has to agree with that.
func (c *run) settled(op Op, before, after string, more int) error {
	c.tally["killed"]++
	// The command was undone or never began.
	if more == 0 {
		if before != after {
			return broken("%s, killed, left no level, but another disk: %s", op.Verb, c.differs(after, before))
		}
		return nil
	}
	if op.Verb == "rollback" {
		left := stepOfWalk{before, "killed"}
		if has(op.Args, "--state-only") {
			left.disk = ""
		}
		c.back[op.Tree], c.forth[op.Tree] = append(c.back[op.Tree], left), nil
		return nil
	}
	// It was completed, so the levels move as after a command that was not killed.
	want := c.pass(op, 1, before)
	if want != unknown && want != after {
		return broken("after %s, killed, and %s the disk is not what it was: %s", op.Verb, op.Mend, c.differs(after, want))
	}
	return nil
}

// killed starts a command and kills its process group after op.Kill milliseconds.
func (c *run) killed(op Op, args []string) (reap func(), err error) {
	cmd := exec.CommandContext(c.host.ctx, c.host.program, append(append([]string{op.Verb}, args...), op.Args...)...)
	cmd.Dir, cmd.Env = filepath.Join(c.host.root, op.Tree), c.host.environment()
	ownGroup(cmd)
	if err := cmd.Start(); err != nil {
		return nil, err
	}
	time.Sleep(time.Duration(op.Kill) * time.Millisecond)
	killGroup(cmd)
	return func() { cmd.Wait() }, nil //nolint:errcheck // it was killed
}

// unlocked requires that no lock file is left after the command was ended. Packing in the
// background may hold one for a moment, so it looks several times.
func (c *run) unlocked() error {
	err := c.findLock()
	for tries := 0; err != nil && tries < 3; tries++ {
		time.Sleep(time.Second)
		err = c.findLock()
	}
	return err
}

// findLock returns a finding if the git directory has a lock file. It does not look at objects. The
// lock of a private index is no finding: it is in nobody's way, and goes by age like the index.
func (c *run) findLock() error {
	return filepath.WalkDir(filepath.Join(c.host.root, "repo", ".git"), func(p string, d fs.DirEntry, err error) error {
		switch {
		case os.IsNotExist(err):
			return nil
		case err != nil:
			return err
		case strings.HasSuffix(p, ".lock") && !strings.HasPrefix(d.Name(), "tmp-"):
			return broken("%s is left", p)
		case d.IsDir() && d.Name() == "objects":
			return fs.SkipDir
		}
		return nil
	})
}

// leftovers lists locks and private files with the beginning of what they hold, for a finding.
func (c *run) leftovers() string {
	var all strings.Builder
	_ = filepath.WalkDir(filepath.Join(c.host.root, "repo", ".git"), func(p string, d fs.DirEntry, err error) error {
		if err == nil && (strings.HasSuffix(p, ".lock") || strings.HasPrefix(d.Name(), "tmp-")) {
			data, _ := os.ReadFile(p) //nolint:errcheck // it may be a directory
			fmt.Fprintf(&all, "  %s: %.60q\n", p, data)
		}
		return nil
	})
	return all.String()
}

// idOf reads the output of create --json.
func idOf(out string) (*saved, error) {
	var made struct{ ID, Session string }
	if err := json.Unmarshal([]byte(out), &made); err != nil {
		return nil, broken("create --json: %v in %q", err, out)
	}
	return &saved{id: made.ID, session: made.Session}, nil
}
