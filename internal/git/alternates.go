package git

import (
	"os"
	"path/filepath"
	"strings"

	"git-checkpoint/internal/gitconfig"
)

// maxAlternates is how deep git follows repositories that borrow from others.
const maxAlternates = 5

// objectDirs are the object directories in which something may be: the repository's own
// and those that it borrows from. What is written in a way that is rare is left out; git
// finds what is there.
func (r *Repo) objectDirs(own string) []string {
	dirs := []string{own}
	for _, dir := range filepath.SplitList(gitconfig.Getenv(r.env, "GIT_ALTERNATE_OBJECT_DIRECTORIES")) {
		dirs = withAlternate(dirs, dir, r.WorkTree, 0)
	}
	return appendAlternates(dirs, own, 0)
}

func appendAlternates(dirs []string, of string, depth int) []string {
	data, err := os.ReadFile(filepath.Join(of, "info", "alternates"))
	if err != nil || depth > maxAlternates {
		return dirs
	}
	for line := range strings.Lines(string(data)) {
		dirs = withAlternate(dirs, strings.TrimSuffix(line, "\n"), of, depth)
	}
	return dirs
}

func withAlternate(dirs []string, dir, base string, depth int) []string {
	if dir == "" || dir[0] == '#' || dir[0] == '"' {
		return dirs
	}
	if !filepath.IsAbs(dir) {
		dir = filepath.Join(base, dir)
	}
	for _, known := range dirs {
		if known == dir {
			return dirs
		}
	}
	return appendAlternates(append(dirs, dir), dir, depth+1)
}
