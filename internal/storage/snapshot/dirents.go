//go:build linux

package snapshot

import (
	"bytes"
	"encoding/binary"
	"errors"
	"fmt"
	"io/fs"

	"golang.org/x/sys/unix"
)

// direntBuffer holds directory entries. It has 32 KiB, as in the C library.
type direntBuffer [32 << 10]byte

// readDirents calls each with the name and type of every entry of an open directory, except "."
// and "..". The name is valid until each returns. os.File.ReadDir allocates a string and an
// object for each entry, which was half of the time of a scan.
func (buf *direntBuffer) readDirents(fd int, each func(name []byte, typ fs.FileMode) error) error {
	for {
		n, err := unix.Getdents(fd, buf[:])
		if errors.Is(err, unix.EINTR) {
			continue
		}
		if err != nil || n <= 0 {
			return err
		}
		for rest := buf[:n]; len(rest) > 0; {
			name, typ, size, err := dirent(rest)
			if err != nil {
				return err
			}
			rest = rest[size:]
			if string(name) == "." || string(name) == ".." {
				continue
			}
			mode := fileType(typ)
			// Some file systems do not store the type in the directory.
			if typ == unix.DT_UNKNOWN {
				if mode, err = typeAt(fd, string(name)); errors.Is(err, fs.ErrNotExist) {
					continue
				} else if err != nil {
					return err
				}
			}
			if err := each(name, mode); err != nil {
				return err
			}
		}
	}
}

// dirent decodes the first entry of a getdents buffer. size is the length of the entry.
func dirent(data []byte) (name []byte, typ byte, size int, err error) {
	const sizeAt, typeAt, nameAt = 16, 18, 19 // linux_dirent64 is the same on all machines
	if len(data) < nameAt {
		return nil, 0, 0, errors.New("the system gave a cut off directory entry")
	}
	size = int(binary.NativeEndian.Uint16(data[sizeAt:]))
	if size <= nameAt || size > len(data) {
		return nil, 0, 0, fmt.Errorf("the system gave a directory entry of %d bytes", size)
	}
	name, _, _ = bytes.Cut(data[nameAt:size], []byte{0})
	return name, data[typeAt], size, nil
}

// fileType converts a DT_ constant. Everything that is neither a file, a directory nor a link is
// irregular.
func fileType(typ byte) fs.FileMode {
	switch typ {
	case unix.DT_REG:
		return 0
	case unix.DT_DIR:
		return fs.ModeDir
	case unix.DT_LNK:
		return fs.ModeSymlink
	}
	return fs.ModeIrregular
}

// typeAt finds the type of a name with fstatat.
func typeAt(fd int, name string) (fs.FileMode, error) {
	var st unix.Stat_t
	if err := unix.Fstatat(fd, name, &st, unix.AT_SYMLINK_NOFOLLOW); err != nil {
		return 0, err
	}
	return fileType(byte(st.Mode & unix.S_IFMT >> 12)), nil // IFTODT in the C library
}
