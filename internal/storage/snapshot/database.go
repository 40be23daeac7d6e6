package snapshot

// The files of an SQLite database belong together: they are captured as they were at one moment, and restored or left
// alone together. Package worktree reads them.

import (
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"maps"
	"os"
	"slices"
	"time"

	"git-checkpoint/internal/git"
	"git-checkpoint/internal/storage/worktree"
)

// sides are the captured files that belong to a database.
type sides struct {
	tracked func(p string) git.Entry // its entry in the index
	plain   map[string]bool          // no rule ignores them
	found   map[string]hashedFile
	wait    time.Duration // for a program that keeps everybody out
}

// noteBeside adds the databases to which files of these names would belong.
func (s *Scan) noteBeside(names []string) {
	for _, n := range names {
		if base := worktree.DatabaseOf(n); base != "" {
			s.Beside = append(s.Beside, base)
		}
	}
}

// isSide reports whether a path is a file that belongs to a database. SQLite follows no link to one.
func (s *chooser) isSide(p string) bool {
	base := worktree.DatabaseOf(p)
	if base == "" || !s.files.IsDatabase(base) {
		return false
	}
	info, err := s.files.Lstat(p)
	return err == nil && info != nil && info.Mode().IsRegular()
}

// gatherDatabases takes what belongs to databases out of a scan: it is captured with them, whatever rules say, and their
// -shm never. A tracked database to which something belongs counts as changed.
func (s *chooser) gatherDatabases(scan *Scan, private *privateIndex, leaveUnignored bool, c *Capture) {
	c.sides = sides{tracked: private.entry, plain: map[string]bool{}, found: map[string]hashedFile{}, wait: 2 * time.Second}
	if leaveUnignored { // an agent waits for it
		c.sides.wait = 200 * time.Millisecond
	}
	scan.Untracked = slices.DeleteFunc(scan.Untracked, func(p string) bool {
		side := s.isSide(p)
		if side {
			c.sides.plain[p] = true
		}
		return side
	})
	listed := map[string]bool{}
	scan.Tracked = slices.DeleteFunc(scan.Tracked, func(t Tracked) bool {
		listed[t.Path] = true
		if !s.isSide(t.Path) {
			return false
		}
		scan.Beside = append(scan.Beside, worktree.DatabaseOf(t.Path))
		return true
	})
	for _, base := range scan.Beside {
		if e := private.entry(base); regular(e.Mode) && !listed[base] && s.files.IsDatabase(base) {
			listed[base] = true
			scan.Tracked = append(scan.Tracked, Tracked{base, e.Mode})
		}
	}
}

// weigh adds what belongs to a database to its size. A rule may exclude some of that, and so the database.
func (s *chooser) weigh(look looker, f *candidate, rules Rules) (excluded bool, err error) {
	for _, p := range worktree.Group(f.path)[1:] {
		info, err := look.Lstat(p)
		if err != nil {
			return false, fmt.Errorf("look at %q: %w", p, err)
		}
		if info != nil && info.Mode().IsRegular() {
			f.size += info.Size()
			excluded = excluded || rules.excluded[p]
		}
	}
	return excluded, nil
}

// hashDatabase writes a database and what belongs to it as blobs, as they are at one moment.
func (s *hasher) hashDatabase(ctx context.Context, f candidate, c *Capture) (hashedFile, error) {
	got := map[string]hashedFile{}
	err := s.files.AtOneMoment(ctx, f.path, c.sides.wait, func(p string, open *os.File) (err error) {
		if p == f.path {
			clear(got) // it is read again
		}
		got[p], err = s.hashOpen(ctx, p, open, f, c)
		return err
	})
	failed, _ := errors.AsType[*fs.PathError](err)
	c.mu.Lock()
	defer c.mu.Unlock()
	switch {
	case err != nil && ctx.Err() != nil:
		return hashedFile{}, &LateError{f.path, ctx.Err()}
	case errors.Is(err, fs.ErrPermission):
		c.leaveDatabase(f.path, ReasonUnreadable)
		return hashedFile{left: true}, nil
	case errors.Is(err, worktree.ErrUnsteady), failed != nil && failed.Op == "read":
		c.leaveDatabase(f.path, ReasonUnsteady)
		return hashedFile{left: true}, nil
	case worktree.Absent(err):
		return hashedFile{}, nil
	case err != nil:
		return hashedFile{}, fmt.Errorf("read %q: %w", f.path, err)
	}
	h := got[f.path]
	delete(got, f.path)
	maps.Copy(c.sides.found, got)
	return h, nil
}

// hashOpen writes one file of a database as a blob, unless the previous capture has seen it.
func (s *hasher) hashOpen(ctx context.Context, p string, open *os.File, f candidate, c *Capture) (h hashedFile, err error) {
	if h.info, err = open.Stat(); err != nil {
		return h, err
	}
	seen, known := c.hashes.find(p, h.info)
	oid, data := seen.oid, []byte(nil)
	switch {
	case known && s.repo.Objects.Batch().Has(oid):
	case h.info.Size() >= worktree.LargeFile:
		if _, err = open.Seek(0, io.SeekStart); err == nil {
			oid, err = s.streamOpen(ctx, open)
		}
	default:
		if data, err = io.ReadAll(io.NewSectionReader(open, 0, 1<<62)); err == nil {
			oid, err = s.repo.Objects.Write(ctx, "blob", data)
		}
	}
	if err != nil {
		return h, err
	}
	if c.look != nil {
		c.look(p, oid, data)
	}
	h.entry = git.Entry{Mode: s.modeOf(h.info, c.sides.tracked(p).Mode), OID: oid}
	if after, err := open.Stat(); err == nil && worktree.Same(h.info, after) {
		c.hashes.add(p, h.info, cachedHash{oid: oid, cr: true, database: p == f.path})
	}
	return h, nil
}

// hashDatabases is hashDatabase for those of files that git converts. It returns what was read, and leaves what could
// not be read out of files.
func (s *hasher) hashDatabases(ctx context.Context, files *[]candidate, c *Capture) (read map[string]hashedFile, err error) {
	read = map[string]hashedFile{}
	*files = slices.DeleteFunc(slices.Clone(*files), func(f candidate) bool {
		if f.database && err == nil {
			read[f.path], err = s.hashDatabase(ctx, f, c)
		}
		return read[f.path].left
	})
	return read, err
}

// leaveWritten leaves out the databases that changed since they were read: git has read another version.
func (s *hasher) leaveWritten(read map[string]hashedFile, c *Capture) {
	for p, h := range read {
		if now, err := s.files.Lstat(p); !h.left && (err != nil || now == nil || h.info == nil || !worktree.Same(h.info, now)) {
			c.leaveDatabase(p, ReasonUnsteady)
		}
	}
}

// leaveDatabase leaves out a database, with what belongs to it.
func (c *Capture) leaveDatabase(p, reason string) {
	c.Skipped = append(c.Skipped, Skip{Path: p, Reason: reason})
	c.Untracked = slices.DeleteFunc(c.Untracked, func(u string) bool { return u == p })
	c.Ignored = slices.DeleteFunc(c.Ignored, func(u string) bool { return u == p })
	for _, q := range worktree.Group(p) {
		delete(c.edits, q)
		delete(c.Modes, q)
		delete(c.Raw, q)
		delete(c.sides.found, q)
	}
}

// addSides adds what belongs to databases to the capture. git does not convert it, whatever attributes say.
func (s *capturer) addSides(c *Capture, raw bool) {
	for _, p := range slices.Sorted(maps.Keys(c.sides.found)) {
		h, was := c.sides.found[p], c.sides.tracked(p)
		if h.entry != was {
			c.record(p, h.entry)
		}
		if raw {
			c.Raw[p] = h.entry.OID
		}
		if bits, has := s.unusualBits(h.info); has {
			c.Modes[p] = bits
		}
		c.Touched[p] = true
		if was.Mode != 0 {
			continue
		}
		c.Untracked = append(c.Untracked, p)
		if !c.sides.plain[p] || slices.Contains(c.Ignored, worktree.DatabaseOf(p)) {
			c.Ignored = append(c.Ignored, p)
		}
	}
}
