// Package why says which step is behind a line of a file, or behind a commit: the prompt that asked for
// it, what else the step did, and in which commit it came to the branch.
//
// git blame says which commit brought a line. Lines are then found again by their content in the
// checkpoints that the commit can descend from (claim.go, descent.go), so that an amend, a rebase, a
// squash or a cherry-pick loses nothing. An index of the lines that each checkpoint added (index.go,
// build.go) makes that fast; it is derived, and every hit is verified against the files. Who made a
// checkpoint's difference is what package author says. No answer is better than a wrong one.
package why

import (
	"context"
	"slices"
	"strings"

	"git-checkpoint/internal/core/author"
	"git-checkpoint/internal/core/checkpoint"
	"git-checkpoint/internal/format/name"
	"git-checkpoint/internal/git"
)

// Request asks about lines of a file.
type Request struct {
	File    string   // as typed, relative to the current directory
	Lines   []string // ranges as for git blame -L; none: the whole file
	Options []string // further options for git blame
	Loose   bool     // white space does not count: Options has -w
	// Progress is called with a number of checkpoints that were read for the index; it may be nil.
	Progress func(int)
}

// Line is a line and what is behind it.
type Line struct {
	Path   string
	Line   int
	Text   string
	Commit name.OID // empty: it is not committed
	// Claims is empty where nothing is known. Several cannot be told apart.
	Claims []Claim
	// Subject and Time are those of the commit.
	Subject string
	Time    checkpoint.Time
}

// Claim returns the only claim, or one that says unknown.
func (l Line) Claim() Claim {
	if len(l.Claims) == 1 {
		return l.Claims[0]
	}
	return Claim{By: author.Unknown, Since: l.Time}
}

// Lines says what is behind lines of a file of the worktree.
func Lines(ctx context.Context, s *checkpoint.Service, req Request) ([]Line, error) {
	path, err := s.Repo.Below(req.File)
	if err != nil {
		return nil, checkpoint.Usage("", "%v", err)
	}
	said, whole, err := blamed(ctx, s, req, path)
	if err != nil {
		return nil, err
	}
	a, err := newAsker(ctx, s, req.Progress)
	if err != nil {
		return nil, err
	}
	a.loose = req.Loose
	if whole != nil {
		a.setHere(path, whole)
	}
	now := a.hereAt(path)
	if c := a.commit(ctx, s.Repo.Head.OID); c != nil {
		if e := a.file(ctx, c.Tree, path); isFile(e) && slices.Equal(a.read(ctx, e).numbers, a.read(ctx, now).numbers) {
			now = e
		}
	}
	var lines []Line
	for _, b := range said {
		l := Line{Path: path, Line: b.line, Text: b.text, Commit: b.commit}
		var c *aim
		if l.Claims, c = a.answer(ctx, asked{b, now, []string{path, b.path}}); c != nil && !c.here {
			l.Commit = c.oid
			l.Subject, _, _ = strings.Cut(c.Message, "\n")
			l.Time = checkpoint.Time{Time: c.Author.When.UTC()}
		}
		lines = append(lines, l)
	}
	return lines, ctx.Err()
}

// Place is a line of a commit, as git blame names it, and where it is in the file that was asked about. Both
// numbers are from 1.
type Place struct {
	Commit     name.OID
	Path       string
	From, Line int
	Text       string // of the line
}

// Beyond says what is behind lines that came with commits to the file at a path of a tree; loose: white
// space does not count. For a line it has the only claim, or nil. progress is that of a Request.
func Beyond(ctx context.Context, s *checkpoint.Service, tree name.OID, path string, places []Place, loose bool, progress func(int)) ([]*Claim, error) {
	out := make([]*Claim, len(places))
	if len(places) == 0 {
		return out, nil
	}
	a, err := newAsker(ctx, s, progress)
	if err != nil {
		return nil, err
	}
	a.loose = loose
	for i, at := range places {
		if at.Commit == "" {
			continue
		}
		q := asked{blamedLine{commit: at.Commit, path: at.Path, from: at.From, line: at.Line, text: at.Text}, a.file(ctx, tree, path), []string{path, at.Path}}
		claims, _ := a.answer(ctx, q)
		if len(claims) == 1 {
			out[i] = &claims[0]
		}
	}
	return out, ctx.Err()
}

// aimAt returns the commit of a line and the file there. It is nil if that cannot be read.
func (a *asker) aimAt(ctx context.Context, b blamedLine, path string) (*aim, git.Entry) {
	c := a.aims[b.commit]
	if c == nil {
		if c = a.newAim(ctx, b.commit); c == nil {
			return nil, git.Entry{}
		}
		a.aims[b.commit] = c
	}
	if !c.here {
		return c, a.file(ctx, c.Tree, b.path)
	}
	return c, a.hereAt(path)
}

// newAim reads a commit; "" is the worktree. It returns nil if the commit cannot be read.
func (a *asker) newAim(ctx context.Context, oid name.OID) *aim {
	if oid == "" {
		c := &aim{here: true, from: map[name.Session][]standing{}, parted: map[name.OID]parting{}}
		if head := a.s.Repo.Head.OID; head != "" {
			c.Parents = []name.OID{head}
		}
		return c
	}
	got := a.commit(ctx, oid)
	if got == nil {
		return nil
	}
	return &aim{
		Commit: *got, oid: oid, people: peopleOf(*got), named: trailersOf(got.Message),
		from: map[name.Session][]standing{}, parted: map[name.OID]parting{},
	}
}
