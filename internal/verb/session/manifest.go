package session

// A manifest is the state of a session in the form that `session show` and exports write.
// Its JSON names come from the formats of older tools.

import (
	"cmp"

	"git-checkpoint/internal/core/checkpoint"
	"git-checkpoint/internal/format/journal"
	"git-checkpoint/internal/format/name"
	"git-checkpoint/internal/verb/inspect"
	"git-checkpoint/internal/verb/retain"
)

// ManifestEntry is one checkpoint of a manifest. Valid is false if verification found a
// problem.
type ManifestEntry struct {
	ID        name.ID         `json:"id"`
	Label     string          `json:"label"`
	Step      int             `json:"step"`
	Timestamp checkpoint.Time `json:"timestamp"`
	Valid     bool            `json:"valid"`
	Discarded bool            `json:"discarded"`
	Pinned    bool            `json:"pinned"`
	Called    string          `json:"-"` // by people
	Message   string          `json:"-"` // Mention.About; only Show sets it
}

// RollbackRecord is one rollback of a manifest.
type RollbackRecord struct {
	From   name.ID         `json:"from"`
	To     name.ID         `json:"to"`
	Time   checkpoint.Time `json:"time"`
	Reason string          `json:"reason"`
}

// Manifest describes a session with its checkpoints and rollbacks.
type Manifest struct {
	Session           name.Session     `json:"session"`
	Workflow          string           `json:"workflow"`
	Topic             string           `json:"topic"`
	Status            string           `json:"status"`
	Branch            name.Ref         `json:"branch"`
	CreatedAt         checkpoint.Time  `json:"created_at"`
	UpdatedAt         checkpoint.Time  `json:"updated_at"`
	Checkpoints       []ManifestEntry  `json:"checkpoints"`
	CurrentCheckpoint name.ID          `json:"current_checkpoint"`
	RollbackHistory   []RollbackRecord `json:"rollback_history"`

	Active   bool `json:"active"`   // the session of the next checkpoint here
	Archived bool `json:"archived"` // its checkpoints are in an archive

	Pruned  []retain.Judged `json:"pruned,omitempty"`  // after a close: what the workflow did not keep
	Expired []name.Session  `json:"expired,omitempty"` // other sessions of the workflow that were due

	gone bool // it had checkpoints, or was closed, and has none
}

// ManifestOf returns the manifest of a session. Every checkpoint counts as valid here; Show
// verifies them. Dead and safety checkpoints are left out, and none is Active.
func ManifestOf(st *journal.State) *Manifest {
	m := &Manifest{
		Session: st.Session, Workflow: st.Workflow, Topic: st.Topic, Status: st.Status, Branch: name.Ref(st.Branch),
		CreatedAt: checkpoint.Time{Time: st.CreatedAt}, UpdatedAt: checkpoint.Time{Time: st.UpdatedAt}, CurrentCheckpoint: st.Current,
		Archived:    st.Archived != nil,
		Checkpoints: []ManifestEntry{}, RollbackHistory: []RollbackRecord{},
	}
	m.gone = st.CurrentEntry() == nil && (len(st.Tombstones) > 0 || checkpoint.IsClosed(st.Status))
	m.Status = cmp.Or(m.Status, checkpoint.StatusOpen) // without any it is open, by the rules of the fold
	for _, c := range st.Checkpoints() {
		if c.Dead || c.Safety {
			continue
		}
		// Times of events are those at which the checkpoints were made.
		m.Checkpoints = append(m.Checkpoints, ManifestEntry{
			ID: c.Checkpoint, Label: c.Label, Step: c.Step, Timestamp: checkpoint.Time{Time: c.Event().Time}, Valid: true, Discarded: c.Discarded, Pinned: c.Pinned, Called: checkpoint.CalledBy(c),
		})
	}
	// A rollback records the checkpoint that was current before it.
	for _, r := range st.Rollbacks {
		if !checkpoint.IsReturn(r) {
			continue
		}
		m.RollbackHistory = append(m.RollbackHistory, RollbackRecord{inspect.OriginOf(r), r.To, checkpoint.Time{Time: r.Time}, r.Reason})
	}
	return m
}
