package snapshot

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io/fs"
	"maps"
	"os"
	"path"
	"path/filepath"
	"slices"
	"strconv"
	"time"

	"git-checkpoint/internal/format/name"
	"git-checkpoint/internal/git"
	"git-checkpoint/internal/storage/worktree"
)

// Restore is a plan whose new content lies ready in a staging directory. From Stage on the index
// is locked. It ends with Cancel if Begin was not called; otherwise with Finish, after Apply or
// after Back.
type Restore struct {
	worktree *restorer
	intent   Intent
	// seen is Plan.seen. It is nil if the restore was begun by another process that was killed;
	// the caller has then captured the files again, and they are not checked one by one.
	seen  map[string]fs.FileInfo
	cur   *Capture          // what was there before; nil after a kill
	Trace func(step string) // called after each step, for tests that kill the process there; may be nil

	open   []string   // Plan.open
	locked []*os.File // of these and of their new files: nobody else can use them

	large    map[name.OID]bool   // blobs that git writes to the file, so that they are not held in memory
	contents map[name.OID][]byte // Plan.contents
	converts bool                // new content without raw bytes went through git's conversions
	staged   []fs.FileInfo       // lstat of new/<n> when it was written, by operation; nil after a kill
	replaced bool                // Back has put the old index in the place of another one
	placed   map[int]fs.FileInfo // the new files that are in their places, by operation; nil after a kill
}

// resumed reports whether the restore was begun by another process, which was killed.
func (r *Restore) resumed() bool { return r.seen == nil }

// restorer stages restores.
type restorer struct {
	converter
	carrier indexCarrier
	lock    indexLock
	writer  indexWriter
}

// Stage takes the index lock and writes everything that the plan needs into a staging directory
// on the worktree's file system. A filter that fails or a disk that is full shows here, before
// any file of the user is touched. It fails with a LockedError if another process holds the
// index, and with ErrMoved if another rollback moved files since the capture. On an error nothing
// is left behind.
func (s *restorer) Stage(ctx context.Context, p *Plan) (_ *Restore, err error) {
	r := &Restore{worktree: s, seen: p.seen, cur: p.Cur, large: p.large, contents: p.contents, open: p.open, converts: p.reattributed, staged: make([]fs.FileInfo, len(p.Ops)), placed: map[int]fs.FileInfo{}}
	in := &r.intent
	in.Ops, in.Dirs, in.IndexTree, in.Index = p.Ops, p.Dirs, p.IndexTree, p.Index
	if err := r.lock(); err != nil {
		return nil, err
	}
	defer func() {
		if err != nil {
			r.Cancel()
		}
	}()
	if s.mark() != r.cur.mark {
		return nil, ErrMoved
	}
	if err := r.makeStage(); err != nil {
		return nil, err
	}
	in.NewModes, in.Parents = p.Target.Modes, r.parents()
	if err := r.stageDirs(); err != nil {
		return nil, err
	}
	// The attributes are those of the target, even if only some paths are restored: the promise
	// is to bring back the bytes that were there then.
	if err := r.fill(ctx, p.Target.Tree); err != nil {
		return nil, err
	}
	if err := s.provideStaged(ctx, p); err != nil {
		return nil, err
	}
	if err := r.spareEqual(); err != nil {
		return nil, err
	}
	in.Directories, in.OldModes = s.emptied(in.Ops), r.oldModes()
	return r, nil
}

// makeStage creates the staging directory with its subdirectories new, dirs and old. It is in the git
// directory, or at the top of the worktree if the git directory is on another file system, since
// a rename works only within one.
func (r *Restore) makeStage() error {
	apart, err := r.worktree.isApart()
	if err != nil {
		return err
	}
	dir := filepath.Join(r.worktree.files.Top, worktree.StagingPrefix+worktree.RandomHex())
	if apart {
		err = os.Mkdir(dir, 0o700)
	} else {
		dir, err = os.MkdirTemp(r.worktree.dir, "tmp-stage-")
	}
	if err == nil {
		r.intent.Stage = dir
		for _, sub := range []string{"new", "dirs", "old"} {
			err = errors.Join(err, os.Mkdir(filepath.Join(dir, sub), 0o700))
		}
	}
	if err == nil && apart {
		// This keeps `git add -A` from adding what a killed process leaves here, until it is swept.
		err = os.WriteFile(filepath.Join(dir, ".gitignore"), []byte("*\n"), 0o600)
	}
	if err != nil {
		return fmt.Errorf("make a staging directory: %w", err)
	}
	return nil
}

// Sweep removes what killed processes left behind: an abandoned index lock, and staging
// directories in the worktree whose mtime is older than age. If the git directory is on the file
// system of the worktree, no staging directory is ever made there, and the worktree is not
// searched.
func (s *restorer) Sweep(age time.Duration) error {
	if lock := s.AbandonedLock(); lock != "" {
		if err := s.lock.dropLock(lock); err != nil {
			return fmt.Errorf("remove a lock that was left behind: %w", err)
		}
	}
	if apart, err := s.isApart(); err != nil || !apart {
		return err
	}
	entries, err := s.files.ReadDir(".")
	if err != nil {
		return err
	}
	for _, e := range entries {
		if !worktree.IsStaging(e.Name()) {
			continue
		}
		if info, err := s.files.Lstat(e.Name()); err == nil && info != nil && time.Since(info.ModTime()) > age {
			if err := s.files.Root.RemoveAll(e.Name()); err != nil {
				return err
			}
		}
	}
	return nil
}

// newFile is where the new content of operation i is staged: in new/<i>, or below dirs/ if the
// directory that holds it is staged whole.
func (in *Intent) newFile(i int) string {
	p := in.Ops[i].Path
	if dir := in.stagedDir(path.Dir(p)); dir != "" {
		return filepath.Join(dir, path.Base(p))
	}
	return filepath.Join(in.Stage, "new", strconv.Itoa(i))
}

// oldFile is where the file that operation i replaces is kept until Finish.
func (in *Intent) oldFile(i int) string { return filepath.Join(in.Stage, "old", strconv.Itoa(i)) }

// fill writes the new content of every operation of kind OpWrite to its newFile. Regular files
// without raw bytes may need git's conversions, by the attributes in the tree attributesOf. If
// there are no attributes and no settings that convert, all blobs are written as they are.
func (r *Restore) fill(ctx context.Context, attributesOf name.OID) error {
	var plain, convert []int
	entries := map[string]git.Entry{}
	for i, o := range r.intent.Ops {
		switch {
		case o.kind() != OpWrite:
		case o.NewRaw == "" && regular(o.New.Mode):
			convert, entries[o.Path] = append(convert, i), o.New
		default:
			plain = append(plain, i)
		}
	}
	attrs, err := r.worktree.attributes(ctx, attributesOf, entries)
	if err != nil {
		return err
	}
	if len(attrs) == 0 && !r.worktree.convertsOutside() {
		plain, convert = append(plain, convert...), nil
	}
	if err := r.fillPlain(ctx, plain); err != nil || len(convert) == 0 {
		return err
	}
	return r.fillConverted(ctx, convert, entries, attrs)
}

// fillPlain writes blobs without conversions. Small ones are read in batches, by several goroutines.
func (r *Restore) fillPlain(ctx context.Context, all []int) error {
	var which []int
	for _, i := range all {
		if o := r.intent.Ops[i]; !r.large[o.content()] || o.New.Mode == git.ModeSymlink {
			which = append(which, i)
		} else if err := r.stream(ctx, i); err != nil {
			return fmt.Errorf("write the new contents of %q: %w", o.Path, err)
		}
	}
	return r.worktree.repo.Objects.ParallelChunks(len(which), func(b *git.Batch, from, to int) error {
		var rest []int
		var specs []string
		for _, i := range which[from:to] {
			oid := r.intent.Ops[i].content()
			data, kept := r.contents[oid]
			if !kept {
				rest, specs = append(rest, i), append(specs, string(oid))
			} else if err := r.write(i, data); err != nil {
				return err
			}
		}
		return b.Objects(ctx, specs, func(n int, obj git.Object, err error) error {
			if err != nil {
				return fmt.Errorf("read the new contents of %q: %w", r.intent.Ops[rest[n]].Path, err)
			}
			return r.write(rest[n], obj.Data)
		})
	})
}

// write makes newFile(i) with the content of its blob: a file, or a symbolic link.
func (r *Restore) write(i int, data []byte) error {
	if r.intent.Ops[i].New.Mode == git.ModeSymlink && r.worktree.makesLinks() {
		if err := os.Symlink(string(data), r.intent.newFile(i)); err != nil {
			return err
		}
		return r.look(i)
	}
	return r.create(i, func(f *os.File) error {
		_, err := f.Write(data)
		return err
	})
}

// create makes newFile(i) as a regular file that fill writes to.
func (r *Restore) create(i int, fill func(*os.File) error) error {
	f, err := worktree.CreateFile(r.intent.newFile(i))
	if err != nil {
		return err
	}
	err = fill(f)
	info, unseen := f.Stat()
	if err := errors.Join(err, unseen, f.Close()); err != nil {
		return err
	}
	return r.ready(i, info)
}

// look is ready for a file that is not open.
func (r *Restore) look(i int) error {
	info, err := os.Lstat(r.intent.newFile(i))
	if err != nil {
		return err
	}
	return r.ready(i, info)
}

// ready gives newFile(i), which is written, the permission bits that the plan asks for. info is what lstat
// says of it.
func (r *Restore) ready(i int, info fs.FileInfo) (err error) {
	o := r.intent.Ops[i]
	if regular(o.New.Mode) && !r.worktree.noModes && info.Mode().Perm() != o.Perm {
		file := r.intent.newFile(i)
		if err = os.Chmod(file, o.Perm); err == nil {
			info, err = os.Lstat(file)
		}
	}
	r.staged[i] = info
	return err
}

// stream has git write a large blob to its file, without conversions.
func (r *Restore) stream(ctx context.Context, i int) error {
	return r.create(i, func(f *os.File) error {
		_, err := r.worktree.repo.Run(ctx, git.Cmd{Args: []string{"cat-file", "blob", string(r.intent.Ops[i].content())}, Stdout: f})
		return err
	})
}

// fillConverted has git check blobs out with its conversions and filters: entries, which belong to the
// operations in which. attrs are the attributes files that apply.
func (r *Restore) fillConverted(ctx context.Context, which []int, entries, attrs map[string]git.Entry) error {
	index, err := r.worktree.listIndex(ctx, attrs, entries)
	if err != nil {
		return err
	}
	defer os.Remove(index) //nolint:errcheck // disposable
	if _, err := r.worktree.provide(ctx, entries); err != nil {
		return err
	}
	dir := filepath.Join(r.intent.Stage, "temp")
	if err := os.Mkdir(dir, 0o700); err != nil {
		return err
	}
	made, said, err := r.worktree.smudge(ctx, index, dir, slices.Sorted(maps.Keys(entries)))
	if err != nil {
		return err
	}
	for _, i := range which {
		p := r.intent.Ops[i].Path
		file, ok := made[p]
		if !ok {
			return r.worktree.notWritten(ctx, p, said, entries)
		}
		if err := os.Rename(file, r.intent.newFile(i)); err != nil {
			return err
		}
		if err := r.look(i); err != nil {
			return err
		}
	}
	r.converts = true
	return nil
}

// spareEqual sets Same for files that already have the bytes which they are to get. That happens
// if the attributes changed, and so the blob, but not the file. It is then not rewritten and
// keeps its mtime.
func (r *Restore) spareEqual() error {
	for i := range r.intent.Ops {
		o := &r.intent.Ops[i]
		if o.kind() != OpWrite || o.Old.Mode != o.New.Mode || !regular(o.New.Mode) {
			continue
		}
		now := r.seen[o.Path]
		// Without conversions on either side, other blobs are other bytes.
		if now == nil || now.Size() != r.staged[i].Size() || o.OldRaw == "" && o.NewRaw == "" && !r.converts {
			continue
		}
		data, info, err := r.worktree.files.ReadWhole(o.Path)
		if err != nil || info == nil || !worktree.Same(info, now) {
			continue // Apply reports the change
		}
		want, err := os.ReadFile(r.intent.newFile(i))
		if err != nil {
			return err
		}
		o.Same = bytes.Equal(data, want)
	}
	return nil
}
