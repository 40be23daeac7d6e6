package odb

import (
	"errors"
	"io/fs"
	"path"
	"strings"
)

// DiskUse is the size of the files of the object store, in bytes.
type DiskUse struct {
	Total        int64
	Unreferenced int64 // loose objects and cruft packs; right after a gc these are the unreachable objects
}

// Measure adds up the sizes of all files below objects. Other processes add and remove files in the
// meantime, and git removes a directory of loose objects as soon as it is empty, so a file that has
// vanished is not an error.
func Measure(objects fs.FS) (use DiskUse, err error) {
	packs, cruft := map[string]int64{}, []string{}
	err = fs.WalkDir(objects, ".", func(file string, d fs.DirEntry, err error) error {
		if errors.Is(err, fs.ErrNotExist) {
			return nil
		}
		if err != nil || d.IsDir() {
			return err
		}
		info, err := d.Info()
		if err != nil {
			return nil //nolint:nilerr // it is gone already
		}
		use.Total += info.Size()
		base, ext := strings.TrimSuffix(file, path.Ext(file)), path.Ext(file)
		switch {
		case ext == ".pack":
			packs[base] = info.Size()
		case ext == ".mtimes": // only a cruft pack has this file
			cruft = append(cruft, base)
		case len(path.Dir(file)) == 2: // a loose object: objects/xx/...
			use.Unreferenced += info.Size()
		}
		return nil
	})
	for _, base := range cruft {
		use.Unreferenced += packs[base]
	}
	return use, err
}
