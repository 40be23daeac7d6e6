package witness

import (
	"cmp"
	"context"
	"slices"

	"git-checkpoint/internal/core/checkpoint"
	"git-checkpoint/internal/format/name"
	"git-checkpoint/internal/format/provenance"
	"git-checkpoint/internal/verb/why"
)

// Compared compares notes that somebody else wrote with what is known here.
type Compared struct {
	Format  string `json:"format"`
	Ref     string `json:"ref"`
	Range   string `json:"range"`
	Commits int    `json:"commits"` // with such a note
	// Lines that both name: the same, or another; lines that one of both names.
	Same   int          `json:"same"`
	Here   int          `json:"only_here"`
	There  int          `json:"only_there"`
	Differ []Difference `json:"differ"`     // the lines with another name
	Unread []name.OID   `json:"unreadable"` // the commits with a note that cannot be read
}

// Difference is a line with two names.
type Difference struct {
	Path   checkpoint.Path `json:"path"`
	Line   int             `json:"line"`
	Commit name.OID        `json:"commit"`
	Here   string          `json:"here"`
	There  string          `json:"there"`
}

// Verify compares the notes that others wrote for the commits of a range.
func Verify(ctx context.Context, s *checkpoint.Service, req Request) (*Compared, error) {
	w, commits, err := begin(ctx, s, req)
	if err != nil {
		return nil, err
	}
	out := &Compared{Format: w.format.Name, Ref: w.format.Ref, Range: w.answer.Range, Differ: []Difference{}, Unread: []name.OID{}}
	read := Open(s.Repo)
	said := map[name.OID][]testimony{}
	commits = slices.DeleteFunc(commits, func(c name.OID) bool {
		for _, t := range read.testimonies(ctx, c) {
			switch {
			case t.ref != out.Ref || t.Ours:
			case t.problem != "":
				out.Unread = append(out.Unread, c)
			default:
				said[c] = append(said[c], t)
			}
		}
		return said[c] == nil
	})
	out.Commits = len(commits)
	known, err := why.Commits(ctx, s.Rules, commits, req.Progress)
	for _, c := range known {
		for _, l := range c.Lines {
			out.compare(l, said[c.Commit])
		}
	}
	return out, err
}

// compare compares the names of a line.
func (c *Compared) compare(l why.Line, said []testimony) {
	there := provenance.Maker{Type: provenance.Unknown}
	for _, t := range said {
		for _, f := range t.Files {
			if m, is := f.At(l.Line); is && f.Path == l.Path {
				there = m
			}
		}
	}
	here, _ := makerOf(l)
	switch ours, theirs := here.Type != provenance.Unknown, there.Type != provenance.Unknown; {
	case ours && theirs && here.Type == there.Type && (there.Agent == "" || here.Key() == there.Key()):
		c.Same++
	case ours && theirs:
		c.Differ = append(c.Differ, Difference{checkpoint.Path(l.Path), l.Line, l.Commit, saying(here).Words(), saying(there).Words()})
	case ours:
		c.Here++
	case theirs:
		c.There++
	}
}

// saying is what names a maker.
func saying(m provenance.Maker) provenance.Saying {
	return provenance.Saying{By: m.Type, Agent: m.Agent, Conversation: cmp.Or(m.Session, m.Conversation)}
}
