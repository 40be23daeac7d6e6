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

	"git-checkpoint/internal/git"
	"git-checkpoint/internal/storage/worktree"
)

// Restore is a plan whose new content lies ready in a staging directory. From Stage on the index
// is locked. It ends with Cancel if Begin was not called; otherwise with Finish, after Apply or
// after Back.
type Restore struct {
	worktree *restorer
	intent   *Intent
	move     *mover
	cur      *Capture   // what was there before; nil after a kill
	open     []string   // Plan.open
	locked   []*os.File // of these and of their new files: nobody else can use them
	replaced bool       // GoBack has put the old index in the place of another one
}

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
	r := s.restore(&Intent{Ops: p.Ops, Dirs: p.Dirs, IndexTree: p.IndexTree, Index: p.Index, NewModes: p.Target.Modes})
	r.cur, r.open, r.move.seen, r.move.staged, r.move.placed = p.Cur, p.open, p.seen, make([]fs.FileInfo, len(p.Ops)), map[int]fs.FileInfo{}
	g := &staging{restorer: s, intent: r.intent, plan: p, staged: r.move.staged, converts: p.reattributed}
	if err := s.lock.take(r.intent); err != nil {
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
	for _, step := range []func(context.Context) error{g.makeStage, g.stageDirs, g.fill, g.provideStaged, g.spareEqual} {
		if err := step(ctx); err != nil {
			return nil, err
		}
	}
	return r, nil
}

// restore returns the restore of an intent.
func (s *restorer) restore(in *Intent) *Restore {
	return &Restore{worktree: s, intent: in, move: &mover{worktree: s.checkout, intent: in}}
}

// staging writes what a plan needs into a staging directory, and says in the intent where it is.
type staging struct {
	*restorer
	intent   *Intent
	plan     *Plan
	staged   []fs.FileInfo // see mover
	converts bool          // new content without raw bytes went through git's conversions
}

// makeStage creates the staging directory with its subdirectories new, dirs and old. It is in the git
// directory, or at the top of the worktree if the git directory is on another file system, since
// a rename works only within one.
func (g *staging) makeStage(context.Context) error {
	apart, err := g.isApart()
	if err != nil {
		return err
	}
	dir := filepath.Join(g.files.Top, worktree.StagingPrefix+worktree.RandomHex())
	if apart {
		err = os.Mkdir(dir, 0o700)
	} else {
		dir, err = os.MkdirTemp(g.dir, "tmp-stage-")
	}
	if err == nil {
		g.intent.Stage = dir
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
// without raw bytes may need git's conversions, by the attributes of the target, even if only some paths
// are restored: the promise is to bring back the bytes that were there then. If there are no attributes
// and no settings that convert, all blobs are written as they are.
func (g *staging) fill(ctx context.Context) error {
	var plain, convert []int
	entries := map[string]git.Entry{}
	for i, o := range g.intent.Ops {
		switch {
		case o.kind() != OpWrite:
		case o.NewRaw == "" && regular(o.New.Mode):
			convert, entries[o.Path] = append(convert, i), o.New
		default:
			plain = append(plain, i)
		}
	}
	attrs, err := g.attributes(ctx, g.plan.Target.Tree, entries)
	if err != nil {
		return err
	}
	if len(attrs) == 0 && !g.convertsOutside() {
		plain, convert = append(plain, convert...), nil
	}
	if err := g.fillPlain(ctx, plain); err != nil || len(convert) == 0 {
		return err
	}
	return g.fillConverted(ctx, convert, entries, attrs)
}

// fillPlain writes blobs without conversions. Small ones are read in batches, by several goroutines.
func (g *staging) fillPlain(ctx context.Context, all []int) error {
	var which []int
	for _, i := range all {
		if o := g.intent.Ops[i]; !g.plan.large[o.content()] || o.New.Mode == git.ModeSymlink {
			which = append(which, i)
		} else if err := g.stream(ctx, i); err != nil {
			return fmt.Errorf("write the new contents of %q: %w", o.Path, err)
		}
	}
	return g.repo.Objects.ParallelChunks(len(which), func(b *git.Batch, from, to int) error {
		var rest []int
		var specs []string
		for _, i := range which[from:to] {
			oid := g.intent.Ops[i].content()
			data, kept := g.plan.contents[oid]
			if !kept {
				rest, specs = append(rest, i), append(specs, string(oid))
			} else if err := g.write(i, data); err != nil {
				return err
			}
		}
		return b.Objects(ctx, specs, func(n int, obj git.Object, err error) error {
			if err != nil {
				return fmt.Errorf("read the new contents of %q: %w", g.intent.Ops[rest[n]].Path, err)
			}
			return g.write(rest[n], obj.Data)
		})
	})
}

// write makes newFile(i) with the content of its blob: a file, or a symbolic link.
func (g *staging) write(i int, data []byte) error {
	if g.intent.Ops[i].New.Mode == git.ModeSymlink && g.makesLinks() {
		if err := os.Symlink(string(data), g.intent.newFile(i)); err != nil {
			return err
		}
		return g.look(i)
	}
	return g.create(i, func(f *os.File) error {
		_, err := f.Write(data)
		return err
	})
}

// create makes newFile(i) as a regular file that fill writes to.
func (g *staging) create(i int, fill func(*os.File) error) error {
	f, err := worktree.CreateFile(g.intent.newFile(i))
	if err != nil {
		return err
	}
	err = fill(f)
	info, unseen := f.Stat()
	if err := errors.Join(err, unseen, f.Close()); err != nil {
		return err
	}
	return g.ready(i, info)
}

// look is ready for a file that is not open.
func (g *staging) look(i int) error {
	info, err := os.Lstat(g.intent.newFile(i))
	if err != nil {
		return err
	}
	return g.ready(i, info)
}

// ready gives newFile(i), which is written, the permission bits that the plan asks for. info is what lstat
// says of it.
func (g *staging) ready(i int, info fs.FileInfo) (err error) {
	o := g.intent.Ops[i]
	if regular(o.New.Mode) && !g.noModes && info.Mode().Perm() != o.Perm {
		file := g.intent.newFile(i)
		if err = os.Chmod(file, o.Perm); err == nil {
			info, err = os.Lstat(file)
		}
	}
	g.staged[i] = info
	return err
}

// stream has git write a large blob to its file, without conversions.
func (g *staging) stream(ctx context.Context, i int) error {
	return g.create(i, func(f *os.File) error {
		_, err := g.repo.Run(ctx, git.Cmd{Args: []string{"cat-file", "blob", string(g.intent.Ops[i].content())}, Stdout: f})
		return err
	})
}

// fillConverted has git check blobs out with its conversions and filters: entries, which belong to the
// operations in which. attrs are the attributes files that apply.
func (g *staging) fillConverted(ctx context.Context, which []int, entries, attrs map[string]git.Entry) error {
	index, err := g.listIndex(ctx, attrs, entries)
	if err != nil {
		return err
	}
	defer os.Remove(index) //nolint:errcheck // disposable
	if _, err := g.provide(ctx, entries); err != nil {
		return err
	}
	dir := filepath.Join(g.intent.Stage, "temp")
	if err := os.Mkdir(dir, 0o700); err != nil {
		return err
	}
	made, said, err := g.smudge(ctx, index, dir, slices.Sorted(maps.Keys(entries)))
	if err != nil {
		return err
	}
	for _, i := range which {
		p := g.intent.Ops[i].Path
		file, ok := made[p]
		if !ok {
			return g.notWritten(ctx, p, said, entries)
		}
		if err := os.Rename(file, g.intent.newFile(i)); err != nil {
			return err
		}
		if err := g.look(i); err != nil {
			return err
		}
	}
	g.converts = true
	return nil
}

// spareEqual sets Same for files that already have the bytes which they are to get. That happens
// if the attributes changed, and so the blob, but not the file. It is then not rewritten and
// keeps its mtime.
//
// It then notes the permission bits that GoBack restores: those of directories that deletions may empty, and of files
// of which nothing else changes.
func (g *staging) spareEqual(context.Context) error {
	g.intent.Directories, g.intent.OldModes = g.emptied(g.intent.Ops), map[string]fs.FileMode{}
	for i := range g.intent.Ops {
		o := &g.intent.Ops[i]
		now := g.plan.seen[o.Path]
		if now != nil && o.kind() == OpMode {
			g.intent.OldModes[o.Path] = now.Mode().Perm()
		}
		if o.kind() != OpWrite || o.Old.Mode != o.New.Mode || !regular(o.New.Mode) {
			continue
		}
		// Without conversions on either side, other blobs are other bytes.
		if now == nil || now.Size() != g.staged[i].Size() || o.OldRaw == "" && o.NewRaw == "" && !g.converts {
			continue
		}
		data, info, err := g.files.ReadWhole(o.Path)
		if err != nil || info == nil || !worktree.Same(info, now) {
			continue // Apply reports the change
		}
		want, err := os.ReadFile(g.intent.newFile(i))
		if err != nil {
			return err
		}
		o.Same = bytes.Equal(data, want)
	}
	return nil
}
