package snapshot

import (
	"context"
	"crypto/rand"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"git-checkpoint/internal/format/name"
	"git-checkpoint/internal/git"
	"git-checkpoint/internal/storage/worktree"
	"git-checkpoint/internal/sys/gather"
)

// privateIndex is a version of this worktree's index under a private name. All git processes of a
// capture read it through GIT_INDEX_FILE, so they see one version even if the user runs `git add`
// meanwhile, and none of them writes the user's index.
type privateIndex struct {
	path    string // absolute; the value of GIT_INDEX_FILE
	index   *git.Index
	entries []git.IndexEntry // as Index.Entries gives them
	state   IndexState       // without Tree, which stagedTree finds
	attrs   []string         // the entries that are .gitattributes files, and those that were added
	links   []string         // the entries that are submodules
	was     fs.FileInfo      // the user's index; nil if there is none
	young   fileTime         // mtime of the user's index; see doubtful
	lost    []Tracked        // the entries whose blob is missing, so that git itself makes no commit
	hashed  bool             // the files were read, so that no other entry may become a lost one
}

// trackedOf reports an entry as one whose file does not match it.
func trackedOf(e *git.IndexEntry) Tracked {
	if e.Stage > 0 || e.IntentToAdd {
		return Tracked{Path: e.Path}
	}
	return Tracked{e.Path, e.Mode}
}

// fileTime is a time as git's index stores it: 32 bits of seconds, and nanoseconds that are 0 if
// the file system or git does not keep them.
type fileTime struct{ sec, nsec uint32 }

// older reports whether a is before b. If one of them has no nanoseconds, only seconds count, so
// two times in the same second are not older than each other.
func older(a, b fileTime) bool {
	if a.sec != b.sec || a.nsec == 0 || b.nsec == 0 {
		return a.sec < b.sec
	}
	return a.nsec < b.nsec
}

// doubtful reports whether a file may have changed after its entry was written and still match
// the stat data of the entry. That is so if the entry is not older than the index ("racily clean"
// in git's words): an edit in the same clock tick as the index write leaves no trace.
//
// git checks the mtime only. Here the ctime is checked too: an edit that sets the mtime back
// changes the ctime, unless it happened in the same tick.
func (p *privateIndex) doubtful(e git.IndexEntry) bool {
	return !older(fileTime{e.MtimeSec, e.MtimeNsec}, p.young) || !older(fileTime{e.CtimeSec, e.CtimeNsec}, p.young)
}

// entry returns the entry of a path. It is zero if there is none, and for entries that the tree of
// what is staged does not have: those of conflicts, and intent-to-add.
func (p *privateIndex) entry(path string) git.Entry {
	i, found := slices.BinarySearchFunc(p.entries, path, func(e git.IndexEntry, path string) int { return strings.Compare(e.Path, path) })
	if !found || p.entries[i].Stage != 0 || p.entries[i].IntentToAdd {
		return git.Entry{}
	}
	return git.Entry{Mode: p.entries[i].Mode, OID: p.index.OIDOf(p.entries[i])}
}

// modeAt returns the mode that the index has for a path, in a conflict that of our side, as git takes
// it where the disk has no modes. It is 0 if there is none.
func (p *privateIndex) modeAt(path string) (mode git.Mode) {
	i, _ := slices.BinarySearchFunc(p.entries, path, func(e git.IndexEntry, path string) int { return strings.Compare(e.Path, path) })
	for ; i < len(p.entries) && p.entries[i].Path == path; i++ {
		if e := p.entries[i]; mode == 0 || e.Stage == 2 {
			mode = e.Mode
		}
	}
	return mode
}

// remove deletes the private index and its lock file.
func (p *privateIndex) remove() {
	os.Remove(p.path)           //nolint:errcheck // disposable, swept by age
	os.Remove(p.path + ".lock") //nolint:errcheck // of a process that was killed
}

// indexes makes private copies of the index and lets git read and write them. The user's own index is
// never written here.
type indexes struct{ *checkout }

// openIndex gives the user's index a private name and reads it.
//
// It makes a hard link. git never writes an index in place, it renames a new one over it, so the
// link keeps this version. The link also keeps the mtime, which matters: a copy with a new mtime
// would make git trust entries that are as young as the original, and hide edits of the same size
// that were made in the second of the index write.
func (s *indexes) openIndex(ctx context.Context) (p *privateIndex, err error) {
	p = &privateIndex{}
	if p.path, err = s.privateCopy(s.repo.IndexPath); err != nil {
		return nil, err
	}
	defer func() {
		if err != nil {
			p.remove()
		}
	}()
	if info, err := os.Stat(p.path); err == nil {
		p.was = info
		t := info.ModTime()
		p.young = fileTime{uint32(t.Unix()), uint32(t.Nanosecond())}
	}
	if p.index, err = s.repo.Checkout.ReadIndex(p.path); err != nil {
		// The private name is gone, and says nothing to the user.
		if damaged := (*git.IndexError)(nil); errors.As(err, &damaged) {
			damaged.Path = s.repo.IndexPath
		}
		return p, err
	}
	if p.index.Split || p.index.Sparse {
		if err := s.normalise(ctx, p); err != nil {
			return p, err
		}
	}
	if err := p.readState(s.files); err != nil {
		return p, err
	}
	return p, s.clearBits(ctx, p)
}

// privateCopy links from to a new name in the scratch directory, or copies it with its times if
// the file system has no links. If from does not exist it returns a name where nothing is, which
// git takes for an empty index.
func (s *indexes) privateCopy(from string) (string, error) {
	to := filepath.Join(s.scratch, "tmp-index-"+rand.Text())
	if err := linkOrCopy(from, to); err != nil && !errors.Is(err, fs.ErrNotExist) {
		return "", fmt.Errorf("make a private index: %w", err)
	}
	return to, nil
}

// linkOrCopy gives the file from the additional name to, or copies it there, with its mtime, where
// a link cannot be made.
func linkOrCopy(from, to string) error {
	err := os.Link(from, to)
	if err == nil || errors.Is(err, fs.ErrNotExist) {
		return err
	}
	return copyFile(from, to, os.O_EXCL)
}

// copyFile copies the content and the mtime of from. flags are added to those with which to is
// opened: O_EXCL to create it, O_TRUNC to overwrite it.
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
	if err = errors.Join(err, out.Close()); err != nil {
		return err
	}
	return os.Chtimes(to, info.ModTime(), info.ModTime())
}

// postdateIndex gives the private index a younger mtime if filters are configured. It makes a copy for
// that, because the private index may share its inode with the user's.
//
// git reads files whose entries are as young as the index, to see whether they changed, and runs
// their clean filters for that. If a required filter fails, git exits and there is no scan. With
// an index that is two seconds younger than every entry, git runs no filter. Nothing is missed:
// this package still compares entries with the mtime of the user's index (privateIndex.young).
func (s *indexes) postdateIndex(p *privateIndex) error {
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

// onIndex runs git with a private index in place of the user's. With index.sparse git would fold
// the directories outside of a sparse checkout into single entries again.
func (s *indexes) onIndex(ctx context.Context, index, stdin string, args ...string) (git.Result, error) {
	return s.repo.Run(ctx, git.Cmd{
		Args: args, Stdin: strings.NewReader(stdin),
		Config: append([]string{"index.sparse=false"}, s.config...), Env: []string{"GIT_INDEX_FILE=" + index},
	})
}

// putInfo changes a private index by lines for update-index --index-info. Without any it does nothing.
func (s *indexes) putInfo(ctx context.Context, index, lines string) error {
	if lines == "" {
		return nil
	}
	_, err := s.onIndex(ctx, index, lines, "update-index", "-z", "--index-info")
	return err
}

// removals returns lines for putInfo that remove paths at every stage.
func (s *indexes) removals(paths []string) string {
	none := git.Entry{OID: name.OID(strings.Repeat("0", 2*s.repo.HashLen()))}
	var in strings.Builder
	for _, p := range paths {
		in.WriteString(git.InfoLine(none, 0, p))
	}
	return in.String()
}

// setFlag runs update-index with a flag on paths, if there are any.
func (s *indexes) setFlag(ctx context.Context, p *privateIndex, flag string, paths []string) error {
	if len(paths) == 0 {
		return nil
	}
	_, err := s.onIndex(ctx, p.path, joined(paths), "update-index", flag, "-z", "--stdin")
	return err
}

// joined returns paths as the input of a git command with -z.
func joined(paths []string) string { return strings.Join(paths, "\x00") + "\x00" }

// normalise has git expand a split or sparse private index into one list of files. git itself
// marks the entries that are as young as the file.
func (s *indexes) normalise(ctx context.Context, p *privateIndex) error {
	_, err := s.onIndex(ctx, p.path, "", "update-index", "--no-split-index", "--force-write-index")
	if err != nil {
		return fmt.Errorf("expand the index: %w", err)
	}
	if p.index, err = s.repo.Checkout.ReadIndex(p.path); err != nil {
		return err
	}
	if p.index.Split || p.index.Sparse {
		return errors.New("the index is split or sparse in a way that this version of git cannot expand")
	}
	return nil
}

// readState fills state with what a tree cannot say about the index, and notes whether there are
// attributes files and submodules.
func (p *privateIndex) readState(w *worktree.Files) error {
	var err error
	if p.entries, err = p.index.Entries(); err != nil {
		return err
	}
	for _, e := range p.entries {
		if holdsAttributes(e.Path) {
			p.attrs = append(p.attrs, e.Path)
		}
		if e.Mode == git.ModeGitlink {
			p.links = append(p.links, e.Path)
		}
		if e.Stage > 0 {
			p.state.Unmerged = append(p.state.Unmerged, git.Unmerged{Stage: int(e.Stage), Path: e.Path, Entry: git.Entry{Mode: e.Mode, OID: p.index.OIDOf(e)}})
		}
		if e.IntentToAdd {
			p.state.IntentToAdd = append(p.state.IntentToAdd, e.Path)
		}
		if e.AssumeUnchanged {
			p.state.AssumeUnchanged = append(p.state.AssumeUnchanged, e.Path)
		}
		if e.SkipWorktree {
			p.state.SkipWorktree = append(p.state.SkipWorktree, e.Path)
		}
	}
	p.state.SparsePresent, err = w.Existing(p.state.SkipWorktree)
	return err
}

// clearBits makes git compare entries that it was told not to compare: assume-unchanged entries,
// and skip-worktree entries whose file exists. The other skip-worktree bits stay, or every file
// that a sparse checkout leaves off the disk would count as deleted.
func (s *indexes) clearBits(ctx context.Context, p *privateIndex) error {
	err := s.setFlag(ctx, p, "--no-assume-unchanged", p.state.AssumeUnchanged)
	if err == nil {
		err = s.setFlag(ctx, p, "--no-skip-worktree", p.state.SparsePresent)
	}
	if err != nil {
		return fmt.Errorf("look at hidden index entries: %w", err)
	}
	return nil
}

// stagedTree returns the tree of what is staged, at stage 0 and without intent-to-add entries. It
// comes from the cache tree of the index if that is valid and the tree exists. Otherwise git
// writes the tree, unless the object of an entry is missing.
func (s *indexes) stagedTree(ctx context.Context, p *privateIndex) (name.OID, error) {
	if p.index.Count == 0 {
		return s.repo.Trees.Write(ctx, nil)
	}
	if p.index.Tree != "" && len(p.state.Unmerged) == 0 {
		if missing, err := s.repo.Objects.Batch().Missing(ctx, []name.OID{p.index.Tree}); err == nil && len(missing) == 0 {
			return p.index.Tree, nil
		}
	}
	return s.writeStaged(ctx, p)
}

// writeStaged has git write the tree of what is staged. git takes the directories that did not change
// from the cache tree of the index.
func (s *indexes) writeStaged(ctx context.Context, p *privateIndex) (name.OID, error) {
	// A copy, because the scan runs on p.path at the same time and must not see the changes.
	private, err := s.privateCopy(p.path)
	if err != nil {
		return "", err
	}
	defer os.Remove(private) //nolint:errcheck // disposable
	if err := s.putInfo(ctx, private, s.removals(p.state.unmerged())); err != nil {
		return "", fmt.Errorf("leave unmerged entries out: %w", err)
	}
	res, err := s.onIndex(ctx, private, "", "write-tree")
	if err != nil && strings.Contains(err.Error(), "invalid object") {
		return s.rewriteStaged(ctx, p)
	}
	if err != nil {
		return "", fmt.Errorf("write the staged tree: %w", err)
	}
	return name.ParseOID(strings.TrimSpace(string(res.Stdout)))
}

// rewriteStaged writes every directory of what is staged from the entries of the index. Unlike git it
// also replaces a tree that is there but damaged, and leaves out the entries whose blob is lost (p.lost), whose files
// then have to be read.
func (s *indexes) rewriteStaged(ctx context.Context, p *privateIndex) (name.OID, error) {
	known, promised := p.lost, s.repo.Promisor() != "" // what a sparse checkout keeps off the disk
	mayBeLost := func(e git.IndexEntry) bool {
		return (regular(e.Mode) || e.Mode == git.ModeSymlink) && !(e.SkipWorktree && promised) && (!p.hashed || slices.Contains(known, trackedOf(&e)))
	}
	gone, err := s.repo.Objects.Batch().Missing(ctx, gather.List(gather.Those(p.entries, mayBeLost), p.index.OIDOf))
	staged := map[string]git.Entry{}
	p.lost = nil
	for _, e := range p.entries {
		switch oid := p.index.OIDOf(e); {
		case e.Stage != 0 || e.IntentToAdd:
		case gone[oid] && mayBeLost(e):
			p.lost = append(p.lost, trackedOf(&e))
		default:
			staged[strings.TrimSuffix(e.Path, "/")] = git.Entry{Mode: e.Mode, OID: oid} // a sparse index has directories
		}
	}
	if err != nil {
		return "", err
	}
	return s.repo.Trees.Edit(ctx, "", staged)
}

// listIndex makes a private index that holds exactly these entries, and returns its path. The
// caller must remove it.
func (s *indexes) listIndex(ctx context.Context, lists ...map[string]git.Entry) (string, error) {
	all := map[string]git.Entry{}
	for _, list := range lists {
		maps.Copy(all, list)
	}
	return s.scratchIndex(ctx, s.entryLines(all))
}

// scratchIndex makes a private index from lines for putInfo, and returns its path. The caller must
// remove it.
func (s *indexes) scratchIndex(ctx context.Context, lines string) (string, error) {
	index := filepath.Join(s.scratch, "tmp-index-"+rand.Text())
	if err := s.putInfo(ctx, index, lines); err != nil {
		return "", fmt.Errorf("make a private index: %w", err)
	}
	return index, nil
}

// entryLines returns lines for putInfo that set entries. Those with mode 0 are removed first, since a
// directory may be in the place of such a file.
func (s *indexes) entryLines(entries map[string]git.Entry) string {
	var gone []string
	var in strings.Builder
	for _, p := range slices.Sorted(maps.Keys(entries)) {
		if entries[p].Mode == 0 {
			gone = append(gone, p)
		} else {
			in.WriteString(git.InfoLine(entries[p], 0, p))
		}
	}
	return s.removals(gone) + in.String()
}

// update runs git update-index. paths end in NUL each; a path whose file is gone is removed from the
// index.
func (s *indexes) update(ctx context.Context, index, paths string) error {
	_, err := s.onIndex(ctx, index, paths, "update-index", "--add", "--remove", "--replace", "-z", "--stdin")
	return err
}
