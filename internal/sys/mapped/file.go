// Package mapped returns the content of files as memory-mapped bytes, without reading them. File
// and Path map a file; where the system cannot do that they read it.
//
// It is for files that are never shortened or written in place, such as packs, their indexes, and
// the caches of this program, which are all replaced by a rename. Access to a mapped page past the
// end of a shortened file would crash the process. The package does not check this.
//
// A mapping stays for as long as the process lives, even when the file is replaced or deleted. It
// must not be written to. A process that serves many requests calls Never first: a system has room
// for some 65,000 mappings per process, and one that made a few for each request ran out of them
// after 10,900 checkpoints.
//
// Small and Beginning read small files, such as loose objects and refs, instead of mapping them.
package mapped

import (
	"bytes"
	"io"
	"io/fs"
	"os"
	"sync/atomic"
	"syscall"
)

var never atomic.Bool

// Never makes File and Path read files from now on, so that the memory is freed after use.
func Never() { never.Store(true) }

// File returns the content of a file from its beginning, wherever the file's position is. An
// empty file and anything but a regular file cannot be mapped and is read.
func File(f *os.File) ([]byte, error) {
	info, err := f.Stat()
	if err != nil {
		return nil, err
	}
	var data bytes.Buffer
	if size := info.Size(); info.Mode().IsRegular() && size > 0 && int64(int(size)) == size {
		if !never.Load() {
			if data, err := memory(f, int(size)); err == nil {
				return data, nil
			}
		}
		data.Grow(int(size) + bytes.MinRead)
	}
	_, err = data.ReadFrom(io.NewSectionReader(f, 0, 1<<62))
	return data.Bytes(), err
}

// Small reads a regular file. Anything else is an error.
func Small(path string) ([]byte, error) {
	return Beginning(path, func(size int64) []byte { return make([]byte, size) })
}

// Beginning is Small with memory of the caller. room gets the size of the file and returns the
// memory to fill. If that memory is larger than the file, Beginning returns an error.
func Beginning(path string, room func(size int64) []byte) ([]byte, error) {
	f, err := os.OpenFile(path, os.O_RDONLY|syscall.O_NONBLOCK, 0) // so that a pipe does not block
	if err != nil {
		return nil, err
	}
	defer f.Close() //nolint:errcheck // read only
	info, err := f.Stat()
	if err != nil {
		return nil, err
	}
	if !info.Mode().IsRegular() {
		return nil, &fs.PathError{Op: "read", Path: path, Err: fs.ErrInvalid}
	}
	data := room(info.Size())
	_, err = io.ReadFull(f, data)
	return data, err
}

// Path returns the content of the file at path, like File. The mapping outlives the open file.
func Path(path string) ([]byte, error) {
	f, err := os.Open(path)
	if err != nil {
		return nil, err
	}
	defer f.Close() //nolint:errcheck // read only; the memory stays
	return File(f)
}
