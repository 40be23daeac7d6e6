//go:build !unix

package mapped

import (
	"io"
	"io/fs"
	"os"
)

// read is the portable form of Small and Beginning.
func read(path string, room func(size int64) []byte) ([]byte, error) {
	f, err := os.Open(path)
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
