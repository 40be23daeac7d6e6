package remote

import (
	"slices"
	"strings"

	"git-checkpoint/internal/format/name"
)

// Plan is what a push sends of one session. It is fixed before the push and not extended by
// checkpoints that are made meanwhile.
type Plan struct {
	Session name.Session
	Create  []Update             // the refs that the remote lacks and that are not dead, whoever made them
	Journal name.OID             // the merged journal to send; empty if the remote's needs no update
	Archive map[name.ID]name.OID // the checkpoints to add to the remote's archive
	// Fold are refs to delete at the remote because its archive stands for them. They are deleted
	// after the archive has arrived.
	Fold []Update
	// Delete are refs of dead checkpoints at the remote. They are sent only together with a journal
	// that differs from the remote's. Its compare-and-swap makes the deletion fail if another clone
	// pushed a pin meanwhile; a deletion on its own would remove a checkpoint that is pinned by
	// then.
	Delete    []Update
	Owed      []Update   // refs of dead checkpoints at a remote whose journal needs no update
	Conflicts []Conflict // ids that both sides have with different commits
}

// Conflict is a checkpoint id with two different commits. Neither is overwritten.
type Conflict struct {
	Ref         name.Ref
	Here, There name.OID
}

// PlanPush compares a session here and at the remote and returns what to send. It is a pure
// function. dead reports whether a checkpoint is pruned in the merged journal, and tip is the tip
// of that journal. The lists of the plan are sorted.
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
	if p.deleteDead(there, dead); p.Journal == "" {
		p.Delete, p.Owed = nil, p.Delete
	}
	byRef := func(a, b Update) int { return strings.Compare(string(a.Ref), string(b.Ref)) }
	slices.SortFunc(p.Create, byRef)
	slices.SortFunc(p.Delete, byRef)
	slices.SortFunc(p.Fold, byRef)
	slices.SortFunc(p.Conflicts, func(a, b Conflict) int { return strings.Compare(string(a.Ref), string(b.Ref)) })
	return p
}

// archive plans which checkpoints to add to the remote's archive, and which refs there that makes
// redundant. A ref with another value at the remote is a conflict and stays as it is.
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

// deleteDead plans the deletion of refs of dead checkpoints, and of the archive if all that it lists is
// dead. An archive with both kinds stays: its tree cannot be changed in place.
func (p *Plan) deleteDead(there *Session, dead func(name.ID) bool) {
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
