package snapshot

import (
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"testing"

	"git-checkpoint/internal/storage/worktree"
)

// A restore that finds the index locked leaves the lock and its note alone. A lock that a killed
// run left is taken over.
func TestIndexLock(t *testing.T) {
	repo := repository(t)
	shot, err := New(repo)
	if err != nil {
		t.Fatal(err)
	}
	defer shot.Close()
	first, second := shot.restore(&Intent{}), shot.restore(&Intent{})
	if err := shot.lock.take(first.intent); err != nil {
		t.Fatal(err)
	}
	var locked *LockedError
	if err := shot.lock.take(second.intent); !errors.As(err, &locked) {
		t.Errorf("a second lock: %v", err)
	}
	second.Cancel()
	if _, err := os.Stat(shot.lock.lockNote()); err != nil {
		t.Fatalf("the note is gone with the second: %v", err)
	}
	if _, err := os.Lstat(first.intent.Lock); err != nil {
		t.Error(err)
	}
	// Pretend that the first process was killed.
	forgeNote(t, shot, 1, endedProcess(t))
	token, err := os.ReadFile(first.intent.Lock)
	if err != nil {
		t.Fatal(err)
	}
	for _, content := range []string{"", "of somebody else"} {
		put(t, first.intent.Lock, content) // the file system gave the inode to another program's lock
		if lock := shot.AbandonedLock(); lock != "" {
			t.Errorf("the lock of somebody else, with the inode of an old one, is taken for ours")
		}
	}
	put(t, first.intent.Lock, string(token)) // as in a copy: only the content is the same
	if err := shot.lock.take(second.intent); err != nil {
		t.Errorf("taking over: %v", err)
	}
	second.Cancel()
	if left, _ := filepath.Glob(filepath.Join(repo.GitDir, "*.lock")); len(left) > 0 { //nolint:errcheck // the pattern is right
		t.Errorf("left are %v", left)
	}
	if left, _ := filepath.Glob(filepath.Join(repo.GitDir, "checkpoint", "*lock*")); len(left) > 0 { //nolint:errcheck // likewise
		t.Errorf("left are %v", left)
	}
}

// A lock that cannot be removed keeps its note, by which the next process knows whose it is.
func TestIndexLockStays(t *testing.T) {
	shot, err := New(repository(t))
	if err != nil {
		t.Fatal(err)
	}
	defer shot.Close()
	r := shot.restore(&Intent{})
	if err := shot.lock.take(r.intent); err != nil {
		t.Fatal(err)
	}
	full := filepath.Join(shot.dir, "full") // stands for what the system does not remove
	if err := os.MkdirAll(filepath.Join(full, "directory"), 0o777); err != nil {
		t.Fatal(err)
	}
	info, err := os.Lstat(full)
	if err != nil {
		t.Fatal(err)
	}
	r.intent.Lock = full
	_, r.intent.LockInode, _ = worktree.Inode(info)
	shot.lock.release(r.intent)
	if _, err := os.Lstat(shot.lock.lockNote()); err != nil {
		t.Errorf("the note is gone, and the lock is not: %v", err)
	}
}

// The lock of an earlier version is empty, and its note has no token.
func TestIndexLockOfEarlierVersion(t *testing.T) {
	shot, err := New(repository(t))
	if err != nil {
		t.Fatal(err)
	}
	defer shot.Close()
	lock := shot.repo.IndexPath + ".lock"
	put(t, lock, "")
	info, err := os.Lstat(lock)
	if err != nil {
		t.Fatal(err)
	}
	_, number, _ := worktree.Inode(info)
	put(t, shot.lock.lockNote(), fmt.Sprintf("%d %s 1 %d\n", number, endedProcess(t), info.ModTime().UnixNano()))
	if got := shot.AbandonedLock(); got != lock {
		t.Errorf("abandoned is %q", got)
	}
	put(t, lock, "") // of git, at another time
	if got := shot.AbandonedLock(); got != "" {
		t.Error("the lock of somebody else is taken for ours")
	}
}

// endedProcess returns the number of a process that has ended.
func endedProcess(t *testing.T) string {
	t.Helper()
	dead := exec.Command("true")
	if err := dead.Run(); err != nil {
		t.Fatal(err)
	}
	return strconv.Itoa(dead.Process.Pid)
}

// forgeNote changes one field of the note beside the index lock.
func forgeNote(t *testing.T, shot *Worktree, field int, value string) {
	t.Helper()
	note, err := os.ReadFile(shot.lock.lockNote())
	if err != nil {
		t.Fatal(err)
	}
	fields := strings.Fields(string(note))
	fields[field] = value
	put(t, shot.lock.lockNote(), strings.Join(fields, " ")+"\n")
}

func put(t *testing.T, file, content string) {
	t.Helper()
	if err := os.WriteFile(file, []byte(content), 0o666); err != nil {
		t.Fatal(err)
	}
}

func holds(t *testing.T, file, content string) {
	t.Helper()
	if got, err := os.ReadFile(file); err != nil || string(got) != content {
		t.Errorf("%s holds %q, %v", file, got, err)
	}
}
