package checkpoint

import (
	"context"
	"fmt"
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
