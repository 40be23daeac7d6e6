package git

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path"
	"path/filepath"
	"strings"
)

// diskUse is the size of the files of the object store, in bytes.
type diskUse struct {
	total        int64
	unreferenced int64 // loose objects and cruft packs; right after a gc these are the unreachable objects
}

// diskUse measures the repository's own object store. Alternates do not count.
func (r *Repo) diskUse() (diskUse, error) {
	use, err := measure(os.DirFS(filepath.Join(r.CommonDir, "objects")))
	if err != nil {
		return use, fmt.Errorf("measure the object store: %w", err)
	}
	return use, nil
}

// measure adds up the sizes of all files below objects. Other processes add and remove files in the
// meantime, and git removes a directory of loose objects as soon as it is empty, so a file that has
// vanished is not an error.
func measure(objects fs.FS) (use diskUse, err error) {
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
		use.total += info.Size()
		base, ext := strings.TrimSuffix(file, path.Ext(file)), path.Ext(file)
		switch {
		case ext == ".pack":
			packs[base] = info.Size()
		case ext == ".mtimes": // only a cruft pack has this file
			cruft = append(cruft, base)
		case len(path.Dir(file)) == 2: // a loose object: objects/xx/...
			use.unreferenced += info.Size()
		}
		return nil
	})
	for _, base := range cruft {
		use.unreferenced += packs[base]
	}
	return use, err
}
