package git

import (
	"slices"
	"strings"

	"git-checkpoint/internal/gitconfig"
)

// dropped is the inherited environment that must not reach the git processes
// started here: it would move the index, the dates or the meaning of paths under
// them, or write traces into output that is parsed. Everything else stays, so
// that `git -c key=value checkpoint` and the settings of ssh and TLS work.
var dropped = []string{
	"GIT_DIR", "GIT_WORK_TREE", "GIT_INDEX_FILE", "GIT_PREFIX", // set anew, absolute, for each process
	"GIT_AUTHOR_DATE", "GIT_COMMITTER_DATE",
	"GIT_LITERAL_PATHSPECS", "GIT_GLOB_PATHSPECS", "GIT_NOGLOB_PATHSPECS", "GIT_ICASE_PATHSPECS",
	"GIT_EXTERNAL_DIFF", "GIT_DIFF_OPTS", "GIT_OPTIONAL_LOCKS", "GIT_NO_REPLACE_OBJECTS", "LC_ALL", "LANGUAGE",
}

// fixed is what every git process started here sees.
var fixed = []string{"GIT_OPTIONAL_LOCKS=0", "GIT_NO_REPLACE_OBJECTS=1", "LC_ALL=C"}

// quiet holds the configuration that keeps capture and ref updates free of side
// effects: no hook, no file watcher, no background maintenance, no advice.
var quiet = []string{
	"core.hooksPath=/dev/null", "core.fsmonitor=false", "core.safecrlf=false", "core.splitIndex=false",
	"core.ignoreStat=false", "core.trustctime=true", "core.checkStat=default", "advice.addEmbeddedRepo=false", "gc.auto=0", "maintenance.auto=false",
	"core.quotePath=true", "sparse.expectFilesOutsideOfPatterns=true",
	// core.hooksPath does not reach hooks from configuration (git 2.54 and later). These are
	// the events that our commands have; git 2.55 switches a whole event off, and earlier
	// ones ignore it. See also withoutHooks.
	"hook.reference-transaction.enabled=false", "hook.post-index-change.enabled=false", "hook.post-checkout.enabled=false",
	"hook.pre-push.enabled=false", "hook.pre-auto-gc.enabled=false",
}

// withoutHooks is the configuration that takes the events of each configured hook away,
// which git 2.54 needs: there only names can be switched off. An empty event forgets the
// earlier ones, and unlike enabled=false draws no warning for a hook without a command.
func withoutHooks(c *gitconfig.Config) (off []string) {
	for _, key := range c.Keys("hook.") {
		if strings.HasSuffix(key, ".event") {
			off = append(off, key+"=")
		}
	}
	slices.Sort(off)
	return off
}

// cleanEnv returns env without the dropped variables and GIT_TRACE*.
func cleanEnv(env []string) []string {
	out := make([]string, 0, len(env)+len(fixed)+4)
next:
	for _, kv := range env {
		key, _, _ := strings.Cut(kv, "=")
		if strings.HasPrefix(key, "GIT_TRACE") {
			continue
		}
		for _, d := range dropped {
			if key == d {
				continue next
			}
		}
		out = append(out, kv)
	}
	return append(out, fixed...)
}

// Getenv is a variable of the environment that git processes get, "" without one.
func (r *Repo) Getenv(key string) string { return gitconfig.Getenv(r.env, key) }
