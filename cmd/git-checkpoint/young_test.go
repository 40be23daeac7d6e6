//go:build linux

package main

import (
	"bytes"
	"crypto/sha1" // git's own hash
	"encoding/binary"
	"os"
	"path/filepath"
	"syscall"
	"testing"
	"time"
)

// An entry that is as young as the index may have changed after it was written, with all
// its stat data the same: its file is read. The time of the index that is read decides,
// and it has to be that of the user's.
func TestYoungIndex(t *testing.T) {
	w := newWorld(t)
	w.write("file", "one\n")
	w.run("git", "update-index", "--index-version", "2", "--force-write-index", "--add", "file")
	path, index := filepath.Join(w.dir, "file"), filepath.Join(w.dir, ".git", "index")
	w.write("file", "six\n") // as in the tick in which the index was written
	info, err := os.Stat(path)
	if err != nil {
		t.Fatal(err)
	}
	st, ok := info.Sys().(*syscall.Stat_t)
	if !ok {
		t.Skip("no stat data")
	}
	data, err := os.ReadFile(index)
	if err != nil {
		t.Fatal(err)
	}
	at := bytes.Index(data, []byte("\x00\x04file")) + 2 - 62 // where the entry begins
	for i, v := range []int64{st.Ctim.Sec, st.Ctim.Nsec, st.Mtim.Sec, st.Mtim.Nsec} {
		binary.BigEndian.PutUint32(data[at+4*i:], uint32(v)) // as the index keeps it
	}
	sum := sha1.Sum(data[:len(data)-sha1.Size]) // git's own hash
	copy(data[len(data)-sha1.Size:], sum[:])
	if err := os.WriteFile(index, data, 0o666); err != nil {
		t.Fatal(err)
	}
	if err := os.Chtimes(index, info.ModTime(), info.ModTime()); err != nil {
		t.Fatal(err)
	}
	time.Sleep(20 * time.Millisecond)
	if id := w.created(); w.run("git", "show", "refs/checkpoints/main/"+id+":file") != "six\n" {
		t.Error("what was staged was captured, and not what is there")
	}
}
