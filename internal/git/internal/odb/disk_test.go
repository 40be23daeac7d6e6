package odb

import (
	"io/fs"
	"testing"
	"testing/fstest"
)

// vanishing is a file system in which a directory is removed after it was listed.
type vanishing struct {
	fstest.MapFS
	gone string
}

func (v vanishing) ReadDir(name string) ([]fs.DirEntry, error) {
	if name == v.gone {
		return nil, &fs.PathError{Op: "open", Path: name, Err: fs.ErrNotExist}
	}
	return v.MapFS.ReadDir(name)
}

func TestMeasure(t *testing.T) {
	file := func(size int) *fstest.MapFile { return &fstest.MapFile{Data: make([]byte, size)} }
	objects := fstest.MapFS{
		"aa/one": file(1), "bb/two": file(2), "pack/pack-1.pack": file(10), "pack/pack-1.idx": file(20),
		"pack/pack-2.pack": file(100), "pack/pack-2.idx": file(200), "pack/pack-2.mtimes": file(400), "info/commit-graph": file(1000),
	}
	for gone, want := range map[string]DiskUse{"": {1733, 103}, "bb": {1731, 101}} {
		if got, err := Measure(vanishing{objects, gone}); err != nil || got != want {
			t.Errorf("without %q: %v, %v, want %v", gone, got, err, want)
		}
	}
}
