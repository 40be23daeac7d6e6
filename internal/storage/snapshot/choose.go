package snapshot

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io/fs"
	"math"
	"path"
	"slices"
	"strings"

	"git-checkpoint/internal/git"
	"git-checkpoint/internal/storage/worktree"
	"git-checkpoint/internal/sys/gather"
)

// candidate is a file whose content is to be hashed.
type candidate struct {
	path   string
	mode   git.Mode // zero if there is no file, or if a rule leaves it out
	staged git.Mode // of its entry in the index, which may be of a conflict; 0: none
	size   int64
	index  git.Entry   // its entry in the index; zero unless it is in the tree of what is staged
	large  bool        // larger than Rules.MaxFileSize; mode is zero then
	gone   bool        // there is no file; mode is zero then
	dir    bool        // there is a directory instead; gone is true then
	inOnly bool        // git converts only line endings, and only from the file to the blob
	seen   cachedHash  // what the previous capture read in this version of the file, or zero
	info   fs.FileInfo // of the file; nil if there is none

	database bool // an SQLite database; size is that of all that belongs to it
}

// chooser decides which of the files that a scan found are captured.
type chooser struct {
	indexes
	hash  hasher
	rules ignoreRules
}

// choose applies the rules to the result of a scan. It returns the files to hash, adds deletions
// and gitlinks to c.edits, and lists everything else in c.Skipped.
//
// Files in Rules.Force are handled after the other untracked files, with those of
// Rules.IncludeIgnored: both were asked for by name, so the limit on size does not apply to them.
func (s *chooser) choose(ctx context.Context, private *privateIndex, scan Scan, rules Rules, c *Capture) ([]candidate, error) {
	excluded, err := s.excluded(ctx, private, rules)
	if err != nil {
		return nil, err
	}
	rules.excluded = excluded
	s.leaveMirrors(&scan, c)
	s.gatherDatabases(&scan, private, rules.LeaveUnignored, c)
	untracked, err := s.chooseUnignored(ctx, rules, subtract(scan.Untracked, rules.Force), c) // Force is added below
	if err != nil {
		return nil, err
	}
	byRule, plain := len(untracked), gather.SetOf(subtract(rules.Force, subtract(rules.Force, scan.Untracked)))
	byName := byRule
	if len(rules.IncludeIgnored)+len(rules.Force)+len(rules.Include) > 0 {
		asked, other, err := s.ignored(ctx, private, rules, &scan)
		if err != nil {
			return nil, err
		}
		asked, other = slices.DeleteFunc(asked, s.isSide), slices.DeleteFunc(other, s.isSide)
		byName += len(other)
		untracked = slices.Concat(untracked, other, asked)
	}
	c.cannotTake(scan)
	for _, d := range scan.Nested {
		if excluded[d] {
			c.Skipped = append(c.Skipped, Skip{Path: d + "/", Reason: ReasonExcluded})
			continue
		}
		if err := s.nested(ctx, d, c); err != nil {
			return nil, err
		}
	}
	files, open, err := s.chooseTracked(ctx, private, scan.Tracked, excluded, rules, c)
	if err != nil {
		return nil, err
	}
	found, err := s.chooseNew(untracked, byName, excluded, rules, c)
	if err == nil {
		err = s.skipUnstaged(ctx, private, c.withoutReplaced(private, open, found), c)
	}
	c.Touched = roomFor(c.Touched, len(found))
	for i, f := range found {
		if f.mode != 0 {
			c.Touched[f.path] = true
			c.Untracked = append(c.Untracked, f.path)
			if i >= byRule && !plain[f.path] {
				c.Ignored = append(c.Ignored, f.path)
			}
		}
	}
	if err == nil {
		err = s.keepUnread(ctx, rules, c)
	}
	s.noteEmpty(scan.Empty, private, c)
	return append(files, slices.DeleteFunc(found, func(f candidate) bool { return f.mode == 0 })...), err
}

// cannotTake lists what nobody can capture.
func (c *Capture) cannotTake(scan Scan) {
	slices.Sort(scan.Unreadable) // both git processes of a scan may have reported the same one
	for _, d := range slices.Compact(scan.Unreadable) {
		c.Skipped = append(c.Skipped, Skip{Path: d, Reason: ReasonUnreadable})
	}
	for _, p := range scan.Special {
		c.Skipped = append(c.Skipped, Skip{Path: p, Reason: ReasonSpecial})
	}
}

// left returns the path in Leave that is p or a directory above p, and "" if there is none.
func (s *chooser) left(p string) string {
	for _, l := range s.Leave {
		if Covers(l, p) {
			return l
		}
	}
	return ""
}

// leaveMirrors removes the paths below Leave from the scan, and lists each path of Leave in
// c.Skipped at most once, whatever the number of files below it. Tracked files are left to
// chooseTracked.
func (s *chooser) leaveMirrors(scan *Scan, c *Capture) {
	listed := map[string]bool{}
	keep := func(paths []string) []string {
		return slices.DeleteFunc(paths, func(p string) bool {
			l := s.left(strings.TrimSuffix(p, "/"))
			if l == "" || listed[l] {
				return l != ""
			}
			listed[l] = true
			if strings.TrimSuffix(p, "/") != l || strings.HasSuffix(p, "/") {
				l += "/"
			}
			c.Skipped = append(c.Skipped, Skip{Path: l, Reason: ReasonMirror})
			return true
		})
	}
	if len(s.Leave) > 0 {
		scan.Untracked, scan.Special, scan.Nested, scan.Unreadable = keep(scan.Untracked), keep(scan.Special), keep(scan.Nested), keep(scan.Unreadable)
	}
}

// chooseNew applies the rules to untracked files, which are sorted up to byName, and were asked for by
// name after it. It looks at a piece of them at a time, because neighbours share their directory.
func (s *chooser) chooseNew(untracked []string, byName int, excluded map[string]bool, rules Rules, c *Capture) ([]candidate, error) {
	const piece = 256
	found := make([]candidate, len(untracked))
	err := git.Each((len(untracked)+piece-1)/piece, func(n int) error {
		held := s.files.Hold()
		defer held.Close()
		var errs []error
		for i := n * piece; i < min((n+1)*piece, len(untracked)); i++ {
			rules := rules
			if i >= byName {
				rules.MaxFileSize = math.MaxInt64
			}
			var err error
			if p := untracked[i]; excluded[strings.TrimSuffix(p, "/")] {
				c.skip(Skip{Path: p, Reason: ReasonExcluded})
			} else if strings.HasSuffix(p, "/") { // a repository that is ignored
				c.skip(Skip{Path: p, Reason: ReasonNested})
			} else if found[i], err = s.consider(held, p, 0, rules, c); found[i].large {
				c.skip(Skip{Path: p, Reason: ReasonLarge, Size: found[i].size})
			}
			errs = append(errs, err)
		}
		return errors.Join(errs...)
	})
	return found, err
}

// chooseTracked applies the rules to tracked files that differ from the index. A file that a rule
// leaves out is returned in open instead of being skipped at once: skipUnstaged checks whether its
// content is what is staged, in which case the tree has it after all.
func (s *chooser) chooseTracked(ctx context.Context, private *privateIndex, tracked []Tracked, excluded map[string]bool, rules Rules, c *Capture) (files []candidate, open []leftOut, err error) {
	leave := func(p, reason string) error {
		info, err := s.files.Lstat(p)
		if err != nil {
			return fmt.Errorf("look at %q: %w", p, err)
		}
		o := leftOut{Skip{Path: p, Reason: reason}, info}
		if info != nil && reason == ReasonLarge {
			o.Size = info.Size()
		}
		open = append(open, o)
		return nil
	}
	held := s.files.Hold() // a directory that is gone may have held thousands of them
	defer held.Close()
	for _, t := range tracked {
		if s.files.InGit(path.Dir(t.Path)) {
			continue // `git add` took files of the git directory: what is staged counts
		}
		c.Touched[t.Path] = true
		var f candidate
		switch {
		case excluded[t.Path]:
			err = leave(t.Path, ReasonExcluded)
		case s.left(t.Path) != "":
			err = leave(t.Path, ReasonMirror)
		case t.Mode == git.ModeGitlink:
			err = s.submodule(ctx, t, c)
		default:
			f, err = s.consider(held, t.Path, private.modeAt(t.Path), rules, c)
		}
		if err == nil && f.gone {
			err = s.gone(ctx, f, c)
		}
		if f.large && f.database { // what is staged does not stand for all of it
			c.skip(Skip{Path: t.Path, Reason: ReasonLarge, Size: f.size})
		} else if err == nil && f.large {
			err = leave(t.Path, ReasonLarge)
		}
		if err != nil {
			return nil, nil, err
		}
		if f.mode != 0 {
			f.index = private.entry(t.Path)
			files = append(files, f)
		}
	}
	return files, open, nil
}

// takesLong reports whether a file changed and is larger than Rules.MaxUnread. What a database keeps beside
// its file belongs to it.
func (s *chooser) takesLong(look looker, p string, rules Rules, c *Capture) bool {
	return rules.MaxUnread > 0 && slices.ContainsFunc(worktree.Group(cmp.Or(worktree.DatabaseOf(p), p)), func(p string) bool {
		info, err := look.Lstat(p)
		if err != nil || info == nil || !info.Mode().IsRegular() || info.Size() <= rules.MaxUnread {
			return false
		}
		_, known := c.hashes.find(p, info)
		return !known
	})
}

// keepUnread gives what was not looked at the entries of the previous checkpoint.
func (s *chooser) keepUnread(ctx context.Context, rules Rules, c *Capture) error {
	if rules.MaxUnread == 0 || rules.Known == nil {
		return nil
	}
	known := rules.Known()
	for _, sk := range c.Skipped {
		if sk.Reason != ReasonUnread || known == "" {
			continue
		}
		paths := []string{sk.Path}
		if s.files.IsDatabase(sk.Path) {
			paths = worktree.Group(sk.Path)
		}
		for _, p := range paths {
			e, _, err := s.repo.Trees.Lookup(ctx, known, p)
			if err != nil {
				return err
			}
			c.edits[p] = e
		}
	}
	return nil
}

// skip lists a path that was left out.
func (c *Capture) skip(left Skip) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.Skipped = append(c.Skipped, left)
}

// looker looks at paths without following a link. The info is nil if nothing is there.
type looker interface {
	Lstat(p string) (fs.FileInfo, error)
}

// recognize notes what is known of a file from an earlier capture, or else whether it is a database. It returns false for
// one that cannot be read.
func (s *chooser) recognize(found *candidate, c *Capture) bool {
	seen, known := c.hashes.find(found.path, found.info)
	if known || found.mode == git.ModeSymlink {
		found.seen, found.database = seen, seen.database
		return true
	}
	head, readable := s.files.Head(found.path, 16)
	found.database = worktree.IsDatabase(head)
	return readable
}

// consider decides about one path, at which look looks, and whose index entry has the mode staged (0:
// there is none). It may run for several at a time if look may. It lists a skipped file in c.Skipped,
// except a file that is too large: the caller does that, because a tracked one may turn out to be
// unchanged.
func (s *chooser) consider(look looker, p string, staged git.Mode, rules Rules, c *Capture) (candidate, error) {
	skip := func(reason string, size int64) (candidate, error) {
		c.skip(Skip{Path: p, Reason: reason, Size: size})
		return candidate{path: p}, nil
	}
	info, err := look.Lstat(p)
	switch {
	case errors.Is(err, fs.ErrPermission):
		return skip(ReasonUnreadable, 0)
	case err != nil:
		return candidate{}, fmt.Errorf("look at %q: %w", p, err)
	case info == nil && tooLong(p):
		return skip(ReasonLong, 0) // what is staged counts
	case info == nil:
		return candidate{path: p, gone: true}, nil
	}
	symlink := worktree.ModeOf(info) == git.ModeSymlink
	switch {
	case info.IsDir():
		return candidate{path: p, gone: true, dir: true}, nil // the files in it are listed on their own
	case !symlink && !info.Mode().IsRegular():
		return skip(ReasonSpecial, 0)
	case git.RefusedName(p, symlink):
		return skip(ReasonName, info.Size())
	case !symlink && info.Size() > rules.MaxFileSize:
		return candidate{path: p, size: info.Size(), large: true, database: s.files.IsDatabase(p)}, nil
	}
	if !symlink && s.takesLong(look, p, rules, c) {
		return skip(ReasonUnread, info.Size())
	}
	found := candidate{path: p, mode: s.modeOf(info, staged), staged: staged, size: info.Size(), info: info}
	if !s.recognize(&found, c) {
		return skip(ReasonUnreadable, info.Size())
	}
	if found.database {
		switch excluded, err := s.weigh(look, &found, rules); {
		case err != nil:
			return candidate{}, err
		case excluded:
			return skip(ReasonExcluded, 0)
		case found.size > rules.MaxFileSize:
			return candidate{path: p, size: found.size, large: true, database: true}, nil
		}
	}
	if bits, has := s.unusualBits(info); has {
		c.mu.Lock()
		c.Modes[p] = bits
		c.mu.Unlock()
	}
	return found, nil
}
