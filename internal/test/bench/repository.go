package bench

// Repositories for measuring have random but reproducible content: a fixed seed, combined
// with a number for each repository, so that no two repositories have the same content and
// every run has the same.

import (
	"context"
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"strings"
	"time"
)

// repository is a repository of some number of files, with the work that is measured in it.
type repository struct {
	*bench
	dir       string
	paths     []string
	random    *rand.Rand
	snapshots int    // number of snapshots by plain git
	tree      string // the tree to which rollbacks go
}

// seed gives all runs the same files.
const seed = 20261120

// blank returns a repository with paths that do not exist yet.
func (b *bench) blank(name string, size int) *repository {
	b.copied++
	r := &repository{bench: b, dir: filepath.Join(b.root, name), random: rand.New(rand.NewPCG(seed, b.copied<<32|uint64(size)))}
	for i := range size {
		r.paths = append(r.paths, filepath.Join(fmt.Sprintf("part%02d", i/500), fmt.Sprintf("dir%02d", i/25%20), fmt.Sprintf("file%05d.txt", i)))
	}
	return r
}

// repository makes a repository, or returns the one that was made for another row.
func (b *bench) repository(ctx context.Context, name string, size int) (*repository, error) {
	if r := b.made[name]; r != nil {
		return r, nil
	}
	fmt.Fprintf(b.Log, "  a repository of %d files\n", size)
	r := b.blank(name, size)
	for i, path := range r.paths {
		// 25 files share a directory.
		if i%25 == 0 {
			if err := os.MkdirAll(filepath.Join(r.dir, filepath.Dir(path)), 0o777); err != nil {
				return nil, err
			}
		}
		if err := r.write(path); err != nil {
			return nil, err
		}
	}
	// Everything is packed, as in a repository after a clone.
	for _, args := range [][]string{{"init", "-q", "-b", "main"}, {"add", "-A"}, {"commit", "-q", "-m", "Start"}, {"repack", "-a", "-d", "-q"}} {
		if _, err := r.git(ctx, nil, args...); err != nil {
			return nil, err
		}
	}
	b.made[name] = r
	return r, r.settle(ctx)
}

// sized returns the repository of so many files, without sessions.
func (b *bench) sized(ctx context.Context, size int) (*repository, error) {
	return b.repository(ctx, fmt.Sprintf("files-%d", size), size)
}

// attribute commits a .gitattributes, unless there is one.
func (r *repository) attribute(ctx context.Context, attributes string) error {
	file := filepath.Join(r.dir, ".gitattributes")
	if _, err := os.Stat(file); err == nil {
		return nil
	}
	if err := os.WriteFile(file, []byte(attributes), 0o666); err != nil {
		return err
	}
	for _, args := range [][]string{{"add", "-A"}, {"commit", "-q", "-m", "Attributes"}} {
		if _, err := r.git(ctx, nil, args...); err != nil {
			return err
		}
	}
	return r.settle(ctx)
}

// untrack takes all files out of the index and of HEAD, unless they are not there.
func (r *repository) untrack(ctx context.Context) error {
	if tracked, err := r.git(ctx, nil, "ls-files"); tracked == "" || err != nil {
		return err
	}
	for _, args := range [][]string{{"rm", "-r", "-q", "--cached", "."}, {"commit", "-q", "-m", "Nothing is tracked"}} {
		if _, err := r.git(ctx, nil, args...); err != nil {
			return err
		}
	}
	return r.settle(ctx)
}

// settle makes the index newer than its files. Git compares files that are as old as the
// index by content, each time.
func (r *repository) settle(ctx context.Context) error {
	// Timestamps of files may have a resolution of a second only.
	time.Sleep(1100 * time.Millisecond)
	if err := os.Chtimes(filepath.Join(r.dir, ".git", "index"), time.Time{}, time.Now()); err != nil {
		return err
	}
	_, err := r.git(ctx, nil, "status", "--short")
	return err
}

// write writes new random words to a file.
func (r *repository) write(path string) error {
	var text strings.Builder
	for size := 200 + r.random.IntN(4000); text.Len() < size; {
		fmt.Fprintf(&text, "%08x", r.random.Uint32())
		text.WriteByte(" \n"[r.random.IntN(8)/7])
	}
	return os.WriteFile(filepath.Join(r.dir, path), []byte(text.String()), 0o666)
}

// change writes new content to the same ten files, spread over the tree.
func (r *repository) change(context.Context) error {
	return r.changeFiles(changed)
}

// changeFiles writes new content to n files.
func (r *repository) changeFiles(n int) error {
	for i := range n {
		if err := r.write(r.paths[i*len(r.paths)/n]); err != nil {
			return err
		}
	}
	return nil
}

// create makes a checkpoint.
func (r *repository) create(ctx context.Context) error {
	_, err := r.git(ctx, nil, "checkpoint", "create", "--quiet", "--always")
	return err
}

// look saves where nothing has changed, so that no checkpoint is made.
func (r *repository) look(ctx context.Context) error {
	_, err := r.git(ctx, nil, "checkpoint", "save", "--quiet")
	return err
}

// target makes the checkpoint to which rollbacks go, in a session of its own.
func (r *repository) target(ctx context.Context) error {
	if r.tree != "" {
		return nil
	}
	if _, err := r.git(ctx, nil, "checkpoint", "create", "--quiet", "--session", "target", "--step", "1"); err != nil {
		return err
	}
	// Not by the tag: where many files have not been scanned for secrets yet, there is none.
	tree, err := r.git(ctx, nil, "for-each-ref", "--format=%(tree)", "refs/checkpoints/target/cp-*")
	r.tree = tree
	return err
}

// rollback goes back to the target.
func (r *repository) rollback(ctx context.Context) error {
	_, err := r.git(ctx, nil, "checkpoint", "rollback", "--quiet", "--yes", "--session", "target", "1")
	return err
}

// snapshot is A in the table: what plain git needs to save the worktree without touching
// the index. The copy of the index keeps its time, or git would compare the content of
// every file.
func (r *repository) snapshot(ctx context.Context) error {
	index, private := filepath.Join(r.dir, ".git", "index"), filepath.Join(r.root, "index")
	info, err := os.Stat(index)
	if err != nil {
		return err
	}
	content, err := os.ReadFile(index)
	if err != nil {
		return err
	}
	if err := os.WriteFile(private, content, 0o600); err != nil {
		return err
	}
	if err := os.Chtimes(private, info.ModTime(), info.ModTime()); err != nil {
		return err
	}
	env := []string{"GIT_INDEX_FILE=" + private}
	if _, err := r.git(ctx, env, "add", "-A"); err != nil {
		return err
	}
	tree, err := r.git(ctx, env, "write-tree")
	if err != nil {
		return err
	}
	commit, err := r.git(ctx, nil, "commit-tree", "-p", "HEAD", "-m", "snapshot", tree)
	if err != nil {
		return err
	}
	r.snapshots++
	_, err = r.git(ctx, nil, "update-ref", fmt.Sprintf("refs/snapshots/%d", r.snapshots), commit)
	return err
}

// snapshotAndRestore is what plain git needs for a rollback that saves what is there first.
func (r *repository) snapshotAndRestore(ctx context.Context) error {
	if err := r.snapshot(ctx); err != nil {
		return err
	}
	_, err := r.git(ctx, nil, "restore", "--source="+r.tree, "--worktree", "--", ".")
	return err
}

// git runs git in the repository and returns its output.
func (r *repository) git(ctx context.Context, env []string, args ...string) (string, error) {
	return r.start(ctx, r.dir, env, append([]string{"git"}, args...)...)
}
