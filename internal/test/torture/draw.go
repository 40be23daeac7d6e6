package torture

// A case is drawn from a random generator with a fixed seed, before anything runs. So the
// same kind and seed give the same case, and a failure can be repeated and shrunk.

import (
	"hash/fnv"
	"math/rand/v2"
	"slices"
)

// Draw returns the case of a kind and a seed.
func Draw(name string, seed uint64) (*Case, error) {
	k, err := kindNamed(name)
	if err != nil {
		return nil, err
	}
	h := fnv.New64a()
	h.Write([]byte(name))
	// The name is part of the seed, so that kinds do not repeat each other's cases.
	g := &gen{Rand: rand.New(rand.NewPCG(seed, h.Sum64())), kind: k}
	cs := &Case{Kind: name, Seed: seed, Setup: k.setup(g)}
	if k.together {
		cs.Ops = g.together()
		return cs, nil
	}
	var made []string // the worktree of each checkpoint
	last := "create"
	// A case has some ten commands, or as many as the kind says.
	for range max(k.steps, 4+g.IntN(7)) {
		tree := g.pick(k.trees())
		// Sometimes undo follows a rollback at once, which has to restore exactly.
		if last == "create" || !g.chance(3) {
			cs.Ops = append(cs.Ops, g.lines(tree)...)
		}
		op := g.command(tree, last, &made)
		cs.Ops = append(cs.Ops, op)
		last = op.Verb
	}
	return cs, nil
}

// lines returns some edits of a worktree.
func (g *gen) lines(tree string) (out []Op) {
	edits := append(ordinary(), g.kind.edits...)
	for range 1 + g.IntN(6) {
		out = append(out, Op{Verb: "sh", Tree: tree, Line: edits[g.IntN(len(edits))](g)})
	}
	return out
}

// command returns a command of the program. Slots number the checkpoints of a case, from 1.
func (g *gen) command(tree, last string, made *[]string) Op {
	op := Op{Tree: tree, Env: g.kind.env}
	if len(g.kind.cwd) > 0 {
		op.In = g.pick(g.kind.cwd)
	}
	if g.kind.steps > 0 {
		return g.stroll(tree, last, made)
	}
	n := g.IntN(100)
	// An undo after a rollback is the most interesting case, so make it likely.
	if last == "rollback" && n < 80 {
		n = 75
	}
	op.Slot = g.target(tree, *made)
	switch {
	case op.Slot == 0 || n < 35:
		*made = append(*made, tree)
		op.Verb, op.Slot = "create", len(*made)
		op.Args = g.createFlags()
	case n < 75:
		op.Verb = "rollback"
		op.Args = g.rollbackFlags(op)
	case n < 85:
		op.Verb, op.Args = "undo", g.walkFlags()
	case n < 90:
		op.Verb, op.Args = "redo", g.walkFlags()
	// Packing between commands checks that they find objects wherever git puts them.
	case n < 96:
		return Op{Verb: "sh", Tree: tree, Line: g.packing()}
	default:
		op.Verb = g.pick([]string{"delete", "pin", "unpin"})
	}
	return op
}

// target returns a checkpoint of this worktree, or 0 if there is none yet.
func (g *gen) target(tree string, made []string) int {
	var own []int
	for i, t := range made {
		// Some kinds also roll back to checkpoints of the other worktree.
		if t == tree || g.kind.across && g.chance(4) {
			own = append(own, i+1)
		}
	}
	if len(own) == 0 {
		return 0
	}
	return own[g.IntN(len(own))]
}

// createFlags returns random options of create.
func (g *gen) createFlags() (out []string) {
	if g.chance(8) {
		out = append(out, "-m", "words\n\nof several lines")
	}
	if g.chance(8) {
		out = append(out, "--trigger", "session_end")
	}
	if g.chance(8) {
		out = append(out, "--no-tag")
	}
	if g.chance(8) {
		out = append(out, "--pin")
	}
	if g.chance(12) {
		out = append(out, "--include-ignored", g.pick([]string{"igdir", "*.ig", "dir"}))
	}
	if g.chance(12) && !g.kind.force && !g.kind.converts {
		out = append(out, "--exclude", g.pick([]string{"a", "dir", "x", "*.mod"}))
	}
	return out
}

// walkFlags returns random options of undo and redo.
func (g *gen) walkFlags() []string {
	if g.chance(2) {
		return nil
	}
	return []string{"--overwrite-ignored"}
}

// rollbackFlags returns random options of rollback.
func (g *gen) rollbackFlags(op Op) (out []string) {
	if g.chance(6) {
		out = append(out, "--branch")
	}
	// Index and worktree must change together.
	if g.kind.sparse {
		return out
	}
	switch g.IntN(8) {
	case 0:
		out = append(out, "--worktree-only")
	case 1:
		out = append(out, "-n")
	case 2:
		out = append(out, "--overwrite-ignored")
	}
	if g.kind.force && g.chance(2) {
		out = append(out, "--force")
	}
	if g.chance(5) && op.In == "" {
		out = slices.DeleteFunc(out, func(flag string) bool { return flag == "--branch" }) // some paths move no branch
		out = append(out, "--", g.path())
	}
	return out
}
