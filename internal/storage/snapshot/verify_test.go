package snapshot

import (
	"context"
	"errors"
	"testing"
	"time"

	"git-checkpoint/internal/format/name"
	"git-checkpoint/internal/git"
)

// Work that was given up does not count as an object that is missing or damaged.
func TestVerifyGivenUp(t *testing.T) {
	repo := repository(t)
	shot, err := New(repo)
	if err != nil {
		t.Fatal(err)
	}
	defer shot.Close()
	oid, err := repo.Objects.Write(t.Context(), "blob", []byte("text"))
	if err != nil {
		t.Fatal(err)
	}
	plan := func(oid name.OID) *Plan {
		return &Plan{Ops: []Op{{Path: "file", New: git.Entry{Mode: git.ModeFile, OID: oid}}}}
	}
	if err := shot.verifyObjects(t.Context(), plan(oid), nil); err != nil {
		t.Error(err)
	}
	var missing *MissingError
	if err := shot.verifyObjects(t.Context(), plan("1"+oid[1:]), nil); !errors.As(err, &missing) {
		t.Errorf("an object that is not there: %v", err)
	}
	for _, gone := range []error{context.Canceled, context.DeadlineExceeded} {
		ctx, cancel := context.WithDeadline(t.Context(), time.Unix(0, 0))
		if gone == context.Canceled { //nolint:errorlint // it is that one
			ctx, cancel = context.WithCancel(t.Context())
			cancel()
		}
		defer cancel()
		if err := shot.verifyObjects(ctx, plan("1"+oid[1:]), nil); !errors.Is(err, gone) {
			t.Errorf("%v: %v", gone, err)
		}
	}
}
