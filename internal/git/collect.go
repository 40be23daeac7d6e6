package git

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"time"

	"git-checkpoint/internal/name"
)

// Collect deletes the commits that ours names among those that nothing holds any more, with
// all that nothing else needs, and gives the bytes by which the object store shrank. Where
// `git gc --prune=now` deletes whatever no ref holds, this leaves alone what others left
// dangling, as a dropped stash is, and what they are writing and name in the next moment.
func (r *Repo) Collect(ctx context.Context, ours func(Commit) bool) (int64, error) {
	if precious, err := r.Config.Bool("extensions.preciousObjects", false); err != nil || precious {
		return 0, errors.Join(err, errors.New("this repository keeps all objects (extensions.preciousObjects)"))
	}
	began, err := r.tick(ctx)
	if err != nil {
		return 0, err
	}
	if err := r.awaitIndexes(ctx); err != nil {
		return 0, err
	}
	release, err := r.holdGC(ctx)
	if err != nil {
		return 0, err
	}
	defer release()
	before, err := r.DiskSize()
	if err != nil {
		return 0, err
	}
	doomed, spared, err := r.garbage(ctx, ours)
	if err != nil || len(doomed) == 0 {
		return 0, err
	}
	packed := r.anyPacked(doomed)
	r.database().packs.Close() // some systems do not delete what is open
	if packed {
		if err := r.repack(ctx, spared, began); err != nil {
			return 0, fmt.Errorf("leave out of the packs what nothing holds: %w", err)
		}
	}
	if err := r.removeLoose(doomed, began); err != nil {
		return 0, err
	}
	if err := r.renewGraph(ctx); err != nil {
		return 0, err
	}
	after, err := r.DiskSize()
	return before - after, err
}

// tick waits until the clock of the file system has gone on by a second, and gives the one
// that is over. What is written or made young from now on has a later time, by which git
// tells it from what was there: it counts in whole seconds.
func (r *Repo) tick(ctx context.Context) (time.Time, error) {
	began, err := r.clock()
	for now := began; err == nil && now.Unix() <= began.Unix(); now, err = r.clock() {
		select {
		case <-ctx.Done():
			return began, context.Cause(ctx)
		case <-time.After(time.Until(time.Now().Truncate(time.Second).Add(time.Second + 5*time.Millisecond))):
		}
	}
	return began, err
}

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

// indexPatience bounds the wait for who writes an index.
const indexPatience = 10 * time.Second

// awaitIndexes waits until nobody writes an index: a `git add` has written objects, or found
// that they were here, long before its index names them.
func (r *Repo) awaitIndexes(ctx context.Context) error {
	worktrees, err := r.Worktrees(ctx)
	if err != nil {
		return err
	}
	dirs := []string{r.GitDir}
	for _, w := range worktrees {
		dirs = append(dirs, w.GitDir)
	}
	for began := time.Now(); len(dirs) > 0; {
		lock := filepath.Join(dirs[0], "index.lock")
		if _, err := os.Lstat(lock); err != nil {
			dirs = dirs[1:]
			continue
		}
		if time.Since(began) > indexPatience {
			return &LockedError{Path: lock}
		}
		select {
		case <-ctx.Done():
			return context.Cause(ctx)
		case <-time.After(20 * time.Millisecond):
		}
	}
	return nil
}

// anyPacked reports whether one of the objects is in a pack.
func (r *Repo) anyPacked(oids []name.OID) bool {
	packs := r.database().packs
	packs.Refresh()
	for _, oid := range oids {
		if _, packed := packs.Find(oid); packed {
			return true
		}
	}
	return false
}

// repack leaves what nothing holds out of the packs. It is gone at once, unless what is spared
// needs it or it became younger than began: then it is loose.
func (r *Repo) repack(ctx context.Context, spared []name.OID, began time.Time) error {
	args := []string{"repack", "-A", "-d", "-q"}
	if r.freshen(ctx, spared, began) == nil { // else all becomes loose: a file for each object takes long, and drops nothing
		args = append(args, "--unpack-unreachable="+began.UTC().Format("2006-01-02 15:04:05 +0000"))
	}
	_, err := r.Output(ctx, args...)
	return err
}

// freshen makes objects younger than a time, as a pack that the next repack takes apart:
// git spares what is young, and all that it needs.
func (r *Repo) freshen(ctx context.Context, oids []name.OID, than time.Time) error {
	if len(oids) == 0 {
		return nil
	}
	var in strings.Builder
	for _, oid := range oids {
		fmt.Fprintln(&in, oid)
	}
	pack := filepath.Join(r.CommonDir, "objects", "pack", "pack")
	res, err := r.Run(ctx, Cmd{Args: []string{"pack-objects", "-q", pack}, Stdin: strings.NewReader(in.String())})
	if err != nil {
		return err
	}
	young := than.Add(2 * time.Second)
	for _, hash := range strings.Fields(string(res.Stdout)) {
		if err := os.Chtimes(pack+"-"+hash+".pack", young, young); err != nil {
			return err
		}
	}
	return nil
}

// removeLoose deletes the files of objects, but for those that somebody made young since:
// that is how git says that it needs one which is there. The directories stay, because who
// writes another object next does not expect them to go.
func (r *Repo) removeLoose(oids []name.OID, began time.Time) error {
	for _, oid := range oids {
		path := filepath.Join(r.CommonDir, "objects", string(oid[:2]), string(oid[2:]))
		info, err := os.Lstat(path)
		if err != nil || info.ModTime().Unix() > began.Unix() {
			continue // it was in a pack alone
		}
		if err := os.Remove(path); err != nil && !errors.Is(err, fs.ErrNotExist) {
			return fmt.Errorf("delete an object that nothing holds: %w", err)
		}
	}
	return nil
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
