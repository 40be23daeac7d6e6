package create

import (
	"context"
	"errors"
	"fmt"
	"strings"

	"git-checkpoint/internal/checkpoint"
	"git-checkpoint/internal/name"
	"git-checkpoint/internal/store"
)

// branchSession returns the session named after the current branch, started or not. If a session of
// that name belongs to another branch, as after two branches whose names are cleaned to the same
// one, -2, -3 and so on is appended. With a detached HEAD the name has the first digits of its
// commit.
func branchSession(ctx context.Context, s *checkpoint.Service) (name.Session, error) {
	if s.Repo.Head.Branch == "" {
		return name.Session("detached-" + s.Repo.Head.OID.Short()), nil
	}
	short := strings.TrimPrefix(string(s.Repo.Head.Branch), "refs/heads/")
	base := name.SessionFromBranch(short)
	for n := 1; ; n++ {
		session := base
		if n > 1 {
			session = name.Session(fmt.Sprintf("%s-%d", base, n))
		}
		// A free name is taken, unless it differs from an existing session only in case: file
		// systems that ignore case would mix their refs.
		st, err := s.Store.State(ctx, session)
		if errors.Is(err, store.ErrNoSession) {
			err = s.Store.CheckTwin(ctx, session)
			if _, twin := errors.AsType[*store.TwinError](err); twin {
				continue // another branch's session, whose name differs in case only
			}
			return session, checkpoint.Classify(err)
		}
		if err != nil {
			return "", checkpoint.Classify(err)
		}
		// The session was started on this branch.
		if st.Branch == string(s.Repo.Head.Branch) {
			return session, nil
		}
	}
}
