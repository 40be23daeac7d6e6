package clearance

import (
	"context"
	"encoding/json"
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"git-checkpoint/internal/core/checkpoint"
	"git-checkpoint/internal/git"
	"git-checkpoint/internal/storage/store"
)

// Copy is a file outside of git's objects that holds words of the user.
type Copy struct {
	Path string // absolute
	Name string // absolute, or below the worktree; for people
	Kind *CopyKind
	Ours bool // says that this program wrote it, so that it may remove it
}

// Forked reports whether it is a conversation that this program made among the files of an agent.
func (c Copy) Forked() bool { return c.Kind == agentCopies }

// CopyKind says what a copy is.
type CopyKind struct {
	What  string
	Until string // how long it is kept; empty: it is not kept on purpose, or not ours

	at []string // patterns, below this program's directory in the git directory of a worktree
}

// The kinds. A file that another part of the program begins to write belongs here.
var (
	talkCopies  = &CopyKind{"a conversation that goes on from an earlier step", "30 days after it was used", []string{"chat/*.jsonl"}}
	memories    = &CopyKind{"what hooks remember", "30 days after the last event", []string{"agents/*.json", "agents/work", "agents/failing-*"}}
	notes       = &CopyKind{"a problem that is told once", "", []string{"agent.log*", "failed*.json", "chat.json", "broken-*", "autopush-refused", "autopack-failed"}}
	leftovers   = &CopyKind{"a process that was killed left it", "", []string{store.TempPrefix + "*"}}
	talks       = &CopyKind{"an agent's own file of a conversation", "", nil}
	agentCopies = &CopyKind{"a conversation that goes on from an earlier step, among the files of its agent", "as long as the agent keeps it", nil}
)

// Copies returns every file of the user's words that this program wrote beside git's objects, in all worktrees,
// and the transcripts that its hooks know.
func Copies(repo *git.Repo) (all []Copy, err error) {
	dirs, err := checkpoint.OwnDirs(repo)
	add := func(path string, kind *CopyKind, ours bool) {
		shown := path
		if rel, err := filepath.Rel(repo.WorkTree, path); err == nil && filepath.IsLocal(rel) {
			shown = filepath.ToSlash(rel)
		}
		all = append(all, Copy{path, shown, kind, ours})
	}
	seen := map[string]bool{}
	for _, dir := range dirs {
		for _, kind := range []*CopyKind{talkCopies, memories, notes, leftovers} {
			for _, file := range filesBelow(dir.Path, kind.at...) {
				add(file, kind, true)
			}
		}
		for _, m := range remembered(dir.Path) {
			if m.Talk != "" && !seen[m.Talk] && filepath.Dir(m.Talk) != filepath.Join(dir.Path, "chat") {
				seen[m.Talk] = true
				kind := talks
				if m.Origin != "" {
					kind = agentCopies
				}
				if info, err := os.Lstat(m.Talk); err == nil && info.Mode().IsRegular() {
					add(m.Talk, kind, false)
				}
			}
		}
	}
	return all, err
}

// filesBelow returns the regular files in a directory of this program that match patterns, or are in a directory that does.
func filesBelow(dir string, patterns ...string) (files []string) {
	for _, pattern := range patterns {
		found, _ := fs.Glob(os.DirFS(dir), pattern) //nolint:errcheck // the pattern is right
		for _, top := range found {
			filepath.WalkDir(filepath.Join(dir, filepath.FromSlash(top)), func(path string, e fs.DirEntry, err error) error { //nolint:errcheck // the function returns none
				if err == nil && e.Type().IsRegular() {
					files = append(files, path)
				}
				return nil //nolint:nilerr // what cannot be read is skipped
			})
		}
	}
	return files
}

// memory is what this package needs of what hooks remember of a conversation.
type memory struct {
	ID, Talk, Origin string
	Last             time.Time
}

func remembered(dir string) (all []memory) {
	for _, file := range filesBelow(dir, memories.at[0]) {
		var m memory
		if data, err := os.ReadFile(file); err == nil && json.Unmarshal(data, &m) == nil {
			all = append(all, m)
		}
	}
	return all
}

// SweepCopies removes the copies of conversations that were not written, and that no hook saw, for unusedCopy.
func SweepCopies(s *store.Store) error {
	const unusedCopy = 30 * 24 * time.Hour // how long a copy of a conversation is kept after it was written, or a hook saw it
	dirs, err := checkpoint.OwnDirs(s.Repo)
	for _, dir := range dirs {
		for _, file := range filesBelow(dir.Path, talkCopies.at[0]) {
			info, statErr := os.Lstat(file)
			unused := statErr == nil && s.Now().Sub(info.ModTime()) > unusedCopy
			if unused && !slices.ContainsFunc(remembered(dir.Path), func(m memory) bool {
				return m.ID == strings.TrimSuffix(filepath.Base(file), ".jsonl") && s.Now().Sub(m.Last) <= unusedCopy
			}) {
				err = errors.Join(err, os.Remove(file))
			}
		}
	}
	return err
}

// ScanCopies looks for secrets in the copies. The paths in the report are their names.
func (sc *Scanner) ScanCopies(ctx context.Context, copies []Copy) (*Report, error) {
	all := &Report{}
	for _, c := range copies {
		f, err := os.Open(c.Path)
		if err != nil {
			all.Gaps = append(all.Gaps, Gap{Path: c.Name, Why: err.Error()})
			continue
		}
		found, err := sc.File(ctx, c.Name, f)
		if err = errors.Join(err, f.Close()); err != nil {
			return all, err
		}
		all.Found, all.Gaps, all.Looked = append(all.Found, found.Found...), append(all.Gaps, found.Gaps...), all.Looked+found.Looked
	}
	return all, nil
}
