// Package why says which step is behind a line of a file, or behind a commit: the prompt that asked for
// it, what else the step did, and in which commit it came to the branch.
//
// git blame says which commit brought a line. Lines are then found again by their content in the
// checkpoints that the commit can descend from, so that an amend, a rebase, a squash or a cherry-pick
// loses nothing. No answer is better than a wrong one.
//
// Each part knows only those above it, and has a file of its name:
//
//   - index: the lines that each checkpoint added. It is kept on disk, makes all of this fast, and is only
//     a hint: every hit is verified against the files. build makes it.
//   - files: the files of trees and of the worktree, read once, and compared as diff.go does it.
//   - additions: where a line like this one was added.
//   - commits: git's history; arrivals: what came with a commit, and from where it moved a line (moved.go).
//   - journals: what was current in each session when.
//   - chains: which checkpoint was made on top of which. A walk follows a line back along one.
//   - descent: the checkpoints that a commit can descend from.
//   - authors: who made the difference of a checkpoint, as package author says.
//   - judge: who may have made a line, also one that the file has several times (repeated.go), and who is
//     behind a commit (commit.go). Of several claims, claim.go says which are weaker.
//   - asker: the answer to a question.
package why

import (
	"context"
	"strings"

	"git-checkpoint/internal/core/author"
	"git-checkpoint/internal/core/checkpoint"
	"git-checkpoint/internal/format/name"
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
	a, err := newAsker(ctx, s, req)
	if err != nil {
		return nil, err
	}
	now := a.own.files.here(path, whole)
	if head := a.own.commits.read(ctx, s.Repo.Head.OID); head != nil {
		if e := a.own.files.at(ctx, head.Tree, path); a.own.files.equal(ctx, e, now) {
			now = e
		}
	}
	var lines []Line
	for _, b := range said {
		l := Line{Path: path, Line: b.line, Text: b.text, Commit: b.commit}
		var c *arrival
		if l.Claims, c = a.answer(ctx, ask(b, now, path)); c != nil && !c.here() {
			l.Commit = c.OID
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
	a, err := newAsker(ctx, s, Request{Loose: loose, Progress: progress})
	if err != nil {
		return nil, err
	}
	now := a.own.files.at(ctx, tree, path)
	for i, at := range places {
		if at.Commit == "" {
			continue
		}
		b := blamedLine{commit: at.Commit, path: at.Path, from: at.From, line: at.Line, text: at.Text}
		claims, _ := a.answer(ctx, ask(b, now, path))
		if len(claims) == 1 {
			out[i] = &claims[0]
		}
	}
	return out, ctx.Err()
}
