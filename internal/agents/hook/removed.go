package hook

import (
	"context"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"

	"git-checkpoint/internal/core/author"
	"git-checkpoint/internal/core/checkpoint"
	"git-checkpoint/internal/format/journal"
	"git-checkpoint/internal/format/name"
	"git-checkpoint/internal/storage/worktree"
	"git-checkpoint/internal/sys/gather"
	"git-checkpoint/internal/verb/connect"
	"git-checkpoint/internal/verb/create"
)

// removed says what the turn that has ended removed of the work of others, and how to get it back; "" if nothing is known
// to be gone. It is also kept for status.
func (h *handler) removed(ctx context.Context) string {
	st, err := checkpoint.State(ctx, h.s.Store, h.c.Session)
	if err != nil {
		return ""
	}
	var paths, who []string
	at, by := map[string][]string{}, h.work.Workers[h.worker()]
	tips := sync.OnceValue(func() []name.OID { return h.otherTips(ctx) })
	by.Others = slices.DeleteFunc(by.Others, func(f author.Foreign) bool {
		if e := st.Entry(f.Lost); e != nil && !e.Dead && !h.isElsewhere(ctx, f, e, tips) {
			label := checkpoint.NameTo(st, e)
			if len(h.work.Sessions) > 1 { // the number may be another session's, too
				label = string(h.c.Session) + ":" + label
			}
			paths, at[label] = append(paths, f.Path), append(at[label], h.inPlaceOf(f.Path))
			if f.Shared {
				who = by.Beside
			}
		}
		return f.Lost != ""
	})
	if len(paths) == 0 {
		return ""
	}
	sorted := func(paths []string) []string { return slices.Compact(slices.Sorted(slices.Values(paths))) }
	back := gather.List(slices.Sorted(maps.Keys(at)), func(label string) string {
		return "git checkpoint restore " + label + " -- " + name.Quoted(sorted(at[label])...)
	})
	words := strings.Join(append([]string{"This prompt"}, who...), " or ") + " removed work that was not its own: " + strings.Join(gather.List(sorted(paths), oneLine), ", ") + ". Get it back: " + strings.Join(back, "; ")
	var unread string
	checkpoint.Recall(h.s.Repo, connect.RemovedFile, &unread)                                        //nolint:errcheck // it was said on the agent's screen
	checkpoint.Remember(h.s.Store, connect.RemovedFile, strings.TrimPrefix(unread+"\n"+words, "\n")) //nolint:errcheck // it is said here, too
	return words
}

// inPlaceOf returns what has to be named to bring a path back: what stands in the place of a directory above it, or the path.
func (h *handler) inPlaceOf(at string) string {
	for dir := range worktree.ParentsOf(at) {
		if info, err := os.Lstat(filepath.Join(h.s.Repo.WorkTree, filepath.FromSlash(dir))); err == nil && !info.IsDir() {
			at = dir
		}
	}
	return at
}

// isElsewhere reports whether what is gone since a checkpoint is on disk, in a branch that is not checked out here, or, of what was
// staged, in the file as it was then, whose removal is said by itself, or is now.
func (h *handler) isElsewhere(ctx context.Context, f author.Foreign, e *journal.Entry, tips func() []name.OID) bool {
	then, err := h.s.Repo.Commits.TreeOf(ctx, e.Event().Commit)
	if err != nil {
		return false
	}
	in := author.ContentIn(ctx, h.s.Repo.Trees)
	was, _ := in(then, f.Path)
	file := filepath.Join(h.s.Repo.WorkTree, filepath.FromSlash(f.Path))
	if info, err := os.Lstat(file); err == nil && info.Mode().IsRegular() && !f.Staged && h.content(file, info) == was {
		return true // it is only ignored now
	}
	if f.Staged {
		now, _ := in(create.CurrentTree(ctx, h.s.Store, h.c.Session), f.Path)
		if !f.GoneFrom(was, h.text(ctx)) || !f.GoneFrom(now, h.text(ctx)) {
			return true
		}
		was = f.To
	}
	return slices.ContainsFunc(tips(), func(tip name.OID) bool {
		tree, err := h.s.Repo.Commits.TreeOf(ctx, tip)
		content, known := in(tree, f.Path)
		return err == nil && known && content != "" && content == was
	})
}

// otherTips returns the tips of the newest branches that are not at HEAD.
func (h *handler) otherTips(ctx context.Context) []name.OID {
	head, _ := h.s.Repo.Output(ctx, "rev-parse", "HEAD")                                                                                           //nolint:errcheck // then it is in no branch
	tips, _ := h.s.Repo.Output(ctx, "for-each-ref", "--sort=-committerdate", "--count=50", "--format=%(objectname)", "refs/heads", "refs/remotes") //nolint:errcheck // likewise
	others := slices.DeleteFunc(strings.Fields(tips), func(tip string) bool { return tip == strings.TrimSpace(head) })
	return name.All[name.OID](others)
}

// text returns what is in a content, as author.Look has it.
func (h *handler) text(ctx context.Context) func(content string) ([]byte, bool) {
	return func(content string) ([]byte, bool) {
		fields := strings.Fields(content)
		if len(fields) == 0 {
			return nil, true
		}
		object, err := h.s.Repo.Objects.Batch().Typed(ctx, fields[len(fields)-1], "blob")
		return append([]byte{}, object.Data...), err == nil && len(object.Data) <= largestEdit
	}
}
