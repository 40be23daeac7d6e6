package snapshot

// This file finds the files that the rules of a capture name by pathspecs.

import (
	"context"
	"fmt"
	"math"
	"path"
	"slices"
	"strings"

	"git-checkpoint/internal/git"
	"git-checkpoint/internal/sys/gather"
)

// excluded returns the paths that the rules leave out. Ignored ones are among them if the rules ask for some.
func (s *indexes) excluded(ctx context.Context, private *privateIndex, rules Rules) (map[string]bool, error) {
	args := []string{"ls-files", "-z", "--full-name", "--cached", "--others", "--exclude-standard", "--"}
	if len(rules.Exclude) == 0 {
		return nil, nil
	} else if len(rules.IncludeIgnored)+len(rules.Include) > 0 {
		args = slices.Delete(args, 5, 6)
	}
	paths, err := s.listBelow(ctx, private, args, rules.Exclude)
	out := gather.Set(paths, func(p string) string { return strings.TrimSuffix(p, "/") })
	for _, p := range rules.Always {
		delete(out, p)
	}
	return out, err
}

// ignored lists the ignored files that the rules ask for: those of Force that are not tracked,
// and those that match IncludeIgnored. Files inside nested repositories are left out; one that is
// ignored itself ends in "/". other are those that match only Include. What the rules ask for and nobody can
// capture is added to the special files of scan.
func (s *chooser) ignored(ctx context.Context, private *privateIndex, rules Rules, scan *Scan) (asked, other []string, err error) {
	if asked, err = s.listForced(ctx, private, rules, scan.Nested); err == nil && len(rules.Include) > 0 {
		other, err = s.listIgnored(ctx, private, rules.Include)
		other = subtract(s.files.WithoutGit(other), asked)
	}
	f := &specialFinder{git: &gitScanner{s.indexes}, nested: gather.SetOf(scan.Nested)}
	for _, p := range slices.Concat(asked, other) {
		f.nested[strings.TrimSuffix(p, "/")] = strings.HasSuffix(p, "/")
	}
	for _, e := range private.entries {
		if e.Mode == git.ModeGitlink {
			f.nested[e.Path] = true
		}
	}
	found := subtract(slices.Concat(f.asked(rules.Include, ""), f.asked(rules.IncludeIgnored, s.repo.Prefix)), f.asked(rules.Exclude, s.repo.Prefix))
	for _, p := range slices.Compact(slices.Sorted(slices.Values(subtract(found, scan.Special)))) {
		if dir, is := strings.CutSuffix(p, "/"); !is {
			scan.Special = append(scan.Special, p)
		} else if !s.files.Readable(dir) {
			scan.Unreadable = append(scan.Unreadable, p)
		}
	}
	return asked, other, err
}

// asked returns the special files that pathspecs name, relative to dir: by their own name, or by a directory,
// and such directories, which end in "/". Only the last name of a pathspec may have wildcards.
func (f *specialFinder) asked(specs []string, dir string) (found []string) {
	for _, spec := range specs {
		at := path.Join(dir, spec)
		for _, magic := range []string{":(top,glob)", ":(top,literal)", ":(top)", ":/"} {
			if plain, is := strings.CutPrefix(spec, magic); is {
				at = path.Clean(plain)
				break
			}
		}
		for _, e := range f.read(path.Dir(at)) {
			p := path.Join(path.Dir(at), e.Name())
			if like, err := path.Match(at, p); p != at && (err != nil || !like) {
				continue
			} else if special(e.Type()) {
				found = append(found, p)
			} else if e.IsDir() {
				below, _ := f.searchBelow(p, math.MaxInt)
				found = append(found, below...)
			}
		}
	}
	return found
}

// listForced is the part of ignored for what is asked for by name.
func (s *chooser) listForced(ctx context.Context, private *privateIndex, rules Rules, nested []string) ([]string, error) {
	fold := func(p string) string { return p }
	if s.folds { // a file that the index has under another spelling is captured there
		fold = strings.ToLower
	}
	untracked := gather.Set(rules.Force, fold)
	for i := 0; i < len(private.entries) && len(untracked) > 0; i++ {
		delete(untracked, fold(private.entries[i].Path))
	}
	out := gather.Those(rules.Force, func(p string) bool {
		return untracked[fold(p)] && !slices.ContainsFunc(nested, func(dir string) bool { return strings.HasPrefix(p, dir+"/") })
	})
	if len(rules.IncludeIgnored) == 0 {
		return s.files.WithoutGit(out), nil
	}
	paths, err := s.listIgnored(ctx, private, rules.IncludeIgnored)
	return s.files.WithoutGit(append(out, paths...)), err
}

// listIgnored lists the ignored files that match pathspecs.
func (s *indexes) listIgnored(ctx context.Context, private *privateIndex, pathspecs []string) ([]string, error) {
	args := []string{"ls-files", "-z", "--full-name", "--others", "--ignored", "--exclude-standard", "--"}
	return s.listBelow(ctx, private, args, pathspecs) // it prints a nested repository as a directory
}

// PathspecError wraps git's error about a pathspec that it does not accept. It is the user's
// mistake.
type PathspecError struct{ Err error }

func (e *PathspecError) Error() string { return fmt.Sprintf("match paths: %v", e.Err) }

// Unwrap returns git's error.
func (e *PathspecError) Unwrap() error { return e.Err }

// listBelow runs ls-files in the user's working directory, since pathspecs are relative to it. If
// that fails, it runs the same command without pathspecs; if that works, the pathspecs are wrong,
// and the error is a PathspecError.
func (s *indexes) listBelow(ctx context.Context, private *privateIndex, args, pathspecs []string) ([]string, error) {
	run := func(args []string) (git.Result, error) {
		return s.repo.Run(ctx, git.Cmd{
			Args: args, Config: s.config, Dir: s.files.Abs(s.repo.Prefix), Env: []string{"GIT_INDEX_FILE=" + private.path},
		})
	}
	res, err := run(slices.Concat(args, pathspecs))
	if err == nil {
		return res.Paths(), nil
	}
	if git.ExitCode(err) > 0 {
		if _, without := run(args); without == nil {
			return nil, &PathspecError{err}
		}
	}
	return nil, fmt.Errorf("match paths: %w", err)
}
