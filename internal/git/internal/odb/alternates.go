package odb

import (
	"os"
	"path/filepath"
	"slices"
	"strings"
)

// Directories returns the object directories to search: own first, then all those from which the
// repository borrows objects, directly or not. listed is $GIT_ALTERNATE_OBJECT_DIRECTORIES, in which a
// relative path is relative to base. Rare notations, such as quoted paths, are skipped.
// Their objects are then not found in this process, and git finds them.
func Directories(own, listed, base string) []string {
	dirs := []string{own}
	for _, dir := range filepath.SplitList(listed) {
		dirs = withAlternate(dirs, dir, base, 0)
	}
	return appendAlternates(dirs, own, 0)
}

// appendAlternates adds the directories that <of>/info/alternates lists. A relative path is
// relative to the object directory that contains the list.
func appendAlternates(dirs []string, of string, depth int) []string {
	const maxAlternates = 5 // how many levels of alternates git follows: repositories that borrow objects from others, which borrow themselves
	data, err := os.ReadFile(filepath.Join(of, "info", "alternates"))
	if err != nil || depth > maxAlternates {
		return dirs
	}
	for line := range strings.Lines(string(data)) {
		dirs = withAlternate(dirs, strings.TrimSuffix(line, "\n"), of, depth)
	}
	return dirs
}

// withAlternate adds a directory and its own alternates, unless it is in the list already.
func withAlternate(dirs []string, dir, base string, depth int) []string {
	if dir == "" || dir[0] == '#' || dir[0] == '"' {
		return dirs
	}
	if !filepath.IsAbs(dir) {
		dir = filepath.Join(base, dir)
	}
	if slices.Contains(dirs, dir) {
		return dirs
	}
	return appendAlternates(append(dirs, dir), dir, depth+1)
}
