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

// branchSession is the session called after the branch, started or not.
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
		st, err := s.Store.State(ctx, session)
		if errors.Is(err, store.ErrNoSession) {
			var twin *store.TwinError
			if err = s.Store.CheckTwin(ctx, session); errors.As(err, &twin) {
				continue // another branch's, whose name differs in case only
			}
			return session, checkpoint.Classify(err)
		}
		if err != nil {
			return "", checkpoint.Classify(err)
		}
		if st.Branch == string(s.Repo.Head.Branch) {
			return session, nil
		}
	}
}
