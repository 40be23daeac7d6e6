package remote

import (
	"slices"
	"strings"

	"git-checkpoint/internal/journal"
	"git-checkpoint/internal/name"
)

// Plan is what a push sends of one session: exactly this, never something newer.
type Plan struct {
	Session name.Session
	// Create are refs that the remote lacks, whoever made them, and that are not dead.
	Create []Update
	// Journal is the joined journal; empty where the remote's is as good.
	Journal name.OID
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

// PlanPush compares what is here and there under the fold of the joined journal j,
// which is given as a function because a session without a difference needs none.
func PlanPush(session name.Session, here, there *Session, tip name.OID, fold func() *journal.State) Plan {
	p := Plan{Session: session}
	if tip != there.Journal {
		p.Journal = tip
	}
	for id, oid := range here.Checkpoints {
		ref := name.CheckpointRef(session, id)
		switch other := there.Checkpoints[id]; {
		case other == oid:
		case fold() != nil && fold().Dead(id):
		case other == "":
			p.Create = append(p.Create, Update{Ref: ref, New: oid})
		default:
			p.Conflicts = append(p.Conflicts, Conflict{Ref: ref, Here: oid, There: other})
		}
	}
	if p.Journal != "" {
		for id := range there.Checkpoints {
			if st := fold(); st != nil && st.Dead(id) {
				p.Delete = append(p.Delete, Update{Ref: name.CheckpointRef(session, id)})
			}
		}
	}
	byRef := func(a, b Update) int { return strings.Compare(string(a.Ref), string(b.Ref)) }
	slices.SortFunc(p.Create, byRef)
	slices.SortFunc(p.Delete, byRef)
	slices.SortFunc(p.Conflicts, func(a, b Conflict) int { return strings.Compare(string(a.Ref), string(b.Ref)) })
	return p
}

// Empty reports whether there is nothing to send.
func (p *Plan) Empty() bool { return len(p.Create)+len(p.Delete) == 0 && p.Journal == "" }
