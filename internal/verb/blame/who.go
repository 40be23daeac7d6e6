package blame

import (
	"context"
	"slices"
	"strings"

	"git-checkpoint/internal/core/author"
	"git-checkpoint/internal/core/checkpoint"
	"git-checkpoint/internal/format/journal"
	"git-checkpoint/internal/format/name"
	"git-checkpoint/internal/format/record"
	"git-checkpoint/internal/verb/why"
)

// attribute says of each line who made it. What a session took over from another one is that one's, and
// what a tool made in a turn has the words of the prompt.
func attribute(ctx context.Context, s *checkpoint.Service, st *journal.State, lines []Line) error {
	type change struct {
		id   name.ID
		path string
	}
	origins := map[change]*author.Origin{}
	for i := range lines {
		l := &lines[i]
		if l.link == nil {
			continue
		}
		at := change{l.link.ID, l.path}
		if origins[at] == nil {
			origin, err := originOf(ctx, s, st, l)
			if err != nil {
				return err
			}
			origins[at] = origin
		}
		if err := l.tell(ctx, s, origins[at]); err != nil {
			return err
		}
	}
	return nil
}

// originOf returns the checkpoint that made a line, and who it was.
func originOf(ctx context.Context, s *checkpoint.Service, st *journal.State, l *Line) (*author.Origin, error) {
	origin := &author.Origin{State: st, Entry: l.link.entry, Who: author.Who{By: author.Unknown}}
	step, err := author.Of(ctx, s, st, l.link.entry)
	// The chain has no safety checkpoints, so its difference may be another one.
	if err != nil || step.Base != nil && step.Base.Safety {
		return origin, ctx.Err() // what cannot be read says nothing
	}
	origin.Who = step.Who(record.Path(l.path))
	if origin.Who.By == author.Unknown && origin.Who.Session != "" {
		other, err := origin.Who.Find(ctx, s, l.link.entry, record.Path(l.path))
		if err != nil || other != nil {
			return other, err
		}
	}
	return origin, nil
}

// tell writes into the line what is known of its origin.
func (l *Line) tell(ctx context.Context, s *checkpoint.Service, o *author.Origin) error {
	e := o.Entry
	l.Session, l.By, l.Agent = o.State.Session, o.Who.By, o.Who.Agent
	if l.By != author.Agent && l.By != author.During {
		if o.Who.Session != "" {
			l.Session = o.Who.Session
		}
		return nil
	}
	l.ID, l.Label, l.Step, l.Commit = e.Checkpoint, e.Label, e.Step, e.Event().Commit
	l.Time = checkpoint.Time{Time: e.Event().Time}
	var err error
	words := author.Words(o.State, e, func(id name.ID) string {
		said, wrong := s.Store.Listed(ctx, o.State.Session, []name.ID{id})
		if err = wrong; said[id] == nil {
			return ""
		}
		return said[id].Message
	})
	l.Message, _, _ = strings.Cut(words, "\n")
	return err
}

// beyond goes on through the commits that lines came with, to steps of any session.
func beyond(ctx context.Context, s *checkpoint.Service, found *checkpoint.Found, req Request, lines []Line) error {
	path, err := s.Repo.Below(req.File)
	if err != nil {
		return err
	}
	c, err := s.Repo.ReadCommit(ctx, string(found.Entry.Event().Commit))
	if err != nil {
		return err
	}
	var places []why.Place
	var of []*Line
	for i := range lines {
		if l := &lines[i]; l.link == nil {
			of = append(of, l)
			places = append(places, why.Place{Commit: l.Commit, Path: l.path, From: l.from, Line: l.Line})
		}
	}
	claims, err := why.Beyond(ctx, s, c.Tree, path, places, slices.Contains(req.Options, "-w"))
	if err != nil {
		return err
	}
	for i, claim := range claims {
		if claim == nil {
			continue
		}
		l := of[i]
		l.ID, l.Label, l.Step, l.Ref = claim.Checkpoint, claim.Label, claim.Step, claim.Ref
		l.Session, l.By, l.Agent, l.Time = claim.Session, claim.By, claim.Agent, claim.Since
		l.Message, _, _ = strings.Cut(claim.Message, "\n")
	}
	return nil
}
