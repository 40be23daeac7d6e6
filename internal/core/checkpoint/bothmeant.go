package checkpoint

import (
	"context"
	"fmt"
	"strings"

	"git-checkpoint/internal/core/workflow"
	"git-checkpoint/internal/format/journal"
	"git-checkpoint/internal/format/render"
	"git-checkpoint/internal/storage/store"
)

// bothMeant returns the error for a number that is typed where an agent's session is active, if the newest session in
// which people work here has that number, too: the agent may have begun without the person noticing. It is nil otherwise,
// even where somebody chose the agent's session.
func (s *Rules) bothMeant(ctx context.Context, session, ref string, found *Found) *Error {
	if found == nil || session != "" || s.Settings.Getenv("GIT_CHECKPOINT_SESSION") != "" || !numberPattern().MatchString(ref) || found.State.Workflow != workflow.AgentName || IsChosen(s.Repo, found.Session) {
		return nil
	}
	own := personsNewest(ctx, s.Store)
	if own == nil || byNumber(own, ref) == nil {
		return nil
	}
	said := func(st *journal.State, e *journal.Entry) string {
		m := Mentioned(ctx, s.Store, st, e)
		m.Name = ref
		return fmt.Sprintf("`%s:%s`%s, %s", st.Session, ref, strings.TrimPrefix(m.String(), ref), render.Ago(e.Event().Time, s.Store.Now()))
	}
	failed := Failure(KindRefused, said(found.State, found.Entry), "%q is a step of %s, which an agent began, and of %s", ref, found.Session, own.Session)
	failed.Hints = append(failed.Hints, said(own, byNumber(own, ref)), fmt.Sprintf("`git checkpoint session switch %s` goes back to yours", own.Session))
	return failed
}

// personsNewest returns the session without an agent that this worktree used last, or nil.
func personsNewest(ctx context.Context, s *store.Store) (newest *journal.State) {
	here, _ := worktreeIDs(s)
	states, err := States(ctx, s, "")
	if err != nil || here == "" {
		return nil
	}
	for _, st := range states {
		if st.Workflow == workflow.AgentName || IsClosed(st.Status) || !st.Worked(here) {
			continue
		}
		if newest == nil || st.LastBy(here).After(newest.LastBy(here)) {
			newest = st
		}
	}
	return newest
}
