package torture

import (
	"fmt"
	"math/rand/v2"
	"slices"
	"sort"
)

// kind is a sort of world: how its repository is made, and what is done in it.
type kind struct {
	name string
	// Shell lines that make "repo", and "linked" if there is one.
	setup func(g *gen) []string
	paths []string // the paths of edits
	edits []edit   // in addition to the ordinary ones
	// Usual content of files as a format for printf; nil: anything.
	content  func(g *gen) string
	worktree []string // worktrees; empty: repo
	// Git converts content, so blobs differ from the bytes on disk.
	converts bool
	// Checkpoint.maxFileSize; 0: the default.
	limit int64
	// Directories in which commands are run.
	cwd []string
	env []string // environment of the program
	// Name of an inherited index in the git directory.
	index  string
	sparse bool // a sparse checkout
	// The disk shows all files as 0777, so the index alone has modes.
	modeless bool
	force    bool // rollbacks sometimes use --force
	// Rollbacks may use checkpoints of the other worktree.
	across   bool
	kills    bool // commands are killed
	attempts bool // steps are forked, promoted and landed
	together bool // agents and a person work in it at the same time
	// Length of a long walk, of which only the disk is checked; 0: everything is.
	steps int
}

// trees returns the worktrees.
func (k *kind) trees() []string {
	if len(k.worktree) > 0 {
		return k.worktree
	}
	return []string{"repo"}
}

// Kinds returns the names of all kinds, sorted.
func Kinds() []string {
	var names []string
	for _, k := range kinds() {
		names = append(names, k.name)
	}
	sort.Strings(names)
	return names
}

// kindNamed returns the kind with a name.
func kindNamed(name string) (*kind, error) {
	for _, k := range kinds() {
		if k.name == name {
			return &k, nil
		}
	}
	return nil, fmt.Errorf("no kind of world is called %q; there are %v", name, Kinds())
}

// gen draws a case.
type gen struct {
	*rand.Rand
	kind  *kind
	count int // makes contents differ
}

func (g *gen) pick(list []string) string { return list[g.IntN(len(list))] }

func (g *gen) path() string { return g.pick(g.kind.paths) }

// chance is true once in n draws on average.
func (g *gen) chance(n int) bool { return g.IntN(n) == 0 }

// plain are ordinary paths: files, and directories that are files at other times.
var plain = []string{"a", "b", "dir/a", "dir/b", "dir/sub/c", "x", "x/y", "x/y/z", "go.mod"}

// start returns lines that make a repository with a commit of some files.
func start(g *gen, init ...string) []string {
	lines := []string{words(append([]string{"git", "init", "-q", "repo"}, init...)...), "cd repo"}
	for range 2 + g.IntN(5) {
		lines = append(lines, g.put(g.path()))
	}
	if !g.chance(4) {
		lines = append(lines, put(".gitignore", `*.ig\nigdir/\n`))
	}
	return append(lines, "git add -A", "git commit -qm one")
}

// kinds returns all kinds of worlds.
func kinds() []kind {
	all := []kind{
		{name: "ordinary", setup: func(g *gen) []string { return start(g) }, paths: plain},
		{name: "staged", setup: func(g *gen) []string { return start(g) }, paths: plain, edits: append(staging(), staging()...)},
		{name: "ignored", setup: func(g *gen) []string { return start(g) }, paths: append([]string{"a.ig", "dir/b.ig", "igdir/x", "igdir", "x/igdir/y", "b"}, plain...), edits: ignoring()},
		{name: "links", setup: func(g *gen) []string { return start(g) }, paths: plain, edits: linking()},
		{name: "modes", setup: func(g *gen) []string { return start(g) }, paths: plain, edits: moding()},
		{name: "subdirectory", setup: func(g *gen) []string { return start(g) }, paths: plain, cwd: []string{"", "dir", "dir/sub", "x", "x/y"}},
		{name: "unborn", setup: func(*gen) []string { return []string{"git init -q repo"} }, paths: plain, edits: staging()},
		{name: "detached", setup: func(g *gen) []string { return append(start(g), "git checkout -q --detach") }, paths: plain, edits: branching()},
		{name: "branches", setup: func(g *gen) []string { return start(g) }, paths: plain, edits: append(branching(), branching()...)},
		{name: "commits", setup: func(g *gen) []string { return start(g) }, paths: plain, edits: slices.Concat(staging(), committing(), committing(), branching())},
		{name: "worktrees", setup: func(g *gen) []string {
			return append(start(g), "git worktree add -q ../linked -b other")
		}, paths: plain, edits: branching(), worktree: []string{"repo", "linked"}, across: true},
		{name: "nested", setup: func(g *gen) []string { return start(g) }, paths: plain, edits: nesting()},
		{name: "names", setup: func(g *gen) []string { return start(g) }, paths: odd(), edits: staging()},
		{name: "special", setup: func(g *gen) []string { return start(g) }, paths: plain, edits: specials()},
		{name: "large", setup: func(g *gen) []string { return append(start(g), "git config checkpoint.maxFileSize 100") }, paths: plain, limit: 100, edits: large()},
	}
	return slices.Concat(all, []kind{walking(), killing(), attempting(), sharing()}, flips(), field(), exotic())
}
