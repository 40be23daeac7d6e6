package snapshot

// A restore holds <index>.lock, as git does while it writes an index, from Stage until Apply has put
// the new index in place. So no git command changes the index meanwhile. Since a kill can leave the
// lock behind, a note next to it (lockNote) says which process made it. A lock whose process is
// gone is taken over; a lock of git or of another program is never removed.

import (
	"crypto/rand"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strconv"
	"strings"

	"git-checkpoint/internal/storage/worktree"
	"git-checkpoint/internal/sys/lockfile"
)

// LockedError says that another process holds the index. Path is the lock file.
type LockedError struct{ Path string }

func (e *LockedError) Error() string {
	return fmt.Sprintf("the index is locked by another process: %q exists", e.Path)
}

// indexLock locks the user's index, and recognises the locks of rollbacks that were killed.
type indexLock struct{ *checkout }

// take creates the index lock for a restore, or takes over one that a killed process of this program left.
// If another process holds it, the result is a LockedError.
func (s *indexLock) take(in *Intent) error {
	// In a hook of `git commit -a` or `git commit <path>` the index is git's own lock file.
	if own := filepath.Join(s.repo.GitDir, "index.lock"); s.repo.IndexPath == own {
		return &LockedError{own}
	}
	path := s.repo.IndexPath + ".lock"
	if _, err := os.Lstat(path); err == nil {
		if !s.abandoned(path) {
			return &LockedError{path}
		}
		if err := s.dropLock(path); err != nil {
			return fmt.Errorf("take over a lock that was left behind: %w", err)
		}
	}
	info, err := s.makeLock(path)
	if errors.Is(err, fs.ErrExist) {
		return &LockedError{path}
	}
	if err != nil {
		return fmt.Errorf("lock the index: %w", err)
	}
	in.Lock = path
	_, in.LockInode, _ = worktree.Inode(info)
	return nil
}

// hold makes sure that the lock is held before the index is replaced. After a kill it may be
// gone, because it was renamed to the index already, or because a user removed it as git's
// message advises. In the first case the index is put in place a second time, which changes
// nothing.
func (s *indexLock) hold(in *Intent) error {
	if mine, err := s.holds(in); mine || err != nil {
		return err
	}
	return s.take(in)
}

// holds reports whether the lock is the one that this restore made.
func (s *indexLock) holds(in *Intent) (bool, error) {
	info, err := os.Lstat(in.Lock)
	if errors.Is(err, fs.ErrNotExist) {
		return false, nil
	}
	if err != nil {
		return false, err
	}
	if _, number, _ := worktree.Inode(info); number == in.LockInode && number != 0 {
		return true, nil
	}
	note, err := os.ReadFile(s.lockNote())
	return err == nil && hasToken(in.Lock, note), nil
}

// makeLock creates the lock file. It makes the file under another name, writes the note, and then
// links it to the name of the lock, so that a kill at any time leaves no lock without a note. On
// a file system without links, the lock is created first and the note is written after it. The
// error is fs.ErrExist if there is a lock.
func (s *indexLock) makeLock(path string) (fs.FileInfo, error) {
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

// ownLock creates an empty file at path and notes that it is a lock of this process.
func (s *indexLock) ownLock(path string) (fs.FileInfo, error) {
	f, err := os.OpenFile(path, os.O_CREATE|os.O_EXCL|os.O_WRONLY, 0o666)
	if err != nil {
		return nil, err
	}
	defer f.Close() //nolint:errcheck // closed after the last write
	token := rand.Text()
	if _, err := f.WriteString(token); err != nil {
		return nil, err
	}
	info, err := f.Stat()
	if err != nil {
		return nil, err
	}
	_, number, _ := worktree.Inode(info)
	return info, os.WriteFile(s.lockNote(), fmt.Appendf(nil, "%d %s %d %s\n", number, ProcessNote(), info.ModTime().UnixNano(), token), 0o666)
}

// lockNote is the file that says who made the index lock: its inode, the process (see
// ProcessNote), the mtime of the lock in nanoseconds, and a token. The inode alone is not enough:
// file systems give the inode of a removed file to the next one. The token is also the content of
// the lock, by which the lock is known in a copy of the repository.
func (s *indexLock) lockNote() string { return filepath.Join(s.dir, "index-lock") }

// hasToken reports whether the lock holds the token of a note, its last field. A lock of an older
// version is empty.
func hasToken(lock string, note []byte) bool {
	content, err := os.ReadFile(lock)
	return err == nil && len(content) > 0 && strings.HasSuffix(string(note), " "+string(content)+"\n")
}

// abandoned reports whether a lock was made by a process of this program that no longer runs.
func (s *indexLock) abandoned(lock string) bool {
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
	if hasToken(lock, data) {
		return true
	}
	info, err := os.Lstat(lock)
	if err != nil {
		return false
	}
	if fields := strings.Fields(process); len(fields) > 2 && fields[2] != strconv.FormatInt(info.ModTime().UnixNano(), 10) {
		return false // older versions did not note the time
	}
	_, got, ok := worktree.Inode(info)
	return ok && got == want
}

// dropLock removes an abandoned lock. Nobody else can make one before, and of two processes that do this at
// the same time, the second finds the lock of the first.
func (s *indexLock) dropLock(path string) error {
	release := lockfile.Hold(s.dir)
	defer release()
	if !s.abandoned(path) {
		return &LockedError{path}
	}
	return os.Remove(path)
}

// AbandonedLock returns the path of an index lock that a killed rollback left, or "". If there is
// no intent either, the rollback was killed before it moved anything, and the lock may be
// removed.
func (s *restorer) AbandonedLock() string {
	if path := s.repo.IndexPath + ".lock"; s.lock.abandoned(path) {
		return path
	}
	return ""
}

// release removes the index lock if it still is the one that this restore made.
func (s *indexLock) release(in *Intent) {
	if in.Lock == "" {
		return // no lock was taken, so the note belongs to another process
	}
	if mine, err := s.holds(in); err != nil || mine && os.Remove(in.Lock) != nil {
		return // with the note the next process knows whose it is
	}
	os.Remove(s.lockNote()) //nolint:errcheck // disposable
}
