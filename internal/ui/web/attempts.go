package web

import (
	"context"
	"net/http"

	"git-checkpoint/internal/core/checkpoint"
	"git-checkpoint/internal/verb/attempt"
)

// attemptsPage is the table of the newest fork's attempts, and a list of all attempts.
type attemptsPage struct {
	*attempt.Comparison
	Sort string // the column by which the rows are sorted
	All  []attempt.Attempt
}

// attempts shows the attempts of the repository.
func (s *Server) attempts(ctx context.Context, service *checkpoint.Service, r *http.Request) (view, error) {
	p := &attemptsPage{Sort: r.FormValue("sort")}
	v := view{Name: "attempts", Title: "Attempts", Data: p}
	var err error
	if p.All, err = attempt.List(ctx, service.Store); err != nil || len(p.All) == 0 {
		return v, err
	}
	p.Comparison, err = attempt.Compare(ctx, service, attempt.CompareRequest{Session: r.FormValue("session"), Sort: p.Sort})
	if checkpoint.KindOf(err) == checkpoint.KindNotFound { // there are attempts, but none of this session
		return v, nil
	}
	return v, err
}
