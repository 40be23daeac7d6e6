package checkpoint

import (
	"context"
	"slices"
	"strings"
	"time"

	"git-checkpoint/internal/core/workflow"
	"git-checkpoint/internal/format/journal"
	"git-checkpoint/internal/format/name"
	"git-checkpoint/internal/storage/store"
)

// OtherSession is a session other than the one that an answer is about.
type OtherSession struct {
	Session name.Session
	Topic   string // only of the first OthersNamed: it may need a record
	Steps   int    // live milestones
	Last    time.Time
}

// OthersNamed is how many other sessions an answer names; it counts the rest.
const OthersNamed = 3

// Others returns the sessions that have steps and are not closed, except the session beside, the
// newest first. One that cannot be read is left out.
func (s *Rules) Others(ctx context.Context, beside name.Session) (others []OtherSession) {
	states, err := States(ctx, s.Store, "")
	if err != nil {
		return nil // what the answer is about could be read
	}
	slices.SortStableFunc(states, func(a, b *journal.State) int { return b.UpdatedAt.Compare(a.UpdatedAt) })
	for _, st := range states {
		steps := countSteps(st)
		if st.Session == beside || steps == 0 || IsClosed(st.Status) {
			continue
		}
		o := OtherSession{Session: st.Session, Steps: steps, Last: st.UpdatedAt}
		if len(others) < OthersNamed {
			o.Topic = TopicOf(ctx, s, st)
		}
		others = append(others, o)
	}
	return others
}

// countSteps returns how many live milestones a session has.
func countSteps(st *journal.State) (steps int) {
	for _, c := range st.Standings() {
		if c.Live && c.Milestone {
			steps++
		}
	}
	return steps
}

// firstPrompt returns what an agent was asked first, which is the title of its session: the first line of the
// message of its first turn. It is "" for other sessions.
func firstPrompt(ctx context.Context, s *store.Store, st *journal.State) string {
	if st.Workflow != workflow.AgentName {
		return ""
	}
	for _, e := range st.Checkpoints() {
		if !e.Milestone || e.Dead || e.Safety {
			continue
		}
		rec, err := ReadRecord(ctx, s, e)
		if err != nil {
			return ""
		}
		line, _, _ := strings.Cut(rec.Message, "\n")
		return line
	}
	return ""
}

// agentSession returns the session that an agent calls by an id of its own, as a conversation is
// called. If there are several, such as those of worktrees, it is the newest. It is "" if there is
// none.
func agentSession(ctx context.Context, s *store.Store, id string) (session name.Session) {
	states, err := States(ctx, s, "")
	if err != nil || id == "" {
		return ""
	}
	var newest time.Time
	for _, st := range states {
		e := st.NewestEntry()
		if st.Workflow != workflow.AgentName || e == nil || !st.UpdatedAt.After(newest) {
			continue
		}
		rec, err := ReadRecord(ctx, s, e)
		if err != nil {
			continue
		}
		if by, ok := rec.Agent(); ok && by.Session == id {
			session, newest = st.Session, st.UpdatedAt
		}
	}
	return session
}
