package why

import (
	"cmp"
	"context"
	"maps"
	"slices"
	"time"

	"git-checkpoint/internal/format/name"
	"git-checkpoint/internal/git"
	"git-checkpoint/internal/sys/gather"
)

// arrival is a commit with which lines came to the branch, or the worktree, and what was found out about it.
type arrival struct {
	git.Commit // the OID is empty for the worktree
	people     []string
	named      map[name.ID]bool // the checkpoints that its message names
	at         *point           // the checkpoint that it is; nil: it is none

	changes     []git.Change
	compared    bool
	renames     map[string]git.Change // by path: the removal of the file that it was
	candidates  memo[name.Session, []candidate]
	divergences memo[name.OID, divergence] // by HEAD of a checkpoint
	shares      *shares                    // see sharesOf
	persons     memo[string, bool]         // see of
}

// isWorktree reports whether it is the worktree, or a checkpoint.
func (c *arrival) isWorktree() bool { return c.OID == "" }

// arrivalAt returns a checkpoint as a commit with which lines came.
func arrivalAt(p *point) *arrival {
	c := &arrival{Commit: git.Commit{Tree: p.Tree}, at: p}
	if p.Head != "" {
		c.Parents = []name.OID{p.Head}
	}
	return c
}

// parent returns the first parent, or "".
func (c *arrival) parent() name.OID {
	if len(c.Parents) == 0 {
		return ""
	}
	return c.Parents[0]
}

// sharesAuthor reports whether the author of a checkpoint is one of the commit's. The worktree is everybody's.
func (h *commits) sharesAuthor(ctx context.Context, c *arrival, p *point) bool {
	return c.isWorktree() || c.persons.get(p.Person, func() bool {
		return slices.ContainsFunc(c.people, func(author string) bool { return h.same(ctx, author, p.Person) })
	})
}

// made is by for a candidate of the commit: a commit that a tool of the session's agent made is the session's, and so is
// one that its author committed in the name of a program.
func (h *commits) made(ctx context.Context, c *arrival, from candidate, p *point) bool {
	return from.own || h.sharesAuthor(ctx, c, p) || isProgram(c.Author) && h.same(ctx, personOf(c.Committer), p.Person)
}

// names reports whether a commit names one of these checkpoints, as land does.
func (c *arrival) names(all []point) bool {
	for i := 0; len(c.named) > 0 && i < len(all); i++ {
		if c.named[all[i].ID] {
			return true
		}
	}
	return false
}

// newLine is a line that came with a commit, in the file as it is there.
type newLine struct {
	by   *arrival
	path string
	file git.Entry
	line int // from 0
}

// arrivalOf returns what came with a commit, or "" for the worktree. It is nil if the commit cannot be read.
func (h *commits) arrivalOf(ctx context.Context, oid name.OID) *arrival {
	return h.came.get(oid, func() *arrival {
		if oid == "" {
			c := arrivalAt(&point{Head: h.s.Repo.Head.OID})
			c.at = nil
			return c
		}
		if c := h.read(ctx, oid); c != nil {
			return &arrival{Commit: *c, people: peopleOf(*c), named: trailersOf(c.Message)}
		}
		return nil
	})
}

// file returns a file as it came with a commit, or as it is in the worktree.
func (h *commits) file(ctx context.Context, c *arrival, path string) git.Entry {
	if c.isWorktree() && c.at == nil {
		return h.files.worktreeEntry(ctx, path, nil)
	}
	return h.files.entryAt(ctx, c.Tree, path)
}

// line returns a line that came with a commit, as git blame says.
func (h *commits) line(ctx context.Context, c *arrival, b Place) newLine {
	return newLine{c, b.Path, h.file(ctx, c, b.Path), b.From - 1}
}

// changes returns what a commit changed since its first parent; nil for the worktree.
func (h *commits) changes(ctx context.Context, c *arrival) []git.Change {
	if !c.compared && !c.isWorktree() {
		c.compared = true
		var before name.OID
		if parent := h.read(ctx, c.parent()); parent != nil { // in a shallow clone it may not be here
			before = parent.Tree
		}
		c.changes, _ = h.s.Repo.Trees.Diff(ctx, before, c.Tree) //nolint:errcheck // then nothing is known of it
		// A renamed file starts from the one that it was, which is left out.
		c.renames = renames(ctx, h.s.Repo, before, c.Tree, c.changes, "-M")
		was := gather.Set(slices.Collect(maps.Values(c.renames)), func(gone git.Change) string { return gone.Path })
		c.changes = slices.DeleteFunc(c.changes, func(ch git.Change) bool { return was[ch.Path] })
		for i, ch := range c.changes {
			c.changes[i].Old = cmp.Or(c.renames[ch.Path].Old, ch.Old)
		}
		complete(ctx, h.s, filesOf(c.changes))
	}
	return c.changes
}

// merged returns a changed file as it is in the other parents of a merge.
func (h *commits) merged(ctx context.Context, c *arrival, change git.Change) (theirs []git.Entry) {
	for _, p := range c.Parents[min(1, len(c.Parents)):] {
		if x := h.read(ctx, p); x != nil {
			theirs = append(theirs, h.files.entryAt(ctx, x.Tree, change.Path))
		}
	}
	return theirs
}

// bringing returns the commits of HEAD's history since a time in which a file of these names is one of some
// blobs, and was none of them before, oldest first. lines has the number of the line in each.
func (h *commits) bringing(ctx context.Context, lines map[name.OID]int, names []string, since int64) (out []Place) {
	find := func(c *git.Commit) (string, int) {
		for _, path := range names {
			if c == nil {
				break
			}
			if line := lines[h.files.entryAt(ctx, c.Tree, path).OID]; line > 0 {
				return path, line
			}
		}
		return "", 0
	}
	for oid := range h.ancestors(ctx, h.s.Repo.Head.OID) {
		c := h.read(ctx, oid)
		if c == nil || c.Committer.When.Unix() < since {
			continue
		}
		path, line := find(c)
		if line == 0 || slices.ContainsFunc(c.Parents, func(p name.OID) bool { _, had := find(h.read(ctx, p)); return had > 0 }) {
			continue
		}
		out = append(out, Place{Commit: oid, Path: path, From: line})
	}
	when := func(l Place) time.Time { return h.read(ctx, l.Commit).Committer.When }
	slices.SortFunc(out, func(x, y Place) int { return cmp.Or(when(x).Compare(when(y)), cmp.Compare(x.Commit, y.Commit)) })
	return out
}
