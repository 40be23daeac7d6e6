package git

import (
	"os"
	"path/filepath"
	"slices"
)

// OwnDirs are the git directory and the common directory, where they are not simply the .git at the
// top of the worktree. `git init --separate-git-dir` and --git-dir with --work-tree can put them
// anywhere into the worktree, under any name, and git takes them for untracked files there. A nil
// OwnDirs has none.
type OwnDirs struct {
	// Inside has their paths relative to the top of the worktree, with slashes, as far as they are
	// below it.
	Inside []string
	dirs   []os.FileInfo
}

// OwnDirs finds them.
func (l *Location) OwnDirs() *OwnDirs {
	if info, err := os.Lstat(l.GitDir); err == nil && info.IsDir() && l.GitDir == l.CommonDir && l.GitDir == filepath.Join(l.WorkTree, ".git") {
		return nil
	}
	own := &OwnDirs{}
	for _, dir := range []string{l.GitDir, l.CommonDir} {
		info, err := os.Stat(dir)
		if err != nil || own.Has(info) {
			continue
		}
		own.dirs = append(own.dirs, info)
		if rel, below := l.relativeTo(dir); below {
			own.Inside = append(own.Inside, rel)
		}
	}
	return own
}

// Has reports whether info is that of one of the directories, by device and inode.
func (o *OwnDirs) Has(info os.FileInfo) bool {
	return o != nil && info != nil && slices.ContainsFunc(o.dirs, func(dir os.FileInfo) bool { return os.SameFile(dir, info) })
}

// HasAt is Has for what is at a path. Links are not followed.
func (o *OwnDirs) HasAt(path string) bool {
	if o == nil {
		return false
	}
	info, err := os.Lstat(path)
	return err == nil && o.Has(info)
}

// relativeTo returns the path of dir relative to the top of the worktree, "." for the top itself, and
// false if dir is elsewhere.
func (l *Location) relativeTo(dir string) (rel string, is bool) {
	top, err := os.Stat(l.WorkTree)
	if err != nil {
		return "", false
	}
	if dir, err = filepath.EvalSymlinks(dir); err != nil {
		return "", false
	}
	for d := dir; ; d = filepath.Dir(d) {
		if info, err := os.Stat(d); err == nil && os.SameFile(info, top) {
			rel, err := filepath.Rel(d, dir)
			return filepath.ToSlash(rel), err == nil
		}
		if d == filepath.Dir(d) {
			return "", false
		}
	}
}
