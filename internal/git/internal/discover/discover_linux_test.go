package discover_test

import (
	"errors"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"git-checkpoint/internal/git/internal/discover"
)

// plain is the configuration of a repository as git init writes it.
const plain = "[core]\n\trepositoryformatversion = 0\n\tbare = false\n"

// place is a directory in which tests lay out repositories, without git.
type place struct {
	*testing.T
	root string // without symbolic links
	env  []string
}

func newPlace(t *testing.T) *place {
	t.Helper()
	root, err := filepath.EvalSymlinks(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	return &place{T: t, root: root, env: []string{"HOME=" + root, "GIT_CONFIG_NOSYSTEM=1"}}
}

// repository lays out a repository with this configuration.
func (p *place) repository(dir, config string) {
	p.Helper()
	for _, sub := range []string{"objects", "refs"} {
		if err := os.MkdirAll(p.path(dir, ".git", sub), 0o777); err != nil {
			p.Fatal(err)
		}
	}
	p.write(filepath.Join(dir, ".git", "HEAD"), "ref: refs/heads/main\n")
	p.write(filepath.Join(dir, ".git", "config"), config)
}

func (p *place) path(parts ...string) string {
	return filepath.Join(append([]string{p.root}, parts...)...)
}

func (p *place) write(file, text string) {
	p.Helper()
	if err := os.MkdirAll(filepath.Dir(p.path(file)), 0o777); err != nil {
		p.Fatal(err)
	}
	if err := os.WriteFile(p.path(file), []byte(text), 0o666); err != nil {
		p.Fatal(err)
	}
}

func (p *place) must(err error) {
	p.Helper()
	if err != nil {
		p.Fatal(err)
	}
}

// A directory belongs to the nearest repository above it. The prefix says where in it the directory
// is, with a slash at its end.
func TestFind(t *testing.T) {
	t.Parallel()
	p := newPlace(t)
	p.repository("outer", plain)
	p.repository("outer/sub/inner", "[core]\n\trepositoryformatversion = 1\n[extensions]\n\tobjectformat = sha256\n")
	p.must(os.MkdirAll(p.path("outer/sub/inner/a/b"), 0o777))
	for dir, want := range map[string]discover.Repository{
		"outer":               {WorkTree: p.path("outer"), Format: "sha1"},
		"outer/sub":           {WorkTree: p.path("outer"), Format: "sha1", Prefix: "sub/"},
		"outer/sub/inner":     {WorkTree: p.path("outer/sub/inner"), Format: "sha256"},
		"outer/sub/inner/a/b": {WorkTree: p.path("outer/sub/inner"), Format: "sha256", Prefix: "a/b/"},
	} {
		got, err := discover.Find(p.path(dir), p.env)
		if err != nil || got.WorkTree != want.WorkTree || got.Prefix != want.Prefix || got.Format != want.Format {
			t.Errorf("%s: %+v, %v", dir, got, err)
		}
	}
}

// The configuration of the user and that of the repository come together, and the repository's is
// the one that counts.
func TestFindConfiguration(t *testing.T) {
	t.Parallel()
	p := newPlace(t)
	p.repository("repo", plain+"[checkpoint]\n\ttag = true\n")
	p.write(".gitconfig", "[checkpoint]\n\ttag = false\n[user]\n\tname = Ann\n")
	got, err := discover.Find(p.path("repo"), p.env)
	if err != nil {
		t.Fatal(err)
	}
	tag, _ := got.Config.Get("checkpoint.tag")
	if name, _ := got.Config.Get("user.name"); tag != "true" || name != "Ann" {
		t.Errorf("checkpoint.tag is %q, user.name %q", tag, name)
	}
	p.write("other", "[user]\n\tname = Kim\n")
	if got, err = discover.Find(p.path("repo"), append(p.env, "GIT_CONFIG_GLOBAL="+p.path("other"))); err != nil {
		t.Fatal(err)
	}
	if name, _ := got.Config.Get("user.name"); name != "Kim" {
		t.Errorf("in the file that GIT_CONFIG_GLOBAL names, user.name is %q", name)
	}
}

// The working directory counts by where it is, not by the links in $PWD.
func TestFindWorkingDirectory(t *testing.T) {
	p := newPlace(t)
	p.repository("repo", plain)
	p.must(os.Mkdir(p.path("repo/sub"), 0o777))
	p.must(os.Symlink("repo/sub", p.path("link")))
	t.Chdir(p.path("link"))
	if got, err := discover.Find("", p.env); err != nil || got.WorkTree != p.path("repo") || got.Prefix != "sub/" {
		t.Errorf("%+v, %v", got, err)
	}
}

// What may move or configure the repository is left to git, and so is a variable of a later git
// that nobody knows here. Any other variable is not, and neither is an empty one, except where
// empty means no file.
func TestFindEnvironment(t *testing.T) {
	t.Parallel()
	p := newPlace(t)
	p.repository("repo", plain)
	for variable, asks := range map[string]bool{
		"GIT_DIR=.git": true, "GIT_WORK_TREE=.": true, "GIT_COMMON_DIR=x": true, "GIT_INDEX_FILE=x": true, "GIT_OBJECT_DIRECTORY=x": true,
		"GIT_CEILING_DIRECTORIES=/": true, "GIT_DISCOVERY_ACROSS_FILESYSTEM=1": true, "GIT_CONFIG=x": true, "GIT_CONFIG_COUNT=0": true,
		"GIT_CONFIG_PARAMETERS='a.b=c'": true, "GIT_CONFIG_SYSTEM=x": true, "GIT_NAMESPACE=x": true, "GIT_OF_TOMORROW=x": true, "GIT_CONFIG_GLOBAL=": true,
		"GIT_DIR=": false, "GIT_CEILING_DIRECTORIES=": false, "GIT_AUTHOR_NAME=Ann": false, "GIT_CHECKPOINT_SESSION=x": false, "GIT_TRACE=1": false, "GITHUB_X=1": false,
	} {
		if _, err := discover.Find(p.path("repo"), append(p.env, variable)); errors.Is(err, discover.ErrUseGit) != asks || !asks && err != nil {
			t.Errorf("%s: %v", variable, err)
		}
	}
}

// git starts its subcommands with variables of its own. They must not make every command slow.
func TestFindAsSubcommand(t *testing.T) {
	t.Parallel()
	p := newPlace(t)
	p.repository("repo", plain)
	p.write("bin/git-variables", "#!/bin/sh\nenv\n")
	p.must(os.Chmod(p.path("bin/git-variables"), 0o755))
	cmd := exec.Command("git", "variables")
	cmd.Dir, cmd.Env = p.path("repo"), append(p.env, "PATH="+p.path("bin")+":"+os.Getenv("PATH"))
	out, err := cmd.Output()
	p.must(err)
	if _, err := discover.Find(p.path("repo"), strings.Split(string(out), "\n")); err != nil {
		t.Errorf("in this environment: %v\n%s", err, out)
	}
}

// Everything that is not an ordinary repository is left to git. Each of these was one before one
// thing was changed.
func TestFindAsks(t *testing.T) {
	t.Parallel()
	for what, change := range map[string]func(p *place) (dir string){
		"a file called .git": func(p *place) string {
			p.must(os.Rename(p.path("repo/.git"), p.path("real")))
			p.write("repo/.git", "gitdir: ../real\n")
			return "repo"
		},
		"a file called .git below the repository": func(p *place) string { p.write("repo/sub/.git", "gitdir: ../../real\n"); return "repo/sub" },
		"a link called .git": func(p *place) string {
			p.must(os.Rename(p.path("repo/.git"), p.path("real")))
			p.must(os.Symlink("../real", p.path("repo/.git")))
			return "repo"
		},
		"a .git without objects":        func(p *place) string { p.must(os.Remove(p.path("repo/.git/objects"))); return "repo" },
		"a .git without refs":           func(p *place) string { p.must(os.Remove(p.path("repo/.git/refs"))); return "repo" },
		"a linked worktree's directory": func(p *place) string { p.write("repo/.git/commondir", "..\n"); return "repo" },
		"inside .git":                   func(*place) string { return "repo/.git" },
		"below .git":                    func(*place) string { return "repo/.git/refs" },
		"a bare one at the top":         func(p *place) string { p.write("repo/HEAD", "ref: refs/heads/main\n"); return "repo" },
		"a bare one in between": func(p *place) string {
			p.write("repo/bare.git/HEAD", "ref: refs/heads/main\n")
			p.must(os.Mkdir(p.path("repo/bare.git/refs"), 0o777))
			return "repo/bare.git/refs"
		},
		"a path with a link": func(p *place) string { p.must(os.Symlink("repo", p.path("link"))); return "link" },
		"no directory":       func(*place) string { return "repo/nothing" },
		"a line break in the path": func(p *place) string {
			p.must(os.Rename(p.path("repo"), p.path("re\npo")))
			return "re\npo"
		},
		"no configuration": func(p *place) string { p.must(os.Remove(p.path("repo/.git/config"))); return "repo" },
	} {
		t.Run(what, func(t *testing.T) {
			t.Parallel()
			p := newPlace(t)
			p.repository("repo", plain)
			if _, err := discover.Find(p.path("repo"), p.env); err != nil {
				t.Fatal(err)
			}
			if got, err := discover.Find(p.path(change(p)), p.env); !errors.Is(err, discover.ErrUseGit) {
				t.Errorf("%+v, %v", got, err)
			}
		})
	}
	p := newPlace(t)
	p.repository("repo", plain)
	here, err := os.Getwd()
	p.must(err)
	relative, err := filepath.Rel(here, p.path("repo"))
	p.must(err)
	if got, err := discover.Find(relative, p.env); !errors.Is(err, discover.ErrUseGit) {
		t.Errorf("a relative path: %+v, %v", got, err)
	}
}

// A configuration that moves a part of the repository, or that only a later git understands, is left
// to git. Extensions count in format 1 only, and each once.
func TestFindFormat(t *testing.T) {
	t.Parallel()
	const one = "[core]\n\trepositoryformatversion = 1\n"
	for config, format := range map[string]string{
		plain: "sha1", one: "sha1", one + "[extensions]\n\tobjectFormat = sha256\n": "sha256",
		one + "[extensions]\n\tpreciousObjects = true\n\tpartialClone = origin\n\tnoop = 1\n": "sha1",

		"": "", "[core]\n\trepositoryformatversion = 2\n": "", one + plain: "", "[core\n": "", "[include]\n\tpath = x\n" + plain: "",
		"[core]\n\trepositoryformatversion = 0\n\tbare = true\n": "", "[core]\n\trepositoryformatversion = 0\n\tbare = perhaps\n": "",
		"[core]\n\trepositoryformatversion = 0\n\tworktree = ..\n": "", plain + "[extensions]\n\tobjectFormat = sha256\n": "",
		one + "[extensions]\n\tobjectFormat = md5\n":                           "",
		one + "[extensions]\n\tobjectFormat = sha1\n\tobjectFormat = sha256\n": "", one + "[extensions]\n\trefStorage = reftable\n": "",
		one + "[extensions]\n\tworktreeConfig = true\n": "",
	} {
		p := newPlace(t)
		p.repository("repo", config)
		got, err := discover.Find(p.path("repo"), p.env)
		if found := err == nil; found != (format != "") || found && got.Format != format || !found && !errors.Is(err, discover.ErrUseGit) {
			t.Errorf("%s: %+v, %v", strings.ReplaceAll(config, "\n", "|"), got, err)
		}
	}
}

// A repository that belongs to somebody else is left to git, which asks safe.directory.
func TestFindOwner(t *testing.T) {
	t.Parallel()
	if os.Geteuid() != 0 {
		t.Skip("only root can give a directory away")
	}
	for _, given := range []string{"repo", "repo/.git"} {
		p := newPlace(t)
		p.repository("repo", plain)
		p.must(os.Chown(p.path(given), 12345, -1))
		if got, err := discover.Find(p.path("repo"), p.env); !errors.Is(err, discover.ErrUseGit) {
			t.Errorf("%s is another user's: %+v, %v", given, got, err)
		}
	}
}
