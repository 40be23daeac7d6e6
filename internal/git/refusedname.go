package git

import "strings"

// RefusedName reports whether git refuses a path: if a component is empty, "." or "..", or is
// ".git" on some file system, whatever its case or spelling there. `git add` refuses such a path,
// and `git fsck` reports a tree that has one, whatever core.protectNTFS and core.protectHFS say.
// A rollback must not write such a path either: it could replace a hook or the configuration. A
// symbolic link named .gitmodules is refused as well.
func RefusedName(p string, symlink bool) bool {
	for part := range strings.SplitSeq(p, "/") {
		// isDotGit takes time. What it finds begins with ".", with "git~1" or with a code point that HFS+ ignores.
		if part == "" || part == "." || part == ".." || strings.IndexByte(".gG\xe2\xef", part[0]) >= 0 && isDotGit(part) {
			return true
		}
	}
	last := p[strings.LastIndexByte(p, '/')+1:]
	return symlink && strings.EqualFold(trimNTFS(stripHFS(last)), ".gitmodules")
}

// isDotGit reports whether a file system may take a name for ".git".
func isDotGit(part string) bool {
	if strings.EqualFold(stripHFS(part), ".git") {
		return true
	}
	// NTFS: an alternate stream, a backslash as separator, trailing dots and
	// spaces, and the short name git~1.
	first := part
	if i := strings.IndexAny(first, `:\`); i >= 0 {
		first = first[:i]
	}
	first = trimNTFS(first)
	return strings.EqualFold(first, ".git") || strings.EqualFold(first, "git~1")
}

// trimNTFS removes trailing dots and spaces, which Windows ignores.
func trimNTFS(s string) string { return strings.TrimRight(s, ". ") }

// stripHFS drops the code points that HFS+ ignores in names.
func stripHFS(s string) string {
	return strings.Map(func(r rune) rune {
		switch {
		case r >= 0x200c && r <= 0x200f, r >= 0x202a && r <= 0x202e, r >= 0x206a && r <= 0x206f, r == 0xfeff:
			return -1
		}
		return r
	}, s)
}
