// Package blame says which step wrote each line of a file, and which steps changed a path. It
// has git's own blame and log walk a chain of commits that are made for it: one for each
// checkpoint, kept as objects only. No ref is written.
package blame

import (
	"context"
	"slices"
	"strings"

	"git-checkpoint/internal/checkpoint"
	"git-checkpoint/internal/git"
	"git-checkpoint/internal/journal"
	"git-checkpoint/internal/name"
)

// link is one commit of the chain.
type link struct {
	ID     name.ID  `json:"id"`
	Commit name.OID `json:"commit"`
	Before name.OID `json:"before"` // the link that it follows; empty for the first
	Head   name.OID `json:"head"`   // that the checkpoint was made on; empty: none

	entry   *journal.Entry
	message string
}

// chain makes the links of the checkpoints that lead to one, in the order of the job. What
// is remembered is made no second time, as long as its objects are there.
func chain(ctx context.Context, s *checkpoint.Service, to *checkpoint.Found) ([]link, error) {
	entries := lineTo(to)
	ids := make([]name.ID, len(entries))
	for i, e := range entries {
		ids[i] = e.Checkpoint
	}
	said, err := s.Store.Listed(ctx, to.Session, ids)
	if err != nil {
		return nil, checkpoint.Classify(err)
	}
	known, err := remembered(ctx, s, to.Session)
	if err != nil {
		return nil, err
	}
	links := make([]link, 0, len(entries))
	fresh := false
	err = s.Repo.InPacks(ctx, func() error {
		var before *link
		for _, e := range entries {
			l := link{ID: e.Checkpoint, entry: e}
			if sum := said[e.Checkpoint]; sum != nil {
				l.message = sum.Message
			}
			if before != nil {
				l.Before = before.Commit
			}
			if old, ok := known[e.Checkpoint]; ok && old.Before == l.Before {
				l.Commit, l.Head = old.Commit, old.Head
			} else if err := l.make(ctx, s, before); err != nil {
				return err
			} else {
				fresh = true
			}
			links = append(links, l)
			before = &links[len(links)-1]
		}
		return nil
	})
	if err != nil {
		return nil, checkpoint.Classify(err)
	}
	if fresh {
		if err := s.Remember(memoryOf(to.Session), links); err != nil {
			s.Warn(err.Error()) // it is made again the next time
		}
	}
	return links, nil
}

// lineTo lists the checkpoints that lead to one, the oldest first.
func lineTo(to *checkpoint.Found) []*journal.Entry {
	var line []*journal.Entry
	seen := map[name.ID]bool{} // a forged journal may go in a circle
	for e := to.Entry; e != nil && !seen[e.Checkpoint]; e = to.State.Entry(e.Event().Previous) {
		seen[e.Checkpoint] = true
		if !e.Dead && (!e.Safety || e == to.Entry) {
			line = append(line, e)
		}
	}
	slices.Reverse(line)
	return line
}

// make writes the commit: the tree of the checkpoint, its time and author. Its parents are
// the link before and, where HEAD moved, HEAD: a line that came with a commit of somebody
// else's stays theirs.
func (l *link) make(ctx context.Context, s *checkpoint.Service, before *link) error {
	c, err := s.Repo.ReadCommit(ctx, string(l.entry.Event().Commit))
	if err != nil {
		return checkpoint.DamagedError(l.entry, err)
	}
	if len(c.Parents) > 1 { // the last one is the record
		l.Head = c.Parents[0]
	}
	made := git.Commit{Tree: c.Tree, Author: c.Author, Committer: c.Committer, Message: subject(l) + "\n\nCheckpoint-Id: " + string(l.ID) + "\n"}
	if before != nil {
		made.Parents = append(made.Parents, before.Commit)
	}
	if l.Head != "" && (before == nil || before.Head != l.Head) {
		made.Parents = append(made.Parents, l.Head)
	}
	l.Commit, err = s.Repo.WriteCommit(ctx, made)
	return err
}

// subject is what git shows for a link.
func subject(l *link) string {
	first, _, _ := strings.Cut(l.message, "\n")
	if first == "" {
		return l.entry.Label
	}
	return l.entry.Label + ": " + first
}

func memoryOf(session name.Session) string { return "blame-" + string(session) + ".json" }

// remembered reads the links that were made before, less those that a gc took.
func remembered(ctx context.Context, s *checkpoint.Service, session name.Session) (map[name.ID]link, error) {
	var links []link
	if known, err := s.Recall(memoryOf(session), &links); err != nil || !known {
		return nil, err
	}
	oids := make([]name.OID, len(links))
	for i, l := range links {
		if _, err := name.ParseOID(string(l.Commit)); err != nil {
			return nil, nil //nolint:nilerr // somebody wrote into it
		}
		oids[i] = l.Commit
	}
	missing, err := s.Repo.Batch().Missing(ctx, oids)
	if err != nil {
		return nil, checkpoint.Classify(err)
	}
	known := map[name.ID]link{}
	for _, l := range links {
		if !missing[l.Commit] {
			known[l.ID] = l
		}
	}
	return known, nil
}
