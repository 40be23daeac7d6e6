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

// diskUse is what files of the object store take, in bytes.
type diskUse struct {
	total        int64
	unreferenced int64 // right after a gc, which puts all else into ordinary packs
}

// diskUse measures the object store, alternates aside.
func (r *Repo) diskUse() (diskUse, error) {
	use, err := measure(os.DirFS(filepath.Join(r.CommonDir, "objects")))
	if err != nil {
		return use, fmt.Errorf("measure the object store: %w", err)
	}
	return use, nil
}

// measure adds up files. Others add and remove some meanwhile: git also removes a
// directory of loose objects as soon as it is empty.
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
		case ext == ".mtimes": // git marks a cruft pack by it
			cruft = append(cruft, base)
		case len(path.Dir(file)) == 2: // a loose object
			use.unreferenced += info.Size()
		}
		return nil
	})
	for _, base := range cruft {
		use.unreferenced += packs[base]
	}
	return use, err
}
