package git

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"time"

	"git-checkpoint/internal/format/name"
	"git-checkpoint/internal/git/gitconfig"
)

// LooseObjects estimates the number of loose objects as git does: ids are distributed evenly, so
// counting one of the 256 directories is enough.
func (m *Maintenance) LooseObjects() int {
	return 256 * countNames(filepath.Join(m.at.CommonDir, "objects", "17"), 1<<16)
}

// Packs counts the packs that a repack may join: those without a .keep file.
func (o *Objects) Packs() int {
	entries, _ := os.ReadDir(filepath.Join(o.at.CommonDir, "objects", "pack")) //nolint:errcheck // then there is none
	count := 0
	for _, e := range entries {
		switch filepath.Ext(e.Name()) {
		case ".pack":
			count++
		case ".keep":
			count--
		}
	}
	return count
}

// LooseRefs counts the loose refs (those with a file of their own) directly below prefix. It stops
// counting at most+1.
func (m *Maintenance) LooseRefs(prefix name.Ref, most int) int {
	return countNames(filepath.Join(m.at.CommonDir, filepath.FromSlash(string(prefix))), most+1)
}

// countNames counts the entries of a directory, up to most. A directory that does not exist has
// none.
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
		if err != nil { // also at the end
			break
		}
	}
	return count
}

// MayPackObjects reports whether Pack may move loose objects into packs. It must not if packs have
// to stay as they are (extensions.preciousObjects), in a partial clone, where a repack could ask
// the remote for missing objects, and while GIT_OBJECT_DIRECTORY or a quarantine redirects objects.
func (m *Maintenance) MayPackObjects() bool {
	if precious, err := m.settings.KeepsAll(); err != nil || precious {
		return false
	}
	return m.at.Promisor() == "" && gitconfig.Getenv(m.at.env, objectDirectory) == "" && gitconfig.Getenv(m.at.env, "GIT_QUARANTINE_PATH") == ""
}

// Pack moves loose refs into packed-refs, and loose objects and small packs into a larger pack. The
// geometric repack keeps the number of packs logarithmic in the number of objects. Nothing is
// deleted that is not in a pack afterwards. If a gc or git's maintenance is running, Pack leaves
// the work to it.
//
// It runs in the common directory and not in the worktree, because it may run in the background,
// and a linked worktree may be removed meanwhile.
func (m *Maintenance) Pack(ctx context.Context) error {
	const gcStale = 12 * time.Hour // the age from which git takes a gc.pid file for a leftover of a gc that died
	for _, mark := range []string{"gc.pid", filepath.Join("objects", "maintenance.lock")} {
		if info, err := os.Stat(filepath.Join(m.at.CommonDir, mark)); err == nil && time.Since(info.ModTime()) < gcStale {
			return nil
		}
	}
	shared := []string{"GIT_DIR=" + m.at.CommonDir, "GIT_WORK_TREE=" + m.at.CommonDir}
	if _, err := m.at.Run(ctx, Cmd{Args: []string{"pack-refs", "--all", "--prune"}, Dir: m.at.CommonDir, Env: shared}); err != nil {
		return fmt.Errorf("pack refs: %w", err)
	}
	if !m.MayPackObjects() {
		return nil
	}
	// Use one thread and little memory: the user is working in this repository.
	_, err := m.at.Run(ctx, Cmd{
		Args:   []string{"repack", "--geometric=2", "-d", "-l", "-n", "-q"},
		Config: []string{"pack.threads=1", "pack.windowMemory=64m", "repack.writeBitmaps=false"},
		Dir:    m.at.CommonDir, Env: shared,
	})
	if err != nil {
		return fmt.Errorf("pack objects: %w", err)
	}
	return nil
}
