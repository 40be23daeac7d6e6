package why

import (
	"context"
	"slices"

	"git-checkpoint/internal/core/checkpoint"
	"git-checkpoint/internal/format/name"
	"git-checkpoint/internal/git"
)

// newJudge opens the index, which it brings up to date. Of the request it takes what is not about one file.
func newJudge(ctx context.Context, s *checkpoint.Service, req Request) (judge, error) {
	x, err := open(ctx, s, req.Progress)
	if err != nil {
		return judge{}, err
	}
	read := &files{repo: s.Repo, loose: req.Loose, lacks: x.lacks}
	history := &commits{repo: s.Repo, oldest: x.begins() - 24*60*60, leading: memo[name.OID, map[name.OID]bool]{most: 8}}
	came := &arrivals{s: s, files: read, commits: history}
	said := &journals{s: s, x: x}
	added := &additions{x: x, files: read, commits: history, journals: said}
	j := judge{
		x: x, files: read, added: added, commits: history, arrivals: came,
		descent: &descent{x: x, files: read, added: added, commits: history, arrivals: came, journals: said},
		authors: &authors{journals: said},
		chains:  &chains{x: x, files: read, added: added, commits: history, journals: said, down: memo[int32, []int32]{most: 8}},
	}
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
	from, to := j.x.with(text{line}.entryOf(0).key)
	return from < to
}

// asked is a line of a file that a question is about, and what git blame says of it.
type asked struct {
	Place
	spot
}

// ask asks about a line of a file that has this path now.
func ask(b Place, now git.Entry, path string) asked {
	return asked{b, spot{now, slices.Compact([]string{path, b.Path}), b.Line - 1}}
}

// mostMoves is how often a line may have moved to another file.
const mostMoves = 5

// answer returns who may have made a line, and the commit that it came with. The commit is nil if it cannot be read.
func (j judge) answer(ctx context.Context, q asked) (claims []Claim, by *arrival) {
	if !j.knows(q.Text) {
		return nil, j.arrivals.of(ctx, q.Commit)
	}
	var held []Claim // what is said if nobody is named
	for range mostMoves {
		c := j.arrivals.of(ctx, q.Commit)
		if c == nil {
			break
		}
		if by == nil {
			by = c
		}
		l := j.arrivals.line(ctx, c, q.Place)
		if !j.files.has(ctx, l.file, l.line, q.Text) {
			break
		}
		claims = slices.DeleteFunc(j.claims(ctx, l), func(claim Claim) bool { return !j.confirmed(ctx, q.spot, claim) })
		known, unsure := named(claims)
		if len(known) > 0 {
			return known, by
		}
		if held = append(held, unsure...); c.here() {
			break
		}
		in, path, at := j.arrivals.source(ctx, l)
		if at < 0 {
			claims, other := j.elsewhere(ctx, q.spot)
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
		lines := j.arrivals.blame(ctx, fileOf{in.OID, path})
		if at >= len(lines) {
			break
		}
		q = ask(lines[at], j.files.at(ctx, in.Tree, path), path)
	}
	return held[:min(1, len(held))], by
}
