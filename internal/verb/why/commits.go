package why

import (
	"context"
	"slices"

	"git-checkpoint/internal/format/name"
	"git-checkpoint/internal/git"
	"git-checkpoint/internal/storage/store"
)

// commits reads git's history, each commit once, and knows what came with a commit (arrivals.go).
type commits struct {
	s      *store.Store
	files  *files
	oldest int64 // a day before the first checkpoint, in seconds since 1970

	known   memo[name.OID, *git.Commit]
	came    memo[name.OID, *arrival]
	people  memo[string, string] // see mapped
	leading memo[name.OID, map[name.OID]bool]
	blames  memo[fileOf, []Place] // by commit and path
	moved   memo[string, []reset]
	main    *trunk
}

// read reads a commit. The result is nil if it cannot be read, or there is none.
func (h *commits) read(ctx context.Context, oid name.OID) *git.Commit {
	if oid == "" {
		return nil
	}
	return h.known.get(oid, func() *git.Commit {
		c, err := h.s.Repo.Commits.Read(ctx, string(oid))
		if err != nil {
			return nil
		}
		return &c
	})
}

// isEarly reports whether a commit is from long before the first checkpoint.
func (h *commits) isEarly(c *git.Commit) bool { return c.Committer.When.Unix() < h.oldest }

// ancestors returns the commits that lead to one, without those from long before the first checkpoint.
func (h *commits) ancestors(ctx context.Context, of name.OID) map[name.OID]bool {
	return h.leading.get(of, func() map[name.OID]bool {
		met := map[name.OID]bool{of: true}
		for queue := []name.OID{of}; len(queue) > 0 && len(met) < 1<<20; queue = queue[1:] {
			if c := h.read(ctx, queue[0]); c != nil && !h.isEarly(c) {
				queue = append(queue, unmet(met, c.Parents)...)
			}
		}
		return met
	})
}

// leads reports whether a commit is the tip or one of its ancestors.
func (h *commits) leads(ctx context.Context, oid, tip name.OID) bool {
	t := h.trunk(ctx)
	from, on := t.place[oid]
	if to, too := t.place[tip]; on && too {
		return from >= to
	}
	return h.ancestors(ctx, tip)[oid]
}

// unmet returns the commits that were not met before, and notes that they are now.
func unmet(met map[name.OID]bool, commits []name.OID) (fresh []name.OID) {
	for _, oid := range commits {
		if !met[oid] {
			met[oid], fresh = true, append(fresh, oid)
		}
	}
	return fresh
}

// divergence is where the histories of a checkpoint and of a commit parted.
type divergence struct {
	at      []name.OID // common commits
	since   []name.OID // commits of the commit's side
	descent bool       // the checkpoint's HEAD is one of at
}

// part compares the HEAD of a checkpoint with the first parent of a commit.
func (h *commits) part(ctx context.Context, head name.OID, c *arrival) divergence {
	const mostBetween = 5000 // how many commits may lie between a checkpoint and a commit. If there are more, no claim is made
	return c.divergences.get(head, func() (p divergence) {
		parent := c.parent()
		if head == parent {
			return divergence{at: []name.OID{head}, descent: true}
		}
		if head == "" || parent == "" {
			return p
		}
		leading := h.ancestors(ctx, head)
		met := map[name.OID]bool{parent: true}
		for queue := []name.OID{parent}; len(queue) > 0; queue = queue[1:] {
			oid := queue[0]
			if leading[oid] {
				p.at = append(p.at, oid)
				p.descent = p.descent || oid == head
				continue
			}
			c := h.read(ctx, oid)
			if c == nil || len(p.since) == mostBetween {
				return divergence{}
			}
			if p.since = append(p.since, oid); !h.isEarly(c) {
				queue = append(queue, unmet(met, c.Parents)...)
			}
		}
		return p
	})
}

// trunk is the line of first parents that leads to HEAD, back to the oldest checkpoint. It answers at once
// what would need a walk through the history for each session and commit.
type trunk struct {
	place map[name.OID]int   // of its commits, from HEAD
	trees map[name.OID][]int // the places of the commits that have a tree, ascending
}

func (h *commits) trunk(ctx context.Context) *trunk {
	if h.main != nil {
		return h.main
	}
	t := &trunk{map[name.OID]int{}, map[name.OID][]int{}}
	h.main = t
	for oid := h.s.Repo.Head.OID; oid != ""; {
		c := h.read(ctx, oid)
		if _, met := t.place[oid]; met || c == nil {
			break
		}
		at := len(t.place)
		t.place[oid] = at
		t.trees[c.Tree] = append(t.trees[c.Tree], at)
		if len(c.Parents) == 0 || h.isEarly(c) {
			break
		}
		oid = c.Parents[0]
	}
	return t
}

// hadAll reports whether all that a checkpoint has came to the history of a commit, of which this is the parent:
// then none of its lines is new in the commit (see alreadyInHistory). It is false where the trunk does not tell.
func (h *commits) hadAll(ctx context.Context, p *point, parent name.OID) bool {
	if p.Head == parent { // no commit lies between
		return false
	}
	t := h.trunk(ctx)
	from, on := t.place[p.Head]
	to, too := t.place[parent]
	return on && too && slices.ContainsFunc(t.trees[p.Tree], func(at int) bool { return at > to && at <= from })
}
