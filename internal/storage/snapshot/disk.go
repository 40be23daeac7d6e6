package snapshot

import (
	"fmt"
	"io/fs"
	"os"
	"path/filepath"

	"git-checkpoint/internal/git"
	"git-checkpoint/internal/storage/worktree"
)

// disk says what the file system of the worktree keeps besides names and content, as far as git is
// told that it keeps less than usual.
type disk struct {
	// config overrides core.* settings that do not match the file system, for example after the
	// repository was copied to another one. With core.ignoreCase=true on a file system that
	// distinguishes case, git would not report an untracked `foo` beside a tracked `Foo`. Of the
	// others, only settings that say less than the file system can do are corrected.
	config []string
	// noModes: it has no executable bits. doubtful: it has, but 0777 is no sign of one, since it
	// may show that for files of another system.
	noModes, doubtful bool
	noLinks           bool // it has no symbolic links
	folds             bool // it does not distinguish case
}

// probe finds out what the file system can do.
func (s *checkout) probe() (d disk, err error) {
	var ignoreCase, fileMode, symlinks bool
	for key, to := range map[string]*bool{"core.ignoreCase": &ignoreCase, "core.fileMode": &fileMode, "core.symlinks": &symlinks} {
		if *to, err = s.repo.Config.Bool(key, key != "core.ignoreCase"); err != nil {
			return d, err
		}
	}
	if d.folds = foldsCase(s.repo); d.folds != ignoreCase {
		// With core.ignoreCase=false on a disk that folds case, a renamed file would be captured twice.
		d.config = append(d.config, fmt.Sprintf("core.ignoreCase=%v", d.folds))
	}
	if fileMode && symlinks {
		return d, nil
	}
	dir, apart, err := s.probeDir()
	if err != nil {
		return d, err
	}
	if apart && dir != "" {
		defer os.RemoveAll(dir) //nolint:errcheck // swept by age
	}
	d.noModes, d.noLinks = !fileMode, !symlinks
	if dir == "" { // the worktree cannot be written to: git's settings are used
		return d, nil
	}
	f, err := os.CreateTemp(dir, "tmp-probe-")
	if err != nil {
		return d, fmt.Errorf("probe the file system: %w", err)
	}
	defer os.Remove(f.Name()) //nolint:errcheck // disposable
	f.Close()                 //nolint:errcheck // empty
	if !fileMode && keepsMode(f.Name()) {
		d.config = append(d.config, "core.fileMode=true")
		d.noModes, d.doubtful = false, true
	}
	if link := f.Name() + "-link"; !symlinks && os.Symlink("target", link) == nil {
		os.Remove(link) //nolint:errcheck // disposable
		d.config = append(d.config, "core.symlinks=true")
		d.noLinks = false
	}
	return d, nil
}

// probeDir returns a directory for test files on the file system of the worktree. Where the git
// directory is on another one, it is a new directory (apart), or "" if none can be made.
func (s *checkout) probeDir() (dir string, apart bool, err error) {
	if apart, err = s.isApart(); err != nil || !apart {
		return s.scratch, false, err
	}
	dir = filepath.Join(s.files.Top, worktree.StagingPrefix+worktree.RandomHex())
	if os.Mkdir(dir, 0o700) != nil {
		dir = ""
	}
	return dir, true, nil
}

// keepsMode reports whether the file system stores the owner's executable bit. path is a file
// that may be changed.
func keepsMode(path string) bool {
	for _, mode := range []fs.FileMode{0o700, 0o600} {
		if os.Chmod(path, mode) != nil {
			return false
		}
		if info, err := os.Stat(path); err != nil || info.Mode().Perm() != mode {
			return false
		}
	}
	return true
}

// modeOf returns the mode that a tree gets for a file. Where the file says nothing about it, as on
// a disk without modes, it is that of the index entry: staged, or 0 if there is none.
func (d disk) modeOf(info fs.FileInfo, staged git.Mode) git.Mode {
	mode := worktree.ModeOf(info)
	switch {
	case mode == git.ModeSymlink:
		return mode
	case d.noLinks && staged == git.ModeSymlink:
		return staged
	case !d.noModes && !(d.doubtful && info.Mode().Perm() == 0o777):
		return mode
	case regular(staged):
		return staged
	}
	return git.ModeFile
}

// unusualBits returns the permission bits of a file, and whether a record has to keep them.
func (d disk) unusualBits(info fs.FileInfo) (perm fs.FileMode, has bool) {
	perm = info.Mode().Perm()
	return perm, info.Mode().IsRegular() && !d.noModes && unusual(perm)
}

// isApart reports whether Worktree.dir is on a different file system from the worktree.
func (s *checkout) isApart() (bool, error) {
	top, err := os.Stat(s.files.Top)
	if err != nil {
		return false, err
	}
	own, err := os.Stat(s.dir)
	if err != nil {
		return false, err
	}
	a, _, ok := worktree.Inode(top)
	b, _, _ := worktree.Inode(own)
	return ok && a != b, nil
}

// makesLinks reports whether a symbolic link is checked out as a link. With core.symlinks=false
// git writes a file that holds the target.
func (s *checkout) makesLinks() bool {
	on, err := s.core("core.symlinks", true)
	return on || err != nil
}

// keepsModes reports whether git takes modes and links from the file system, so that the mode of
// a file is the mode of its entry.
func (s *checkout) keepsModes() bool {
	modes, err := s.core("core.fileMode", true)
	links, failed := s.core("core.symlinks", true)
	return modes && links && err == nil && failed == nil
}

// AllowedBits returns the permission bits that a recorded mode may set: all of the owner, and those of
// group and others that the umask and core.sharedRepository leave.
func (s *checkout) AllowedBits() (fs.FileMode, error) {
	usual, err := s.usualModes()
	if err != nil {
		return 0, err
	}
	return 0o700 | usual(git.ModeExec) | s.repo.Settings.SharedBits(), nil
}

// usualModes returns the permission bits that a new file gets here, by its mode in git. It creates
// a file to find out, as reading the umask would have to change it for a moment.
func (s *checkout) usualModes() (func(git.Mode) fs.FileMode, error) {
	name := s.scratch + "/tmp-mode-" + worktree.RandomHex()
	f, err := os.OpenFile(name, os.O_CREATE|os.O_EXCL|os.O_WRONLY, 0o777)
	var info fs.FileInfo
	if err == nil {
		info, err = f.Stat()
		f.Close()       //nolint:errcheck // empty
		os.Remove(name) //nolint:errcheck // disposable
	}
	if err != nil {
		return nil, fmt.Errorf("probe the umask: %w", err)
	}
	return func(m git.Mode) fs.FileMode {
		if m == git.ModeExec {
			return info.Mode().Perm()
		}
		return info.Mode().Perm() &^ 0o111
	}, nil
}
