package wholefile

import (
	"os"
	"path/filepath"
	"strings"
)

// LinkBelow returns the first symbolic link on the way from the directory root to file, which may be
// missing; "" if there is none. It says nothing of links above root, nor of a file elsewhere.
func LinkBelow(root, file string) string {
	rel, err := filepath.Rel(root, file)
	if err != nil || !filepath.IsLocal(rel) {
		return ""
	}
	at := root
	for part := range strings.SplitSeq(rel, string(filepath.Separator)) {
		at = filepath.Join(at, part)
		if info, err := os.Lstat(at); err == nil && info.Mode()&os.ModeSymlink != 0 {
			return at
		}
	}
	return ""
}

// LeadsOut reports whether a file below root is elsewhere, because of symbolic links.
func LeadsOut(root, file string) bool {
	if LinkBelow(root, file) == "" {
		return false
	}
	top, err := filepath.EvalSymlinks(root)
	if err != nil {
		return false
	}
	to, err := filepath.EvalSymlinks(file)
	if err != nil {
		return false // nothing is there that could be read
	}
	rel, err := filepath.Rel(top, to)
	return err != nil || !filepath.IsLocal(rel)
}
