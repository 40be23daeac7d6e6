package retain

// This file finds the sessions that their workflow removes as a whole because of their age. The next
// create or close in a session of that workflow removes them; lists leave them out until then.

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"git-checkpoint/internal/core/checkpoint"
	"git-checkpoint/internal/core/workflow"
	"git-checkpoint/internal/format/journal"
	"git-checkpoint/internal/format/name"
	"git-checkpoint/internal/format/render"
)

// Due is a session that is due to be removed.
type Due struct {
	Session  name.Session
	Workflow string
	Age      string // the age in its workflow's rule, such as "7 days"
}

// FindDue returns the sessions that are due. A session that is active in a worktree is not, nor is one
// whose current checkpoint is pinned, nor one of a workflow that does not prune by itself.
func FindDue(ctx context.Context, s *checkpoint.Service) ([]Due, error) {
	states, err := s.States(ctx, "")
	if err != nil {
		return nil, err
	}
	var found []Due
	for _, st := range states {
		if age := dueAge(ctx, s, st); age != "" {
			found = append(found, Due{st.Session, st.Workflow, age})
		}
	}
	if len(found) > 0 {
		active := activeSessions(s)
		found = slices.DeleteFunc(found, func(d Due) bool { return active[string(d.Session)] })
	}
	return found, nil
}

// dueAge returns the age by which a session is due, or "". What cannot be read is not due.
func dueAge(ctx context.Context, s *checkpoint.Service, st *journal.State) string {
	e := st.CurrentEntry()
	if e == nil || e.Pinned {
		return ""
	}
	def, err := s.DefinitionFor(ctx, st)
	if err != nil || len(def.Retention.Sessions) == 0 {
		return ""
	}
	if on, err := Automatic(s, def); err != nil || !on {
		return ""
	}
	age, err := def.SessionDue(ItemsOf(st), policyOf(s, st))
	if err != nil {
		return ""
	}
	return age
}

// policyOf returns what the rules need to know about a session.
func policyOf(s *checkpoint.Service, st *journal.State) workflow.Policy {
	p := workflow.Policy{Now: s.Now(), ChangedAt: st.UpdatedAt, Config: s.Settings.Get}
	if checkpoint.IsClosed(st.Status) {
		p.SessionStatus = st.Status
	}
	if e := st.CurrentEntry(); e != nil {
		p.Status = e.Event().CheckpointStatus
	}
	return p
}

// activeSessions returns the sessions that are active in any worktree.
func activeSessions(s *checkpoint.Service) map[string]bool {
	linked, _ := filepath.Glob(filepath.Join(s.Repo.CommonDir, "worktrees", "*")) //nolint:errcheck // the pattern is well-formed
	active := map[string]bool{}
	for _, dir := range append(linked, s.Repo.CommonDir) {
		if text, err := os.ReadFile(filepath.Join(dir, "checkpoint", "session")); err == nil {
			active[strings.TrimSpace(string(text))] = true
		}
	}
	return active
}

// RemoveDue removes the sessions of a workflow that are due, except one, and returns their names.
func RemoveDue(ctx context.Context, s *checkpoint.Service, def *workflow.Definition, except name.Session) (gone []name.Session, err error) {
	if on, err := Automatic(s, def); err != nil || !on || len(def.Retention.Sessions) == 0 {
		return nil, err
	}
	due, err := FindDue(ctx, s)
	for _, d := range due {
		if d.Workflow != def.Name || d.Session == except {
			continue
		}
		removed, err := Prune(ctx, s, PruneRequest{Session: string(d.Session), Automatic: true})
		if err != nil {
			return gone, err
		}
		if len(removed.Pruned) > 0 {
			gone = append(gone, d.Session)
		}
	}
	return gone, err
}

// SayDue says what is due, or "".
func SayDue(due []Due) string {
	if len(due) == 0 {
		return ""
	}
	var ages []string
	for _, d := range due {
		if !slices.Contains(ages, d.Age) {
			ages = append(ages, d.Age)
		}
	}
	are, them := "is", "it"
	if len(due) > 1 {
		are, them = "are", "them"
	}
	return fmt.Sprintf("%s %s due (%s); the next create removes %s, pin keeps", render.Count(len(due), "job", "jobs"), are, strings.Join(ages, ", "), them)
}
