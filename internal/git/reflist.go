package git

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"git-checkpoint/internal/mapped"
	"git-checkpoint/internal/name"
)

// Bounds of what is listed in process; git lists more as fast.
const (
	maxPackedRefs = 16 << 20 // bytes
	maxLooseRefs  = 20_000
)

// list gives the refs below prefixes, sorted, as for-each-ref does. The loose ones come
// first, as in resolve.
func (f refFiles) list(prefixes []string) ([]RefValue, error) {
	if f.dir == "" || len(prefixes) == 0 {
		return nil, errAsk
	}
	l := refList{refFiles: f, prefixes: prefixes, found: map[name.Ref]bool{}}
	for _, p := range prefixes {
		if strings.ContainsAny(p, "*?[") || !f.shared(strings.TrimSuffix(p, "/")+"/x") {
			return nil, errAsk
		}
		if err := l.loose(strings.TrimSuffix(p, "/")); err != nil {
			return nil, err
		}
	}
	loose := l.out
	l.out = nil
	if err := l.packed(); err != nil {
		return nil, err
	}
	return united(loose, l.out), nil
}

// united puts loose refs where they belong among the packed ones, which are sorted.
func united(loose, packed []RefValue) []RefValue {
	if len(loose) == 0 {
		return packed
	}
	compare := func(a, b RefValue) int { return strings.Compare(string(a.Ref), string(b.Ref)) }
	slices.SortFunc(loose, compare)
	all := make([]RefValue, 0, len(loose)+len(packed))
	for _, r := range loose {
		at, _ := slices.BinarySearchFunc(packed, r, compare)
		all = append(append(all, packed[:at]...), r)
		packed = packed[at:]
	}
	return append(all, packed...)
}

// refList is a listing that is being made.
type refList struct {
	refFiles
	prefixes []string
	found    map[name.Ref]bool // loose ones
	out      []RefValue
	text     strings.Builder // of packed ones
	lines    int             // that packed-refs has
}

// wanted reports whether a ref is one of the prefixes, or below it.
func (l *refList) wanted(ref string) bool {
	for _, p := range l.prefixes {
		rest, below := strings.CutPrefix(ref, p)
		if below && (rest == "" || rest[0] == '/' || strings.HasSuffix(p, "/")) {
			return true
		}
	}
	return false
}

// loose reads the file of a ref, or those below a directory.
func (l *refList) loose(ref string) error {
	path := filepath.Join(l.dir, filepath.FromSlash(ref))
	info, err := os.Lstat(path)
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return nil
	case err != nil:
		return errAsk
	case info.Mode().IsRegular():
		return l.file(ref, path)
	case !info.IsDir():
		return errAsk
	}
	return l.below(ref, path)
}

func (l *refList) below(ref, dir string) error {
	entries, err := os.ReadDir(dir)
	if errors.Is(err, fs.ErrNotExist) {
		return nil // packing removes what is empty
	}
	if err != nil || len(l.found)+len(entries) > maxLooseRefs {
		return errAsk
	}
	for _, e := range entries {
		n := e.Name()
		if n[0] == '.' || strings.HasSuffix(n, ".lock") {
			continue // as git does
		}
		at, path := ref+"/"+n, filepath.Join(dir, n)
		switch {
		case e.IsDir():
			err = l.below(at, path)
		case e.Type().IsRegular():
			err = l.file(at, path)
		default:
			err = errAsk
		}
		if err != nil {
			return err
		}
	}
	return nil
}

func (l *refList) file(ref, path string) error {
	if l.found[name.Ref(ref)] || !l.wanted(ref) {
		return nil
	}
	data, err := mapped.Small(path)
	if errors.Is(err, fs.ErrNotExist) { // it was packed or deleted just now
		return nil
	}
	oid := strings.TrimSuffix(string(data), "\n")
	if err != nil || len(oid) != l.digits || !name.IsHex(oid) || name.OID(oid).IsZero() || !isSimpleRef(ref) {
		return errAsk
	}
	l.found[name.Ref(ref)] = true
	l.out = append(l.out, RefValue{Ref: name.Ref(ref), OID: name.OID(oid)})
	return nil
}

// packed takes what is wanted of packed-refs.
func (l *refList) packed() error {
	data, err := l.readPacked()
	if err != nil || len(data) == 0 {
		return err
	}
	l.lines = bytes.Count(data, []byte{'\n'})
	return l.eachPacked(data, l.add)
}

// readPacked gives packed-refs when it is there and sorted, as git has written it for
// years.
func (f refFiles) readPacked() ([]byte, error) {
	path := filepath.Join(f.dir, "packed-refs")
	info, err := os.Stat(path)
	if errors.Is(err, fs.ErrNotExist) {
		return nil, nil
	}
	if err != nil || !info.Mode().IsRegular() || info.Size() > maxPackedRefs {
		return nil, errAsk
	}
	data, err := os.ReadFile(path) // not mapped: it is read for one session after the other
	if err != nil {
		return nil, errAsk
	}
	if first, _, _ := bytes.Cut(data, []byte{'\n'}); !saysSorted(string(first)) {
		return nil, errAsk
	}
	return data, nil
}

// packedFault is an errAsk that says where packed-refs is damaged.
type packedFault struct {
	line int
	text string
}

func (e *packedFault) Error() string { return fmt.Sprintf("line %d of packed-refs %s", e.line, e.text) }

func (e *packedFault) Unwrap() error { return errAsk }

// eachPacked goes through all lines of refs: where one is out of order git finds what it
// finds.
func (f refFiles) eachPacked(data []byte, each func(line []byte) error) error {
	_, rest, _ := bytes.Cut(data, []byte{'\n'})
	var before []byte
	for n := 2; len(rest) > 0; n++ {
		end := bytes.IndexByte(rest, '\n')
		if end < 0 {
			return &packedFault{n, "is cut off"}
		}
		line := rest[:end]
		rest = rest[end+1:]
		if before != nil && len(line) == f.digits+1 && line[0] == '^' && name.IsHex(line[1:]) {
			continue // what the annotated tag before it stands for
		}
		if len(line) < f.digits+2 || line[f.digits] != ' ' || !name.IsHex(line[:f.digits]) {
			return &packedFault{n, "is no id and a ref"}
		}
		ref := line[f.digits+1:]
		if bytes.Compare(before, ref) >= 0 {
			return &packedFault{n, fmt.Sprintf("has %q behind %q", ref, before)}
		}
		before = ref
		if err := each(line); err != nil {
			return err
		}
	}
	return nil
}

// RefsAndFault is Refs, and says what is wrong with the file of the packed refs, "" where
// nothing is or it is not looked at. git searches it without a look at its order, so that
// a damaged line hides others.
func (r *Repo) RefsAndFault(ctx context.Context, prefixes ...string) (refs []RefValue, fault string, err error) {
	if refs, err := r.refFiles().list(prefixes); err == nil {
		return refs, "", ctx.Err()
	}
	refs, err = r.forEachRef(ctx, prefixes)
	return refs, r.packedRefsFault(), err
}

func (r *Repo) packedRefsFault() string {
	f := r.refFiles()
	if f.dir == "" {
		return ""
	}
	data, err := f.readPacked()
	var fault *packedFault
	if err == nil && len(data) > 0 && errors.As(f.eachPacked(data, func([]byte) error { return nil }), &fault) {
		return fault.Error()
	}
	return ""
}

// add takes a line of packed-refs when its ref is wanted and not loose.
func (l *refList) add(line []byte) error {
	if !l.wanted(string(line[l.digits+1:])) {
		return nil
	}
	kept := l.keep(line)
	oid, ref := name.OID(kept[:l.digits]), kept[l.digits+1:]
	switch {
	case l.found[name.Ref(ref)]:
	case !isSimpleRef(ref) || oid.IsZero():
		return errAsk
	default:
		if len(l.out) == 0 {
			l.out = make([]RefValue, 0, l.lines) // what is not used of it takes no memory
		}
		l.out = append(l.out, RefValue{Ref: name.Ref(ref), OID: oid})
	}
	return nil
}

// textSize is how much text of packed refs stands in one piece of memory: there may be
// thousands of them.
const textSize = 16 << 10

// keep copies a line behind others.
func (l *refList) keep(line []byte) string {
	if l.text.Cap()-l.text.Len() < len(line) {
		l.text = strings.Builder{}
		l.text.Grow(max(textSize, len(line)))
	}
	from := l.text.Len()
	l.text.Write(line)
	return l.text.String()[from:]
}

// simple has what may stand anywhere in a ref.
var simple = func() (table [256]bool) {
	for _, c := range []byte("ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789_-+") {
		table[c] = true
	}
	return table
}()

// isSimpleRef reports whether a name breaks none of git's rules for sure.
func isSimpleRef(ref string) bool {
	for i := range len(ref) {
		switch c := ref[i]; {
		case simple[c]:
		case c != '/' && c != '.', i+1 == len(ref), ref[i+1] == '/', ref[i+1] == '.':
			return false
		case c == '.':
			if rest, lock := strings.CutPrefix(ref[i:], ".lock"); lock && (rest == "" || rest[0] == '/') {
				return false
			}
		}
	}
	return true
}
