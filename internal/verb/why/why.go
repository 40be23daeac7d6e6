// Package why says which step is behind a line of a file, or behind a commit: the prompt that asked for
// it, what else the step did, and in which commit it came to the branch.
//
// git blame says which commit brought a line. Lines are then found again by their content in the
// checkpoints that the commit can descend from, so that an amend, a rebase, a squash or a cherry-pick
// loses nothing. No answer is better than a wrong one.
//
// Each part has a file of its name, or files that its comment names:
//
//   - index: the lines that each checkpoint added. It is kept on disk, makes all of this fast, and is only
//     a hint: every hit is verified against the files. build makes it.
//   - files: the files of trees and of the worktree, read once, and compared as diff.go does it; and where a line like
//     one of theirs was added (additions.go).
//   - commits: git's history; what came with a commit (arrivals.go), and from where it moved a line (moved.go).
//   - journals: what was current in each session when, and who made the difference of a checkpoint (authors.go), as package
//     author says; which checkpoint was made on top of which in a worktree (chains.go), along which a walk follows a line back.
//   - judge: who may have made a line that came with a commit, from the checkpoints that the commit can descend from
//     (descent.go), also one that the file has several times (repeated.go), and who is behind a commit (commit.go). Of several
//     claims, claim.go says which are weaker. A checkpoint, or the worktree, is like a commit that is only being made.
//   - asker: the answer to a question.
package why

import (
	"context"
	"fmt"
	"path/filepath"
	"slices"
	"strings"

	"git-checkpoint/internal/core/author"
	"git-checkpoint/internal/core/checkpoint"
	"git-checkpoint/internal/format/name"
	"git-checkpoint/internal/format/provenance"
	"git-checkpoint/internal/git"
)

// Request asks about lines of a file.
type Request struct {
	File     string    // as typed, relative to the current directory
	Lines    []string  // ranges as for git blame -L; none: the whole file
	Options  []string  // further options for git blame
	Loose    bool      // white space does not count: Options has -w
	Git      bool      // what git blame says counts: Options has -M or -C, or it ignores a commit
	Progress func(int) // called with a number of checkpoints that were read for the index; it may be nil
}

// Line is a line and what is behind it.
type Line struct {
	Path    string
	Line    int
	Text    string
	Commit  name.OID // empty: it is not committed
	Claims  []Claim  // empty where nothing is known. Several cannot be told apart
	Because string   // says why, where there is no claim
	// Subject and Time are those of the commit.
	Subject string
	Time    checkpoint.Time
	// Blamed is the line in the commit that git blame names. Says has what others say of it, which is no claim.
	Blamed Place
	Says   []provenance.Saying
}

// Claim returns the only claim, or one that says unknown.
func (l Line) Claim() Claim {
	if len(l.Claims) == 1 {
		return l.Claims[0]
	}
	return Claim{By: author.Unknown, Since: l.Time, Because: l.why()}
}

// why returns why it is not known who made the line.
func (l Line) why() string {
	if len(l.Claims) > 1 {
		return Several
	}
	return l.Because
}

// Reasons why nothing is known of a line.
const (
	NoCheckpoint = "no checkpoint added it"
	NoText       = "its file is no text, or too large to follow lines in it"
	EqualLine    = "a checkpoint has an equal line, and nothing shows that it is this one"
	Several      = "steps of several sessions have it"
)

// Path returns the path below the top of the worktree of a file as typed, without the links on the way to it.
func Path(repo *git.Repo, file string) (string, error) {
	path, err := repo.RelativePath(file)
	if err != nil {
		return "", checkpoint.Usage("", "%v", err)
	}
	if dir, err := filepath.EvalSymlinks(filepath.Join(repo.WorkTree, filepath.Dir(path))); err == nil {
		if below, err := repo.RelativePath(filepath.Join(dir, filepath.Base(path))); err == nil {
			path = below
		}
	}
	return path, nil
}

// Lines says what is behind lines of a file of the worktree.
func Lines(ctx context.Context, s *checkpoint.Rules, req Request) ([]Line, error) {
	path, err := Path(s.Repo, req.File)
	if err != nil {
		return nil, err
	}
	said, whole, err := blamed(ctx, s.Store, req, path)
	if err != nil {
		return nil, err
	}
	j, err := newJudge(ctx, s, req)
	if err != nil {
		return nil, err
	}
	now := j.files.worktreeEntry(ctx, path, whole)
	if head := j.commits.read(ctx, s.Repo.Head.OID); head != nil {
		if e := j.files.entryAt(ctx, head.Tree, path); j.files.equal(ctx, e, now) {
			now = e
		}
	}
	tip := j.current(ctx, now, path)
	if tip != nowhere {
		j.commits.came.get("", func() *arrival { return arrivalAt(&j.x.Checkpoints[tip.point]) })
	}
	var lines []Line
	for _, b := range said {
		l := Line{Path: path, Line: b.Line, Text: b.Text, Commit: b.Commit, Blamed: b}
		var c *arrival
		if l.Claims, c = j.line(ctx, b, now, path, req.Git); len(l.Claims) == 0 {
			l.Because = j.because(ctx, now, l.Text)
		}
		if c != nil && !c.isWorktree() {
			l.Commit = c.OID
			l.Subject, _, _ = strings.Cut(c.Message, "\n")
			l.Time = checkpoint.Time{Time: c.Author.When.UTC()}
		}
		lines = append(lines, l)
	}
	if slices.ContainsFunc(lines, func(l Line) bool { return l.Because == NoCheckpoint }) {
		if err := j.readable(ctx, tip); err != nil {
			return nil, err
		}
	}
	return lines, ctx.Err()
}

// Place is a line of a checkpoint's file, and what git blame says of it over the checkpoints of the session: it came with a
// commit, or it is in none.
type Place struct {
	Commit     name.OID // empty: it came with a checkpoint
	Checkpoint name.ID  // that
	Path       string   // in that commit or checkpoint
	From, Line int      // its number there, and in the file that was asked about, from 1
	Text       string

	// Author, Subject and Time are those of the commit.
	Author, Subject string
	Time            checkpoint.Time
}

// ExplainLines says what is behind lines of a file of a checkpoint. Of the request it takes what is not about one file. The claim to
// a line of which nothing is known has no checkpoint.
func ExplainLines(ctx context.Context, s *checkpoint.Rules, of *checkpoint.Found, tree name.OID, path string, places []Place, req Request) ([]Claim, error) {
	j, err := newJudge(ctx, s, req)
	if err != nil {
		return nil, err
	}
	if tip := j.x.numbered(of.Session, of.Entry.Checkpoint); tip >= 0 {
		j.worktree = j.x.Checkpoints[tip].Worktree
		j.commits.came.get("", func() *arrival { return arrivalAt(&j.x.Checkpoints[tip]) })
	}
	now := j.files.entryAt(ctx, tree, path)
	out := make([]Claim, len(places))
	for i, at := range places {
		l := Line{}
		if at.Commit != "" || !req.Git {
			l.Claims, _ = j.line(ctx, at, now, path, req.Git)
		}
		if len(l.Claims) == 0 && at.Commit == "" && (req.Git || !j.files.read(ctx, now).known || j.files.hasOnce(ctx, now, at.Line-1)) {
			l.Claims = j.said(ctx, saved{point: j.x.numbered(of.Session, at.Checkpoint), path: at.Path}, at.From-1)
		}
		if len(l.Claims) == 0 {
			l.Because = j.because(ctx, now, at.Text)
		}
		out[i] = l.Claim()
	}
	return out, ctx.Err()
}

// line returns the claims to a line of a file, and the commit that it came with: from what git blame says of it, and, unless
// only that counts, from the checkpoint that has the file as it is.
func (j judge) line(ctx context.Context, b Place, now git.Entry, path string, gits bool) (claims []Claim, by *arrival) {
	here := Place{Path: path, From: b.Line, Line: b.Line, Text: b.Text}
	if b.Commit == "" {
		return j.answer(ctx, here, now, path)
	}
	claims, by = j.answer(ctx, b, now, path)
	if !gits && j.commits.arrivalOf(ctx, "").at != nil {
		more, _ := j.answer(ctx, here, now, path)
		claims = dropWeaker(append(claims, more...))
	}
	return claims, by
}

// current returns the file in the newest checkpoint of this worktree that has it as it is now, if HEAD is still where it was.
func (j judge) current(ctx context.Context, now git.Entry, path string) saved {
	tip, here := j.journals.turns(ctx).latest[j.worktree]
	if !here || tip < 0 || j.x.Checkpoints[tip].Head != j.commits.s.Repo.Head.OID {
		return nowhere
	}
	return j.journals.holding(ctx, tip, lineAt{now, []string{path}, 0})
}

// readable returns an error if a version of a file of a checkpoint is damaged: then what its step added is not known.
func (j judge) readable(ctx context.Context, of saved) error {
	if of.point < 0 {
		return nil
	}
	w := j.journals.walk(ctx, of)
	for n := range w.compared() {
		v := w.version(ctx, n)
		if !isFile(v.now) || j.files.read(ctx, v.now).known || j.x.lacks[v.now.OID] {
			continue
		}
		if _, err := j.commits.s.Repo.Objects.Batch().Typed(ctx, string(v.now.OID), "blob"); err != nil {
			return fmt.Errorf("checkpoint %s: object %q: %w", j.x.Checkpoints[v.point].ID, v.now.OID, git.ErrUnreadable)
		}
	}
	return nil
}

// said returns the claim to a line of a file of a checkpoint that git blame names: its answer is certain, or the index lacks
// the line.
func (j judge) said(ctx context.Context, at saved, i int) []Claim {
	if at.point < 0 {
		return nil
	}
	if made := j.journals.walk(ctx, at).origin(ctx, i); made != nowhere {
		at = made
	}
	return []Claim{j.journals.author(ctx, at)}
}
