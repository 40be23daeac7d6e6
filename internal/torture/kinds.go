package torture

import (
	"fmt"
	"math/rand/v2"
	"sort"
)

// kind is a sort of world: how it is set up, and what is done in it.
type kind struct {
	name     string
	setup    func(g *gen) []string // lines that make repo, and linked where there is one
	paths    []string              // what edits are about
	edits    []edit                // beside the ordinary ones
	content  func(g *gen) string   // what files mostly hold, as a format of printf; nil: anything
	worktree []string              // the worktrees; none: repo
	converts bool                  // git's conversions are at work: blobs are not the bytes on disk
	limit    int64                 // checkpoint.maxFileSize; 0: its default
	cwd      []string              // directories that commands run in
	env      []string              // for the program
	index    string                // the index that is inherited, in the git directory
	sparse   bool                  // a sparse checkout
	force    bool                  // rollbacks are forced now and then
	across   bool                  // checkpoints of one worktree are brought to another
	kills    bool                  // commands are killed
	attempts bool                  // steps are forked, promoted and landed
	steps    int                   // of a long walk, of which the disk alone is watched; 0: everything is
}

func (k *kind) trees() []string {
	if len(k.worktree) > 0 {
		return k.worktree
	}
	return []string{"repo"}
}

// Kinds lists the names of all kinds of worlds.
func Kinds() []string {
	var names []string
	for _, k := range kinds() {
		names = append(names, k.name)
	}
	sort.Strings(names)
	return names
}

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

// chance is true in one of n draws.
func (g *gen) chance(n int) bool { return g.IntN(n) == 0 }

// plain are ordinary paths: files, directories that become files, and back.
var plain = []string{"a", "b", "dir/a", "dir/b", "dir/sub/c", "x", "x/y", "x/y/z", "go.mod"}

// start makes a repository with a commit of some of the kind's paths.
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
		{name: "worktrees", setup: func(g *gen) []string {
			return append(start(g), "git worktree add -q ../linked -b other")
		}, paths: plain, edits: branching(), worktree: []string{"repo", "linked"}, across: true},
		{name: "nested", setup: func(g *gen) []string { return start(g) }, paths: plain, edits: nesting()},
		{name: "names", setup: func(g *gen) []string { return start(g) }, paths: odd(), edits: staging()},
		{name: "special", setup: func(g *gen) []string { return start(g) }, paths: plain, edits: specials()},
		{name: "large", setup: func(g *gen) []string { return append(start(g), "git config checkpoint.maxFileSize 100") }, paths: plain, limit: 100, edits: large()},
	}
	return append(append(append(all, walking(), killing(), attempting()), flips()...), exotic()...)
}
