package snapshot

import (
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"hash"
	"io/fs"
	"path"
	"slices"
	"strings"
)

// SightGone is the Sight of a path where nothing is.
const SightGone = "gone"

// Sight returns a text that differs if something was written at p: for a file by its stat data, for
// a directory, which is a repository inside the worktree, by those of the files in it without .git.
// No content is read. The text is empty if it is not known, as for a directory with too many or too long names.
func (s *checkout) Sight(p string) string {
	const maxSighted = 20000 // how many names below a directory Sight reads
	p = strings.TrimSuffix(p, "/")
	info, err := s.files.Lstat(p)
	switch {
	case err != nil:
		return ""
	case info == nil:
		return SightGone
	case info.Mode().IsRegular():
		return fmt.Sprintf("%d %d", info.Size(), info.ModTime().UnixNano())
	case !info.IsDir():
		return info.Mode().Type().String() // a pipe or socket, which holds nothing
	}
	h, left := sha256.New(), maxSighted
	if !s.sightBelow(p, h, &left) {
		return ""
	}
	return hex.EncodeToString(h.Sum(nil)[:16])
}

// sightBelow adds the files below a directory to h. It reports whether it could read them all.
func (s *checkout) sightBelow(dir string, h hash.Hash, left *int) bool {
	entries, err := s.files.ReadDir(dir)
	if *left -= len(entries); err != nil || *left < 0 || len(dir) > cutPath {
		return false
	}
	slices.SortFunc(entries, func(a, b fs.DirEntry) int { return strings.Compare(a.Name(), b.Name()) })
	for _, e := range entries {
		p := path.Join(dir, e.Name())
		switch {
		case e.Name() == ".git", e.IsDir() && s.files.IsGit(p):
		case e.IsDir():
			if !s.sightBelow(p, h, left) {
				return false
			}
		default:
			info, err := s.files.Lstat(p)
			if err != nil || info == nil {
				return false
			}
			fmt.Fprintf(h, "%q %v %d %d\n", p, info.Mode(), info.Size(), info.ModTime().UnixNano())
		}
	}
	return true
}
