package snapshot

import (
	"context"
	"crypto/rand"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"time"

	"git-checkpoint/internal/git"
	"git-checkpoint/internal/name"
)

// privateIndex is this worktree's index under a name of our own, so that all the
// processes of a capture see one version and none writes the user's.
type privateIndex struct {
	path     string
	index    *git.Index
	entries  []git.IndexEntry // as Index.Entries gives them
	state    IndexState
	scratch  []string    // further files to remove
	hasAttrs bool        // a .gitattributes is tracked
	links    bool        // a submodule is tracked
	was      fs.FileInfo // the user's index, nil without one
	young    fileTime    // of the user's index: entries as young may have changed unseen
}

type fileTime struct{ sec, nsec uint32 }

func older(a, b fileTime) bool {
	if a.sec != b.sec || a.nsec == 0 || b.nsec == 0 {
		return a.sec < b.sec
	}
	return a.nsec < b.nsec
}

// doubtful reports whether a file may have changed after its entry was written and
// still have the stat data of the entry. git looks at the time of the content alone;
// an edit that sets it back shows in the other, unless that was in the same tick too.
func (p *privateIndex) doubtful(e git.IndexEntry) bool {
	return !older(fileTime{e.MtimeSec, e.MtimeNsec}, p.young) || !older(fileTime{e.CtimeSec, e.CtimeNsec}, p.young)
}

func (p *privateIndex) remove() {
	for _, f := range append(p.scratch, p.path) {
		os.Remove(f)           //nolint:errcheck // disposable, swept by age
		os.Remove(f + ".lock") //nolint:errcheck // of a process that was killed
	}
}

// openIndex links the index under a private name. git never writes an index in
// place, so the link keeps this version, and its time: a copy with a new mtime
// would hide same-size edits made in the second of the index write.
func (s *Shot) openIndex(ctx context.Context) (*privateIndex, error) {
	p := &privateIndex{}
	var err error
	if p.path, err = s.privateCopy(s.repo.IndexPath); err != nil {
		return nil, err
	}
	if info, err := os.Stat(p.path); err == nil {
		p.was = info
		t := info.ModTime()
		p.young = fileTime{uint32(t.Unix()), uint32(t.Nanosecond())}
	}
	if p.index, err = s.repo.ReadIndex(p.path); err != nil {
		p.remove()
		return nil, err
	}
	if p.index.Split || p.index.Sparse {
		if err := s.normalise(ctx, p); err != nil {
			p.remove()
			return nil, err
		}
	}
	if err := p.readState(s.tree); err != nil {
		p.remove()
		return nil, err
	}
	if err := s.clearBits(ctx, p); err != nil {
		p.remove()
		return nil, err
	}
	return p, nil
}

// privateCopy links from, or copies it with its times where links are not to be
// had; nothing is made when from is missing.
func (s *Shot) privateCopy(from string) (string, error) {
	to := filepath.Join(s.scratch, "tmp-index-"+rand.Text())
	err := os.Link(from, to)
	if err == nil || errors.Is(err, fs.ErrNotExist) {
		return to, nil
	}
	if err := copyFile(from, to, os.O_EXCL); err != nil {
		return "", fmt.Errorf("make a private index: %w", err)
	}
	return to, nil
}

// copyFile copies a file with its time into one that is opened with further flags.
func copyFile(from, to string, flags int) error {
	info, err := os.Stat(from)
	if err != nil {
		return err
	}
	in, err := os.Open(from)
	if err != nil {
		return err
	}
	defer in.Close() //nolint:errcheck // read only
	out, err := os.OpenFile(to, os.O_CREATE|os.O_WRONLY|flags, 0o666)
	if err != nil {
		return err
	}
	_, err = io.Copy(out, in)
	if closed := out.Close(); err == nil {
		err = closed
	}
	if err != nil {
		return err
	}
	return os.Chtimes(to, info.ModTime(), info.ModTime())
}

// calm puts a copy in the place of the private index where a filter could stop git from
// reading it: git runs filters over files whose entries are as young as the index, and
// ends when a required one fails. The copy is younger than all of them. We ourselves go by
// the time of the user's.
func (s *Shot) calm(p *privateIndex) error {
	if len(s.repo.Config.Keys("filter.")) == 0 {
		return nil
	}
	latest := uint32(0)
	for _, e := range p.entries {
		latest = max(latest, e.MtimeSec)
	}
	if latest == 0 || latest < p.young.sec {
		return nil
	}
	calm := p.path + "-calm"
	if err := copyFile(p.path, calm, os.O_EXCL); err != nil {
		return fmt.Errorf("make a private index: %w", err)
	}
	later := time.Unix(int64(latest)+2, 0)
	err := os.Chtimes(calm, later, later)
	if err == nil {
		err = os.Rename(calm, p.path)
	}
	if err != nil {
		os.Remove(calm) //nolint:errcheck // the error says more
		return fmt.Errorf("make a private index: %w", err)
	}
	return nil
}

// whole is the configuration for what writes a private index: git must not fold
// directories outside of a sparse checkout into one entry again.
func (s *Shot) whole() []string { return append([]string{"index.sparse=false"}, s.config...) }

// normalise lets git write the private index whole and unsplit. git itself takes
// care of entries that are as young as the file.
func (s *Shot) normalise(ctx context.Context, p *privateIndex) error {
	_, err := s.repo.Run(ctx, git.Cmd{
		Args:   []string{"update-index", "--no-split-index", "--force-write-index"},
		Config: s.whole(), Env: []string{"GIT_INDEX_FILE=" + p.path},
	})
	if err != nil {
		return fmt.Errorf("expand the index: %w", err)
	}
	if p.index, err = s.repo.ReadIndex(p.path); err != nil {
		return err
	}
	if p.index.Split || p.index.Sparse {
		return errors.New("the index is split or sparse in a way that this version of git does not expand")
	}
	return nil
}

// readState collects what a tree cannot say about the index.
func (p *privateIndex) readState(w *worktree) error {
	var err error
	if p.entries, err = p.index.Entries(); err != nil {
		return err
	}
	for _, e := range p.entries {
		if strings.HasSuffix(e.Path, ".gitattributes") {
			p.hasAttrs = true
		}
		if e.Mode == git.ModeGitlink {
			p.links = true
		}
		if e.Stage > 0 {
			p.state.Unmerged = append(p.state.Unmerged, Stage{e.Stage, e.Path, git.Entry{Mode: e.Mode, OID: e.OID}})
		}
		if e.IntentToAdd {
			p.state.IntentToAdd = append(p.state.IntentToAdd, e.Path)
		}
		if e.AssumeUnchanged {
			p.state.AssumeUnchanged = append(p.state.AssumeUnchanged, e.Path)
		}
		if e.SkipWorktree {
			p.state.SkipWorktree = append(p.state.SkipWorktree, e.Path)
			info, err := w.lstat(e.Path)
			if err != nil {
				return fmt.Errorf("look at %q: %w", e.Path, err)
			}
			if info != nil {
				p.state.SparsePresent = append(p.state.SparsePresent, e.Path)
			}
		}
	}
	return nil
}

// clearBits makes git compare entries that the user told it not to: assume-unchanged
// ones, and skip-worktree ones where a file is there all the same. With all
// skip-worktree bits cleared every absent path would count as deleted.
func (s *Shot) clearBits(ctx context.Context, p *privateIndex) error {
	for flag, paths := range map[string][]string{
		"--no-assume-unchanged": p.state.AssumeUnchanged, "--no-skip-worktree": p.state.SparsePresent,
	} {
		if len(paths) == 0 {
			continue
		}
		_, err := s.repo.Run(ctx, git.Cmd{
			Args: []string{"update-index", flag, "-z", "--stdin"}, Stdin: strings.NewReader(strings.Join(paths, "\x00") + "\x00"),
			Config: s.whole(), Env: []string{"GIT_INDEX_FILE=" + p.path},
		})
		if err != nil {
			return fmt.Errorf("look at hidden index entries: %w", err)
		}
	}
	return nil
}

// stagedTree gives the tree of what is staged: from the index's own cache when
// that is valid, else from git, which also refuses entries without objects.
func (s *Shot) stagedTree(ctx context.Context, p *privateIndex) (name.OID, error) {
	if p.index.Count == 0 {
		return s.repo.WriteTree(ctx, nil)
	}
	if p.index.Tree != "" && len(p.state.Unmerged) == 0 {
		if missing, err := s.repo.Batch().Missing(ctx, []name.OID{p.index.Tree}); err == nil && len(missing) == 0 {
			return p.index.Tree, nil
		}
	}
	private, err := s.privateCopy(p.path)
	if err != nil {
		return "", err
	}
	defer os.Remove(private) //nolint:errcheck // disposable
	env := []string{"GIT_INDEX_FILE=" + private}
	if len(p.state.Unmerged) > 0 {
		var unmerged []string
		for _, u := range p.state.Unmerged {
			unmerged = append(unmerged, u.Path)
		}
		in := strings.NewReader(removals(s.repo, unmerged))
		_, err := s.repo.Run(ctx, git.Cmd{Args: []string{"update-index", "-z", "--index-info"}, Stdin: in, Env: env})
		if err != nil {
			return "", fmt.Errorf("leave unmerged entries out: %w", err)
		}
	}
	res, err := s.repo.Run(ctx, git.Cmd{Args: []string{"write-tree"}, Env: env})
	if err != nil {
		return "", fmt.Errorf("write the staged tree: %w", err)
	}
	return name.ParseOID(strings.TrimSpace(string(res.Stdout)))
}

// probe corrects configuration that lies about the file system, as after a copy
// of the repository to another one: with core.ignoreCase=true on a file system
// that tells cases apart, `foo` beside `Foo` would not be captured.
func probe(repo *git.Repo, dir string) ([]string, error) {
	var out []string
	on := func(key string, def bool) (bool, error) { return repo.Config.Bool(key, def) }
	ignoreCase, err := on("core.ignoreCase", false)
	if err != nil {
		return nil, err
	}
	if ignoreCase {
		if _, err := os.Lstat(filepath.Join(repo.CommonDir, "cOnFiG")); errors.Is(err, fs.ErrNotExist) {
			out = append(out, "core.ignoreCase=false")
		}
	}
	fileMode, err := on("core.fileMode", true)
	if err != nil {
		return nil, err
	}
	symlinks, err := on("core.symlinks", true)
	if err != nil || fileMode && symlinks {
		return out, err
	}
	f, err := os.CreateTemp(dir, "tmp-probe-")
	if err != nil {
		return nil, fmt.Errorf("probe the file system: %w", err)
	}
	defer os.Remove(f.Name()) //nolint:errcheck // disposable
	f.Close()                 //nolint:errcheck // empty
	if !fileMode && keepsMode(f.Name()) {
		out = append(out, "core.fileMode=true")
	}
	if link := f.Name() + "-link"; !symlinks && os.Symlink("target", link) == nil {
		os.Remove(link) //nolint:errcheck // disposable
		out = append(out, "core.symlinks=true")
	}
	return out, nil
}

func keepsMode(path string) bool {
	for _, mode := range []fs.FileMode{0o700, 0o600} {
		if os.Chmod(path, mode) != nil {
			return false
		}
		if info, err := os.Stat(path); err != nil || info.Mode().Perm() != mode {
			return false
		}
	}
	return true
}
