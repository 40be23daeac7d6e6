package hook

import (
	"context"
	"os"
	"path/filepath"
	"testing"
	"time"
)

// A hook that slept for longer than a lock lasts does not remove the lock of the hook that took
// it over.
func TestLockOfAnother(t *testing.T) {
	h := &memory{dir: t.TempDir()}
	slept, err := h.lock(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	file := filepath.Join(h.dir, "lock")
	old := time.Now().Add(-2 * staleLock)
	if err := os.Chtimes(file, old, old); err != nil {
		t.Fatal(err)
	}
	release, err := h.lock(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	slept()
	over, cancel := context.WithCancel(t.Context())
	cancel()
	if _, err := h.lock(over); err == nil {
		t.Error("two hooks hold the lock")
	}
	release()
	if _, err := os.Lstat(file); !os.IsNotExist(err) {
		t.Errorf("the lock is still there: %v", err)
	}
}

// The lock of a hook that was killed does not keep the next hook waiting.
func TestLockOfTheDead(t *testing.T) {
	h := &memory{dir: t.TempDir()}
	if err := os.WriteFile(filepath.Join(h.dir, "lock"), []byte("2147483647 1 note"), 0o600); err != nil {
		t.Fatal(err)
	}
	over, cancel := context.WithCancel(t.Context())
	cancel()
	release, err := h.lock(over)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := h.lock(over); err == nil {
		t.Error("two hooks hold the lock")
	}
	release()
}
