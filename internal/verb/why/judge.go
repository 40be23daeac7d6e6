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
	added    *additions
	commits  *commits
	arrivals *arrivals
	descent  *descent
	authors  *authors
	chains   *chains
	worktree string // the id of this one
}

// claims returns who may have made a line: nobody, one, or several that cannot be told apart.
func (j judge) claims(ctx context.Context, l newLine) []Claim {
	if !l.by.here() && j.commits.early(&l.by.Commit) {
		return nil
	}
	t := j.files.read(ctx, l.file).text
	if l.line >= len(t) || len(j.added.of(ctx, t, l.line)) == 0 {
		return nil
	}
	var all []Claim
	for n := range j.x.Sessions {
		of := &j.x.Sessions[n]
		for _, from := range j.descent.standings(ctx, of, l.by) {
			if claim, is := j.claim(ctx, of, from, l); is {
				all = append(all, claim)
				break
			}
		}
	}
	return dropWeaker(all)
}

// claim returns the claim of one session from one of its standings.
func (j judge) claim(ctx context.Context, of *session, from standing, l newLine) (Claim, bool) {
	p, c := &j.x.Checkpoints[from.point], l.by
	if p.Tree == "" || from.only != nil && !from.only[l.path] || !j.arrivals.made(ctx, c, from, p) || c.here() && p.Worktree != j.worktree || j.commits.hadAll(ctx, p, c.parent()) {
		return Claim{}, false
	}
	at, line := j.find(ctx, from.point, l)
	if line < 0 {
		return Claim{}, false
	}
	parted := j.arrivals.part(ctx, p.Head, c)
	if !j.descent.possible(ctx, of, from, c, parted) || j.delivered(ctx, parted, l, at, line) || j.thrownAway(ctx, l, at, line) {
		return Claim{}, false
	}
	o := j.chains.walk(ctx, at).origin(ctx, line)
	if o == nowhere {
		return Claim{}, false
	}
	if of := &j.x.Checkpoints[o.point]; of.Person != p.Person && !j.arrivals.by(ctx, c, of) {
		return Claim{}, false
	}
	made := j.authors.of(ctx, o)
	made.rank = j.descent.rank(of, from, c)
	return made, true
}

// find finds a line in a checkpoint: in the file of that name, or in another file from which the commit removed
// the line. It returns -1 if it is in none.
func (j judge) find(ctx context.Context, point int32, l newLine) (saved, int) {
	same := saved{point, l.path}
	if was := j.chains.file(ctx, same); isFile(was) {
		if at := j.files.matched(ctx, was, l.file)[l.line]; at >= 0 {
			return same, at
		}
	}
	t := j.files.read(ctx, l.file).text
	tried := map[int32]bool{}
	for _, e := range j.added.of(ctx, t, l.line) {
		change := j.x.Changes[e.change]
		other := saved{point, j.x.pathOf(change.Path)}
		if tried[change.Path] || other == same {
			continue
		}
		if tried[change.Path] = true; len(tried) > 20 {
			break
		}
		// Where the commit keeps the line, it was not moved from there.
		was := j.chains.file(ctx, other)
		if !isFile(was) || slices.Contains(j.files.read(ctx, j.arrivals.file(ctx, l.by, other.path)).text, t[l.line]) {
			continue
		}
		to := j.files.matched(ctx, was, l.file)
		if to[l.line] >= 0 && (l.by.renames[l.path] == other.path || weight(t, to, l.line) >= enough || below(l.path, other.path) || below(other.path, l.path)) {
			return other, to[l.line]
		}
	}
	return nowhere, -1
}

// below reports whether a path is another one below a directory: a rewrite may move the whole tree.
func below(path, other string) bool { return strings.HasSuffix(path, "/"+other) }

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

// delivered reports whether a line of a checkpoint's file had come to the commit's history before the
// commit, and was removed again: then the commit's line is another one.
func (j judge) delivered(ctx context.Context, parted parting, l newLine, at saved, line int) bool {
	mine := j.chains.file(ctx, at)
	for _, oid := range slices.Concat(parted.at, parted.since) {
		if oid == l.by.parent() || oid == "" {
			continue
		}
		c := j.commits.read(ctx, oid)
		if c == nil {
			return true
		}
		for _, path := range slices.Compact([]string{at.path, l.path}) {
			was := j.files.at(ctx, c.Tree, path)
			if isFile(was) && j.files.matched(ctx, was, mine)[line] != alone &&
				(j.files.once(ctx, mine, line) || !j.chains.walk(ctx, at).lacked(ctx, was, line)) {
				return true
			}
		}
	}
	return false
}
