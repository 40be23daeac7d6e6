package snapshot

import (
	"crypto/rand"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strconv"
	"strings"
)

// LockedError says that another process holds the index.
type LockedError struct{ Path string }

func (e *LockedError) Error() string {
	return fmt.Sprintf("the index is locked by another process: %q exists", e.Path)
}

// lock takes <index>.lock as git would, and notes that it is ours. A lock that a
// killed run of this program left is taken over; any other is left alone.
func (r *Restore) lock() error {
	if own := filepath.Join(r.shot.repo.GitDir, "index.lock"); r.shot.repo.IndexPath == own {
		return &LockedError{own} // inside a commit
	}
	path := r.shot.repo.IndexPath + ".lock"
	if _, err := os.Lstat(path); err == nil {
		if !r.shot.abandoned(path) {
			return &LockedError{path}
		}
		if err := r.shot.dropLock(path); err != nil {
			return fmt.Errorf("take over a lock that was left: %w", err)
		}
	}
	info, err := r.shot.makeLock(path)
	if errors.Is(err, fs.ErrExist) {
		return &LockedError{path}
	}
	if err != nil {
		return fmt.Errorf("lock the index: %w", err)
	}
	r.intent.Lock = path
	_, r.intent.LockInode, _ = inode(info)
	return nil
}

// holdLock takes the lock again where it is not there any more: after a kill the index may
// have been put in place already, or somebody removed the lock by hand, as git advises.
// To put the index in place once more changes nothing.
func (r *Restore) holdLock() error {
	info, err := os.Lstat(r.intent.Lock)
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return err
	}
	if err == nil {
		if _, number, _ := inode(info); number == r.intent.LockInode {
			return nil
		}
	}
	return r.lock()
}

// makeLock makes the lock under another name, notes whose it is, and only then gives it
// its own, so that a kill leaves no lock that nobody owns up to. Where there are no links
// the note comes after it.
func (s *Shot) makeLock(path string) (fs.FileInfo, error) {
	temp := filepath.Join(s.dir, "tmp-lock-"+rand.Text())
	defer os.Remove(temp) //nolint:errcheck // disposable, swept by age
	info, err := s.ownLock(temp)
	if err != nil {
		return nil, err
	}
	if err := os.Link(temp, path); err == nil || errors.Is(err, fs.ErrExist) {
		return info, err
	}
	if info, err = s.ownLock(path); err != nil && !errors.Is(err, fs.ErrExist) {
		os.Remove(path) //nolint:errcheck // the error says more
	}
	return info, err
}

// ownLock makes an empty file and notes that it is ours.
func (s *Shot) ownLock(path string) (fs.FileInfo, error) {
	f, err := os.OpenFile(path, os.O_CREATE|os.O_EXCL|os.O_WRONLY, 0o666)
	if err != nil {
		return nil, err
	}
	defer f.Close() //nolint:errcheck // empty
	info, err := f.Stat()
	if err != nil {
		return nil, err
	}
	_, number, _ := inode(info)
	return info, os.WriteFile(s.lockNote(), fmt.Appendf(nil, "%d %s %d\n", number, writeProcess(), info.ModTime().UnixNano()), 0o666)
}

// lockNote says whose the index lock is: inode, process, and time of the file. The inode
// alone does not tell: file systems give that of a removed lock to the next file.
func (s *Shot) lockNote() string { return filepath.Join(s.dir, "index-lock") }

// abandoned reports whether a lock is one that this program made in a process
// that is gone.
func (s *Shot) abandoned(lock string) bool {
	data, err := os.ReadFile(s.lockNote())
	if err != nil {
		return false
	}
	number, process, _ := strings.Cut(string(data), " ")
	want, err := strconv.ParseUint(number, 10, 64)
	pid, born := readProcess(process)
	if err != nil || want == 0 || pid == 0 || alive(pid, born) {
		return false
	}
	info, err := os.Lstat(lock)
	if err != nil {
		return false
	}
	if fields := strings.Fields(process); len(fields) > 2 && fields[2] != strconv.FormatInt(info.ModTime().UnixNano(), 10) {
		return false // older versions did not note the time
	}
	_, got, ok := inode(info)
	return ok && got == want
}

// dropLock removes a lock that was abandoned, and no other that somebody has put in its
// place by then.
func (s *Shot) dropLock(path string) error {
	away := filepath.Join(s.dir, "tmp-lock-"+rand.Text())
	if err := os.Rename(path, away); err != nil {
		return err
	}
	if s.abandoned(away) {
		return os.Remove(away)
	}
	if err := os.Link(away, path); err != nil {
		return err
	}
	return errors.Join(os.Remove(away), &LockedError{path})
}

// AbandonedLock finds the lock of the index that a rollback of ours left which was killed
// before it wrote down what it was about to do; empty when there is none.
func (s *Shot) AbandonedLock() string {
	if path := s.repo.IndexPath + ".lock"; s.abandoned(path) {
		return path
	}
	return ""
}

// unlock removes the index lock, if it is still the one that we made.
func (r *Restore) unlock() {
	if r.intent.Lock == "" {
		return // the note is another's
	}
	if info, err := os.Lstat(r.intent.Lock); err == nil {
		if _, ino, _ := inode(info); ino == r.intent.LockInode {
			os.Remove(r.intent.Lock) //nolint:errcheck // reported by the next lock
		}
	}
	os.Remove(r.shot.lockNote()) //nolint:errcheck // disposable
}
