package snapshot

import (
	"bytes"
	"context"
	"fmt"
	"io/fs"
	"iter"
	"maps"
	"os"
	"path"
	"runtime/debug"
	"slices"
	"strings"
	"time"

	"git-checkpoint/internal/format/name"
	"git-checkpoint/internal/git"
	"git-checkpoint/internal/storage/worktree"
	"git-checkpoint/internal/sys/gather"
)

// lowerGOGC has the heap collected when it has grown by this many percent, if many files change.
// The heap grows with their number and keeps what it grows by until the end, so that costs little
// then and keeps the peak low. For a few files it costs half of the time.
func lowerGOGC(files, percent int) {
	if files >= 10_000 {
		debug.SetGCPercent(percent)
	}
}

// hasher writes the content of files as blobs.
type hasher struct{ converter }

// hashPlain writes the content of files as blobs without conversions, several at a time, and adds
// their entries to c.edits. It returns the files that are marked inOnly and that git may still
// convert; it has not hashed these.
func (s *hasher) hashPlain(ctx context.Context, files []candidate, c *Capture) (crlf []candidate, err error) {
	const maxHashed = 4096 // limits how many hashed files a capture remembers, and so its memory
	hashed := make([]hashedFile, len(files))
	remember := len(files) <= maxHashed
	err = git.Each(len(files), func(i int) (err error) {
		hashed[i], err = s.hashFile(ctx, files[i], c)
		if !remember {
			hashed[i].info = nil
		}
		return err
	})
	if err != nil {
		return nil, err
	}
	c.edits = roomFor(c.edits, len(files))
	if remember { // see Capture.hashed
		c.hashed = make(map[string]hashedFile, len(hashed))
	}
	for i, h := range hashed {
		switch {
		case h.crlf:
			crlf = append(crlf, files[i])
			continue
		case h.left:
			continue
		case h.entry.Mode == 0 || h.entry != files[i].index:
			c.record(files[i].path, h.entry)
		}
		if remember {
			c.hashed[files[i].path] = h
		}
	}
	return crlf, nil
}

// roomFor returns m with room for n more.
func roomFor[V any](m map[string]V, n int) map[string]V {
	grown := make(map[string]V, len(m)+n)
	maps.Copy(grown, m)
	return grown
}

// hashedFile is the entry of a file that was read, and what lstat said of it. The zero value
// stands for a file that vanished.
type hashedFile struct {
	entry git.Entry
	info  fs.FileInfo
	crlf  bool // it was left to git, see hashPlain
	left  bool // it was left out
}

// record adds an entry to c.edits. The zero entry is a deletion.
func (c *Capture) record(p string, e git.Entry) {
	c.edits[p] = e
	if e.Mode != 0 {
		c.New = append(c.New, e.OID)
	}
}

// hashOne hashes one file in this process, without conversions.
func (s *hasher) hashOne(ctx context.Context, f candidate, c *Capture) error {
	h, err := s.hashFile(ctx, f, c)
	if err == nil {
		c.record(f.path, h.entry)
	}
	return err
}

// hashFile writes the content of a file as a blob, without conversions. The mode is that of the
// file that was read, which may have replaced another one since the scan. It returns the zero value
// for a file that vanished or became something else than a file or a symbolic link. A file that the
// previous capture has seen is not read.
//
// After `cp -r` or `chown -R`, no stat data match the index, although all content is the same. It is
// not compared with the stored blob then, just as when the stat data match.
func (s *hasher) hashFile(ctx context.Context, f candidate, c *Capture) (hashedFile, error) {
	if err := ctx.Err(); err != nil {
		return hashedFile{}, &LateError{f.path, err}
	}
	if f.database {
		return s.hashDatabase(ctx, f, c)
	}
	if s.knows(f) {
		if c.look != nil && f.mode != git.ModeSymlink {
			c.look(f.path, f.seen.oid, nil)
		}
		return hashedFile{entry: git.Entry{Mode: f.mode, OID: f.seen.oid}, info: f.info}, nil
	}
	data, oid, large, info, err := s.readFile(ctx, f)
	if err != nil {
		return hashedFile{}, lateError(ctx, f.path, fmt.Errorf("read %q: %w", f.path, err))
	}
	if info == nil || !content(info) {
		return hashedFile{}, nil
	}
	mode := s.modeOf(info, f.staged)
	cr := large || bytes.IndexByte(data, '\r') >= 0
	if f.inOnly && mode != git.ModeSymlink && cr {
		return hashedFile{crlf: true}, nil
	}
	if !large {
		oid = git.HashObject(s.repo.Format, "blob", data)
		if oid != f.index.OID || !s.repo.Objects.Batch().Has(oid) {
			if oid, err = s.repo.Objects.Write(ctx, "blob", data); err != nil {
				return hashedFile{}, fmt.Errorf("keep %q: %w", f.path, err)
			}
		}
	}
	if c.look != nil && mode != git.ModeSymlink {
		c.look(f.path, oid, data)
	}
	c.hashes.add(f.path, info, cachedHash{oid: oid, cr: cr})
	return hashedFile{entry: git.Entry{Mode: mode, OID: oid}, info: info}, nil
}

// knows reports whether the previous capture has seen a file, and git has its content and would not
// convert it.
func (s *hasher) knows(f candidate) bool {
	return f.seen.oid != "" && !(f.inOnly && f.seen.cr) && s.repo.Objects.Batch().Has(f.seen.oid)
}

// readFile reads a file while nobody writes to it. A large one is written as a blob at once, unless git may have to
// convert it.
func (s *hasher) readFile(ctx context.Context, f candidate) (data []byte, oid name.OID, large bool, info fs.FileInfo, err error) {
	info, err = s.files.ReadStable(f.path, func(before fs.FileInfo) (after fs.FileInfo, err error) {
		large = before.Mode().IsRegular() && before.Size() >= worktree.LargeFile
		switch {
		case !large:
			data, after, err = s.files.Read(f.path, before)
		case f.inOnly:
			after = before // it is left to git
		default:
			data = nil
			oid, after, err = s.streamBlob(ctx, f.path)
		}
		return after, err
	})
	return data, oid, large, info, err
}

// hashConverting hashes files of which git may convert some. Files from which git only removes CR
// characters, and that have none, are hashed as they are, because git would not change them.
//
// Attributes files go first and through git, even if they are not converted: with them in the index
// git applies them to the other files.
func (s *hasher) hashConverting(ctx context.Context, private *privateIndex, files []candidate, c *Capture) error {
	index, err := s.conversionIndex(ctx, private, files, c)
	if err != nil {
		return err
	}
	defer os.Remove(index) //nolint:errcheck // disposable
	attrs := gather.Those(files, func(f candidate) bool { return holdsAttributes(f.path) })
	others := gather.Those(files, func(f candidate) bool { return !holdsAttributes(f.path) })
	for _, f := range attrs {
		private.attrs = append(private.attrs, f.path)
	}
	entries, err := s.clean(ctx, index, attrs, c)
	if err != nil {
		return err
	}
	affected, err := s.affected(ctx, index, private.attrs, attrs)
	if err == nil {
		err = s.keepRawOf(ctx, index, affected, entries, c)
	}
	if err == nil {
		affected, err = s.affected(ctx, index, private.attrs, others)
	}
	if err != nil {
		return err
	}
	converted := gather.Map(affected, func(f filtered) (string, filtered) { return f.path, f })
	var plain, convert []candidate
	memory := &conversions{s, c, fmt.Sprintf("%x", s.conversionDigest(private, c))}
	if others, err = memory.recall(ctx, others, converted); err != nil {
		return err
	}
	for _, f := range others {
		by, is := converted[f.path]
		if is && (f.database || !by.inOnly) {
			convert = append(convert, f)
			continue
		}
		f.inOnly = is
		plain = append(plain, f)
	}
	crlf, err := s.hashPlain(ctx, plain, c)
	if err != nil {
		return err
	}
	for some := range portions(ctx, append(convert, crlf...)) {
		read, err := s.hashDatabases(ctx, &some, c)
		if err == nil {
			entries, err = s.clean(ctx, index, some, c)
		}
		if err == nil {
			err = s.keepRawOf(ctx, index, slices.Clone(affected), entries, c)
		}
		if err != nil {
			return lateError(ctx, some[0].path, err)
		}
		s.leaveWritten(read, c)
		memory.remember(some, entries)
	}
	return s.renewAttributes(ctx, private, c)
}

// lateError returns a LateError for an error after the time ran out, and any other one as it is.
func lateError(ctx context.Context, path string, err error) error {
	if ctx.Err() != nil {
		return &LateError{path, ctx.Err()}
	}
	return err
}

// portions returns files all at once, or, if the time is limited, as many as are done in a moment, so
// that what a capture converts before it has to give up is remembered.
func portions(ctx context.Context, files []candidate) iter.Seq[[]candidate] {
	return func(yield func([]candidate) bool) {
		n := len(files)
		if _, limited := ctx.Deadline(); limited {
			n = 1
		}
		for len(files) > 0 {
			n = min(n, len(files))
			began := time.Now()
			if !yield(files[:n:n]) {
				return
			}
			if files = files[n:]; time.Since(began) < 100*time.Millisecond {
				n *= 2
			}
		}
	}
}

// LateError means that the time was over while a file was read.
type LateError struct {
	Path string
	Err  error
}

func (e *LateError) Error() string { return fmt.Sprintf("read %q: %v", e.Path, e.Err) }

func (e *LateError) Unwrap() error { return e.Err }

// conversionIndex makes an index for conversions and returns its path; the caller must remove it. It
// has what git looks up there: the attributes files, without deleted ones, and the entries of files,
// because a file that is staged with CRLF keeps its line endings. The entries have no stat data, so
// git takes every file for changed and hashes it. The private index of a large worktree would take
// each git process longer to read than the rest of its work.
func (s *hasher) conversionIndex(ctx context.Context, private *privateIndex, files []candidate, c *Capture) (string, error) {
	wanted := gather.SetOf(private.attrs)
	for p, e := range c.edits {
		if e.Mode == 0 {
			delete(wanted, p)
		}
	}
	for _, f := range files {
		wanted[f.path] = true
	}
	var lines strings.Builder
	for _, e := range private.entries {
		if wanted[e.Path] {
			lines.WriteString(git.InfoLine(git.Entry{Mode: e.Mode, OID: private.index.OIDOf(e)}, int(e.Stage), e.Path))
		}
	}
	return s.scratchIndex(ctx, lines.String())
}

// renewAttributes gives the private index the attributes files that were captured, for keepUnchanged.
func (s *hasher) renewAttributes(ctx context.Context, private *privateIndex, c *Capture) error {
	attrs := map[string]git.Entry{}
	for p, e := range c.edits {
		if holdsAttributes(p) {
			attrs[p] = e
		}
	}
	return s.putInfo(ctx, private.path, s.entryLines(attrs))
}

// holdsAttributes reports whether p is the path of an attributes file.
func holdsAttributes(p string) bool { return path.Base(p) == ".gitattributes" }

// clean has git convert and hash files by adding them to the index, and records their entries. It
// returns the entries of the files that git accepted, by path.
func (s *hasher) clean(ctx context.Context, index string, files []candidate, c *Capture) (map[string]git.Entry, error) {
	if len(files) == 0 {
		return nil, nil
	}
	files, err := s.cleanAll(ctx, index, files, c)
	if err != nil {
		return nil, err
	}
	made, err := s.repo.Checkout.ReadIndex(index)
	if err != nil {
		return nil, err
	}
	all, err := made.Entries()
	if err != nil {
		return nil, err
	}
	found := gather.Map(all, func(e git.IndexEntry) (string, git.Entry) { return e.Path, git.Entry{Mode: e.Mode, OID: made.OIDOf(e)} })
	entries := make(map[string]git.Entry, len(files))
	for _, f := range files {
		e, ok := found[f.path]
		if ok {
			if regular(e.Mode) && regular(f.mode) {
				e.Mode = f.mode // git may believe a disk that shows 0777
			}
			entries[f.path] = e
		} else if info, err := s.files.Lstat(f.path); err != nil || info != nil && !info.IsDir() {
			return nil, fmt.Errorf("keep %q: git silently left it out", f.path)
		}
		c.record(f.path, e)
		if c.look != nil && regular(e.Mode) {
			c.look(f.path, e.OID, nil)
		}
	}
	return entries, nil
}

// cleanAll adds files to the index. If git fails for one of them, that file is handled apart and the
// rest is tried again: a file whose required filter fails is skipped, and a file that is not in the
// encoding that its attributes claim is kept as it is. It returns the files that git accepted.
func (s *hasher) cleanAll(ctx context.Context, index string, files []candidate, c *Capture) ([]candidate, error) {
	for {
		var in strings.Builder
		for _, f := range files {
			in.WriteString(f.path + "\x00")
		}
		err := s.update(ctx, index, in.String())
		if err == nil {
			return files, nil
		}
		failed, filter := failedFile(err, files)
		if failed < 0 {
			// The message names no file. A long-running filter process may have died.
			left, triedErr := s.withoutHungUp(ctx, index, files, err, c)
			if triedErr != nil || len(left) == len(files) {
				return nil, fmt.Errorf("keep changed files: %w", err)
			}
			files = left
			continue
		}
		if filter {
			c.Skipped = append(c.Skipped, Skip{Path: files[failed].path, Reason: ReasonFilter, Size: files[failed].size, Said: wordsIn(err)})
		} else if err := s.keepAsIs(ctx, index, files[failed], c); err != nil {
			return nil, err
		}
		files = slices.Concat(files[:failed], files[failed+1:])
	}
}

// keepAsIs keeps the bytes of a file that git cannot convert, because it is not in the encoding
// that working-tree-encoding names. The bytes are both its blob and its raw content. It is put into
// the index, too: if it is an attributes file, a checkout of the tree will use it.
func (s *hasher) keepAsIs(ctx context.Context, index string, f candidate, c *Capture) error {
	if err := s.hashOne(ctx, f, c); err != nil {
		return err
	}
	e := c.edits[f.path]
	if e.Mode == 0 {
		return nil
	}
	c.Raw[f.path] = e.OID
	return s.putInfo(ctx, index, s.entryLines(map[string]git.Entry{f.path: e}))
}

// failedFile returns the index of the file that a fatal message of git names, or -1. filter says
// that its clean filter failed (`fatal: PATH: clean filter 'NAME' failed`); otherwise it could
// not be encoded (`fatal: ... 'PATH' ...`).
func failedFile(err error, files []candidate) (at int, filter bool) {
	for _, line := range strings.Split(err.Error(), "\n") {
		_, line, _ = strings.Cut(line, "fatal: ")
		p, rest, ok := strings.Cut(line, ": clean filter '")
		filter = ok && strings.HasSuffix(rest, "' failed")
		for i, f := range files {
			if filter && f.path == p || !filter && strings.Contains(line, "'"+f.path+"'") {
				return i, filter
			}
		}
	}
	return -1, false
}
