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
)

// nativeScanner reads the directories that hold tracked files and compares stat
// data itself, in parallel; git is asked only about names that it does not track.
// It gives up on indexes where more than stat data decides.
type nativeScanner struct {
	git *gitScanner
	top string
}

// newNative gives nil where configuration makes git compare in other ways.
func newNative(g *gitScanner) Scanner {
	c := g.repo.Config
	for _, key := range []string{"core.fileMode", "core.symlinks"} {
		if on, err := c.Bool(key, true); err != nil || !on {
			return nil
		}
	}
	if ignoreCase, err := c.Bool("core.ignoreCase", false); err != nil || ignoreCase {
		return nil
	}
	return &nativeScanner{g, g.repo.WorkTree}
}

func (s *nativeScanner) Scan(ctx context.Context, p *privateIndex) (Scan, error) {
	if p.index.Flagged || p.links {
		return s.git.Scan(ctx, p)
	}
	w := &walk{top: s.top, index: p, entries: p.entries, scan: Scan{Modes: map[string]fs.FileMode{}, ModesKnown: true}, slots: make(chan struct{}, runtime.GOMAXPROCS(0))}
	w.met = make([]bool, len(w.entries))
	w.group.Add(1)
	w.dir(ctx, "", 0, len(w.entries))
	w.group.Wait()
	if w.err != nil {
		return Scan{}, w.err
	}
	if err := context.Cause(ctx); err != nil {
		return Scan{}, err
	}
	if err := s.unknown(ctx, p, w); err != nil {
		return Scan{}, err
	}
	sort.Slice(w.scan.Tracked, func(i, j int) bool { return w.scan.Tracked[i].Path < w.scan.Tracked[j].Path })
	return w.scan, nil
}

// walk is one pass over the directories of an index.
type walk struct {
	top     string
	entries []git.IndexEntry // sorted by path, as the index is
	index   *privateIndex
	met     []bool // by entry: its name is there, or its directory for the first one below
	buffers direntBuffers
	slots   chan struct{}
	group   sync.WaitGroup

	mu      sync.Mutex
	scan    Scan
	names   []string // unknown to the index; a directory ends in "/"
	special []string // neither file, directory nor link
	err     error
}

// dirFound collects what one directory gave.
type dirFound struct {
	tracked        []Tracked
	names, special []string
	unreadable     []string
	modes          map[string]fs.FileMode
}

// dir compares the directory at prefix ("" or "a/b/") with entries lo to hi, all
// of which are below it.
func (w *walk) dir(ctx context.Context, prefix string, lo, hi int) {
	defer w.group.Done()
	if ctx.Err() != nil {
		return
	}
	var f dirFound
	fd, err := openBelow(w.top, prefix)
	if err == nil {
		defer unix.Close(fd) //nolint:errcheck // read only
		err = w.list(fd, prefix, lo, hi, &f)
	}
	switch {
	case errors.Is(err, fs.ErrPermission):
		f.unreadable = append(f.unreadable, prefix)
	case absent(err) || errors.Is(err, unix.ELOOP), errors.Is(err, unix.ENOTDIR):
		f.gone(w.entries[lo:hi])
	case err != nil:
		w.fail(fmt.Errorf("read directory %q: %w", prefix, err))
	}
	if err == nil {
		w.compare(ctx, prefix, lo, hi, fd, &f)
	}
	if f.empty() {
		return
	}
	w.mu.Lock()
	w.scan.Tracked = append(w.scan.Tracked, f.tracked...)
	w.scan.Unreadable = append(w.scan.Unreadable, f.unreadable...)
	maps.Copy(w.scan.Modes, f.modes)
	w.names, w.special = append(w.names, f.names...), append(w.special, f.special...)
	w.mu.Unlock()
}

func (f *dirFound) empty() bool {
	return len(f.tracked)+len(f.names)+len(f.special)+len(f.unreadable)+len(f.modes) == 0
}

func (f *dirFound) gone(entries []git.IndexEntry) {
	for _, e := range entries {
		f.tracked = append(f.tracked, Tracked{Path: e.Path, Mode: e.Mode, Deleted: true})
	}
}

func (w *walk) fail(err error) {
	w.mu.Lock()
	defer w.mu.Unlock()
	if w.err == nil {
		w.err = err
	}
}

// list reads the names of a directory: those that the index has are marked as met,
// the others kept by what they are.
func (w *walk) list(fd int, prefix string, lo, hi int, f *dirFound) error {
	return w.buffers.readDirents(fd, func(name []byte, typ fs.FileMode) error {
		if i, below := w.find(name, len(prefix), lo, hi); i >= 0 && typ.IsDir() == below {
			w.met[i] = true
			return nil
		}
		n := prefix + string(name)
		switch {
		case string(name) == ".git" || prefix == "" && IsStaging(n):
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

// find gives the entry of a name in a directory, or the first one below it; -1 when
// the index has neither. The paths of entries lo to hi start with at bytes of the
// directory's own.
func (w *walk) find(name []byte, at, lo, hi int) (i int, below bool) {
	i = lo + sort.Search(hi-lo, func(k int) bool { return w.entries[lo+k].Path[at:] >= string(name) })
	if i < hi && w.entries[i].Path[at:] == string(name) {
		return i, false
	}
	// "a-b" and "a.b" stand between "a" and "a/b".
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

// openBelow opens a directory without following a link in its last component;
// the walk has seen the others to be directories. A path that is too long for the
// system is opened one component at a time.
func openBelow(top, prefix string) (int, error) {
	const flags = unix.O_RDONLY | unix.O_DIRECTORY | unix.O_CLOEXEC | unix.O_NOFOLLOW
	fd, err := unix.Open(top+"/"+strings.TrimSuffix(prefix, "/"), flags, 0)
	if !errors.Is(err, unix.ENAMETOOLONG) {
		return fd, err
	}
	if fd, err = unix.Open(top, unix.O_RDONLY|unix.O_DIRECTORY|unix.O_CLOEXEC, 0); err != nil {
		return fd, err
	}
	for _, part := range strings.Split(strings.TrimSuffix(prefix, "/"), "/") {
		next, err := unix.Openat(fd, part, flags, 0)
		unix.Close(fd) //nolint:errcheck // read only
		if err != nil {
			return -1, err
		}
		fd = next
	}
	return fd, nil
}

// compare goes through the entries of one directory.
func (w *walk) compare(ctx context.Context, prefix string, lo, hi, dirfd int, f *dirFound) {
	for i := lo; i < hi; {
		rest := w.entries[i].Path[len(prefix):]
		name, _, below := strings.Cut(rest, "/")
		if !below {
			f.file(w, i, name, dirfd)
			i++
			continue
		}
		sub := w.entries[i].Path[:len(prefix)+len(name)+1]
		end := i + sort.Search(hi-i, func(k int) bool { return !strings.HasPrefix(w.entries[i+k].Path, sub) })
		if w.met[i] {
			w.met[i] = false // from here on it is about the entry itself
			w.descend(ctx, sub, i, end)
		} else {
			f.gone(w.entries[i:end])
		}
		i = end
	}
}

// descend walks a subdirectory, in parallel while there are free slots.
func (w *walk) descend(ctx context.Context, prefix string, lo, hi int) {
	w.group.Add(1)
	select {
	case w.slots <- struct{}{}:
		go func() {
			w.dir(ctx, prefix, lo, hi)
			<-w.slots
		}()
	default:
		w.dir(ctx, prefix, lo, hi)
	}
}

// file compares one tracked file with what is at its name.
func (f *dirFound) file(w *walk, i int, name string, dirfd int) {
	e := &w.entries[i]
	if !w.met[i] {
		f.tracked = append(f.tracked, Tracked{Path: e.Path, Mode: e.Mode, Deleted: true})
		return
	}
	var st unix.Stat_t
	switch err := unix.Fstatat(dirfd, name, &st, unix.AT_SYMLINK_NOFOLLOW); {
	case errors.Is(err, fs.ErrPermission):
		f.unreadable = append(f.unreadable, e.Path)
	case err != nil:
		f.tracked = append(f.tracked, Tracked{Path: e.Path, Mode: e.Mode, Deleted: true})
	case w.changed(e, &st):
		f.tracked = append(f.tracked, Tracked{Path: e.Path, Mode: e.Mode})
	case st.Mode&unix.S_IFMT == unix.S_IFREG && unusual(fs.FileMode(st.Mode&0o777)):
		if f.modes == nil {
			f.modes = map[string]fs.FileMode{}
		}
		f.modes[e.Path] = fs.FileMode(st.Mode & 0o777)
	}
}

// changed is git's own comparison, with nanoseconds where both sides have them.
// An entry as young as the index may have changed after it was written.
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
	mtime, ctime := statTimes(st)
	return mode != e.Mode || uint32(st.Size) != e.Size || e.Size == 0 && e.OID != git.HashObject(formatOf(e), "blob", nil) ||
		e.Inode != 0 && uint32(st.Ino) != e.Inode || differs(mtime, fileTime{e.MtimeSec, e.MtimeNsec}) || differs(ctime, fileTime{e.CtimeSec, e.CtimeNsec}) ||
		w.index.doubtful(*e)
}

func formatOf(e *git.IndexEntry) string {
	if len(e.OID) == 64 {
		return "sha256"
	}
	return "sha1"
}

func differs(a, b fileTime) bool {
	return a.sec != b.sec || a.nsec != b.nsec && a.nsec != 0 && b.nsec != 0
}

// askedByName bounds how many names are put on a command line.
const askedByName = 500

// unknown lets git judge the names that the index does not have, by its ignore
// rules, and looks into directories for special files.
func (s *nativeScanner) unknown(ctx context.Context, p *privateIndex, w *walk) error {
	if len(w.names) > 0 {
		sort.Strings(w.names)
		if err := s.git.untracked(ctx, p.path, &w.scan, asked(w.names)); err != nil {
			return err
		}
	}
	var dirs []string
	for _, n := range w.names {
		if strings.HasSuffix(n, "/") {
			dirs = append(dirs, n)
		}
	}
	return s.git.findSpecial(ctx, &w.scan, dirs, w.special)
}

// asked are the names for the command line. With a slash at its end git does not list
// a repository whose parent is one too, where the parent's files are tracked here.
func asked(names []string) []string {
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
