package git

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"regexp"
	"strings"
	"sync"

	"git-checkpoint/internal/name"
)

// RefValue is a ref and the object that it points to directly.
type RefValue struct {
	Ref name.Ref
	OID name.OID
}

// Refs lists the refs below the prefixes, sorted by name. It reads no objects,
// so that a missing one stops nothing. Mostly it needs no process.
func (r *Repo) Refs(ctx context.Context, prefixes ...string) ([]RefValue, error) {
	if refs, err := r.refFiles().list(prefixes); err == nil {
		return refs, ctx.Err()
	}
	return r.forEachRef(ctx, prefixes)
}

func (r *Repo) forEachRef(ctx context.Context, prefixes []string) ([]RefValue, error) {
	args := append([]string{"for-each-ref", "--format=%(objectname) %(refname)"}, prefixes...)
	res, err := r.Run(ctx, Cmd{Args: args})
	if err != nil {
		return nil, fmt.Errorf("list refs: %w", err)
	}
	var out []RefValue
	for line := range strings.Lines(string(res.Stdout)) {
		oid, ref, ok := strings.Cut(strings.TrimSuffix(line, "\n"), " ")
		if !ok {
			return nil, fmt.Errorf("list refs: unexpected line %q", line)
		}
		out = append(out, RefValue{OID: name.OID(oid), Ref: name.Ref(ref)})
	}
	return out, nil
}

// Update is one ref change of a transaction. An empty New deletes; an empty Old
// demands that the ref does not exist.
type Update struct {
	Ref      name.Ref
	New, Old name.OID
}

// ErrRaced says that a ref was not as a transaction expected it, or was locked.
var ErrRaced = errors.New("a ref changed meanwhile")

// UpdateRefs applies all updates in one transaction, in order, or none. No
// reflog is written: it would keep what a prune lets go. An error that wraps
// ErrRaced can be retried from the refs as they are then. Very many new refs are written at
// once.
func (r *Repo) UpdateRefs(ctx context.Context, updates []Update) error {
	if ctx.Err() != nil {
		return context.Cause(ctx)
	}
	if r.borrowed != "" {
		return ErrBorrowed
	}
	ctx = context.WithoutCancel(ctx) // git renames ref after ref, and a killed one leaves its locks
	if r.pack != nil {
		if err := r.pack.flush(ctx); err != nil {
			return err
		}
	}
	if err := r.writeRefs(ctx, updates); !errors.Is(err, errAsk) {
		return err
	}
	return r.updateRefs(ctx, updates)
}

// updateRefs has git do it.
func (r *Repo) updateRefs(ctx context.Context, updates []Update) error {
	return r.unstuck(func() error { return r.askUpdate(ctx, updates) })
}

// unstuck does what takes locks of refs, once more where a killed process had left one.
func (r *Repo) unstuck(do func() error) error {
	err := do()
	if HeldLock(err) != "" && r.ReclaimRefs() {
		return do()
	}
	return err
}

func (r *Repo) askUpdate(ctx context.Context, updates []Update) error {
	var in bytes.Buffer
	in.WriteString("start\x00")
	if err := r.writeUpdates(&in, updates); err != nil {
		return err
	}
	in.WriteString("prepare\x00commit\x00")
	return refFault(r.updateRef(ctx, in.Bytes()))
}

// writeUpdates writes updates as update-ref reads them.
func (r *Repo) writeUpdates(in *bytes.Buffer, updates []Update) error {
	zero := strings.Repeat("0", 2*r.HashLen())
	for _, u := range updates {
		old := string(u.Old)
		if old == "" {
			old = zero
		}
		switch {
		case strings.ContainsAny(string(u.Ref), " \n\x00"):
			return fmt.Errorf("update ref %q: not a ref name", u.Ref)
		case u.New == "":
			fmt.Fprintf(in, "option no-deref\x00delete %s\x00%s\x00", u.Ref, old)
		default:
			fmt.Fprintf(in, "option no-deref\x00update %s\x00%s\x00%s\x00", u.Ref, u.New, old)
		}
	}
	return nil
}

// refFault tells a lost race and a lock from what trying again would not change.
func refFault(err error) error {
	if err == nil {
		return nil
	}
	var e *Error
	if !errors.As(err, &e) {
		return fmt.Errorf("update refs: %w", err)
	}
	if lock := HeldLock(err); lock != "" {
		return &LockedError{Path: lock}
	}
	if strings.Contains(e.Stderr, "nonexistent object") { // a gc beside us took it: what is built anew is written anew
		return fmt.Errorf("%w: %s", ErrRaced, firstLine(err))
	}
	if strings.Contains(e.Stderr, "cannot lock ref") && !hopeless().MatchString(e.Stderr) {
		return fmt.Errorf("%w: %s", ErrRaced, firstLine(err))
	}
	return fmt.Errorf("update refs: %w", err)
}

// HeldLock is the lock file in the way of a git that failed; empty when that is not why.
func HeldLock(err error) string {
	var locked *LockedError
	if errors.As(err, &locked) {
		return locked.Path
	}
	var e *Error
	if !errors.As(err, &e) {
		return ""
	}
	if m := lockExists().FindStringSubmatch(e.Stderr); m != nil {
		return m[1]
	}
	return ""
}

// lockExists is how git says, in the C locale, that a lock file is in its way. A
// deletion that meets packed-refs.lock says no more than this.
var lockExists = sync.OnceValue(func() *regexp.Regexp { return regexp.MustCompile(`Unable to create '(.+\.lock)': File exists`) })

// hopeless is what trying again would not change.
var hopeless = sync.OnceValue(func() *regexp.Regexp {
	return regexp.MustCompile(`Permission denied|Read-only file system|No space left on device|quota exceeded|Input/output error|File name too long`)
})

// LockedError is an ErrRaced that names the lock that another process holds, or
// left behind.
type LockedError struct{ Path string }

func (e *LockedError) Error() string {
	return fmt.Sprintf("the lock %q is held by another process", e.Path)
}

// Unwrap makes it an ErrRaced.
func (e *LockedError) Unwrap() error { return ErrRaced }
