//go:build linux

package snapshot

import (
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"testing"

	"git-checkpoint/internal/git"
	"git-checkpoint/internal/storage/worktree"
)

// farAway returns a directory on another file system than the temporary ones, where nothing can
// be renamed to and names cannot be exchanged with.
func farAway(t *testing.T) string {
	t.Helper()
	dir, err := os.MkdirTemp("/dev/shm", "git-checkpoint-test-") //nolint:usetesting // that one is on another file system
	if err != nil {
		t.Skip(err)
	}
	t.Cleanup(func() { os.RemoveAll(dir) }) //nolint:errcheck // disposable
	far, err := os.Stat(dir)
	if err != nil {
		t.Fatal(err)
	}
	near, err := os.Stat(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	a, _, _ := worktree.Inode(far)
	if b, _, _ := worktree.Inode(near); a == b {
		t.Skip("there is only one file system here")
	}
	return dir
}

// Where names cannot be exchanged, going back leaves a file alone that was edited after the
// restore had written it.
func TestEditedWithoutExchange(t *testing.T) {
	shot, err := New(repository(t))
	if err != nil {
		t.Fatal(err)
	}
	defer shot.Close()
	file := filepath.Join(shot.repo.WorkTree, "file")
	put(t, file, "old\n")
	info, err := shot.files.Lstat("file")
	if err != nil {
		t.Fatal(err)
	}
	r := &mover{shot.checkout, &Intent{}, map[string]fs.FileInfo{"file": info}, make([]fs.FileInfo, 1), map[int]fs.FileInfo{}}
	o := Op{Path: "file", Old: git.Entry{Mode: git.ModeFile}, New: git.Entry{Mode: git.ModeFile, OID: "1"}}
	r.intent.Ops, r.intent.Stage = []Op{o}, farAway(t)
	for _, dir := range []string{"new", "old"} {
		if err := os.Mkdir(filepath.Join(r.intent.Stage, dir), 0o700); err != nil {
			t.Fatal(err)
		}
	}
	put(t, r.intent.newFile(0), "new\n")
	shot.files.Near = shot.files.Hold()
	defer shot.files.Near.Close()
	if err := r.put(0, o); err != nil {
		t.Fatal(err)
	}
	holds(t, file, "new\n")
	put(t, file, "edited since\n")
	var changed *ChangedError
	if err := r.unplace(0, o); !errors.As(err, &changed) {
		t.Errorf("going back says %v", err)
	}
	holds(t, file, "edited since\n")
	holds(t, r.intent.oldFile(0), "old\n")
}

// With an index on another file system, as GIT_INDEX_FILE may name one, the old index comes back
// and a lock that was left is removed.
func TestIndexElsewhere(t *testing.T) {
	repo := repository(t)
	repo.IndexPath = filepath.Join(farAway(t), "index")
	shot, err := New(repo)
	if err != nil {
		t.Fatal(err)
	}
	defer shot.Close()
	put(t, repo.IndexPath, "old\n")
	r := shot.restore(&Intent{})
	r.cur = &Capture{}
	if err := r.Begin([]byte(`{}`)); err != nil {
		t.Fatal(err)
	}
	put(t, repo.IndexPath, "new\n")
	for range 2 {
		if err := r.GoBack(); err != nil {
			t.Fatal(err)
		}
		holds(t, repo.IndexPath, "old\n")
	}
	if err := r.Finish(t.Context()); err != nil {
		t.Fatal(err)
	}
	if err := shot.lock.take(r.intent); err != nil {
		t.Fatal(err)
	}
	forgeNote(t, shot, 1, endedProcess(t))
	if err := shot.Sweep(0); err != nil {
		t.Error(err)
	}
	left, err := os.ReadDir(filepath.Dir(repo.IndexPath))
	if err != nil || len(left) != 1 {
		t.Errorf("beside the index are %v, %v", left, err)
	}
}
