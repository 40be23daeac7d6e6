package checkpoint

import (
	"errors"

	"git-checkpoint/internal/store"
)

// Attempts is how often an operation is tried when a concurrent git gc removes objects while they
// arrive.
const Attempts = 3

// Vanished reports whether a transaction failed because objects disappeared while the refs that
// need them were written, and the refs were removed again. Nothing is left behind then, so the
// operation can be tried again.
func Vanished(err error) bool {
	missing, is := errors.AsType[*store.MissingObjectsError](err)
	return is && missing.TakenBack
}
