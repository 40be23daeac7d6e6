package travel

import (
	"context"
	"os"
	"path/filepath"
	"time"

	"git-checkpoint/internal/core/checkpoint"
	"git-checkpoint/internal/git"
	"git-checkpoint/internal/verb/background"
)

// PushInBackground is the push that a create starts when checkpoint.autoPush is set. It runs
// detached from any terminal, so the result is stored for `status` to show.
//
// Only one push runs per worktree. One that finds the lock taken leaves a marker file, and the
// holder of the lock pushes once more when it finds the marker, so the newest checkpoint always
// gets sent.
func PushInBackground(ctx context.Context, s *checkpoint.Service, req Request) error {
	dir, err := s.Repo.Dir()
	if err != nil {
		return err
	}
	lock, again := filepath.Join(dir, background.PushLock), filepath.Join(dir, background.PushAgain)
	for {
		release, ok := background.Lock(lock)
		if !ok {
			return os.WriteFile(again, nil, 0o666) // as git's own files are
		}
		// The marker is removed before the push reads the refs. One that appears later may be about a
		// checkpoint that this push did not see.
		os.Remove(again) //nolint:errcheck // it is there or not
		pushQuietly(ctx, s, req)
		release()
		if _, err := os.Stat(again); err != nil || ctx.Err() != nil {
			return nil //nolint:nilerr // nobody asked for another push
		}
	}
}

// pushQuietly pushes all sessions without asking anything, and stores how it ended.
func pushQuietly(ctx context.Context, s *checkpoint.Service, req Request) {
	req.Ask, req.Agree, req.Quietly, req.Sessions = false, nil, true, nil
	t, err := newTrip(s, req)
	if err != nil {
		return
	}
	if err = t.push(ctx, nil); err == nil {
		err = t.verdict()
	}
	noteRefusal(s.Repo, err)
	t.memory.Auto = "pushed " + s.Store.Now().Format(time.RFC3339)
	if err != nil {
		t.memory.Auto = "failed " + s.Store.Now().Format(time.RFC3339) + ": " + err.Error()
	}
	t.memory.save(s.Store) //nolint:errcheck // nobody is there to tell
}

// noteRefusal stores the reason why the clearance gate refused a push, for the next create to
// print. With any other result it deletes what was stored.
func noteRefusal(repo *git.Repo, err error) {
	dir, dirErr := repo.Dir()
	if dirErr != nil {
		return
	}
	path := filepath.Join(dir, background.PushRefused)
	if checkpoint.KindOf(err) == checkpoint.KindRefused {
		os.WriteFile(path, []byte(err.Error()), 0o666) //nolint:errcheck,gosec // status tells it too
		return
	}
	os.Remove(path) //nolint:errcheck // there may be none
}
