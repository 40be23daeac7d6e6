package connect

import (
	"os"
	"path/filepath"
	"strings"
	"time"

	"git-checkpoint/internal/core/agent"
	"git-checkpoint/internal/core/checkpoint"
	"git-checkpoint/internal/git"
)

// unheard looks for a conversation of the agent in this worktree that went on without an event, after the
// hooks were added and after the last event. While a turn is open nothing is missed.
func (st *Standing) unheard(s *checkpoint.Rules, d *agent.Definition) {
	const lag = time.Minute // how long after the last event of a conversation its transcript may still grow
	if on, err := s.Settings.Bool("checkpoint.enabled", true); !st.Enabled || st.open || err != nil || !on {
		return
	}
	since := st.written()
	if since.IsZero() {
		return
	}
	if st.LastEvent != nil && st.LastEvent.After(since) {
		since = st.LastEvent.Time
	}
	since = since.Add(lag)
	for _, file := range d.Transcripts.Find(home(s.Settings), s.Settings.Getenv, since) {
		if !worksIn(s.Repo, d.Transcripts.DirectoryOf(file)) {
			continue
		}
		if replied := d.Transcripts.Replied(file); replied.After(since) {
			since = replied
			st.Unheard = &checkpoint.Time{Time: replied}
		}
	}
}

// written returns when the newest file with its hooks was written.
func (st *Standing) written() (newest time.Time) {
	for _, h := range st.Hooks {
		if info, err := os.Stat(h.File); err == nil && info.ModTime().After(newest) {
			newest = info.ModTime()
		}
	}
	return newest
}

// worksIn reports whether a directory is in this worktree, and not in another repository within it.
func worksIn(repo *git.Repo, dir string) bool {
	if real, err := filepath.EvalSymlinks(dir); err == nil {
		dir = real
	}
	for ; filepath.IsAbs(dir) && strings.HasPrefix(dir, repo.WorkTree); dir = filepath.Dir(dir) {
		if dir == repo.WorkTree {
			return true
		}
		if _, err := os.Lstat(filepath.Join(dir, ".git")); err == nil {
			return false
		}
	}
	return false
}
