package blame

import (
	"context"
	"maps"
	"slices"
	"strings"

	"git-checkpoint/internal/core/author"
	"git-checkpoint/internal/core/checkpoint"
	"git-checkpoint/internal/format/journal"
	"git-checkpoint/internal/format/name"
	"git-checkpoint/internal/format/record"
	"git-checkpoint/internal/verb/why"
)

// attribute sets who made each line. A line that a session took over from another one is attributed
// to the other session, and a line that a tool wrote during a turn has the words of the prompt.
// used has the links of the lines.
func attribute(ctx context.Context, s *checkpoint.Service, st *journal.State, lines []Line, used []*link) error {
	if err := readMessages(ctx, s, st.Session, used); err != nil {
		return err
	}
	type change struct {
		id   name.ID
		path string
	}
	origins := map[change]*told{}
	said := sayings{}
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
			origins[at] = &told{origin, author.Speaker(origin.State, origin.Entry)}
			said.add(origins[at])
		}
	}
	if err := said.read(ctx, s); err != nil {
		return err
	}
	for i := range lines {
		if l := &lines[i]; l.link != nil {
			l.tell(origins[change{l.link.ID, l.path}], said)
		}
	}
	return nil
}

// told is an origin, and the checkpoint whose message stands for it.
type told struct {
	*author.Origin
	speaker *journal.Entry
}

// sayings has the messages that stand for checkpoints. They are read together, session by session.
type sayings map[name.Session]map[*journal.Entry]string

func (said sayings) add(o *told) {
	if said[o.State.Session] == nil {
		said[o.State.Session] = map[*journal.Entry]string{}
	}
	said[o.State.Session][o.speaker] = ""
}

func (said sayings) of(o *told) string {
	first, _, _ := strings.Cut(said[o.State.Session][o.speaker], "\n")
	return first
}

func (said sayings) read(ctx context.Context, s *checkpoint.Service) error {
	for session, words := range said {
		entries := slices.SortedFunc(maps.Keys(words), func(a, b *journal.Entry) int { return a.Place - b.Place })
		ids := make([]name.ID, len(entries))
		for i, e := range entries {
			ids[i] = e.Checkpoint
		}
		listed, err := s.Store.Listed(ctx, session, ids)
		if err != nil {
			return err
		}
		for _, e := range entries {
			if sum := listed[e.Checkpoint]; sum != nil {
				words[e] = sum.Message
			}
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
func (l *Line) tell(o *told, said sayings) {
	e := o.Entry
	l.Session, l.By, l.Agent = o.State.Session, o.Who.By, o.Who.Agent
	if l.By != author.Agent && l.By != author.During {
		if o.Who.Session != "" {
			l.Session = o.Who.Session
		}
		l.Message, _, _ = strings.Cut(l.link.message, "\n")
		return
	}
	l.ID, l.Label, l.Step, l.Commit = e.Checkpoint, e.Label, e.Step, e.Event().Commit
	l.Time, l.Message = checkpoint.Time{Time: e.Event().Time}, said.of(o)
}

// beyond continues the search through the commits that lines came with, to steps of any session.
func beyond(ctx context.Context, s *checkpoint.Service, found *checkpoint.Found, req Request, lines []Line) error {
	path, err := s.Repo.Below(req.File)
	if err != nil {
		return err
	}
	c, err := s.Repo.Commits.Read(ctx, string(found.Entry.Event().Commit))
	if err != nil {
		return err
	}
	var places []why.Place
	var of []*Line
	for i := range lines {
		if l := &lines[i]; l.link == nil {
			of = append(of, l)
			places = append(places, why.Place{Commit: l.Commit, Path: l.path, From: l.from, Line: l.Line, Text: l.Content})
		}
	}
	claims, err := why.Beyond(ctx, s, c.Tree, path, places, slices.Contains(req.Options, "-w"), req.Progress)
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
