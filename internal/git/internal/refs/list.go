package refs

import (
	"bytes"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"git-checkpoint/internal/format/name"
)

// List returns the refs below prefixes, sorted, as `git for-each-ref` does. It reads the loose refs
// first, for the same reason as Resolve: a ref that is packed in between is then found twice, and
// not missed.
func (f Files) List(prefixes []string) ([]Value, error) {
	if f.foreign() || len(prefixes) == 0 {
		return nil, errUseGit
	}
	l := refList{Files: f, prefixes: prefixes, found: map[name.Ref]bool{}}
	for _, p := range prefixes {
		if strings.ContainsAny(p, "*?[") || !f.shared(strings.TrimSuffix(p, "/")+"/x") {
			return nil, errUseGit
		}
		if err := l.loose(strings.TrimSuffix(p, "/")); err != nil {
			return nil, err
		}
	}
	// packed now appends to an empty list, and skips the refs that were found as files.
	loose := l.out
	l.out = nil
	if err := l.packed(); err != nil {
		return nil, err
	}
	return united(loose, l.out), nil
}

// Samples returns at least one ref of each directory that is directly below a directory, sorted: for a
// reader that wants the names of the directories and not ten thousand refs. Loose ones may be broken,
// and a directory in the place of a ref counts as one.
func (f Files) Samples(dir string) ([]name.Ref, error) {
	if f.foreign() || !f.shared(dir) {
		return nil, errUseGit
	}
	samples, err := f.looseSamples(dir)
	if err != nil {
		return nil, err
	}
	p, err := f.openPacked()
	if err != nil || p.file == nil {
		return samples, err
	}
	defer p.file.Close() //nolint:errcheck // read only
	for from := dir + "/"; ; {
		line, err := p.find(from)
		if err != nil {
			return nil, err
		}
		_, ref, _ := strings.Cut(line, " ")
		rest, below := strings.CutPrefix(ref, dir+"/")
		if !below {
			slices.Sort(samples)
			return samples, nil
		}
		samples = append(samples, name.Ref(ref))
		child, _, nested := strings.Cut(rest, "/")
		if from = ref + "\x00"; nested {
			from = dir + "/" + child + "0" // the character after the slash: it sorts after all that is below the child
		}
	}
}

// looseSamples is Samples for the refs that are files, and returns them all.
func (f Files) looseSamples(dir string) (samples []name.Ref, err error) {
	children, err := os.ReadDir(filepath.Join(f.Dir, dir))
	for _, child := range children {
		if !child.IsDir() {
			continue
		}
		at := dir + "/" + child.Name()
		refs, err := os.ReadDir(filepath.Join(f.Dir, at))
		if err != nil && !errors.Is(err, fs.ErrNotExist) { // git removes directories that have become empty
			return nil, errUseGit
		}
		for _, ref := range refs {
			if !strings.HasPrefix(ref.Name(), ".") && !strings.HasSuffix(ref.Name(), ".lock") { // git ignores these
				samples = append(samples, name.Ref(at+"/"+ref.Name()))
			}
		}
	}
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return nil, errUseGit
	}
	return samples, nil
}

// united merges the loose refs into the packed ones. The packed ones are sorted, and no ref is in
// both. Usually there are few loose ones, so it searches the place of each and copies what lies
// between.
func united(loose, packed []Value) []Value {
	if len(loose) == 0 {
		return packed
	}
	compare := func(a, b Value) int { return strings.Compare(string(a.Ref), string(b.Ref)) }
	slices.SortFunc(loose, compare)
	all := make([]Value, 0, len(loose)+len(packed))
	for _, r := range loose {
		at, _ := slices.BinarySearchFunc(packed, r, compare)
		all = append(append(all, packed[:at]...), r)
		packed = packed[at:]
	}
	return append(all, packed...)
}

// refList collects the refs of one list call.
type refList struct {
	Files
	prefixes []string
	found    map[name.Ref]bool // the loose refs, which hide the packed ones
	out      []Value
}

// wanted reports whether a ref matches one of the prefixes, by the rule of for-each-ref: it is the
// prefix itself, or begins with the prefix up to a slash.
func (l *refList) wanted(ref string) bool {
	for _, p := range l.prefixes {
		rest, below := strings.CutPrefix(ref, p)
		if below && (rest == "" || rest[0] == '/' || strings.HasSuffix(p, "/")) {
			return true
		}
	}
	return false
}

// loose reads the ref of that name, or all refs below the directory of that name.
func (l *refList) loose(ref string) error {
	const maxLooseRefs = 20_000 // beyond it git is as fast
	return filepath.WalkDir(filepath.Join(l.Dir, filepath.FromSlash(ref)), func(path string, e fs.DirEntry, err error) error {
		switch {
		case errors.Is(err, fs.ErrNotExist): // `git pack-refs` removes directories that have become empty
			return nil
		case err != nil, len(l.found) > maxLooseRefs:
			return errUseGit
		case e.IsDir() && e.Name()[0] == '.':
			return fs.SkipDir
		case e.IsDir(), e.Name()[0] == '.', strings.HasSuffix(e.Name(), ".lock"): // git ignores these files too
			return nil
		case !e.Type().IsRegular():
			return errUseGit
		}
		at, err := filepath.Rel(l.Dir, path)
		if err != nil {
			return errUseGit
		}
		return l.file(filepath.ToSlash(at), path)
	})
}

// file reads one loose ref.
func (l *refList) file(ref, path string) error {
	if l.found[name.Ref(ref)] || !l.wanted(ref) {
		return nil
	}
	oid, err := l.looseID(path)
	if errors.Is(err, fs.ErrNotExist) { // packed or deleted just now; packed-refs is read later
		return nil
	}
	if err != nil || oid.IsZero() || !IsSimple(ref) {
		return errUseGit
	}
	l.found[name.Ref(ref)] = true
	l.out = append(l.out, Value{Ref: name.Ref(ref), OID: oid})
	return nil
}

// packed adds the wanted refs from packed-refs.
func (l *refList) packed() error {
	data, err := l.readPacked()
	if err != nil || len(data) == 0 {
		return err
	}
	return l.eachPacked(data, l.add)
}

// readPacked returns the content of packed-refs, or nothing if the file does not exist. It returns
// errUseGit if the file is not marked as sorted, as git has written it for years.
func (f Files) readPacked() ([]byte, error) {
	const maxPackedRefs = 16 << 20 // in bytes; beyond it git is as fast
	path := filepath.Join(f.Dir, "packed-refs")
	info, err := os.Stat(path)
	if errors.Is(err, fs.ErrNotExist) {
		return nil, nil
	}
	if err != nil || !info.Mode().IsRegular() || info.Size() > maxPackedRefs {
		return nil, errUseGit
	}
	data, err := os.ReadFile(path) // not mapped, because it is read again and again, once per session
	if err != nil {
		return nil, errUseGit
	}
	if first, _, _ := bytes.Cut(data, []byte{'\n'}); !saysSorted(string(first)) {
		return nil, errUseGit
	}
	return data, nil
}

// packedFault is an errUseGit that says which line of packed-refs is damaged.
type packedFault struct {
	line int
	text string
}

// Error describes the damage.
func (e *packedFault) Error() string { return fmt.Sprintf("line %d of packed-refs %s", e.line, e.text) }

// Unwrap makes it an errUseGit.
func (e *packedFault) Unwrap() error { return errUseGit }

// eachPacked calls each for every line with a ref. It checks the format and the order of all lines.
// If the order is wrong it stops with a packedFault: git's binary search then finds some refs and
// misses others, and this program must not see other refs than git does.
func (f Files) eachPacked(data []byte, each func(line []byte) error) error {
	_, rest, _ := bytes.Cut(data, []byte{'\n'})
	var before []byte
	for n := 2; len(rest) > 0; n++ {
		line, after, ended := bytes.Cut(rest, []byte{'\n'})
		if rest = after; !ended {
			return &packedFault{n, "is cut off"}
		}
		if before != nil && len(line) == f.Digits+1 && line[0] == '^' && name.IsHex(line[1:]) {
			continue // the object that the annotated tag before it points to
		}
		if len(line) < f.Digits+2 || line[f.Digits] != ' ' || !name.IsHex(line[:f.Digits]) {
			return &packedFault{n, "is not an id and a ref"}
		}
		ref := line[f.Digits+1:]
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

// Fault returns a description of the first damaged line of packed-refs. It is empty if there is none,
// or if the refs are not in files. git does not check the order of the lines, so one damaged line can
// hide other refs without any error.
func (f Files) Fault() string {
	if f.foreign() {
		return ""
	}
	data, err := f.readPacked()
	var fault *packedFault
	if err == nil && len(data) > 0 && errors.As(f.eachPacked(data, func([]byte) error { return nil }), &fault) {
		return fault.Error()
	}
	return ""
}

// add takes a line of packed-refs, if its ref is wanted and there is no loose ref of that name.
func (l *refList) add(line []byte) error {
	if !l.wanted(string(line[l.Digits+1:])) {
		return nil
	}
	kept := string(line)
	oid, ref := name.OID(kept[:l.Digits]), kept[l.Digits+1:]
	switch {
	case l.found[name.Ref(ref)]:
	case !IsSimple(ref) || oid.IsZero():
		return errUseGit
	default:
		l.out = append(l.out, Value{Ref: name.Ref(ref), OID: oid})
	}
	return nil
}

// IsSimple reports whether a name certainly fulfils git's rules (git-check-ref-format). It may
// report false for some valid names; for those git is asked.
func IsSimple(ref string) bool {
	for i := range len(ref) {
		if c := ref[i]; c <= ' ' || c >= 0x7f || strings.IndexByte("~^:?*[\\@{", c) >= 0 {
			return false
		}
	}
	within := "/" + ref + "/"
	return !slices.ContainsFunc([]string{"//", "/.", "./", "..", ".lock/"}, func(wrong string) bool { return strings.Contains(within, wrong) })
}
