// Package blame finds out which step wrote each line of a file. It lets git's own blame and package why do that.
//
// Checkpoints are not parents of one another, so git cannot walk them. The package
// therefore writes a chain of commits, one for each checkpoint, with the files of the
// checkpoint and the previous link as parent. No ref points to them, and they are made again after a gc.
package blame

import (
	"context"
	"slices"
	"strings"

	"git-checkpoint/internal/core/checkpoint"
	"git-checkpoint/internal/core/workflow"
	"git-checkpoint/internal/format/journal"
	"git-checkpoint/internal/format/name"
	"git-checkpoint/internal/format/record"
	"git-checkpoint/internal/git"
	"git-checkpoint/internal/storage/store"
	"git-checkpoint/internal/verb/create"
)

// link is one commit of the chain.
type link struct {
	entry  *journal.Entry
	Commit name.OID
	made   git.Commit
	head   name.OID // the commit on which the checkpoint was made; empty: none
}

// chain returns the links of all checkpoints that lead to one, oldest first. What it makes of them follows from the
// checkpoints, so it is the same each time, and only what the repository lacks is written.
func chain(ctx context.Context, s *store.Store, to *checkpoint.Found) ([]link, error) {
	entries := lineTo(to)
	links, oids := make([]link, len(entries)), make([]name.OID, len(entries))
	seen := map[string]bool{}
	for i, e := range entries {
		l := &links[i]
		l.entry = e
		var before *link
		if startsAtHead := checkpoint.StartsAtHead(ctx, s, e, seen); !startsAtHead && i > 0 {
			before = &links[i-1]
		}
		if err := l.make(ctx, s.Repo, before, restoredFrom(ctx, s, to.State, e, links[:i])); err != nil {
			return nil, err
		}
		oids[i] = l.Commit
	}
	absent := s.Repo.Objects.Batch().Absent(oids)
	if len(absent) == 0 {
		return links, nil
	}
	// A long session makes many commits, so they go into a pack.
	return links, s.Repo.Objects.InPacks(ctx, func() error {
		for _, l := range links {
			if len(absent) == 0 || l.Commit != absent[0] {
				continue
			}
			if _, err := s.Repo.Commits.Write(ctx, l.made); err != nil {
				return err
			}
			absent = absent[1:]
		}
		return nil
	})
}

// lineTo returns the checkpoints that lead to one, oldest first, without dead and safety
// checkpoints.
func lineTo(to *checkpoint.Found) []*journal.Entry {
	var line []*journal.Entry
	for e := range to.State.LineTo(to.Entry) {
		if !e.Dead && (!e.Safety || e == to.Entry) {
			line = append(line, e)
		}
	}
	slices.Reverse(line)
	return line
}

// make makes the commit of a link, with the tree, time and author of the checkpoint. Its
// parents are the link before and, if HEAD has moved, HEAD. Lines that came with somebody's
// commit are then blamed on that commit and not on the step after it. restored are further parents.
func (l *link) make(ctx context.Context, repo *git.Repo, before *link, restored []name.OID) error {
	c, err := repo.Commits.Read(ctx, string(l.entry.Event().Commit))
	if err != nil {
		return checkpoint.DamagedError(l.entry, err)
	}
	said, _ := record.ParseMessage(c.Message) //nolint:errcheck // the label is enough
	subject, _, _ := strings.Cut(said.Message, "\n")
	if subject = l.entry.Label + ": " + subject; said.Message == "" {
		subject = l.entry.Label
	}
	l.head = c.MadeOn()
	l.made = git.Commit{Tree: c.Tree, Author: c.Author, Committer: c.Committer, Message: subject + "\n\nCheckpoint-Id: " + string(l.entry.Checkpoint) + "\n"}
	if before != nil {
		l.made.Parents = append(l.made.Parents, before.Commit)
	}
	if l.head != "" && (before == nil || before.head != l.head) {
		l.made.Parents = append(l.made.Parents, l.head)
	}
	l.made.Parents = append(l.made.Parents, restored...)
	l.Commit = git.HashObject(repo.Format, "commit", l.made.Encode())
	return nil
}

// restoredFrom returns the links of the checkpoints from which a revert restored lines: those before the
// steps that it took back. As its parents they keep these lines from being blamed on the revert.
func restoredFrom(ctx context.Context, s *store.Store, st *journal.State, e *journal.Entry, links []link) (from []name.OID) {
	if e.Event().Trigger != workflow.TriggerRevert {
		return nil
	}
	rec, err := checkpoint.ReadRecord(ctx, s, e)
	if err != nil {
		return nil
	}
	steps, _ := create.MemberReverts.Of(rec.Extra)
	for _, step := range steps {
		taken := st.Entry(step.ID)
		if step.Session != st.Session || taken == nil {
			continue
		}
		for before := range st.LineTo(taken) {
			at := slices.IndexFunc(links, func(l link) bool { return before != taken && l.entry.Checkpoint == before.Checkpoint })
			if at >= 0 {
				if at < len(links)-1 && !slices.Contains(from, links[at].Commit) { // the last one is a parent already
					from = append(from, links[at].Commit)
				}
				break
			}
		}
	}
	return from
}
