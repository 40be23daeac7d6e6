package store

import (
	"errors"
	"fmt"
	"time"

	"git-checkpoint/internal/git"
	"git-checkpoint/internal/name"
)

// What was asked for and is not there.
var (
	ErrNoSession    = errors.New("no such session")
	ErrNoCheckpoint = errors.New("no such checkpoint")
	ErrNoOutput     = errors.New("no such output")
)

// DamagedError says which object of a checkpoint or journal cannot be what it has
// to be.
type DamagedError struct {
	What string   // "checkpoint commit", "record", "journal" …
	OID  name.OID // the object, or the one that names it
	Err  error
}

func (e *DamagedError) Error() string {
	return fmt.Sprintf("the %s at %s is damaged: %v", e.What, e.OID.Short(), e.Err)
}

// Unwrap gives the cause.
func (e *DamagedError) Unwrap() error { return e.Err }

// TwinError refuses a new session whose name differs from another's in case only:
// on many file systems the two would be one.
type TwinError struct {
	Session, Existing name.Session
}

func (e *TwinError) Error() string {
	return fmt.Sprintf("session %q differs in case only from %q, which exists", e.Session, e.Existing)
}

// ReadOnlyError refuses to write on top of a journal that this version does not
// fully understand.
type ReadOnlyError struct {
	Session name.Session
	Reason  string
}

func (e *ReadOnlyError) Error() string {
	return fmt.Sprintf("session %q can only be read here: %s", e.Session, e.Reason)
}

// MovedRefError says that a checkpoint's ref is not what the change expected, and
// that trying again would not help.
type MovedRefError struct {
	Ref        name.Ref
	Want, Have name.OID
}

func (e *MovedRefError) Error() string {
	return fmt.Sprintf("%s is %s, not %s", e.Ref, e.Have.Short(), e.Want.Short())
}

// BusyError ends the retries: other writers were faster each time, or a lock
// stayed. The lock is never removed here: it is not ours.
type BusyError struct {
	Session name.Session
	Tries   int
	Elapsed time.Duration
	Lock    string // path of the lock in the way; empty when it was none
	Err     error
}

func (e *BusyError) Error() string {
	if e.Lock != "" {
		return fmt.Sprintf("change session %q: the lock %q stayed for %s (%d tries)", e.Session, e.Lock, e.Elapsed.Round(time.Millisecond), e.Tries)
	}
	return fmt.Sprintf("change session %q: gave up after %d tries in %s: %v", e.Session, e.Tries, e.Elapsed.Round(time.Millisecond), e.Err)
}

// Unwrap gives the last try's error.
func (e *BusyError) Unwrap() error { return e.Err }

// MissingObjectsError says that refs were written, but some of the objects they
// need have vanished.
type MissingObjectsError struct {
	OIDs      []name.OID
	TakenBack bool // the refs are as they were before
}

func (e *MissingObjectsError) Error() string {
	return fmt.Sprintf("%d objects vanished while they were written, the first is %s", len(e.OIDs), e.OIDs[0])
}

// Unwrap makes it a git.ErrMissing.
func (e *MissingObjectsError) Unwrap() error { return git.ErrMissing }

// FileError says that a small file of ours holds what it cannot.
type FileError struct {
	Path string
	Err  error
}

func (e *FileError) Error() string {
	return fmt.Sprintf("the file %q is broken (it may be deleted): %v", e.Path, e.Err)
}

// Unwrap gives the cause.
func (e *FileError) Unwrap() error { return e.Err }
