// Package mapped gives files as memory without reading them. It is for files that are put
// in place whole and never cut off, as git's packs, their indexes and our caches are; it
// refuses nothing, and where the system cannot map a file it reads it.
//
// Small ones, of which there are thousands, it reads with few calls of the system.
//
// What is mapped stays so for as long as the process lives, also when the file is replaced
// or deleted. It must not be written to.
package mapped

import (
	"io"
	"os"
)

// File is the content of a file as it is now, from its beginning.
func File(f *os.File) ([]byte, error) {
	info, err := f.Stat()
	if err != nil {
		return nil, err
	}
	if size := info.Size(); info.Mode().IsRegular() && size > 0 && int64(int(size)) == size {
		if data, err := memory(f, int(size)); err == nil {
			return data, nil
		}
	}
	return io.ReadAll(io.NewSectionReader(f, 0, 1<<62))
}

// Small reads a regular file, with as little ado as there can be: it is for thousands of
// them. Nothing is mapped.
func Small(path string) ([]byte, error) {
	return read(path, func(size int64) []byte { return make([]byte, size) })
}

// Beginning is Small into memory that is given: as much is read as it has.
func Beginning(path string, room func(size int64) []byte) ([]byte, error) { return read(path, room) }

// Path is the content of the file of a name.
func Path(path string) ([]byte, error) {
	f, err := os.Open(path)
	if err != nil {
		return nil, err
	}
	defer f.Close() //nolint:errcheck // read only; the memory stays
	return File(f)
}
