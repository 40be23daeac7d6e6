package torture

// mixed are worlds with several unusual things at once: all edits, in two worktrees, under
// random settings. Each of these things also has a kind of its own, where a failure is
// easier to read.
func mixed() []kind {
	paths := append([]string{"a.ig", "igdir/x", "n", "n/x"}, plain...)
	settings := []string{
		"git config core.splitIndex true; git update-index --split-index",
		"git config core.untrackedCache true; git update-index --untracked-cache",
		"git config index.version 4; git update-index --index-version 4",
		"git config core.trustctime false; git config core.checkStat minimal",
		"git config core.fileMode false", "git config core.symlinks false", "git config core.ignoreCase true",
		"git config core.preloadIndex false", "git config core.logAllRefUpdates always", "git config commit.gpgSign true",
		"git gc -q", "git config checkpoint.scanner git", "git config status.showUntrackedFiles no",
		"git config core.quotePath false", "git config core.bigFileThreshold 100", "git config core.sharedRepository group",
	}
	setup := func(g *gen) []string {
		lines := start(g)
		if g.chance(3) {
			lines = start(g, "--object-format=sha256")
		}
		for _, s := range settings {
			if g.chance(4) {
				lines = append(lines, s)
			}
		}
		return append(lines, "git worktree add -q ../linked -b other")
	}
	var edits []edit
	for _, list := range [][]edit{staging(), ignoring(), linking(), moding(), branching(), nesting(), specials(), hiding()} {
		edits = append(edits, list...)
	}
	converting := kind{name: "mixed-converting", paths: paths, edits: edits, worktree: []string{"repo", "linked"}, across: true, converts: true, content: converted}
	converting.setup = func(g *gen) []string {
		lines := setup(g)
		return append(lines, g.pick([]string{"git config core.autocrlf true", "git config core.autocrlf input", put(".gitattributes", `* text=auto\n`), put(".gitattributes", `a ident\ndir/* text eol=crlf\n`)}))
	}
	return []kind{
		{name: "mixed", paths: paths, edits: edits, worktree: []string{"repo", "linked"}, across: true, setup: setup},
		converting,
	}
}
