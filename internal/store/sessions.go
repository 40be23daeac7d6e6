package store

import (
	"context"
	"fmt"
	"strings"

	"git-checkpoint/internal/git"
	"git-checkpoint/internal/name"
)

// SessionInfo is a session as its refs tell, without a look at any object.
type SessionInfo struct {
	Session     name.Session
	JournalOID  name.OID // empty: a session without a journal, as a cut-off push leaves it
	ArchiveOID  name.OID // empty: none was archived
	Checkpoints int
}

// Reserved leaves of a session's refs beside the checkpoints.
const (
	leafJournal = "journal"
	leafArchive = "archive"
)

// Sessions lists all sessions by name, from refs and archives only, so that no damaged
// object stops it. Refs below refs/checkpoints/ that are outside the grammar are strays.
func (s *Store) Sessions(ctx context.Context) (sessions []SessionInfo, strays []git.RefValue, err error) {
	refs, err := s.AllRefs(ctx)
	if err != nil {
		return nil, nil, err
	}
	for _, r := range refs {
		session, leaf, ok := SplitRef(r.Ref)
		if !ok {
			strays = append(strays, r)
			continue
		}
		if n := len(sessions); n == 0 || sessions[n-1].Session != session {
			sessions = append(sessions, SessionInfo{Session: session})
		}
		info := &sessions[len(sessions)-1]
		switch leaf {
		case leafJournal:
			info.JournalOID = r.OID
		case leafArchive:
			info.ArchiveOID = r.OID
		default:
			info.Checkpoints++
		}
	}
	return sessions, strays, nil
}

// SplitRef takes the ref of a checkpoint, a journal or an archive apart.
func SplitRef(ref name.Ref) (session name.Session, leaf string, ok bool) {
	session, leaf, ok = name.SplitCheckpointRef(ref)
	if ok && leaf != leafJournal && leaf != leafArchive {
		_, err := name.ParseID(leaf)
		ok = err == nil
	}
	return session, leaf, ok
}

// AllRefs lists every ref below refs/checkpoints/, sorted by name, and what archives
// hold as if it had refs.
func (s *Store) AllRefs(ctx context.Context) ([]git.RefValue, error) {
	refs, err := s.Repo.Refs(ctx, name.CheckpointRoot)
	if err != nil {
		return nil, err
	}
	return s.Held(ctx, refs), nil
}

// HeldOf gives the commits of a session's checkpoints that are here, and which of them
// are in its archive alone.
func (s *Store) HeldOf(ctx context.Context, session name.Session) (held map[name.ID]name.OID, archived map[name.ID]bool, err error) {
	refs, err := s.Repo.Refs(ctx, name.CheckpointRoot+string(session)+"/")
	if err != nil {
		return nil, nil, err
	}
	held, archived = s.HeldAmong(ctx, session, refs)
	return held, archived, nil
}

// HeldAmong is HeldOf for refs that were read before, which may be others too.
func (s *Store) HeldAmong(ctx context.Context, session name.Session, refs []git.RefValue) (held map[name.ID]name.OID, archived map[name.ID]bool) {
	all := s.Held(ctx, refs)
	var own map[name.Ref]bool // made when an archive holds more
	if len(all) > len(refs) {
		own = make(map[name.Ref]bool, len(refs))
		for _, r := range refs {
			own[r.Ref] = true
		}
	}
	held, archived = make(map[name.ID]name.OID, len(all)), map[name.ID]bool{}
	for _, r := range all {
		owner, leaf, ok := name.SplitCheckpointRef(r.Ref)
		if !ok || owner != session {
			continue
		}
		if id, err := name.ParseID(leaf); err == nil {
			if held[id] = r.OID; own != nil && !own[r.Ref] {
				archived[id] = true
			}
		}
	}
	return held, archived
}

// CheckTwin refuses a new session that differs from another in case only.
func (s *Store) CheckTwin(ctx context.Context, session name.Session) error {
	sessions, _, err := s.Sessions(ctx)
	if err != nil {
		return err
	}
	for _, other := range sessions {
		if other.Session != session && strings.EqualFold(string(other.Session), string(session)) {
			return &TwinError{Session: session, Existing: other.Session}
		}
	}
	return nil
}

// resolve gives the value of one ref, "" when it does not exist.
func (s *Store) resolve(ctx context.Context, ref name.Ref) (name.OID, error) {
	found, err := s.Repo.Batch().ResolveAll(ctx, ref)
	if err != nil {
		return "", fmt.Errorf("resolve %s: %w", ref, err)
	}
	return found[ref], nil
}
