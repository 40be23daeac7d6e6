package git

import (
	"context"
	"os"
	"path/filepath"
	"strings"

	"git-checkpoint/internal/format/name"
	"git-checkpoint/internal/sys/gather"
)

// operations lists the files and directories in a worktree's git directory by which git remembers
// an operation in progress. The first one that exists decides, so the order matters: rebase-apply
// is also there during an am, and a rebase that stops at a conflict may leave CHERRY_PICK_HEAD.
var operations = [...]struct{ file, operation string }{
	{"rebase-merge", "rebase"}, {"rebase-apply/applying", "am"}, {"rebase-apply", "rebase"},
	{"MERGE_HEAD", "merge"}, {"CHERRY_PICK_HEAD", "cherry-pick"}, {"REVERT_HEAD", "revert"},
	{"sequencer", "cherry-pick"}, {"BISECT_LOG", "bisect"},
}

// Operation returns what is in progress in this worktree: "merge", "rebase", "am", "cherry-pick",
// "revert" or "bisect". It is empty when nothing is.
func (c *Checkout) Operation() string {
	for _, o := range operations {
		if _, err := os.Lstat(filepath.Join(c.at.GitDir, filepath.FromSlash(o.file))); err == nil {
			return o.operation
		}
	}
	return ""
}

// AnOperation returns the operation with its article: "a merge", "an am".
func AnOperation(operation string) string {
	if operation == "am" {
		return "an am"
	}
	return "a " + operation
}

// EndOf returns the command that ends an operation without finishing it.
func EndOf(operation string) string {
	if operation == "bisect" {
		return "git bisect reset"
	}
	return "git " + operation + " --abort"
}

// OperationHead returns the other commit of the operation in progress, the one that is merged,
// picked or reverted, or of a squash that is not committed yet. It is empty when there is none, and when several are merged.
func (c *Checkout) OperationHead() name.OID {
	for _, file := range []string{"MERGE_HEAD", "CHERRY_PICK_HEAD", "REVERT_HEAD", "rebase-merge/stopped-sha", "SQUASH_MSG"} {
		data, err := os.ReadFile(filepath.Join(c.at.GitDir, filepath.FromSlash(file)))
		if err != nil {
			continue
		}
		text := strings.TrimSpace(string(data))
		if _, squashed, is := strings.Cut(text, "\ncommit "); is { // the newest one comes first
			text, _, _ = strings.Cut(squashed, "\n")
		}
		if oid, err := name.ParseOID(text); err == nil {
			return oid
		}
	}
	return ""
}

// Worktree is one of the repository's worktrees.
type Worktree struct {
	Name   string   // "main", or the name of the linked worktree in <common dir>/worktrees
	GitDir string   // empty for a linked worktree whose directory could not be matched
	Branch name.Ref // full ref name; empty when HEAD is detached
	Head   name.OID // empty when the branch is unborn
}

// Linked is a linked worktree as git has written it down. It may not exist (any more).
type Linked struct {
	Admin string // git's administrative directory of it
	Dir   string
}

// Linked returns all linked worktrees of the repository.
func (l *Location) Linked() (found []Linked) {
	all := filepath.Join(l.CommonDir, "worktrees")
	entries, _ := os.ReadDir(all) //nolint:errcheck // without it there are none
	for _, e := range entries {
		w := Linked{Admin: filepath.Join(all, e.Name())}
		data, err := os.ReadFile(filepath.Join(w.Admin, "gitdir")) // the path of the worktree's .git file
		if err != nil {
			continue
		}
		if w.Dir = filepath.Dir(strings.TrimSpace(string(data))); !filepath.IsAbs(w.Dir) { // extensions.relativeWorktrees
			w.Dir = filepath.Join(w.Admin, w.Dir)
		}
		found = append(found, w)
	}
	return found
}

// Worktrees lists the repository's worktrees, the main one first. Without linked worktrees the list
// is empty, and no process is started.
//
// git prints the paths of worktrees, but not their names. The file gitdir in each directory below
// <common dir>/worktrees links the two.
func (l *Location) Worktrees(ctx context.Context) ([]Worktree, error) {
	byPath := gather.Map(l.Linked(), func(w Linked) (string, string) { return w.Dir, filepath.Base(w.Admin) })
	if len(byPath) == 0 {
		return nil, nil
	}
	res, err := l.Run(ctx, Cmd{Args: []string{"worktree", "list", "--porcelain"}})
	if err != nil {
		return nil, err
	}
	var out []Worktree
	for i, block := range strings.Split(strings.TrimSpace(string(res.Stdout)), "\n\n") {
		w := Worktree{Name: "main", GitDir: l.CommonDir}
		for _, line := range strings.Split(block, "\n") {
			key, value, _ := strings.Cut(line, " ")
			switch key {
			case "worktree":
				if n, ok := byPath[value]; ok && i > 0 {
					w.Name, w.GitDir = n, filepath.Join(l.CommonDir, "worktrees", n)
				} else if i > 0 {
					w.Name, w.GitDir = filepath.Base(value), ""
				}
			case "HEAD":
				if oid := name.OID(value); !oid.IsZero() {
					w.Head = oid
				}
			case "branch":
				w.Branch = name.Ref(value)
			}
		}
		out = append(out, w)
	}
	return out, nil
}
