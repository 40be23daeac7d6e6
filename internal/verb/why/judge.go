package why

import (
	"context"
	"slices"
	"strings"
)

// judge decides who may have made a line that came with a commit. It keeps nothing itself.
type judge struct {
	x        *index
	files    *files
	commits  *commits
	journals *journals
	worktree string // the id of this one
}

// claims returns who may have made a line: nobody, one, or several that cannot be told apart.
func (j judge) claims(ctx context.Context, l newLine) []Claim {
	if !l.by.isWorktree() && j.commits.isEarly(&l.by.Commit) {
		return nil
	}
	t := j.files.read(ctx, l.file).text
	if l.line >= len(t) || len(j.files.like(t, l.line)) == 0 {
		return nil
	}
	return j.claimsBy(ctx, l.by, l.path, func(of *session, from candidate) saved { return j.origin(ctx, of, from, l) })
}

// claimsBy returns the claims to something of a path that came with a commit: of each session that from the first of its
// candidates for which find knows the checkpoint that made it.
func (j judge) claimsBy(ctx context.Context, c *arrival, path string, find func(*session, candidate) saved) []Claim {
	var all []Claim
	for n := range j.x.Sessions {
		of := &j.x.Sessions[n]
		for _, from := range j.candidates(ctx, of, c) {
			p := &j.x.Checkpoints[from.point]
			if p.Tree == "" || from.only != nil && !from.only[path] || !j.commits.made(ctx, c, from, p) {
				continue
			}
			if made := find(of, from); made != nowhere {
				claim := j.journals.author(ctx, made)
				claim.rank = j.rank(of, from, c)
				all = append(all, claim)
				break
			}
		}
	}
	return dropWeaker(all)
}

// origin returns the checkpoint that made a line, if the line came from one candidate of a session.
func (j judge) origin(ctx context.Context, of *session, from candidate, l newLine) saved {
	p, c := &j.x.Checkpoints[from.point], l.by
	if c.isWorktree() && p.Worktree != j.worktree || j.commits.hadAll(ctx, p, c.parent()) {
		return nowhere
	}
	at, line := j.find(ctx, from.point, l)
	if line < 0 {
		return nowhere
	}
	parted := j.commits.part(ctx, p.Head, c)
	if !j.possible(ctx, of, from, c, parted) || j.alreadyInHistory(ctx, parted, l, at, line) || j.thrownAway(ctx, l, at, line) {
		return nowhere
	}
	o := j.journals.walk(ctx, at).origin(ctx, line)
	if o != nowhere && j.x.Checkpoints[o.point].Person != p.Person && !j.commits.sharesAuthor(ctx, c, &j.x.Checkpoints[o.point]) {
		return nowhere
	}
	return o
}

// find finds a line in a checkpoint: in the file of that name, or in another file from which the commit removed
// the line. It returns -1 if it is in none.
func (j judge) find(ctx context.Context, point int32, l newLine) (saved, int) {
	same := saved{point: point, path: l.path}
	if was := j.journals.file(ctx, same); isFile(was) {
		if at := j.files.matched(ctx, was, l.file)[l.line]; at >= 0 {
			return same, at
		}
	}
	t := j.files.read(ctx, l.file).text
	tried := map[int32]bool{}
	for _, e := range j.files.like(t, l.line) {
		change := j.x.Changes[e.change]
		other := saved{point: point, path: j.x.pathOf(change.Path)}
		if tried[change.Path] || other == same {
			continue
		}
		if tried[change.Path] = true; len(tried) > 20 {
			break
		}
		// Where the commit keeps the line, it was not moved from there.
		was := j.journals.file(ctx, other)
		if !isFile(was) || slices.Contains(j.files.read(ctx, j.commits.file(ctx, l.by, other.path)).text, t[l.line]) {
			continue
		}
		to := j.files.matched(ctx, was, l.file)
		if to[l.line] >= 0 && (l.by.renames[l.path].Path == other.path || weight(t, to, l.line) >= enough || isBelow(l.path, other.path) || isBelow(other.path, l.path)) {
			return other, to[l.line]
		}
	}
	return nowhere, -1
}

// isBelow reports whether a path is another one below a directory: a rewrite may move the whole tree.
func isBelow(path, other string) bool { return strings.HasSuffix(path, "/"+other) }

// weight counts letters and digits in the block of lines around i that have partners in a row.
func weight(t text, to []int, i int) int {
	from, end := i, i+1
	for from > 0 && to[from-1] >= 0 && to[from-1] == to[from]-1 {
		from--
	}
	for end < len(t) && to[end] >= 0 && to[end] == to[end-1]+1 {
		end++
	}
	return letters(t[from:end])
}

// alreadyInHistory reports whether a line of a checkpoint's file had come to the commit's history before the
// commit, and was removed again: then the commit's line is another one.
func (j judge) alreadyInHistory(ctx context.Context, parted divergence, l newLine, at saved, line int) bool {
	mine := j.journals.file(ctx, at)
	for _, oid := range slices.Concat(parted.at, parted.since) {
		if oid == l.by.parent() || oid == "" {
			continue
		}
		c := j.commits.read(ctx, oid)
		if c == nil {
			return true
		}
		for _, path := range slices.Compact([]string{at.path, l.path}) {
			was := j.files.entryAt(ctx, c.Tree, path)
			if isFile(was) && j.files.matched(ctx, was, mine)[line] != alone &&
				(j.files.hasOnce(ctx, mine, line) || !j.journals.walk(ctx, at).lacked(ctx, was, line)) {
				return true
			}
		}
	}
	return false
}
