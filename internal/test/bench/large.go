package bench

// A repository may have millions of objects that have nothing to do with checkpoints. They
// must not slow down the program.

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"io"
	"path/filepath"
)

// The history that makes a repository large: each commit replaces a whole tree of so many
// directories and files. perCommit counts the objects of one: blobs and their trees, the
// tree above, the commit.
const (
	historyDirs  = 50
	historyFiles = 100
	perCommit    = historyDirs*(historyFiles+1) + 2 // see above
)

// large compares the same work in a repository with millions of packed objects and in a
// small one with the same files.
func (b *bench) large() []job {
	if b.Effort.Packed == 0 {
		return nil
	}
	short, longest := b.Effort.Lengths[0], b.Effort.longest()
	var jobs []job
	for _, op := range operations()[:3] {
		jobs = append(jobs, job{
			Row{Name: "large/" + op.name, Work: fmt.Sprintf("`%s` beside %d packed objects ÷ in a small repository", op.name, b.Effort.Packed), Files: b.Effort.small(), First: 1.2, Then: 1.1},
			func(ctx context.Context) (samples, error) { return b.besideHistory(ctx, short, short, op) },
		}, job{
			Row{Name: "large/" + op.name + "/refs", Work: fmt.Sprintf("the same, and %d refs of ours", longest), Files: b.Effort.small(), First: 1.3, Then: 1.1},
			func(ctx context.Context) (samples, error) { return b.besideHistory(ctx, longest, short, op) },
		})
	}
	return jobs
}

// besideHistory compares a session of n checkpoints beside a large history with a short
// session without one.
func (b *bench) besideHistory(ctx context.Context, n, short int, op operation) (samples, error) {
	name := fmt.Sprintf("large-%d", n)
	// The history is added once to each copy.
	fresh := b.made[name] == nil
	large, err := b.copyOf(ctx, n, name)
	if err != nil {
		return samples{}, err
	}
	if fresh {
		if err := b.addHistory(ctx, large); err != nil {
			return samples{}, err
		}
	}
	small, err := b.copyOf(ctx, short, "small")
	if err != nil {
		return samples{}, err
	}
	return compare(ctx, b.Effort.Rounds, op.step(large), op.step(small))
}

// addHistory copies the pack of the history into a repository and adds a branch that
// reaches it.
func (b *bench) addHistory(ctx context.Context, r *repository) error {
	from, err := b.kept(fmt.Sprintf("history-%d", b.Effort.Packed), func(dir string) error { return b.makeHistory(ctx, dir) })
	if err != nil {
		return err
	}
	objects := filepath.Join(".git", "objects", "pack")
	if err := copyTree(filepath.Join(from, objects), filepath.Join(r.dir, objects)); err != nil {
		return fmt.Errorf("copy the history: %w", err)
	}
	tip, err := b.start(ctx, from, nil, "git", "rev-parse", "history")
	if err != nil {
		return err
	}
	_, err = r.git(ctx, nil, "update-ref", "refs/heads/history", tip)
	return err
}

// makeHistory lets git fast-import write the pack, from a stream that is generated while it
// reads.
func (b *bench) makeHistory(ctx context.Context, dir string) error {
	fmt.Fprintf(b.Log, "  a history of %d objects\n", b.Effort.Packed)
	if _, err := b.start(ctx, dir, nil, "git", "init", "-q", "-b", "main"); err != nil {
		return err
	}
	stream, to := io.Pipe()
	go func() {
		w := bufio.NewWriterSize(to, 1<<20)
		for i := range (b.Effort.Packed + perCommit - 1) / perCommit {
			writeCommit(w, i)
		}
		to.CloseWithError(w.Flush()) //nolint:errcheck // it gives nil
	}()
	// Compression would take most of the time, and the size of the pack does not matter.
	_, err := b.feed(ctx, dir, nil, stream, "git", "-c", "core.compression=0", "-c", "pack.compression=0", "fast-import", "--quiet", "--depth=0")
	stream.CloseWithError(errors.New("git reads no more")) //nolint:errcheck // it gives nil
	if err != nil {
		return fmt.Errorf("write the history: %w", err)
	}
	return nil
}

// writeCommit writes a commit whose files no other commit has. Errors stay in the buffered
// writer until it is flushed.
func writeCommit(w io.Writer, number int) {
	fmt.Fprintf(w, "commit refs/heads/history\ncommitter A U Thor <author@example.com> %d +0000\ndata 0\ndeleteall\n", 1700000000+number)
	for d := range historyDirs {
		for f := range historyFiles {
			text := fmt.Sprintf("commit %d, directory %d, file %d\n", number, d, f)
			fmt.Fprintf(w, "M 100644 inline d%02d/f%02d\ndata %d\n%s\n", d, f, len(text), text)
		}
	}
}
