package snapshot

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"math"
	"path/filepath"
	"slices"
	"sort"
	"strings"
	"time"

	"git-checkpoint/internal/git"
	"git-checkpoint/internal/name"
)

// Shot takes captures of one worktree.
type Shot struct {
	repo    *git.Repo
	dir     string // disposable files of this program in the git directory
	scratch string // those of a capture: dir, or elsewhere where that cannot be written
	scanner Scanner
	config  []string // git configuration that corrects what lies about the file system
	tree    *worktree

	// Leave are paths that no capture takes, files or directories: what this program
	// itself writes into the worktree for others.
	Leave []string
}

// New prepares for captures of a repository's worktree. Close it.
func New(repo *git.Repo) (*Shot, error) {
	dir, err := repo.Dir()
	scratch := dir
	if borrowed := repo.Borrowed(); borrowed != "" {
		dir, scratch, err = filepath.Join(repo.GitDir, "checkpoint"), borrowed, nil
	}
	if err != nil {
		return nil, err
	}
	w, err := openWorktree(repo.WorkTree)
	if err != nil {
		return nil, err
	}
	config, err := probe(repo, scratch)
	if err != nil {
		w.close()
		return nil, err
	}
	shot := &Shot{repo: repo, dir: dir, scratch: scratch, config: config, tree: w}
	plain := &gitScanner{repo, config, w}
	shot.scanner = plain
	if v, _ := repo.Config.Get("checkpoint.scanner"); v != "git" && len(config) == 0 {
		if native := newNative(plain); native != nil {
			shot.scanner = native
		}
	}
	return shot, nil
}

// Close lets go of the worktree.
func (s *Shot) Close() { s.tree.close() }

// take is one try of Take.
func (s *Shot) take(ctx context.Context, rules Rules) (*Capture, error) {
	began := time.Now()
	private, err := s.openIndex(ctx)
	if err != nil {
		return nil, err
	}
	defer private.remove()
	if err := s.calm(private); err != nil {
		return nil, err
	}
	scan, state, err := s.see(ctx, private)
	if err != nil {
		return nil, err
	}
	if rules.Ready != nil {
		if err := rules.Ready(); err != nil {
			return nil, err
		}
	}
	c := &Capture{Began: began, Index: state, index: private.was, Raw: map[string]name.OID{}, Touched: map[string]bool{}, Modes: scan.Modes, ModesKnown: scan.ModesKnown, look: rules.Look}
	if c.Modes == nil {
		c.Modes = map[string]fs.FileMode{}
	}
	edits := map[string]git.Entry{}
	files, err := s.choose(ctx, private, scan, rules, c, edits)
	if err != nil {
		return nil, err
	}
	if err := s.guardSize(ctx, files, rules); err != nil {
		return nil, err
	}
	converts := s.mayConvert(private, files)
	if err := s.hash(ctx, private, files, converts, c, edits); err != nil {
		return nil, err
	}
	if converts || s.convertedBefore() {
		// After hashing: now the private index has the attributes that were captured.
		if err := s.keepUnchanged(ctx, private, c); err != nil {
			return nil, err
		}
	}
	s.repo.Recall(private.index, private.entries, edits)
	if c.Tree, err = s.repo.EditTree(ctx, state.Tree, edits); err != nil {
		return nil, fmt.Errorf("write the tree of the worktree: %w", err)
	}
	sort.Slice(c.Skipped, func(i, j int) bool { return c.Skipped[i].Path < c.Skipped[j].Path })
	c.New = append(c.New, c.Tree, state.Tree)
	head := s.repo.HeadTree(ctx)
	for _, tree := range []name.OID{c.Tree, state.Tree} {
		// Those of HEAD are its commit's to keep. One that cannot be read makes the
		// checkpoint no worse than HEAD is.
		if trees, err := s.repo.TreesBeyond(ctx, head, tree); err == nil {
			c.New = append(c.New, trees...)
		}
	}
	return c, nil
}

// see scans the worktree, and beside it finds out what is staged.
func (s *Shot) see(ctx context.Context, private *privateIndex) (Scan, IndexState, error) {
	staged := make(chan error, 1)
	state := private.state
	if s.sparseInForce() {
		state.SkipWorktree = without(state.SkipWorktree, state.SparsePresent)
	}
	go func() {
		var err error
		state.Tree, err = s.stagedTree(ctx, private)
		staged <- err
	}()
	scan, err := s.scanner.Scan(ctx, private)
	if stagedErr := <-staged; err == nil {
		err = stagedErr
	}
	return scan, state, err
}

// candidate is a file whose content goes into the tree.
type candidate struct {
	path    string
	mode    git.Mode
	size    int64
	tracked bool
	large   bool // too large, by the rules; the mode is zero
}

// choose applies the rules to what the scan found: deletions become edits at
// once, files to hash are returned, the rest is listed as skipped.
func (s *Shot) choose(ctx context.Context, private *privateIndex, scan Scan, rules Rules, c *Capture, edits map[string]git.Entry) ([]candidate, error) {
	excluded, err := s.matching(ctx, private, rules.Exclude)
	if err != nil {
		return nil, err
	}
	s.leaveMirrors(&scan, c)
	untracked := without(scan.Untracked, rules.Force) // those are taken whatever the rules say
	byRule := len(untracked)
	if len(rules.IncludeIgnored)+len(rules.Force) > 0 {
		more, err := s.ignored(ctx, private, rules, scan.Nested)
		if err != nil {
			return nil, err
		}
		untracked = append(untracked, more...)
	}
	slices.Sort(scan.Unreadable) // more than one process may have met them
	for _, d := range slices.Compact(scan.Unreadable) {
		c.Skipped = append(c.Skipped, Skip{Path: d, Reason: ReasonUnreadable})
	}
	for _, p := range scan.Special {
		c.Skipped = append(c.Skipped, Skip{Path: p, Reason: ReasonSpecial})
	}
	for _, d := range scan.Nested {
		if excluded[d] {
			c.Skipped = append(c.Skipped, Skip{Path: d + "/", Reason: ReasonExcluded})
			continue
		}
		if err := s.nested(ctx, d, c, edits); err != nil {
			return nil, err
		}
	}
	files, open, err := s.chooseTracked(ctx, scan.Tracked, excluded, rules, c, edits)
	if err == nil {
		err = s.settle(ctx, private, open, c)
	}
	if err != nil {
		return nil, err
	}
	for i, p := range untracked {
		if excluded[p] {
			c.Skipped = append(c.Skipped, Skip{Path: p, Reason: ReasonExcluded})
			continue
		}
		if i >= byRule {
			rules.MaxFileSize = math.MaxInt64 // asked for by name
		}
		f, err := s.consider(p, false, rules, c)
		if err != nil {
			return nil, err
		}
		if f != nil && f.large {
			c.Skipped = append(c.Skipped, Skip{Path: p, Reason: ReasonLarge, Size: f.size})
		}
		if f != nil && f.mode != 0 {
			c.Touched[p] = true
			files = append(files, *f)
			if i >= byRule {
				c.Ignored = append(c.Ignored, p)
			}
		}
	}
	return files, nil
}

// left is the path of Leave that p is, or is below.
func (s *Shot) left(p string) string {
	for _, l := range s.Leave {
		if p == l || strings.HasPrefix(p, l+"/") {
			return l
		}
	}
	return ""
}

// leaveMirrors takes what is below Leave out of what was found, and lists each once.
func (s *Shot) leaveMirrors(scan *Scan, c *Capture) {
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

// chooseTracked is choose for files that the index has. Those that a rule leaves out
// are still open: they may be what is staged.
func (s *Shot) chooseTracked(ctx context.Context, tracked []Tracked, excluded map[string]bool, rules Rules, c *Capture, edits map[string]git.Entry) (files []candidate, open []leftOut, err error) {
	leave := func(p, reason string) error {
		info, err := s.tree.lstat(p)
		o := leftOut{Skip{Path: p, Reason: reason}, info}
		if info != nil && reason == ReasonLarge {
			o.Size = info.Size()
		}
		open = append(open, o)
		return err
	}
	for _, t := range tracked {
		c.Touched[t.Path] = true
		if reason := ReasonExcluded; excluded[t.Path] || s.left(t.Path) != "" {
			if !excluded[t.Path] {
				reason = ReasonMirror
			}
			if err := leave(t.Path, reason); err != nil {
				return nil, nil, fmt.Errorf("look at %q: %w", t.Path, err)
			}
			continue
		}
		if t.Mode == git.ModeGitlink {
			if err := s.submodule(ctx, t, c, edits); err != nil {
				return nil, nil, err
			}
			continue
		}
		f, err := s.consider(t.Path, true, rules, c)
		if err == nil && f == nil {
			err = s.replacedByRepo(ctx, t.Path, c, edits)
		}
		if err == nil && f != nil && f.large {
			err = leave(t.Path, ReasonLarge)
		}
		if err != nil {
			return nil, nil, err
		}
		if f != nil && f.mode != 0 {
			files = append(files, *f)
		}
	}
	return files, open, nil
}

// replacedByRepo records that a tracked file is gone. Where a repository of its
// own took its name, git lists neither: while the index has a file there, the
// directory is not untracked.
func (s *Shot) replacedByRepo(ctx context.Context, p string, c *Capture, edits map[string]git.Entry) error {
	edits[p] = git.Entry{}
	info, err := s.tree.lstat(p + "/.git")
	if err != nil || info == nil {
		return err
	}
	return s.nested(ctx, p, c, edits)
}

// consider looks at one path: nil when nothing is there, a mode of zero when a
// rule leaves it out.
func (s *Shot) consider(p string, tracked bool, rules Rules, c *Capture) (*candidate, error) {
	skip := func(reason string, size int64) (*candidate, error) {
		c.Skipped = append(c.Skipped, Skip{Path: p, Reason: reason, Size: size})
		return &candidate{path: p}, nil
	}
	info, err := s.tree.lstat(p)
	switch {
	case err != nil && errors.Is(err, errPermission):
		return skip(ReasonUnreadable, 0)
	case err != nil:
		return nil, fmt.Errorf("look at %q: %w", p, err)
	case info == nil:
		return nil, nil
	}
	symlink := modeOf(info) == git.ModeSymlink
	switch {
	case info.IsDir():
		return nil, nil // what it holds is listed by itself
	case !symlink && !info.Mode().IsRegular():
		return skip(ReasonSpecial, 0)
	case refusedName(p, symlink):
		return skip(ReasonName, info.Size())
	case !symlink && info.Size() > rules.MaxFileSize:
		return &candidate{path: p, size: info.Size(), large: true}, nil
	case !symlink && !s.tree.readable(p):
		return skip(ReasonUnreadable, info.Size())
	}
	if !symlink && unusual(info.Mode().Perm()) {
		c.Modes[p] = info.Mode().Perm()
	}
	return &candidate{path: p, mode: modeOf(info), size: info.Size(), tracked: tracked}, nil
}

// nested records an untracked repository as a gitlink; what is in it stays its own.
func (s *Shot) nested(ctx context.Context, dir string, c *Capture, edits map[string]git.Entry) error {
	if refusedName(dir, false) {
		c.Skipped = append(c.Skipped, Skip{Path: dir + "/", Reason: ReasonName})
		return nil
	}
	head, err := s.repo.HeadOf(ctx, s.tree.abs(dir))
	if err != nil {
		return err
	}
	reason := ReasonNested
	switch {
	case head == "":
		reason = ReasonUnborn
	case len(head) != 2*s.repo.HashLen(): // no tree here can name it
		reason = ReasonFormat
	default:
		edits[dir] = git.Entry{Mode: git.ModeGitlink, OID: head}
	}
	c.Skipped = append(c.Skipped, Skip{Path: dir + "/", Reason: reason})
	return nil
}

// submodule takes the commit that a changed submodule is at; changes inside it
// are not ours to keep.
func (s *Shot) submodule(ctx context.Context, t Tracked, c *Capture, edits map[string]git.Entry) error {
	info, err := s.tree.lstat(t.Path)
	if err != nil {
		return fmt.Errorf("look at %q: %w", t.Path, err)
	}
	if info == nil {
		edits[t.Path] = git.Entry{}
		return nil
	}
	if !info.IsDir() { // a file stands in its place
		f, err := s.consider(t.Path, true, Rules{MaxFileSize: 1 << 62}, c)
		if err != nil || f == nil || f.mode == 0 {
			return err
		}
		return s.hashOne(ctx, *f, c, edits)
	}
	head, err := s.repo.HeadOf(ctx, s.tree.abs(t.Path))
	if err != nil {
		return err
	}
	if head != "" && len(head) == 2*s.repo.HashLen() {
		edits[t.Path] = git.Entry{Mode: git.ModeGitlink, OID: head}
	}
	c.Skipped = append(c.Skipped, Skip{Path: t.Path + "/", Reason: ReasonSubmodule})
	return nil
}

// matching lists every tracked and untracked path that one of pathspecs matches.
func (s *Shot) matching(ctx context.Context, private *privateIndex, pathspecs []string) (map[string]bool, error) {
	if len(pathspecs) == 0 {
		return nil, nil
	}
	args := []string{"ls-files", "-z", "--full-name", "--cached", "--others", "--exclude-standard", "--"}
	paths, err := s.listBelow(ctx, private, args, pathspecs)
	out := make(map[string]bool, len(paths))
	for _, p := range paths {
		out[strings.TrimSuffix(p, "/")] = true
	}
	return out, err
}

// ignored lists the ignored files that are to be taken all the same, but for those in
// repositories of their own.
func (s *Shot) ignored(ctx context.Context, private *privateIndex, rules Rules, nested []string) ([]string, error) {
	tracked := make(map[string]bool, len(private.entries))
	for _, e := range private.entries {
		tracked[e.Path] = true
	}
	var out []string
	for _, p := range rules.Force {
		in := func(dir string) bool { return strings.HasPrefix(p, dir+"/") }
		if !tracked[p] && !slices.ContainsFunc(nested, in) {
			out = append(out, p)
		}
	}
	if len(rules.IncludeIgnored) == 0 {
		return out, nil
	}
	args := []string{"ls-files", "-z", "--full-name", "--others", "--ignored", "--exclude-standard", "--"}
	paths, err := s.listBelow(ctx, private, args, rules.IncludeIgnored)
	for _, p := range paths {
		if !strings.HasSuffix(p, "/") {
			out = append(out, p)
		}
	}
	return out, err
}

// PathspecError is what git says of a pathspec that it does not take.
type PathspecError struct{ Err error }

func (e *PathspecError) Error() string { return fmt.Sprintf("match paths: %v", e.Err) }

// Unwrap gives git's words.
func (e *PathspecError) Unwrap() error { return e.Err }

// listBelow runs ls-files where the user is, so that pathspecs mean what they say. They
// are what is wrong where it works without them.
func (s *Shot) listBelow(ctx context.Context, private *privateIndex, args, pathspecs []string) ([]string, error) {
	run := func(args []string) (git.Result, error) {
		return s.repo.Run(ctx, git.Cmd{
			Args: args, Config: s.config, Dir: s.tree.abs(s.repo.Prefix), Env: []string{"GIT_INDEX_FILE=" + private.path},
		})
	}
	res, err := run(slices.Concat(args, pathspecs))
	if err == nil {
		return splitPaths(res.Stdout), nil
	}
	if git.ExitCode(err) > 0 {
		if _, without := run(args); without == nil {
			return nil, &PathspecError{err}
		}
	}
	return nil, fmt.Errorf("match paths: %w", err)
}
