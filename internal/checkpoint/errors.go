package checkpoint

import "errors"

// Kind classifies an error; the command line maps each to one exit code.
type Kind string

// The kinds, named as `--json` gives them.
const (
	KindFailed    Kind = "failed"      // exit code 1
	KindNotFound  Kind = "not_found"   // 3: no such checkpoint or session
	KindRefused   Kind = "refused"     // 4: it would lose something, or was not confirmed
	KindInvalid   Kind = "invalid"     // 5: corrupt or invalid
	KindRejected  Kind = "rejected"    // 6: the workflow rejects the state or transition
	KindConflict  Kind = "conflict"    // 7: with a remote
	KindNothing   Kind = "nothing"     // 8: nothing to do
	KindUnusable  Kind = "unusable"    // 128: not a usable repository
	KindUsage     Kind = "usage"       // 129: the request itself is wrong
	KindInterrupt Kind = "interrupted" // 130
)

// Error is an error with its kind and what the user may do about it.
type Error struct {
	Kind    Kind
	Message string   // what went wrong; empty: Err's text
	Hints   []string // what to type next, one line each
	Err     error
}

func (e *Error) Error() string {
	switch {
	case e.Err == nil:
		return e.Message
	case e.Message == "":
		return e.Err.Error()
	}
	return e.Message + ": " + e.Err.Error()
}

// Unwrap gives the cause.
func (e *Error) Unwrap() error { return e.Err }

// KindOf classifies any error; one without a kind has failed.
func KindOf(err error) Kind {
	var e *Error
	if errors.As(err, &e) {
		return e.Kind
	}
	return KindFailed
}

// SpoiltHint is what can be done when nobody knows how far a rollback came.
func SpoiltHint(path string) string {
	return "the newest safety checkpoint holds what was there before: `git checkpoint list` shows it; to go on from the files as they are now, remove " + path
}

// IsFailure reports whether there could be a checkpoint, but for something that may be
// put right.
func IsFailure(k Kind) bool {
	return k == KindFailed || k == KindRejected || k == KindRefused || k == KindInvalid
}
