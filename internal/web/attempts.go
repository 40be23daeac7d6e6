package web

import (
	"context"
	"net/http"
	"slices"

	"git-checkpoint/internal/attempt"
	"git-checkpoint/internal/checkpoint"
)

// attemptsPage puts the attempts of the newest fork side by side.
type attemptsPage struct {
	*attempt.Comparison
	Sort string
	Ran  bool // a command ran in them
	All  []attempt.Attempt
}

func (s *Server) attempts(ctx context.Context, service *checkpoint.Service, r *http.Request) (view, error) {
	p := &attemptsPage{Sort: r.FormValue("sort")}
	v := view{Name: "attempts", Title: "Attempts", Data: p}
	var err error
	if p.All, err = attempt.List(ctx, service); err != nil || len(p.All) == 0 {
		return v, err
	}
	p.Comparison, err = attempt.Compare(ctx, service, attempt.CompareRequest{Session: r.FormValue("session"), Sort: p.Sort})
	if checkpoint.KindOf(err) == checkpoint.KindNotFound { // all of them belong to other sessions
		return v, nil
	}
	if err == nil {
		p.Ran = slices.ContainsFunc(p.Rows, func(c attempt.Compared) bool { return c.Code != nil })
	}
	return v, err
}

// Is reports whether an attempt is the best by a metric.
func (p *attemptsPage) Is(best []string, metric string) bool { return slices.Contains(best, metric) }
