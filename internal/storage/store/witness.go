package store

import (
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"git-checkpoint/internal/format/journal"
	"git-checkpoint/internal/format/name"
)

// A journal that was set back to an older commit, or replaced, is valid by itself. Only what this
// worktree has seen of it before shows the difference. That witness is the cached journal
// (journal-<session>), and the tips of journals that were abandoned (left-<session>).

// The names of the files of the witness, and how many tips one of them keeps.
const (
	cachePrefix = "journal-"
	leftPrefix  = "left-"
	maxLeft     = 16
)

// Seen returns the newest events that a session's journal had in this worktree. If the journal does
// not contain one of them, it was set back or replaced. Call it before you resolve the journal's
// ref: otherwise another process may add events in between, and they would look lost.
func (s *journals) Seen(session name.Session) []name.OID {
	var tips []name.OID
	if l := s.Cached(session); l != nil {
		tips = l.Heads()
	}
	return append(tips, s.Abandoned(session)...)
}

// Cached returns the journal of a session as this worktree last saw it, or nil.
func (s *journals) Cached(session name.Session) *journal.Log { return s.readCache(session).log }

// Remembered lists the sessions of which this worktree has seen a journal, sorted.
func (s *journals) Remembered() ([]name.Session, error) {
	dir, err := s.repo.Dir()
	if err != nil {
		return nil, err
	}
	entries, err := os.ReadDir(dir)
	if err != nil {
		return nil, fmt.Errorf("list what was seen: %w", err)
	}
	var out []name.Session
	for _, e := range entries {
		for _, prefix := range []string{cachePrefix, leftPrefix} {
			rest, ours := strings.CutPrefix(e.Name(), prefix)
			if session, err := name.ParseSession(rest); ours && err == nil {
				out = append(out, session)
			}
		}
	}
	slices.Sort(out)
	return slices.Compact(out), nil
}

// Forget deletes what this worktree remembers of a session: the cached journal, the abandoned tips,
// and the cached summaries. The next reader starts from the repository.
func (s *journals) Forget(session name.Session) error {
	s.mu.Lock()
	delete(s.kept, session)
	s.mu.Unlock()

	for _, prefix := range []string{cachePrefix, leftPrefix, summaryCachePrefix} {
		if err := s.local.remove(prefix + string(session)); err != nil {
			return fmt.Errorf("forget the journal of %q: %w", session, err)
		}
	}
	return nil
}

// leave remembers the newest events of a journal that has been abandoned. A failure is ignored,
// because nothing but the detection of lost events depends on it.
func (s *journals) leave(session name.Session, newest []name.OID) {
	tips := s.Abandoned(session)
	newest = slices.DeleteFunc(newest, func(t name.OID) bool { return slices.Contains(tips, t) })
	if len(newest) == 0 {
		return
	}
	tips = append(newest, tips...)
	var b strings.Builder
	for _, t := range tips[:min(len(tips), maxLeft)] {
		b.WriteString(string(t) + "\n")
	}
	s.local.WriteFile(leftPrefix+string(session), []byte(b.String())) //nolint:errcheck // see above
}

// Abandoned returns the tips that the journal had in this worktree before it was set back or replaced, the newest first.
func (s *journals) Abandoned(session name.Session) []name.OID {
	path, err := s.local.file(leftPrefix + string(session))
	if err != nil {
		return nil
	}
	data, err := os.ReadFile(filepath.Clean(path))
	if err != nil || len(data) > maxLeft*100 {
		return nil
	}
	var tips []name.OID
	for line := range strings.Lines(string(data)) {
		if oid, err := name.ParseOID(strings.TrimSpace(line)); err == nil {
			tips = append(tips, oid)
		}
	}
	return tips
}
