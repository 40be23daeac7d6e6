package snapshot

// A directory that is not there is staged whole and comes to its place in one rename. After `rm -rf src`
// that is one rename for all of its files; and the files keep their ctime, so that the stat data
// which were read when they were written are those of the index.
//
// Everything else is as for a file that comes alone: newFile says where it waits (comments call that
// new/<n>), and it is not there any more when it, or the directory that holds it, is in place. Where the one
// rename fails, the files move one by one.

import (
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
	"strings"

	"git-checkpoint/internal/storage/worktree"
)

// longestStaged is how long the path of a staged file may be. The path in the worktree may be longer than
// the system accepts at once, since it is opened by parts.
const longestStaged = 4000

// stageDirs sets Intent.Parents and Intent.Missing, and makes the latter directories, with those below them, in the
// staging directory.
func (g *staging) stageDirs(context.Context) error {
	in := g.intent
	in.Parents = map[string]bool{}
	worktree.AddAbove(in.Parents, pathsTo(in.Ops, OpWrite)...)
	maps.DeleteFunc(in.Parents, func(d string, _ bool) bool {
		info, err := g.files.Lstat(d)
		return err != nil || info == nil || !info.IsDir()
	})
	whole := map[string]bool{} // by directory that is missing
	for _, o := range in.Ops {
		top := in.topMissing(o)
		if top == "" {
			continue
		}
		if _, asked := whole[top]; !asked {
			whole[top] = g.files.TakesDirs(path.Dir(top))
		}
		whole[top] = whole[top] && len(in.Stage)+len(o.Path) <= longestStaged
	}
	in.Missing = map[string]int{}
	for top, can := range whole {
		if can {
			in.Missing[top] = len(in.Missing)
		}
	}
	last := ""
	for _, o := range in.Ops {
		dir := path.Dir(o.Path)
		if dir == last || o.kind() != OpWrite {
			continue
		}
		last = dir
		if err := g.intent.makeStaged(dir); err != nil {
			return fmt.Errorf("make a staging directory: %w", err)
		}
	}
	return nil
}

// topMissing returns the topmost directory that is made for a new file, "" if there is none.
func (in *Intent) topMissing(o Op) (top string) {
	if o.kind() == OpWrite {
		for dir := range worktree.ParentsOf(o.Path) {
			if in.Parents[dir] {
				break
			}
			top = dir
		}
	}
	return top
}

// stagedDir returns where a directory of the worktree is staged, "" if it is not.
func (in *Intent) stagedDir(dir string) string {
	for top := range worktree.ParentsOf(dir + "/") {
		if n, whole := in.Missing[top]; whole {
			return filepath.Join(in.Stage, "dirs", strconv.Itoa(n), filepath.FromSlash(dir[len(top):]))
		}
	}
	return ""
}

// makeStaged makes a directory in the staging directory, if it is staged there, with the permission bits
// that makeParents gives.
func (in *Intent) makeStaged(dir string) error {
	at := in.stagedDir(dir)
	if at == "" {
		return nil
	}
	err := os.Mkdir(at, 0o777)
	if errors.Is(err, fs.ErrNotExist) {
		if err = in.makeStaged(path.Dir(dir)); err == nil {
			err = os.Mkdir(at, 0o777)
		}
	}
	if errors.Is(err, fs.ErrExist) {
		return nil
	}
	if mode, known := in.NewModes[dir+"/"]; known && err == nil {
		err = os.Chmod(at, mode|0o300)
	}
	return err
}

// putDirs moves the directories that are staged whole. One that cannot be moved is left to put, which
// finds out why.
func (m *mover) putDirs() {
	in := m.intent
	there := map[string]bool{}
	for _, dir := range slices.Sorted(maps.Keys(in.Missing)) {
		if m.worktree.files.RenameNew(in.stagedDir(dir), dir) == nil {
			there[dir] = true
			m.worktree.trace("place")
		}
	}
	if len(there) == 0 || m.resumed() {
		return
	}
	for i, o := range in.Ops {
		if there[in.topMissing(o)] {
			m.placed[i] = m.staged[i]
		}
	}
}

// checkStaged refuses a staging directory in which a link is on the way to a file. It may have come in
// an archive of the whole repository, to have files of the user moved. newFile cannot lead out of it,
// because path.Dir cleans.
func (in *Intent) checkStaged() error {
	seen := map[string]bool{}
	for i := range in.Ops {
		for dir := filepath.Dir(in.newFile(i)); !seen[dir] && strings.HasPrefix(dir, in.Stage); dir = filepath.Dir(dir) {
			seen[dir] = true
			if info, err := os.Lstat(dir); err == nil && !info.IsDir() {
				return fmt.Errorf("%q is not a directory", dir)
			}
		}
	}
	return nil
}
