//go:build unix

package store

import (
	"os"
	"syscall"
)

// mapFile gives a file's content without reading it, for as long as the process lives: what
// is never looked at costs nothing, and memory that is new costs more than to look. The
// file may grow or be replaced meanwhile; as git with its packs, we trust that nobody cuts
// it off.
func mapFile(path string) ([]byte, error) {
	f, err := os.Open(path)
	if err != nil {
		return nil, err
	}
	defer f.Close() //nolint:errcheck // read only; the map stays
	info, err := f.Stat()
	if err != nil {
		return nil, err
	}
	if size := int(info.Size()); size > 0 && info.Mode().IsRegular() {
		if data, err := syscall.Mmap(int(f.Fd()), 0, size, syscall.PROT_READ, syscall.MAP_PRIVATE); err == nil { //nolint:gosec // a descriptor
			return data, nil
		}
	}
	return os.ReadFile(path) // some file systems cannot
}
