package store

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"

	"git-checkpoint/internal/journal"
	"git-checkpoint/internal/mapped"
	"git-checkpoint/internal/name"
)

// cache is the file that keeps a journal which was read once. Nothing in it is
// believed unless all of it fits together, and every trouble with it ends in
// reading the journal anew.
type cache struct {
	session name.Session
	path    string // empty: there is no place for it
	log     *journal.Log
	saved   int   // nodes of log that the file has
	size    int64 // of the file when it was read
	state   *journal.State
	folded  int // nodes of log that state is the fold of
}

// newCache is an empty one.
func (s *Store) newCache(session name.Session) *cache {
	c := &cache{session: session}
	if dir, err := s.Repo.Dir(); err == nil {
		c.path = filepath.Join(dir, cachePrefix+string(session))
	}
	return c
}

// take gives the journal that this process or another has read, or an empty one.
// Nobody else gets the same until it is given back.
func (s *Store) take(session name.Session) *cache {
	s.mu.Lock()
	kept := s.kept[session]
	delete(s.kept, session)
	s.mu.Unlock()
	if kept != nil {
		return kept
	}
	c := s.newCache(session)
	data, err := mapped.Path(c.path)
	if err != nil {
		return c
	}
	if c.log, err = journal.Decode(data); err != nil {
		c.log = nil
		return c
	}
	c.saved, c.size = c.log.Len(), int64(len(data))
	return c
}

// give keeps a journal for the next one who needs it. It must be as the repository
// has it.
func (s *Store) give(c *cache) {
	s.mu.Lock()
	s.kept[c.session] = c
	s.mu.Unlock()
}

// fold is the journal's state, which is shared and never changes.
func (c *cache) fold() *journal.State {
	if c.state == nil || c.folded != c.log.Len() {
		c.state, c.folded = c.log.Fold(), c.log.Len()
	}
	return c.state
}

// save writes what the file lacks. A writer that was faster goes on alone: its file
// is as good, and what it lacks is read next time.
func (c *cache) save() {
	if c.path == "" || c.log.Len() == c.saved {
		return
	}
	if c.saved == 0 {
		data := c.log.Encode()
		if writeFile(c.path, data) == nil {
			c.saved, c.size = c.log.Len(), int64(len(data))
		}
		return
	}
	if err := c.append(c.log.AppendTo(nil, c.saved)); err == nil {
		c.saved = c.log.Len()
	}
}

// append adds to the file unless it is not as it was read.
func (c *cache) append(data []byte) error {
	n, err := appendFile(c.path, c.size, data)
	c.size += int64(n)
	return err
}

// appendFile adds to a file of a size, unless it has another one by now. The lock is a
// temporary like all others, so that one that a kill left behind is swept.
func appendFile(path string, size int64, data []byte) (n int, err error) {
	lock := filepath.Join(filepath.Dir(path), TempPrefix+"lock-"+filepath.Base(path))
	if err := hold(path, lock); err != nil {
		return 0, err
	}
	defer os.Remove(lock) //nolint:errcheck // swept later
	f, err := os.OpenFile(path, os.O_WRONLY|os.O_APPEND, 0)
	if err != nil {
		return 0, err
	}
	defer func() {
		if closed := f.Close(); err == nil {
			err = closed
		}
	}()
	info, err := f.Stat()
	if err != nil {
		return 0, err
	}
	if info.Size() != size {
		return 0, fmt.Errorf("%q grew meanwhile", path)
	}
	return f.Write(data)
}

// hold takes a lock: another name of a file, which costs no inode, or a file of its own
// where there are no links.
func hold(file, lock string) error {
	err := os.Link(file, lock)
	if err == nil || errors.Is(err, fs.ErrExist) {
		return err
	}
	held, err := os.OpenFile(lock, os.O_CREATE|os.O_EXCL|os.O_WRONLY, 0o666)
	if err != nil {
		return err
	}
	return held.Close()
}
