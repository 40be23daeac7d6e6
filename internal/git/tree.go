package git

import (
	"bytes"
	"cmp"
	"context"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"sync/atomic"

	"git-checkpoint/internal/format/name"
)

// Mode is the mode of a tree entry. git writes it in octal.
type Mode uint32

// These are the modes that git writes today.
const (
	ModeTree    Mode = 0o040000
	ModeFile    Mode = 0o100644
	ModeExec    Mode = 0o100755
	ModeSymlink Mode = 0o120000
	ModeGitlink Mode = 0o160000 // a submodule or nested repository; the id is a commit
)

// Entry is one name in a tree. The zero Entry means that nothing is there.
type Entry struct {
	Mode Mode
	Name string
	OID  name.OID
}

// IsTree reports whether the entry is a directory.
func (e Entry) IsTree() bool { return e.Mode == ModeTree }

// same reports whether two entries have the same mode and id. Their names may differ.
func (e Entry) same(o Entry) bool { return e.Mode == o.Mode && e.OID == o.OID }

// split returns the tree of a directory, which is compared one level deeper, or else the entry itself.
func (e Entry) split() (tree name.OID, file Entry) {
	if e.IsTree() {
		return e.OID, Entry{}
	}
	return "", e
}

// ParseTree decodes the content of a tree object. hashLen is 20 or 32.
func ParseTree(data []byte, hashLen int) ([]Entry, error) {
	out := make([]Entry, 0, 1+len(data)/40) // bytes of an average entry
	err := EachEntry(data, hashLen, func(mode Mode, entry, id []byte) {
		out = append(out, Entry{mode, string(entry), name.OIDOf(id)})
	})
	if err != nil || len(out) == 0 {
		return nil, err
	}
	return out, nil
}

// EachEntry is ParseTree without allocations, for callers that keep little of a tree. entry (the
// name) and id are slices of data, so the caller must copy what it keeps. If the tree is damaged,
// each has been called for the entries before the damage.
func EachEntry(data []byte, hashLen int, each func(mode Mode, entry, id []byte)) error {
	for n := 0; len(data) > 0; n++ {
		space := bytes.IndexByte(data, ' ')
		// Each entry is "<octal mode> <name>\0<binary id>".
		if space < 1 || space > 7 {
			return fmt.Errorf("%w: tree without a mode after %d entries", ErrUnreadable, n)
		}
		var mode Mode
		for _, c := range data[:space] {
			if c < '0' || c > '7' {
				return fmt.Errorf("%w: tree with the mode %q", ErrUnreadable, data[:space])
			}
			mode = mode<<3 | Mode(c-'0')
		}
		end := bytes.IndexByte(data[space:], 0)
		if end < 2 || len(data) < space+end+1+hashLen {
			return fmt.Errorf("%w: tree cut off after %d entries", ErrUnreadable, n)
		}
		end += space
		each(mode, data[space+1:end], data[end+1:end+1+hashLen])
		data = data[end+1+hashLen:]
	}
	return nil
}

// EncodeTree returns the content of a tree object. It sorts entries in place, as git does.
func EncodeTree(entries []Entry) ([]byte, error) {
	slices.SortFunc(entries, func(a, b Entry) int { return strings.Compare(sortKey(a), sortKey(b)) })
	b := make([]byte, 0, 64*len(entries)) // most have fewer bytes
	for _, e := range entries {
		if b = e.OID.Bytes(append(append(append(strconv.AppendUint(b, uint64(e.Mode), 8), ' '), e.Name...), 0)); b == nil {
			return nil, fmt.Errorf("encode tree entry %q: %q is not an object id", e.Name, e.OID)
		}
	}
	return b, nil
}

// sortKey returns what git sorts an entry by: a directory sorts as if its name ended in '/'.
func sortKey(e Entry) string {
	if e.IsTree() {
		return e.Name + "/"
	}
	return e.Name
}

// HashLen returns the length of a binary object id in bytes: 20 or 32.
func (l *Location) HashLen() int {
	if l.Format == "sha256" {
		return 32
	}
	return 20
}

// Trees reads, compares and writes tree objects.
type Trees struct {
	at      *Location
	objects *Objects
	last    atomic.Pointer[keptDiff]
}

// keptDiff is the result of the last call of Diff: a plan of a rollback compares the same two trees
// several times in a row, once for each thing that it says about them. It is not kept if it is huge.
type keptDiff struct {
	a, b    name.OID
	changes []Change
}

// Read reads one tree, without those below it. A zero id stands for the empty tree.
func (t *Trees) Read(ctx context.Context, oid name.OID) ([]Entry, error) {
	data, err := t.data(ctx, oid)
	if err != nil {
		return nil, err
	}
	return ParseTree(data, t.at.HashLen())
}

func (t *Trees) data(ctx context.Context, oid name.OID) ([]byte, error) {
	if oid.IsZero() {
		return nil, nil
	}
	if o, ok := t.objects.unpacked(string(oid), "tree"); ok {
		return o.Data, nil
	}
	if o, ok := t.objects.Batch().recall(oid); ok && o.Type == "tree" {
		return o.Data, nil
	}
	o, err := t.objects.Batch().Typed(ctx, string(oid), "tree")
	if err != nil {
		return nil, fmt.Errorf("read tree %s: %w", oid, err)
	}
	return o.Data, nil
}

// Lookup returns the entry at the path p below tree. ok is false when nothing is there.
func (t *Trees) Lookup(ctx context.Context, tree name.OID, p string) (Entry, bool, error) {
	e := Entry{Mode: ModeTree, OID: tree}
	for _, part := range strings.Split(p, "/") {
		if !e.IsTree() {
			return Entry{}, false, nil
		}
		data, err := t.data(ctx, e.OID)
		if err != nil {
			return Entry{}, false, err
		}
		e = Entry{}
		err = EachEntry(data, t.at.HashLen(), func(mode Mode, entry, id []byte) {
			if e.Name == "" && string(entry) == part {
				e = Entry{mode, part, name.OIDOf(id)}
			}
		})
		if err != nil || e.Name == "" {
			return Entry{}, false, err
		}
	}
	return e, true, nil
}

// Change is a path that differs between two trees. Old or New is the zero Entry if the path is not
// in that tree. Neither is ever a directory.
type Change struct {
	Path     string
	Old, New Entry
}

// Limits of a walk. A few hostile trees that contain each other many times can stand for more paths
// than any machine can list.
const (
	// An index can name deeper paths than the 2,048 of a new git's core.maxTreeDepth. Trees that name each other many
	// times are small to send and huge to unfold: beyond freePaths, there may be so many paths for each entry that is
	// stored.
	maxTreeDepth, maxTreePaths, freePaths, pathsOfEntry = 4096, 1 << 22, 100_000, 16
)

// Diff lists the paths that differ between two trees, sorted. Renames are not detected. An
// empty id stands for the empty tree. Only directories that differ are read, one level at a time. The
// caller may change the result.
func (t *Trees) Diff(ctx context.Context, a, b name.OID) ([]Change, error) {
	if k := t.last.Load(); k != nil && k.a == a && k.b == b {
		return slices.Clone(k.changes), nil
	}
	var out []Change
	err := t.walkPairs(ctx, a, b, func(_ treePair, changed []Change) int {
		out = append(out, changed...)
		return len(out)
	})
	if err != nil {
		return nil, err
	}
	slices.SortFunc(out, func(a, b Change) int { return strings.Compare(a.Path, b.Path) })
	if len(out) <= 100_000 {
		t.last.Store(&keptDiff{a, b, slices.Clone(out)})
	}
	return out, nil
}

// ListNew returns tree and the trees below it that base does not have at the same path.
func (t *Trees) ListNew(ctx context.Context, base, tree name.OID) ([]name.OID, error) {
	var out []name.OID
	err := t.walkPairs(ctx, base, tree, func(p treePair, _ []Change) int {
		if p.b != "" {
			out = append(out, p.b)
		}
		return len(out)
	})
	return out, err
}

// walkPairs calls each for every pair of directories that differ, with the files that differ
// directly in them. It goes breadth first, because one batch of requests can then read all trees of
// a level. each returns how many results it has collected so far, which counts towards
// maxTreePaths.
func (t *Trees) walkPairs(ctx context.Context, a, b name.OID, each func(treePair, []Change) int) error {
	level, stored := []treePair{{"", a, b}}, 0
	for depth := 0; len(level) > 0; depth++ {
		if depth > maxTreeDepth {
			return fmt.Errorf("compare trees %s and %s: more than %d directories deep", a, b, maxTreeDepth)
		}
		trees, err := t.readPairs(ctx, level, &stored)
		if err != nil {
			return err
		}
		var next []treePair
		for _, p := range level {
			if p.a == p.b {
				continue
			}
			changed, deeper := compare(p, trees[p.a], trees[p.b])
			next = append(next, deeper...)
			if most := min(maxTreePaths, freePaths+pathsOfEntry*stored); each(p, changed)+len(next) > most {
				return fmt.Errorf("compare trees %s and %s: more than %d paths in %d entries: %w", a, b, most, stored, ErrRefused)
			}
		}
		level = next
	}
	return nil
}

// treePair is a directory in both of the trees that are compared.
type treePair struct {
	dir  string
	a, b name.OID // empty: there is no directory on this side
}

// readPairs reads the trees of all pairs that differ, each tree once, and adds their entries to stored.
func (t *Trees) readPairs(ctx context.Context, pairs []treePair, stored *int) (map[name.OID][]Entry, error) {
	trees := map[name.OID][]Entry{}
	var want []string
	for _, p := range pairs {
		for _, oid := range []name.OID{p.a, p.b} {
			if _, known := trees[oid]; p.a != p.b && !oid.IsZero() && !known {
				// Mark the id as requested, so that it is read once even if it occurs in many
				// places.
				trees[oid] = nil
				want = append(want, string(oid))
			}
		}
	}
	err := t.objects.Batch().Objects(ctx, want, func(i int, o Object, err error) error {
		if err == nil && o.Type != "tree" {
			err = fmt.Errorf("object is a %s", o.Type)
		}
		if err != nil {
			return fmt.Errorf("read tree %s: %w", want[i], err)
		}
		entries, err := ParseTree(o.Data, t.at.HashLen())
		// As a part of a path such a name would lead somewhere else.
		if at := slices.IndexFunc(entries, func(e Entry) bool { return e.Name == "." || e.Name == ".." || strings.Contains(e.Name, "/") }); at >= 0 {
			return fmt.Errorf("read tree %s: %w: it contains %q: %w", want[i], ErrUnreadable, entries[at].Name, ErrRefused)
		}
		trees[name.OID(want[i])], *stored = entries, *stored+len(entries)
		return err
	})
	return trees, err
}

// compare returns the files that differ directly in one directory, and the pairs of subdirectories
// that differ. Where a file became a directory, or the reverse, it returns both.
func compare(p treePair, a, b []Entry) (changed []Change, deeper []treePair) {
	at := make(map[string]int, len(a))
	both := make([][2]Entry, 0, max(len(a), len(b))) // in the order of the trees, so that little is left to sort
	for side, entries := range [2][]Entry{a, b} {
		for _, e := range entries {
			i, known := at[e.Name]
			if !known {
				i, both = len(both), append(both, [2]Entry{})
				at[e.Name] = i
			}
			both[i][side] = e
		}
	}
	for _, e := range both {
		if e[0].same(e[1]) {
			continue
		}
		full := joinRaw(p.dir, cmp.Or(e[0].Name, e[1].Name))
		sub, c := treePair{dir: full}, Change{Path: full}
		sub.a, c.Old = e[0].split()
		sub.b, c.New = e[1].split()
		if sub.a != sub.b {
			deeper = append(deeper, sub)
		}
		if !c.Old.same(c.New) {
			changed = append(changed, c)
		}
	}
	return changed, deeper
}

// joinRaw joins a directory and a name without cleaning the result: a name like ".." in a hostile
// tree must not turn it into another path.
func joinRaw(dir, part string) string {
	if dir == "" {
		return part
	}
	return dir + "/" + part
}

// Walk calls each for every file, symbolic link and gitlink below tree, sorted by path. Paths
// are slash-separated.
func (t *Trees) Walk(ctx context.Context, tree name.OID, each func(path string, e Entry) error) error {
	changes, err := t.Diff(ctx, "", tree)
	if err != nil {
		return err
	}
	for _, c := range changes {
		if err := each(c.Path, c.New); err != nil {
			return err
		}
	}
	return nil
}
