package session

import (
	"git-checkpoint/internal/checkpoint"
	"git-checkpoint/internal/inspect"
	"git-checkpoint/internal/journal"
	"git-checkpoint/internal/name"
	"git-checkpoint/internal/retain"
)

// ManifestEntry is one checkpoint of a session's manifest.
type ManifestEntry struct {
	ID        name.ID         `json:"id"`
	Label     string          `json:"label"`
	Step      int             `json:"step"`
	Timestamp checkpoint.Time `json:"timestamp"`
	Valid     bool            `json:"valid"`
	Discarded bool            `json:"discarded"`
	Pinned    bool            `json:"pinned"`
}

// RollbackRecord is one rollback of a session's manifest.
type RollbackRecord struct {
	From   name.ID         `json:"from"`
	To     name.ID         `json:"to"`
	Time   checkpoint.Time `json:"time"`
	Reason string          `json:"reason"`
}

// Manifest is a session as `session show` and `session list` answer it.
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

	Active   bool `json:"active"`   // in this worktree
	Archived bool `json:"archived"` // its checkpoints are in one ref

	Pruned []retain.Judged `json:"pruned,omitempty"` // of a close: what the workflow let go
}

// ManifestOf is the fold as the workflows know it.
func ManifestOf(s *checkpoint.Service, st *journal.State) *Manifest {
	active, _ := s.Store.ActiveSession() //nolint:errcheck // none is active then
	m := &Manifest{
		Session: st.Session, Workflow: st.Workflow, Topic: st.Topic, Status: st.Status, Branch: name.Ref(st.Branch),
		CreatedAt: checkpoint.Time{Time: st.CreatedAt}, UpdatedAt: checkpoint.Time{Time: st.UpdatedAt}, CurrentCheckpoint: st.Current, Active: active == st.Session,
		Archived:    st.Archived != nil,
		Checkpoints: []ManifestEntry{}, RollbackHistory: []RollbackRecord{},
	}
	if m.Status == "" {
		m.Status = "in_progress"
	}
	for _, c := range st.Checkpoints() {
		if c.Dead || c.Safety {
			continue
		}
		m.Checkpoints = append(m.Checkpoints, ManifestEntry{
			ID: c.Checkpoint, Label: c.Label, Step: c.Step, Timestamp: checkpoint.Time{Time: c.Event().Time}, Valid: true, Discarded: c.Discarded, Pinned: c.Pinned,
		})
	}
	for _, r := range st.Rollbacks {
		m.RollbackHistory = append(m.RollbackHistory, RollbackRecord{inspect.OriginOf(r), r.To, checkpoint.Time{Time: r.Time}, r.Reason})
	}
	return m
}
