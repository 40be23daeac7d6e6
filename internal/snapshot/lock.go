package snapshot

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
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
	f, err := os.OpenFile(path, os.O_CREATE|os.O_EXCL|os.O_WRONLY, 0o666)
	if errors.Is(err, fs.ErrExist) {
		if !r.shot.abandoned(path) {
			return &LockedError{path}
		}
		if err := os.Remove(path); err != nil {
			return fmt.Errorf("take over a lock that was left: %w", err)
		}
		f, err = os.OpenFile(path, os.O_CREATE|os.O_EXCL|os.O_WRONLY, 0o666)
	}
	if err != nil {
		return fmt.Errorf("lock the index: %w", err)
	}
	defer f.Close() //nolint:errcheck // empty
	info, err := f.Stat()
	if err != nil {
		return fmt.Errorf("lock the index: %w", err)
	}
	r.intent.Lock = path
	_, r.intent.LockInode, _ = inode(info)
	note := fmt.Sprintf("%d %d\n", os.Getpid(), r.intent.LockInode)
	if err := os.WriteFile(r.shot.lockNote(), []byte(note), 0o666); err != nil {
		os.Remove(path) //nolint:errcheck // the error below says more
		return fmt.Errorf("lock the index: %w", err)
	}
	return nil
}

// lockNote says whose the index lock is: process and inode.
func (s *Shot) lockNote() string { return filepath.Join(s.dir, "index-lock") }

// abandoned reports whether a lock is one that this program made in a process
// that is gone.
func (s *Shot) abandoned(lock string) bool {
	data, err := os.ReadFile(s.lockNote())
	if err != nil {
		return false
	}
	var pid int
	var want uint64
	if n, err := fmt.Sscan(string(data), &pid, &want); n != 2 || err != nil || want == 0 || running(pid) {
		return false
	}
	info, err := os.Lstat(lock)
	if err != nil {
		return false
	}
	_, got, ok := inode(info)
	return ok && got == want
}

// unlock removes the index lock, if it is still the one that we made.
func (r *Restore) unlock() {
	if info, err := os.Lstat(r.intent.Lock); err == nil {
		if _, ino, _ := inode(info); ino == r.intent.LockInode {
			os.Remove(r.intent.Lock) //nolint:errcheck // reported by the next lock
		}
	}
	os.Remove(r.shot.lockNote()) //nolint:errcheck // disposable
}
