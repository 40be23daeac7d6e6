package travel

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"git-checkpoint/internal/checkpoint"
	"git-checkpoint/internal/git"
	"git-checkpoint/internal/name"
	"git-checkpoint/internal/store"
)

// TrackingRoot is where the journals of remotes are remembered as they were last seen.
const TrackingRoot = "refs/checkpoint-remotes/"

func (t *trip) trackingRef(session name.Session) name.Ref {
	return name.Ref(TrackingRoot + t.remote.Name + "/" + string(session) + "/journal")
}

// track remembers the journals of a configured remote. Another process that does so at
// the same time is as right.
func (t *trip) track(ctx context.Context, tips map[name.Session]name.OID) error {
	if !t.remote.Configured() || len(tips) == 0 || strings.ContainsAny(t.remote.Name, " :~^?*[\\") {
		return nil
	}
	var updates []git.Update
	for session, tip := range tips {
		if ref := t.trackingRef(session); t.tracking[ref] != tip {
			updates = append(updates, git.Update{Ref: ref, New: tip, Old: t.tracking[ref]})
		}
	}
	if len(updates) == 0 {
		return nil
	}
	if err := t.s.Repo.UpdateRefs(ctx, updates); err != nil && !errors.Is(err, git.ErrRaced) {
		return checkpoint.Classify(err)
	}
	return nil
}

// memory is what a worktree remembers of a remote: a file that may be lost.
type memory struct {
	Remote   string           `json:"remote"`
	LastSync *checkpoint.Time `json:"last_sync"`
	Settled  []string         `json:"settled,omitempty"` // states in which nothing was to be done
	Auto     string           `json:"auto,omitempty"`    // what the last push in the background ended with

	path string
}

// memoryPrefix begins the names of these files.
const memoryPrefix = "remote-"

// memoryOf reads what is known of a remote; a file that cannot be read knows nothing.
func memoryOf(s *checkpoint.Service, remoteName string) memory {
	m := memory{}
	dir, err := s.Repo.Dir()
	if err == nil {
		path := filepath.Join(dir, memoryPrefix+fmt.Sprintf("%x", remoteName))
		if len(filepath.Base(path)) > 200 {
			path = filepath.Join(dir, memoryPrefix+"long")
		}
		m = readMemory(path)
	}
	m.Remote = remoteName
	return m
}

func readMemory(path string) memory {
	var m memory
	data, err := os.ReadFile(path)
	if err == nil && json.Unmarshal(data, &m) != nil {
		m = memory{}
	}
	m.path = path
	return m
}

// settled reports whether nothing was to be done in this very state.
func (m *memory) settled(digest string) bool { return slices.Contains(m.Settled, digest) }

// maxSettled bounds how many states are remembered.
const maxSettled = 8

// synced notes that a trip ended well, in a state in which nothing is left to be done.
func (m *memory) synced(s *checkpoint.Service, digest string) error {
	now := s.Now()
	m.LastSync = &checkpoint.Time{Time: now}
	if digest != "" && !m.settled(digest) {
		m.Settled = append(m.Settled, digest)
		m.Settled = m.Settled[max(0, len(m.Settled)-maxSettled):]
	}
	return m.save()
}

func (m *memory) save() error {
	if m.path == "" {
		return nil
	}
	data, err := json.Marshal(m)
	if err != nil {
		return checkpoint.Classify(err)
	}
	temp, err := os.CreateTemp(filepath.Dir(m.path), store.TempPrefix+"remote-")
	if err != nil {
		return checkpoint.Classify(err)
	}
	_, err = temp.Write(data)
	if err = errors.Join(err, temp.Close()); err == nil {
		err = os.Rename(temp.Name(), m.path)
	}
	if err != nil {
		os.Remove(temp.Name()) //nolint:errcheck // swept later
	}
	return checkpoint.Classify(err)
}

// LastSync is the remote that this worktree was last synchronised with; nil when none.
func LastSync(s *checkpoint.Service) *RemoteStatus {
	dir, err := s.Repo.Dir()
	if err != nil {
		return nil
	}
	entries, err := os.ReadDir(dir)
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	var newest *memory
	for _, e := range entries {
		if !strings.HasPrefix(e.Name(), memoryPrefix) {
			continue
		}
		m := readMemory(filepath.Join(dir, e.Name()))
		if m.Remote != "" && (newest == nil || newest.LastSync == nil || m.LastSync != nil && m.LastSync.After(newest.LastSync.Time)) {
			newest = &m
		}
	}
	if newest == nil {
		return nil
	}
	return &RemoteStatus{Name: newest.Remote, LastSync: newest.LastSync, Auto: newest.Auto}
}

// RemoteStatus is when the session was last synchronised with a remote.
type RemoteStatus struct {
	Name     string           `json:"name"`
	LastSync *checkpoint.Time `json:"last_sync"`
	Auto     string           `json:"auto,omitempty"` // what the last push in the background ended with
}
