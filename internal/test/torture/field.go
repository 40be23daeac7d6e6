package torture

// Kinds of worlds that people reported of other tools: the git directory in the worktree under another
// name, disks that show all files as 0777, attributes that change from one checkpoint to the next, and
// branches that were rewritten.

// field returns the kinds of this file.
func field() []kind {
	inside := kind{name: "git-inside", paths: plain, edits: append(staging(), branching()...), setup: func(g *gen) []string {
		lines := start(g, "--separate-git-dir=repo/meta")
		// Where git itself does not know better, git add -A would add its own directory.
		return append([]string{"mkdir repo", lines[0], "cd repo", `mkdir -p meta/info; printf '/meta/\n' >meta/info/exclude`}, lines[2:]...)
	}}
	rewritten := kind{name: "rewritten", paths: plain, edits: append(committing(), rewriting()...), setup: func(g *gen) []string { return start(g) }}
	return []kind{inside, rewritten, turning(), modeless()}
}

// modeless is a disk that shows all files as 0777, as WSL's mounts, exFAT and SMB do: the index has the modes.
// Without such a mount, all files are made so before each command.
func modeless() kind {
	k := configured("modeless", "core.fileMode false")
	k.modeless = true
	flip := func(g *gen) string {
		return "git update-index --chmod=" + g.pick([]string{"+x", "-x"}) + " -- " + words(g.path())
	}
	k.edits = append(append(k.edits, committing()...), flip, flip, flip)
	return k
}

// rewriting are edits that make the commits of the branch anew, as git filter-branch does: without a
// path, or with other words. The old ones go at times.
func rewriting() []edit {
	return []edit{
		func(g *gen) string { return "rewrite " + words(g.path()) },
		func(g *gen) string { return "rewrite " + words(g.path()) + "; git reset -q" },
		func(g *gen) string {
			return "rewrite " + words(g.path()) + "; git reflog expire --expire=now --all; git gc -q --prune=now"
		},
	}
}

// turning is a world in which the same files are converted in other ways from one checkpoint to the next.
func turning() kind {
	paths := []string{"a", "b", "dir/c", "dir/d"}
	rules := []string{"", `* -text\n`, `* text eol=crlf\n`, `* text eol=lf\n`, `* ident\n`, `* filter=f\n`,
		`* working-tree-encoding=UTF-16LE-BOM\n`, `a working-tree-encoding=UTF-16\nb eol=crlf\n`, `* binary\n`}
	flip := func(g *gen) string {
		return put(g.pick([]string{".gitattributes", ".gitattributes", "dir/.gitattributes"}), g.pick(rules))
	}
	return kind{name: "attributes", paths: paths, converts: true, edits: []edit{
		flip, flip, flip, staging()[0],
		func(g *gen) string { return flip(g) + "; " + g.put(g.path()) },
		func(*gen) string { return "git add --renormalize ." },
	}, content: func(g *gen) string {
		if g.chance(3) {
			return encoded(g)
		}
		return converted(g)
	}, setup: func(g *gen) []string {
		return append(start(g), "git config filter.f.clean 'stand-in clean'", "git config filter.f.smudge 'stand-in smudge'")
	}}
}
