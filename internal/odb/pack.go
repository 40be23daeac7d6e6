package odb

import (
	"bytes"
	"encoding/binary"
	"io/fs"
	"os"
	"strings"
	"sync"
)

// pack is one pack with its index. Both are opened when something is looked for there, and
// stay at hand: what a gc deletes can be read on.
type pack struct {
	path    string // of the index
	hashLen int

	once  sync.Once
	index *index // nil: git is asked
	file  *os.File
	end   int64 // of the entries
}

// packHeader is how a pack begins: its name, the version, how many objects it has.
const packHeader = 12

// ready opens the pack when it is not; false when it is none that can be read here.
func (p *pack) ready() bool {
	p.once.Do(func() {
		index, file, err := p.open()
		if err == nil {
			p.index, p.file = index, file
		}
	})
	return p.index != nil
}

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

// check compares a pack with its index as git does before it reads.
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
		return ErrElsewhere
	}
	p.end = info.Size() - int64(p.hashLen)
	sum := make([]byte, p.hashLen)
	if _, err := f.ReadAt(sum, p.end); err != nil {
		return err
	}
	if !bytes.Equal(sum, x.sum) {
		return ErrElsewhere
	}
	return nil
}

func openRegular(path string) (*os.File, error) {
	info, err := os.Stat(path)
	if err != nil {
		return nil, err
	}
	if !info.Mode().IsRegular() {
		return nil, &fs.PathError{Op: "open", Path: path, Err: ErrElsewhere}
	}
	return os.Open(path)
}

func (p *pack) close() {
	p.once.Do(func() {})
	if p.index != nil {
		p.file.Close() //nolint:errcheck // read only
		p.index = nil
	}
}
