package git

import (
	"io/fs"
	"path/filepath"
)

// DiskSize is the bytes of all files of the object store, alternates aside.
func (r *Repo) DiskSize() (int64, error) {
	var total int64
	err := filepath.WalkDir(filepath.Join(r.CommonDir, "objects"), func(_ string, d fs.DirEntry, err error) error {
		if err != nil || d.IsDir() {
			return err
		}
		if info, err := d.Info(); err == nil { // it may be gone already
			total += info.Size()
		}
		return nil
	})
	return total, err
}
