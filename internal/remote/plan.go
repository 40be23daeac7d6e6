package remote

import (
	"slices"
	"strings"

	"git-checkpoint/internal/name"
)

// Plan is what a push sends of one session: exactly this, never something newer.
type Plan struct {
	Session name.Session
	// Create are refs that the remote lacks, whoever made them, and that are not dead.
	Create []Update
	// Journal is the joined journal; empty where the remote's is as good.
	Journal name.OID
	// Archive are checkpoints that the remote's archive has to hold beside what it holds.
	Archive map[name.ID]name.OID
	// Fold are refs that the remote's archive stands for, once it is there.
	Fold []Update
	// Delete are refs of dead checkpoints that the remote has. They go only together
	// with a journal that differs from the remote's: a deletion that lands after
	// another clone has read the tombstone away would take what is pinned by then.
	Delete []Update
	// Conflicts are ids that both sides have with different commits.
	Conflicts []Conflict
}

// Conflict is one id with two values. Neither is overwritten.
type Conflict struct {
	Ref         name.Ref
	Here, There name.OID
}

// PlanPush compares what is here and there. dead says what is pruned in the joined
// journal, whose tip is tip.
func PlanPush(session name.Session, here, there *Session, tip name.OID, dead func(name.ID) bool) Plan {
	p := Plan{Session: session}
	if tip != there.Journal {
		p.Journal = tip
	}
	held := there.Held()
	for id, oid := range here.Held() {
		ref := name.CheckpointRef(session, id)
		switch other := held[id]; {
		case other == oid:
		case dead(id):
		case other == "" && here.Checkpoints[id] != "":
			p.Create = append(p.Create, Update{Ref: ref, New: oid})
		case other != "":
			p.Conflicts = append(p.Conflicts, Conflict{Ref: ref, Here: oid, There: other})
		}
	}
	p.archive(here, there, dead)
	if p.Journal != "" {
		p.bury(there, dead)
	}
	byRef := func(a, b Update) int { return strings.Compare(string(a.Ref), string(b.Ref)) }
	slices.SortFunc(p.Create, byRef)
	slices.SortFunc(p.Delete, byRef)
	slices.SortFunc(p.Fold, byRef)
	slices.SortFunc(p.Conflicts, func(a, b Conflict) int { return strings.Compare(string(a.Ref), string(b.Ref)) })
	return p
}

// archive plans what goes into the remote's archive, and which refs that makes needless.
// One that has another value there stays what it is.
func (p *Plan) archive(here, there *Session, dead func(name.ID) bool) {
	for id, oid := range here.Archived {
		if here.Checkpoints[id] != "" || dead(id) {
			continue
		}
		if other := there.Checkpoints[id]; other != "" && other != oid {
			continue
		} else if other == oid {
			p.Fold = append(p.Fold, Update{Ref: name.CheckpointRef(p.Session, id)})
		}
		if there.Archived[id] == "" {
			if p.Archive == nil {
				p.Archive = map[name.ID]name.OID{}
			}
			p.Archive[id] = oid
		}
	}
}

// bury plans the deletion of what is dead. An archive goes when all that it holds is.
func (p *Plan) bury(there *Session, dead func(name.ID) bool) {
	for id := range there.Checkpoints {
		if dead(id) {
			p.Delete = append(p.Delete, Update{Ref: name.CheckpointRef(p.Session, id)})
		}
	}
	for id := range there.Archived {
		if !dead(id) {
			return
		}
	}
	if len(there.Archived) > 0 && len(p.Archive) == 0 {
		p.Delete = append(p.Delete, Update{Ref: name.ArchiveRef(p.Session)})
	}
}

// Empty reports whether there is nothing to send.
func (p *Plan) Empty() bool {
	return len(p.Create)+len(p.Delete)+len(p.Archive)+len(p.Fold) == 0 && p.Journal == ""
}
