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
//   - chains: which checkpoint was made on top of which in a worktree. A walk follows a line back along one.
//   - descent: the checkpoints that a commit can descend from.
//   - authors: who made the difference of a checkpoint, as package author says.
//   - judge: who may have made a line, also one that the file has several times (repeated.go), and who is
//     behind a commit (commit.go). Of several claims, claim.go says which are weaker.
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
	File    string   // as typed, relative to the current directory
	Lines   []string // ranges as for git blame -L; none: the whole file
	Options []string // further options for git blame
	Loose   bool     // white space does not count: Options has -w
	Git     bool     // what git blame says counts: Options has -M or -C, or it ignores a commit
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
	// Because says why, where there is no claim.
	Because string
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
func Path(s *checkpoint.Service, file string) (string, error) {
	path, err := s.Repo.Below(file)
	if err != nil {
		return "", checkpoint.Usage("", "%v", err)
	}
	if dir, err := filepath.EvalSymlinks(filepath.Join(s.Repo.WorkTree, filepath.Dir(path))); err == nil {
		if below, err := s.Repo.Below(filepath.Join(dir, filepath.Base(path))); err == nil {
			path = below
		}
	}
	return path, nil
}

// Lines says what is behind lines of a file of the worktree.
func Lines(ctx context.Context, s *checkpoint.Service, req Request) ([]Line, error) {
	path, err := Path(s, req.File)
	if err != nil {
		return nil, err
	}
	said, whole, err := blamed(ctx, s, req, path)
	if err != nil {
		return nil, err
	}
	j, err := newJudge(ctx, s, req)
	if err != nil {
		return nil, err
	}
	now := j.files.here(ctx, path, whole)
	if head := j.commits.read(ctx, s.Repo.Head.OID); head != nil {
		if e := j.files.at(ctx, head.Tree, path); j.files.equal(ctx, e, now) {
			now = e
		}
	}
	tip := j.current(ctx, now, path)
	var lines []Line
	for _, b := range said {
		l := Line{Path: path, Line: b.Line, Text: b.Text, Commit: b.Commit, Blamed: b}
		var c *arrival
		l.Claims, c = j.answer(ctx, ask(b, now, path))
		l.Claims = dropWeaker(append(l.Claims, j.inside(ctx, tip, now, b, req.Git)...))
		if len(l.Claims) == 0 {
			l.Because = j.because(ctx, now, l.Text)
		}
		if c != nil && !c.here() {
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

// In says what is behind lines of a file of a checkpoint. Of the request it takes what is not about one file. The claim to
// a line of which nothing is known has no checkpoint.
func In(ctx context.Context, s *checkpoint.Service, of *checkpoint.Found, tree name.OID, path string, places []Place, req Request) ([]Claim, error) {
	j, err := newJudge(ctx, s, req)
	if err != nil {
		return nil, err
	}
	tip := saved{j.x.numbered(of.Session, of.Entry.Checkpoint), path}
	now := j.files.at(ctx, tree, path)
	out := make([]Claim, len(places))
	for i, at := range places {
		l := Line{Claims: j.inside(ctx, tip, now, at, req.Git)}
		if at.Commit != "" && l.Answer() != "named" {
			more, _ := j.answer(ctx, ask(at, now, path))
			l.Claims = dropWeaker(append(l.Claims, more...))
		}
		if len(l.Claims) == 0 {
			l.Because = j.because(ctx, now, at.Text)
		}
		out[i] = l.Claim()
	}
	return out, ctx.Err()
}

// current returns the file in the newest checkpoint of this worktree that has it as it is now, if HEAD is still where it was.
func (j judge) current(ctx context.Context, now git.Entry, path string) saved {
	tip, here := j.chains.journals.turns(ctx).latest[j.worktree]
	if !here || tip < 0 || j.x.Checkpoints[tip].Head != j.arrivals.s.Repo.Head.OID {
		return nowhere
	}
	return j.chains.holding(ctx, tip, spot{now, []string{path}, 0})
}

// readable returns an error if a version of a file of a checkpoint is damaged: then what its step added is not known.
func (j judge) readable(ctx context.Context, of saved) error {
	if of.point < 0 {
		return nil
	}
	w := j.chains.walk(ctx, of)
	for n := range w.compared() {
		v := w.version(ctx, n)
		if !isFile(v.now) || j.files.read(ctx, v.now).known || j.x.lacks[v.now.OID] {
			continue
		}
		if _, err := j.arrivals.s.Repo.Objects.Batch().Typed(ctx, string(v.now.OID), "blob"); err != nil {
			return fmt.Errorf("checkpoint %s: object %q: %w", j.x.Checkpoints[v.point].ID, v.now.OID, git.ErrUnreadable)
		}
	}
	return nil
}

// inside returns the claim to a line of a file of a checkpoint that checkpoints of the worktree have added. If git's answer
// counts, it is looked for from the checkpoint that git names.
func (j judge) inside(ctx context.Context, tip saved, now git.Entry, at Place, git bool) []Claim {
	i := at.Line - 1
	if tip.point < 0 || at.Commit != "" && (git || !j.files.has(ctx, now, i, at.Text)) {
		return nil
	}
	named := saved{j.x.numbered(j.x.sessionOf(tip.point).Name, at.Checkpoint), at.Path}
	if git {
		tip, i = named, at.From-1
	}
	made := nowhere
	if tip.point >= 0 {
		made = j.chains.walk(ctx, tip).origin(ctx, i)
	}
	if made == nowhere && at.Commit == "" && (git || !j.files.read(ctx, now).known || j.files.once(ctx, now, i)) {
		made = named // git's answer is certain, or the index lacks the line
	}
	if made.point < 0 {
		return nil
	}
	return []Claim{j.takenOver(ctx, j.authors.of(ctx, made), made, now, at.Line-1)}
}

// takenOver returns the claim of the session of which a checkpoint took over a line, from its newest checkpoint until then: where
// two sessions made theirs at the same moment, nothing else says which came first. Without one it is the claim itself.
func (j judge) takenOver(ctx context.Context, claim Claim, made saved, now git.Entry, i int) Claim {
	of := j.x.sessionNamed(claim.from)
	if of == nil || !j.files.read(ctx, now).known {
		return claim
	}
	p := &j.x.Checkpoints[made.point]
	for at := of.To - 1; at >= of.From; at-- {
		if q := &j.x.Checkpoints[at]; q.Worktree != p.Worktree || q.At > p.At {
			continue
		}
		from := saved{at, made.path}
		if k := j.files.matched(ctx, j.chains.file(ctx, from), now)[i]; k >= 0 {
			if o := j.chains.walk(ctx, from).origin(ctx, k); o != nowhere {
				if other := j.authors.of(ctx, o); other.By != author.Unknown {
					return other
				}
			}
		}
		break
	}
	return claim
}
