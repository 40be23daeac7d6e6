// Package discover finds an ordinary repository and reads its configuration without starting git,
// because starting git takes longer than most commands of this program.
//
// Find does what `git rev-parse` would do, but only for the usual case: a directory .git that
// belongs to the user, with no GIT_* variable that changes its place or configuration. Where
// anything is unusual (a linked worktree, a submodule, another owner, an unknown extension, a bare
// repository) it returns ErrUseGit, and the caller asks git. A wrong answer would be worse than a slow
// one, so every doubt is ErrUseGit.
package discover

import (
	"os"
	"path/filepath"
	"slices"
	"strings"

	"git-checkpoint/internal/git/gitconfig"
)

// ErrUseGit says that only git can tell.
var ErrUseGit = gitconfig.ErrUseGit

// Repository is an ordinary repository: its git directory is <WorkTree>/.git.
type Repository struct {
	WorkTree string // absolute path without symbolic links
	Prefix   string // the directory that was given, relative to WorkTree: "" or "a/b/"
	Format   string // "sha1" or "sha256"
	Config   *gitconfig.Config
}

// Find returns the repository that dir belongs to ("" is the working directory), as git would find
// it with the environment env.
func Find(dir string, env []string) (*Repository, error) {
	if !plainEnv(env) {
		return nil, ErrUseGit
	}
	cwd, err := realDir(dir)
	if err != nil {
		return nil, ErrUseGit
	}
	found := &Repository{}
	if found.WorkTree, err = topOf(cwd); err != nil {
		return nil, err
	}
	if found.Config, err = gitconfig.ReadFiles(env, filepath.Join(found.WorkTree, ".git", "config")); err != nil {
		return nil, err
	}
	if found.Format, err = formatOf(found.Config); err != nil {
		return nil, err
	}
	if cwd != found.WorkTree {
		found.Prefix = strings.TrimPrefix(cwd, strings.TrimSuffix(found.WorkTree, "/")+"/") + "/"
	}
	return found, nil
}

// harmless lists the variables (without GIT_, as prefixes) that neither move nor configure a
// repository. A variable that is not in the list may do so, perhaps in a later version of git.
var harmless = [...]string{
	"ADVICE", "ALLOW_PROTOCOL", "ASKPASS", "AUTHOR_", "CHECKPOINT_", "COMMITTER_", "CONFIG_GLOBAL", "CONFIG_NOSYSTEM", "CURL_",
	"EDITOR", "EXEC_PATH", "HTTP_", "LFS_", "MERGE_", "OPTIONAL_LOCKS", "PAGER", "PREFIX", "PROTOCOL", "PROXY_", "PS1_", "REFLOG_ACTION",
	"SEQUENCE_EDITOR", "SSH", "SSL_", "TERMINAL_PROMPT", "TEXTDOMAINDIR", "TRACE",
}

// plainEnv reports whether the environment contains only harmless variables of git. A variable that
// is set to "" has no effect, except GIT_CONFIG_GLOBAL, for which "" means no file; ReadFiles deals
// with that.
func plainEnv(env []string) bool {
	for _, kv := range env {
		key, value, _ := strings.Cut(kv, "=")
		rest, gits := strings.CutPrefix(key, "GIT_")
		if !gits || value == "" && rest != "CONFIG_GLOBAL" {
			continue
		}
		if !slices.ContainsFunc(harmless[:], func(known string) bool { return strings.HasPrefix(rest, known) }) {
			return false
		}
	}
	return true
}

// realDir returns the path of a directory without symbolic links. "" stands for the working
// directory. It does not resolve links itself but returns ErrUseGit.
func realDir(dir string) (string, error) {
	if dir == "" {
		return workingDir()
	}
	if real, err := filepath.EvalSymlinks(dir); err != nil || real != dir || !filepath.IsAbs(dir) {
		return "", ErrUseGit
	}
	return dir, nil
}

// topOf goes up from dir to the first directory with a .git. Like git, it does not leave the file
// system of dir. Everything that git would check further is ErrUseGit: a file named HEAD (dir may be a
// bare repository), .git as a file or link, another owner (safe.directory), and a commondir (a
// linked worktree).
func topOf(dir string) (string, error) {
	for first := dir; ; dir = filepath.Dir(dir) {
		// A bare repository has a HEAD at its top.
		if dir != first && !sameDevice(first, dir) || exists(filepath.Join(dir, "HEAD")) {
			return "", ErrUseGit
		}
		at := filepath.Join(dir, ".git")
		info, err := os.Lstat(at)
		switch {
		case err == nil && info.IsDir() && ours(dir) && ours(at):
			for _, sub := range []string{"objects", "refs"} {
				if info, err := os.Lstat(filepath.Join(at, sub)); err != nil || !info.IsDir() {
					return "", ErrUseGit
				}
			}
			if exists(filepath.Join(at, "commondir")) || strings.ContainsAny(dir, "\n") {
				return "", ErrUseGit
			}
			return dir, nil
		case err == nil || !os.IsNotExist(err) || dir == filepath.Dir(dir):
			return "", ErrUseGit
		}
	}
}

// exists reports whether something is at path, without following a symbolic link.
func exists(path string) bool {
	_, err := os.Lstat(path)
	return err == nil
}

// formatOf returns the object format of a repository. It returns ErrUseGit if the configuration has an
// extension that moves or changes parts of the repository, or that is not known here. Extensions
// count only with repositoryformatversion 1.
func formatOf(c *gitconfig.Config) (string, error) {
	if bare, err := c.Bool("core.bare", false); err != nil || bare {
		return "", ErrUseGit
	}
	if _, set := c.Get("core.worktree"); set {
		return "", ErrUseGit
	}
	version, _ := c.Get("core.repositoryformatversion")
	format := "sha1"
	for _, key := range c.Keys("extensions.") {
		switch v := c.All(key); {
		case version != "1" || len(v) != 1:
			return "", ErrUseGit
		case key == "extensions.objectformat" && (v[0] == "sha1" || v[0] == "sha256"):
			format = v[0]
		case key == "extensions.partialclone", key == "extensions.preciousobjects", key == "extensions.noop":
		default:
			return "", ErrUseGit
		}
	}
	if v := c.All("core.repositoryformatversion"); len(v) != 1 || version != "0" && version != "1" {
		return "", ErrUseGit
	}
	return format, nil
}
