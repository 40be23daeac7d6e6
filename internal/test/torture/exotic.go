package torture

// Kinds of worlds with unusual repositories: forms of the index, sparse checkouts,
// operations of git in progress, ways to store objects, environments, and conversions of
// content.

import (
	"fmt"
	"strconv"
	"strings"
)

// configured is an ordinary world in which settings of git are made after the first commit.
func configured(name string, settings ...string) kind {
	return kind{name: name, paths: plain, edits: staging(), setup: func(g *gen) []string {
		lines := start(g)
		for _, s := range settings {
			lines = append(lines, "git config "+s)
		}
		return lines
	}}
}

// indexes are worlds with different forms of the index file, and settings about stat data.
func indexes() []kind {
	shaped := func(name string, lines ...string) kind {
		return kind{name: name, paths: plain, edits: append(staging(), func(*gen) string { return "git update-index --refresh -q" }),
			setup: func(g *gen) []string { return append(start(g), lines...) }}
	}
	hidden := shaped("hidden")
	hidden.edits = append(hiding(), hiding()...)
	return []kind{
		shaped("split-index", "git config core.splitIndex true", "git update-index --split-index"),
		shaped("untracked-cache", "git config core.untrackedCache true", "git update-index --untracked-cache", "git status -s"),
		shaped("index-v2", "git config index.version 2", "git update-index --index-version 2"),
		shaped("index-v4", "git config index.version 4", "git update-index --index-version 4"),
		hidden,
		configured("times", "core.trustctime false", "core.checkStat minimal"),
		configured("watched", `core.fsmonitor 'printf "x\0"; :'`, "core.fsmonitorHookVersion 2"),
		configured("filemode", "core.fileMode false"),
		configured("symlinks", "core.symlinks false"),
		withPaths(configured("ignorecase", "core.ignoreCase true"), "foo", "Foo", "DIR/a", "dir/a", "FOO/x", "b"),
	}
}

// withPaths replaces the paths of a kind.
func withPaths(k kind, paths ...string) kind {
	k.paths = paths
	return k
}

// hiding are edits with flags of the index that hide changes or files.
func hiding() []edit {
	return []edit{
		func(g *gen) string { return "git update-index --assume-unchanged -- " + words(g.path()) },
		func(g *gen) string { return "git update-index --no-assume-unchanged -- " + words(g.path()) },
		func(g *gen) string { return "git update-index --skip-worktree -- " + words(g.path()) },
		func(g *gen) string {
			p := words(g.path())
			return "git update-index --skip-worktree -- " + p + " && rm -f -- " + p
		},
		func(g *gen) string { return "git update-index --no-skip-worktree -- " + words(g.path()) },
		func(g *gen) string { return "git add -N -- " + words(g.path()) },
		func(g *gen) string { p := g.path(); return g.put(p) + "; git add -N -- " + words(p) },
	}
}

// sparses are worlds with sparse checkouts.
func sparses() []kind {
	paths := []string{"a", "in/a", "in/b", "in/deep/c", "out/a", "out/deep/b", "out/c", "x"}
	sparse := func(name, set string) kind {
		return kind{name: name, paths: paths, sparse: true, setup: func(g *gen) []string {
			lines := start(g)
			for _, p := range paths {
				lines = append(lines, g.put(p))
			}
			return append(lines, "git add -A", "git commit -qm all", set)
		}, edits: []edit{
			func(*gen) string { return set },
			func(*gen) string { return "git sparse-checkout reapply" },
			func(*gen) string { return "git sparse-checkout disable" },
			func(*gen) string { return "git sparse-checkout add out/deep" },
			func(*gen) string { return "git add -A --sparse" },
			func(g *gen) string { return g.put("out/a") },
			func(*gen) string { return "rm -rf out" },
		}}
	}
	return []kind{
		sparse("sparse-cone", "git sparse-checkout set --cone in"),
		sparse("sparse-patterns", `git sparse-checkout set --no-cone '/*' '!/out/'`),
		sparse("sparse-index", "git sparse-checkout set --cone --sparse-index in"),
	}
}

// unfinished is a world with operations of git in progress and with conflicts.
func unfinished() kind {
	paths := []string{"a", "b", "dir/a", "c"}
	// Both branches change the same files, and dir is a file in one of them at times.
	return kind{name: "unfinished", paths: paths, force: true, setup: func(g *gen) []string {
		lines := start(g)
		for _, branch := range []string{"topic", "other"} {
			lines = append(lines, "git checkout -q -b "+branch+" main", g.put("a"), g.put("b"), "rm -rf dir", g.put(g.pick([]string{"dir", "dir/a"})), "git add -A", "git commit -qm "+branch)
		}
		return lines
	}, edits: []edit{
		func(*gen) string { return "git merge -q topic" },
		func(*gen) string { return "git merge -q topic" },
		func(*gen) string { return "git cherry-pick topic" },
		func(*gen) string { return "git rebase -q topic" },
		func(*gen) string { return "git revert --no-edit HEAD~1" },
		func(*gen) string { return "git bisect start HEAD HEAD~1" },
		func(*gen) string { return "git bisect reset" },
		func(g *gen) string {
			return "git " + g.pick([]string{"merge", "cherry-pick", "rebase", "revert"}) + " --abort"
		},
		func(g *gen) string { return "git rm -q --cached -- " + words(g.path()) },
		func(g *gen) string { return "git checkout -q -f " + g.pick([]string{"topic", "other"}) },
		func(*gen) string { return "git stash -q; git stash pop -q" },
	}}
}

// stores are worlds in which objects and refs are stored in different ways.
func stores() []kind {
	made := func(name string, setup func(g *gen) []string) kind {
		return kind{name: name, paths: plain, setup: setup, edits: branching()}
	}
	// A partial clone needs permission to fetch single objects from its origin.
	origin := func(g *gen) []string {
		lines := append(start(g), g.put(g.path()), "git add -A", "git commit -qm two", "git config uploadpack.allowFilter true", "git config uploadpack.allowAnySHA1InWant true", "cd ..", "mv repo origin")
		return lines
	}
	clone := func(name, flags string) kind {
		k := made(name, func(g *gen) []string { return append(origin(g), "git clone -q "+flags+" repo", "cd repo") })
		k.edits = append(k.edits, (*gen).packing, func(g *gen) string { return "cd ../origin; " + g.packing() + "; cd ../repo" })
		return k
	}
	packed := made("packed", func(g *gen) []string { return append(start(g), "git gc -q --prune=now") })
	packed.edits = append(packed.edits, (*gen).packing, (*gen).packing, (*gen).packing)
	return []kind{
		made("sha256", func(g *gen) []string { return start(g, "--object-format=sha256") }),
		made("bare", func(g *gen) []string {
			return append(start(g), "cd ..", "git clone -q --bare repo bare", "rm -rf repo", "git -C bare worktree add -q ../repo main", "cd repo")
		}),
		packed,
		clone("alternates", "--shared origin"),
		clone("shallow", `--depth 1 "file://$PWD/origin"`),
		clone("partial", `--filter=blob:none --no-checkout "file://$PWD/origin"`),
	}
}

// surroundings are worlds with different environments: hooks, signing, a held lock, an
// inherited index, a separate git directory, a submodule.
func surroundings() []kind {
	// The hook records each call by the program, which must run no hooks of the user.
	hook := `#!/bin/sh\n[ -z "$TORTURE_PROGRAM" ] && exit 0\necho "$0 $*" >>"$TORTURE/../hooked"\nexit 1\n`
	hooks := "mkdir -p .git/hooks; for h in post-index-change reference-transaction post-checkout pre-commit commit-msg post-commit post-rewrite pre-auto-gc fsmonitor-watchman post-merge; do printf '" +
		strings.ReplaceAll(strings.ReplaceAll(hook, "%", "%%"), "'", `'\''`) + "' >.git/hooks/$h; chmod +x .git/hooks/$h; done"
	return []kind{
		{name: "hooks", paths: plain, setup: func(g *gen) []string { return append(start(g), hooks) }, edits: branching()},
		configured("signing", "commit.gpgSign true", "tag.gpgSign true", "gpg.program false"),
		{name: "locked", paths: plain, setup: func(g *gen) []string { return start(g) }, edits: []edit{
			func(*gen) string { return "touch .git/index.lock" },
			func(*gen) string { return "rm -f .git/index.lock" },
		}},
		{name: "inherited", paths: plain, index: "next-index", env: []string{"GIT_DIR=.git", "GIT_PREFIX="}, setup: func(g *gen) []string {
			return append(start(g), "cp -p .git/index .git/next-index")
		}, edits: []edit{
			func(g *gen) string { return "GIT_INDEX_FILE=.git/next-index git add -- " + words(g.path()) },
			func(*gen) string { return "GIT_INDEX_FILE=.git/next-index git add -A" },
			func(*gen) string { return "cp -p .git/index .git/next-index" },
		}},
		{name: "separate", paths: plain, setup: func(g *gen) []string {
			return append([]string{"mkdir elsewhere"}, start(g, "--separate-git-dir", "elsewhere/git")...)
		}, edits: branching()},
		{name: "submodule", paths: plain, worktree: []string{"repo", "repo/sub"}, setup: func(g *gen) []string {
			return append(start(g), "git init -q ../origin", "cd ../origin", g.put("a"), g.put("dir/b"), "git add -A", "git commit -qm sub", "cd ../repo",
				`git submodule --quiet add "$PWD/../origin" sub`, "git commit -qm sub")
		}, edits: []edit{
			func(*gen) string { return "git commit -q --allow-empty -m more" },
			func(*gen) string { return "git add -A; git commit -qm more" },
			func(g *gen) string { return "git add -- " + words(g.path()) },
		}},
	}
}

// conversions are worlds in which the bytes on disk differ from those of the blob.
func conversions() []kind {
	attributes := func(name, text string, settings ...string) kind {
		k := kind{name: name, paths: []string{"a", "b", "dir/c", "dir/d", "crlf"}, converts: true}
		k.setup = func(g *gen) []string {
			lines := []string{words("git", "init", "-q", "repo"), "cd repo"}
			for _, s := range settings {
				lines = append(lines, "git config "+s)
			}
			if text != "" {
				lines = append(lines, put(".gitattributes", text))
			}
			for range 4 {
				lines = append(lines, g.put(g.path()))
			}
			return append(lines, "git add -A", "git commit -qm one")
		}
		k.content = converted
		k.edits = []edit{staging()[0],
			func(g *gen) string {
				return put(".gitattributes", g.pick([]string{text, "", `* -text\n`, `a text eol=crlf\n`, `dir/* ident\n`}))
			},
			func(g *gen) string {
				return put("dir/.gitattributes", g.pick([]string{text, `c text eol=lf\n`, `* binary\n`}))
			},
			func(*gen) string { return "git add --renormalize ." },
		}
		return k
	}
	// UTF-16 is the usual case of an encoding that git has to convert.
	encoding := attributes("encoding", `a working-tree-encoding=UTF-16\ndir/* working-tree-encoding=UTF-16LE-BOM eol=crlf\n`)
	encoding.content = encoded
	filter := []string{"filter.f.clean 'stand-in clean'", "filter.f.smudge 'stand-in smudge'", "filter.f.required true"}
	return []kind{
		attributes("autocrlf", "", "core.autocrlf true"),
		attributes("autocrlf-input", "", "core.autocrlf input"),
		attributes("eol", `* text=auto\na text eol=crlf\nb text eol=lf\ndir/* text eol=crlf\n`),
		attributes("text-auto", `* text=auto\n`, "core.eol crlf"),
		attributes("ident", `* ident\n`),
		encoding,
		attributes("filter", `* filter=f\n`, filter...),
		attributes("process", `* filter=f\n`, "filter.f.process 'stand-in process'", "filter.f.required true"),
		attributes("lfs", `* filter=lfs -text\n.gitattributes -filter\n`, "filter.lfs.clean 'stand-in lfs-clean'", "filter.lfs.smudge 'stand-in lfs-smudge'",
			"filter.lfs.process 'stand-in lfs-process'", "filter.lfs.required true"),
	}
}

// converted returns content that conversions change or do not give back.
func converted(g *gen) string {
	text := g.pick([]string{
		`line %d\nline\n`, `line %d\r\nline\r\n`, `line %d\r\nline\n`, `\r%d\n\r\n`, `%d $Id$\n`, `%d $Id: 0123456789012345678901234567890123456789 $\n`,
		`equal %d\n`, `STORED %d\n`, `equal STORED %d`, `\377\376l\000%d\000\n\000`, `\000%d\r\n`, `\357\273\277bom %d\r\n`, `%d $Id: other $ $Id$`,
		"version https://git-lfs.github.com/spec/v1\\noid sha256:4d7a214614ab2935c943f9e0ff69d22eadbb8f32b1258daaa5e2ca24d17e2393\\nsize %d\\n",
	})
	return strings.ReplaceAll(text, "%d", strconv.Itoa(g.count))
}

// encoded returns text in UTF-16, in either byte order.
func encoded(g *gen) string {
	text := g.pick([]string{"line %d\n", "line %d\r\n", "%d", "%d\r\nmixed\n", ""})
	big := g.chance(2)
	var out strings.Builder
	out.WriteString(map[bool]string{true: `\376\377`, false: `\377\376`}[big])
	for _, c := range strings.ReplaceAll(text, "%d", strconv.Itoa(g.count)) {
		if big {
			fmt.Fprintf(&out, `\000\%03o`, c)
		} else {
			fmt.Fprintf(&out, `\%03o\000`, c)
		}
	}
	return out.String()
}

// exotic returns all kinds of this file, and the mixed ones.
func exotic() (all []kind) {
	all = append(all, indexes()...)
	all = append(all, sparses()...)
	all = append(all, unfinished())
	all = append(all, stores()...)
	all = append(all, surroundings()...)
	all = append(all, mixed()...)
	return append(all, conversions()...)
}
