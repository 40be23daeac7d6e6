package odb

import (
	"bytes"
	"encoding/binary"
	"io/fs"
	"os"
	"strings"
	"sync"
)

// pack is one pack with its index. Both files are opened when the first object is looked up
// there, and stay open: an object can then still be read after a gc has deleted the files.
type pack struct {
	path    string // of the .idx file
	hashLen int

	once  sync.Once
	index *index // nil if the pack cannot be read here; git is asked then
	file  *os.File
	end   int64 // where the entries end and the checksum begins
}

// packHeader is the length of what a pack begins with: "PACK", the version, the number of
// objects.
const packHeader = 12

// ready opens the pack on the first call. It returns false if the pack cannot be read here.
func (p *pack) ready() bool {
	p.once.Do(func() {
		index, file, err := p.open()
		if err == nil {
			p.index, p.file = index, file
		}
	})
	return p.index != nil
}

// open opens and checks both files. The index stays mapped after its file is closed.
func (p *pack) open() (*index, *os.File, error) {
	xf, err := openRegular(p.path)
	if err != nil {
		return nil, nil, err
	}
	x, err := openIndex(xf, p.hashLen)
	xf.Close() //nolint:errcheck // read only
	if err != nil {
		return nil, nil, err
	}
	f, err := openRegular(strings.TrimSuffix(p.path, ".idx") + ".pack")
	if err == nil {
		err = p.check(f, x)
	}
	if err != nil {
		if f != nil {
			f.Close() //nolint:errcheck // read only
		}
		return nil, nil, err
	}
	return x, f, nil
}

// check compares a pack with its index as git does before it reads: the header, the number of
// objects, and the checksum at the end. The checksum itself is not computed.
func (p *pack) check(f *os.File, x *index) error {
	info, err := f.Stat()
	if err != nil {
		return err
	}
	var head [packHeader]byte
	if _, err := f.ReadAt(head[:], 0); err != nil {
		return err
	}
	version := binary.BigEndian.Uint32(head[4:])
	if string(head[:4]) != "PACK" || version != 2 && version != 3 || int64(binary.BigEndian.Uint32(head[8:])) != x.count {
		return ErrUseGit
	}
	p.end = info.Size() - int64(p.hashLen)
	sum := make([]byte, p.hashLen)
	if _, err := f.ReadAt(sum, p.end); err != nil {
		return err
	}
	if !bytes.Equal(sum, x.sum) {
		return ErrUseGit
	}
	return nil
}

// openRegular opens a regular file. Opening a pipe would block.
func openRegular(path string) (*os.File, error) {
	info, err := os.Stat(path)
	if err != nil {
		return nil, err
	}
	if !info.Mode().IsRegular() {
		return nil, &fs.PathError{Op: "open", Path: path, Err: ErrUseGit}
	}
	return os.Open(path)
}

// close closes the file. The pack cannot be opened again.
func (p *pack) close() {
	// If the pack was never opened, ready must not open it any more.
	p.once.Do(func() {})
	if p.index != nil {
		p.file.Close() //nolint:errcheck // read only
		p.index = nil
	}
}
