// Package discover finds an ordinary repository and reads its configuration without
// starting git, which costs more than most commands of this program do. Where anything is
// out of the ordinary (a linked worktree, GIT_DIR, another owner, an unknown extension) it
// returns ErrAsk, and the caller asks git.
package discover

import (
	"os"
	"path/filepath"
	"slices"
	"strings"

	"git-checkpoint/internal/gitconfig"
)

// ErrAsk means that only git can tell.
var ErrAsk = gitconfig.ErrAsk

// Repository is an ordinary one: its git directory is <WorkTree>/.git.
type Repository struct {
	WorkTree string // absolute, without symbolic links
	Prefix   string // of the directory below WorkTree: "" or "a/b/"
	Format   string // "sha1" or "sha256"
	Config   *gitconfig.Config
}

// Find looks for the repository that dir belongs to ("": the working directory) as git
// would with the environment env: `.git` is a directory of the user's own in dir or above
// it.
func Find(dir string, env []string) (*Repository, error) {
	if !plainEnv(env) {
		return nil, ErrAsk
	}
	cwd, err := realDir(dir)
	if err != nil {
		return nil, ErrAsk
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

// harmless lists the variables of git's, or their beginnings, that neither place nor
// configure a repository. An unknown one might.
var harmless = [...]string{
	"ADVICE", "ALLOW_PROTOCOL", "ASKPASS", "AUTHOR_", "CHECKPOINT_", "COMMITTER_", "CONFIG_GLOBAL", "CONFIG_NOSYSTEM", "CURL_",
	"EDITOR", "HTTP_", "LFS_", "MERGE_", "OPTIONAL_LOCKS", "PAGER", "PREFIX", "PROTOCOL", "PROXY_", "PS1_", "REFLOG_ACTION",
	"SEQUENCE_EDITOR", "SSH", "SSL_", "TERMINAL_PROMPT", "TEXTDOMAINDIR", "TRACE",
}

// plainEnv reports whether nothing in the environment tells git where the repository is
// or how it is configured.
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

// realDir is a directory's path without symbolic links; "" is the working directory.
func realDir(dir string) (string, error) {
	if dir == "" {
		return workingDir()
	}
	if real, err := filepath.EvalSymlinks(dir); err != nil || real != dir || !filepath.IsAbs(dir) {
		return "", ErrAsk
	}
	return dir, nil
}

// topOf goes up to the first directory with a .git, on one file system, as git does.
func topOf(dir string) (string, error) {
	for first := dir; ; dir = filepath.Dir(dir) {
		if dir != first && !sameDevice(first, dir) || exists(filepath.Join(dir, "HEAD")) { // perhaps a bare repository
			return "", ErrAsk
		}
		at := filepath.Join(dir, ".git")
		info, err := os.Lstat(at)
		switch {
		case err == nil && info.IsDir() && ours(dir) && ours(at):
			for _, sub := range []string{"objects", "refs"} {
				if info, err := os.Lstat(filepath.Join(at, sub)); err != nil || !info.IsDir() {
					return "", ErrAsk
				}
			}
			if exists(filepath.Join(at, "commondir")) || strings.ContainsAny(dir, "\n") {
				return "", ErrAsk
			}
			return dir, nil
		case err == nil || !os.IsNotExist(err) || dir == filepath.Dir(dir):
			return "", ErrAsk
		}
	}
}

func exists(path string) bool {
	_, err := os.Lstat(path)
	return err == nil
}

// formatOf is the object format of a repository whose configuration names no extension
// that moves its parts.
func formatOf(c *gitconfig.Config) (string, error) {
	if bare, err := c.Bool("core.bare", false); err != nil || bare {
		return "", ErrAsk
	}
	if _, set := c.Get("core.worktree"); set {
		return "", ErrAsk
	}
	version, _ := c.Get("core.repositoryformatversion")
	format := "sha1"
	for _, key := range c.Keys("extensions.") {
		switch v := c.All(key); {
		case version != "1" || len(v) != 1:
			return "", ErrAsk
		case key == "extensions.objectformat" && (v[0] == "sha1" || v[0] == "sha256"):
			format = v[0]
		case key == "extensions.partialclone", key == "extensions.preciousobjects", key == "extensions.noop":
		default:
			return "", ErrAsk
		}
	}
	if v := c.All("core.repositoryformatversion"); len(v) != 1 || version != "0" && version != "1" {
		return "", ErrAsk
	}
	return format, nil
}
