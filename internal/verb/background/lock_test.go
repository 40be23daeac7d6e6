package background

import (
	"os"
	"path/filepath"
	"testing"
	"testing/synctest"
	"time"
)

// A lock is held by one process, for as long as its work takes, and is free afterwards.
func TestLockStaysFresh(t *testing.T) {
	lock := filepath.Join(t.TempDir(), "lock")
	synctest.Test(t, func(t *testing.T) {
		release, ok := Lock(lock)
		if !ok {
			t.Fatal("a free lock is not taken")
		}
		time.Sleep(5 * StaleAfter / 2)
		if _, ok := Lock(lock); ok {
			t.Error("a lock that is held is taken over")
		}
		release()
		if _, err := os.Lstat(lock); !os.IsNotExist(err) {
			t.Errorf("the lock is left: %v", err)
		}
	})
}

// A lock that was left is taken over. If its process was only asleep, that one leaves the new
// lock alone.
func TestLockTakenOver(t *testing.T) {
	lock := filepath.Join(t.TempDir(), "lock")
	wakes, ok := Lock(lock)
	if !ok {
		t.Fatal("a free lock is not taken")
	}
	for _, age := range []time.Duration{StaleAfter, -StaleAfter - time.Minute} {
		old := time.Now().Add(-age)
		if err := os.Chtimes(lock, old, old); err != nil {
			t.Fatal(err)
		}
		release, ok := Lock(lock)
		if !ok {
			t.Fatalf("a lock that is %v old is not taken over", age)
		}
		defer release()
	}
	wakes()
	if _, err := os.Lstat(lock); err != nil {
		t.Errorf("the lock of another process is gone: %v", err)
	}
	if _, ok := Lock(lock); ok {
		t.Error("a lock that was taken over counts for nothing")
	}
}
