package odb

import (
	"bytes"
	"crypto/sha1" // git's own hash
	"crypto/sha256"
	"errors"
	"hash"
	"io"
	"io/fs"
	"os"
	"path/filepath"
)

// Sound reports whether git would find what is found here, as far as multi-pack-indexes are
// concerned. git searches such an index before the packs, and a damaged one hides objects that
// are whole. A chain of incremental multi-pack-indexes is not checked and counts as not sound.
func (p *Packs) Sound() bool {
	for _, dir := range p.dirs {
		path := filepath.Join(dir, "pack", "multi-pack-index")
		if _, err := os.Lstat(path + ".d"); err == nil {
			return false
		}
		info, err := os.Lstat(path)
		if errors.Is(err, fs.ErrNotExist) {
			continue
		}
		if err != nil || !info.Mode().IsRegular() || !p.whole(path, info) {
			return false
		}
	}
	return true
}

// whole reports whether the checksum at the end of a multi-pack-index is right. The result is
// kept until the file is replaced.
func (p *Packs) whole(path string, info fs.FileInfo) bool {
	p.mu.Lock()
	defer p.mu.Unlock()
	if known := p.sound[path]; known != nil && os.SameFile(known, info) && known.ModTime().Equal(info.ModTime()) && known.Size() == info.Size() {
		return true
	}
	f, err := os.Open(path)
	if err != nil {
		return false
	}
	defer f.Close() //nolint:errcheck // read only
	sum := NewHash(p.hashLen == sha256.Size)
	if _, err := io.CopyN(sum, f, info.Size()-int64(p.hashLen)); err != nil {
		return false
	}
	want, err := io.ReadAll(f)
	if err != nil || !bytes.Equal(want, sum.Sum(nil)) {
		return false
	}
	if p.sound == nil {
		p.sound = map[string]fs.FileInfo{}
	}
	p.sound[path] = info
	return true
}

// NewHash returns the hash of an object format, SHA-256 or SHA-1.
func NewHash(is256 bool) hash.Hash {
	if is256 {
		return sha256.New()
	}
	return sha1.New() // git's own hash
}
