package checkpoint

import (
	"context"
	"errors"
	"os"
	"path/filepath"
	"time"

	"git-checkpoint/internal/name"
)

// Files of a push in the background: one runs at a time, and one that comes meanwhile
// asks it to go round again.
const (
	autoLock  = "autopush"
	autoAgain = "autopush-again"
	// autoStale is how old the lock is when its process must have been killed.
	autoStale = 10 * time.Minute
)

// pushLater starts a push in the background after a create, when it is switched on. The
// create is done: nothing that goes wrong here can fail or slow it.
func (s *Service) pushLater(session name.Session) {
	on, err := s.where.bool("checkpoint.autoPush", false)
	if err != nil || !on {
		if err != nil {
			s.warn(err.Error())
		}
		return
	}
	if err := s.background("push", "--background", "--session", string(session)); err != nil {
		s.warn("the push in the background did not start: " + err.Error())
	}
}

// PushInBackground is the push that a create starts. What it ends with is remembered
// for `status`: there is nobody to tell.
func (s *Service) PushInBackground(ctx context.Context, req TravelRequest) error {
	dir, err := s.repo.Dir()
	if err != nil {
		return classify(err)
	}
	lock, again := filepath.Join(dir, autoLock), filepath.Join(dir, autoAgain)
	for {
		if !s.lockAuto(lock) {
			return classify(os.WriteFile(again, nil, 0o666)) //nolint:gosec // as git's own files are
		}
		for round := true; round; {
			os.Remove(again) //nolint:errcheck // it is there or not
			if round = false; s.pushQuietly(ctx, req) == nil {
				_, statErr := os.Stat(again)
				round = statErr == nil
			}
		}
		os.Remove(lock) //nolint:errcheck // stale by age at the latest
		if _, err := os.Stat(again); err != nil || ctx.Err() != nil {
			return nil //nolint:nilerr // nobody asked for another round
		}
		os.Remove(again) //nolint:errcheck // one more round is for it
	}
}

// lockAuto takes the lock; one that a kill left behind is taken over by age.
func (s *Service) lockAuto(lock string) bool {
	for range 2 {
		f, err := os.OpenFile(lock, os.O_CREATE|os.O_EXCL|os.O_WRONLY, 0o666) //nolint:gosec // as git's own files are
		if err == nil {
			f.Close() //nolint:errcheck // nothing was written
			return true
		}
		info, err := os.Stat(lock)
		if err != nil || time.Since(info.ModTime()).Abs() < autoStale {
			return false
		}
		os.Remove(lock) //nolint:errcheck // the next try tells
	}
	return false
}

// pushQuietly pushes all sessions and notes how it ended.
func (s *Service) pushQuietly(ctx context.Context, req TravelRequest) error {
	req.Ask, req.Quietly, req.Sessions = false, true, nil
	t, err := s.newTrip(req)
	if err != nil {
		return err
	}
	said := t.memory.Pushed
	if err = t.push(ctx, nil); err == nil {
		err = t.verdict()
	}
	t.memory.Pushed = said // what travels was not said to anybody
	t.memory.Auto = "pushed " + s.now().Format(time.RFC3339)
	if err != nil {
		t.memory.Auto = "failed " + s.now().Format(time.RFC3339) + ": " + err.Error()
	}
	return errors.Join(err, t.memory.save())
}
