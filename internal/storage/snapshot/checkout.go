package snapshot

import (
	"fmt"
	"path/filepath"
	"slices"
	"strings"

	"git-checkpoint/internal/git"
	"git-checkpoint/internal/storage/worktree"
)

// Worktree captures and restores one worktree. It is the entry point of the package. Its parts have a
// job each, and share what they are built on: the private index (indexes), what git makes of content
// (converter) and the rules of what is ignored (ignoreRules).
// Close releases the handles of the worktree.
type Worktree struct {
	*checkout
	*capturer  // captures
	*planner   // compares a capture with a target, and says what a restore would do and what is in its way
	*preserver // keeps the exact bytes of what a restore replaces
	*restorer  // stages and carries out a restore, and finds one that was cut off
}

// checkout is a worktree as captures and restores both need it: its files, what the disk and the settings say of
// them, and the directory of our own.
type checkout struct {
	repo *git.Repo
	// dir holds this program's own files in the git directory: caches, locks and the intent of a
	// restore. All of them can be deleted without losing a checkpoint.
	dir string
	// scratch holds the temporary files of a capture. It is dir, unless the repository cannot be
	// written to (git.Objects.Borrowed).
	scratch string
	disk
	files       *worktree.Files
	trackedOnly bool // no untracked file is captured unless it is named; see git.Settings.TrackedOnly

	// Leave lists files and directories that no capture takes: what this program itself writes
	// into the worktree for other tools to read.
	Leave []string

	// LargestCopy is the size in bytes up to which content of git-lfs is copied where no hard link
	// can be made.
	LargestCopy int64

	Trace func(step string) // called after each step of a restore, for tests that kill the process there; may be nil
}

// New opens the worktree of a repository for captures and restores. The caller must call Close.
func New(repo *git.Repo) (*Worktree, error) {
	base, err := openCheckout(repo)
	if err != nil {
		return nil, err
	}
	index := indexes{base}
	convert := converter{index}
	rules := ignoreRules{index}
	carrier := indexCarrier{index}
	hash := hasher{convert}
	return &Worktree{
		checkout:  base,
		capturer:  &capturer{convert, hash, chooser{index, hash, rules}, newScanner(index)},
		planner:   &planner{convert, rules, carrier},
		preserver: &preserver{convert},
		restorer:  &restorer{convert, carrier, indexLock{base}, indexWriter{index}},
	}, nil
}

func openCheckout(repo *git.Repo) (*checkout, error) {
	dir, err := repo.Dir()
	scratch := dir
	if borrowed := repo.Objects.Borrowed(); borrowed != "" {
		dir, scratch, err = filepath.Join(repo.GitDir, "checkpoint"), borrowed, nil
	}
	if err != nil {
		return nil, err
	}
	own := repo.OwnDirs()
	if own != nil && slices.Contains(own.Inside, ".") {
		return nil, fmt.Errorf("%w: the top of the worktree is the git directory itself", git.ErrUnusable)
	}
	w, err := worktree.Open(repo.WorkTree, own)
	if err != nil {
		return nil, err
	}
	s := &checkout{repo: repo, dir: dir, scratch: scratch, files: w, trackedOnly: repo.Settings.TrackedOnly(own)}
	if s.disk, err = s.probe(); err != nil {
		w.Close()
		return nil, err
	}
	return s, nil
}

// core returns a core.* setting, with the correction that probe found.
func (s *checkout) core(key string, byDefault bool) (bool, error) {
	for _, kv := range s.config {
		if corrected, value, _ := strings.Cut(kv, "="); corrected == key {
			return value == "true", nil
		}
	}
	return s.repo.Config.Bool(key, byDefault)
}

// Close releases the handles of the worktree.
func (s *checkout) Close() { s.files.Close() }
