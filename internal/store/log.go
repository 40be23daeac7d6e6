package store

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"

	"git-checkpoint/internal/git"
	"git-checkpoint/internal/journal"
	"git-checkpoint/internal/name"
)

// fewCommits is how many new commits of a journal are read one level after the other, in this
// process. If there are more, one rev-list reads them all.
const fewCommits = 32

// Log returns the journal of a session. It is read for the caller, who may extend it. The error
// wraps ErrNoSession if there is no journal.
func (s *Store) Log(ctx context.Context, session name.Session) (*journal.Log, error) {
	c, err := s.loadTip(ctx, session)
	if err != nil {
		return nil, err
	}
	return c.log, nil
}

// State returns the fold of a session's journal. It may be shared and must not be changed. The
// error wraps ErrNoSession if there is no journal.
func (s *Store) State(ctx context.Context, session name.Session) (*journal.State, error) {
	c, err := s.loadTip(ctx, session)
	if err != nil {
		return nil, err
	}
	defer s.give(c)
	return c.fold(), nil
}

// loadTip resolves the session's journal and loads it.
func (s *Store) loadTip(ctx context.Context, session name.Session) (*cache, error) {
	tip, err := s.resolve(ctx, name.JournalRef(session))
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
func (s *Store) LogAt(ctx context.Context, tip name.OID, known *journal.Log) (*journal.Log, error) {
	var nodes []journal.Node
	var above []name.OID
	if known != nil {
		nodes, above = known.Nodes(), []name.OID{known.Tip().OID}
	}
	fresh, err := s.history(ctx, tip, above...)
	if err != nil {
		return nil, err
	}
	return newLog(append(nodes, fresh...), tip)
}

// load returns the journal of a session whose ref is at tip. Usually the cache has most of it, and
// the new commits are read. If tip is not on top of the cached journal, everything is read from
// git. If that has lost events which this worktree has seen, their ids are kept as a witness (see
// leave).
func (s *Store) load(ctx context.Context, session name.Session, tip name.OID) (*cache, error) {
	c := s.take(session)
	before := c.log
	if c.log != nil && !c.log.Contains(tip) {
		if err := s.extend(ctx, c.log, tip); err != nil {
			c.log = nil // another history, or damage: read everything
		}
	}
	if c.log == nil || c.log.Tip().OID != tip {
		nodes, err := s.history(ctx, tip)
		if err == nil {
			c.log, err = newLog(nodes, tip)
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

// newLog returns the journal of nodes, or a DamagedError if they do not form one.
func newLog(nodes []journal.Node, tip name.OID) (*journal.Log, error) {
	l, err := journal.NewLog(nodes, tip)
	if err != nil {
		return nil, &DamagedError{What: "journal", OID: tip, Err: err}
	}
	return l, nil
}

// extend adds to a cached journal what leads from it to tip.
func (s *Store) extend(ctx context.Context, l *journal.Log, tip name.OID) error {
	nodes, err := s.walk(ctx, l, tip)
	if errors.Is(err, errMany) {
		nodes, err = s.history(ctx, tip, l.Tip().OID)
	}
	if err != nil {
		return err
	}
	return l.Extend(nodes, tip)
}

// errMany says that more than fewCommits are new.
var errMany = errors.New("many commits")

// walk reads the commits between a journal and a new tip, one level of parents at a time. It
// returns parents before children.
func (s *Store) walk(ctx context.Context, l *journal.Log, tip name.OID) ([]journal.Node, error) {
	var newestFirst []journal.Node
	seen := map[name.OID]bool{tip: true}
	for level := []string{string(tip)}; len(level) > 0; {
		if len(seen) > fewCommits {
			return nil, errMany
		}
		var next []string
		err := s.Repo.Batch().Objects(ctx, level, func(i int, o git.Object, err error) error {
			n, err := readNode(level[i], o, err)
			if err != nil {
				return err
			}
			newestFirst = append(newestFirst, n)
			for _, p := range n.Parents {
				if !seen[p] && !l.Contains(p) {
					seen[p] = true
					next = append(next, string(p))
				}
			}
			return nil
		})
		if err != nil {
			return nil, err
		}
		level = next
	}
	slices.Reverse(newestFirst)
	return newestFirst, nil
}

// Node decodes a commit of a journal from an object.
func Node(o git.Object) (journal.Node, error) { return readNode(string(o.OID), o, nil) }

// readNode decodes a commit of a journal from an object that was read.
func readNode(spec string, o git.Object, err error) (journal.Node, error) {
	c, err := commitOf(o, err)
	if err != nil {
		return journal.Node{}, &DamagedError{What: "journal", OID: name.OID(spec), Err: err}
	}
	return parseNode(c)
}

// history reads all commits of a journal, without those that known reaches. It starts one process.
func (s *Store) history(ctx context.Context, tip name.OID, known ...name.OID) ([]journal.Node, error) {
	commits, err := s.Repo.History(ctx, tip, known...)
	if ctx.Err() != nil {
		return nil, context.Cause(ctx)
	}
	if err != nil {
		return nil, &DamagedError{What: "journal", OID: tip, Err: err}
	}
	nodes := make([]journal.Node, 0, len(commits))
	for _, c := range commits {
		n, err := parseNode(c)
		if err != nil {
			return nil, err
		}
		nodes = append(nodes, n)
	}
	return nodes, nil
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
