package why

import (
	"cmp"
	"context"
	"slices"
	"strings"
	"unicode"

	"git-checkpoint/internal/format/name"
	"git-checkpoint/internal/git"
)

// source returns where a line was in the parent of its commit, if the commit moved it: a block around it is new in
// one file and gone from the other. The lines at the edges of a block are often like those around it, so the block
// is found by a line that both files have once. What git revert brings back was where the reverted commit took it away. It
// returns the commit and the file, and -1 if that cannot be told.
func (h *commits) source(ctx context.Context, l newLine) (in *git.Commit, path string, at int) {
	const mostMoved = 60 // how many files a commit may change of which lines are looked for in the others
	if in, at = h.reverted(ctx, l); in != nil {
		return in, l.path, at
	}
	changes := h.changes(ctx, l.by)
	own := slices.IndexFunc(changes, func(ch git.Change) bool { return ch.Path == l.path && ch.New.OID == l.file.OID })
	parent := h.read(ctx, l.by.parent())
	if own < 0 || parent == nil || len(changes) > mostMoved {
		return nil, "", -1
	}
	was := changes[own].Old
	added, at := h.files.matched(ctx, was, l.file), -1
	if k := added[l.line]; k >= 0 && (was.OID == l.file.OID || h.files.hasOnce(ctx, l.file, l.line) && h.files.hasOnce(ctx, was, k)) {
		return parent, cmp.Or(l.by.renames[l.path].Path, l.path), k // it was there before; git blame compares otherwise
	}
	for n, ch := range changes {
		if n == own || !isFile(ch.Old) {
			continue
		}
		k := h.files.inBlock(ctx, block{l.file, added}, block{ch.Old, h.files.matched(ctx, ch.New, ch.Old)}, l.line)
		switch {
		case k < 0:
		case at >= 0:
			return nil, "", -1 // it may be from either
		default:
			path, at = ch.Path, k
		}
	}
	return parent, path, at
}

// reverted returns where a line was before it was taken away by a commit of which this one says that it reverts it.
func (h *commits) reverted(ctx context.Context, l newLine) (*git.Commit, int) {
	for _, said := range strings.Split(l.by.Message, "This reverts commit ")[1:] {
		oid := name.OID(said[:min(len(said), len(l.by.OID))])
		if !h.leads(ctx, oid, l.by.parent()) {
			continue
		}
		gone := h.arrivalOf(ctx, oid)
		if gone == nil {
			continue
		}
		if in := h.read(ctx, gone.parent()); in != nil {
			was := h.files.entryAt(ctx, in.Tree, l.path)
			at := h.files.matched(ctx, was, l.file)[l.line]
			if at >= 0 && h.files.matched(ctx, h.file(ctx, gone, l.path), was)[at] == alone {
				return in, at
			}
		}
	}
	return nil, -1
}

// block is a file with, for each line, its partner in the other version of that file.
type block struct {
	git.Entry
	partner []int
}

// inBlock returns the line of from that line i of to was moved from, or -1.
func (f *files) inBlock(ctx context.Context, to, from block, i int) int {
	t, s := f.read(ctx, to.Entry).numbers, f.read(ctx, from.Entry).numbers
	equal := func(j, k int) bool {
		return j >= 0 && k >= 0 && j < len(t) && k < len(s) && t[j] == s[k] && to.partner[j] < 0 && from.partner[k] < 0
	}
	for j := i; j >= max(0, i-200); j-- { // what stands above the first such line may belong to what was there before
		if to.partner[j] != alone || !f.hasOnce(ctx, to.Entry, j) {
			continue
		}
		k := slices.Index(s, t[j])
		if k < 0 || from.partner[k] != alone || !f.hasOnce(ctx, from.Entry, k) {
			continue
		}
		low, high := j, j+1
		for equal(low-1, k+low-1-j) {
			low--
		}
		for equal(high, k+high-j) {
			high++
		}
		if i < high && letters(f.read(ctx, to.Entry).text[low:high]) >= enough {
			return k + i - j
		}
	}
	return -1
}

// enough letters and digits tell a block that was moved from one that is like it. git blame -C asks for as many.
const enough = 40

// letters counts letters and digits.
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

// blame asks git blame once about a file of a commit.
func (h *commits) blame(ctx context.Context, at fileOf) []Place {
	const mostBlames = 50 // how often git blame is asked for files that lines were moved from
	return h.blames.get(at, func() []Place {
		var args []string
		if h.files.loose {
			args = append(args, "-w")
		}
		if len(h.blames.known) >= mostBlames {
			return nil
		}
		said, out, err := blame(ctx, h.s.Repo, append(args, string(at.of), "--", at.path))
		if err != nil || said != "" {
			return nil
		}
		return ParseBlame(out)
	})
}
