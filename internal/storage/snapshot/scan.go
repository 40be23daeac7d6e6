package snapshot

import (
	"bytes"
	"context"
	"fmt"
	"io/fs"
	"slices"
	"strconv"
	"strings"

	"git-checkpoint/internal/git"
	"git-checkpoint/internal/storage/worktree"
	"git-checkpoint/internal/sys/gather"
)

// Scanner finds where the worktree differs from an index. There are two implementations with the
// same results: gitScanner runs git, nativeScanner (native.go, Linux only) compares stat data
// itself.
type Scanner interface {
	Scan(ctx context.Context, index *privateIndex) (Scan, error)
}

// Scan lists what differs from an index. A path in Tracked may turn out to have the same content,
// since only stat data were compared.
type Scan struct {
	Tracked    []Tracked
	Untracked  []string // files and symbolic links that are not ignored
	Nested     []string // untracked directories that are repositories, without a final "/"
	Unreadable []string // directories, ending in "/", and tracked files
	Special    []string // sockets, pipes and devices, which git never lists
	Beside     []string // tracked files beside which an untracked one has the name of what belongs to a database
	Empty      []string // directories that are not ignored and hold no file that git lists

	Modes map[string]fs.FileMode // has the unusual permission bits of tracked files that did not change
}

// Tracked is an index entry whose file does not match it, or does not exist.
type Tracked struct {
	Path string
	Mode git.Mode // of the index entry; 0 for one in conflict, and for intent-to-add
}

// newScanner returns the native scanner where it can tell what git would, and git's own otherwise. The setting
// checkpoint.scanner=git turns the native one off.
func newScanner(index indexes) Scanner {
	plain := &gitScanner{index}
	if v, _ := index.repo.Config.Get("checkpoint.scanner"); v != "git" {
		if native := newNative(plain); native != nil {
			return native
		}
	}
	return plain
}

// gitScanner scans with git: diff-files for tracked files and ls-files for untracked ones, at the
// same time. Both work on the private index, and neither writes it.
type gitScanner struct{ indexes }

// Scan implements Scanner. What git does not report is added afterwards: files that changed
// without a visible change of their stat data (addDoubtful), and special files (findSpecial).
func (s *gitScanner) Scan(ctx context.Context, private *privateIndex) (Scan, error) {
	var scan Scan
	index := private.path
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	others := make(chan error, 1)
	go func() {
		others <- s.untracked(ctx, index, &scan, nil)
	}()
	tracked, stderr, err := s.tracked(ctx, private)
	if err != nil {
		cancel()
		<-others //nolint:errcheck // it was told to end
		return scan, err
	}
	if err := <-others; err != nil {
		return scan, err
	}
	scan.Unreadable = append(scan.Unreadable, stderr...)
	scan.Tracked = tracked
	if err := s.addDoubtful(&scan, private); err != nil {
		return scan, err
	}
	res, err := s.onIndex(ctx, index, "", "ls-files", "-z", "--others", "--", "*-wal", "*-journal")
	if err != nil {
		return scan, fmt.Errorf("list what belongs to databases: %w", err)
	}
	scan.noteBeside(res.Paths())
	if s.trackedOnly {
		return scan, nil
	}
	return scan, s.findSpecial(ctx, &scan, private.entries, []string{"."}, nil)
}

// addDoubtful adds entries that git takes for unchanged because of their stat data, but that may
// have changed: entries as young as the index, and entries whose times differ by less than a
// second, which most builds of git do not compare. For the remaining ones it records unusual
// permission bits, as the files are looked at anyway.
func (s *gitScanner) addDoubtful(scan *Scan, private *privateIndex) error {
	listed := gather.Set(scan.Tracked, func(t Tracked) string { return t.Path })
	looks := make([]lstatResult, len(private.entries))
	err := git.Each(len(private.entries), func(i int) error {
		e := private.entries[i]
		if e.Stage == 0 && regular(e.Mode) && !e.IntentToAdd && !e.SkipWorktree && !listed[e.Path] {
			looks[i] = s.unseen(e, private)
		}
		return nil
	})
	scan.Modes = map[string]fs.FileMode{}
	for i, e := range private.entries {
		if looks[i].differs {
			scan.Tracked = append(scan.Tracked, Tracked{e.Path, e.Mode})
		} else if looks[i].unusual {
			scan.Modes[e.Path] = looks[i].bits
		}
	}
	return err
}

// lstatResult is what lstat says about a file that git did not list.
type lstatResult struct {
	differs bool        // it is gone, or its content may not be that of the entry
	bits    fs.FileMode // permission bits
	unusual bool        // a record has to keep them
}

// unseen looks at the file of an entry that git takes for unchanged.
func (s *gitScanner) unseen(e git.IndexEntry, private *privateIndex) (l lstatResult) {
	info, err := s.files.Lstat(e.Path)
	switch {
	case err != nil:
		return l // git reports these errors itself
	case info == nil, private.doubtful(e):
		return lstatResult{differs: true}
	}
	l.bits, l.unusual = s.unusualBits(info)
	m, c := uint32(info.ModTime().Nanosecond()), uint32(worktree.ChangeTime(info).Nanosecond())
	l.differs = e.MtimeNsec != 0 && m != e.MtimeNsec || e.CtimeNsec != 0 && c != e.CtimeNsec
	return l
}

// tracked returns the entries that diff-files reports, and the paths that git could not read. With
// names it looks only at these paths; they are taken literally.
//
// git ends at the first submodule that it cannot read, because its git directory is gone or damaged.
// Then the submodules are asked for one by one, and those are among the paths that git could not read.
func (s *gitScanner) tracked(ctx context.Context, p *privateIndex, names ...string) ([]Tracked, []string, error) {
	out, unreadable, err := s.diffFiles(ctx, p.path, "none", names...)
	if git.ExitCode(err) != 128 || len(p.links) == 0 {
		return out, unreadable, err
	}
	if out, unreadable, err = s.diffFiles(ctx, p.path, "all", names...); err != nil {
		return nil, nil, err
	}
	for _, link := range slices.Compact(slices.Clone(p.links)) { // sorted, and one in conflict is there twice
		one, _, err := s.diffFiles(ctx, p.path, "none", link)
		switch {
		case git.ExitCode(err) == 128:
			unreadable = append(unreadable, link+"/")
		case err != nil:
			return nil, nil, err
		case !slices.ContainsFunc(out, func(t Tracked) bool { return t.Path == link }): // one in conflict
			out = append(out, one...)
		}
	}
	return out, unreadable, nil
}

// diffFiles is tracked where git can read all submodules, or ignores them.
func (s *gitScanner) diffFiles(ctx context.Context, index, ignore string, names ...string) (out []Tracked, unreadable []string, err error) {
	res, err := s.repo.Run(ctx, git.Cmd{
		Args:   append([]string{"--literal-pathspecs", "diff-files", "-z", "--raw", "--no-abbrev", "--no-renames", "--ignore-submodules=" + ignore, "--"}, names...),
		Config: s.config, Env: []string{"GIT_INDEX_FILE=" + index},
	})
	if err != nil {
		return nil, nil, fmt.Errorf("compare the worktree with the index: %w", err)
	}
	if unreadable, err = s.unreadable(res.Stderr); err != nil {
		return nil, nil, err
	}
	seen := map[string]bool{}
	fields := bytes.Split(res.Stdout, []byte{0})
	for i := 0; i+1 < len(fields); i += 2 {
		meta := strings.Fields(string(fields[i])) // :oldmode newmode oldid newid status
		if len(meta) < 5 {
			return nil, nil, fmt.Errorf("compare the worktree with the index: unexpected line %q", fields[i])
		}
		p := string(fields[i+1])
		if seen[p] { // diff-files lists an unmerged path twice
			continue
		}
		seen[p] = true
		mode, err := strconv.ParseUint(strings.TrimPrefix(meta[0], ":"), 8, 32)
		if err != nil {
			return nil, nil, fmt.Errorf("compare the worktree with the index: unexpected line %q", fields[i])
		}
		out = append(out, Tracked{p, git.Mode(mode)})
	}
	return out, unreadable, nil
}

// untracked adds the untracked files that are not ignored to scan. With names it looks only at
// these paths and below them; names are taken literally.
func (s *gitScanner) untracked(ctx context.Context, index string, scan *Scan, names []string) error {
	if s.trackedOnly {
		return nil
	}
	args := []string{"--literal-pathspecs", "ls-files", "-z", "--others", "--exclude-standard"}
	if s.files.Own != nil {
		for _, dir := range s.files.Own.Inside { // git need not read it, while others write there
			args = append(args, "--exclude=/"+plainPattern.Replace(dir)+"/")
		}
	}
	args = append(append(args, "--"), names...)
	res, err := s.repo.Run(ctx, git.Cmd{
		Args:   args,
		Config: s.config, Env: []string{"GIT_INDEX_FILE=" + index},
	})
	if err != nil {
		return fmt.Errorf("list untracked files: %w", err)
	}
	unreadable, err := s.unreadable(res.Stderr)
	if err != nil {
		return err
	}
	scan.Unreadable = append(scan.Unreadable, unreadable...)
	for _, p := range s.files.WithoutGit(res.Paths()) {
		switch {
		case worktree.InStaging(p):
		case strings.HasSuffix(p, "/"):
			scan.Nested = append(scan.Nested, strings.TrimSuffix(p, "/"))
		default:
			scan.Untracked = append(scan.Untracked, p)
		}
	}
	return nil
}

// plainPattern turns a path into an ignore rule that matches it.
var plainPattern = strings.NewReplacer(`\`, `\\`, `*`, `\*`, `?`, `\?`, `[`, `\[`, ` `, `\ `)

// Ignored returns those of paths that the ignore rules match. Paths are relative to the top of
// the worktree, and a directory ends in a slash, since some patterns match directories only.
// Tracked files are matched too (--no-index).
func Ignored(ctx context.Context, repo *git.Repo, config []string, paths []string) (map[string]bool, error) {
	return checkIgnore(ctx, repo, git.Cmd{Config: config}, paths)
}

// checkIgnore returns those of paths that git check-ignore names. in says where git runs.
func checkIgnore(ctx context.Context, repo *git.Repo, in git.Cmd, paths []string) (map[string]bool, error) {
	in.Args = []string{"check-ignore", "-z", "--stdin", "--no-index"}
	// A path that begins with ":" is a pattern to git, unless something comes before it.
	in.Stdin = strings.NewReader("./" + strings.Join(paths, "\x00./") + "\x00")
	res, err := repo.Run(ctx, in)
	if err != nil && git.ExitCode(err) != 1 { // 1: none is ignored
		return nil, fmt.Errorf("look up ignore rules: %w", err)
	}
	return gather.Set(res.Paths(), func(p string) string { return p[len("./"):] }), nil
}
