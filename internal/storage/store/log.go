package store

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"sync"

	"git-checkpoint/internal/format/journal"
	"git-checkpoint/internal/format/name"
	"git-checkpoint/internal/git"
)

// journals reads the journals of sessions, and keeps what this worktree has seen of them.
type journals struct {
	repo  *git.Repo
	refs  *inventory
	local *localFiles

	mu   sync.Mutex              // protects kept
	kept map[name.Session]*cache // journals that were read and that nobody uses at the moment; see takeCache and giveCache
}

// Log returns the journal of a session. It is read for the caller, who may extend it. The error
// wraps ErrNoSession if there is no journal.
func (s *journals) Log(ctx context.Context, session name.Session) (*journal.Log, error) {
	c, err := s.loadTip(ctx, session)
	if err != nil {
		return nil, err
	}
	return c.log, nil
}

// State returns the fold of a session's journal. It may be shared and must not be changed. The
// error wraps ErrNoSession if there is no journal.
func (s *journals) State(ctx context.Context, session name.Session) (*journal.State, error) {
	c, err := s.loadTip(ctx, session)
	if err != nil {
		return nil, err
	}
	defer s.giveCache(c)
	return c.fold(s.local), nil
}

// loadTip resolves the session's journal and loads it.
func (s *journals) loadTip(ctx context.Context, session name.Session) (*cache, error) {
	tip, err := s.refs.resolve(ctx, name.JournalRef(session))
	if err != nil {
		return nil, err
	}
	if tip == "" {
		return nil, fmt.Errorf("session %q: %w", session, ErrNoSession)
	}
	return s.load(ctx, session, tip)
}

// LogAt reads the journal that ends in tip. No ref of the session has to point to tip; it may have
// been fetched just now. known may be a journal with the same beginning, which is not read again.
// It is not changed.
func (s *journals) LogAt(ctx context.Context, tip name.OID, known *journal.Log) (*journal.Log, error) {
	fresh, err := s.commits(ctx, tip, known)
	if err == nil && known != nil {
		fresh = append(known.Nodes(), fresh...)
	}
	if err != nil {
		return nil, err
	}
	return newLog(fresh, tip)
}

// load returns the journal of a session whose ref is at tip. Usually the cache has most of it, and
// the new commits are read. If tip is not on top of the cached journal, everything is read from
// git. If that has lost events which this worktree has seen, their ids are kept as a witness (see
// leave).
func (s *journals) load(ctx context.Context, session name.Session, tip name.OID) (*cache, error) {
	c := s.takeCache(session)
	before := c.log
	if c.log != nil && !c.log.Contains(tip) {
		nodes, err := s.commits(ctx, tip, c.log)
		if err != nil || c.log.Extend(nodes, tip) != nil {
			c.log = nil // another history, or damage: read everything
		}
	}
	if c.log == nil || c.log.Tip().OID != tip {
		nodes, err := s.commits(ctx, tip, nil)
		if err == nil {
			c.log, err = newLog(nodes, tip)
		}
		if err == nil {
			err = c.belongs(tip)
		}
		// The repository lacks events that this worktree has seen: the journal was set back or
		// replaced.
		if before != nil && (err != nil || !journal.Covers(c.log, before)) {
			s.leave(session, before.Heads())
		}
		if err != nil {
			return nil, err
		}
		c.saved, c.state = 0, nil
	}
	c.save()
	return c, nil
}

// belongs returns a DamagedError if the journal is that of another session. Events written on top
// of it would belong to neither session.
func (c *cache) belongs(tip name.OID) error {
	if of := c.log.Fold().Session; of != c.session {
		return &DamagedError{What: "journal", OID: tip, Err: fmt.Errorf("it belongs to session %q", of)}
	}
	return nil
}

// newLog returns the journal of nodes, or a DamagedError if they do not form one.
func newLog(nodes []journal.Node, tip name.OID) (*journal.Log, error) {
	l, err := journal.NewLog(nodes, tip)
	if err != nil {
		return nil, &DamagedError{What: "journal", OID: tip, Err: err}
	}
	return l, nil
}

// commits reads the commits that lead to tip, without those that known has. known may be nil. It
// returns parents before children if they are a line.
func (s *journals) commits(ctx context.Context, tip name.OID, known *journal.Log) ([]journal.Node, error) {
	var newestFirst []journal.Node
	met := map[name.OID]bool{tip: true}
	err := s.repo.Objects.Batch().Follow(ctx, tip, maxCommit, func(oid name.OID, o git.Object, err error) ([]name.OID, error) {
		n, err := Node(oid, o, err)
		if errors.Is(err, git.ErrMissing) && s.repo.Commits.IsShallow() {
			err = &DamagedError{What: "journal", OID: tip, Err: fmt.Errorf("history of %s: %w", oid, git.ErrShallow)}
		}
		newestFirst = append(newestFirst, n)
		var next []name.OID
		for _, p := range n.Parents {
			if !met[p] && (known == nil || !known.Contains(p)) {
				met[p] = true
				next = append(next, p)
			}
		}
		return next, err
	})
	slices.Reverse(newestFirst)
	return newestFirst, err
}

// NodeOfAnyTree is Node for a commit that a tool rewrote: its tree may be any.
func NodeOfAnyTree(oid name.OID, o git.Object, err error) (journal.Node, error) {
	c, err := commitOf(o, err)
	if err != nil {
		return journal.Node{}, &DamagedError{What: "journal", OID: oid, Err: err}
	}
	c.Tree = journal.EmptyTreeSHA1
	return parseNode(c)
}

// Node decodes a commit of a journal from an object that was read.
func Node(oid name.OID, o git.Object, err error) (journal.Node, error) {
	c, err := commitOf(o, err)
	if err != nil {
		return journal.Node{}, &DamagedError{What: "journal", OID: oid, Err: err}
	}
	return parseNode(c)
}

// parseNode decodes a commit as a node of a journal. It refuses one with an encoding header: git
// shows such a message converted, and the stored bytes are different, so that two ways of reading
// it would give two events.
func parseNode(c git.Commit) (journal.Node, error) {
	if strings.HasPrefix(c.Other, "encoding ") || strings.Contains(c.Other, "\nencoding ") {
		return journal.Node{}, &DamagedError{What: "journal", OID: c.OID, Err: errors.New("its encoding is not UTF-8")}
	}
	author := c.Author.String()
	committer := author
	if c.Committer != c.Author { // rare; the usual case saves one formatting
		committer = c.Committer.String()
	}
	n, err := journal.ParseCommit(journal.Commit{OID: c.OID, Parents: c.Parents, Author: author, Committer: committer, Tree: c.Tree, Message: c.Message})
	if err != nil {
		return n, &DamagedError{What: "journal", OID: c.OID, Err: err}
	}
	return n, nil
}
