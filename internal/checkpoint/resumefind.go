package checkpoint

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"strings"

	"git-checkpoint/internal/git"
	"git-checkpoint/internal/journal"
	"git-checkpoint/internal/name"
	"git-checkpoint/internal/workflow"
)

// findResumption finds the checkpoint: named, or the newest unfinished session that
// fits.
func (s *Service) findResumption(ctx context.Context, req ResumeRequest) (*resumption, error) {
	f, err := s.resumeTarget(ctx, req)
	if err != nil {
		return nil, err
	}
	return &resumption{s: s, found: f}, nil
}

func (s *Service) resumeTarget(ctx context.Context, req ResumeRequest) (*found, error) {
	if req.Target != "" {
		if req.Type != "" || req.Match != "" {
			return nil, usage("", "a name and --type or --match cannot be used together")
		}
		if session, err := name.ParseSession(req.Target); err == nil {
			if st, err := s.store.State(ctx, session); err == nil {
				return currentOf(st)
			}
		}
		return s.resolve(ctx, "", req.Target)
	}
	if req.Type == "" && req.Match == "" {
		session, err := s.named("")
		if err != nil {
			return nil, err
		}
		if session != "" {
			st, err := s.state(ctx, session)
			if err != nil {
				return nil, err
			}
			return currentOf(st)
		}
	}
	return s.newestUnfinished(ctx, req)
}

// newestUnfinished is the session with the newest event that is not over; where all
// are and nothing was asked for, the newest of these has an answer too.
func (s *Service) newestUnfinished(ctx context.Context, req ResumeRequest) (*found, error) {
	all, err := s.Sessions(ctx)
	if err != nil {
		return nil, err
	}
	var over *found
	for _, m := range all {
		st, err := s.store.State(ctx, m.Session)
		if err != nil || st.CurrentEntry() == nil || !s.isOfType(ctx, st, req.Type) {
			continue
		}
		if req.Match != "" && !s.describes(ctx, st, req.Match) {
			continue
		}
		if !s.isOver(ctx, st) {
			return currentOf(st)
		}
		if over == nil {
			over = &found{st.Session, st, st.CurrentEntry()}
		}
	}
	if over != nil {
		return over, nil
	}
	return nil, &Error{Kind: KindNotFound, Message: "there is nothing to resume", Hints: []string{"`git checkpoint session list` shows the sessions"}}
}

// isOver reports whether a session was closed, its workflow has come to its end, or
// nothing is left of it.
func (s *Service) isOver(ctx context.Context, st *journal.State) bool {
	if isClosed(st.Status) {
		return true
	}
	if st.CurrentEntry() == nil {
		return len(st.Tombstones) > 0
	}
	def, err := s.ofSession(ctx, st)
	if err != nil {
		return false
	}
	status := st.CurrentEntry().Event().CheckpointStatus
	return status == "complete" || def.Statuses.Closes[status] == "complete"
}

func currentOf(st *journal.State) (*found, error) {
	e := st.CurrentEntry()
	if e == nil {
		return nil, noCheckpoint(st)
	}
	return &found{st.Session, st, e}, nil
}

// describes reports whether a session's name, topic or state's own description has the
// text, case aside.
func (s *Service) describes(ctx context.Context, st *journal.State, text string) bool {
	has := func(in string) bool { return strings.Contains(strings.ToLower(in), strings.ToLower(text)) }
	if has(string(st.Session)) || has(st.Topic) {
		return true
	}
	return has(s.factsOf(ctx, st).Topic)
}

// isOfType reports whether a session's name, or the kind of work that its state names,
// begins like this.
func (s *Service) isOfType(ctx context.Context, st *journal.State, prefix string) bool {
	return strings.HasPrefix(string(st.Session), prefix) || strings.HasPrefix(s.factsOf(ctx, st).Type, prefix)
}

// factsOf is what the current state of a session says of itself; nothing where it
// cannot be read.
func (s *Service) factsOf(ctx context.Context, st *journal.State) workflow.Facts {
	e := st.CurrentEntry()
	def, err := s.ofSession(ctx, st)
	if err != nil || e == nil {
		return workflow.Facts{}
	}
	rec, _, _, err := s.readRecord(ctx, e)
	if err != nil {
		return workflow.Facts{}
	}
	facts, err := def.Read(rec.State)
	if err != nil {
		return workflow.Facts{}
	}
	return facts
}

// topicOf is what the session was started for, else what its documents say of themselves.
func (s *Service) topicOf(ctx context.Context, st *journal.State) string {
	if st.Topic != "" {
		return st.Topic
	}
	def, err := s.ofSession(ctx, st)
	if err != nil || def.State.Members.Topic == "" {
		return ""
	}
	return s.factsOf(ctx, st).Topic
}

// topicIn is what a document says of itself.
func topicIn(def *workflow.Definition, state json.RawMessage) string {
	if def.State.Members.Topic == "" {
		return ""
	}
	facts, err := def.Read(state)
	if err != nil {
		return ""
	}
	return facts.Topic
}

// read reads the checkpoint, integrity first: the record as the journal has it, and
// every object that is not of HEAD.
func (r *resumption) read(ctx context.Context) error {
	e := r.found.entry
	rec, _, _, err := r.s.readRecord(ctx, e)
	if err == nil {
		err = r.s.whole(ctx, e.Event().Commit)
	}
	if err != nil {
		return r.s.corrupt(ctx, r.found.state, e, err)
	}
	r.record = rec
	r.def, err = r.s.reading(ctx, r.found.state)
	return err
}

// whole reports what of a commit's objects is not there or cannot be opened, those of
// HEAD aside.
func (s *Service) whole(ctx context.Context, commit name.OID) error {
	args := []string{"rev-list", "--objects", "--no-object-names", string(commit)}
	if s.repo.Head.OID != "" {
		args = append(args, "^"+string(s.repo.Head.OID))
	}
	listed, err := s.repo.Run(ctx, git.Cmd{Args: append(args, "--")})
	if code := git.ExitCode(err); err != nil && code >= 0 {
		var failed *git.Error
		if errors.As(err, &failed) {
			first, _, _ := strings.Cut(strings.TrimSpace(failed.Stderr), "\n")
			return errors.New(strings.TrimPrefix(first, "fatal: "))
		}
	}
	if err != nil {
		return err
	}
	objects := strings.Fields(string(listed.Stdout))
	return s.repo.Batch().Info(ctx, objects, func(i int, _ git.Object, err error) error {
		if err != nil {
			return fmt.Errorf("object %s: %w", name.OID(objects[i]).Short(), err)
		}
		return nil
	})
}
