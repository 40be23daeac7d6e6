package background

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"time"

	"git-checkpoint/internal/core/checkpoint"
	"git-checkpoint/internal/format/name"
	"git-checkpoint/internal/git"
	"git-checkpoint/internal/sys/command"
)

// Names of the files of packing in the background. They are in <common dir>/checkpoint, which all
// worktrees share.
const (
	PackLock   = "autopack"        // held while one process packs
	PackFailed = "autopack-failed" // holds the error of the last packing if it failed; doctor reports it
	// packAgain is how long to wait after a failure, because the next attempt would probably fail
	// too.
	packAgain = time.Hour
)

const (
	// usualGCAuto is git's default of gc.auto: the number of loose objects at which it starts a
	// gc.
	usualGCAuto          = 6700
	usualGCAutoPackLimit = 50 // git's default of gc.autoPackLimit, the same for packs
	// Packing starts at gc.auto/objectsPart loose objects, or gc.autoPackLimit/objectsPart packs:
	// well before the objects of checkpoints make git start a whole gc during a commit.
	objectsPart = 2
	leastPacks  = 16 // more than a geometric repack leaves, or packing would start after each create
	// It also starts at gc.auto/refsPart loose refs of a session. That is a lower number, as git
	// opens each loose ref whenever it lists refs.
	refsPart = 8
)

// StartPack starts packing in the background after a create, if many objects or refs are loose.
// The create is done: nothing here can fail it, and the check costs it the listing of three
// directories.
func StartPack(s *checkpoint.Service, session name.Session) {
	if !isOn(s.Rules, "checkpoint.autoPack", true) || !crowded(s.Repo, session) {
		return
	}
	dir := filepath.Join(s.Repo.CommonDir, "checkpoint")
	if info, err := os.Stat(filepath.Join(dir, PackLock)); err == nil && time.Since(info.ModTime()).Abs() < StaleAfter {
		return // a process is packing already
	}
	if info, err := os.Stat(filepath.Join(dir, PackFailed)); err == nil && time.Since(info.ModTime()).Abs() < packAgain {
		return
	}
	if err := start(s, "__pack"); err != nil {
		s.Store.Warn("packing in the background did not start: " + err.Error())
	}
}

// crowded reports whether enough is loose to pack it. It returns false if the user has turned
// git's own gc off: that turns off all packing.
func crowded(repo *git.Repo, session name.Session) bool {
	limit, err := repo.Config.Size("gc.auto", usualGCAuto)
	if err != nil || limit <= 0 {
		return false
	}
	if auto, err := repo.Config.Bool("maintenance.auto", true); err != nil || !auto {
		return false
	}
	if repo.Maintenance.MayPackObjects() {
		packs, err := repo.Config.Size("gc.autoPackLimit", usualGCAutoPackLimit)
		if int64(repo.Maintenance.LooseObjects()) > limit/objectsPart || err == nil && packs > 0 && int64(repo.Objects.Packs()) > max(packs/objectsPart, leastPacks) {
			return true
		}
	}
	most := int(min(limit, 1<<20) / refsPart)
	return slices.ContainsFunc([]string{name.CheckpointRoot, name.TagRoot}, func(root string) bool {
		return repo.Maintenance.LooseRefs(name.Ref(root+string(session)), most) > most
	})
}

// Pack packs loose objects and refs. Only one process packs at a time, for all worktrees; others
// return at once. If it fails, the error is stored in PackFailed for doctor, because a process in
// the background has nobody to report it to.
func Pack(ctx context.Context, repo *git.Repo) error {
	dir := filepath.Join(repo.CommonDir, "checkpoint")
	if err := os.MkdirAll(dir, 0o777); err != nil { // as git's own directories are
		return fmt.Errorf("make %q: %w", dir, err)
	}
	lock, failed := filepath.Join(dir, PackLock), filepath.Join(dir, PackFailed)
	release, ok := Lock(lock)
	if !ok {
		return nil
	}
	defer release()
	command.Yield()
	err := repo.Maintenance.Pack(ctx)
	if err == nil {
		os.Remove(failed) //nolint:errcheck // there may be none
		return nil
	}
	os.WriteFile(failed, []byte(err.Error()+"\n"), 0o666) //nolint:errcheck,gosec // it is tried again earlier then
	return err
}
