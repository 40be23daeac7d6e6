package git

import (
	"slices"
	"strings"

	"git-checkpoint/internal/git/gitconfig"
	"git-checkpoint/internal/sys/gather"
)

// dropped lists the inherited variables that must not reach the git processes of this program. They
// would move the index, change dates or the meaning of paths, or mix traces into output that is
// parsed. Everything else stays, so that `git -c key=value checkpoint` and the settings of ssh and
// TLS work.
var dropped = []string{
	"GIT_DIR", "GIT_WORK_TREE", "GIT_INDEX_FILE", "GIT_PREFIX", // command sets these anew, as absolute paths
	"GIT_AUTHOR_DATE", "GIT_COMMITTER_DATE",
	"GIT_LITERAL_PATHSPECS", "GIT_GLOB_PATHSPECS", "GIT_NOGLOB_PATHSPECS", "GIT_ICASE_PATHSPECS",
	"GIT_EXTERNAL_DIFF", "GIT_DIFF_OPTS", "GIT_OPTIONAL_LOCKS", "GIT_NO_REPLACE_OBJECTS", "LC_ALL", "LANGUAGE",
}

// fixed is added to the environment of every git process. GIT_OPTIONAL_LOCKS=0 keeps git from
// refreshing the user's index as a side effect, GIT_NO_REPLACE_OBJECTS=1 makes it read the objects
// that the ids name, and LC_ALL=C makes its messages parseable.
var fixed = []string{"GIT_OPTIONAL_LOCKS=0", "GIT_NO_REPLACE_OBJECTS=1", "LC_ALL=C"}

// quiet is the configuration that keeps captures and ref updates free of side effects: no hooks, no
// file watcher, no background maintenance, no advice. It also resets the settings that weaken git's
// detection of changed files.
var quiet = []string{
	"core.hooksPath=/dev/null", "core.fsmonitor=false", "core.safecrlf=false", "core.splitIndex=false",
	"core.ignoreStat=false", "core.trustctime=true", "core.checkStat=default", "advice.addEmbeddedRepo=false", "gc.auto=0", "maintenance.auto=false",
	"core.quotePath=true", "sparse.expectFilesOutsideOfPatterns=true",
	// core.hooksPath does not switch off the hooks that are defined in the configuration (git 2.54
	// and later). These are the events that our commands trigger. git 2.55 can switch off a whole
	// event; earlier versions ignore the setting. See withoutHooks.
	"hook.reference-transaction.enabled=false", "hook.post-index-change.enabled=false", "hook.post-checkout.enabled=false",
	"hook.pre-push.enabled=false", "hook.pre-auto-gc.enabled=false",
}

// withoutHooks returns the settings that keep configured hooks from running in git 2.54, which can
// switch off hooks by name only. An empty hook.<name>.event clears the events that the hook was
// given before. Unlike hook.<name>.enabled=false it causes no warning for a hook without a command.
func withoutHooks(c *gitconfig.Config) (off []string) {
	off = gather.List(gather.Those(c.Keys("hook."), func(key string) bool { return strings.HasSuffix(key, ".event") }), func(key string) string { return key + "=" })
	slices.Sort(off)
	return off
}

// cleanEnv returns env without the dropped variables and without GIT_TRACE*, and with the fixed
// ones.
func cleanEnv(env []string) []string {
	out := make([]string, 0, len(env)+len(fixed)+4)
	for _, kv := range env {
		key, _, _ := strings.Cut(kv, "=")
		if !strings.HasPrefix(key, "GIT_TRACE") && !slices.Contains(dropped, key) {
			out = append(out, kv)
		}
	}
	return append(out, fixed...)
}

// Getenv returns a variable of the environment that git processes get, or "".
func (l *Location) Getenv(key string) string { return gitconfig.Getenv(l.env, key) }
