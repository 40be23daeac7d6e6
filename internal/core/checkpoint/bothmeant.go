package checkpoint

import (
	"context"
	"fmt"
	"strings"

	"git-checkpoint/internal/core/workflow"
	"git-checkpoint/internal/format/journal"
	"git-checkpoint/internal/format/render"
)

// bothMeant returns the error for a number that is typed where an agent's session is active, if the newest session in
// which people work here has that number, too: the agent may have begun without the person noticing. It is nil otherwise,
// even where somebody chose the agent's session.
func (s *Service) bothMeant(ctx context.Context, session, ref string, found *Found) *Error {
	if found == nil || session != "" || s.Getenv("GIT_CHECKPOINT_SESSION") != "" || !numberPattern().MatchString(ref) || found.State.Workflow != workflow.AgentName || IsChosen(s, found.Session) {
		return nil
	}
	own := s.personsNewest(ctx)
	if own == nil || byNumber(own, ref) == nil {
		return nil
	}
	said := func(st *journal.State, e *journal.Entry) string {
		m := s.Mentioned(ctx, st, e)
		m.Name = ref
		return fmt.Sprintf("`%s:%s`%s, %s", st.Session, ref, strings.TrimPrefix(m.String(), ref), render.Ago(e.Event().Time, s.Now()))
	}
	failed := Failure(KindRefused, said(found.State, found.Entry), "%q is a step of %s, which an agent began, and of %s", ref, found.Session, own.Session)
	failed.Hints = append(failed.Hints, said(own, byNumber(own, ref)), fmt.Sprintf("`git checkpoint session switch %s` goes back to yours", own.Session))
	return failed
}

// personsNewest returns the session without an agent that this worktree used last, or nil.
func (s *Service) personsNewest(ctx context.Context) (newest *journal.State) {
	here, _ := s.worktreeIDs()
	states, err := s.States(ctx, "")
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
