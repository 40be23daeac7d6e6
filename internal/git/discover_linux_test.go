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

	"git-checkpoint/internal/gitconfig"
)

// both opens a directory twice: in this process, and with git.
func (f *fixture) both(env ...string) (found *Repo, err error, asked *Repo, askErr error) {
	f.t.Helper()
	o := Options{Dir: f.dir, Env: append(f.env[:len(f.env):len(f.env)], env...)}
	found = &Repo{env: cleanEnv(o.Env)}
	err = found.discover(o)
	asked, askErr = ask(f.t.Context(), "git", o)
	return found, err, asked, askErr
}

// compareFound fails if what was found in this process differs from what git says. With must it
// also fails if nothing was found in this process.
func (f *fixture) compareFound(must bool, env ...string) {
	f.t.Helper()
	found, err, asked, askErr := f.both(env...)
	if err != nil {
		if must || !errors.Is(err, errAsk) {
			f.t.Errorf("not found in process: %v", err)
		}
		return
	}
	if askErr != nil {
		f.t.Fatalf("found where git says %v", askErr)
	}
	if got, want := values(found.Config), values(asked.Config); !maps.EqualFunc(got, want, slices.Equal[[]string]) {
		f.t.Errorf("configuration: %q, git has %q", got, want)
	}
	a, b := found, asked
	for _, pair := range [][2]any{
		{a.GitDir, b.GitDir}, {a.CommonDir, b.CommonDir}, {a.WorkTree, b.WorkTree}, {a.Prefix, b.Prefix},
		{a.IndexPath, b.IndexPath}, {a.Format, b.Format}, {a.Head, b.Head}, {strings.Join(a.env, " "), strings.Join(b.env, " ")},
	} {
		if pair[0] != pair[1] {
			f.t.Errorf("found %+v, git has %+v", pair[0], pair[1])
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
	for _, format := range formats {
		t.Run(format, func(t *testing.T) {
			f := newFixture(t, "--object-format="+format)
			f.compareFound(true) // unborn
			f.write("sub/dir/file", "x")
			f.git("add", ".")
			f.git("commit", "-qm", "one")
			f.compareFound(true)
			f.git("pack-refs", "--all")
			f.git("gc", "-q")
			f.compareFound(true)
			f.git("checkout", "-q", "-b", "feature/a.b-c_d")
			f.compareFound(true)
			f.git("checkout", "-q", "--detach")
			f.compareFound(true)
			f.dir += "/sub/dir"
			f.compareFound(true)
			f.compareFound(true, "GIT_PREFIX=x/", "GIT_AUTHOR_DATE=@1 +0000", "GIT_PAGER=cat", "GIT_DIR=", "XDG_CONFIG_HOME=/nowhere")
		})
	}
}

// TestDiscoverLeaves lists the repositories that only git finds, or refuses.
func TestDiscoverLeaves(t *testing.T) {
	inside := func(f *fixture) string { return filepath.Join(f.dir, ".git") }
	for what, do := range map[string]func(*fixture) []string{
		"an environment that names the repository": func(f *fixture) []string { return []string{"GIT_DIR=" + inside(f)} },
		"a ceiling":                    func(f *fixture) []string { return []string{"GIT_CEILING_DIRECTORIES=" + filepath.Dir(f.dir)} },
		"configuration in a parameter": func(*fixture) []string { return []string{"GIT_CONFIG_PARAMETERS='core.autocrlf'='true'"} },
		"counted configuration": func(*fixture) []string {
			return []string{"GIT_CONFIG_COUNT=1", "GIT_CONFIG_KEY_0=core.autocrlf", "GIT_CONFIG_VALUE_0=true"}
		},
		"a linked worktree": func(f *fixture) []string {
			f.git("worktree", "add", "-q", "../linked")
			f.dir = filepath.Join(filepath.Dir(f.dir), "linked")
			return nil
		},
		"the inside of a git directory": func(f *fixture) []string { f.dir = inside(f); return nil },
		"a file called HEAD":            func(f *fixture) []string { f.write("HEAD", "x"); return nil },
		"a worktree elsewhere":          func(f *fixture) []string { f.git("config", "core.worktree", ".."); return nil },
		"a bare one":                    func(f *fixture) []string { f.git("config", "core.bare", "true"); return nil },
		"configuration of a worktree":   func(f *fixture) []string { f.git("config", "extensions.worktreeConfig", "true"); return nil },
		"a later format":                func(f *fixture) []string { f.git("config", "core.repositoryFormatVersion", "2"); return nil },
		"an unknown extension": func(f *fixture) []string {
			f.git("config", "core.repositoryFormatVersion", "1")
			f.git("config", "extensions.refStorage", "reftable")
			return nil
		},
		"an included file":    func(f *fixture) []string { f.git("config", "include.path", "more"); return nil },
		"an included file if": func(f *fixture) []string { f.git("config", "includeIf.gitdir:~/.path", "more"); return nil },
		"a directory of objects elsewhere": func(f *fixture) []string {
			f.must(os.Rename(inside(f)+"/objects", f.dir+"/../objects"))
			f.must(os.Symlink("../../objects", inside(f)+"/objects"))
			return nil
		},
		"a git directory elsewhere": func(f *fixture) []string {
			f.must(os.Rename(inside(f), f.dir+"/../real"))
			f.must(os.Symlink("../real", inside(f)))
			return nil
		},
		"a file in its place": func(f *fixture) []string {
			f.must(os.Rename(inside(f), f.dir+"/../real"))
			f.write(".git", "gitdir: ../real\n")
			return nil
		},
		"a branch that is another one": func(f *fixture) []string { f.git("symbolic-ref", "refs/heads/main", "refs/heads/other"); return nil },
		"HEAD on no branch":            func(f *fixture) []string { f.git("symbolic-ref", "HEAD", "refs/x/y"); return nil },
		"a damaged HEAD":               func(f *fixture) []string { f.write(".git/HEAD", "ref: refs/heads/a..b\n"); return nil },
		"a path with a link": func(f *fixture) []string {
			f.must(os.Symlink(f.dir, f.dir+"/../link"))
			f.dir = filepath.Join(filepath.Dir(f.dir), "link")
			return nil
		},
		"no repository": func(f *fixture) []string { f.must(os.RemoveAll(inside(f))); return nil },
		"wrong configuration of the user": func(f *fixture) []string {
			f.write("../home/.gitconfig", "[core\n")
			return nil
		},
	} {
		t.Run(what, func(t *testing.T) {
			f := newFixture(t)
			f.write("file", "x")
			f.git("add", ".")
			f.git("commit", "-qm", "one")
			f.compareFound(true)
			if _, err, _, _ := f.both(do(f)...); !errors.Is(err, errAsk) {
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
		path := filepath.Join(f.dir, "..", "home", ".gitconfig")
		if err := os.WriteFile(path, []byte(text), 0o666); err != nil {
			tb.Fatal(err)
		}
		local := filepath.Join(f.dir, "none")
		got, err := gitconfig.ReadFiles(f.env, local)
		if err != nil {
			asked++
			return
		}
		read++
		res, gitErr := (&Repo{program: "git", env: cleanEnv(f.env), plain: true}).Run(t.Context(), Cmd{Args: []string{"config", "-z", "--list", "--global"}, Dir: filepath.Dir(f.dir)})
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
