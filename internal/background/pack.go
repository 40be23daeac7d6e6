package background

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"time"

	"git-checkpoint/internal/checkpoint"
	"git-checkpoint/internal/command"
	"git-checkpoint/internal/name"
)

// Files of packing in the background, in the directory that all worktrees share.
const (
	PackLock   = "autopack"
	PackFailed = "autopack-failed"
	// packAgain is how long a failure is believed to come again.
	packAgain = time.Hour
)

// Parts of gc.auto from which we pack: well below it, so that it is not our objects that
// start a whole gc behind somebody's commit, and fewer refs, each of which git opens
// whenever it lists them.
const (
	usualGCAuto          = 6700
	usualGCAutoPackLimit = 50
	objectsPart          = 2
	refsPart             = 8
)

// StartPack starts packing in the background after a create, when much lies loose. The
// create is done: nothing that goes wrong here can fail it, and looking costs it the
// listing of three directories.
func StartPack(s *checkpoint.Service, session name.Session) {
	on, err := s.Settings.Bool("checkpoint.autoPack", true)
	if err != nil {
		s.Warn(err.Error())
	}
	if err != nil || !on || !crowded(s, session) {
		return
	}
	dir := filepath.Join(s.Repo.CommonDir, "checkpoint")
	if info, err := os.Stat(filepath.Join(dir, PackLock)); err == nil && time.Since(info.ModTime()).Abs() < StaleAfter {
		return // one is at it
	}
	if info, err := os.Stat(filepath.Join(dir, PackFailed)); err == nil && time.Since(info.ModTime()).Abs() < packAgain {
		return
	}
	if err := start(s, "__pack"); err != nil {
		s.Warn("packing in the background did not start: " + err.Error())
	}
}

// crowded reports whether more lies loose than there should. Who has switched git's own
// gc off has all packing switched off.
func crowded(s *checkpoint.Service, session name.Session) bool {
	limit, err := s.Repo.Config.Size("gc.auto", usualGCAuto)
	if err != nil || limit <= 0 {
		return false
	}
	if auto, err := s.Repo.Config.Bool("maintenance.auto", true); err != nil || !auto {
		return false
	}
	if s.Repo.MayPackObjects() {
		packs, err := s.Repo.Config.Size("gc.autoPackLimit", usualGCAutoPackLimit)
		if int64(s.Repo.LooseObjects()) > limit/objectsPart || err == nil && packs > 0 && int64(s.Repo.Packs()) > packs/objectsPart {
			return true
		}
	}
	most := int(min(limit, 1<<20) / refsPart)
	for _, prefix := range []name.Ref{name.Ref("refs/checkpoints/" + session), name.Ref("refs/tags/checkpoint/" + session)} {
		if s.Repo.LooseRefs(prefix, most) > most {
			return true
		}
	}
	return false
}

// Pack is the packing that a create starts: one at a time for all worktrees.
// How it failed is left for `doctor`: there is nobody to tell.
func Pack(ctx context.Context, s *checkpoint.Service) error {
	dir := filepath.Join(s.Repo.CommonDir, "checkpoint")
	if err := os.MkdirAll(dir, 0o777); err != nil { // as git's own directories are
		return fmt.Errorf("make %q: %w", dir, err)
	}
	lock, failed := filepath.Join(dir, PackLock), filepath.Join(dir, PackFailed)
	if !Lock(lock) {
		return nil
	}
	defer os.Remove(lock) //nolint:errcheck // stale by age at the latest
	done := keepFresh(lock)
	defer done()
	command.Yield()
	err := s.Repo.Pack(ctx)
	if err == nil {
		os.Remove(failed) //nolint:errcheck // there may be none
		return nil
	}
	os.WriteFile(failed, []byte(err.Error()+"\n"), 0o666) //nolint:errcheck,gosec // it is tried again earlier then
	return checkpoint.Classify(err)
}

// keepFresh renews the time of a lock until done is called: packing may take longer than
// the age at which a lock counts as left behind.
func keepFresh(lock string) (done func()) {
	stop := make(chan struct{})
	go func() {
		ticker := time.NewTicker(StaleAfter / 10)
		defer ticker.Stop()
		for {
			select {
			case <-stop:
				return
			case now := <-ticker.C:
				os.Chtimes(lock, now, now) //nolint:errcheck // the next tick tries again
			}
		}
	}()
	return func() { close(stop) }
}
