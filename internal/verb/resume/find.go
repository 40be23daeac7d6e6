package resume

// This file selects the checkpoint to resume: the one that was named, or the current one of the
// active session, or that of the newest unfinished session.

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	"git-checkpoint/internal/core/checkpoint"
	"git-checkpoint/internal/core/workflow"
	"git-checkpoint/internal/format/journal"
	"git-checkpoint/internal/format/name"
	"git-checkpoint/internal/git"
	"git-checkpoint/internal/storage/remote"
	"git-checkpoint/internal/storage/store"
	"git-checkpoint/internal/sys/gather"
	"git-checkpoint/internal/verb/retain"
	"git-checkpoint/internal/verb/travel"
)

// resumeTarget finds the checkpoint to resume: the requested one, or that of the newest unfinished
// session that fits. A session's name comes before a checkpoint's, and means its current checkpoint.
func resumeTarget(ctx context.Context, s *checkpoint.Sessions, req Request) (*checkpoint.Found, error) {
	if req.Target != "" {
		if req.Type != "" || req.Match != "" {
			return nil, checkpoint.Usage("", "a name and --type or --match cannot be used together")
		}
		if session, err := checkpoint.SessionCalled(ctx, s.Store, req.Target); err != nil {
			return nil, err
		} else if session != "" {
			if st, err := s.Store.State(ctx, session); err == nil {
				return currentOf(st)
			}
		}
		f, err := s.Resolve(ctx, "", req.Target)
		return f, unknownTarget(ctx, s.Store, req.Target, err)
	}
	if req.Type == "" && req.Match == "" {
		// If the request names nothing, the active session is resumed.
		session, err := s.HereSession(ctx)
		if err != nil {
			return nil, err
		}
		if session != "" {
			st, err := checkpoint.State(ctx, s.Store, session)
			if err != nil {
				return nil, err
			}
			return currentOf(st)
		}
	}
	return newestUnfinished(ctx, s.Rules, req)
}

// unknownTarget adds similar session names to the error for an unknown name. They come first,
// because users usually resume sessions.
func unknownTarget(ctx context.Context, s *store.Store, target string, err error) error {
	var found, session *checkpoint.Error
	wanted, invalid := name.ParseSession(target)
	if invalid != nil || !errors.As(err, &found) || found.Kind != checkpoint.KindNotFound || !errors.As(checkpoint.UnknownSessionError(ctx, s, wanted), &session) || len(session.Hints) < 2 {
		return err
	}
	return &checkpoint.Error{Kind: checkpoint.KindNotFound, Message: fmt.Sprintf("no such session or checkpoint: %q", target), Hints: append(session.Hints[:1:1], found.Hints...)}
}

// newestUnfinished returns, of the sessions of a type or description, the unfinished one whose documents say that it was
// changed last. Of all of them it returns the only unfinished one of the branch, else of the repository: several are an error
// that names them. If all that fit are finished, it returns the newest of these: the workflow then says why work cannot go on.
func newestUnfinished(ctx context.Context, s *checkpoint.Rules, req Request) (*checkpoint.Found, error) {
	all, err := checkpoint.States(ctx, s.Store, "session %q: %v")
	if err != nil {
		return nil, err
	}
	due, err := retain.WarnDue(ctx, s)
	if err != nil {
		return nil, err
	}
	var best *candidate
	var open, ofBranch []*journal.State
	for _, st := range all {
		if slices.ContainsFunc(due, func(d retain.Due) bool { return d.Session == st.Session }) {
			continue
		}
		if st.NewestEntry() == nil || !checkpoint.IsOfType(ctx, s, st, req.Type) || req.Match != "" && !describes(ctx, s, st, req.Match) {
			continue
		}
		c := &candidate{State: st, over: checkpoint.IsOver(ctx, s, st), changed: st.UpdatedAt, began: st.CreatedAt}
		if req.Type != "" || req.Match != "" {
			c.ask(checkpoint.FactsOf(ctx, s, st))
		}
		if !c.over {
			open = append(open, st)
			if checkpoint.IsOfBranch(ctx, s.Store, st) {
				ofBranch = append(ofBranch, st)
			}
		}
		if best == nil || c.isBetterThan(best) {
			best = c
		}
	}
	switch {
	case best == nil:
	case req.Type+req.Match == "" && len(ofBranch) == 1:
		return currentOf(ofBranch[0])
	case req.Type+req.Match == "" && len(open) > 1:
		return nil, several(ctx, s.Store, open)
	default:
		return currentOf(best.State)
	}
	return nil, checkpoint.Failure(checkpoint.KindNotFound, nothingHint(ctx, s.Repo), "nothing to resume")
}

// several is the error for sessions of which one has to be named, the newest first.
func several(ctx context.Context, s *store.Store, open []*journal.State) error {
	const most = 5
	slices.SortStableFunc(open, func(a, b *journal.State) int { return b.UpdatedAt.Compare(a.UpdatedAt) })
	e := checkpoint.Failure(checkpoint.KindUsage, "", "%d sessions are open, and none was used here; name one", len(open))
	for _, st := range open[:min(len(open), most)] {
		e.Hints = append(e.Hints, fmt.Sprintf("`git checkpoint resume %s`: %s", st.Session, checkpoint.Steps(ctx, s, st.Session)))
	}
	return e
}

// candidate is a session that fits, with the values by which one of several is chosen.
type candidate struct {
	*journal.State
	over           bool
	changed, began time.Time
}

// ask replaces the times of the session by those in its document, if it has any, because the times
// in the journal are those of the import.
func (c *candidate) ask(facts workflow.Facts) {
	if !facts.Time.IsZero() {
		c.changed = facts.Time
	}
	if !facts.Created.IsZero() {
		c.began = facts.Created
	}
}

// isBetterThan reports whether c is the better one to go on with.
func (c *candidate) isBetterThan(other *candidate) bool {
	if c.over != other.over {
		return !c.over
	}
	return cmp.Or(c.changed.Compare(other.changed), c.began.Compare(other.began), cmp.Compare(c.Session, other.Session)) > 0
}

// currentOf returns the current checkpoint of a session.
func currentOf(st *journal.State) (*checkpoint.Found, error) {
	e := st.NewestEntry()
	if e == nil {
		return nil, checkpoint.NoCheckpointError(st)
	}
	return &checkpoint.Found{Session: st.Session, State: st, Entry: e}, nil
}

// describes reports whether the session's name, topic, or the description in its state contains
// text, ignoring case.
func describes(ctx context.Context, s *checkpoint.Rules, st *journal.State, text string) bool {
	has := func(in string) bool { return strings.Contains(strings.ToLower(in), strings.ToLower(text)) }
	return has(string(st.Session)) || has(st.Topic) || has(checkpoint.FactsOf(ctx, s, st).Topic)
}

// read reads the checkpoint. It first verifies the record and every object that HEAD does not also
// have, because work must not go on from a damaged checkpoint.
func (r *resumption) read(ctx context.Context) error {
	e := r.found.Entry
	rec, err := checkpoint.ReadRecord(ctx, r.s.Store, e)
	if err == nil {
		err = checkpoint.VerifyObjects(ctx, r.s.Repo, e.Event().Commit)
	}
	if err != nil {
		return r.s.Rules.CorruptError(ctx, r.found.State, e, err)
	}
	r.record = rec
	r.def, err = r.s.Rules.ReadableDefinition(ctx, r.found.State)
	return err
}

// nothingHint says where to look if there is no session: below the prefix where a clone has put
// checkpoints that it took for branches of the remote, or in the list of sessions.
func nothingHint(ctx context.Context, repo *git.Repo) string {
	const tracked = "refs/remotes/"
	refs, err := repo.Refs.List(ctx, tracked)
	if err == nil {
		names := gather.List(refs, func(r git.RefValue) name.Ref { return r.Ref })
		if _, below, ok := strings.Cut(strings.TrimPrefix(remote.Prefix(names), tracked), "/"); ok && below != "" {
			return "the remote has checkpoints below refs/heads/" + below + "; " + travel.PrefixHint("refs/heads/"+below)
		}
	}
	return "`git checkpoint session list` shows the sessions"
}
