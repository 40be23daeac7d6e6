package why

import (
	"cmp"
	"context"
	"slices"
	"time"

	"git-checkpoint/internal/core/checkpoint"
	"git-checkpoint/internal/core/threeway"
	"git-checkpoint/internal/format/name"
	"git-checkpoint/internal/git"
)

// arrival is a commit with which lines came to the branch, or the worktree, and what was found out about it.
type arrival struct {
	git.Commit // the OID is empty for the worktree
	people     []string
	named      map[name.ID]bool // the checkpoints that its message names

	changes   []git.Change
	compared  bool
	renames   map[string]string // by path: that of the parent
	standings memo[name.Session, []standing]
	partings  memo[name.OID, parting]  // by HEAD of a checkpoint
	halves    memo[name.Session, bool] // see half
	persons   memo[string, bool]       // see of
}

// here reports whether it is the worktree.
func (c *arrival) here() bool { return c.OID == "" }

// parent returns the first parent, or "".
func (c *arrival) parent() name.OID {
	if len(c.Parents) == 0 {
		return ""
	}
	return c.Parents[0]
}

// by reports whether the author of a checkpoint is one of the commit's. The worktree is everybody's.
func (a *arrivals) by(ctx context.Context, c *arrival, p *point) bool {
	return c.here() || c.persons.of(p.Person, func() bool {
		return slices.ContainsFunc(c.people, func(author string) bool { return a.commits.same(ctx, author, p.Person) })
	})
}

// made is by for a standing of the commit: a commit that a tool of the session's agent made is the session's, and so is
// one that its author committed in the name of a program.
func (a *arrivals) made(ctx context.Context, c *arrival, from standing, p *point) bool {
	return from.own || a.by(ctx, c, p) || isProgram(c.Author) && a.commits.same(ctx, personOf(c.Committer), p.Person)
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

// arrivals knows what came with commits.
type arrivals struct {
	s       *checkpoint.Service
	files   *files
	commits *commits

	known  memo[name.OID, *arrival]
	blames memo[fileOf, []Place] // by commit and path
	moved  memo[string, []reset]
}

// of returns what came with a commit, or "" for the worktree. It is nil if the commit cannot be read.
func (a *arrivals) of(ctx context.Context, oid name.OID) *arrival {
	return a.known.of(oid, func() *arrival { return a.read(ctx, oid) })
}

// read is of for a commit that is asked about once. It is not kept.
func (a *arrivals) read(ctx context.Context, oid name.OID) *arrival {
	if oid == "" {
		c := &arrival{}
		if head := a.s.Repo.Head.OID; head != "" {
			c.Parents = []name.OID{head}
		}
		return c
	}
	c := a.commits.read(ctx, oid)
	if c == nil {
		return nil
	}
	return &arrival{Commit: *c, people: peopleOf(*c), named: trailersOf(c.Message)}
}

// file returns a file as it came with a commit, or as it is in the worktree.
func (a *arrivals) file(ctx context.Context, c *arrival, path string) git.Entry {
	if c.here() {
		return a.files.here(ctx, path, nil)
	}
	return a.files.at(ctx, c.Tree, path)
}

// line returns a line that came with a commit, as git blame says.
func (a *arrivals) line(ctx context.Context, c *arrival, b Place) newLine {
	return newLine{c, b.Path, a.file(ctx, c, b.Path), b.From - 1}
}

// changes returns what a commit changed since its first parent; nil for the worktree.
func (a *arrivals) changes(ctx context.Context, c *arrival) []git.Change {
	if !c.compared && !c.here() {
		c.compared = true
		var before name.OID
		if parent := a.commits.read(ctx, c.parent()); parent != nil { // in a shallow clone it may not be here
			before = parent.Tree
		}
		c.changes, _ = a.s.Repo.Trees.Diff(ctx, before, c.Tree) //nolint:errcheck // then nothing is known of it
		a.renamed(ctx, c)
		complete(ctx, a.s, filesOf(c.changes))
	}
	return c.changes
}

// part returns where the history of a checkpoint with this HEAD and that of a commit parted.
func (a *arrivals) part(ctx context.Context, head name.OID, c *arrival) parting {
	return c.partings.of(head, func() parting { return a.commits.part(ctx, head, c.parent()) })
}

// merged reports whether a merge has a file as one of its other parents has it.
func (a *arrivals) merged(ctx context.Context, c *arrival, change git.Change) bool {
	return slices.ContainsFunc(c.Parents[min(1, len(c.Parents)):], func(p name.OID) bool {
		x := a.commits.read(ctx, p)
		return x != nil && a.files.at(ctx, x.Tree, change.Path).OID == change.New.OID
	})
}

// mergedLine reports whether a merge has line i of a file from one of its other parents.
func (a *arrivals) mergedLine(ctx context.Context, c *arrival, change git.Change, i int) bool {
	return slices.ContainsFunc(c.Parents[min(1, len(c.Parents)):], func(p name.OID) bool {
		x := a.commits.read(ctx, p)
		if x == nil {
			return false
		}
		was := a.files.at(ctx, x.Tree, change.Path)
		return isFile(was) && a.files.matched(ctx, was, change.New)[i] >= 0
	})
}

// renamed lets a changed file start from the one that it was renamed from, as git log -M does, and leaves out that one.
func (a *arrivals) renamed(ctx context.Context, c *arrival) {
	gone, made := map[string]git.Entry{}, false
	for _, ch := range c.changes {
		if ch.New.Mode == 0 {
			gone[ch.Path] = ch.Old
		}
		made = made || ch.Old.Mode == 0
	}
	if len(gone) == 0 || !made || c.parent() == "" {
		return
	}
	found, err := threeway.Renames(ctx, a.s.Repo, a.commits.read(ctx, c.parent()).Tree, c.Tree)
	if err != nil {
		return
	}
	c.renames = map[string]string{}
	for was, is := range found {
		c.renames[is] = was
	}
	c.changes = slices.DeleteFunc(c.changes, func(ch git.Change) bool { return found[ch.Path] != "" })
	for i, ch := range c.changes {
		if from, is := c.renames[ch.Path]; is {
			c.changes[i].Old = gone[from]
		}
	}
}

// bringing returns the commits of HEAD's history since a time in which a file of these names is one of some
// blobs, and was none of them before, oldest first. lines has the number of the line in each.
func (a *arrivals) bringing(ctx context.Context, lines map[name.OID]int, names []string, since int64) (out []Place) {
	find := func(c *git.Commit) (string, int) {
		for _, path := range names {
			if c == nil {
				break
			}
			if line := lines[a.files.at(ctx, c.Tree, path).OID]; line > 0 {
				return path, line
			}
		}
		return "", 0
	}
	for oid := range a.commits.ancestors(ctx, a.s.Repo.Head.OID) {
		c := a.commits.read(ctx, oid)
		if c == nil || c.Committer.When.Unix() < since {
			continue
		}
		path, line := find(c)
		if line == 0 || slices.ContainsFunc(c.Parents, func(p name.OID) bool { _, had := find(a.commits.read(ctx, p)); return had > 0 }) {
			continue
		}
		out = append(out, Place{Commit: oid, Path: path, From: line})
	}
	when := func(l Place) time.Time { return a.commits.read(ctx, l.Commit).Committer.When }
	slices.SortFunc(out, func(x, y Place) int { return cmp.Or(when(x).Compare(when(y)), cmp.Compare(x.Commit, y.Commit)) })
	return out
}
