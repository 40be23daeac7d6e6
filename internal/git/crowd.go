package git

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"time"

	"git-checkpoint/internal/gitconfig"
	"git-checkpoint/internal/name"
)

// LooseObjects estimates how many objects are loose, as git does: ids spread evenly, so
// one directory of the 256 tells.
func (r *Repo) LooseObjects() int {
	return 256 * countNames(filepath.Join(r.CommonDir, "objects", "17"), 1<<16)
}

// Packs counts the packs that a repack may join: those without a .keep file.
func (r *Repo) Packs() int {
	dir := filepath.Join(r.CommonDir, "objects", "pack")
	packs, _ := filepath.Glob(filepath.Join(dir, "*.pack")) //nolint:errcheck // the pattern is well formed
	kept, _ := filepath.Glob(filepath.Join(dir, "*.keep"))  //nolint:errcheck // the pattern is well formed
	return len(packs) - len(kept)
}

// LooseRefs counts the refs directly below a prefix that are files of their own; it
// stops when there are more than most.
func (r *Repo) LooseRefs(prefix name.Ref, most int) int {
	return countNames(filepath.Join(r.CommonDir, filepath.FromSlash(string(prefix))), most+1)
}

// countNames counts the entries of a directory, up to a number; one that is not there
// has none.
func countNames(dir string, most int) int {
	f, err := os.Open(dir)
	if err != nil {
		return 0
	}
	defer f.Close() //nolint:errcheck // read only
	count := 0
	for count < most {
		names, err := f.Readdirnames(min(most-count, 1024))
		count += len(names)
		if err != nil || errors.Is(err, io.EOF) {
			break
		}
	}
	return count
}

// MayPackObjects reports whether loose objects may be put into packs here: not where
// packs must stay as they are, where another place has what is missing here, or where an
// operation of git's has its objects apart.
func (r *Repo) MayPackObjects() bool {
	if precious, err := r.Config.Bool("extensions.preciousObjects", false); err != nil || precious {
		return false
	}
	if _, partial := r.Config.Get("extensions.partialClone"); partial {
		return false
	}
	return gitconfig.Getenv(r.env, objectDirectory) == "" && gitconfig.Getenv(r.env, "GIT_QUARANTINE_PATH") == ""
}

// gcStale is the age from which git itself takes the mark of a running gc for one that
// was left behind.
const gcStale = 12 * time.Hour

// Pack puts loose refs into one file, and loose objects with small packs into a larger
// one, so that there are never more packs than a logarithm of the objects. It deletes
// nothing that is in no pack, and leaves the work to a gc that is at it. It runs in the
// directory that all worktrees share: the one that this Repo is of may be removed meanwhile.
func (r *Repo) Pack(ctx context.Context) error {
	for _, mark := range []string{"gc.pid", filepath.Join("objects", "maintenance.lock")} {
		if info, err := os.Stat(filepath.Join(r.CommonDir, mark)); err == nil && time.Since(info.ModTime()) < gcStale {
			return nil
		}
	}
	shared := []string{"GIT_DIR=" + r.CommonDir, "GIT_WORK_TREE=" + r.CommonDir}
	if _, err := r.Run(ctx, Cmd{Args: []string{"pack-refs", "--all", "--prune"}, Dir: r.CommonDir, Env: shared}); err != nil {
		return fmt.Errorf("pack refs: %w", err)
	}
	if !r.MayPackObjects() {
		return nil
	}
	// One thread and little memory: somebody is at work here.
	_, err := r.Run(ctx, Cmd{
		Args:   []string{"repack", "--geometric=2", "-d", "-l", "-n", "-q"},
		Config: []string{"pack.threads=1", "pack.windowMemory=64m", "repack.writeBitmaps=false"},
		Dir:    r.CommonDir, Env: shared,
	})
	if err != nil {
		return fmt.Errorf("pack objects: %w", err)
	}
	return nil
}
