package why

import (
	"context"
	"slices"
	"strings"

	"git-checkpoint/internal/format/name"
	"git-checkpoint/internal/format/record"
	"git-checkpoint/internal/git"
)

// files reads files of trees and of the worktree, each once, compares them line by line, and tells where lines like theirs
// were added (additions.go).
type files struct {
	x        *index
	journals *journals
	repo     *git.Repo
	loose    bool // white space does not count

	found    memo[entry, []entry]
	entries  memo[fileOf, git.Entry]
	contents memo[name.OID, content]
	last     recent
	counts   memo[name.OID, map[int32]int] // by number of a line
	lines    numbering
	matches  memo[[2]name.OID, []int]
	diffs    int // how many pairs of files were compared
}

// fileOf is a path in a tree, or in a commit.
type fileOf struct {
	of   name.OID
	path string
}

// lineAt is a line of a file as it is now.
type lineAt struct {
	file  git.Entry
	names []string // that the file has or had
	line  int      // from 0
}

// isFile reports whether an entry is a regular file.
func isFile(e git.Entry) bool { return e.Mode == git.ModeFile || e.Mode == git.ModeExec }

// content is a file of a tree. It is not known if it is not text, too large, or cannot be read.
type content struct {
	text    text
	numbers []int32 // of the lines, where files read it: equal lines of all its files have the same
	known   bool
}

// entryAt returns the entry at a path in a tree; the zero Entry if nothing is there.
func (f *files) entryAt(ctx context.Context, tree name.OID, path string) git.Entry {
	return f.entries.get(fileOf{tree, path}, func() (e git.Entry) {
		if tree != "" {
			e, _, _ = f.repo.Trees.Lookup(ctx, tree, path) //nolint:errcheck // what cannot be read is not there
		}
		return e
	})
}

// worktreeEntry returns an entry that stands for a file of the worktree. whole has its lines if git sees others than the
// file has; else it is nil.
func (f *files) worktreeEntry(ctx context.Context, path string, whole text) git.Entry {
	e := git.Entry{Mode: git.ModeFile, OID: name.OID("worktree:" + path)}
	f.contents.get(e.OID, func() content {
		if whole == nil {
			whole, _ = linesAt(ctx, f.repo, path)
		}
		if whole == nil || !isText([]byte(strings.Join(whole, "\n"))) {
			return content{}
		}
		return f.numbered(whole)
	})
	return e
}

// read returns the lines of a file. Without regard to white space, they have none. What is not a file has no
// lines.
func (f *files) read(ctx context.Context, e git.Entry) content {
	if !isFile(e) {
		return content{known: true}
	}
	return f.contents.get(e.OID, func() content {
		if f.x.lacks[e.OID] {
			return content{}
		}
		o, err := f.repo.Objects.Batch().Typed(ctx, string(e.OID), "blob")
		if err != nil || !isText(o.Data) {
			return content{}
		}
		return f.readNext(o.Data)
	})
}

// recent is the file that was read last. Mostly the next one is another version of it, and only the lines
// between those that both begin and end with are new.
type recent struct {
	data []byte
	content
}

// readNext splits a file into lines and numbers them.
func (f *files) readNext(data []byte) content {
	was := f.last
	from, behind := sameLines(was.data, data)
	first, last := record.CountLines(data[:from]), len(was.text)-record.CountLines(data[len(data)-behind:])
	c := f.numbered(split(string(data[from : len(data)-behind])))
	c.text = slices.Concat(was.text[:first], c.text, was.text[last:])
	c.numbers = slices.Concat(was.numbers[:first], c.numbers, was.numbers[last:])
	f.last = recent{data, c}
	return c
}

// numbered numbers lines. Without regard to white space, it removes that.
func (f *files) numbered(t text) content {
	if f.loose {
		for i, line := range t {
			t[i] = bare(line)
		}
	}
	return content{text: t, numbers: f.lines.numbers(t), known: true}
}

// has reports whether line i of a file is this text: git may have shown a text that differs from
// the file's.
func (f *files) has(ctx context.Context, e git.Entry, i int, line string) bool {
	if f.loose {
		line = bare(line)
	}
	t := f.read(ctx, e).text
	return i >= 0 && i < len(t) && t[i] == line
}

// equal reports whether an entry is a file with the same lines as another file.
func (f *files) equal(ctx context.Context, e, other git.Entry) bool {
	return isFile(e) && slices.Equal(f.read(ctx, e).numbers, f.read(ctx, other).numbers)
}

// hasOnce reports whether a file has line i only once.
func (f *files) hasOnce(ctx context.Context, e git.Entry, i int) bool {
	numbers := f.read(ctx, e).numbers
	return i < len(numbers) && f.times(ctx, e, numbers[i]) == 1
}

// times returns how often a file has the line of a number.
func (f *files) times(ctx context.Context, e git.Entry, line int32) int {
	return f.counts.get(e.OID, func() map[int32]int {
		numbers := f.read(ctx, e).numbers
		counts := make(map[int32]int, len(numbers))
		for _, id := range numbers {
			counts[id]++
		}
		return counts
	})[line]
}

// matched returns for each line of one file its partner in another one, as match does.
func (f *files) matched(ctx context.Context, from, to git.Entry) []int {
	return f.matches.get([2]name.OID{from.OID, to.OID}, func() []int {
		before, after := f.read(ctx, from), f.read(ctx, to)
		if from.OID == to.OID && isFile(from) && isFile(to) {
			m := make([]int, len(after.numbers))
			for i := range m {
				m[i] = i
			}
			return m
		}
		f.diffs++
		m := f.lines.match(before.numbers, after.numbers)
		if !before.known {
			for i := range m {
				m[i] = doubtful
			}
		}
		return m
	})
}

// newLines returns the lines that a change adds to a file. Empty lines are nobody's.
func (f *files) newLines(ctx context.Context, change git.Change) (lines []int) {
	t := f.read(ctx, change.New).text
	if len(t) == 0 {
		return nil
	}
	before := f.matched(ctx, change.Old, change.New)
	for i := range t {
		if before[i] < 0 && bare(t[i]) != "" {
			lines = append(lines, i)
		}
	}
	return lines
}
