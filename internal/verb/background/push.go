// Package background starts this program again, in the background, after a command has done its
// work: to push new checkpoints (StartPush) or to pack loose objects and refs (StartPack). The
// command does not wait, and nothing that goes wrong in the background fails it.
//
// The background process takes a lock (Lock), so that one runs at a time, and leaves a file
// behind if it fails, since it has no terminal: the next create or `doctor` reports that. Pack is
// what the process that StartPack started runs; a push runs internal/verb/travel. Start reading with
// StartPush.
package background

import (
	"os"
	"path/filepath"
	"strings"
	"time"

	"git-checkpoint/internal/core/checkpoint"
	"git-checkpoint/internal/format/name"
	"git-checkpoint/internal/sys/command"
	"git-checkpoint/internal/sys/gather"
)

// Names of the files of a push in the background, in git.Location.Dir.
const (
	// PushLock is held by a running push. A process that finds it taken creates PushAgain, which
	// tells the one that runs to push once more at its end.
	PushLock    = "autopush"
	PushAgain   = "autopush-again"
	PushRefused = "autopush-refused" // holds the reason if the last push sent nothing although it could have
	StaleAfter  = 10 * time.Minute   // the age from which a lock counts as left behind by a process that was killed
)

// StartPush starts a push in the background after a create, if checkpoint.autoPush is on. It
// warns if the last push was refused. The create is done: nothing here can fail it or slow it
// down.
func StartPush(s *checkpoint.Service, session name.Session) {
	if !isOn(s.Rules, "checkpoint.autoPush", false) {
		return
	}
	if dir, err := s.Repo.Dir(); err == nil {
		if why, err := os.ReadFile(filepath.Join(dir, PushRefused)); err == nil {
			s.Store.Warn("the last push in the background sent nothing: " + string(why) + " (`git checkpoint push` asks)")
		}
	}
	if err := start(s, "push", "--background", "--session", string(session)); err != nil {
		s.Store.Warn("the push in the background did not start: " + err.Error())
	}
}

// isOn reads a setting, and warns of a value that is not a boolean: it counts as off.
func isOn(s *checkpoint.Rules, key string, byDefault bool) bool {
	on, err := s.Settings.Bool(key, byDefault)
	if err != nil {
		s.Store.Warn(err.Error())
	}
	return err == nil && on
}

// start starts this program again with args. GIT_INDEX_FILE is left out of its environment:
// inside a git hook it names a temporary index, which is gone when the hook ends.
func start(s *checkpoint.Service, args ...string) error {
	env := gather.Those(s.Env, func(kv string) bool { return !strings.HasPrefix(kv, "GIT_INDEX_FILE=") })
	return command.Background(s.Repo.WorkTree, env, args...)
}
