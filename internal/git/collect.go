package git

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"time"

	"git-checkpoint/internal/name"
)

// maxKept bounds how much a prune can be told to keep.
const maxKept = 10_000

// Collect deletes what nothing holds any more, and gives the bytes by which the object
// store shrank. It is gentler than `git gc --prune=now`: commits, tags and blobs that
// somebody else left dangling, as a dropped stash is, stay with all they need. Ours are
// the dangling commits that may go.
func (r *Repo) Collect(ctx context.Context, ours func(Commit) bool) (int64, error) {
	if precious, err := r.Config.Bool("extensions.preciousObjects", false); err != nil || precious {
		return 0, errors.Join(err, errors.New("this repository keeps all objects (extensions.preciousObjects)"))
	}
	release, err := r.holdGC(ctx)
	if err != nil {
		return 0, err
	}
	defer release()
	began, err := r.clock()
	if err != nil {
		return 0, err
	}
	before, err := r.DiskSize()
	if err != nil {
		return 0, err
	}
	loose, keep, err := r.dangling(ctx, ours)
	if err != nil {
		return 0, err
	}
	r.database().packs.Close() // some systems do not delete what is open
	if !loose {
		if err := r.repack(ctx, keep, began); err != nil {
			return 0, fmt.Errorf("unpack what nothing holds: %w", err)
		}
	}
	args := append([]string{"prune", "--expire=" + dateOf(began), "--"}, keep...)
	if _, err := r.Output(ctx, args...); err != nil {
		return 0, fmt.Errorf("delete what nothing holds: %w", err)
	}
	if err := r.renewGraph(ctx); err != nil {
		return 0, err
	}
	after, err := r.DiskSize()
	return before - after, err
}

// repack leaves what nothing holds out of the packs. It is gone at once, unless keep needs it
// or it is younger than began: then it becomes loose.
func (r *Repo) repack(ctx context.Context, keep []string, began time.Time) error {
	args := []string{"repack", "-A", "-d", "-q"}
	if r.freshen(ctx, keep, began) == nil { // else all becomes loose: a file for each object takes long, and drops nothing
		args = append(args, "--unpack-unreachable="+dateOf(began))
	}
	_, err := r.Output(ctx, args...)
	return err
}

// freshen makes objects younger than a time, as a pack that the next repack takes apart:
// git spares what is young, and all that it needs.
func (r *Repo) freshen(ctx context.Context, oids []string, than time.Time) error {
	if len(oids) == 0 {
		return nil
	}
	pack := filepath.Join(r.CommonDir, "objects", "pack", "pack")
	res, err := r.Run(ctx, Cmd{Args: []string{"pack-objects", "-q", pack}, Stdin: strings.NewReader(strings.Join(oids, "\n") + "\n")})
	if err != nil {
		return err
	}
	young := than.Add(2 * time.Second) // git counts in whole ones
	for _, hash := range strings.Fields(string(res.Stdout)) {
		if err := os.Chtimes(pack+"-"+hash+".pack", young, young); err != nil {
			return err
		}
	}
	return nil
}

// dateOf is a time as git's options take it.
func dateOf(t time.Time) string { return t.UTC().Format("2006-01-02 15:04:05 +0000") }

// clock is the time as the file system has it.
func (r *Repo) clock() (time.Time, error) {
	dir, err := r.Dir()
	if err != nil {
		return time.Time{}, err
	}
	f, err := os.CreateTemp(dir, "tmp-clock-")
	if err != nil {
		return time.Time{}, err
	}
	defer os.Remove(f.Name()) //nolint:errcheck // swept by age
	info, err := f.Stat()
	if err = errors.Join(err, f.Close()); err != nil {
		return time.Time{}, err
	}
	return info.ModTime(), nil
}

// dangling looks through what nothing holds: whether all of ours is loose, and what is
// to be kept of it because it is somebody else's. Trees are nobody's: git makes them on
// the way to a commit, and so do we.
func (r *Repo) dangling(ctx context.Context, ours func(Commit) bool) (loose bool, keep []string, err error) {
	res, err := r.Run(ctx, Cmd{Args: []string{"fsck", "--connectivity-only", "--dangling", "--no-progress"}})
	// Damage is told by other lines and by the exit code, and stops nobody: what is
	// damaged may be what was pruned.
	if code := ExitCode(err); err != nil && (code < 0 || code >= 128) {
		return false, nil, fmt.Errorf("find what nothing holds: %w", err)
	}
	loose = true
	for _, line := range strings.Split(string(res.Stdout), "\n") {
		words := strings.Fields(line)
		if len(words) != 3 || words[0] != "dangling" {
			continue
		}
		typ, oid := words[1], name.OID(words[2])
		if typ == "commit" {
			commit, err := r.ReadCommit(ctx, string(oid))
			if err == nil && ours(commit) {
				loose = loose && r.isLoose(oid)
				continue
			}
		}
		if typ == "tree" {
			loose = loose && r.isLoose(oid)
			continue
		}
		if keep = append(keep, string(oid)); len(keep) > maxKept {
			return false, nil, fmt.Errorf("more than %d objects of others that nothing holds; `git gc` first", maxKept)
		}
	}
	return loose, keep, nil
}

func (r *Repo) isLoose(oid name.OID) bool {
	_, err := os.Lstat(filepath.Join(r.CommonDir, "objects", string(oid[:2]), string(oid[2:])))
	return err == nil
}

// renewGraph writes the commit graph anew where there is one: it may name what is gone.
func (r *Repo) renewGraph(ctx context.Context) error {
	info := filepath.Join(r.CommonDir, "objects", "info")
	for _, file := range []string{"commit-graph", "commit-graphs"} {
		if _, err := os.Lstat(filepath.Join(info, file)); err != nil {
			continue
		}
		if _, err := r.Output(ctx, "commit-graph", "write", "--reachable", "--no-progress"); err != nil {
			return fmt.Errorf("write the commit graph: %w", err)
		}
		return nil
	}
	return nil
}
