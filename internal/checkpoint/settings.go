package checkpoint

import (
	"context"
	"fmt"
	"path/filepath"
	"strings"

	"git-checkpoint/internal/git"
)

// settings are checkpoint.* of one run: environment before git's configuration
// before the committed .checkpoint/config.
type settings struct {
	env       []string
	config    *git.Config
	committed *git.Config
}

// Defaults of sizes, in bytes.
const (
	defaultMaxFileSize   = 100 << 20
	defaultMaxRecordSize = 50 << 20
	defaultMaxNewSize    = 1 << 30
	defaultMaxNewFiles   = 100_000
)

func (s *Service) readSettings(ctx context.Context) *settings {
	committed, err := s.repo.ReadConfigFile(ctx, filepath.Join(s.repo.WorkTree, ".checkpoint", "config"))
	if err != nil {
		s.warn(err.Error() + "; it is left out")
		committed = git.ParseConfig(nil)
	}
	return &settings{s.env, s.repo.Config, committed}
}

// variable is the environment's name of a key: checkpoint.maxFileSize is
// GIT_CHECKPOINT_MAXFILESIZE.
func variable(key string) string {
	return "GIT_CHECKPOINT_" + strings.ToUpper(strings.NewReplacer(".", "_", "-", "_").Replace(strings.TrimPrefix(key, "checkpoint.")))
}

// mayCommit lists the keys that a committed file may set: it can name no command
// and no remote, and weaken no rule.
func mayCommit(key string) bool {
	switch key {
	case "checkpoint.tag", "checkpoint.workflow", "checkpoint.auto":
		return true
	}
	return strings.Count(key, ".") > 1 && (strings.HasSuffix(key, ".enabled") || strings.HasSuffix(key, ".keep"))
}

// get looks a key up; key is "checkpoint.…" in git's spelling.
func (c *settings) get(key string) (string, bool) {
	if v := lookupEnv(c.env, variable(key)); v != "" { // an empty one is none
		return v, true
	}
	if v, ok := c.config.Get(key); ok {
		return v, true
	}
	if mayCommit(key) {
		return c.committed.Get(key)
	}
	return "", false
}

func (c *settings) bool(key string, def bool) (bool, error) {
	v, ok := c.get(key)
	if !ok {
		return def, nil
	}
	b, err := git.ParseBool(v)
	if err != nil {
		return def, usage("`git config "+key+" true` or `false` sets it", "configuration %s: %v", key, err)
	}
	return b, nil
}

func (c *settings) size(key string, def int64) (int64, error) {
	v, ok := c.get(key)
	if !ok {
		return def, nil
	}
	n, err := git.ParseSize(v)
	if err == nil && n < 0 {
		err = fmt.Errorf("not a size: %q", v)
	}
	if err != nil {
		return def, usage("a size is a number with k, m or g behind it", "configuration %s: %v", key, err)
	}
	return n, nil
}
