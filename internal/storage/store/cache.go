package store

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"

	"git-checkpoint/internal/format/journal"
	"git-checkpoint/internal/format/name"
	"git-checkpoint/internal/sys/lockfile"
	"git-checkpoint/internal/sys/mapped"
)

// cache is a journal that was read once, and the file that keeps it for the next process. Reading a
// long journal from git takes one process or many objects; the file takes one read. The file is
// disposable: it is only used if it is complete and consistent, and otherwise the journal is read
// from git.
type cache struct {
	session name.Session
	path    string         // empty: it cannot be stored
	log     *journal.Log   // nil: not read yet
	saved   int            // how many nodes of log are in the file
	size    int64          // of the file when it was read or written
	state   *journal.State // a fold of log, or nil
	folded  int            // how many nodes of log that fold includes
}

// newCache returns an empty cache of a session.
func (s *journals) newCache(session name.Session) *cache {
	c := &cache{session: session}
	if dir, err := s.repo.Dir(); err == nil {
		c.path = filepath.Join(dir, cachePrefix+string(session))
	}
	return c
}

// takeCache returns the journal that this process or another one has read before. Its log is nil if
// there is none. It belongs to the caller alone until giveCache.
func (s *journals) takeCache(session name.Session) *cache {
	s.mu.Lock()
	kept := s.kept[session]
	delete(s.kept, session)
	s.mu.Unlock()
	if kept != nil {
		return kept
	}
	return s.readCache(session)
}

// readCache returns what the file has. Its log is nil if there is none.
func (s *journals) readCache(session name.Session) *cache {
	c := s.newCache(session)
	if data, err := mapped.Path(c.path); err == nil {
		if l, err := journal.Decode(data); err == nil {
			c.log, c.saved, c.size = l, l.Len(), int64(len(data))
		}
	}
	return c
}

// giveCache makes a journal available to the next takeCache. It must not have events that are not
// in the repository.
func (s *journals) giveCache(c *cache) {
	s.mu.Lock()
	s.kept[c.session] = c
	s.mu.Unlock()
}

// fold returns the state of the journal, for this worktree. It is shared and never changes.
func (c *cache) fold(here *localFiles) *journal.State {
	if c.state == nil || c.folded != c.log.Len() {
		c.state, c.folded = here.fold(c.log), c.log.Len()
	}
	return c.state
}

// save appends to the file what it lacks, or writes it if there is none. If another process has
// changed the file meanwhile, it leaves that one alone: it is as good, and what it lacks is read
// from git next time.
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
	n, err := appendFile(c.path, c.size, c.log.AppendTo(nil, c.saved))
	if c.size += int64(n); err == nil {
		c.saved = c.log.Len()
	}
}

// appendFile appends data to a file if it still has the given size. It holds the directory
// meanwhile, because two processes could otherwise both see the right size and both append. Where
// a directory cannot be locked, the checksums of the records show what happened, and the file is
// written anew.
func appendFile(path string, size int64, data []byte) (n int, err error) {
	release := lockfile.Hold(filepath.Dir(path))
	defer release()
	f, err := os.OpenFile(path, os.O_WRONLY|os.O_APPEND, 0)
	if err != nil {
		return 0, err
	}
	defer func() { err = errors.Join(err, f.Close()) }()
	info, err := f.Stat()
	if err != nil {
		return 0, err
	}
	if info.Size() != size {
		return 0, fmt.Errorf("%q grew in the meantime", path)
	}
	return f.Write(data)
}
