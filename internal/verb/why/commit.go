package why

import (
	"cmp"
	"context"
	"slices"
	"strings"
	"time"

	"git-checkpoint/internal/core/author"
	"git-checkpoint/internal/core/checkpoint"
	"git-checkpoint/internal/format/name"
	"git-checkpoint/internal/format/provenance"
	"git-checkpoint/internal/git"
)

// Step is a step behind a commit.
type Step struct {
	Session    name.Session      `json:"session"`
	Step       int               `json:"step"`
	Checkpoint name.ID           `json:"checkpoint"`
	Message    string            `json:"message"`
	Files      []checkpoint.Path `json:"files"`             // those of the commit that have lines of it
	Because    string            `json:"because,omitempty"` // why it is not known who made them

	Claim Claim `json:"-"` // one of its claims
}

// Commit is what is behind a commit.
type Commit struct {
	Commit  name.OID            `json:"commit"`
	Counts  Counts              `json:"lines"`
	Held    []Step              `json:"held"`           // the steps that have lines of it of which nobody knows who made them
	Steps   []Step              `json:"steps"`          // those that made something of it
	Unknown []checkpoint.Path   `json:"unknown"`        // has the paths with lines of which nothing is known
	Says    []provenance.Saying `json:"says,omitempty"` // has what others say of it, which is no claim

	Subject   string               `json:"-"`
	Committed time.Time            `json:"-"`
	Outside   []checkpoint.Path    `json:"-"` // paths with lines that no known tool made
	Lines     []Line               `json:"-"` // the lines that it adds, without empty ones
	Renamed   [][2]checkpoint.Path `json:"-"` // has the files that got another path and no other content: both paths
}

// Counts says how many lines have each answer.
type Counts struct {
	Lines   int `json:"lines"`
	Named   int `json:"named"`   // an agent made it
	Held    int `json:"held"`    // a checkpoint has it; who made it is unknown
	Outside int `json:"outside"` // no known tool made it
	None    int `json:"none"`    // no checkpoint has it
}

// Answer returns the answer to a line in a word: named, held, outside or none.
func (l Line) Answer() string {
	switch by := l.Claim().By; {
	case by == author.Agent || by == author.During:
		return "named"
	case by == author.Outside:
		return "outside"
	case len(l.Claims) > 0:
		return "held"
	}
	return "none"
}

// Add counts the answer to a line.
func (n *Counts) Add(l Line) {
	n.Lines++
	switch l.Answer() {
	case "named":
		n.Named++
	case "held":
		n.Held++
	case "outside":
		n.Outside++
	default:
		n.None++
	}
}

// Plus returns the sum of two.
func (n Counts) Plus(o Counts) Counts {
	return Counts{n.Lines + o.Lines, n.Named + o.Named, n.Held + o.Held, n.Outside + o.Outside, n.None + o.None}
}

// ResolveCommit returns the commit that somebody typed.
func ResolveCommit(ctx context.Context, repo *git.Repo, typed string) (name.OID, bool) {
	if typed == "" || strings.HasPrefix(typed, "-") {
		return "", false
	}
	oid, err := repo.Output(ctx, "rev-parse", "--verify", "--quiet", "--end-of-options", typed+"^{commit}")
	return name.OID(oid), err == nil
}

// Commits says what is behind commits.
func Commits(ctx context.Context, s *checkpoint.Rules, commits []name.OID, progress func(int)) ([]Commit, error) {
	j, err := newJudge(ctx, s, Request{Progress: progress})
	if err != nil {
		return nil, err
	}
	out := make([]Commit, 0, len(commits))
	for _, oid := range commits {
		c := j.commits.arrivalOf(ctx, oid)
		if c == nil {
			return nil, checkpoint.Failure(checkpoint.KindInvalid, "", "commit %s cannot be read", oid.Short())
		}
		if err := ctx.Err(); err != nil {
			return nil, err
		}
		out = append(out, j.claimsBehind(ctx, c))
	}
	return out, nil
}

// claimsBehind collects the claims to all lines that a commit adds. What a merge brings from its other parents
// is those commits' own.
func (j judge) claimsBehind(ctx context.Context, c *arrival) Commit {
	out := Commit{Commit: c.OID, Steps: []Step{}, Held: []Step{}, Unknown: []checkpoint.Path{}}
	out.Subject, _, _ = strings.Cut(c.Message, "\n")
	out.Committed = c.Committer.When
	for _, change := range j.commits.changes(ctx, c) {
		theirs := j.commits.merged(ctx, c, change)
		if slices.ContainsFunc(theirs, func(e git.Entry) bool { return e.OID == change.New.OID }) {
			continue
		}
		path := checkpoint.Path(change.Path)
		if was := c.renames[change.Path].Path; was != "" && change.Old.OID == change.New.OID {
			out.Renamed = append(out.Renamed, [2]checkpoint.Path{checkpoint.Path(was), path})
		}
		lines := j.behindPath(ctx, c, change, theirs)
		unknown := false
		for _, l := range lines {
			out.Counts.Add(l)
			unknown = unknown || len(l.Claims) == 0
			out.add(path, l.Claims)
		}
		if out.Lines = append(out.Lines, lines...); len(lines) == 0 { // it only deletes lines, or is no text
			claims := j.whole(ctx, c, change)
			out.add(path, claims)
			unknown = len(claims) == 0 && isFile(change.New) && !j.files.read(ctx, change.New).known
		}
		if unknown {
			out.Unknown = append(out.Unknown, path)
		}
	}
	for _, steps := range [][]Step{out.Steps, out.Held} {
		slices.SortStableFunc(steps, func(s, t Step) int {
			return cmp.Or(s.Claim.Since.Compare(t.Claim.Since.Time), cmp.Compare(s.Session, t.Session))
		})
	}
	return out
}

// add adds claims to something of a path.
func (c *Commit) add(path checkpoint.Path, claims []Claim) {
	for _, claim := range claims {
		list := &c.Steps
		if claim.Held() {
			list = &c.Held
		}
		i := slices.IndexFunc(*list, func(s Step) bool { return s.Claim.Ref == claim.Ref })
		if i < 0 {
			i = len(*list)
			subject, _, _ := strings.Cut(claim.Message, "\n")
			*list = append(*list, Step{Session: claim.Session, Step: claim.Step, Checkpoint: claim.Of, Message: subject, Files: []checkpoint.Path{}, Because: claim.Because, Claim: claim})
		}
		if step := &(*list)[i]; !slices.Contains(step.Files, path) {
			step.Files = append(step.Files, path)
		}
		if claim.By == author.Outside && !slices.Contains(c.Outside, path) {
			c.Outside = append(c.Outside, path)
		}
	}
}

// behindPath returns the lines that a commit adds to a file, which it has not as one of theirs has it, with the claims to them.
func (j judge) behindPath(ctx context.Context, c *arrival, change git.Change, theirs []git.Entry) (out []Line) {
	t := j.files.read(ctx, change.New).text
	for _, i := range j.files.newLines(ctx, change) {
		if slices.ContainsFunc(theirs, func(was git.Entry) bool { return isFile(was) && j.files.matched(ctx, was, change.New)[i] >= 0 }) {
			continue
		}
		l := Line{Path: change.Path, Line: i + 1, Text: t[i], Commit: c.OID}
		b := Place{Commit: c.OID, Path: change.Path, From: i + 1, Line: i + 1, Text: t[i]}
		if l.Claims, _ = j.answer(ctx, b, change.New, change.Path); len(l.Claims) == 0 {
			l.Because = j.because(ctx, change.New, t[i])
		}
		out = append(out, l)
	}
	return out
}

// whole returns the claims to a change that adds no lines: a session's checkpoint that the commit
// can come from has exactly this file, and one of its steps made it so.
func (j judge) whole(ctx context.Context, c *arrival, change git.Change) []Claim {
	return j.claimsBy(ctx, c, change.Path, func(_ *session, from candidate) saved {
		p, w := &j.x.Checkpoints[from.point], j.journals.walk(ctx, saved{point: from.point, path: change.Path})
		if len(w.versions) == 0 || !from.certain && !j.commits.part(ctx, p.Head, c).descent {
			return nowhere
		}
		v := w.version(ctx, 0)
		if w.start.Mode != change.New.Mode || w.start.OID != change.New.OID || v.now.OID != w.start.OID || v.was.OID != change.Old.OID {
			return nowhere
		}
		return v.saved
	})
}
