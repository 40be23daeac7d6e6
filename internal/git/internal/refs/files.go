// Package refs reads and writes refs without git, in the files of git's "files" backend: a loose ref
// is a file <git dir>/refs/..., and packed-refs is one sorted file with a line for each ref. A loose
// ref hides a line in packed-refs.
//
// Files is the entry point. Resolve and List read, Write changes refs in one transaction, and Reclaim
// finishes or takes back what a killed process has left. They return gitconfig.ErrUseGit for everything
// unusual, such as symbolic refs, refs of one worktree, damage, or another backend. The caller asks
// git then.
//
// Start reading with files.go, and for transactions with the type transaction in lock.go.
package refs

import (
	"bytes"
	"errors"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"git-checkpoint/internal/format/name"
	"git-checkpoint/internal/git/gitconfig"
	"git-checkpoint/internal/sys/mapped"
)

// Files are the refs of a repository.
type Files struct {
	Dir    string // the common git directory
	Digits int    // hex digits of an id
	Config *gitconfig.Config
	Env    []string // the environment of git processes

	// Whole reports whether an object exists. A loose one is also read and checked. Write and Reclaim
	// need it.
	Whole func(name.OID) bool
}

// foreign reports whether the configuration or the environment selects another backend, such as
// reftable.
func (f Files) foreign() bool {
	if v, ok := f.Config.Get("extensions.refStorage"); ok && !strings.EqualFold(v, "files") {
		return true
	}
	return gitconfig.Getenv(f.Env, "GIT_REFERENCE_BACKEND") != "" || gitconfig.Getenv(f.Env, "GIT_REF_FORMAT") != ""
}

// errUseGit says that this process cannot tell, and that git has to be asked.
var errUseGit = gitconfig.ErrUseGit

// Resolve returns the id that a ref holds, or "" if the ref does not exist. It looks at the loose
// file first, as git does: `git pack-refs` writes packed-refs before it removes the loose file, so
// in this order no ref is missed.
func (f Files) Resolve(ref name.Ref) (name.OID, error) {
	if f.foreign() || !f.shared(string(ref)) {
		return "", errUseGit
	}
	path := filepath.Join(f.Dir, string(ref))
	info, err := os.Lstat(path)
	switch {
	case err == nil && info.Mode().IsRegular():
		oid, err := f.looseID(path)
		if errors.Is(err, fs.ErrNotExist) { // packed or deleted since the Lstat
			return f.packed(ref)
		}
		return oid, err
	case err == nil && info.IsDir(), errors.Is(err, fs.ErrNotExist):
		return f.packed(ref)
	}
	return "", errUseGit
}

// looseID reads the file of a ref. The error is fs.ErrNotExist if there is none, and errUseGit if it does
// not hold an id.
func (f Files) looseID(path string) (name.OID, error) {
	data, err := mapped.Small(path)
	if errors.Is(err, fs.ErrNotExist) {
		return "", fs.ErrNotExist
	}
	oid := strings.TrimSuffix(string(data), "\n")
	if err != nil || len(oid) != f.Digits || !name.IsHex(oid) {
		return "", errUseGit
	}
	return name.OID(oid), nil
}

// shared reports whether ref belongs to the whole repository and not to one worktree, and whether
// its name is a clean path below refs, so that it can be used as a file name.
func (f Files) shared(ref string) bool {
	rest, ok := strings.CutPrefix(ref, "refs/")
	if !ok || filepath.ToSlash(filepath.Clean(ref)) != ref || strings.ContainsAny(ref, "\\:") {
		return false
	}
	ofOne := []string{"worktree/", "bisect/", "rewritten/"} // these belong to one worktree
	return !slices.ContainsFunc(ofOne, func(own string) bool { return strings.HasPrefix(rest, own) })
}

// packed looks a ref up in packed-refs.
func (f Files) packed(ref name.Ref) (name.OID, error) {
	p, err := f.openPacked()
	if err != nil || p.file == nil {
		return "", err
	}
	defer p.file.Close() //nolint:errcheck // read only
	return p.resolve(string(ref), f.Digits)
}

// openPacked opens packed-refs. If there is no such file, packedRefs.file is nil. It returns errUseGit
// if the header does not say that the file is sorted, or the last line is cut off: git refuses such a
// file as a whole.
func (f Files) openPacked() (packedRefs, error) {
	file, err := os.Open(filepath.Join(f.Dir, "packed-refs"))
	if errors.Is(err, fs.ErrNotExist) {
		return packedRefs{}, nil
	}
	if err != nil {
		return packedRefs{}, errUseGit
	}
	p := packedRefs{file: file}
	info, err := file.Stat()
	if err == nil {
		p.size = info.Size()
		err = p.readHeader()
	}
	if end := [1]byte{}; err == nil {
		if _, err = file.ReadAt(end[:], p.size-1); err == nil && end[0] != '\n' {
			err = errUseGit
		}
	}
	if err != nil {
		file.Close() //nolint:errcheck // read only
		return packedRefs{}, errUseGit
	}
	return p, nil
}

// packedRefs is the open packed-refs file. It is searched in place, because it may have a hundred
// thousand lines and mostly one ref is needed. git replaces the file by a rename and never writes
// into it, so what is open does not change.
//
// The format is a header line and then lines "<id> <ref>", sorted by ref. After the line of an
// annotated tag comes a line "^<id>" with the object that the tag points to.
type packedRefs struct {
	file interface {
		io.ReaderAt
		io.Closer
	}
	size, begin int64 // size of the file, and offset of the first ref
}

// readHeader checks the first line and sets begin.
func (p *packedRefs) readHeader() error {
	first, _, _, err := p.line(0, 0)
	if err != nil || !saysSorted(first) {
		return errUseGit
	}
	p.begin = int64(len(first)) + 1
	return nil
}

// saysSorted reports whether the first line of packed-refs says that the file is sorted. git has
// written that for years.
func saysSorted(header string) bool {
	return strings.HasPrefix(header, "# pack-refs with:") && strings.Contains(header+" ", " sorted ")
}

// resolve returns the id of a ref, or "" if it is not in the file.
func (p packedRefs) resolve(ref string, digits int) (name.OID, error) {
	line, err := p.find(ref)
	if _, at, _ := strings.Cut(line, " "); err != nil || at != ref {
		return "", err
	}
	if len(line) < digits || !name.IsHex(line[:digits]) {
		return "", errUseGit
	}
	return name.OID(line[:digits]), nil
}

// lineLengths are the lengths of lines of packed-refs that are tried, in bytes: first what is usual
// for an id and a path, or another id, then what is possible.
var lineLengths = [...]int64{256, 8 << 10}

// find searches for a ref by bisection, in the same steps as git. It returns the ref's line, or that
// of the next larger ref, or "" if there is none.
func (p packedRefs) find(ref string) (string, error) {
	lo, found := p.begin, ""
	for hi := p.size; lo < hi; {
		line, start, next, err := p.line(lo, lo+(hi-lo)/2)
		if err != nil {
			return "", err
		}
		_, at, ok := strings.Cut(line, " ")
		switch {
		case !ok:
			return "", errUseGit
		case at == ref:
			return line, nil
		case at > ref:
			hi, found = start, line
		default:
			lo = next
		}
	}
	return found, nil
}

// line returns the line of the ref at an offset, where it begins, and where the next ref begins. lo is
// the beginning of a line, before which it does not look. A line "^<id>" belongs to the ref before it.
func (p packedRefs) line(lo, at int64) (text string, start, next int64, err error) {
	for _, length := range lineLengths {
		if text, start, next, err = p.lineUpTo(length, lo, at); err == nil {
			break
		}
	}
	return text, start, next, err
}

// lineUpTo is line for lines of at most length bytes.
func (p packedRefs) lineUpTo(length, lo, at int64) (text string, start, next int64, err error) {
	from := max(lo, at-length)
	buf := make([]byte, min(3*length, p.size-from))
	if _, err := p.file.ReadAt(buf, from); err != nil {
		return "", 0, 0, errUseGit
	}
	begin := int(at - from)
	for begin > 0 && (buf[begin-1] != '\n' || buf[begin] == '^') {
		begin--
	}
	line, rest, ended := bytes.Cut(buf[begin:], []byte{'\n'})
	if len(rest) > 0 && rest[0] == '^' {
		_, rest, ended = bytes.Cut(rest, []byte{'\n'})
	}
	// What follows may be a line that belongs to this ref, so it has to be in sight.
	blind := len(rest) == 0 && from+int64(len(buf)) < p.size
	if !ended || blind || begin == 0 && from > lo {
		return "", 0, 0, errUseGit
	}
	return string(line), from + int64(begin), from + int64(len(buf)-len(rest)), nil
}
