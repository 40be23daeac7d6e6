package snapshot

import (
	"bytes"
	"context"
	"fmt"
	"io/fs"
	"strconv"
	"strings"

	"git-checkpoint/internal/git"
)

// Scanner finds where the worktree differs from an index. There is more than one
// way to do that; all of them give the same Scan.
type Scanner interface {
	Scan(ctx context.Context, index *privateIndex) (Scan, error)
}

// Scan is what differs from the index. A tracked path whose stat data changed
// may turn out to have the same content.
type Scan struct {
	Tracked    []Tracked
	Untracked  []string // files and symbolic links, none of them ignored
	Nested     []string // directories that are repositories of their own
	Unreadable []string // directories that could not be read, ending in "/"
	Special    []string // sockets and the like

	Modes      map[string]fs.FileMode // of tracked files that did not change: unusual ones
	ModesKnown bool
}

// Tracked is an index entry that the worktree does not match.
type Tracked struct {
	Path    string
	Mode    git.Mode // of the index entry; 0 for intent-to-add
	Deleted bool
}

// gitScanner lets git compare: diff-files for what is tracked beside ls-files
// for what is not. Neither writes the index.
type gitScanner struct {
	repo   *git.Repo
	config []string // overrides where the configuration lies about the file system
	tree   *worktree
}

func (s *gitScanner) Scan(ctx context.Context, private *privateIndex) (Scan, error) {
	var scan Scan
	index := private.path
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	others := make(chan error, 1)
	go func() {
		others <- s.untracked(ctx, index, &scan, nil)
	}()
	tracked, stderr, err := s.tracked(ctx, index)
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
	dirs, special := s.aroundTracked(private.entries)
	return scan, s.findSpecial(ctx, &scan, dirs, special)
}

// addDoubtful adds the entries that git took for unchanged by their stat data and that
// may not be: those that are as young as the index, and those whose times differ by less
// than a second, which git does not see unless it was built to. Of the others it notes
// unusual permission bits.
func (s *gitScanner) addDoubtful(scan *Scan, private *privateIndex) error {
	listed := make(map[string]bool, len(scan.Tracked))
	for _, t := range scan.Tracked {
		listed[t.Path] = true
	}
	looks := make([]look, len(private.entries))
	err := git.Each(len(private.entries), func(i int) error {
		e := private.entries[i]
		if e.Stage == 0 && regular(e.Mode) && !e.IntentToAdd && !e.SkipWorktree && !listed[e.Path] {
			looks[i] = s.tree.unseen(e, private)
		}
		return nil
	})
	scan.Modes, scan.ModesKnown = map[string]fs.FileMode{}, true
	for i, e := range private.entries {
		switch {
		case looks[i].gone:
			scan.Tracked = append(scan.Tracked, Tracked{Path: e.Path, Mode: e.Mode, Deleted: true})
		case looks[i].differs:
			scan.Tracked = append(scan.Tracked, Tracked{Path: e.Path, Mode: e.Mode})
		case looks[i].bits != 0:
			scan.Modes[e.Path] = looks[i].bits
		}
	}
	return err
}

// look is what is seen of a file that git did not list: that it may differ, that it is
// gone, or its permission bits where they are unusual.
type look struct {
	differs, gone bool
	bits          fs.FileMode
}

// unseen looks at a file whose entry git takes for unchanged. Behind a link that leads to
// itself it lists nothing as gone.
func (w *worktree) unseen(e git.IndexEntry, private *privateIndex) (l look) {
	info, err := w.lstat(e.Path)
	switch {
	case err != nil:
		return l // git has seen that
	case info == nil:
		return look{gone: true}
	case private.doubtful(e):
		return look{differs: true}
	case info.Mode().IsRegular() && unusual(info.Mode().Perm()):
		l.bits = info.Mode().Perm()
	}
	m, c := uint32(info.ModTime().Nanosecond()), uint32(changeTime(info).Nanosecond())
	l.differs = e.MtimeNsec != 0 && m != e.MtimeNsec || e.CtimeNsec != 0 && c != e.CtimeNsec
	return l
}

func (s *gitScanner) tracked(ctx context.Context, index string) (out []Tracked, unreadable []string, err error) {
	res, err := s.repo.Run(ctx, git.Cmd{
		Args:   []string{"diff-files", "-z", "--raw", "--no-abbrev", "--no-renames", "--ignore-submodules=none"},
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
		if seen[p] { // an unmerged path is listed twice
			continue
		}
		seen[p] = true
		mode, err := strconv.ParseUint(strings.TrimPrefix(meta[0], ":"), 8, 32)
		if err != nil {
			return nil, nil, fmt.Errorf("compare the worktree with the index: unexpected line %q", fields[i])
		}
		out = append(out, Tracked{Path: p, Mode: git.Mode(mode), Deleted: meta[4] == "D"})
	}
	return out, unreadable, nil
}

// untracked lists what is not ignored of the names, or of everything.
func (s *gitScanner) untracked(ctx context.Context, index string, scan *Scan, names []string) error {
	args := append([]string{"--literal-pathspecs", "ls-files", "-z", "--others", "--exclude-standard", "--"}, names...)
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
	for _, p := range splitPaths(res.Stdout) {
		switch {
		case inStaging(p):
		case strings.HasSuffix(p, "/"):
			scan.Nested = append(scan.Nested, strings.TrimSuffix(p, "/"))
		default:
			scan.Untracked = append(scan.Untracked, p)
		}
	}
	return nil
}

// ignored tells which of paths the ignore rules name.
func (s *gitScanner) ignored(ctx context.Context, paths []string) (map[string]bool, error) {
	return Ignored(ctx, s.repo, s.config, paths)
}

// Ignored tells which of paths, relative to the top of the worktree, the ignore rules name. A directory
// ends in a slash.
func Ignored(ctx context.Context, repo *git.Repo, config []string, paths []string) (map[string]bool, error) {
	res, err := repo.Run(ctx, git.Cmd{
		Args:  []string{"check-ignore", "-z", "--stdin", "--no-index"},
		Stdin: strings.NewReader(strings.Join(paths, "\x00") + "\x00"), Config: config,
	})
	if err != nil && git.ExitCode(err) != 1 { // 1: none is ignored
		return nil, fmt.Errorf("look up ignore rules: %w", err)
	}
	out := map[string]bool{}
	for _, p := range splitPaths(res.Stdout) {
		out[p] = true
	}
	return out, nil
}

func splitPaths(data []byte) []string {
	var out []string
	for _, p := range bytes.Split(data, []byte{0}) {
		if len(p) > 0 {
			out = append(out, string(p))
		}
	}
	return out
}
