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

// DefaultRemote returns the remote that is meant where none is named: checkpoint.remote, the
// upstream of the current branch, or "origin" by convention. It is "" if no remote is configured at
// all.
func (s *Rules) DefaultRemote() string {
	named, _ := s.Settings.Get("checkpoint.remote")
	if branch, ok := strings.CutPrefix(string(s.Repo.Head.Branch), "refs/heads/"); named == "" && ok {
		if named, _ = s.Repo.Config.Get("branch." + branch + ".remote"); named == "." {
			named = "" // the upstream is a local branch, so nothing would be sent anywhere
		}
	}
	if named == "" && len(s.Repo.Config.Keys("remote.")) > 0 {
		return "origin"
	}
	return named
}

// MayFetch says how to get the checkpoints of a remote: "origin may have checkpoints: git
// checkpoint fetch". It is "" if there is a session here, or no remote. If origin is only a default
// and not configured, it names the first remote that is.
func (s *Rules) MayFetch(ctx context.Context) string {
	sessions, err := s.Store.Sessions(ctx)
	if err != nil || len(sessions) > 0 {
		return ""
	}
	from, argument := s.DefaultRemote(), ""
	if _, ok := s.Repo.Config.Get("remote.origin.url"); from == "origin" && !ok {
		from = ""
		if others := s.Repo.Config.Remotes("url"); len(others) > 0 {
			from, argument = others[0], " "+others[0]
		}
	}
	if from == "" {
		return ""
	}
	if strings.ContainsAny(from, "/:@") { // an address may hold a password
		from = "the remote"
	}
	return from + " may have checkpoints: git checkpoint fetch" + argument
}

// orFetch adds the hint of MayFetch to an error.
func (s *Rules) orFetch(ctx context.Context, err error) error {
	if said := s.MayFetch(ctx); said != "" {
		return WithHints(err, func(hints []string) []string { return append(hints, said) })
	}
	return err
}

// OrFetch adds the hint of MayFetch to an error that says that nothing is here. Others stay as they are.
func (s *Rules) OrFetch(ctx context.Context, err error) error {
	if err == nil || KindOf(err) != KindNotFound {
		return err
	}
	return s.orFetch(ctx, err)
}
