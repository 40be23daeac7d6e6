// Package snapshot turns the worktree into a tree (capture) and a tree into the
// worktree (plan, stage, apply). It owns the rules by which paths are left out and
// by which a restore refuses; it writes no ref and makes no commit. Capture leaves
// HEAD, index, configuration and every file as they were.
package snapshot

import (
	"io/fs"
	"time"

	"git-checkpoint/internal/git"
	"git-checkpoint/internal/name"
)

// Skip is a path that a rule left out of a capture.
type Skip struct {
	Path   string // a directory ends in "/"
	Reason string
	Size   int64 // bytes; 0 when not known
}

// The reasons a path is left out for, as they stand in the record.
const (
	ReasonLarge      = "larger than checkpoint.maxFileSize"
	ReasonUnreadable = "unreadable"
	ReasonNested     = "nested repository"
	ReasonUnborn     = "nested repository without commits"
	ReasonFormat     = "nested repository with object ids of another kind"
	ReasonSubmodule  = "submodule with changes of its own"
	ReasonName       = "git refuses this name"
	ReasonSpecial    = "neither file, directory nor symbolic link"
	ReasonFilter     = "its required filter fails"
	ReasonExcluded   = "excluded"
	ReasonMirror     = "a mirror of checkpoints"
)

// Stage is one unmerged index entry.
type Stage struct {
	Stage int
	Path  string
	Entry git.Entry
}

// IndexState is what was staged, beside its tree.
type IndexState struct {
	Tree            name.OID // stage 0 without intent-to-add entries
	Unmerged        []Stage
	IntentToAdd     []string
	AssumeUnchanged []string
	SkipWorktree    []string
	SparsePresent   []string // skip-worktree, yet a file is there
}

// Capture is the worktree at one moment.
type Capture struct {
	Tree    name.OID
	Index   IndexState
	Skipped []Skip
	Raw     map[string]name.OID // path → blob of the exact bytes, where git would give back others
	AtRisk  []Skip              // captured, but not sure to come back exactly
	New     []name.OID          // objects that this capture may have written
	Touched map[string]bool     // paths that differ from the index, deleted ones too

	Ignored []string // captured although ignored

	mark   string                // of the worktree, when this was taken
	index  fs.FileInfo           // the index that this is about; nil without one
	hashed map[string]hashedFile // files that were read, up to some number
	look   func(string, name.OID, []byte)

	Began time.Time // by the clock of the file system, as far as that is this one's

	// Modes are permission bits that no umask gives, as 0600. ModesKnown says that
	// all files were looked at.
	Modes      map[string]fs.FileMode
	ModesKnown bool
}

// unusual reports whether permission bits say more than git's one bit does.
func unusual(perm fs.FileMode) bool {
	switch perm {
	case 0o644, 0o664, 0o666, 0o755, 0o775, 0o777:
		return false
	}
	return true
}

// Rules say what a capture takes. Paths are relative to the top of the worktree.
type Rules struct {
	MaxFileSize    int64    // bytes
	MaxNewSize     int64    // of a first capture; 0: no limit
	MaxNewFiles    int      // of a first capture; 0: no limit
	IncludeIgnored []string // pathspecs, relative to the working directory
	Exclude        []string // pathspecs, relative to the working directory
	Force          []string // exact paths of ignored files to take

	Known func() name.OID // tree of the checkpoint before: what it has is not new; nil: none
	Ready func() error    // waits until objects may be written; nil: they may

	// Look is told of each file that is hashed, of several at the same time; content is nil
	// where git read it. The content must not be changed.
	Look func(path string, oid name.OID, content []byte)
}
