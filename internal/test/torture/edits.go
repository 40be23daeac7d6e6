package torture

// Edits are what a user does between the commands: lines of shell, built from the functions
// in the prelude (shell.go), so that a failing case can be printed as a script.

import (
	"fmt"
	"strings"
)

// edit returns a shell line, which is run at the top of a worktree.
type edit func(g *gen) string

// put returns a line that writes a file. format is for printf.
func put(path, format string) string { return "put " + words(path, format) }

// content returns the content of a file as a format for printf. Only few sizes occur, so
// that edits that keep the size are common: these are the ones that stat data may miss.
func (g *gen) content() string {
	g.count++
	if g.kind.content != nil && !g.chance(5) {
		return g.kind.content(g)
	}
	switch g.IntN(12) {
	case 0:
		return ""
	case 1:
		return fmt.Sprintf(`line %d\r\nline\r\n`, g.count)
	case 2:
		return fmt.Sprintf(`\000bin %d\001\377`, g.count)
	case 3:
		return fmt.Sprintf(`%d\n`, g.count) + strings.Repeat(`0123456789\n`, g.IntN(40))
	case 4:
		return "equal"
	}
	return fmt.Sprintf(`v%04d\n`, g.count)
}

// put returns a line that writes a random content to a file.
func (g *gen) put(path string) string { return put(path, g.content()) }

// ordinary are the edits that every kind has.
func ordinary() []edit {
	return []edit{
		func(g *gen) string { return g.put(g.path()) },
		func(g *gen) string { return g.put(g.path()) },
		func(g *gen) string { return g.put(g.path()) },
		func(g *gen) string { return "rm -rf -- " + words("./"+g.path()) },
		func(g *gen) string { return "rm -f -- " + words("./"+g.path()) },
		func(g *gen) string { return "move " + words(g.path(), g.path()) },
		func(g *gen) string { return fmt.Sprintf("same %s 'v%04d\\n'", words(g.path()), g.IntN(10000)) },
		func(g *gen) string {
			return "bits " + g.pick([]string{"+x", "-x", "600", "640", "755"}) + " -- " + words("./"+g.path())
		},
		func(g *gen) string { return "git --literal-pathspecs add -- " + words(g.path()) },
		func(*gen) string { return "git add -A" },
		func(*gen) string { return "git commit -qam more" },
		func(g *gen) string { return "room " + words(g.path()) + "; rm -f -- " + words("./"+g.path()) },
		func(g *gen) string { return "renew " + words("./"+g.path()) },
	}
}

// staging are edits of the index: partly staged files, renames, modes, intent-to-add,
// stashes.
func staging() []edit {
	return []edit{
		func(g *gen) string {
			p := g.path()
			return g.put(p) + "; git --literal-pathspecs add -- " + words(p) + "; " + g.put(p)
		},
		func(g *gen) string { return "git --literal-pathspecs rm -q --cached -- " + words(g.path()) },
		func(g *gen) string { return "git --literal-pathspecs rm -rqf -- " + words(g.path()) },
		func(g *gen) string { return "git mv -f -- " + words("./"+g.path(), "./"+g.path()) },
		func(g *gen) string { return "git --literal-pathspecs reset -q -- " + words(g.path()) },
		func(g *gen) string { return "git update-index --chmod=+x -- " + words(g.path()) },
		func(g *gen) string { return "git update-index --chmod=-x -- " + words(g.path()) },
		func(g *gen) string { return "git --literal-pathspecs add -N -- " + words(g.path()) },
		func(g *gen) string { return "git --literal-pathspecs restore --staged -- " + words(g.path()) },
		func(*gen) string { return "git add -u" },
		func(*gen) string { return "git stash -q" },
		func(*gen) string { return "git stash pop -q" },
		func(g *gen) string { return "git --literal-pathspecs add -f -- " + words(g.path()) },
	}
}

// ignoring are edits of ignore rules and of files that they match.
func ignoring() []edit {
	return []edit{
		func(g *gen) string {
			return put(".gitignore", g.pick([]string{`*.ig\nigdir/\n`, `*.ig\n`, `/b\nx\n`, ``, `dir/\n!dir/a\n`, `*\n!.gitignore\n`}))
		},
		func(*gen) string { return "rm -f .gitignore" },
		func(g *gen) string { return put("dir/.gitignore", g.pick([]string{`*\n`, `a\n`, `!*.ig\n`})) },
		func(g *gen) string { return put("igdir/deep/"+g.pick([]string{"p", "q"}), g.content()) },
		func(g *gen) string { return "git --literal-pathspecs add -f -- " + words(g.path()) },
		func(g *gen) string { return "git --literal-pathspecs rm -rq --cached -- " + words(g.path()) },
		func(g *gen) string {
			return "mkdir -p .git/info; printf '" + g.pick([]string{`dir\n`, `*.ig\n`, ``}) + "' >.git/info/exclude"
		},
	}
}

// linking are edits with symbolic links, also in place of directories.
func linking() []edit {
	// No target leads out of the case, because later edits write through links.
	targets := []string{"a", "dir", "nowhere", "../home", "/nowhere/at/all", "dir/sub/", "..", ".", outside, "x", ".git"}
	link := func(g *gen) string { return "link " + words(g.path(), g.pick(targets)) }
	return []edit{link, link, link, link, link,
		func(g *gen) string {
			p := g.path()
			return "link " + words(p, g.pick(targets)) + "; git add -A; " + g.put(p)
		},
	}
}

// moding are edits of permissions that git records only in part.
func moding() []edit {
	return []edit{
		func(g *gen) string {
			return "bits " + g.pick([]string{"600", "640", "700", "750", "444", "400", "4755"}) + " -- " + words("./"+g.path())
		},
		func(g *gen) string {
			return "bits " + g.pick([]string{"600", "755", "711"}) + " -- " + words("./"+g.path()) + " && git add -A"
		},
		func(g *gen) string { p := g.path(); return g.put(p) + "; bits 600 -- " + words("./"+p) },
		func(g *gen) string { return "bits " + g.pick([]string{"700", "755", "750"}) + " -- dir" },
		func(g *gen) string {
			return "git update-index --chmod=" + g.pick([]string{"+x", "-x"}) + " -- " + words(g.path())
		},
	}
}

// branching are edits that move HEAD or refs.
func branching() []edit {
	return []edit{
		func(g *gen) string { return "git checkout -q -f " + g.pick([]string{"main", "topic", "other"}) },
		func(_ *gen) string { return "git checkout -q -B topic" },
		func(_ *gen) string { return "git checkout -q --detach" },
		func(_ *gen) string { return "git add -A; git commit -qm more" },
		func(_ *gen) string { return "git commit -q --allow-empty -m empty" },
		func(_ *gen) string { return "git reset -q HEAD~1" },
		func(_ *gen) string { return "git pack-refs --all" },
		func(_ *gen) string { return "git tag -f t" },
	}
}

// nesting are edits with repositories inside the worktree.
func nesting() []edit {
	nest := func(g *gen) string {
		return "nest " + words(g.pick([]string{"n", "dir", "x", "dir/n", "x/y"}), g.pick([]string{"0", "1"}))
	}
	return []edit{nest, nest, nest, nest,
		func(_ *gen) string { return "printf more >n/inner" },
		func(_ *gen) string { return "git -C n commit -q --allow-empty -m more" },
		func(_ *gen) string { return "git add -A; git commit -qm linked" },
		func(_ *gen) string { return "rm -rf n" },
		func(g *gen) string { return g.put("n") },
		func(_ *gen) string { return put("n/x", "x") },
	}
}

// specials are edits with named pipes and sockets, which no checkpoint can hold.
func specials() []edit {
	return []edit{
		func(g *gen) string { return "fifo " + words(g.path()) },
		func(g *gen) string { return "fifo " + words(g.path()) },
		func(g *gen) string { return "socket " + words(g.pick([]string{"s", "dir/s", "a"})) },
	}
}

// packing returns a line that moves objects and refs into other files, as git does by
// itself from time to time, and back into one file each.
func (g *gen) packing() string {
	// Git does not know this index, and a full gc would drop what only it refers to.
	if g.kind.index != "" {
		return g.pick([]string{"git gc -q", "git repack -dq", "git repack -dq; git multi-pack-index write", "git pack-refs --all"})
	}
	return g.pick([]string{
		"git gc -q --prune=now", "git gc -q --prune=now", "git repack -adq", "git repack -dq", "git repack -dq",
		"git repack -dq; git multi-pack-index write", "git repack -adbq", "git -c pack.indexVersion=1 repack -adq",
		"fold",
		"git pack-refs --all", "git commit-graph write --reachable --no-progress",
		"git -c pack.depth=1 -c pack.compression=0 repack -adfq", "loosen",
	})
}

// large are edits around the size limit of the kind "large".
func large() []edit {
	big := func(g *gen) string { return "put " + words(g.path(), strings.Repeat(`0123456789\n`, 10+g.IntN(5))) }
	return []edit{big, big, func(g *gen) string { return big(g) + "; git add -A" }, staging()[0]}
}

// odd are paths that are hard to quote, to compare or to create.
func odd() []string {
	return []string{
		"new\nline", "tab\there", `quo"te`, "-rf", "--", " lead", "trail ", "sp ace/ in", "\xff\xfe", "caf\u00e9", "cafe\u0301",
		"Case", "case", "CASE/x", "*", "?", "[a]", "a*", ":top", ":(glob)x", "!not", "#hash", ".gitfoo", ".git_", "it's", "back\\slash",
		"con", "nul.txt", "\x01\x1b[31m", "$(id)", "%s", "dir/\xf0\x9f\x98\x80", "ends.", strings.Repeat("d/", 150) + "deep",
		strings.Repeat(strings.Repeat("l", 200)+"/", 19) + "long",
	}
}
