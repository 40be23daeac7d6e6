package store

import (
	"errors"
	"fmt"
	"time"

	"git-checkpoint/internal/format/journal"
	"git-checkpoint/internal/format/name"
	"git-checkpoint/internal/format/record"
	"git-checkpoint/internal/git"
)

// These errors say that what was asked for does not exist.
var (
	ErrNoSession = errors.New("no such session")
	ErrNoOutput  = errors.New("no such output")
)

// DamagedError reports an object of a checkpoint or journal that is missing, unreadable, or not
// what it has to be.
type DamagedError struct {
	What string   // "checkpoint commit", "record", "journal", and so on
	OID  name.OID // the object, or the one that refers to it
	Err  error
}

func (e *DamagedError) Error() string {
	// A record of a newer format cannot be read either, but it is whole.
	if later, is := errors.AsType[*record.FormatError](e.Err); is {
		return later.Error()
	}
	return fmt.Sprintf("the %s at %s is damaged: %v", e.What, e.OID.Short(), e.Err)
}

func (e *DamagedError) Unwrap() error { return e.Err }

// TwinError refuses a new session whose name differs from an existing one in case only. On a
// case-insensitive file system the refs of the two would be the same files.
type TwinError struct {
	Session, Existing name.Session
}

func (e *TwinError) Error() string {
	return fmt.Sprintf("session %q differs only in case from %q, which exists", e.Session, e.Existing)
}

// LostError refuses to begin a session anew whose checkpoints are still here: its journal was deleted,
// and a new one would number and show only what comes after it.
type LostError struct {
	Session name.Session
}

func (e *LostError) Error() string {
	return fmt.Sprintf("the journal of session %q is missing", e.Session)
}

// ReadOnlyError refuses to write on top of a journal that this version does not fully understand,
// for example because a later version wrote to it, or because it was forged.
type ReadOnlyError struct {
	Session name.Session
	Reason  string
	Forged  bool // it has events of another session
}

// ReadOnly returns the ReadOnlyError for a journal that has a reason for one.
func ReadOnly(session name.Session, st *journal.State) *ReadOnlyError {
	return &ReadOnlyError{Session: session, Reason: st.ReadOnly, Forged: len(st.Strangers()) > 0}
}

func (e *ReadOnlyError) Error() string {
	return fmt.Sprintf("session %q is read-only here: %s", e.Session, e.Reason)
}

// BusyError is returned when Transact gives up: other writers were faster each time, or a lock
// stayed. A lock of another program is never removed, because that program may be alive.
type BusyError struct {
	Session name.Session
	Tries   int // attempts that were made
	Elapsed time.Duration
	Lock    string // path of the lock in the way; empty when no lock was
	Err     error  // the error of the last attempt
}

func (e *BusyError) Error() string {
	if e.Lock != "" {
		return fmt.Sprintf("change session %q: the lock %q was held for %s (%d tries)", e.Session, e.Lock, e.Elapsed.Round(time.Millisecond), e.Tries)
	}
	return fmt.Sprintf("change session %q: gave up after %d tries in %s: %v", e.Session, e.Tries, e.Elapsed.Round(time.Millisecond), e.Err)
}

// Unwrap returns the error of the last attempt.
func (e *BusyError) Unwrap() error { return e.Err }

// MissingObjectsError says that refs were written, but that some of the objects they need have been
// deleted meanwhile, by a gc or prune.
type MissingObjectsError struct {
	OIDs      []name.OID
	TakenBack bool // the refs have their old values again
}

func (e *MissingObjectsError) Error() string {
	return fmt.Sprintf("%d objects disappeared while they were being written; the first is %s", len(e.OIDs), e.OIDs[0])
}

// Unwrap makes it a git.ErrMissing.
func (e *MissingObjectsError) Unwrap() error { return git.ErrMissing }

// brokenFile returns the error for a small file in <git dir>/checkpoint with invalid content.
func brokenFile(path string, err error) error {
	return fmt.Errorf("the file %q is broken (it may be deleted): %w", path, err)
}
