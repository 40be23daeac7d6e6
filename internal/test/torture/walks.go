package torture

// Long walks check many rollbacks, undos and redos in a row. Reading everything after each
// command would take too long, so a hash of the files before each move is all that is
// remembered: an undo has to bring back exactly that.

import (
	"crypto/sha256"
	"encoding/json"
	"fmt"
	"io/fs"
	"maps"
	"path"
	"slices"
	"strconv"
	"strings"
)

// walking is the kind of long walks, in two worktrees with two sessions.
func walking() kind {
	return kind{
		name: "walks", paths: append([]string{"dir/c", "e"}, plain...), worktree: []string{"repo", "linked"}, steps: 30,
		edits: append(linking(), hardLinking()...),
		setup: func(g *gen) []string {
			lines := []string{"git init -q repo", "cd repo", put(".gitignore", `*.ig\nigdir/\n`), put("keep.ig", `kept\n`), put("igdir/x", `kept too\n`)}
			for range 2 + g.IntN(4) {
				lines = append(lines, g.put(g.path()))
			}
			return append(lines, "git add -A", "git commit -qm one", "git worktree add -q ../linked -b other",
				"cd ../linked", put("keep.ig", `kept there\n`), put("igdir/x", `and this\n`))
		},
	}
}

// hardLinking are edits that make hard links, also to an ignored file. A rollback that
// writes into such a file in place would change the other one.
func hardLinking() []edit {
	tie := func(g *gen, to string) string {
		from := words("./" + g.path())
		return "if [ -f " + from + " ] && [ ! -L " + from + " ]; then room " + to + "; rm -rf ./" + to + "; ln " + from + " ./" + to + "; fi"
	}
	return []edit{
		func(g *gen) string { return tie(g, words(g.path())) },
		func(g *gen) string { return tie(g, "tied.ig") },
	}
}

// stroll returns a command of a long walk.
func (g *gen) stroll(tree, last string, made *[]string) Op {
	op := Op{Tree: tree, Slot: g.target(tree, *made)}
	n := g.IntN(100)
	switch {
	case op.Slot == 0 || n < 30:
		*made = append(*made, tree)
		op.Verb, op.Slot, op.Args = "create", len(*made), []string{"--session", g.pick([]string{"s", "t"})}
	case n < 60 || last == "create":
		op.Verb = "rollback"
		switch g.IntN(10) {
		case 0:
			op.Args = []string{"--state-only"}
		case 1, 2:
			op.Args = []string{"--worktree-only"}
		}
		// Not of some paths: what the undo of that brings back depends on what was edited since.
	case n < 80:
		op.Verb, op.Args = "undo", []string{strconv.Itoa(1 + g.IntN(3))}
	default:
		op.Verb, op.Args = "redo", []string{strconv.Itoa(1 + g.IntN(3))}
	}
	if g.kind.kills {
		return g.disturb(op)
	}
	if g.kind.attempts && op.Verb != "create" {
		return g.venture(op)
	}
	return op
}

// stepOfWalk is what an undo or redo of one level has to bring back.
type stepOfWalk struct {
	// Hash of the files; empty if the level did not change files.
	disk  string
	slots string // for messages
}

// strollThrough executes a command and compares the hashes.
func (c *run) strollThrough(op Op) error {
	if through := c.oneOf(op); through != nil {
		return through(op)
	}
	to := c.slots[op.Slot]
	args := []string{"--json"}
	if op.Verb == "rollback" {
		if to == nil {
			return nil
		}
		args = append(args, to.id, "--session", to.session, "-y")
	}
	before, spared, err := c.sum(op.Tree)
	if err != nil {
		return err
	}
	r, err := c.program(op, args...)
	if err != nil {
		// An ignored file has to survive every command.
		return err
	}
	after, still, err := c.sum(op.Tree)
	switch {
	case err != nil:
		return err
	case still != spared:
		return broken("%s changed ignored files", op.Verb)
	case r.code != 0 && before != after:
		return broken("%s: exit %d, and the disk is another", op.Verb, r.code)
	case r.code != 0 && len(op.Args) > 0 && op.Args[0] == "--":
		return nil // the path exists on neither side
	case r.code != 0:
		return broken("%s: exit %d: %s", op.Verb, r.code, r.err)
	}
	c.tally[op.Verb]++
	if op.Verb == "create" {
		if c.slots[op.Slot], err = idOf(r.out); err == nil {
			c.slots[op.Slot].disk = after
		}
		return err
	}
	// A rollback that had something to do is a new level, and there is nothing to redo any more.
	var got struct{ From, To, Safety string }
	if err := json.Unmarshal([]byte(r.out), &got); err != nil || got.Safety == "" && got.From == got.To {
		return err
	}
	left := stepOfWalk{before, to.id}
	if has(op.Args, "--state-only") {
		left.disk = ""
	}
	c.back[op.Tree], c.forth[op.Tree] = append(c.back[op.Tree], left), nil
	return nil
}

// oneOf returns the function for a command that is no plain create or rollback, else nil.
func (c *run) oneOf(op Op) func(Op) error {
	switch {
	case op.Kill > 0 && op.Verb != "create":
		return c.killThrough
	case op.walks():
		return c.walkBy
	case op.Verb == "run":
		return c.runThrough
	case op.Verb == "promote":
		return c.attempt
	case op.Verb == "land":
		return c.land
	}
	return nil
}

// walkBy undoes or redoes some levels, or as many as there are.
func (c *run) walkBy(op Op) error {
	from := c.back
	if op.Verb == "redo" {
		from = c.forth
	}
	count, err := strconv.Atoi(op.Args[0])
	if err != nil {
		return err
	}
	if count = min(count, len(from[op.Tree])); count == 0 {
		return nil
	}
	op.Args = []string{strconv.Itoa(count)}
	want, spared, err := c.sum(op.Tree)
	if err != nil {
		return err
	}
	r, err := c.program(op, "-y", "--json")
	if err != nil {
		return err
	}
	if r.code == 4 && strings.Contains(r.err, " made after ") {
		// Somebody's commits would go off the branch with it, so nothing moves.
		is, _, err := c.sum(op.Tree)
		if err == nil && is != want {
			err = broken("%s %d was refused, and the disk is another: %s", op.Verb, count, c.differs(is, want))
		}
		c.tally["refused"]++
		return err
	}
	if r.code != 0 {
		return broken("%s %d: exit %d: %s", op.Verb, count, r.code, r.err)
	}
	c.tally[op.Verb]++
	want = c.pass(op, count, want)
	is, still, err := c.sum(op.Tree)
	switch {
	case err != nil:
		return err
	case still != spared:
		return broken("%s changed ignored files", op.Verb)
	case is != want && want != unknown:
		return broken("after %s %d the disk is not what it was: %s", op.Verb, count, c.differs(is, want))
	}
	return nil
}

// pass moves levels from one list to the other and returns the hash of what has to come
// back.
func (c *run) pass(op Op, count int, disk string) string {
	from, to := c.back, c.forth
	if op.Verb == "redo" {
		from, to = to, from
	}
	for range count {
		list := from[op.Tree]
		level := list[len(list)-1]
		// A level that changed no file is passed without changing the hash.
		left := stepOfWalk{disk, level.slots}
		if level.disk == "" {
			left.disk = ""
		} else {
			disk = level.disk
		}
		from[op.Tree], to[op.Tree] = list[:len(list)-1], append(to[op.Tree], left)
	}
	return disk
}

// home undoes everything and redoes everything, first one level at a time and then all at
// once.
func (c *run) home(trees []string) error {
	for _, tree := range trees {
		for _, once := range []bool{false, true} {
			for _, verb := range []string{"undo", "redo"} {
				list := map[string][]stepOfWalk{"undo": c.back[tree], "redo": c.forth[tree]}[verb]
				count := 1
				if once {
					count = len(list)
				}
				for i := 0; i < len(list); i += max(count, 1) {
					if err := c.walkBy(Op{Verb: verb, Tree: tree, Args: []string{strconv.Itoa(count)}}); err != nil {
						return err
					}
				}
			}
		}
		r, err := c.host.start(tree, nil, c.host.program, "validate", "-q")
		if err != nil {
			return err
		}
		if r.code != 0 {
			return broken("validate: exit %d: %s%s", r.code, r.out, r.err)
		}
	}
	return nil
}

// sum returns the hashes of a worktree's files: those of a checkpoint, and the ignored
// ones.
func (c *run) sum(tree string) (files, ignored string, err error) {
	all, err := readDisk(c.host.root+"/"+tree, func(p string) bool { return p == ".git" })
	if err != nil {
		return "", "", err
	}
	list := map[bool]*strings.Builder{false: {}, true: {}}
	for _, p := range slices.Sorted(maps.Keys(all)) {
		n := all[p]
		// Checkpoints have no empty directories.
		if n.Type == fs.ModeDir {
			continue
		}
		rule := strings.HasSuffix(p, ".ig") || under(p, "igdir")
		fmt.Fprintf(list[rule], "%s %s %q\n", words(p), n.mode(), n.Data)
	}
	hash := func(b *strings.Builder) string {
		sum := fmt.Sprintf("%x", sha256.Sum256([]byte(b.String())))[:12]
		c.disks[sum] = b.String()
		return sum
	}
	return hash(list[false]), hash(list[true]), nil
}

// differs lists the lines in which two hashed listings differ.
func (c *run) differs(is, want string) string {
	lines := func(hash string) map[string]string { return byFirst(c.disks[hash]) }
	return "\n" + list(differences(lines(want), lines(is))) + "\n(was: expected, is: there; in " + path.Base(c.host.root) + ")"
}
