// Package blame finds out which step wrote each line of a file (Blame), and which steps
// changed a path (Log). It lets git's own blame and log do that.
//
// Checkpoints are not parents of one another, so git cannot walk them. The package
// therefore writes a chain of commits, one for each checkpoint, with the files of the
// checkpoint and the previous link as parent. No ref points to them. They are remembered in
// a file, and made again after a gc.
package blame

import (
	"context"
	"slices"
	"strings"

	"git-checkpoint/internal/core/checkpoint"
	"git-checkpoint/internal/core/workflow"
	"git-checkpoint/internal/format/journal"
	"git-checkpoint/internal/format/name"
	"git-checkpoint/internal/git"
	"git-checkpoint/internal/verb/create"
)

// link is one commit of the chain.
type link struct {
	ID     name.ID  `json:"id"`
	Commit name.OID `json:"commit"`
	// The previous link; empty for the first.
	Before name.OID `json:"before"`
	// The commit on which the checkpoint was made; empty: none.
	Head name.OID `json:"head"`

	entry *journal.Entry
	// message is the user's message of the checkpoint.
	message string
}

// chain returns the links of all checkpoints that lead to one, oldest first. A remembered
// link is used again if its object exists and it has the same predecessor.
func chain(ctx context.Context, s *checkpoint.Service, to *checkpoint.Found) ([]link, error) {
	entries := lineTo(to)
	known, err := remembered(ctx, s, to.Session)
	if err != nil {
		return nil, err
	}
	links := make([]link, len(entries))
	old := 0 // how many are remembered
	for i, e := range entries {
		links[i] = link{ID: e.Checkpoint, entry: e}
		if l, is := known[e.Checkpoint]; is && old == i && (i == 0 && l.Before == "" || i > 0 && l.Before == links[i-1].Commit) {
			links[i].Commit, links[i].Before, links[i].Head = l.Commit, l.Before, l.Head
			old++
		}
	}
	// Git follows the chain from the newest link, so that one has to be verified.
	if old > 0 && !links[old-1].sound(ctx, s) {
		old = 0
	}
	if old == len(links) {
		return links, nil
	}
	if err := grow(ctx, s, to, links, old); err != nil {
		return nil, err
	}
	if err := s.Remember(memoryOf(to.Session), links); err != nil {
		s.Warn(err.Error()) // they are made again next time
	}
	return links, nil
}

// grow makes the links from index old on.
func grow(ctx context.Context, s *checkpoint.Service, to *checkpoint.Found, links []link, old int) error {
	fresh := make([]*link, 0, len(links)-old)
	for i := old; i < len(links); i++ {
		fresh = append(fresh, &links[i])
	}
	if err := readMessages(ctx, s, to.Session, fresh); err != nil {
		return err
	}
	seen := map[string]bool{}
	// A long session makes many commits, so they go into a pack.
	return s.Repo.Objects.InPacks(ctx, func() error {
		for i := range links {
			startsAtHead := s.StartsAtHead(ctx, links[i].entry, seen)
			if i < old {
				continue
			}
			var before *link
			if !startsAtHead && i > 0 {
				before = &links[i-1]
			}
			if err := links[i].make(ctx, s, before, restoredFrom(ctx, s, to.State, links[i].entry, links[:i])); err != nil {
				return err
			}
		}
		return nil
	})
}

// readMessages fills in the users' messages. The links are in the order of the journal.
func readMessages(ctx context.Context, s *checkpoint.Service, session name.Session, links []*link) error {
	ids := make([]name.ID, len(links))
	for i, l := range links {
		ids[i] = l.ID
	}
	said, err := s.Store.Listed(ctx, session, ids)
	for _, l := range links {
		if sum := said[l.ID]; sum != nil {
			l.message = sum.Message
		}
	}
	return err
}

// sound reports whether the commit of a link is the one that make writes for it: the file that
// remembers it may have been changed.
func (l *link) sound(ctx context.Context, s *checkpoint.Service) bool {
	made, err := s.Repo.Commits.Read(ctx, string(l.Commit))
	if err != nil {
		return false
	}
	of, err := s.Repo.Commits.Read(ctx, string(l.entry.Event().Commit))
	return err == nil && made.Tree == of.Tree && l.Head == headOf(of) && strings.HasSuffix(made.Message, trailer(l.ID)) &&
		(l.Before == "" || len(made.Parents) > 0 && made.Parents[0] == l.Before)
}

// headOf returns the commit on which a checkpoint was made. The last parent is the record commit.
func headOf(c git.Commit) name.OID {
	if len(c.Parents) > 1 {
		return c.Parents[0]
	}
	return ""
}

// trailer is the end of a link's message.
func trailer(id name.ID) string { return "\n\nCheckpoint-Id: " + string(id) + "\n" }

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

// make writes the commit of a link, with the tree, time and author of the checkpoint. Its
// parents are the link before and, if HEAD has moved, HEAD. Lines that came with somebody's
// commit are then blamed on that commit and not on the step after it. restored are further parents.
func (l *link) make(ctx context.Context, s *checkpoint.Service, before *link, restored []name.OID) error {
	c, err := s.Repo.Commits.Read(ctx, string(l.entry.Event().Commit))
	if err != nil {
		return checkpoint.DamagedError(l.entry, err)
	}
	l.Head = headOf(c)
	made := git.Commit{Tree: c.Tree, Author: c.Author, Committer: c.Committer, Message: subject(l) + trailer(l.ID)}
	if l.Before = ""; before != nil {
		l.Before = before.Commit
		made.Parents = append(made.Parents, before.Commit)
	}
	if l.Head != "" && (before == nil || before.Head != l.Head) {
		made.Parents = append(made.Parents, l.Head)
	}
	made.Parents = append(made.Parents, restored...)
	l.Commit, err = s.Repo.Commits.Write(ctx, made)
	return err
}

// restoredFrom returns the links of the checkpoints from which a revert restored lines: those before the
// steps that it took back. As its parents they keep these lines from being blamed on the revert.
func restoredFrom(ctx context.Context, s *checkpoint.Service, st *journal.State, e *journal.Entry, links []link) (from []name.OID) {
	if e.Event().Trigger != workflow.TriggerRevert {
		return nil
	}
	rec, err := s.ReadRecord(ctx, e)
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
			at := slices.IndexFunc(links, func(l link) bool { return before != taken && l.ID == before.Checkpoint })
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

// subject returns the subject that git shows for a link.
func subject(l *link) string {
	first, _, _ := strings.Cut(l.message, "\n")
	if first == "" {
		return l.entry.Label
	}
	return l.entry.Label + ": " + first
}

func memoryOf(session name.Session) string { return "blame-" + string(session) + ".json" }

// remembered returns the remembered links whose objects still exist.
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
	missing, err := s.Repo.Objects.Batch().Missing(ctx, oids)
	if err != nil {
		return nil, err
	}
	known := map[name.ID]link{}
	for _, l := range links {
		if !missing[l.Commit] {
			known[l.ID] = l
		}
	}
	return known, nil
}
