package travel

// Two kinds of memory make the next transfer short. The tracking refs hold each remote's journals as
// they were last seen, like git's remote-tracking branches. A small JSON file per remote holds the
// time of the last synchronisation and the states in which nothing was left to do. Both can be lost
// safely.

import (
	"context"
	"errors"
	"fmt"
	"os"
	"slices"
	"strings"

	"git-checkpoint/internal/core/checkpoint"
	"git-checkpoint/internal/format/name"
	"git-checkpoint/internal/format/render"
	"git-checkpoint/internal/git"
	"git-checkpoint/internal/storage/lfs"
	"git-checkpoint/internal/storage/store"
)

func (t *transfer) trackingRef(session name.Session) name.Ref {
	return name.Ref(name.TrackingRoot + t.remote.Name + "/" + string(session) + "/journal")
}

// track updates the tracking refs of a configured remote. Addresses that were typed are not
// tracked, nor are names that cannot be part of a ref. A lost race is ignored: the other process
// has seen the remote at about the same time.
func (t *transfer) track(ctx context.Context, tips map[name.Session]name.OID) error {
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
	if err := t.s.Repo.Refs.Update(ctx, updates); err != nil && !errors.Is(err, git.ErrRaced) {
		return err
	}
	return nil
}

// memory is what this worktree remembers about a remote. It is stored as a JSON file in the
// checkpoint directory and may be deleted at any time.
type memory struct {
	Remote   string           `json:"remote"`
	LastSync *checkpoint.Time `json:"last_sync"`
	Settled  []string         `json:"settled,omitempty"` // digests of states in which nothing was left to do, oldest first
	Auto     string           `json:"auto,omitempty"`    // how the last background push ended

	// Refused are the commits with an object that git refuses, with the reason. They are not
	// fetched again for a day, so that a fetch need not search for them again and gets to the
	// others.
	Refused      map[name.OID]string `json:"refused,omitempty"`
	RefusedSince *checkpoint.Time    `json:"refused_since,omitempty"`
	// Outside has, by the address of a push or "" for the usual one, the files of git-lfs that are
	// still to be sent. If an address is missing, no push to it has sent any of them yet.
	Outside map[string][]lfs.Named `json:"outside,omitempty"`

	Keeps bool `json:"keeps,omitempty"` // true while the remote does not let pruned checkpoints be deleted
	Owed  int  `json:"owed,omitempty"`  // how many pruned checkpoints the last push left there

	file string // its name in the checkpoint directory
}

// memoryPrefix begins the names of these files. The remote's name follows in hexadecimal, because
// an address may have any character.
const memoryPrefix = "remote-"

// memoryOf reads the memory of a remote. A missing or damaged file counts as empty. Addresses too
// long for a file name share one file.
func memoryOf(repo *git.Repo, remoteName string) memory {
	file := memoryPrefix + fmt.Sprintf("%x", remoteName)
	if len(file) > 200 {
		file = memoryPrefix + "long"
	}
	m := readMemory(repo, file)
	m.Remote, m.file = remoteName, file
	return m
}

func readMemory(repo *git.Repo, file string) (m memory) {
	if known, err := checkpoint.Recall(repo, file, &m); !known || err != nil {
		return memory{}
	}
	return m
}

// settled reports whether the state with this digest needs no work.
func (m *memory) settled(digest string) bool { return slices.Contains(m.Settled, digest) }

// maxSettled bounds how many states are remembered. The oldest goes first.
const maxSettled = 8

// synced stores the time of a successful transfer. digest is the state in which it left nothing to do,
// or "".
func (m *memory) synced(s *store.Store, digest string) error {
	now := s.Now()
	m.LastSync = &checkpoint.Time{Time: now}
	if digest != "" && !m.settled(digest) {
		m.Settled = append(m.Settled, digest)
		m.Settled = m.Settled[max(0, len(m.Settled)-maxSettled):]
	}
	return m.save(s)
}

func (m *memory) save(s *store.Store) error {
	if _, err := s.Repo.Dir(); err != nil {
		return nil //nolint:nilerr // there is no place to keep it
	}
	return checkpoint.Remember(s, m.file, m)
}

// LastSync returns the status of the remote with which this worktree was last synchronised, or nil.
func LastSync(repo *git.Repo) *RemoteStatus {
	dir, err := repo.Dir()
	if err != nil {
		return nil
	}
	entries, _ := os.ReadDir(dir) //nolint:errcheck // nothing is known then
	var newest *memory
	for _, e := range entries {
		if !strings.HasPrefix(e.Name(), memoryPrefix) {
			continue
		}
		m := readMemory(repo, e.Name())
		if m.Remote != "" && (newest == nil || newest.LastSync == nil || m.LastSync != nil && m.LastSync.After(newest.LastSync.Time)) {
			newest = &m
		}
	}
	if newest == nil {
		return nil
	}
	return &RemoteStatus{Name: newest.Remote, LastSync: newest.LastSync, Auto: newest.Auto, Owed: newest.Owed, Keeps: newest.Keeps}
}

// RemoteStatus says when this worktree was last synchronised with a remote.
type RemoteStatus struct {
	Name     string           `json:"name"`
	LastSync *checkpoint.Time `json:"last_sync"`
	Auto     string           `json:"auto,omitempty"` // how the last background push ended
	Owed     int              `json:"owed,omitempty"` // pruned checkpoints that the last push left there
	Keeps    bool             `json:"-"`              // the remote takes no deletions
}

// Owing says what the last push left at the remote, and what to do about it. It is "" if that is nothing.
func (r *RemoteStatus) Owing() (said, hint string) {
	switch {
	case r == nil || r.Owed == 0:
		return "", ""
	case r.Keeps:
		return fmt.Sprintf("%s takes no deletions: %s there, and ignored", r.Name, render.Count(r.Owed, "pruned checkpoint stays", "pruned checkpoints stay")), ""
	}
	return fmt.Sprintf("%s still at %s", render.Count(r.Owed, "pruned checkpoint is", "pruned checkpoints are"), r.Name), "`git checkpoint push` deletes them there"
}
