// Package background starts this program again behind a command that is done, to push or
// to pack. Nothing that goes wrong there fails the command.
package background

import (
	"os"
	"path/filepath"
	"time"

	"git-checkpoint/internal/checkpoint"
	"git-checkpoint/internal/name"
)

// Files of a push in the background: one runs at a time, and one that comes meanwhile
// asks it to go round again.
const (
	PushLock  = "autopush"
	PushAgain = "autopush-again"
	// PushRefused holds why the last one sent nothing although it could have.
	PushRefused = "autopush-refused"
	// StaleAfter is how old the lock is when its process must have been killed.
	StaleAfter = 10 * time.Minute
)

// StartPush starts a push in the background after a create, when it is switched on. The
// create is done: nothing that goes wrong here can fail or slow it.
func StartPush(s *checkpoint.Service, session name.Session) {
	on, err := s.Settings.Bool("checkpoint.autoPush", false)
	if err != nil || !on {
		if err != nil {
			s.Warn(err.Error())
		}
		return
	}
	if dir, err := s.Repo.Dir(); err == nil {
		if why, err := os.ReadFile(filepath.Join(dir, PushRefused)); err == nil {
			s.Warn("the last push in the background sent nothing: " + string(why) + " (`git checkpoint push` asks)")
		}
	}
	if err := start(s, "push", "--background", "--session", string(session)); err != nil {
		s.Warn("the push in the background did not start: " + err.Error())
	}
}
