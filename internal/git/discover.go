package git

import (
	"os"
	"path/filepath"
	"slices"
	"strings"

	"git-checkpoint/internal/name"
)

// discover finds the places and the configuration of an ordinary repository without a
// process: `.git` is a directory of the user's own in the working directory or above it.
// Whatever else there is, errAsk leaves it to git.
func (r *Repo) discover(o Options) error {
	if !plainEnv(o.Env) {
		return errAsk
	}
	cwd, err := realDir(o.Dir)
	if err != nil {
		return errAsk
	}
	top, err := topOf(cwd)
	if err != nil {
		return err
	}
	dir := filepath.Join(top, ".git")
	if r.Config, err = readConfigFiles(o.Env, filepath.Join(dir, "config")); err != nil {
		return err
	}
	if r.Format, err = formatOf(r.Config); err != nil {
		return err
	}
	r.GitDir, r.CommonDir, r.WorkTree, r.IndexPath = dir, dir, top, filepath.Join(dir, "index")
	if cwd != top {
		r.Prefix = strings.TrimPrefix(cwd, strings.TrimSuffix(top, "/")+"/") + "/"
	}
	return r.readHead()
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
		return "", errAsk
	}
	return dir, nil
}

// topOf goes up to the first directory with a .git, on one file system, as git does.
func topOf(dir string) (string, error) {
	for first := dir; ; dir = filepath.Dir(dir) {
		if dir != first && !sameDevice(first, dir) || exists(filepath.Join(dir, "HEAD")) { // perhaps a bare repository
			return "", errAsk
		}
		at := filepath.Join(dir, ".git")
		info, err := os.Lstat(at)
		switch {
		case err == nil && info.IsDir() && ours(dir) && ours(at):
			for _, sub := range []string{"objects", "refs"} {
				if info, err := os.Lstat(filepath.Join(at, sub)); err != nil || !info.IsDir() {
					return "", errAsk
				}
			}
			if exists(filepath.Join(at, "commondir")) || strings.ContainsAny(dir, "\n") {
				return "", errAsk
			}
			return dir, nil
		case err == nil || !os.IsNotExist(err) || dir == filepath.Dir(dir):
			return "", errAsk
		}
	}
}

func exists(path string) bool {
	_, err := os.Lstat(path)
	return err == nil
}

// formatOf is the object format of a repository whose configuration names no extension
// that moves its parts.
func formatOf(c *Config) (string, error) {
	if bare, err := c.Bool("core.bare", false); err != nil || bare {
		return "", errAsk
	}
	if _, set := c.Get("core.worktree"); set {
		return "", errAsk
	}
	version, _ := c.Get("core.repositoryformatversion")
	format := "sha1"
	for _, key := range c.Keys("extensions.") {
		switch v := c.All(key); {
		case version != "1" || len(v) != 1:
			return "", errAsk
		case key == "extensions.objectformat" && (v[0] == "sha1" || v[0] == "sha256"):
			format = v[0]
		case key == "extensions.partialclone", key == "extensions.preciousobjects", key == "extensions.noop":
		default:
			return "", errAsk
		}
	}
	if v := c.All("core.repositoryformatversion"); len(v) != 1 || version != "0" && version != "1" {
		return "", errAsk
	}
	return format, nil
}

// readHead follows HEAD to a branch, and that to a commit.
func (r *Repo) readHead() error {
	path := filepath.Join(r.GitDir, "HEAD")
	if info, err := os.Lstat(path); err != nil || !info.Mode().IsRegular() {
		return errAsk
	}
	data, err := os.ReadFile(path)
	if err != nil {
		return errAsk
	}
	line, ended := strings.CutSuffix(string(data), "\n")
	files := r.refFiles()
	branch, symbolic := strings.CutPrefix(line, "ref: ")
	switch {
	case !ended:
		return errAsk
	case !symbolic && len(line) == files.digits && name.IsHex(line):
		r.Head.OID = name.OID(line)
		return nil
	case !symbolic || !strings.HasPrefix(branch, "refs/heads/") || !plainBranch(branch):
		return errAsk
	}
	r.Head.Branch = name.Ref(branch)
	r.Head.OID, err = files.resolve(r.Head.Branch)
	return err
}

// plainBranch reports whether a name is certainly one that git allows.
func plainBranch(ref string) bool {
	for i := range len(ref) {
		if c := ref[i]; c <= ' ' || c >= 0x7f || strings.IndexByte("~^:?*[\\@{", c) >= 0 {
			return false
		}
	}
	for _, part := range strings.Split(ref, "/") {
		if part == "" || part[0] == '.' || part[len(part)-1] == '.' || strings.HasSuffix(part, ".lock") || strings.Contains(part, "..") {
			return false
		}
	}
	return true
}
