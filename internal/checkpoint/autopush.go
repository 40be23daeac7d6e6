package checkpoint

import (
	"context"
	"time"
)

// PushInBackground is the push that a create starts. What it ends with is remembered
// for `status`: there is nobody to tell.
func (s *Service) PushInBackground(ctx context.Context, req TravelRequest) error {
	req.Ask, req.Quietly = false, true
	t, err := s.newTrip(req)
	if err != nil {
		return err
	}
	pushed := t.memory.Pushed
	err = t.push(ctx, nil)
	if err == nil {
		err = t.verdict()
	}
	t.memory.Pushed = pushed // what travels was not said to anybody
	t.memory.Auto = "pushed " + s.now().Format(time.RFC3339)
	if err != nil {
		t.memory.Auto = "failed " + s.now().Format(time.RFC3339) + ": " + err.Error()
	}
	if saved := t.memory.save(); saved != nil {
		return saved
	}
	return err
}
