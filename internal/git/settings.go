package git

import (
	"io/fs"
	"strings"
)

// Settings is what the configuration says of the files that git, or this program, keeps in a repository.
type Settings struct{ at *Location }

// Syncs reports whether git is configured to fsync loose objects.
func (s *Settings) Syncs() bool { return syncs(s.at.Config, "loose-object") }

// SharedBits returns the permission bits that core.sharedRepository gives group and others on top of
// what the umask leaves, those to run or enter where they may read included.
func (s *Settings) SharedBits() fs.FileMode {
	bits := sharedMode(s.at.Config).bits
	return (bits | bits&0o444>>2) & 0o077
}

// PrivateMode returns the permission bits of a file of this program's that tells about the worktree: only its
// owner may read it, and those for whom core.sharedRepository opens the repository.
func (s *Settings) PrivateMode() fs.FileMode { return 0o600 | s.SharedBits()&0o066 }

// TrackedOnly reports whether untracked files are none of the repository's business: its git
// directory is inside its worktree under a name of its own, as in one that keeps the dotfiles of a
// home directory, and status.showUntrackedFiles is "no".
func (s *Settings) TrackedOnly(own *OwnDirs) bool {
	if own == nil || len(own.Inside) == 0 {
		return false
	}
	v, _ := s.at.Config.Get("status.showUntrackedFiles")
	shows, err := s.at.Config.Bool("status.showUntrackedFiles", true)
	return strings.EqualFold(v, "no") || err == nil && !shows
}

// KeepsAll reports whether nothing may ever be deleted from the object store
// (extensions.preciousObjects).
func (s *Settings) KeepsAll() (bool, error) {
	return s.at.Config.Bool("extensions.preciousObjects", false)
}
