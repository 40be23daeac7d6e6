//go:build linux

package snapshot

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"maps"
	"runtime"
	"sort"
	"strings"
	"sync"

	"golang.org/x/sys/unix"

	"git-checkpoint/internal/git"
	"git-checkpoint/internal/storage/worktree"
	"git-checkpoint/internal/sys/gather"
)

// nativeScanner reads the directories that hold tracked files and compares the stat data of each
// file with its index entry, in parallel. It asks git only about names that the index does not
// have, because ignore rules are git's business, and about submodules.
type nativeScanner struct {
	git *gitScanner
}

// newNative returns nil if the configuration makes git compare files in other ways than by mode
// and exact name.
func newNative(g *gitScanner) Scanner {
	if ignoreCase, err := g.core("core.ignoreCase", false); err != nil || ignoreCase || !g.keepsModes() {
		return nil
	}
	return &nativeScanner{g}
}

// Scan implements Scanner.
func (s *nativeScanner) Scan(ctx context.Context, p *privateIndex) (Scan, error) {
	w := &walk{
		tree: s.git.files, index: p, entries: p.entries, met: make([]bool, len(p.entries)), present: gather.SetOf(p.state.SparsePresent),
		scan: Scan{Modes: map[string]fs.FileMode{}},
	}
	w.all(ctx)
	if w.err != nil {
		return Scan{}, w.err
	}
	if err := context.Cause(ctx); err != nil {
		return Scan{}, err
	}
	if err := s.unknown(ctx, p, w); err != nil {
		return Scan{}, err
	}
	if err := s.submodules(ctx, p, &w.scan); err != nil {
		return Scan{}, err
	}
	sort.Slice(w.scan.Tracked, func(i, j int) bool { return w.scan.Tracked[i].Path < w.scan.Tracked[j].Path })
	return w.scan, nil
}

// walk is one pass over the directories of an index. Since entries are sorted by path, the
// entries below a directory are a range lo to hi of the slice, and each step of the walk handles
// one such range. For each directory it lists the names, marks the entries that they match (met),
// and then goes through the range: an entry that was not met is deleted, a file is compared, and
// a subdirectory is walked in turn.
type walk struct {
	tree    *worktree.Files
	entries []git.IndexEntry // sorted by path, as the index is
	index   *privateIndex
	present map[string]bool // skip-worktree entries whose file exists anyway
	// met says, by entry, that the name of the entry was found. For the first entry below a
	// subdirectory it says first that the subdirectory was found; compare resets it before it
	// descends. Each walk of a directory writes only to its own range, so no lock is needed.
	met []bool

	mu      sync.Mutex
	scan    Scan
	names   []string // not in the index; a directory ends in "/"
	special []string // neither file, directory nor link
	err     error
	open    []dirRange // directories to walk, the last one first
	busy    int        // goroutines that walk one now, and may add to open
	more    *sync.Cond // open has grown, or the walk ends
}

// dirRange is a directory and its range of entries.
type dirRange struct {
	prefix string // "" or "a/b/"
	lo, hi int
}

// dirFound collects the results of one directory, so that walk.mu is locked once for each.
type dirFound struct {
	below          []dirRange
	tracked        []Tracked
	names, special []string
	unreadable     []string
	modes          map[string]fs.FileMode
}

// all walks the directories, several at a time. A goroutine for each directory would take longer to
// wake than to walk it.
func (w *walk) all(ctx context.Context) {
	w.more = sync.NewCond(&w.mu)
	w.open = []dirRange{{"", 0, len(w.entries)}}
	var group sync.WaitGroup
	for range runtime.GOMAXPROCS(0) {
		group.Go(func() { w.some(ctx) })
	}
	group.Wait()
}

// some walks directories until there are no more.
func (w *walk) some(ctx context.Context) {
	buf := new(direntBuffer)
	w.mu.Lock()
	defer w.mu.Unlock()
	for {
		for len(w.open) == 0 && w.busy > 0 {
			w.more.Wait()
		}
		if len(w.open) == 0 || ctx.Err() != nil {
			return
		}
		last := len(w.open) - 1
		d := w.open[last]
		w.open = w.open[:last]
		w.busy++
		w.mu.Unlock()
		var f dirFound
		err := f.dir(w, buf, d)
		w.mu.Lock()
		w.busy--
		w.add(&f, err)
		if len(w.open) > 1 || w.busy == 0 {
			w.more.Broadcast()
		}
	}
}

// add adds what was found in one directory. It keeps the first error.
func (w *walk) add(f *dirFound, err error) {
	if w.err == nil {
		w.err = err
	}
	w.open = append(w.open, f.below...)
	w.scan.Tracked = append(w.scan.Tracked, f.tracked...)
	w.scan.Unreadable = append(w.scan.Unreadable, f.unreadable...)
	maps.Copy(w.scan.Modes, f.modes)
	w.names, w.special = append(w.names, f.names...), append(w.special, f.special...)
}

// dir compares a directory with its entries, all of which are below it. If the directory may not be
// read, its entries are not reported as deleted.
func (f *dirFound) dir(w *walk, buf *direntBuffer, d dirRange) error {
	fd, err := w.enter(d.prefix)
	if err == nil {
		defer unix.Close(fd) //nolint:errcheck // read only
		err = f.list(w, buf, fd, d)
	}
	switch {
	case err == nil:
		f.compare(w, d, fd)
	case errors.Is(err, fs.ErrPermission):
		f.unreadable = append(f.unreadable, d.prefix)
	case worktree.Absent(err), errors.Is(err, unix.ELOOP):
		f.gone(w, d.lo, d.hi)
	default:
		return fmt.Errorf("read directory %q: %w", d.prefix, err)
	}
	return nil
}

// gone reports entries lo to hi as deleted.
func (f *dirFound) gone(w *walk, lo, hi int) {
	for i := lo; i < hi; i++ {
		if !w.leaves(i) {
			f.tracked = append(f.tracked, trackedOf(&w.entries[i]))
		}
	}
}

// leaves reports whether the walk leaves entry i alone: a file that a sparse checkout keeps off the
// disk, a submodule, which git compares, and further stages of a path in conflict.
func (w *walk) leaves(i int) bool {
	e := &w.entries[i]
	return e.SkipWorktree && !w.present[e.Path] || e.Mode == git.ModeGitlink && e.Stage == 0 ||
		e.Stage > 0 && i > 0 && w.entries[i-1].Path == e.Path
}

// list reads the names in a directory. It marks the entries that they match as met, and collects
// the other names by type. A directory that has the name of a tracked file matches nothing, nor
// does a file that has the name of a tracked directory. A submodule matches whatever it is.
func (f *dirFound) list(w *walk, buf *direntBuffer, fd int, d dirRange) error {
	prefix := d.prefix
	return buf.readDirents(fd, func(name []byte, typ fs.FileMode) error {
		if typ.IsDir() && w.tree.IsGit(prefix+string(name)) {
			return nil
		}
		if i, below := w.find(name, len(prefix), d.lo, d.hi); i >= 0 && (typ.IsDir() == below || !below && w.leaves(i)) {
			w.met[i] = true
			return nil
		}
		n := prefix + string(name) // not before: most names are in the index, and a large worktree has a million
		switch {
		case string(name) == ".git" || prefix == "" && worktree.IsStaging(n):
		case typ.IsDir():
			f.names = append(f.names, n+"/")
		case typ.IsRegular() || typ&fs.ModeSymlink != 0:
			f.names = append(f.names, n)
		default:
			f.special = append(f.special, n)
		}
		return nil
	})
}

// find looks up a name of one directory among entries lo to hi. It returns the entry with this
// name; or, with below set, the first entry below a directory of this name; or -1. The paths of
// these entries start with at bytes for the directory itself.
func (w *walk) find(name []byte, at, lo, hi int) (i int, below bool) {
	i = lo + sort.Search(hi-lo, func(k int) bool { return w.entries[lo+k].Path[at:] >= string(name) })
	if i < hi && w.entries[i].Path[at:] == string(name) {
		return i, false
	}
	// "a-b" and "a.b" sort between "a" and "a/b", because '-' and '.' sort before '/'.
	i += sort.Search(hi-i, func(k int) bool {
		rest := w.entries[i+k].Path[at:]
		n := min(len(name), len(rest))
		if c := strings.Compare(rest[:n], string(name[:n])); c != 0 {
			return c > 0
		}
		return len(rest) > len(name) && rest[len(name)] >= '/'
	})
	if i < hi {
		if rest := w.entries[i].Path[at:]; len(rest) > len(name) && rest[len(name)] == '/' && rest[:len(name)] == string(name) {
			return i, true
		}
	}
	return -1, false
}

// enter opens a directory without following a symbolic link in its last component. The walk has
// already seen that the others are directories.
func (w *walk) enter(prefix string) (int, error) {
	const flags = unix.O_RDONLY | unix.O_DIRECTORY | unix.O_CLOEXEC | unix.O_NOFOLLOW
	dir := strings.TrimSuffix(prefix, "/")
	fd, err := unix.Open(w.tree.Top+"/"+dir, flags, 0)
	if errors.Is(err, unix.ENAMETOOLONG) {
		long, err := w.tree.OpenDir(dir)
		if err != nil {
			return -1, err
		}
		defer long.Close() //nolint:errcheck // read only
		return unix.Openat(int(long.Fd()), ".", flags, 0)
	}
	return fd, err
}

// compare goes through the entries of one directory, after list has marked them.
func (f *dirFound) compare(w *walk, d dirRange, dirfd int) {
	for i := d.lo; i < d.hi; {
		rest := w.entries[i].Path[len(d.prefix):]
		name, _, below := strings.Cut(rest, "/")
		if !below {
			f.file(w, i, name, dirfd)
			i++
			continue
		}
		sub := w.entries[i].Path[:len(d.prefix)+len(name)+1]
		end := i + sort.Search(d.hi-i, func(k int) bool { return !strings.HasPrefix(w.entries[i+k].Path, sub) })
		if w.met[i] {
			w.met[i] = false // list of the subdirectory sets it again for the entry itself
			f.below = append(f.below, dirRange{sub, i, end})
		} else {
			f.gone(w, i, end)
		}
		i = end
	}
}

// file compares one tracked file with its index entry. dirfd is the open directory that holds it.
func (f *dirFound) file(w *walk, i int, name string, dirfd int) {
	e := &w.entries[i]
	switch {
	case w.leaves(i):
		return
	case !w.met[i], e.Stage > 0, e.IntentToAdd: // there is nothing to compare
		f.tracked = append(f.tracked, trackedOf(e))
		return
	}
	var st unix.Stat_t
	switch err := unix.Fstatat(dirfd, name, &st, unix.AT_SYMLINK_NOFOLLOW); {
	case errors.Is(err, fs.ErrPermission):
		f.unreadable = append(f.unreadable, e.Path)
	case err != nil:
		f.tracked = append(f.tracked, trackedOf(e))
	case w.changed(e, &st):
		f.tracked = append(f.tracked, trackedOf(e))
	case st.Mode&unix.S_IFMT == unix.S_IFREG && unusual(fs.FileMode(st.Mode&0o777)):
		if f.modes == nil {
			f.modes = map[string]fs.FileMode{}
		}
		f.modes[e.Path] = fs.FileMode(st.Mode & 0o777)
	}
}

// changed makes the same comparison as git, including nanoseconds if both sides have them. An
// entry of size 0 counts as changed unless its blob is empty: git uses this size to mark an entry
// whose stat data cannot be trusted. An entry as young as the index may have changed after it was
// written.
func (w *walk) changed(e *git.IndexEntry, st *unix.Stat_t) bool {
	var mode git.Mode
	switch st.Mode & unix.S_IFMT {
	case unix.S_IFLNK:
		mode = git.ModeSymlink
	case unix.S_IFREG:
		mode = git.ModeFile
		if st.Mode&0o100 != 0 {
			mode = git.ModeExec
		}
	}
	mtime, ctime := fileTime{uint32(st.Mtim.Sec), uint32(st.Mtim.Nsec)}, fileTime{uint32(st.Ctim.Sec), uint32(st.Ctim.Nsec)}
	return mode != e.Mode || uint32(st.Size) != e.Size || e.Size == 0 && !git.IsEmptyBlob(w.index.index.OIDOf(*e)) ||
		e.Inode != 0 && uint32(st.Ino) != e.Inode || differs(mtime, fileTime{e.MtimeSec, e.MtimeNsec}) || differs(ctime, fileTime{e.CtimeSec, e.CtimeNsec}) ||
		w.index.doubtful(*e)
}

// differs compares two times; nanoseconds count only if both have them.
func differs(a, b fileTime) bool {
	return a.sec != b.sec || a.nsec != b.nsec && a.nsec != 0 && b.nsec != 0
}

// unknown has git apply its ignore rules to the names that the index does not have, and looks for
// special files in the directories among them.
func (s *nativeScanner) unknown(ctx context.Context, p *privateIndex, w *walk) error {
	w.scan.noteBeside(w.names)
	if s.git.trackedOnly {
		return nil
	}
	if len(w.names) > 0 {
		sort.Strings(w.names)
		names := pathArguments(w.names)
		if len(p.entries) == 0 {
			names = nil // they are all there is, and git compares each file with each of them
		}
		if err := s.git.untracked(ctx, p.path, &w.scan, names); err != nil {
			return err
		}
	}
	dirs := gather.Those(w.names, func(n string) bool { return strings.HasSuffix(n, "/") })
	return s.git.findSpecial(ctx, &w.scan, nil, dirs, w.special)
}

// submodules adds the submodules that git finds changed. It looks for their commit and, as far as
// their configuration says, for changes of their files.
func (s *nativeScanner) submodules(ctx context.Context, p *privateIndex, scan *Scan) error {
	if len(p.links) == 0 {
		return nil
	}
	changed, unreadable, err := s.git.tracked(ctx, p, pathArguments(p.links)...)
	for _, t := range changed {
		if t.Mode == git.ModeGitlink { // others, if all were asked for, are known
			scan.Tracked = append(scan.Tracked, t)
		}
	}
	scan.Unreadable = append(scan.Unreadable, unreadable...)
	return err
}

// pathArguments returns names as arguments for git, or nil if there are too many: git then lists
// everything. The final slash is removed: with it git does not list a repository inside another
// repository whose files are tracked here.
func pathArguments(names []string) []string {
	const askedByName = 500 // limits how many names are passed to git on the command line
	total := 0
	out := make([]string, len(names))
	for i, n := range names {
		total += len(n)
		out[i] = strings.TrimSuffix(n, "/")
	}
	if len(names) > askedByName || total > 32<<10 {
		return nil // everything
	}
	return out
}
