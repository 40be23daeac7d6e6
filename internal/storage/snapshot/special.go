package snapshot

// git lists no sockets, pipes and devices, and no directory that holds nothing else. A capture
// has to report them as skipped, so this file looks for them. Reading every directory would be
// slow where a large ignored one such as node_modules is. So only a directory below which git
// listed or tracks something is read in any case. In another one fewer than glanced names are read
// before git is asked whether it is ignored.

import (
	"context"
	"io/fs"
	"math"
	"path"
	"slices"
	"strings"
	"sync"

	"git-checkpoint/internal/git"
	"git-checkpoint/internal/storage/worktree"
	"git-checkpoint/internal/sys/gather"
)

// specialFinder looks for special files below the directories that the index does not have.
type specialFinder struct {
	git     *gitScanner
	holds   map[string]bool // directories with something below them that git listed or tracks
	nested  map[string]bool // repositories, which are not entered
	tracked map[string]bool // paths in the index
	ignores map[string]bool // names that are ignored for sure; see plainIgnores

	mu    sync.Mutex // protects the two below
	found []string   // special files and, ending in "/", directories that hold no file; ignored ones included
	wide  []string   // directories with glanced names or more, of which nothing else is known
}

// findSpecial adds special files to scan unless they are ignored. It looks below dirs, and takes
// over the special files in found. Those that entries stand for are known already.
func (s *gitScanner) findSpecial(ctx context.Context, scan *Scan, entries []git.IndexEntry, dirs, found []string) error {
	f := &specialFinder{git: s, holds: map[string]bool{".": true}, nested: gather.SetOf(scan.Nested), tracked: map[string]bool{}, found: found}
	if len(dirs) > 0 {
		f.ignores = s.plainIgnores()
	}
	for _, e := range entries {
		worktree.AddAbove(f.holds, e.Path)
		f.tracked[e.Path] = true
		if e.Mode == git.ModeGitlink {
			f.nested[e.Path] = true
		}
	}
	for _, list := range [][]string{scan.Untracked, scan.Nested} {
		for _, p := range list {
			worktree.AddAbove(f.holds, p)
		}
	}
	git.Each(len(dirs), func(i int) error { //nolint:errcheck // none has an error
		f.search(strings.TrimSuffix(dirs[i], "/"))
		return nil
	})
	if err := f.searchWide(ctx); err != nil || len(f.found) == 0 {
		return err
	}
	ignored, err := Ignored(ctx, s.repo, s.config, f.found)
	for _, p := range f.found {
		switch dir, is := strings.CutSuffix(p, "/"); {
		case ignored[p]:
		case is:
			scan.Empty = append(scan.Empty, dir)
		default:
			scan.Special = append(scan.Special, p)
		}
	}
	return err
}

// search reads a directory as far down as git listed or tracks something, and takes a short look at
// the rest.
func (f *specialFinder) search(dir string) {
	const glanced = 500 // how many names are read below a directory in which git listed nothing, before git is asked whether the directory is ignored
	switch {
	case f.nested[dir], !f.holds[dir] && f.ignored(dir):
		return
	case !f.holds[dir]:
		found, left := f.searchBelow(dir, glanced)
		f.mu.Lock()
		defer f.mu.Unlock()
		if left > 0 {
			f.found = append(f.found, found...)
		} else {
			f.wide = append(f.wide, dir)
		}
		return
	}
	for _, e := range f.read(dir) {
		if !e.IsDir() && !special(e.Type()) {
			continue
		}
		if p := path.Join(dir, e.Name()); e.IsDir() {
			f.search(p)
		} else if !f.tracked[p] {
			f.mu.Lock()
			f.found = append(f.found, p)
			f.mu.Unlock()
		}
	}
}

// searchBelow returns dir, the directories and the special files below it at any depth. It reads at most
// left names, and returns how many of these remain. If the names run out, it returns nothing and 0.
func (f *specialFinder) searchBelow(dir string, left int) (found []string, _ int) {
	if f.nested[dir] {
		return nil, left
	}
	entries := f.read(dir)
	if left -= len(entries); left <= 0 {
		return nil, 0
	}
	found = append(found, dir+"/")
	for _, e := range entries {
		if p := path.Join(dir, e.Name()); special(e.Type()) {
			found = append(found, p)
		} else if e.IsDir() {
			var more []string
			if more, left = f.searchBelow(p, left); left <= 0 {
				return nil, 0
			}
			found = append(found, more...)
		}
	}
	return found, left
}

// searchWide asks git which of the wide directories are ignored, and which directories directly in
// them, and reads the others completely.
func (f *specialFinder) searchWide(ctx context.Context) error {
	if len(f.wide) == 0 {
		return nil
	}
	in, asked := map[string][]fs.DirEntry{}, slices.Clone(f.wide)
	for _, d := range f.wide {
		in[d] = f.read(d)
		for _, e := range in[d] {
			if e.IsDir() {
				asked = append(asked, path.Join(d, e.Name()))
			}
		}
	}
	ignored, err := Ignored(ctx, f.git.repo, f.git.config, asked)
	if err != nil {
		return err
	}
	for _, d := range f.wide {
		f.found = append(f.found, d+"/")
		for _, e := range in[d] {
			p := path.Join(d, e.Name())
			switch {
			case ignored[d]:
			case special(e.Type()):
				f.found = append(f.found, p)
			case e.IsDir() && !ignored[p]:
				found, _ := f.searchBelow(p, math.MaxInt)
				f.found = append(f.found, found...)
			}
		}
	}
	return nil
}

// plainIgnores returns the names that the topmost .gitignore lists without wildcards or slashes
// other than a final one, as in "node_modules/". Directories of these names are ignored for sure,
// which saves a git process. If there is a negated rule it returns nil, as then only git can
// tell.
func (s *gitScanner) plainIgnores() map[string]bool {
	info, err := s.files.Lstat(".gitignore")
	if err != nil || info == nil || !info.Mode().IsRegular() || info.Size() > 1<<20 {
		return nil
	}
	data, _, err := s.files.Read(".gitignore", info)
	if err != nil {
		return nil
	}
	out := map[string]bool{}
	for line := range strings.Lines(string(data)) {
		if strings.HasPrefix(line, "!") {
			return nil
		}
		if n := strings.TrimSuffix(strings.TrimSuffix(line, "\n"), "/"); n != "" && strings.Trim(n, plainLetters) == "" {
			out[n] = true
		}
	}
	return out
}

// plainLetters are the characters that have no special meaning in an ignore rule.
const plainLetters = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789-_."

// ignored reports whether a directory is ignored for sure: its name is in the topmost .gitignore,
// and no .gitignore in between could say otherwise. False means that it is not known.
func (f *specialFinder) ignored(dir string) bool {
	if !f.ignores[path.Base(dir)] {
		return false
	}
	for d := range worktree.ParentsOf(dir) {
		if info, err := f.git.files.Lstat(path.Join(d, ".gitignore")); err != nil || info != nil {
			return false
		}
	}
	return true
}

// read lists a directory without what is never captured. It ignores errors: git reports a
// directory that cannot be read.
func (f *specialFinder) read(dir string) []fs.DirEntry {
	if len(dir) > cutPath { // git reads nothing there
		return nil
	}
	entries, _ := f.git.files.ReadDir(dir) //nolint:errcheck // as said
	return slices.DeleteFunc(entries, func(e fs.DirEntry) bool {
		return e.Name() == ".git" || worktree.IsStaging(e.Name()) || e.IsDir() && f.git.files.IsGit(path.Join(dir, e.Name()))
	})
}

// special reports whether a type is neither that of a file, a directory nor a symbolic link.
func special(t fs.FileMode) bool { return t&^(fs.ModeDir|fs.ModeSymlink) != 0 }
