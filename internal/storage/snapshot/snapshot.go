// Package snapshot turns the worktree into a git tree (capture) and a git tree into the worktree
// (restore). It owns the rules that leave paths out of a capture and the checks that make a
// restore refuse. It writes objects, but no refs and no commits.
//
// Everything starts with New, which opens a Worktree. Worktree.Take returns a Capture: the tree of all
// files, what was staged, and a list of what was left out. Taking a capture changes no file, and
// neither HEAD nor the index nor the configuration. Package worktree reads and moves the files.
//
// A restore has four stages. Worktree.Plan compares a Capture with a Target and returns a Plan
// without writing anything. Worktree.Secure keeps the exact bytes of every file that the plan
// replaces, so that the restore can be undone. Worktree.Stage locks the index and writes the new
// content next to the worktree; it returns a Restore. Restore.Begin writes the intent file, Apply
// moves the files and the index into place, and Finish removes the intent. Back undoes Apply at any
// point, even in another process after a kill (Worktree.Unfinished).
//
// Start with capture.go and scan.go for captures, and with plan.go, stage.go and apply.go for
// restores.
package snapshot

import (
	"io/fs"
	"sync"
	"time"

	"git-checkpoint/internal/format/name"
	"git-checkpoint/internal/git"
	"git-checkpoint/internal/sys/gather"
)

// Skip is a path that a rule left out of a capture, or that a capture may not bring back exactly.
type Skip struct {
	Path   string // a directory ends in "/"
	Reason string
	Size   int64  // bytes; 0 when not known
	Sight  string // of a path in Capture.Skipped: Worktree.Sight
	Said   string // what its filter said when it failed, safe for a terminal
}

// The reasons for which a path is left out. They are part of the format: they are stored in the
// record of a checkpoint as they are written here, so none of them may change.
const (
	ReasonLarge      = "larger than checkpoint.maxFileSize"
	ReasonUnreadable = "unreadable"
	ReasonNested     = "nested repository"
	ReasonUnborn     = "nested repository without commits"
	ReasonFormat     = "nested repository with object ids of another kind"
	ReasonSubmodule  = "submodule with changes of its own"
	ReasonName       = "git refuses this name"
	ReasonLong       = "its name is too long for this disk"
	ReasonSpecial    = "neither file, directory nor symbolic link"
	ReasonFilter     = "its required filter fails"
	ReasonExcluded   = "excluded"
	ReasonMirror     = "a mirror of checkpoints"
	ReasonUnignored  = "ignored until now"
	ReasonUnread     = "not looked at: larger than checkpoint.hookFileSize"
	ReasonUnsteady   = "a database that a program was writing to"
	ReasonLost       = "what is staged of it is lost" // of a path in AtRisk
)

// IndexState describes what was staged: a tree, and everything about the index that a tree cannot
// express. Plain reports whether the tree says it all.
type IndexState struct {
	Tree            name.OID // entries at stage 0, without intent-to-add entries
	Unmerged        []git.Unmerged
	IntentToAdd     []string // entries made by `git add -N`
	AssumeUnchanged []string
	SkipWorktree    []string // entries that a sparse checkout keeps off the disk
	SparsePresent   []string // the entries of SkipWorktree whose file exists anyway
	// Sparse says that a sparse checkout was in force, so the entries of SkipWorktree without a
	// file are its doing, not the user's.
	Sparse bool
}

// unmerged returns the paths of Unmerged. A path may be there more than once.
func (x *IndexState) unmerged() []string {
	return gather.List(x.Unmerged, func(u git.Unmerged) string { return u.Path })
}

// Capture is the worktree at one moment. Worktree.Take makes it; Worktree.Plan and Worktree.Secure
// compare it with the files again later and refuse if they differ.
type Capture struct {
	Tree    name.OID
	Index   IndexState
	Skipped []Skip
	// Raw maps a path to a blob with the exact bytes of the file. It has the files that git would
	// not check out byte for byte, because of line endings, ident, encodings or filters.
	Raw map[string]name.OID
	// AtRisk lists files that were captured but may not come back exactly, for example because a
	// filter keeps their real content outside the repository.
	AtRisk []Skip
	// New lists the objects that this capture may have written. After the refs are written the
	// caller checks that they still exist: `git prune` may have deleted one that no ref reached
	// yet.
	New     []name.OID
	Touched map[string]bool // paths that differ from the index, including deleted files

	Ignored   []string // captured although the ignore rules match them
	forced    []string // Rules.Force
	Unignored []string // captured although the rules of the last checkpoint matched them
	Outside   *string  // the ignore rules outside of any tree, in git's syntax; nil: nobody asked
	Untracked []string // the captured files that the index does not have, ignored ones included

	TrackedOnly bool // says that untracked files were not looked for

	// Half says that a rollback of another process was cut off in this worktree, so these may be
	// files of both sides. Such a capture can be looked at, but not kept.
	Half bool

	mu    sync.Mutex  // protects the capture while files are considered and databases are read
	mark  string      // Worktree.mark at the time of the capture; see moving.go
	index fs.FileInfo // the index that was read; nil if there was none
	// hashed has the files whose content was read, by path, so that a restore can write their
	// index entries without reading them again. It is nil if there were more than maxHashed of
	// them.
	hashed map[string]hashedFile
	hashes *hashCache                     // what the previous capture read, and what this one did
	sides  sides                          // what belongs to databases
	look   func(string, name.OID, []byte) // rules.Look
	edits  map[string]git.Entry           // the entries of Tree that differ from Index.Tree; one with mode 0 is a deletion

	// Began is when the capture started. It comes from the clock of this machine but is compared
	// with times of files, so it is only reliable if the clock of the file system agrees with it.
	Began time.Time

	// Modes maps a path to permission bits that no usual umask produces, such as 0600. git keeps
	// only the executable bit, so these are stored in the record. A file that is missing from Modes
	// has usual bits.
	Modes map[string]fs.FileMode
}

// unusual reports whether permission bits say more than the executable bit that git keeps. The
// usual ones are what the umasks 022, 002 and 000 give to new files.
func unusual(perm fs.FileMode) bool {
	switch perm {
	case 0o644, 0o664, 0o666, 0o755, 0o775, 0o777:
		return false
	}
	return true
}

// OnlyTracked says what Capture.TrackedOnly means to the user.
const OnlyTracked = "only tracked files are looked at: the git directory is inside of the worktree, and status.showUntrackedFiles is off"

// Rules tell Take what to capture. Paths are relative to the top of the worktree.
type Rules struct {
	MaxFileSize    int64    // bytes; a larger file is skipped
	MaxUnread      int64    // bytes; a larger file that changed is not looked at, and counts as unchanged; 0: no limit
	MaxNewSize     int64    // bytes that no checkpoint has yet; more is a TooLargeError; 0: no limit
	MaxNewFiles    int      // files that no checkpoint has yet; more is a TooLargeError; 0: no limit
	IncludeIgnored []string // pathspecs of ignored files to capture, relative to the working directory
	Include        []string // the same, but a file that is too large is skipped
	Exclude        []string // pathspecs of files to skip, relative to the working directory
	Force          []string // exact paths to capture even if they are ignored or too large
	Always         []string // exact paths to capture whatever Exclude says

	// Before returns what the last checkpoint says of ignored files, or one before it if its tree is lost.
	// LeaveUnignored leaves out what was ignored then and is not any more. A nil Before means that there
	// is no such checkpoint.
	Before         func(lost map[name.OID]bool) Before
	LeaveUnignored bool

	// Known returns the tree of the previous checkpoint. The files in it do not count as new for
	// MaxNewSize and MaxNewFiles. A nil Known means that there is no such checkpoint.
	Known func() name.OID
	// Ready blocks until objects may be written. Take calls it after the scan, which writes no
	// blobs yet. A nil Ready means that they may be written at once.
	Ready func() error

	excluded map[string]bool // what Exclude names

	// Look is called for each file that is hashed, from several goroutines at the same time.
	// content is nil if git read the file instead of this process, or it did not have to be read.
	// Look must not change content.
	Look func(path string, oid name.OID, content []byte)
}
