package git

import (
	"bytes"
	"errors"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"strings"

	"git-checkpoint/internal/discover"
	"git-checkpoint/internal/gitconfig"
	"git-checkpoint/internal/mapped"
	"git-checkpoint/internal/name"
)

// refFiles reads refs as the files that they are, loose ones and packed-refs. What
// it cannot tell for certain is git's to tell.
type refFiles struct {
	dir    string // the common git directory; empty: the refs are kept in another way
	digits int    // of an id
}

func (r *Repo) refFiles() refFiles {
	f := refFiles{r.CommonDir, 2 * r.HashLen()}
	if v, ok := r.Config.Get("extensions.refStorage"); ok && !strings.EqualFold(v, "files") {
		f.dir = ""
	}
	for _, key := range []string{"GIT_REFERENCE_BACKEND", "GIT_REF_FORMAT"} {
		if gitconfig.Getenv(r.env, key) != "" {
			f.dir = ""
		}
	}
	return f
}

// errAsk says that only git can tell.
var errAsk = discover.ErrAsk

// resolve gives what a ref points to directly, "" when it does not exist. As in git,
// the loose file comes first: packing writes packed-refs before it removes one.
func (f refFiles) resolve(ref name.Ref) (name.OID, error) {
	if f.dir == "" || !f.shared(string(ref)) {
		return "", errAsk
	}
	path := filepath.Join(f.dir, string(ref))
	info, err := os.Lstat(path)
	switch {
	case err == nil && info.Mode().IsRegular():
		data, err := mapped.Small(path)
		if errors.Is(err, fs.ErrNotExist) { // it was packed or deleted just now
			return f.packed(ref)
		}
		oid := strings.TrimSuffix(string(data), "\n")
		if err != nil || len(oid) != f.digits || !name.IsHex(oid) {
			return "", errAsk
		}
		return name.OID(oid), nil
	case err == nil && info.IsDir(), errors.Is(err, fs.ErrNotExist):
		return f.packed(ref)
	}
	return "", errAsk
}

// shared reports whether a ref is one of the whole repository, by a name that is a
// path below refs and no other.
func (f refFiles) shared(ref string) bool {
	rest, ok := strings.CutPrefix(ref, "refs/")
	if !ok || filepath.ToSlash(filepath.Clean(ref)) != ref || strings.ContainsAny(ref, "\\:") {
		return false
	}
	for _, own := range []string{"worktree/", "bisect/", "rewritten/"} { // of one worktree
		if strings.HasPrefix(rest, own) {
			return false
		}
	}
	return true
}

// packed searches packed-refs, which git keeps sorted and says so.
func (f refFiles) packed(ref name.Ref) (name.OID, error) {
	p, err := f.openPacked()
	if err != nil || p.file == nil {
		return "", err
	}
	defer p.file.Close() //nolint:errcheck // read only
	return p.resolve(string(ref), f.digits)
}

// openPacked opens packed-refs; without one there is no file.
func (f refFiles) openPacked() (packedRefs, error) {
	file, err := os.Open(filepath.Join(f.dir, "packed-refs"))
	if errors.Is(err, fs.ErrNotExist) {
		return packedRefs{}, nil
	}
	if err != nil {
		return packedRefs{}, errAsk
	}
	p := packedRefs{file: file}
	info, err := file.Stat()
	if err == nil {
		p.size = info.Size()
		err = p.readHeader()
	}
	if err != nil {
		file.Close() //nolint:errcheck // read only
		return packedRefs{}, errAsk
	}
	return p, nil
}

// packedRefs is the open file.
type packedRefs struct {
	file interface {
		io.ReaderAt
		io.Closer
	}
	size, begin int64 // where the first ref is
}

func (p *packedRefs) readHeader() error {
	first, begin, err := p.line(0)
	if err != nil || !saysSorted(first) {
		return errAsk
	}
	p.begin = begin
	return nil
}

// saysSorted reports whether packed-refs says in its first line that it is sorted.
func saysSorted(header string) bool {
	return strings.HasPrefix(header, "# pack-refs with:") && strings.Contains(header+" ", " sorted ")
}

// resolve gives what a ref points to, "" where there is none.
func (p packedRefs) resolve(ref string, digits int) (name.OID, error) {
	line, err := p.find(ref)
	if _, at, _ := strings.Cut(line, " "); err != nil || at != ref {
		return "", err
	}
	if len(line) < digits || !name.IsHex(line[:digits]) {
		return "", errAsk
	}
	return name.OID(line[:digits]), nil
}

// line is the line that starts at an offset, and where the next one starts.
func (p packedRefs) line(at int64) (string, int64, error) {
	for size := int64(512); ; size *= 8 {
		buf := make([]byte, min(size, p.size-at))
		if _, err := p.file.ReadAt(buf, at); err != nil {
			return "", 0, errAsk
		}
		if end := bytes.IndexByte(buf, '\n'); end >= 0 {
			return string(buf[:end]), at + int64(end) + 1, nil
		}
		if at+int64(len(buf)) >= p.size || size > 1<<20 {
			return "", 0, errAsk
		}
	}
}

// find is a binary search: the line of a ref, else of the next one, "" behind the last. A
// line that starts with "^" belongs to the ref before it.
func (p packedRefs) find(ref string) (string, error) {
	lo, found := p.begin, ""
	for hi := p.size; lo < hi; {
		mid, err := p.start(lo, lo+(hi-lo)/2)
		if err != nil {
			return "", err
		}
		line, next, err := p.line(mid)
		if err != nil {
			return "", err
		}
		_, at, ok := strings.Cut(line, " ")
		switch {
		case !ok:
			return "", errAsk
		case at == ref:
			return line, nil
		case at > ref:
			hi, found = mid, line
			continue
		}
		for lo = next; lo < p.size; lo = next {
			if line, next, err = p.line(lo); err != nil {
				return "", err
			}
			if !strings.HasPrefix(line, "^") {
				break
			}
		}
	}
	return found, nil
}

// start is where the ref begins whose lines an offset is in; lo is the start of one.
func (p packedRefs) start(lo, at int64) (int64, error) {
	for back := int64(256); ; back *= 8 {
		from := max(lo, at-back)
		buf := make([]byte, at-from)
		if _, err := p.file.ReadAt(buf, from); err != nil && len(buf) > 0 {
			return 0, errAsk
		}
		for end := len(buf); ; {
			begin := bytes.LastIndexByte(buf[:end], '\n')
			if begin < 0 && from > lo {
				break // further back
			}
			first, err := p.byteAt(from + int64(begin) + 1)
			if err != nil || begin < 0 {
				return lo, err
			}
			if first != '^' {
				return from + int64(begin) + 1, nil
			}
			end = begin
		}
	}
}

func (p packedRefs) byteAt(at int64) (byte, error) {
	var b [1]byte
	if _, err := p.file.ReadAt(b[:], at); err != nil {
		return 0, errAsk
	}
	return b[0], nil
}
