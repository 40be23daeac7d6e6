package attempt_test

import (
	"context"
	"strings"
	"testing"

	"git-checkpoint/internal/core/checkpoint"
	"git-checkpoint/internal/test/verbtest"
	"git-checkpoint/internal/verb/attempt"
	"git-checkpoint/internal/verb/inspect"
)

// interrupting cancels a context at the first output.
type interrupting struct{ cancel func() }

func (i interrupting) Write(p []byte) (int, error) {
	i.cancel()
	return len(p), nil
}

// A fork that is interrupted says so when a command did not run in one of the attempts.
func TestForkInterrupted(t *testing.T) {
	w := verbtest.New(t)
	w.Save("")
	s := w.Open()
	ctx, cancel := context.WithCancel(t.Context())
	made, err := attempt.Fork(ctx, s, attempt.ForkRequest{
		Count: 3, Jobs: 1, Command: []string{"echo", "said"}, IO: inspect.IO{In: strings.NewReader(""), Out: interrupting{cancel}, Err: t.Output()},
	})
	if len(made) != 3 || made[1].Run != nil || made[2].Run != nil {
		t.Fatalf("%d attempts: %+v", len(made), made)
	}
	if checkpoint.KindOf(err) != checkpoint.KindInterrupt {
		t.Errorf("the error is %v", err)
	}
}
