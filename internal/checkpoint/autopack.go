package checkpoint

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"time"

	"git-checkpoint/internal/command"
	"git-checkpoint/internal/name"
)

// Files of packing in the background, in the directory that all worktrees share.
const (
	packLock   = "autopack"
	packFailed = "autopack-failed"
	// packAgain is how long a failure is believed to come again.
	packAgain = time.Hour
)

// Parts of gc.auto from which we pack: well below it, so that it is not our objects that
// start a whole gc behind somebody's commit, and fewer refs, each of which git opens
// whenever it lists them.
const (
	usualGCAuto = 6700
	objectsPart = 2
	refsPart    = 8
)

// packLater starts packing in the background after a create, when much lies loose. The
// create is done: nothing that goes wrong here can fail it, and looking costs it the
// listing of three directories.
func (s *Service) packLater(session name.Session) {
	on, err := s.where.bool("checkpoint.autoPack", true)
	if err != nil {
		s.warn(err.Error())
	}
	if err != nil || !on || !s.crowded(session) {
		return
	}
	dir := filepath.Join(s.repo.CommonDir, "checkpoint")
	if info, err := os.Stat(filepath.Join(dir, packLock)); err == nil && time.Since(info.ModTime()).Abs() < autoStale {
		return // one is at it
	}
	if info, err := os.Stat(filepath.Join(dir, packFailed)); err == nil && time.Since(info.ModTime()).Abs() < packAgain {
		return
	}
	if err := s.background("__pack"); err != nil {
		s.warn("packing in the background did not start: " + err.Error())
	}
}

// crowded reports whether more lies loose than there should. Who has switched git's own
// gc off has all packing switched off.
func (s *Service) crowded(session name.Session) bool {
	limit, err := s.repo.Config.Size("gc.auto", usualGCAuto)
	if err != nil || limit <= 0 {
		return false
	}
	if auto, err := s.repo.Config.Bool("maintenance.auto", true); err != nil || !auto {
		return false
	}
	if s.repo.MayPackObjects() && int64(s.repo.LooseObjects()) > limit/objectsPart {
		return true
	}
	most := int(min(limit, 1<<20) / refsPart)
	for _, prefix := range []name.Ref{name.Ref("refs/checkpoints/" + session), name.Ref("refs/tags/checkpoint/" + session)} {
		if s.repo.LooseRefs(prefix, most) > most {
			return true
		}
	}
	return false
}

// PackInBackground is the packing that a create starts: one at a time for all worktrees.
// How it failed is left for `doctor`: there is nobody to tell.
func (s *Service) PackInBackground(ctx context.Context) error {
	dir := filepath.Join(s.repo.CommonDir, "checkpoint")
	if err := os.MkdirAll(dir, 0o777); err != nil { //nolint:gosec // as git's own directories are
		return fmt.Errorf("make %q: %w", dir, err)
	}
	lock, failed := filepath.Join(dir, packLock), filepath.Join(dir, packFailed)
	if !s.lockAuto(lock) {
		return nil
	}
	defer os.Remove(lock) //nolint:errcheck // stale by age at the latest
	done := keepFresh(lock)
	defer done()
	command.Yield()
	err := s.repo.Pack(ctx)
	if err == nil {
		os.Remove(failed) //nolint:errcheck // there may be none
		return nil
	}
	os.WriteFile(failed, []byte(err.Error()+"\n"), 0o666) //nolint:errcheck,gosec // it is tried again earlier then
	return classify(err)
}

// keepFresh renews the time of a lock until done is called: packing may take longer than
// the age at which a lock counts as left behind.
func keepFresh(lock string) (done func()) {
	stop := make(chan struct{})
	go func() {
		ticker := time.NewTicker(autoStale / 10)
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

// background starts this program again, without what is meant for this run alone.
func (s *Service) background(args ...string) error {
	var env []string
	for _, kv := range s.env {
		if !strings.HasPrefix(kv, "GIT_INDEX_FILE=") {
			env = append(env, kv)
		}
	}
	return command.Background(s.repo.WorkTree, env, args...)
}

// lookAtPacking tells how packing in the background failed.
func (s *Service) lookAtPacking(context.Context) ([]Ailment, error) {
	path := filepath.Join(s.repo.CommonDir, "checkpoint", packFailed)
	text, err := os.ReadFile(path)
	if os.IsNotExist(err) {
		return nil, nil
	}
	if err != nil {
		return nil, err
	}
	said := strings.TrimSpace(string(text[:min(len(text), maxFailure)]))
	return []Ailment{{
		Kind: "packing_failed", Level: LevelAdvice, Object: path, Message: "packing in the background did not work: " + said,
		Hint: "`git fsck` says what is wrong; it is tried again an hour later",
	}}, nil
}

// maxFailure is how much of what git said is told.
const maxFailure = 1 << 10
