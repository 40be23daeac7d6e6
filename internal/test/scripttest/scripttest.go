// Package scripttest runs the script tests of this project. A script is a txtar archive in
// which each line is a command, with git-checkpoint in PATH. The package provides the
// environment of a script (an empty HOME, a fixed identity, a clock that only the script
// moves) and verbs in addition to those of testscript. Scripts never see the machine's own
// configuration of git.
//
// Run runs the scripts of a directory, Sample a quick selection. Verbs:
//
//	exit N command [args...]     run the command and require this exit code
//	jsonpath file path [value]   require that a GJSON path in file (or stdout, stderr) has this
//	                             value; without a value, that it exists; ! negates
//	scrub file result            copy file to result, with what differs between two runs
//	                             (ids, hashes) replaced by <id>, <oid>, <worktree>, <short>
//	tick [duration]              advance the clock, by a minute without a duration
//	world name [dir]             remember refs, HEAD, index, configuration and worktree
//	sameworld [-part...] name [dir]
//	                             require that nothing has changed since, or none of these parts:
//	                             refs, heads, index (its entries), indexfile (its bytes),
//	                             config, worktree, mtimes; ! requires that something has
package scripttest

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/rogpeppe/go-internal/testscript"
)

// began is the time at which every script begins.
const began = "2026-11-20T09:00:00Z"

// Params returns the parameters of testscript for the scripts in dir.
func Params(dir string) testscript.Params {
	return testscript.Params{
		Dir:                 dir,
		Setup:               setup,
		RequireExplicitExec: true,
		RequireUniqueNames:  true,
		UpdateScripts:       os.Getenv("UPDATE_SCRIPTS") != "",
		Cmds: map[string]func(*testscript.TestScript, bool, []string){
			"exit":      exit,
			"jsonpath":  jsonpath,
			"scrub":     scrub,
			"tick":      tick,
			"world":     world,
			"sameworld": sameworld,
		},
	}
}

// Run runs the scripts in dir.
func Run(t *testing.T, dir string) {
	t.Helper()
	testscript.Run(t, Params(dir))
}

// setup prepares the environment of a script. Nothing of the machine's own environment or
// configuration may reach it, so that scripts give the same output everywhere.
func setup(e *testscript.Env) error {
	home := filepath.Join(e.WorkDir, ".home")
	if err := os.Mkdir(home, 0o777); err != nil {
		return err
	}
	for _, pair := range [][2]string{
		{"HOME", home},
		{"XDG_CONFIG_HOME", filepath.Join(home, ".config")},
		{"GIT_CONFIG_NOSYSTEM", "1"},
		{"GIT_CEILING_DIRECTORIES", e.WorkDir},
		{"GIT_TERMINAL_PROMPT", "0"},
		{"GIT_AUTHOR_NAME", "A U Thor"},
		{"GIT_AUTHOR_EMAIL", "author@example.com"},
		{"GIT_COMMITTER_NAME", "C O Mitter"},
		{"GIT_COMMITTER_EMAIL", "committer@example.com"},
		{"GIT_CONFIG_COUNT", "2"},
		{"GIT_CONFIG_KEY_0", "init.defaultBranch"},
		{"GIT_CONFIG_VALUE_0", "main"},
		{"GIT_CONFIG_KEY_1", "advice.detachedHead"},
		{"GIT_CONFIG_VALUE_1", "false"},
		{"GIT_CHECKPOINT_AGENT_BEFOREDEADLINE", "20s"}, // a busy machine spends what the hooks of a prompt have
		{"LC_ALL", "C.UTF-8"},
		{"TZ", "UTC"},
	} {
		e.Setenv(pair[0], pair[1])
	}
	start, err := time.Parse(time.RFC3339, began)
	if err != nil {
		return err
	}
	setClock(e.Setenv, start)
	e.Values[worldsKey{}] = map[string]state{}
	return nil
}

// setClock sets the clocks of the program and of git.
func setClock(setenv func(key, value string), to time.Time) {
	now := to.UTC().Format(time.RFC3339)
	setenv("GIT_CHECKPOINT_NOW", now)
	setenv("GIT_AUTHOR_DATE", now)
	setenv("GIT_COMMITTER_DATE", now)
}

// tick implements the verb tick.
func tick(ts *testscript.TestScript, neg bool, args []string) {
	step := time.Minute
	if neg || len(args) > 1 {
		ts.Fatalf("usage: tick [duration]")
	}
	now, err := time.Parse(time.RFC3339, ts.Getenv("GIT_CHECKPOINT_NOW"))
	ts.Check(err)
	if len(args) == 1 {
		step, err = time.ParseDuration(args[0])
		ts.Check(err)
	}
	setClock(ts.Setenv, now.Add(step))
}

// text returns the content of a file, or of stdout or stderr.
func text(ts *testscript.TestScript, file string) string { return ts.ReadFile(file) }

func words(args []string) string { return strings.Join(args, " ") }
