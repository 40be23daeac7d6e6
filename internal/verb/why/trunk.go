package why

import (
	"context"

	"git-checkpoint/internal/format/name"
)

// trunk is the line of first parents that leads to HEAD, back to the oldest checkpoint. It answers at once
// what would need a walk through the history for each session and commit.
type trunk struct {
	place map[name.OID]int   // of its commits, from HEAD
	trees map[name.OID][]int // the places of the commits that have a tree, ascending
}

func (a *asker) theTrunk(ctx context.Context) *trunk {
	if a.trunk != nil {
		return a.trunk
	}
	a.trunk = &trunk{map[name.OID]int{}, map[name.OID][]int{}}
	for oid := a.s.Repo.Head.OID; oid != ""; {
		c := a.commit(ctx, oid)
		if _, met := a.trunk.place[oid]; met || c == nil {
			break
		}
		at := len(a.trunk.place)
		a.trunk.place[oid] = at
		a.trunk.trees[c.Tree] = append(a.trunk.trees[c.Tree], at)
		if len(c.Parents) == 0 || c.Committer.When.Unix() < a.oldest {
			break
		}
		oid = c.Parents[0]
	}
	return a.trunk
}

// landed reports whether all that a checkpoint has came to the commit's history before the commit: then none
// of its lines is new there (see delivered). It is false where the trunk does not tell.
func (a *asker) landed(ctx context.Context, p *point, c *aim) bool {
	if p.Head == c.parent() { // no commit lies between
		return false
	}
	t := a.theTrunk(ctx)
	head, on := t.place[p.Head]
	parent, too := t.place[c.parent()]
	if !on || !too {
		return false
	}
	for _, at := range t.trees[p.Tree] {
		if at > parent && at <= head {
			return true
		}
	}
	return false
}
