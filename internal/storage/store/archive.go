package store

import (
	"bytes"
	"cmp"
	"context"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"
	"time"

	"git-checkpoint/internal/format/name"
	"git-checkpoint/internal/git"
)

// An archive is one commit that replaces the refs of many checkpoints. A remote lists all its refs
// for every push and fetch, so a closed session should not have hundreds of them. The checkpoint
// commits are the parents of the archive, and its tree has one file that lists their ids. If a
// remote has an archive already, the one that is pushed has that as its first parent, so that the
// push is a fast-forward.

// archiveList is the name of the file in an archive's tree.
const (
	archiveList = "checkpoints"
	// These limit an archive that comes from another clone: maxArchived its checkpoints, and
	// maxChain the archives that it is built on.
	maxArchived = 1 << 20
	maxChain    = 1024
)

// archiveMessage returns the commit message of an archive. Two clones must write the same commit,
// so the message is fixed.
func archiveMessage(session name.Session) string {
	return "archive of session " + string(session) + "\n\nCheckpoint-Archive: 1\n"
}

// Members returns the checkpoints that an archive lists. It does not check the list against the
// commit's parents; CheckArchive does. The map is shared and must not be changed.
func (s *inventory) Members(ctx context.Context, archive name.OID) (map[name.ID]name.OID, error) {
	s.mu.Lock()
	known := s.archives[archive]
	s.mu.Unlock()
	if known != nil {
		return known, nil
	}
	c, err := s.commit(ctx, "archive", archive)
	if err != nil {
		return nil, err
	}
	e, ok, err := s.repo.Trees.Lookup(ctx, c.Tree, archiveList)
	if err == nil && (!ok || e.Mode != git.ModeFile) {
		err = errors.New("it has no list of " + archiveList)
	}
	if err != nil {
		return nil, damaged(ctx, "archive", archive, err)
	}
	const lineLimit = 160 // longer than an id, a space, and the longest object id
	list, err := s.blob(ctx, "archive", e.OID, maxArchived*lineLimit)
	if err != nil {
		return nil, err
	}
	members, err := parseMembers(list)
	if err != nil {
		return nil, damaged(ctx, "archive", archive, err)
	}
	s.mu.Lock()
	s.archives[archive] = members
	s.mu.Unlock()
	return members, nil
}

// parseMembers parses the lines "<id> <commit>" of an archive's list.
func parseMembers(list []byte) (map[name.ID]name.OID, error) {
	members := map[name.ID]name.OID{}
	for line := range strings.Lines(string(list)) {
		word, rest, _ := strings.Cut(strings.TrimSuffix(line, "\n"), " ")
		id, err := name.ParseID(word)
		if err != nil {
			return nil, err
		}
		oid, err := name.ParseOID(rest)
		if err != nil {
			return nil, err
		}
		if members[id] != "" {
			return nil, fmt.Errorf("it lists %s twice", id)
		}
		if members[id] = oid; len(members) > maxArchived {
			return nil, fmt.Errorf("it lists more than %d checkpoints", maxArchived)
		}
	}
	return members, nil
}

// CheckArchive is Members for an archive that comes from another clone. It follows the parents and
// returns an error if the archive lists checkpoints that it does not hold, if it holds other
// commits than checkpoints and archives of this session, or if the chain of archives is too long.
func (s *inventory) CheckArchive(ctx context.Context, session name.Session, archive name.OID) (map[name.ID]name.OID, error) {
	members, err := s.Members(ctx, archive)
	if err != nil {
		return nil, err
	}
	listed, reached := map[name.OID]bool{}, map[name.OID]bool{}
	for _, oid := range members {
		listed[oid] = true
	}
	next, seen := []name.OID{archive}, map[name.OID]bool{archive: true}
	for len(next) > 0 {
		c, err := s.commit(ctx, "archive", next[0])
		if err != nil {
			return nil, err
		}
		if next = next[1:]; c.Message != archiveMessage(session) {
			return nil, &DamagedError{What: "archive", OID: c.OID, Err: fmt.Errorf("it does not belong to session %q", session)}
		}
		for _, p := range c.Parents {
			if listed[p] {
				reached[p] = true
			} else if !seen[p] {
				seen[p] = true
				next = append(next, p)
			}
		}
		if len(seen)-1 > maxChain { // the archive itself is among those seen
			return nil, &DamagedError{What: "archive", OID: archive, Err: fmt.Errorf("it builds on more than %d others", maxChain)}
		}
	}
	if len(reached) < len(listed) {
		return nil, &DamagedError{What: "archive", OID: archive, Err: errors.New("it lists checkpoints that it does not contain")}
	}
	return members, nil
}

// ArchiveOnto writes an archive of members and returns its commit. If base is not empty, the new
// archive builds on that one. No ref is written.
func (s *Store) ArchiveOnto(ctx context.Context, session name.Session, base name.OID, members map[name.ID]name.OID) (name.OID, error) {
	a := &attempt{store: s, session: session, written: map[name.OID]object{}}
	return a.archiveCommit(ctx, base, members)
}

// stamp returns the time in an id and the random digits after it. As text, it sorts by time.
func stamp(id name.ID) string { return string(id[strings.LastIndexByte(string(id), '-')-19:]) }

// archiveCommit writes the commit of an archive. The result depends only on base and members, so
// that two clones write the same commit. The checkpoints are ordered by the stamps in their ids and
// not by the order of the journal, which may change when events of another clone arrive.
func (a *attempt) archiveCommit(ctx context.Context, base name.OID, members map[name.ID]name.OID) (name.OID, error) {
	c := git.Commit{Message: archiveMessage(a.session)}
	held := map[name.OID]bool{}
	if base != "" {
		c.Parents = []name.OID{base}
		had, err := a.store.Members(ctx, base)
		if err != nil {
			return "", err
		}
		for _, oid := range had {
			held[oid] = true
		}
	}
	ids := slices.SortedFunc(maps.Keys(members), func(a, b name.ID) int {
		return cmp.Or(strings.Compare(stamp(a), stamp(b)), strings.Compare(string(a), string(b)))
	})
	by := git.Signature{Name: "git-checkpoint", Email: "git-checkpoint@localhost", When: time.Unix(0, 0).UTC()}
	var list bytes.Buffer
	for _, id := range ids {
		oid := members[id]
		fmt.Fprintf(&list, "%s %s\n", id, oid)
		if !held[oid] {
			held[oid] = true
			c.Parents = append(c.Parents, oid)
		}
		// The date of the commit is the latest time among the ids.
		if at, err := time.Parse("20060102T150405", stamp(id)[:15]); err == nil && at.After(by.When) {
			by.When = at
		}
	}
	blob, err := a.write(ctx, "blob", list.Bytes())
	if err != nil {
		return "", err
	}
	tree, err := git.EncodeTree([]git.Entry{{Name: archiveList, Mode: git.ModeFile, OID: blob}})
	if err != nil {
		return "", err
	}
	if c.Tree, err = a.write(ctx, "tree", tree); err != nil {
		return "", err
	}
	c.Author, c.Committer = by, by
	return a.write(ctx, "commit", c.Encode())
}

// writeArchive updates the session's archive: it adds Change.Archive, takes out what is removed,
// and deletes the refs of the checkpoints that the archive then holds. An archived checkpoint whose
// ref has another value keeps its ref. The new archive has no archive as a parent, because that one
// would keep removed checkpoints alive.
func (a *attempt) writeArchive(ctx context.Context) error {
	members := map[name.ID]name.OID{}
	maps.Copy(members, a.members)
	for _, r := range a.removals {
		delete(members, r.ID)
	}
	for id, oid := range a.change.Archive {
		if have := a.listed[name.CheckpointRef(a.session, id)]; have == "" || have == oid {
			members[id] = oid
		}
	}
	ref := name.ArchiveRef(a.session)
	archive := a.listed[ref]
	if !maps.Equal(members, a.members) {
		next := name.OID("")
		if len(members) > 0 {
			var err error
			if next, err = a.archiveCommit(ctx, "", members); err != nil {
				return err
			}
		}
		if next != archive {
			a.updates = append(a.updates, git.Update{Ref: ref, New: next, Old: archive})
		}
	}
	for _, id := range slices.Sorted(maps.Keys(members)) {
		single := name.CheckpointRef(a.session, id)
		if a.listed[single] == members[id] && !a.virtual[single] {
			a.updates = append(a.updates, git.Update{Ref: single, Old: members[id]})
		}
	}
	return nil
}

// Held returns refs and, for each archive among them, the refs that its members would have. The
// result is sorted. A real ref takes precedence over an archive's member. An archive that cannot be
// read causes a warning and adds nothing.
func (s *inventory) Held(ctx context.Context, refs []git.RefValue) []git.RefValue {
	all, _ := s.held(ctx, refs)
	return all
}

// held is Held. It also returns the refs that were listed, or nil if no archive was among them.
func (s *inventory) held(ctx context.Context, refs []git.RefValue) (out []git.RefValue, own map[name.Ref]bool) {
	out = refs
	for _, r := range refs {
		session, leaf, ok := name.SplitCheckpointRef(r.Ref)
		if !ok || leaf != leafArchive {
			continue
		}
		if own == nil {
			own = make(map[name.Ref]bool, len(refs))
			for _, r := range refs {
				own[r.Ref] = true
			}
			out = slices.Clone(refs)
		}
		members, err := s.Members(ctx, r.OID)
		if err != nil {
			s.warn(err.Error())
			continue
		}
		for id, oid := range members {
			if ref := name.CheckpointRef(session, id); !own[ref] {
				out = append(out, git.RefValue{Ref: ref, OID: oid})
			}
		}
	}
	if own != nil {
		slices.SortFunc(out, func(a, b git.RefValue) int { return strings.Compare(string(a.Ref), string(b.Ref)) })
	}
	return out, own
}

// resolveHeld returns the commit of a checkpoint from its ref, or else from the session's archive.
// It is empty if neither has it.
func (s *inventory) resolveHeld(ctx context.Context, session name.Session, id name.ID) (name.OID, error) {
	refs, err := s.repo.Refs.ResolveAll(ctx, name.CheckpointRef(session, id), name.ArchiveRef(session))
	if err != nil {
		return "", fmt.Errorf("resolve %s: %w", id, err)
	}
	archive := refs[name.ArchiveRef(session)]
	if oid := refs[name.CheckpointRef(session, id)]; oid != "" || archive == "" {
		return oid, nil
	}
	members, err := s.Members(ctx, archive)
	return members[id], err
}
