package checkpoint

import (
	"context"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"git-checkpoint/internal/format/name"
	"git-checkpoint/internal/git"
	"git-checkpoint/internal/git/gitconfig"
	"git-checkpoint/internal/sys/wholefile"
)

// Settings are the keys checkpoint.* for one run of the program. A key is looked up in the
// environment first, then in git's configuration, then in the committed file .checkpoint/config,
// which may set only the keys that mayCommit allows.
type Settings struct {
	env       []string
	Config    *gitconfig.Config // git's configuration, all levels
	Committed *gitconfig.Config // .checkpoint/config in the worktree; never nil
}

// Default limits. The sizes are in bytes.
const (
	DefaultMaxFileSize   = 100 << 20
	DefaultHookFileSize  = 8 << 20
	DefaultMaxRecordSize = 50 << 20
	DefaultMaxNewSize    = 1 << 30
	DefaultMaxNewFiles   = 100_000
)

// readSettings reads the committed file once. If it is invalid the user is warned and the file is
// ignored, so that a bad commit cannot lock anybody out.
func readSettings(ctx context.Context, repo *git.Repo, env []string, warn func(string)) *Settings {
	file := filepath.Join(repo.WorkTree, ".checkpoint", "config")
	err := staysInside(repo, file)
	var committed *gitconfig.Config
	if err == nil {
		committed, err = repo.ReadConfigFile(ctx, file)
	}
	if err != nil {
		warn(err.Error() + "; it is left out")
		committed = gitconfig.ParseConfig(nil)
	}
	return &Settings{env, repo.Config, committed}
}

// staysInside returns an error for a file of the worktree that symbolic links take out of it: whoever
// commits the links may have chosen a file of the user's.
func staysInside(repo *git.Repo, file string) error {
	if wholefile.LeadsOut(repo.WorkTree, file) {
		return fmt.Errorf("read %q: %q is a symbolic link that leads out of the worktree", file, wholefile.LinkBelow(repo.WorkTree, file))
	}
	return nil
}

// EnvVariable returns the environment variable of a key: GIT_CHECKPOINT_MAXFILESIZE for
// checkpoint.maxFileSize.
func EnvVariable(key string) string {
	return "GIT_CHECKPOINT_" + strings.ToUpper(strings.NewReplacer(".", "_", "-", "_").Replace(strings.TrimPrefix(key, "checkpoint.")))
}

// mayCommit reports whether the committed file may set a key. Whoever can push a commit controls
// that file, so it must not be able to name a command or a remote, or to weaken a rule.
func mayCommit(key string) bool {
	switch key {
	case "checkpoint.tag", "checkpoint.workflow", "checkpoint.auto":
		return true
	}
	if strings.HasPrefix(key, "checkpoint.agent.") { // running hooks needs the user's own consent
		return false
	}
	return strings.Count(key, ".") > 1 && (strings.HasSuffix(key, ".enabled") || strings.HasSuffix(key, ".keep"))
}

// Get returns the value of a key and whether it is set. The key is written as in git's
// documentation: "checkpoint.maxFileSize".
func (s *Settings) Get(key string) (string, bool) {
	v, origin := s.find(key)
	return v, origin != ""
}

// Origin returns where the value of a key comes from: environment, config or committed. It is ""
// for a key that is not set.
func (s *Settings) Origin(key string) string {
	_, origin := s.find(key)
	return origin
}

// find returns the value of a key and its origin.
func (s *Settings) find(key string) (value, origin string) {
	if v := lookupEnv(s.env, EnvVariable(key)); v != "" { // an empty variable counts as not set
		return v, "environment"
	}
	if v, ok := s.Config.Get(key); ok {
		return v, "config"
	}
	if v, ok := s.Committed.Get(key); ok && mayCommit(key) {
		return v, "committed"
	}
	return "", ""
}

// Bool returns the value of a boolean key, or byDefault when it is not set. Another value is an error of
// KindUsage.
func (s *Settings) Bool(key string, byDefault bool) (bool, error) {
	v, ok := s.Get(key)
	if !ok {
		return byDefault, nil
	}
	b, err := gitconfig.ParseBool(v)
	if err != nil {
		return byDefault, Usage("`git config "+key+" true` or `false` sets it", "configuration %s: %v", key, err)
	}
	return b, nil
}

// Size returns the value of a key in bytes, or def when it is not set. It accepts git's suffixes k,
// m and g.
func (s *Settings) Size(key string, def int64) (int64, error) {
	v, ok := s.Get(key)
	if !ok {
		return def, nil
	}
	n, err := gitconfig.ParseSize(v)
	if err == nil && n < 0 {
		err = fmt.Errorf("not a size: %q", name.Clip(v, name.Said))
	}
	if err != nil {
		return def, Usage("a size is a number, with k, m or g after it", "configuration %s: %v", key, err)
	}
	return n, nil
}

// Getenv returns the value of an environment variable, or "" when it is not set.
func (s *Settings) Getenv(key string) string { return lookupEnv(s.env, key) }

// lookupEnv returns the last value of a variable: in an environment with duplicates the last one is
// used.
func lookupEnv(env []string, key string) string {
	for _, variable := range slices.Backward(env) {
		if v, ok := strings.CutPrefix(variable, key+"="); ok {
			return v
		}
	}
	return ""
}

// Setting is one key of the configuration, its value and its origin.
type Setting struct {
	Key    string `json:"key"`
	Value  string `json:"value"`
	Origin string `json:"origin"` // environment, config, committed or default
}

// Mirror is one value of checkpoint.mirror: a directory in which every checkpoint is also written
// in the layout of another tool.
type Mirror struct {
	Format string // name of the layout, such as go-team
	Dir    string // absolute path; for a layout that is a database, its file
	Strays bool   // Dir is named inside the worktree, but a symbolic link leads out of it
}

// Mirrors returns the values of checkpoint.mirror, which may be set several times. A relative
// directory is relative to the top of the worktree. The environment variable holds one value and
// replaces them all. On an invalid value Mirrors returns the mirrors before it, and an error of
// KindUsage.
func (s *Service) Mirrors() ([]Mirror, error) {
	values := s.Repo.Config.All("checkpoint.mirror")
	if v := s.Settings.Getenv(EnvVariable("checkpoint.mirror")); v != "" {
		values = []string{v}
	}
	var out []Mirror
	for _, v := range values {
		if v == "" {
			continue
		}
		format, dir, ok := strings.Cut(v, ":")
		if !ok || dir == "" || s.options.MirrorPaths(format, ".") == nil {
			return out, Usage("`git config checkpoint.mirror FORMAT:DIR`, such as go-team:../old-project", "configuration checkpoint.mirror: %q is not FORMAT:DIR", name.Clip(v, name.Said))
		}
		if !filepath.IsAbs(dir) {
			dir = filepath.Join(s.Repo.WorkTree, filepath.FromSlash(dir))
		}
		m := Mirror{Format: format, Dir: filepath.Clean(dir)}
		m.Strays = isBelow(s.Repo.WorkTree, m.Dir) && !isBelow(resolved(s.Repo.WorkTree), resolved(m.Dir))
		out = append(out, m)
	}
	return out, nil
}

// mirrored returns the paths in the worktree that mirrors write. Captures leave them out: if a
// checkpoint contained them, a rollback would revert the mirror that describes the rollback.
func (s *Service) mirrored() []string {
	mirrors, err := s.Mirrors()
	if err != nil {
		s.Store.Warn(err.Error())
	}
	var out []string
	for _, m := range mirrors {
		// Both spellings, because a capture sees the path that a symbolic link leads to.
		for _, dir := range []string{m.Dir, resolved(m.Dir)} {
			if rel, err := filepath.Rel(s.Repo.WorkTree, dir); err == nil && filepath.IsLocal(rel) {
				out = append(out, s.options.MirrorPaths(m.Format, filepath.ToSlash(rel))...)
			}
		}
	}
	slices.Sort(out)
	return slices.Compact(out)
}

// isBelow reports whether p is dir or a path in it. It compares names only and follows no links.
func isBelow(dir, p string) bool {
	rel, err := filepath.Rel(dir, p)
	return err == nil && filepath.IsLocal(rel)
}

// resolved returns p without symbolic links. The last components need not exist. It returns "" when
// p leads through a dangling link, because a file written there could be created anywhere.
func resolved(p string) string {
	for at, rest := p, ""; ; at, rest = filepath.Dir(at), filepath.Join(filepath.Base(at), rest) {
		if real, err := filepath.EvalSymlinks(at); err == nil {
			return filepath.Join(real, rest)
		}
		if info, err := os.Lstat(at); at == filepath.Dir(at) || err == nil && info.Mode()&fs.ModeSymlink != 0 {
			return ""
		}
	}
}

// Tip returns the newest commit of a session's journal, or "" when there is none.
func Tip(ctx context.Context, repo *git.Repo, session name.Session) (name.OID, error) {
	found, err := repo.Refs.ResolveAll(ctx, name.JournalRef(session))
	if err != nil {
		return "", fmt.Errorf("read journal of %q: %w", session, err)
	}
	return found[name.JournalRef(session)], nil
}
