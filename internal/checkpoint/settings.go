package checkpoint

import (
	"context"
	"fmt"
	"path/filepath"
	"strings"

	"git-checkpoint/internal/gitconfig"
	"git-checkpoint/internal/name"
)

// Settings are checkpoint.* of one run: environment before git's configuration
// before the committed .checkpoint/config.
type Settings struct {
	env       []string
	Config    *gitconfig.Config
	Committed *gitconfig.Config
}

// Defaults of sizes, in bytes.
const (
	DefaultMaxFileSize   = 100 << 20
	DefaultMaxRecordSize = 50 << 20
	DefaultMaxNewSize    = 1 << 30
	DefaultMaxNewFiles   = 100_000
)

func (s *Service) readSettings(ctx context.Context) *Settings {
	committed, err := s.Repo.ReadConfigFile(ctx, filepath.Join(s.Repo.WorkTree, ".checkpoint", "config"))
	if err != nil {
		s.Warn(err.Error() + "; it is left out")
		committed = gitconfig.ParseConfig(nil)
	}
	return &Settings{s.Env, s.Repo.Config, committed}
}

// EnvVariable is the environment's name of a key: checkpoint.maxFileSize is
// GIT_CHECKPOINT_MAXFILESIZE.
func EnvVariable(key string) string {
	return "GIT_CHECKPOINT_" + strings.ToUpper(strings.NewReplacer(".", "_", "-", "_").Replace(strings.TrimPrefix(key, "checkpoint.")))
}

// mayCommit lists the keys that a committed file may set: it can name no command
// and no remote, and weaken no rule.
func mayCommit(key string) bool {
	switch key {
	case "checkpoint.tag", "checkpoint.workflow", "checkpoint.auto":
		return true
	}
	if strings.HasPrefix(key, "checkpoint.agent.") { // a person's consent to run hooks
		return false
	}
	return strings.Count(key, ".") > 1 && (strings.HasSuffix(key, ".enabled") || strings.HasSuffix(key, ".keep"))
}

// Get looks a key up; key is "checkpoint.…" in git's spelling.
func (c *Settings) Get(key string) (string, bool) {
	if v := lookupEnv(c.env, EnvVariable(key)); v != "" { // an empty one is none
		return v, true
	}
	if v, ok := c.Config.Get(key); ok {
		return v, true
	}
	if mayCommit(key) {
		return c.Committed.Get(key)
	}
	return "", false
}

// Bool looks up a key that is true or false.
func (c *Settings) Bool(key string, def bool) (bool, error) {
	v, ok := c.Get(key)
	if !ok {
		return def, nil
	}
	b, err := gitconfig.ParseBool(v)
	if err != nil {
		return def, Usage("`git config "+key+" true` or `false` sets it", "configuration %s: %v", key, err)
	}
	return b, nil
}

// Size looks up a number of bytes.
func (c *Settings) Size(key string, def int64) (int64, error) {
	v, ok := c.Get(key)
	if !ok {
		return def, nil
	}
	n, err := gitconfig.ParseSize(v)
	if err == nil && n < 0 {
		err = fmt.Errorf("not a size: %q", name.Clip(v, name.Said))
	}
	if err != nil {
		return def, Usage("a size is a number with k, m or g behind it", "configuration %s: %v", key, err)
	}
	return n, nil
}

func lookupEnv(env []string, key string) string {
	for i := len(env) - 1; i >= 0; i-- {
		if v, ok := strings.CutPrefix(env[i], key+"="); ok {
			return v
		}
	}
	return ""
}

// Setting is one key of the configuration and where it comes from.
type Setting struct {
	Key    string `json:"key"`
	Value  string `json:"value"`
	Origin string `json:"origin"` // environment, config, committed or default
}

// Origin says where a key is set: environment, config or committed.
func (c *Settings) Origin(key string) string {
	if lookupEnv(c.env, EnvVariable(key)) != "" {
		return "environment"
	}
	if _, ok := c.Config.Get(key); ok {
		return "config"
	}
	return "committed"
}
