package why

import (
	"context"
	"slices"
	"unicode"

	"git-checkpoint/internal/format/name"
	"git-checkpoint/internal/git"
)

// mostMoves is how often a line may have moved to another file, and mostBlames how often git blame is asked
// for the file that it came from.
const (
	mostMoves  = 5
	mostBlames = 50
)

// source returns where line i of a file of a commit was in the parent, if the commit moved it there: a
// block around it is new in one file and gone from the other. The lines at the edges of a block are often
// like those around it, so the block is found by a line that both files have once.
func (a *asker) source(ctx context.Context, c *aim, path string, e git.Entry, i int) (from fileOf, at int) {
	changes := a.changesOf(ctx, c)
	own := slices.IndexFunc(changes, func(ch git.Change) bool { return ch.Path == path && ch.New.OID == e.OID })
	parent := a.commit(ctx, c.parent())
	if own < 0 || parent == nil || len(changes) > 2*mostRenames {
		return fileOf{}, -1
	}
	added, at := a.matched(ctx, changes[own].Old, e), -1
	if k := added[i]; k >= 0 && a.once(ctx, e, i) && a.once(ctx, changes[own].Old, k) {
		return fileOf{parent.Tree, path}, k // it was there before; git blame compares otherwise
	}
	for n, ch := range changes {
		if n == own || !isFile(ch.Old) {
			continue
		}
		k := a.inBlock(ctx, block{e, added}, block{ch.Old, a.matched(ctx, ch.New, ch.Old)}, i)
		switch {
		case k < 0:
		case at >= 0:
			return fileOf{}, -1 // it may be from either
		default:
			from, at = fileOf{parent.Tree, ch.Path}, k
		}
	}
	return from, at
}

// block is a file with, for each line, its partner in the other version of that file.
type block struct {
	git.Entry
	partner []int
}

// inBlock returns the line of from that line i of to was moved from, or -1.
func (a *asker) inBlock(ctx context.Context, to, from block, i int) int {
	t, s := a.read(ctx, to.Entry).numbers, a.read(ctx, from.Entry).numbers
	equal := func(j, k int) bool {
		return j >= 0 && k >= 0 && j < len(t) && k < len(s) && t[j] == s[k] && to.partner[j] < 0 && from.partner[k] < 0
	}
	for j := i; j >= max(0, i-200); j-- { // what stands above the first such line may belong to what was there before
		if to.partner[j] != alone || !a.once(ctx, to.Entry, j) {
			continue
		}
		k := slices.Index(s, t[j])
		if k < 0 || from.partner[k] != alone || !a.once(ctx, from.Entry, k) {
			continue
		}
		low, high := j, j+1
		for equal(low-1, k+low-1-j) {
			low--
		}
		for equal(high, k+high-j) {
			high++
		}
		if i < high && letters(a.content(ctx, to.Entry)[low:high]) >= 40 {
			return k + i - j
		}
	}
	return -1
}

// letters counts letters and digits. git blame -C asks for 40 of them, too.
func letters(t text) (n int) {
	for _, line := range t {
		for _, r := range line {
			if unicode.IsLetter(r) || unicode.IsDigit(r) {
				n++
			}
		}
	}
	return n
}

// blameAt asks git blame once about a file of a commit.
func (a *asker) blameAt(ctx context.Context, commit name.OID, path string) []blamedLine {
	key := fileOf{commit, path}
	lines, known := a.blames[key]
	if !known && len(a.blames) < mostBlames {
		var args []string
		if a.loose {
			args = append(args, "-w")
		}
		if said, out, err := blame(ctx, a.s, append(args, string(commit), "--", path)); err == nil && said == "" {
			lines = parseBlame(out)
		}
		a.blames[key] = lines
	}
	return lines
}

// asked is a line of the file that a question is about, and what git blame says of it.
type asked struct {
	blamedLine
	now   git.Entry // the file as it is now
	paths []string  // its names
}

// answer returns who may have made a line, and the commit that it came with. The commit is nil if it cannot
// be read. A line that no session knows by itself may be known if those of a worktree are taken together.
func (a *asker) answer(ctx context.Context, q asked) (claims []Claim, by *aim) {
	if claims, by = a.answerOf(ctx, q); len(claims) > 0 || len(a.x.Sessions) < 2 {
		return claims, by
	}
	a.chained = a.across
	defer func() { a.chained = a.own }()
	if claims, of := a.answerOf(ctx, q); len(claims) > 0 {
		return claims, of
	}
	return nil, by
}

// answerOf is answer for the sessions as they are taken now: each by itself, or together.
func (a *asker) answerOf(ctx context.Context, q asked) (claims []Claim, by *aim) {
	var first *aim
	for range mostMoves {
		c, e := a.aimAt(ctx, q.blamedLine, q.paths[0])
		if c == nil {
			return nil, first
		}
		if first == nil {
			first = c
		}
		if !a.has(ctx, e, q.from-1, q.text) {
			return nil, first
		}
		claims = slices.DeleteFunc(a.claims(ctx, c, q.path, e, q.from-1), func(claim Claim) bool {
			return !a.confirmed(ctx, q.paths, q.now, q.line-1, claim)
		})
		if len(claims) > 0 || c.here {
			return claims, first
		}
		from, at := a.source(ctx, c, q.path, e, q.from-1)
		if at < 0 {
			claims, by = a.elsewhere(ctx, q.paths, q.now, q.line-1)
			if by != nil && first == c {
				first = by
			}
			return claims, first
		}
		lines := a.blameAt(ctx, c.parent(), from.path)
		if at >= len(lines) {
			return nil, first
		}
		q = asked{lines[at], a.file(ctx, from.tree, from.path), slices.Compact([]string{from.path, lines[at].path})}
	}
	return nil, first
}
