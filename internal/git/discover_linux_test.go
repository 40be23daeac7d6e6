package git

import (
	"errors"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"pgregory.net/rapid"

	"git-checkpoint/internal/git/gitconfig"
	"git-checkpoint/internal/test/gittest"
)

// both opens a directory twice: in this process, and with git.
func (f *fixture) both(env ...string) (found *Location, err error, asked *Location, askErr error) {
	f.Helper()
	o := Options{Dir: f.Dir, Env: append(f.Env[:len(f.Env):len(f.Env)], env...)}
	at := &Location{env: cleanEnv(o.Env)}
	err = at.discover(o)
	asked, askErr = ask(f.Context(), "git", o)
	return at, err, asked, askErr
}

// compareFound fails if what was found in this process differs from what git says. With must it
// also fails if nothing was found in this process.
func (f *fixture) compareFound(must bool, env ...string) {
	f.Helper()
	found, err, asked, askErr := f.both(env...)
	if err != nil {
		if must || !errors.Is(err, errUseGit) {
			f.Errorf("not found in process: %v", err)
		}
		return
	}
	if askErr != nil {
		f.Fatalf("found where git says %v", askErr)
	}
	if got, want := values(found.Config), values(asked.Config); !maps.EqualFunc(got, want, slices.Equal[[]string]) {
		f.Errorf("configuration: %q, git has %q", got, want)
	}
	a, b := found, asked
	for _, pair := range [][2]any{
		{a.GitDir, b.GitDir}, {a.CommonDir, b.CommonDir}, {a.WorkTree, b.WorkTree}, {a.Prefix, b.Prefix},
		{a.IndexPath, b.IndexPath}, {a.Format, b.Format}, {a.Head, b.Head}, {strings.Join(a.env, " "), strings.Join(b.env, " ")},
	} {
		if pair[0] != pair[1] {
			f.Errorf("found %+v, git has %+v", pair[0], pair[1])
		}
	}
}

// values returns all values of all keys.
func values(c *gitconfig.Config) map[string][]string {
	all := map[string][]string{}
	for _, key := range c.Keys("") {
		all[key] = c.All(key)
	}
	return all
}

func TestDiscover(t *testing.T) {
	for _, format := range gittest.Formats() {
		t.Run(format, func(t *testing.T) {
			f := newFixture(t, "--object-format="+format)
			f.compareFound(true) // unborn
			f.Write("sub/dir/file", "x")
			f.Git("add", ".")
			f.Git("commit", "-qm", "one")
			f.compareFound(true)
			f.Git("pack-refs", "--all")
			f.Git("gc", "-q")
			f.compareFound(true)
			f.Git("checkout", "-q", "-b", "feature/a.b-c_d")
			f.compareFound(true)
			f.Git("checkout", "-q", "--detach")
			f.compareFound(true)
			f.Dir += "/sub/dir"
			f.compareFound(true)
			f.compareFound(true, "GIT_PREFIX=x/", "GIT_AUTHOR_DATE=@1 +0000", "GIT_PAGER=cat", "GIT_DIR=", "XDG_CONFIG_HOME=/nowhere")
		})
	}
}

// TestDiscoverLeaves lists the repositories that only git finds, or refuses.
func TestDiscoverLeaves(t *testing.T) {
	inside := func(f *fixture) string { return filepath.Join(f.Dir, ".git") }
	for what, do := range map[string]func(*fixture) []string{
		"an environment that names the repository": func(f *fixture) []string { return []string{"GIT_DIR=" + inside(f)} },
		"a ceiling":                    func(f *fixture) []string { return []string{"GIT_CEILING_DIRECTORIES=" + filepath.Dir(f.Dir)} },
		"configuration in a parameter": func(*fixture) []string { return []string{"GIT_CONFIG_PARAMETERS='core.autocrlf'='true'"} },
		"counted configuration": func(*fixture) []string {
			return []string{"GIT_CONFIG_COUNT=1", "GIT_CONFIG_KEY_0=core.autocrlf", "GIT_CONFIG_VALUE_0=true"}
		},
		"a linked worktree": func(f *fixture) []string {
			f.Git("worktree", "add", "-q", "../linked")
			f.Dir = filepath.Join(filepath.Dir(f.Dir), "linked")
			return nil
		},
		"the inside of a git directory": func(f *fixture) []string { f.Dir = inside(f); return nil },
		"a file called HEAD":            func(f *fixture) []string { f.Write("HEAD", "x"); return nil },
		"a worktree elsewhere":          func(f *fixture) []string { f.Git("config", "core.worktree", ".."); return nil },
		"a bare one":                    func(f *fixture) []string { f.Git("config", "core.bare", "true"); return nil },
		"configuration of a worktree":   func(f *fixture) []string { f.Git("config", "extensions.worktreeConfig", "true"); return nil },
		"a later format":                func(f *fixture) []string { f.Git("config", "core.repositoryFormatVersion", "2"); return nil },
		"an unknown extension": func(f *fixture) []string {
			f.Git("config", "core.repositoryFormatVersion", "1")
			f.Git("config", "extensions.refStorage", "reftable")
			return nil
		},
		"an included file":    func(f *fixture) []string { f.Git("config", "include.path", "more"); return nil },
		"an included file if": func(f *fixture) []string { f.Git("config", "includeIf.gitdir:~/.path", "more"); return nil },
		"a directory of objects elsewhere": func(f *fixture) []string {
			f.must(os.Rename(inside(f)+"/objects", f.Dir+"/../objects"))
			f.must(os.Symlink("../../objects", inside(f)+"/objects"))
			return nil
		},
		"a git directory elsewhere": func(f *fixture) []string {
			f.must(os.Rename(inside(f), f.Dir+"/../real"))
			f.must(os.Symlink("../real", inside(f)))
			return nil
		},
		"a file in its place": func(f *fixture) []string {
			f.must(os.Rename(inside(f), f.Dir+"/../real"))
			f.Write(".git", "gitdir: ../real\n")
			return nil
		},
		"a branch that is another one": func(f *fixture) []string { f.Git("symbolic-ref", "refs/heads/main", "refs/heads/other"); return nil },
		"HEAD on no branch":            func(f *fixture) []string { f.Git("symbolic-ref", "HEAD", "refs/x/y"); return nil },
		"a damaged HEAD":               func(f *fixture) []string { f.Write(".git/HEAD", "ref: refs/heads/a..b\n"); return nil },
		"a path with a link": func(f *fixture) []string {
			f.must(os.Symlink(f.Dir, f.Dir+"/../link"))
			f.Dir = filepath.Join(filepath.Dir(f.Dir), "link")
			return nil
		},
		"no repository": func(f *fixture) []string { f.must(os.RemoveAll(inside(f))); return nil },
		"wrong configuration of the user": func(f *fixture) []string {
			f.Write("../home/.gitconfig", "[core\n")
			return nil
		},
	} {
		t.Run(what, func(t *testing.T) {
			f := newFixture(t)
			f.Write("file", "x")
			f.Git("add", ".")
			f.Git("commit", "-qm", "one")
			f.compareFound(true)
			if _, err, _, _ := f.both(do(f)...); !errors.Is(err, errUseGit) {
				t.Errorf("found: %v", err)
			}
		})
	}
}

// TestConfigFilesAgainstGit writes random configuration files. What is read from them must be what
// git reads.
func TestConfigFilesAgainstGit(t *testing.T) {
	f := newFixture(t)
	piece := rapid.SampledFrom([]string{
		"[core]", "[a \"b c\"]", "[a.B]", "[x \"q\\\"\\\\\"]", "[A-1]", "\n", "\n", "\n\t", "\r\n", " ", "\t", "  ", "key", "Key-2", " = ", "=", " =", "value",
		"1", "\"", "\"quoted # ; text\"", "\\\n", "\\n", "\\t", "\\b", "\\\\", "\\\"", "\\x", "# remark", " ; remark", "é", "[", "]", "[a\t\"b\"]", "\xef\xbb\xbf",
		"\nname = some words\n", "\nname = \"some  words\" \n", "\nname\n", "\n[include]\n", "\r", "\v", "[s \"é\"]", "[s\"t\"]", "[ s]", "-", ".", "[]",
	})
	read, asked := 0, 0
	compare := func(tb rapid.TB, text string) {
		path := filepath.Join(f.Dir, "..", "home", ".gitconfig")
		if err := os.WriteFile(path, []byte(text), 0o666); err != nil {
			tb.Fatal(err)
		}
		local := filepath.Join(f.Dir, "none")
		got, err := gitconfig.ReadFiles(f.Env, local)
		if err != nil {
			asked++
			return
		}
		read++
		res, gitErr := (&Location{program: "git", env: cleanEnv(f.Env), plain: true}).Run(t.Context(), Cmd{Args: []string{"config", "-z", "--list", "--global"}, Dir: filepath.Dir(f.Dir)})
		if gitErr != nil {
			tb.Fatalf("read %q where git says %v", text, gitErr)
		}
		if got, want := values(got), values(gitconfig.ParseConfig(res.Stdout)); !maps.EqualFunc(got, want, slices.Equal[[]string]) {
			tb.Fatalf("%q: read %q, git has %q", text, got, want)
		}
	}
	// One that is read here and one that is left to git, whatever is drawn below.
	compare(t, "[core]\n\tkey = value\n")
	compare(t, "[include]\n\tpath = other\n")
	rapid.Check(t, func(rt *rapid.T) {
		text := strings.Join(rapid.SliceOfN(piece, 0, 25).Draw(rt, "pieces"), "")
		if rapid.Bool().Draw(rt, "section first") {
			text = "[core]\n" + text
		}
		compare(rt, text)
	})
	if read == 0 || asked == 0 {
		t.Errorf("%d files were read, %d left to git", read, asked)
	}
}
