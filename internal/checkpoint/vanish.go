package checkpoint

import (
	"errors"

	"git-checkpoint/internal/store"
)

// Attempts bounds how often something is brought anew that a gc took while it came.
const Attempts = 3

// Vanished reports whether objects went while refs were written that need them, so that
// the refs were taken back.
func Vanished(err error) bool {
	var missing *store.MissingObjectsError
	return errors.As(err, &missing) && missing.TakenBack
}
