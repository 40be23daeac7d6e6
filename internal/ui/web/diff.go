package web

import (
	"bytes"
	"cmp"
	"context"
	"fmt"
	"io"
	"path"
	"slices"
	"strings"
	"unicode"
	"unicode/utf8"

	"git-checkpoint/internal/core/checkpoint"
	"git-checkpoint/internal/format/name"
	"git-checkpoint/internal/storage/worktree"
	"git-checkpoint/internal/sys/command"
	"git-checkpoint/internal/sys/gather"
	"git-checkpoint/internal/verb/inspect"
)

// longestFile and longestPage bound how many changed lines of one file and of all files a page
// shows. The lines of further files are shown on request. The other limits keep a page from
// exhausting memory.
const (
	longestFile  = 800       // changed lines of one file
	longestPage  = 4000      // changed lines of all files
	longestPatch = 16 << 20  // bytes
	longestLine  = 4 << 10   // bytes of a line
	mostLines    = 200 << 10 // lines of one file that was asked for
)

// fileDiff is a file that differs between two trees.
//
// The diffs come from two runs of git diff: --numstat -z gives the list of files with unambiguous
// names and their counts, and a patch of those that are short enough gives their lines.
type fileDiff struct {
	inspect.FileCount
	Name string // what the file is called
	Op   string // added, deleted, renamed or modified
	// OldID and NewID are the blobs, if the patch has them; empty where the file does not exist.
	OldID    string
	NewID    string
	Modes    string // a change of the file mode: "100644 → 100755"
	Hunks    []hunk
	Held     bool   // set if the lines are not shown, because they are too many
	Language string // the name of the language for the highlighter
	Image    bool   // set if the file's name is that of a picture; blob decides by the content
}

// hunk is a run of lines that differ, with the lines around them.
type hunk struct {
	Header string
	Lines  []line
}

// line is one line of a hunk. Its text is Before, Marked and Rest together; Marked is the part that
// differs from the line that it replaces or that replaced it.
type line struct {
	Kind                 string // add, del, same, or note for git's remarks
	Old, New             int    // line numbers; 0: none
	Before, Marked, Rest string
}

// filesOf returns the files that differ between two trees, with their lines unless a limit is
// exceeded. only is the path of a file to show in any case; then the lines of all others are held
// back.
func filesOf(ctx context.Context, service *checkpoint.Service, d *inspect.Difference, only string) ([]*fileDiff, error) {
	if d.FromTree == d.ToTree {
		return nil, nil
	}
	var numbers bytes.Buffer
	if err := gitDiff(ctx, service, d, &numbers, nil, "--numstat", "-z"); err != nil {
		return nil, err
	}
	var files []*fileDiff
	total := 0
	var paths []string
	shown := map[string]*fileDiff{}
	for _, count := range inspect.Counts(numbers.String()) {
		f := newFileDiff(count)
		files = append(files, f)
		changed := f.Added + f.Deleted
		asked := only == f.Path
		if f.Held = !asked && (only != "" || changed > longestFile || total+changed > longestPage); f.Held {
			continue
		}
		total += changed
		shown[f.Path] = f
		for _, p := range []string{f.Path, f.Old} {
			if p != "" {
				paths = append(paths, ":(top,literal)"+p)
			}
		}
	}
	all := gather.List(files, func(f *fileDiff) string { return f.Path })
	for i, name := range worktree.OneLineEach(all) {
		files[i].Name = name
	}
	files = slices.DeleteFunc(files, func(f *fileDiff) bool { return f.Name == "" })
	if len(shown) == 0 {
		return files, nil
	}
	// Without paths git compares all files. Either all are shown, or the command line would become
	// too long; then readPatch drops what is held back.
	if len(shown) == len(files) || len(paths) > 1000 {
		paths = nil
	}
	patch := command.Bounded{Most: longestPatch}
	if err := gitDiff(ctx, service, d, &patch, paths, "--numstat", "-z", "--patch", "--unified=3", "--full-index"); err != nil && !patch.Cut {
		return nil, err
	}
	readPatch(patch.String(), shown)
	return files, nil
}

// gitDiff runs git diff and switches off what the user's configuration would change in its format.
func gitDiff(ctx context.Context, service *checkpoint.Service, d *inspect.Difference, to io.Writer, paths []string, flags ...string) error {
	flags = append(flags, "--find-renames", "--no-ext-diff", "--no-textconv", "--src-prefix=a/", "--dst-prefix=b/", "--submodule=short")
	var problems bytes.Buffer
	code, err := inspect.PrintDiff(ctx, service, d, paths, flags, inspect.IO{Out: to, Err: &problems, Color: "never"})
	if err == nil && code != 0 {
		err = fmt.Errorf("git diff: %s", strings.TrimSpace(problems.String()))
	}
	return err
}

// newFileDiff makes a fileDiff from the counts. header corrects the operation if the patch says
// more.
func newFileDiff(count inspect.FileCount) *fileDiff {
	f := &fileDiff{FileCount: count, Op: "modified", Language: languageOf(count.Path)}
	f.Image = slices.Contains([]string{".png", ".jpg", ".jpeg", ".gif", ".webp", ".bmp"}, strings.ToLower(path.Ext(count.Path))) // blob answers with these
	if f.Old != "" {
		f.Op = "renamed"
	}
	return f
}

// readPatch adds the hunks of a patch to the files in byPath. Before the patch is a list of its files,
// with names that are not quoted, in its order. A file that became one of another kind is in the patch
// twice, with the same first line.
func readPatch(text string, byPath map[string]*fileDiff) {
	list, text, _ := strings.Cut(text, "\x00\x00")
	files := inspect.Counts(list)
	var f *fileDiff
	var first string
	var old, next int
	for text != "" {
		var l string
		l, text, _ = strings.Cut(text, "\n")
		switch {
		case strings.HasPrefix(l, "diff --git "):
			if l != first && len(files) > 0 {
				first, f, files = l, byPath[files[0].Path], files[1:]
			}
		case f == nil:
		case len(f.Hunks) == 0 && !strings.HasPrefix(l, "@@ "):
			f.header(l)
		case strings.HasPrefix(l, "@@ "):
			old, next = ranges(l)
			f.Hunks = append(f.Hunks, hunk{Header: plain(name.Short(l, longestLine))})
		default:
			h := &f.Hunks[len(f.Hunks)-1]
			if len(h.Lines) < mostLines {
				h.add(l, &old, &next)
			}
		}
	}
	for _, f := range byPath {
		for i := range f.Hunks {
			markWords(f.Hunks[i].Lines)
		}
	}
}

// header reads a line between "diff --git" and the first hunk: the mode, the blobs, and whether the
// file was added or deleted.
func (f *fileDiff) header(l string) {
	switch word, rest, _ := strings.Cut(l, " "); word {
	case "new":
		f.Op = "added"
		if mode, ok := strings.CutPrefix(rest, "mode "); ok {
			f.Modes += " → " + mode
			f.Op = "modified"
		}
	case "deleted":
		f.Op = "deleted"
	case "old":
		f.Modes = strings.TrimPrefix(rest, "mode ")
	case "index":
		ids, _, _ := strings.Cut(rest, " ")
		f.OldID, f.NewID, _ = strings.Cut(ids, "..")
		// An id of zeros only stands for no file.
		if strings.Trim(f.OldID, "0") == "" {
			f.OldID, f.Op = "", "added"
		}
		if strings.Trim(f.NewID, "0") == "" {
			f.NewID, f.Op = "", "deleted"
		}
	}
}

// ranges returns the first line numbers of a hunk on both sides, from "@@ -1,2 +3,4 @@".
func ranges(header string) (old, next int) {
	_, _ = fmt.Sscanf(header, "@@ -%d", &old) // if it is malformed, old stays 0
	if i := strings.Index(header, "+"); i >= 0 {
		_, _ = fmt.Sscanf(header[i:], "+%d", &next) // likewise
	}
	return old, next
}

// add appends a line of the patch and advances the line numbers.
func (h *hunk) add(l string, old, next *int) {
	if l == "" {
		return
	}
	text := plain(name.Short(l[1:], longestLine))
	switch l[0] {
	case '+':
		h.Lines = append(h.Lines, line{Kind: "add", New: *next, Before: text})
		*next++
	case '-':
		h.Lines = append(h.Lines, line{Kind: "del", Old: *old, Before: text})
		*old++
	case ' ':
		h.Lines = append(h.Lines, line{Kind: "same", Old: *old, New: *next, Before: text})
		*old++
		*next++
	case '\\':
		h.Lines = append(h.Lines, line{Kind: "note", Before: strings.TrimSpace(text)})
	}
}

// markWords looks for deleted lines that are followed by as many added ones, takes them for edits
// of each other, and marks in each pair what differs.
func markWords(lines []line) {
	for i := 0; i < len(lines); {
		dels := i
		for i < len(lines) && lines[i].Kind == "del" {
			i++
		}
		adds := i
		for i < len(lines) && lines[i].Kind == "add" {
			i++
		}
		if adds-dels == i-adds {
			for k := range adds - dels {
				mark(&lines[dels+k], &lines[adds+k])
			}
		}
		if i == dels {
			i++
		}
	}
}

// mark splits two lines into a common beginning, what differs, and a common end, at word
// boundaries. It leaves lines alone that share less than a third of the shorter one: there marks
// would not help.
func mark(a, b *line) {
	x, y := a.Before, b.Before
	begin := 0
	for begin < min(len(x), len(y)) && x[begin] == y[begin] {
		begin++
	}
	end := 0
	for end < min(len(x), len(y))-begin && x[len(x)-1-end] == y[len(y)-1-end] {
		end++
	}
	for inWord(x, begin) {
		begin--
	}
	for inWord(x, len(x)-end) {
		end--
	}
	if begin+end == 0 || (begin+end)*3 < min(len(x), len(y)) || begin+end > min(len(x), len(y)) {
		return
	}
	for _, l := range []*line{a, b} {
		text := l.Before
		l.Before, l.Marked, l.Rest = text[:begin], text[begin:len(text)-end], text[len(text)-end:]
	}
}

// inWord reports whether a position in text is within a word or a character.
func inWord(text string, at int) bool {
	return at > 0 && at < len(text) && (!utf8.RuneStart(text[at]) || isWord(text[at]) && isWord(text[at-1]))
}

// isWord reports whether a byte belongs to a word; bytes of characters beyond ASCII do.
func isWord(b byte) bool {
	return b >= utf8.RuneSelf || b == '_' || unicode.IsLetter(rune(b)) || unicode.IsDigit(rune(b))
}

// languageOf is the highlighter's name for the language of a file, by the file's name. The highlighter
// knows most extensions as names of their languages; it does nothing for a name that it does not know.
func languageOf(file string) string {
	base := strings.ToLower(path.Base(file))
	switch extension := path.Ext(base); {
	case base == "go.mod":
		return "go"
	case extension == ".cfg":
		return "ini"
	default:
		return strings.TrimPrefix(cmp.Or(extension, base), ".")
	}
}
