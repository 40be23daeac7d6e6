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
	a, err := newAsker(ctx, s, progress)
	if err != nil {
		return nil, err
	}
	out := make([]Commit, 0, len(commits))
	for _, oid := range commits {
		c := a.newAim(ctx, oid)
		if c == nil {
			return nil, checkpoint.Failure(checkpoint.KindInvalid, "", "commit %s cannot be read", oid.Short())
		}
		if err := ctx.Err(); err != nil {
			return nil, err
		}
		out = append(out, a.behind(ctx, c))
	}
	return out, nil
}

// behind collects the claims to all lines that a commit adds. What a merge brings from its other parents
// is those commits' own.
func (a *asker) behind(ctx context.Context, c *aim) Commit {
	out := Commit{Commit: c.oid, Steps: []Step{}, Unknown: []checkpoint.Path{}}
	out.Subject, _, _ = strings.Cut(c.Message, "\n")
	at := map[string]int{}
	for _, change := range a.changesOf(ctx, c) {
		if a.merged(ctx, c, change) {
			continue
		}
		path := checkpoint.Path(change.Path)
		claims, unknown := a.behindPath(ctx, c, change)
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
		if n := strings.Compare(string(a.Session), string(b.Session)); n != 0 && a.Claim.Since.Equal(b.Claim.Since.Time) {
			return n
		}
		return a.Claim.Since.Compare(b.Claim.Since.Time)
	})
	return out
}

// merged reports whether a merge has a file as one of its other parents has it.
func (a *asker) merged(ctx context.Context, c *aim, change git.Change) bool {
	for _, p := range c.Parents[min(1, len(c.Parents)):] {
		if x := a.commit(ctx, p); x != nil && a.file(ctx, x.Tree, change.Path).OID == change.New.OID {
			return true
		}
	}
	return false
}

// behindPath returns the claims to what a commit did to a file, and whether some of it is unknown. Empty
// lines are nobody's.
func (a *asker) behindPath(ctx context.Context, c *aim, change git.Change) (out []Claim, unknown bool) {
	t := a.content(ctx, change.New)
	if len(t) == 0 {
		claims := a.whole(ctx, c, change)
		return claims, len(claims) != 1
	}
	before, added := a.matched(ctx, change.Old, change.New), false
	for i := range t {
		if before[i] >= 0 || bare(t[i]) == "" {
			continue
		}
		added = true
		claims := a.claims(ctx, c, change.Path, change.New, i)
		if len(claims) == 0 {
			unknown = true
		}
		for _, claim := range claims {
			if !slices.ContainsFunc(out, func(o Claim) bool { return o.Ref == claim.Ref && o.By == claim.By }) {
				out = append(out, claim)
			}
		}
	}
	if !added { // it only deletes lines
		out = a.whole(ctx, c, change)
		return out, len(out) != 1
	}
	return out, unknown
}

// whole returns the claims to a change that adds no lines: a session's checkpoint that the commit
// can come from has exactly this file, and one of its steps made it so.
func (a *asker) whole(ctx context.Context, c *aim, change git.Change) []Claim {
	var all []Claim
	for n := range a.x.Sessions {
		of := &a.x.Sessions[n]
		for _, from := range a.standings(ctx, of, c) {
			p := a.x.Checkpoints[from.point]
			now := a.file(ctx, p.Tree, change.Path)
			if p.Tree == "" || !c.people[p.Mail] || now.OID != change.New.OID || now.Mode != change.New.Mode || !from.landed && !a.part(ctx, p.Head, c).descent {
				continue
			}
			versions := a.versions(ctx, from.point, change.Path)
			if len(versions) == 0 {
				continue
			}
			w := &walk{versions: versions}
			if v := a.fill(ctx, w, 0); v.now.OID == now.OID && v.was.OID == change.Old.OID {
				claim := a.authorOf(ctx, origin{v.point, v.path})
				claim.worktree = a.x.Checkpoints[v.point].Worktree
				claim.rank = a.rankOf(of, from, c)
				all = append(all, claim)
				break
			}
		}
	}
	return dropWeaker(all)
}
