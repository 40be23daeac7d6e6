package store

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"sync"

	"git-checkpoint/internal/format/name"
	"git-checkpoint/internal/git"
	"git-checkpoint/internal/sys/gather"
)

// These names below a session's refs are not checkpoints. No id can be equal to one, because ids
// begin with "cp-".
const (
	leafJournal = "journal"
	leafArchive = "archive"
)

// inventory lists the sessions and checkpoints that the repository has, by their refs and by what
// archives list.
type inventory struct {
	*contents
	warn func(string)

	mu       sync.Mutex                        // protects archives
	archives map[name.OID]map[name.ID]name.OID // members of archives that were read, by the archive's commit
}

// Sessions lists all sessions in the order of their refs, also one that has no journal, for example
// after an interrupted push. It reads only the names of refs, so a damaged object does not hide a
// session.
func (s *inventory) Sessions(ctx context.Context) ([]name.Session, error) {
	// One ref of each session is enough, unless it has one that is not ours.
	refs, err := s.repo.Refs.Sample(ctx, strings.TrimSuffix(name.CheckpointRoot, "/"))
	if err != nil {
		return nil, err
	}
	sessions, ok := sessionsOf(refs)
	if !ok {
		all, err := s.repo.Refs.List(ctx, name.CheckpointRoot)
		if err != nil {
			return nil, err
		}
		refs = refs[:0]
		refs = append(refs, gather.List(all, func(r git.RefValue) name.Ref { return r.Ref })...)
		sessions, _ = sessionsOf(refs)
	}
	return sessions, nil
}

// sessionsOf returns the sessions of sorted refs. ok is false if not all of them have one of the
// forms in docs/format.md.
func sessionsOf(refs []name.Ref) (sessions []name.Session, ok bool) {
	strays := 0
	for _, ref := range refs {
		if session, _, ok := SplitRef(ref); ok {
			sessions = append(sessions, session)
		} else {
			strays++
		}
	}
	// The refs are sorted, so those of one session stand together.
	return slices.Compact(sessions), strays == 0
}

// SplitRef splits the ref of a checkpoint, a journal or an archive. leaf is the id, "journal" or
// "archive". ok is false for any other ref.
func SplitRef(ref name.Ref) (session name.Session, leaf string, ok bool) {
	session, leaf, ok = name.SplitCheckpointRef(ref)
	if ok && leaf != leafJournal && leaf != leafArchive {
		_, err := name.ParseID(leaf)
		ok = err == nil
	}
	return session, leaf, ok
}

// AllRefs lists every ref below refs/checkpoints/, sorted by name, and the members of archives as
// if they had refs.
func (s *inventory) AllRefs(ctx context.Context) ([]git.RefValue, error) {
	refs, err := s.repo.Refs.List(ctx, name.CheckpointRoot)
	if err != nil {
		return nil, err
	}
	return s.Held(ctx, refs), nil
}

// HeldOf returns the commits of a session's checkpoints that are in this repository, and which of
// them are only in its archive.
func (s *inventory) HeldOf(ctx context.Context, session name.Session) (held map[name.ID]name.OID, archived map[name.ID]bool, err error) {
	refs, err := s.repo.Refs.List(ctx, name.CheckpointRoot+string(session)+"/")
	if err != nil {
		return nil, nil, err
	}
	held, archived = s.HeldAmong(ctx, session, refs)
	return held, archived, nil
}

// HeldAmong is HeldOf for refs that were listed before. refs may include those of other sessions.
func (s *inventory) HeldAmong(ctx context.Context, session name.Session, refs []git.RefValue) (held map[name.ID]name.OID, archived map[name.ID]bool) {
	all, own := s.held(ctx, refs)
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

// CheckTwin returns a TwinError if another session's name differs from this one in case only.
func (s *inventory) CheckTwin(ctx context.Context, session name.Session) error {
	sessions, err := s.Sessions(ctx)
	if err != nil {
		return err
	}
	for _, other := range sessions {
		if other != session && strings.EqualFold(string(other), string(session)) {
			return &TwinError{Session: session, Existing: other}
		}
	}
	return nil
}

// resolve returns the value of a ref, or "" if it does not exist.
func (s *inventory) resolve(ctx context.Context, ref name.Ref) (name.OID, error) {
	found, err := s.repo.Refs.ResolveAll(ctx, ref)
	if err != nil {
		return "", fmt.Errorf("resolve %s: %w", ref, err)
	}
	return found[ref], nil
}
