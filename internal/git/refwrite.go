package git

import (
	"context"
	"crypto/rand"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"git-checkpoint/internal/gitconfig"
	"git-checkpoint/internal/mapped"
	"git-checkpoint/internal/name"
)

// maxName is how long the name of a file can be.
const maxName = 255

// writesRefs reports whether refs are kept as files that can be written as git itself
// writes them, with nothing configured that git would do besides: no sync, no modes, no
// other format. Hooks and reflogs are switched off for our refs anyway.
func (r *Repo) writesRefs() bool {
	r.plainOnce.Do(func() { r.plainly = r.plainRefs() })
	return r.plainly
}

func (r *Repo) plainRefs() bool {
	if r.refFiles().dir == "" || sharedMode(r.Config).bits != 0 || strings.HasPrefix(string(r.Head.Branch), name.CheckpointRoot) ||
		strings.HasPrefix(string(r.Head.Branch), name.TagRoot) || r.Head.Branch == name.NotesRef {
		return false
	}
	for _, key := range []string{"GIT_QUARANTINE_PATH", "GIT_NAMESPACE", "GIT_TEST_FSYNC", "GIT_COMMON_DIR"} {
		if gitconfig.Getenv(r.env, key) != "" {
			return false
		}
	}
	if len(r.Config.Keys("core.fsync"))+len(r.Config.Keys("core.filesRefLockTimeout"))+len(r.Config.Keys("core.sharedRepository")) > 0 {
		return false
	}
	for _, key := range r.Config.Keys("extensions.") {
		switch key {
		case "extensions.objectformat", "extensions.partialclone", "extensions.preciousobjects", "extensions.worktreeconfig", "extensions.noop":
		default:
			return false
		}
	}
	return localFileSystem(r.CommonDir) && localFileSystem(filepath.Join(r.CommonDir, "refs"))
}

// plainUpdates reports whether all are refs of ours, each once and none below another,
// without a reflog that somebody began.
func (r *Repo) plainUpdates(updates []Update) bool {
	if len(updates) == 0 {
		return false
	}
	refs := make([]string, 0, len(updates))
	for _, u := range updates {
		if !r.plainUpdate(u) {
			return false
		}
		refs = append(refs, string(u.Ref))
	}
	slices.Sort(refs)
	for i := 1; i < len(refs); i++ {
		if refs[i] == refs[i-1] || strings.HasPrefix(refs[i], refs[i-1]+"/") {
			return false
		}
	}
	return true
}

func (r *Repo) plainUpdate(u Update) bool {
	ref := string(u.Ref)
	ours := strings.HasPrefix(ref, name.CheckpointRoot) || strings.HasPrefix(ref, name.TagRoot) || u.Ref == name.NotesRef
	if !ours || !isSimpleRef(ref) || !r.refFiles().shared(ref) || len(proofOf("0123456789", 0, u.Ref)) > maxName {
		return false
	}
	id := func(oid name.OID) bool { return len(oid) == 2*r.HashLen() && name.IsHex(string(oid)) && !oid.IsZero() }
	if u.New == "" && u.Old == "" || u.New != "" && !id(u.New) || u.Old != "" && !id(u.Old) {
		return false
	}
	_, err := os.Lstat(filepath.Join(r.CommonDir, "logs", filepath.FromSlash(ref)))
	return errors.Is(err, fs.ErrNotExist)
}

// writeRefs is a transaction as git's files backend makes it: it locks all refs, looks
// whether each is as it was expected, and gives the locks the refs' names or deletes the refs, one after the
// other. After a kill the next run does the rest of it, or takes it back. errAsk: nothing
// was written, and git is to do it, or to say what is wrong.
func (r *Repo) writeRefs(ctx context.Context, updates []Update) error {
	if !r.writesRefs() || !r.plainUpdates(updates) {
		return errAsk
	}
	t := &refLocks{repo: r, id: rand.Text()[:10]}
	defer t.release()
	for _, l := range r.locksFor(ctx, updates) {
		if err := t.add(l); err != nil {
			return err
		}
	}
	if err := r.verifyRefs(t.locks); err != nil {
		return err
	}
	if err := t.fillPacked(); err != nil {
		return err
	}
	return t.commit()
}

// locksFor are the locks of a transaction, in the order in which they are taken and
// committed. A ref is there before another value tells of it, and as in git it is deleted
// after that, first from packed-refs: its loose file hides an older value there.
func (r *Repo) locksFor(ctx context.Context, updates []Update) []*refLock {
	var locks, last []*refLock
	packed := &refLock{update: Update{Ref: packedRefsFile}}
	fresh, updates := r.packable(ctx, updates)
	if len(fresh) > 0 {
		locks = append(locks, packed)
	}
	for _, u := range fresh {
		last = append(last, &refLock{update: u, packs: true})
	}
	for _, u := range updates {
		if u.New == "" {
			last = append(last, &refLock{update: u})
		} else {
			locks = append(locks, &refLock{update: u})
		}
	}
	if len(last) > len(fresh) {
		locks = append(locks, packed)
	}
	return append(locks, last...)
}

// verifyRefs holds what is there against what was expected. The refs are locked: nobody
// changes, packs or deletes one meanwhile.
func (r *Repo) verifyRefs(locks []*refLock) error {
	files := r.refFiles()
	packed, err := files.openPacked()
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
		have, err := files.current(packed, u.Ref)
		if err != nil {
			return err
		}
		if have != u.Old {
			return fmt.Errorf("%w: ref %q is %q and not %q", ErrRaced, u.Ref, have, u.Old)
		}
		if u.New == "" || l.packs {
			continue
		}
		if l.idle = have == u.New; !l.idle && !r.isWhole(u.New) {
			return errAsk
		}
	}
	return nil
}

// current is the value of a ref that is locked, "" without one. errAsk: there is something
// in its way, or it is no plain ref.
func (f refFiles) current(packed packedRefs, ref name.Ref) (name.OID, error) {
	path := filepath.Join(f.dir, filepath.FromSlash(string(ref)))
	switch info, err := os.Lstat(path); {
	case err == nil && info.Mode().IsRegular():
		data, err := mapped.Small(path)
		oid, ended := strings.CutSuffix(string(data), "\n")
		if err != nil || !ended || len(oid) != f.digits || !name.IsHex(oid) {
			return "", errAsk
		}
		return name.OID(oid), nil
	case !errors.Is(err, fs.ErrNotExist):
		return "", errAsk
	case packed.file == nil:
		return "", nil
	}
	oid, err := packed.resolve(string(ref), f.digits)
	if err != nil || oid != "" {
		return oid, err
	}
	return "", packed.free(string(ref))
}

// free is errAsk where a packed ref is below a new one, or above it.
func (p packedRefs) free(ref string) error {
	line, err := p.find(ref + "/")
	if _, at, _ := strings.Cut(line, " "); err != nil || strings.HasPrefix(at, ref+"/") {
		return errAsk
	}
	for above := ref; ; {
		above = above[:strings.LastIndexByte(above, '/')]
		if !strings.Contains(above, "/") {
			return nil
		}
		line, err := p.find(above)
		if _, at, _ := strings.Cut(line, " "); err != nil || at == above {
			return errAsk
		}
	}
}

// isWhole reports whether an object is on the disk and can be read, or is in a pack.
func (r *Repo) isWhole(oid name.OID) bool {
	d := r.database()
	if d.loose.has(oid) {
		return d.loose.whole(oid)
	}
	d.packs.Refresh()
	_, packed := d.packs.Find(oid)
	return packed
}
