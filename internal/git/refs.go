package git

import (
	"bytes"
	"cmp"
	"context"
	"errors"
	"fmt"
	"regexp"
	"strings"

	"git-checkpoint/internal/format/name"
	"git-checkpoint/internal/git/internal/refs"
	"git-checkpoint/internal/sys/gather"
)

// RefValue is refs.Value; package refs reads and writes refs that are files.
type RefValue = refs.Value

// Update is refs.Update.
type Update = refs.Update

// LockedError is refs.LockedError.
type LockedError = refs.LockedError

// ErrRaced says that a ref did not have the value that a transaction expected, or that it was
// locked. The caller reads the refs again and retries.
var ErrRaced = refs.ErrRaced

// RefTempPrefix is refs.TempPrefix.
const RefTempPrefix = refs.TempPrefix

// Refs reads and writes the refs of a repository, in this process where they are files and otherwise by
// git.
type Refs struct {
	at      *Location
	objects *Objects
}

// refFiles returns the refs as files, which is what they are in most repositories. They are for
// reading only, because they do not know which objects exist.
func (l *Location) refFiles() refs.Files {
	return refs.Files{Dir: l.CommonDir, Digits: 2 * l.HashLen(), Config: l.Config, Env: l.env}
}

// files is Location.refFiles for writing, too.
func (r *Refs) files() refs.Files {
	files := r.at.refFiles()
	files.Whole = r.objects.isWhole
	return files
}

// List lists the refs below the prefixes, sorted by name. It does not read the objects, so refs
// with missing objects are listed too. In most repositories it starts no process.
func (r *Refs) List(ctx context.Context, prefixes ...string) ([]RefValue, error) {
	if found, err := r.files().List(prefixes); err == nil {
		return found, ctx.Err()
	}
	return r.forEachRef(ctx, prefixes)
}

// Sample returns at least one ref of each directory directly below dir, sorted by name, without
// listing all of them where refs are files. One that is kept as a file may be broken.
func (r *Refs) Sample(ctx context.Context, dir string) ([]name.Ref, error) {
	if samples, err := r.files().Samples(dir); err == nil {
		return samples, ctx.Err()
	}
	found, err := r.forEachRef(ctx, []string{dir + "/"})
	return gather.List(found, func(ref RefValue) name.Ref { return ref.Ref }), err
}

// ListAndFault is List, and also returns a description of the damage in packed-refs, which may hide
// refs.
func (r *Refs) ListAndFault(ctx context.Context, prefixes ...string) (found []RefValue, fault string, err error) {
	files := r.files()
	if found, err := files.List(prefixes); err == nil {
		return found, "", ctx.Err()
	}
	found, err = r.forEachRef(ctx, prefixes)
	return found, files.Fault(), err
}

// Reclaim finishes the transactions of processes of ours that were killed, and reports whether
// it removed a lock.
func (r *Refs) Reclaim() bool { return r.files().Reclaim() }

// forEachRef has git list the refs.
func (r *Refs) forEachRef(ctx context.Context, prefixes []string) ([]RefValue, error) {
	args := append([]string{"for-each-ref", "--format=%(objectname) %(refname)"}, prefixes...)
	res, err := r.at.Run(ctx, Cmd{Args: args})
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

// ErrBrokenRef says that git cannot read a ref, so that it does not change it either. Its file may
// be empty after a power loss.
var ErrBrokenRef = errors.New("a ref is broken")

// Update applies all updates in one transaction, or none of them. An error that wraps ErrRaced
// means that the caller should compute the updates again from the refs as they are then.
//
// Updates come before deletions, each in the order given. A kill leaves a prefix of them
// (docs/format.md, "Transactions", says which orders are safe). No reflog is written, because it
// would keep alive what a prune removes. A transaction with a hundred or more new refs writes these
// directly into packed-refs.
func (r *Refs) Update(ctx context.Context, updates []Update) error {
	if ctx.Err() != nil {
		return context.Cause(ctx)
	}
	if r.objects.borrowed != "" {
		return ErrBorrowed
	}
	// git renames one ref after the other. A killed git would leave half of them, and its locks.
	ctx = context.WithoutCancel(ctx)
	if r.objects.pack != nil {
		if err := r.objects.pack.flush(ctx); err != nil {
			return err
		}
	}
	if err := r.writeRefs(ctx, updates); !errors.Is(err, errUseGit) {
		return err
	}
	return r.updateRefs(ctx, updates)
}

// writeRefs applies the updates in this process. errUseGit means that nothing was written, and that git
// should do it or say what is wrong.
func (r *Refs) writeRefs(ctx context.Context, updates []Update) error {
	files := r.files()
	if !files.Writable(r.at.Head.Branch) {
		return errUseGit
	}
	return files.Write(updates, func(oids []name.OID) bool { return r.areCommits(ctx, oids) })
}

// areCommits reports whether all of these objects are commits.
func (r *Refs) areCommits(ctx context.Context, oids []name.OID) bool {
	var specs []string
	for _, oid := range oids {
		if _, ours := r.objects.unpacked(string(oid), "commit"); !ours {
			specs = append(specs, string(oid))
		}
	}
	err := r.objects.Batch().Info(ctx, specs, func(_ int, o Object, err error) error {
		if err == nil && o.Type != "commit" {
			err = errUseGit
		}
		return err
	})
	return err == nil
}

// updateRefs has git apply the updates. If a lock is in the way that a killed process of ours has
// left, it removes the lock and tries again.
func (r *Refs) updateRefs(ctx context.Context, updates []Update) error {
	err := r.askUpdate(ctx, updates)
	if HeldLock(err) != "" && r.Reclaim() {
		return r.askUpdate(ctx, updates)
	}
	return err
}

// askUpdate runs one transaction of `git update-ref --stdin -z`. It writes no reflog.
// core.warnAmbiguousRefs is off because git would otherwise look in six places, for each id,
// whether a ref has the id as its name, only to warn about it.
func (r *Refs) askUpdate(ctx context.Context, updates []Update) error {
	var in bytes.Buffer
	in.WriteString("start\x00")
	if err := r.writeUpdates(&in, updates); err != nil {
		return err
	}
	in.WriteString("prepare\x00commit\x00")
	args := []string{"update-ref", "--stdin", "-z"}
	for _, u := range updates {
		if u.Reason != "" {
			args = append(args, "-m", u.Reason)
			break
		}
	}
	_, err := r.at.Run(ctx, Cmd{
		Args: args, Config: []string{"core.logAllRefUpdates=false", "core.warnAmbiguousRefs=false"},
		Stdin: &in,
	})
	return refFault(err)
}

// writeUpdates writes updates in the input format of `git update-ref --stdin -z`. There an old
// value of zeros says that the ref must not exist.
func (r *Refs) writeUpdates(in *bytes.Buffer, updates []Update) error {
	zero := strings.Repeat("0", 2*r.at.HashLen())
	for _, u := range updates {
		old := cmp.Or(string(u.Old), zero)
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

// refFault classifies an error of git update-ref: a lock becomes a LockedError, a lost race wraps
// ErrRaced, and for everything else a retry is of no use.
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
	if strings.Contains(e.Stderr, "nonexistent object") { // a concurrent gc deleted it; the retry writes it again
		return fmt.Errorf("%w: %s", ErrRaced, firstLine(err))
	}
	// What git says about the file of a ref that holds no object id.
	if regexp.MustCompile(`reference broken|error reading reference`).MatchString(e.Stderr) {
		return fmt.Errorf("%w: %s", ErrBrokenRef, firstLine(err))
	}
	hopeless := regexp.MustCompile(`Permission denied|Read-only file system|No space left on device|quota exceeded|Input/output error|File name too long`)
	if strings.Contains(e.Stderr, "cannot lock ref") && !hopeless.MatchString(e.Stderr) { // else a retry may help
		return fmt.Errorf("%w: %s", ErrRaced, firstLine(err))
	}
	return fmt.Errorf("update refs: %w", err)
}

// HeldLock returns the path of the lock file that made git, or a transaction of ours, fail. It is
// empty if err has another reason.
func HeldLock(err error) string {
	if locked, is := errors.AsType[*LockedError](err); is {
		return locked.Path
	}
	e, is := errors.AsType[*Error](err)
	if !is {
		return ""
	}
	// When a deletion fails because of packed-refs.lock, git prints only this message.
	if m := regexp.MustCompile(`Unable to create '(.+\.lock)': File exists`).FindStringSubmatch(e.Stderr); m != nil {
		return m[1]
	}
	return ""
}
