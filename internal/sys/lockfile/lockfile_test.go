package lockfile

import (
	"os"
	"path/filepath"
	"sync"
	"sync/atomic"
	"testing"
)

// Of many that find a lock that was left behind, all at the same time, one takes it over, and
// the lock holds its note.
func TestTakeOver(t *testing.T) {
	const many, rounds = 16, 20
	for range rounds {
		dir := t.TempDir()
		path := filepath.Join(dir, "lock")
		if err := os.WriteFile(path, []byte("left"), 0o600); err != nil {
			t.Fatal(err)
		}
		var all, seen sync.WaitGroup
		var holders atomic.Int32
		var holder atomic.Value
		seen.Add(many)
		for n := range many {
			looks := 0
			left := func() bool {
				data, err := os.ReadFile(path)
				if looks++; looks == 1 { // nobody goes on before all have found the lock
					seen.Done()
					seen.Wait()
				}
				return err != nil || string(data) == "left"
			}
			all.Go(func() {
				note := string(rune('a' + n))
				if mine, err := Take(path, note, left); err != nil {
					t.Error(err)
				} else if mine {
					holders.Add(1)
					holder.Store(note)
				}
			})
		}
		all.Wait()
		data, err := os.ReadFile(path)
		if err != nil || holders.Load() != 1 || holder.Load() != string(data) {
			t.Fatalf("%d hold it, and the last of them is %v, not %s; %v", holders.Load(), holder.Load(), data, err)
		}
		if files, err := os.ReadDir(dir); err != nil || len(files) != 1 {
			t.Errorf("left are %v, %v", files, err)
		}
	}
}

// A lock that is held is neither taken nor changed, one that is free is taken, and a directory
// that is not there is an error.
func TestTake(t *testing.T) {
	path := filepath.Join(t.TempDir(), "lock")
	held := func() bool { return false }
	for _, want := range []bool{true, false} {
		if got, err := Take(path, "mine", held); got != want || err != nil {
			t.Errorf("%v, %v", got, err)
		}
	}
	if data, err := os.ReadFile(path); err != nil || string(data) != "mine" {
		t.Errorf("it holds %q, %v", data, err)
	}
	if got, err := Take(filepath.Join(path, "below"), "", held); got || err == nil {
		t.Errorf("below a file: %v, %v", got, err)
	}
}

// Release removes the lock that was taken with its note, and no other.
func TestRelease(t *testing.T) {
	path := filepath.Join(t.TempDir(), "lock")
	if mine, err := Take(path, "one", nil); !mine || err != nil {
		t.Fatal(mine, err)
	}
	Release(path, "two")
	if !Holds(path, "one") || Holds(path, "two") {
		t.Error("the lock of another process was removed")
	}
	Release(path, "one")
	if _, err := os.Lstat(path); !os.IsNotExist(err) {
		t.Errorf("the lock is still there: %v", err)
	}
}
