package refs

import (
	"crypto/rand"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"git-checkpoint/internal/format/name"
	"git-checkpoint/internal/git/gitconfig"
	"git-checkpoint/internal/sys/gather"
)

// Value is a ref and the object that it points to. An annotated tag is not peeled.
type Value struct {
	Ref name.Ref
	OID name.OID
}

// Update is the change of one ref in a transaction. An empty New deletes the ref. Old is the
// expected value; an empty Old says that the ref must not exist.
type Update struct {
	Ref      name.Ref
	New, Old name.OID
	Reason   string // for the reflog, if the ref has one; only of refs that git writes
}

// ErrRaced says that a ref did not have the value that a transaction expected, or that it was
// locked. The caller reads the refs again and retries.
var ErrRaced = errors.New("a ref changed meanwhile")

// LockedError is an ErrRaced that names the lock file, which another process holds or has left
// behind.
type LockedError struct{ Path string }

func (e *LockedError) Error() string {
	return fmt.Sprintf("the lock %q is held by another process", e.Path)
}

// Unwrap makes it an ErrRaced.
func (e *LockedError) Unwrap() error { return ErrRaced }

// Writable reports whether the refs are ordinary files on a local file system, and nothing is
// configured that git would do in addition: fsync of refs, shared modes, timeouts for ref locks,
// namespaces, an unknown extension. head is the branch that HEAD is on; if that is a ref of ours,
// the result is false, because git would write a reflog of HEAD. Hooks and reflogs of our own refs
// are switched off in any case.
func (f Files) Writable(head name.Ref) bool {
	if f.foreign() || head.Travels() {
		return false
	}
	for _, key := range []string{"GIT_QUARANTINE_PATH", "GIT_NAMESPACE", "GIT_TEST_FSYNC", "GIT_COMMON_DIR"} {
		if gitconfig.Getenv(f.Env, key) != "" {
			return false
		}
	}
	for _, key := range []string{"core.filesRefLockTimeout", "core.packedRefsTimeout", "core.sharedRepository"} {
		if len(f.Config.Keys(key)) > 0 {
			return false
		}
	}
	if maySyncRefs(f.Config) {
		return false
	}
	for _, key := range f.Config.Keys("extensions.") {
		switch key {
		case "extensions.objectformat", "extensions.partialclone", "extensions.preciousobjects", "extensions.worktreeconfig", "extensions.noop":
		default:
			return false
		}
	}
	return localFileSystem(f.Dir) && localFileSystem(filepath.Join(f.Dir, "refs"))
}

// maySyncRefs reports whether core.fsync has a word that is, or may one day be, about refs. By
// default git does not sync refs.
func maySyncRefs(c *gitconfig.Config) bool {
	value, _ := c.Get("core.fsync")
	for part := range strings.SplitSeq(value, ",") {
		switch part = strings.TrimSpace(part); part {
		case "", "none", "loose-object", "pack", "pack-metadata", "commit-graph", "index", "objects", "derived-metadata":
		default:
			if !strings.HasPrefix(part, "-") {
				return true
			}
		}
	}
	return false
}

// plainUpdates reports whether all updates are simple, and none is of a ref that another one is of
// or is below.
func (f Files) plainUpdates(updates []Update) bool {
	if len(updates) == 0 {
		return false
	}
	refs := make([]string, 0, len(updates))
	for _, u := range updates {
		if !f.plainUpdate(u) {
			return false
		}
		refs = append(refs, string(u.Ref)+"/") // so that a/b follows a in the order, and not a-b
	}
	slices.Sort(refs)
	for i := 1; i < len(refs); i++ {
		if strings.HasPrefix(refs[i], refs[i-1]) {
			return false
		}
	}
	return true
}

// plainUpdate reports whether an update is simple: it is a ref of ours with an ordinary name, its
// ids are well-formed, and it has no reflog, which git would continue.
func (f Files) plainUpdate(u Update) bool {
	const maxName = 255 // the maximum length in bytes of a file name on common file systems
	ref := string(u.Ref)
	if !u.Ref.Travels() || !IsSimple(ref) || !f.shared(ref) || len(proofOf("0123456789", 0, u.Ref)) > maxName {
		return false
	}
	id := func(oid name.OID) bool { return len(oid) == f.Digits && name.IsHex(string(oid)) && !oid.IsZero() }
	if u.New == "" && u.Old == "" || u.New != "" && !id(u.New) || u.Old != "" && !id(u.Old) {
		return false
	}
	_, err := os.Lstat(filepath.Join(f.Dir, "logs", filepath.FromSlash(ref)))
	return errors.Is(err, fs.ErrNotExist)
}

// Write applies the updates in this process, in the way of git's files backend: it locks all
// refs, compares each with its expected value, and then renames the locks to the refs or deletes
// refs, one after the other. If this process is killed, the next one completes the transaction or
// takes it back (see transaction). errUseGit means that nothing was written, and that git should do it or
// say what is wrong. It must only be called if the refs are Writable. commits reports whether all of
// these objects are commits.
func (f Files) Write(updates []Update, commits func([]name.OID) bool) error {
	if !f.plainUpdates(updates) {
		return errUseGit
	}
	t := &transaction{Files: f, id: rand.Text()[:10]}
	defer t.release()
	for _, l := range f.locksFor(updates, commits) {
		if err := t.add(l); err != nil {
			return err
		}
	}
	if err := f.verifyRefs(t.locks); err != nil {
		return err
	}
	if err := t.fillPacked(); err != nil {
		return err
	}
	return t.commit()
}

// locksFor returns the locks of a transaction in the order in which they are taken and committed:
// new and changed refs first, then deletions. So a ref exists before the journal mentions it. A ref
// is deleted first from packed-refs and then as a file, as in git: while the loose file exists, it
// hides an older value in packed-refs.
//
// If new refs go into packed-refs, that file comes first instead. last holds what has no loose file
// in the end.
func (f Files) locksFor(updates []Update, commits func([]name.OID) bool) []*refLock {
	var locks, last []*refLock
	packed := &refLock{update: Update{Ref: packedRefsFile}}
	fresh, updates := packable(updates, commits)
	// Many new refs: packed-refs is written before the refs that mention them, such as the journal.
	if len(fresh) > 0 {
		locks = append(locks, packed)
	}
	last = append(last, gather.List(fresh, func(u Update) *refLock { return &refLock{update: u, packs: true} })...)
	for _, u := range updates {
		if u.New == "" {
			last = append(last, &refLock{update: u})
		} else {
			locks = append(locks, &refLock{update: u})
		}
	}
	// Some refs are deleted: packed-refs is rewritten without them before their files are removed.
	if len(last) > len(fresh) {
		locks = append(locks, packed)
	}
	return append(locks, last...)
}

// verifyRefs compares all refs with their expected values. The refs are locked, so nobody changes,
// packs or deletes them meanwhile. It sets idle for those that have the new value already. A
// difference is ErrRaced; a new value whose object is not here is errUseGit, so that git reports it.
func (f Files) verifyRefs(locks []*refLock) error {
	packed, err := f.openPacked()
	if err != nil {
		return err
	}
	if packed.file != nil {
		defer packed.file.Close() //nolint:errcheck // read only
	}
	for _, l := range locks {
		u := l.update
		if u.Ref == packedRefsFile {
			continue
		}
		have, err := f.current(packed, u.Ref)
		if err != nil {
			return err
		}
		if have != u.Old {
			return fmt.Errorf("%w: ref %q is %q and not %q", ErrRaced, u.Ref, have, u.Old)
		}
		if u.New == "" || l.packs {
			continue
		}
		if l.idle = have == u.New; !l.idle && !f.Whole(u.New) {
			return errUseGit
		}
	}
	return nil
}

// current returns the value of a locked ref, or "" if it does not exist. It returns errUseGit if the
// ref is not an ordinary one, or if a directory or another ref is in the way of its file.
func (f Files) current(packed packedRefs, ref name.Ref) (name.OID, error) {
	path := filepath.Join(f.Dir, filepath.FromSlash(string(ref)))
	switch info, err := os.Lstat(path); {
	case err == nil && info.Mode().IsRegular():
		oid, err := f.looseID(path)
		if err != nil { // even if it is gone, although its ref is locked
			return "", errUseGit
		}
		return oid, nil
	case !errors.Is(err, fs.ErrNotExist):
		return "", errUseGit
	case packed.file == nil:
		return "", nil
	}
	oid, err := packed.resolve(string(ref), f.Digits)
	if err != nil || oid != "" {
		return oid, err
	}
	return "", packed.free(string(ref))
}

// free returns errUseGit if a packed ref is below or above ref: git does not allow refs/a and refs/a/b
// at the same time.
func (p packedRefs) free(ref string) error {
	line, err := p.find(ref + "/")
	if _, at, _ := strings.Cut(line, " "); err != nil || strings.HasPrefix(at, ref+"/") {
		return errUseGit
	}
	for above := ref; ; {
		above = above[:strings.LastIndexByte(above, '/')]
		if !strings.Contains(above, "/") {
			return nil
		}
		line, err := p.find(above)
		if _, at, _ := strings.Cut(line, " "); err != nil || at == above {
			return errUseGit
		}
	}
}
