package resume

import (
	"context"
	"errors"
	"fmt"
	"strings"

	"git-checkpoint/internal/checkpoint"
	"git-checkpoint/internal/journal"
	"git-checkpoint/internal/name"
	"git-checkpoint/internal/session"
)

// findResumption finds the checkpoint: named, or the newest unfinished session that
// fits.
func findResumption(ctx context.Context, s *checkpoint.Service, req Request) (*resumption, error) {
	f, err := resumeTarget(ctx, s, req)
	if err != nil {
		return nil, err
	}
	return &resumption{s: s, found: f}, nil
}

func resumeTarget(ctx context.Context, s *checkpoint.Service, req Request) (*checkpoint.Found, error) {
	if req.Target != "" {
		if req.Type != "" || req.Match != "" {
			return nil, checkpoint.Usage("", "a name and --type or --match cannot be used together")
		}
		if session, err := name.ParseSession(req.Target); err == nil {
			if st, err := s.Store.State(ctx, session); err == nil {
				return currentOf(st)
			}
		}
		f, err := s.Resolve(ctx, "", req.Target)
		return f, unknownTarget(ctx, s, req.Target, err)
	}
	if req.Type == "" && req.Match == "" {
		session, err := s.NamedSession("")
		if err != nil {
			return nil, err
		}
		if session != "" {
			st, err := s.State(ctx, session)
			if err != nil {
				return nil, err
			}
			return currentOf(st)
		}
	}
	return newestUnfinished(ctx, s, req)
}

// unknownTarget hints at sessions before checkpoints: what is resumed is a job.
func unknownTarget(ctx context.Context, s *checkpoint.Service, target string, err error) error {
	var found, session *checkpoint.Error
	wanted, invalid := name.ParseSession(target)
	if invalid != nil || !errors.As(err, &found) || found.Kind != checkpoint.KindNotFound || !errors.As(s.UnknownSessionError(ctx, wanted), &session) || len(session.Hints) < 2 {
		return err
	}
	return &checkpoint.Error{Kind: checkpoint.KindNotFound, Message: fmt.Sprintf("no such session or checkpoint: %q", target), Hints: append(session.Hints[:1:1], found.Hints...)}
}

// newestUnfinished is the session with the newest event that is not over; where all
// are and nothing was asked for, the newest of these has an answer too.
func newestUnfinished(ctx context.Context, s *checkpoint.Service, req Request) (*checkpoint.Found, error) {
	all, err := session.List(ctx, s)
	if err != nil {
		return nil, err
	}
	var over *checkpoint.Found
	for _, m := range all {
		st, err := s.Store.State(ctx, m.Session)
		if err != nil || st.CurrentEntry() == nil || !checkpoint.IsOfType(ctx, s, st, req.Type) {
			continue
		}
		if req.Match != "" && !describes(ctx, s, st, req.Match) {
			continue
		}
		if !checkpoint.IsOver(ctx, s, st) {
			return currentOf(st)
		}
		if over == nil {
			over = &checkpoint.Found{Session: st.Session, State: st, Entry: st.CurrentEntry()}
		}
	}
	if over != nil {
		return over, nil
	}
	return nil, &checkpoint.Error{Kind: checkpoint.KindNotFound, Message: "there is nothing to resume", Hints: []string{"`git checkpoint session list` shows the sessions"}}
}

func currentOf(st *journal.State) (*checkpoint.Found, error) {
	e := st.CurrentEntry()
	if e == nil {
		return nil, checkpoint.NoCheckpointError(st)
	}
	return &checkpoint.Found{Session: st.Session, State: st, Entry: e}, nil
}

// describes reports whether a session's name, topic or state's own description has the
// text, case aside.
func describes(ctx context.Context, s *checkpoint.Service, st *journal.State, text string) bool {
	has := func(in string) bool { return strings.Contains(strings.ToLower(in), strings.ToLower(text)) }
	if has(string(st.Session)) || has(st.Topic) {
		return true
	}
	return has(checkpoint.FactsOf(ctx, s, st).Topic)
}

// read reads the checkpoint, integrity first: the record as the journal has it, and
// every object that is not of HEAD.
func (r *resumption) read(ctx context.Context) error {
	e := r.found.Entry
	rec, _, _, err := r.s.ReadRecord(ctx, e)
	if err == nil {
		err = checkpoint.VerifyObjects(ctx, r.s, e.Event().Commit)
	}
	if err != nil {
		return r.s.CorruptError(ctx, r.found.State, e, err)
	}
	r.record = rec
	r.def, err = r.s.ReadableDefinition(ctx, r.found.State)
	return err
}
