package retain

// This file finds the sessions that their workflow removes as a whole because of their age. The next
// create or close in a session of that workflow removes them; lists leave them out until then.

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"git-checkpoint/internal/core/checkpoint"
	"git-checkpoint/internal/core/workflow"
	"git-checkpoint/internal/format/journal"
	"git-checkpoint/internal/format/name"
	"git-checkpoint/internal/format/render"
	"git-checkpoint/internal/storage/store"
	"git-checkpoint/internal/sys/gather"
)

// Due is a session that is due to be removed.
type Due struct {
	Session  name.Session
	Workflow string
	Age      string // the age in its workflow's rule, such as "7 days"
}

// findDue returns the sessions that are due, and when the next one will be: now if one is, or would be if it
// were not active or pinned. A session that is active in a worktree is not due, nor is one whose current
// checkpoint is pinned, nor one of a workflow that does not prune by itself.
func findDue(ctx context.Context, s *checkpoint.Rules) (found []Due, next time.Time, err error) {
	states, err := checkpoint.States(ctx, s.Store, "")
	if err != nil {
		return nil, next, err
	}
	dirs, _ := checkpoint.OwnDirs(s.Repo) //nolint:errcheck // those that were found count
	now, active := s.Store.Now(), gather.Set(dirs, func(dir checkpoint.OwnDir) string { return dir.Said("session") })
	next = now.Add(lookAgain)
	for _, st := range states {
		at, age := dueAt(ctx, s, st)
		if at.IsZero() {
			continue
		}
		if at.Before(next) {
			next = at
		}
		if now.After(at) && !active[string(st.Session)] && !st.NewestEntry().Pinned {
			found = append(found, Due{st.Session, st.Workflow, age})
		}
	}
	return found, next, nil
}

// dueAt returns when a session is due and its age then; the time is zero if it is never due. What
// cannot be read is not due.
func dueAt(ctx context.Context, s *checkpoint.Rules, st *journal.State) (at time.Time, age string) {
	if st.NewestEntry() == nil {
		return at, ""
	}
	def, err := s.DefinitionFor(ctx, st)
	if err != nil || len(def.Retention.Sessions) == 0 {
		return at, ""
	}
	if on, err := Automatic(s.Settings, def, ""); err != nil || !on {
		return at, ""
	}
	at, age, err = def.SessionDue(ItemsOf(st), policyOf(s, st))
	if err != nil {
		return time.Time{}, ""
	}
	return at, age
}

// lookAgain is how long the time of the next due session is trusted.
const lookAgain = 24 * time.Hour

// dueFile remembers in <git dir>/checkpoint when the next session is due, and for which sessions and
// settings that was computed. Reading the journals of 300 sessions takes too long for each create.
const dueFile = "due"

// dueKey identifies the sessions and the settings that decide what is due.
func dueKey(ctx context.Context, s *checkpoint.Rules) (string, error) {
	sessions, err := s.Store.Sessions(ctx)
	if err != nil {
		return "", err
	}
	hash := sha256.New()
	for _, key := range []string{"checkpoint.expire", "checkpoint.failedExpire", "checkpoint.autoPrune"} {
		value, _ := s.Settings.Get(key)
		fmt.Fprintf(hash, "%q ", value)
	}
	fmt.Fprintf(hash, "%q", sessions)
	return hex.EncodeToString(hash.Sum(nil)), nil
}

// notYet reports whether the file says that nothing is due before a later time.
func notYet(s *store.Store, key string) bool {
	text, err := os.ReadFile(filepath.Join(s.Repo.GitDir, "checkpoint", dueFile))
	was, when, _ := strings.Cut(strings.TrimSpace(string(text)), " ")
	next, invalid := time.Parse(time.RFC3339, when)
	return err == nil && invalid == nil && was == key && s.Now().Before(next) && next.Sub(s.Now()) <= lookAgain
}

// policyOf returns what the rules need to know about a session.
func policyOf(s *checkpoint.Rules, st *journal.State) workflow.Policy {
	p := workflow.Policy{Now: s.Store.Now(), ChangedAt: usedAt(s.Store, st), Config: s.Settings.Get}
	if checkpoint.IsClosed(st.Status) {
		p.SessionStatus = st.Status
	}
	if e := st.NewestEntry(); e != nil {
		p.Status = e.Event().CheckpointStatus
	}
	return p
}

// Use counts a session as used now, because somebody looks at it to go on with it: its age begins anew in
// this repository. Where that cannot be written, as in one that can only be read, nothing is removed.
func Use(ctx context.Context, s *checkpoint.Rules, st *journal.State) {
	if at, _ := dueAt(ctx, s, st); !at.IsZero() {
		_ = checkpoint.Remember(s.Store, checkpoint.NamedFileOf(st.Session), s.Store.Now())
	}
}

// usedAt returns when a session was changed or used last.
func usedAt(s *store.Store, st *journal.State) time.Time {
	var used time.Time
	if known, err := checkpoint.Recall(s.Repo, checkpoint.NamedFileOf(st.Session), &used); err == nil && known && used.After(st.UpdatedAt) && !used.After(s.Now()) {
		return used
	}
	return st.UpdatedAt
}

// RemoveDue removes the sessions of a workflow that are due, except one, and returns their names.
func RemoveDue(ctx context.Context, s *checkpoint.Service, def *workflow.Definition, except name.Session) (gone []name.Session, err error) {
	if on, err := Automatic(s.Settings, def, ""); err != nil || !on || len(def.Retention.Sessions) == 0 {
		return nil, err
	}
	key, err := dueKey(ctx, s.Rules)
	if err != nil || notYet(s.Store, key) {
		return nil, err
	}
	due, next, err := findDue(ctx, s.Rules)
	if err == nil {
		// Without the file the next create looks again.
		_ = s.Store.WriteFile(dueFile, []byte(key+" "+next.UTC().Format(time.RFC3339)+"\n"))
	}
	for _, d := range due {
		if d.Workflow != def.Name || d.Session == except {
			continue
		}
		removed, err := Prune(ctx, s, PruneRequest{Session: string(d.Session), Automatic: true})
		if err != nil {
			return gone, err
		}
		if len(removed.Pruned) > 0 {
			_ = checkpoint.Forget(s.Repo, checkpoint.NamedFileOf(d.Session)) // an old one means nothing
			gone = append(gone, d.Session)
		}
	}
	return gone, err
}

// NoneDue reports whether the last create found that nothing is due yet. It reads no journal.
func NoneDue(ctx context.Context, s *checkpoint.Rules) bool {
	key, err := dueKey(ctx, s)
	return err == nil && notYet(s.Store, key)
}

// WarnDue returns the sessions that are due, and names them in a warning.
func WarnDue(ctx context.Context, s *checkpoint.Rules) (due []Due, err error) {
	if due, _, err = findDue(ctx, s); err != nil || len(due) == 0 {
		return nil, err
	}
	var ages []string
	for _, d := range due {
		if !slices.Contains(ages, d.Age) {
			ages = append(ages, d.Age)
		}
	}
	names := render.First(due, 5, "%d more", func(d Due) string { return string(d.Session) })
	are, them := "is", "it"
	if len(due) > 1 {
		are, them = "are", "them"
	}
	s.Store.Warn(fmt.Sprintf("%s %s due (%s): %s; the next create removes %s, pin keeps", render.Count(len(due), "job", "jobs"), are, strings.Join(ages, ", "), strings.Join(names, ", "), them))
	return due, nil
}
