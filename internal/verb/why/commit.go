package why

import (
	"cmp"
	"context"
	"slices"
	"strings"

	"git-checkpoint/internal/core/author"
	"git-checkpoint/internal/core/checkpoint"
	"git-checkpoint/internal/format/name"
	"git-checkpoint/internal/git"
)

// Step is a step behind a commit.
type Step struct {
	Session    name.Session      `json:"session"`
	Step       int               `json:"step"`
	Checkpoint name.ID           `json:"checkpoint"`
	Message    string            `json:"message"`
	Files      []checkpoint.Path `json:"files"` // those of the commit that have lines of it

	Claim Claim `json:"-"` // one of its claims
}

// Commit is what is behind a commit.
type Commit struct {
	Commit name.OID `json:"commit"`
	Steps  []Step   `json:"steps"`
	// Unknown has the paths with lines of which nothing is known.
	Unknown []checkpoint.Path `json:"unknown"`

	Subject string            `json:"-"`
	Outside []checkpoint.Path `json:"-"` // paths with lines that no known tool made
}

// ResolveCommit returns the commit that somebody typed.
func ResolveCommit(ctx context.Context, s *checkpoint.Service, typed string) (name.OID, bool) {
	if typed == "" || strings.HasPrefix(typed, "-") {
		return "", false
	}
	oid, err := s.Repo.Output(ctx, "rev-parse", "--verify", "--quiet", "--end-of-options", typed+"^{commit}")
	return name.OID(oid), err == nil
}

// Commits says what is behind commits.
func Commits(ctx context.Context, s *checkpoint.Service, commits []name.OID, progress func(int)) ([]Commit, error) {
	a, err := newAsker(ctx, s, Request{Progress: progress})
	if err != nil {
		return nil, err
	}
	out := make([]Commit, 0, len(commits))
	for _, oid := range commits {
		c := a.own.arrivals.read(ctx, oid)
		if c == nil {
			return nil, checkpoint.Failure(checkpoint.KindInvalid, "", "commit %s cannot be read", oid.Short())
		}
		if err := ctx.Err(); err != nil {
			return nil, err
		}
		out = append(out, a.own.behind(ctx, c))
	}
	return out, nil
}

// behind collects the claims to all lines that a commit adds. What a merge brings from its other parents
// is those commits' own.
func (j judge) behind(ctx context.Context, c *arrival) Commit {
	out := Commit{Commit: c.OID, Steps: []Step{}, Unknown: []checkpoint.Path{}}
	out.Subject, _, _ = strings.Cut(c.Message, "\n")
	at := map[string]int{}
	for _, change := range j.arrivals.changes(ctx, c) {
		if j.arrivals.merged(ctx, c, change) {
			continue
		}
		path := checkpoint.Path(change.Path)
		claims, unknown := j.behindPath(ctx, c, change)
		for _, claim := range claims {
			i, known := at[claim.Ref]
			if !known {
				i = len(out.Steps)
				at[claim.Ref] = i
				subject, _, _ := strings.Cut(claim.Message, "\n")
				out.Steps = append(out.Steps, Step{Session: claim.Session, Step: claim.Step, Checkpoint: claim.Of, Message: subject, Files: []checkpoint.Path{}, Claim: claim})
			}
			if step := &out.Steps[i]; !slices.Contains(step.Files, path) {
				step.Files = append(step.Files, path)
			}
			if claim.By == author.Outside && !slices.Contains(out.Outside, path) {
				out.Outside = append(out.Outside, path)
			}
		}
		if unknown {
			out.Unknown = append(out.Unknown, path)
		}
	}
	slices.SortStableFunc(out.Steps, func(a, b Step) int {
		return cmp.Or(a.Claim.Since.Compare(b.Claim.Since.Time), cmp.Compare(a.Session, b.Session))
	})
	return out
}

// behindPath returns the claims to what a commit did to a file, and whether some of it is unknown.
func (j judge) behindPath(ctx context.Context, c *arrival, change git.Change) (out []Claim, unknown bool) {
	lines := j.files.newLines(ctx, change)
	if len(lines) == 0 { // it only deletes lines, or is no text
		out = j.whole(ctx, c, change)
		return out, len(out) != 1
	}
	for _, i := range lines {
		claims := j.claims(ctx, newLine{c, change.Path, change.New, i})
		unknown = unknown || len(claims) == 0
		for _, claim := range claims {
			if !slices.ContainsFunc(out, func(o Claim) bool { return o.Ref == claim.Ref && o.By == claim.By }) {
				out = append(out, claim)
			}
		}
	}
	return out, unknown
}

// whole returns the claims to a change that adds no lines: a session's checkpoint that the commit
// can come from has exactly this file, and one of its steps made it so.
func (j judge) whole(ctx context.Context, c *arrival, change git.Change) []Claim {
	var all []Claim
	for n := range j.x.Sessions {
		of := &j.x.Sessions[n]
		for _, from := range j.descent.standings(ctx, of, c) {
			p := &j.x.Checkpoints[from.point]
			now := j.files.at(ctx, p.Tree, change.Path)
			if p.Tree == "" || !c.of(p) || now.OID != change.New.OID || now.Mode != change.New.Mode || !from.certain && !j.arrivals.part(ctx, p.Head, c).descent {
				continue
			}
			w := j.chains.walk(ctx, saved{from.point, change.Path})
			if len(w.versions) == 0 {
				continue
			}
			if v := w.version(ctx, 0); v.now.OID == now.OID && v.was.OID == change.Old.OID {
				claim := j.authors.of(ctx, v.saved)
				claim.rank = j.descent.rank(of, from, c)
				all = append(all, claim)
				break
			}
		}
	}
	return dropWeaker(all)
}
