package why

import (
	"context"
	"slices"

	"git-checkpoint/internal/core/checkpoint"
	"git-checkpoint/internal/format/name"
	"git-checkpoint/internal/git"
)

// newJudge opens the index, which it brings up to date. Of the request it takes what is not about one file.
func newJudge(ctx context.Context, s *checkpoint.Rules, req Request) (judge, error) {
	x, err := open(ctx, s, req.Progress)
	if err != nil {
		return judge{}, err
	}
	j := judge{x: x, files: &files{x: x, repo: s.Repo, loose: req.Loose}}
	j.commits = &commits{s: s.Store, files: j.files, oldest: x.begins() - 24*60*60, leading: memo[name.OID, map[name.OID]bool]{most: 8}}
	j.journals = &journals{s: s.Store, x: x, files: j.files, commits: j.commits, down: memo[int32, []int32]{most: 8}}
	j.files.journals = j.journals
	j.worktree, _ = s.Store.WorktreeID() //nolint:errcheck // in a read-only repository no checkpoint was made here
	return j, nil
}

// because returns why nobody has a claim to a line of a file.
func (j judge) because(ctx context.Context, of git.Entry, line string) string {
	switch {
	case !j.files.read(ctx, of).known:
		return NoText
	case j.knows(line):
		return EqualLine
	}
	return NoCheckpoint
}

// knows reports whether a checkpoint has added a line like this one, to any file.
func (j judge) knows(line string) bool {
	if j.files.loose {
		line = bare(line)
	}
	from, to := j.x.rangeOf(text{line}.entryOf(0).key)
	return from < to
}

// answer returns who may have made a line of a file that has this path now, and of which git blame says this, and the commit
// that it came with. The commit is nil if it cannot be read.
func (j judge) answer(ctx context.Context, b Place, now git.Entry, path string) (claims []Claim, by *arrival) {
	const mostMoves = 5 // how often a line may have moved to another file
	if !j.knows(b.Text) {
		return nil, j.commits.arrivalOf(ctx, b.Commit)
	}
	var held []Claim // what is said if nobody is named
	for range mostMoves {
		c := j.commits.arrivalOf(ctx, b.Commit)
		if c == nil {
			break
		}
		if by == nil {
			by = c
		}
		at, l := lineAt{now, slices.Compact([]string{path, b.Path}), b.Line - 1}, j.commits.line(ctx, c, b)
		if !j.files.has(ctx, l.file, l.line, b.Text) {
			break
		}
		claims = slices.DeleteFunc(j.claims(ctx, l), func(claim Claim) bool { return c.at == nil && !j.confirmed(ctx, at, claim) })
		known, unsure := named(claims)
		if len(known) > 0 {
			return known, by
		}
		if held = append(held, unsure...); c.isWorktree() {
			break
		}
		in, source, line := j.commits.source(ctx, l)
		if line < 0 {
			claims, other := j.claimElsewhere(ctx, at)
			known, unsure := named(claims)
			if len(known) > 0 {
				if by == c {
					by = other
				}
				return known, by
			}
			held = append(held, unsure...)
			break
		}
		lines := j.commits.blame(ctx, fileOf{in.OID, source})
		if line >= len(lines) {
			break
		}
		b, now, path = lines[line], j.files.entryAt(ctx, in.Tree, source), source
	}
	return held[:min(1, len(held))], by
}
