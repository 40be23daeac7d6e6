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
	"time"

	"git-checkpoint/internal/format/name"
	"git-checkpoint/internal/sys/lockfile"
	"git-checkpoint/internal/sys/wholefile"
)

// TempPrefix is the beginning of the names of proof files in <common dir>/checkpoint. A proof
// file shows that a lock of a ref is ours; see refLock.
const TempPrefix = "tmp-ref-"

// refLock is the lock of one ref, or of packed-refs. It is the file <ref>.lock that git itself
// would create, so git and this program exclude each other.
//
// The lock is made as a hard link to a proof file, which is created first. Since both names are the
// same inode, a lock of ours can be told from every other lock, even after this process has been
// killed. The content of the lock is the new value, and renaming the lock to the ref sets that
// value.
type refLock struct {
	update Update
	proof  string // path of the proof file
	ref    string // path of the ref file
	packs  bool   // the new value is written to packed-refs, not to a loose file
	held   bool   // the lock file exists and is ours
	idle   bool   // the ref has the new value already: nothing to write or delete
}

// noLoose is the content of a lock whose ref will have no loose file, because it is deleted or goes
// into packed-refs. It must not be empty: an empty lock may be what a crash of the machine left of
// a new value.
const noLoose = "no loose ref\n"

// packedRefsFile stands for the packed-refs file in the list of locks. It is locked when refs in it
// are added or deleted.
const packedRefsFile name.Ref = "packed-refs"

// path returns the path of the lock file.
func (l *refLock) path() string { return l.ref + ".lock" }

// content returns what the lock is created with. That of packed-refs is filled in later, by
// fillPacked.
func (l *refLock) content() string {
	switch {
	case l.update.Ref == packedRefsFile:
		return ""
	case l.packs || l.update.New == "":
		return noLoose
	}
	return string(l.update.New) + "\n"
}

// transaction is a change of refs that is under way. Its steps are:
//
//  1. add creates the proofs and the locks, one after the other.
//  2. verifyRefs and fillPacked check the old values and prepare packed-refs.
//  3. decide renames the first proof. From here on the transaction counts as done.
//  4. commit renames the locks to the refs, or deletes refs.
//  5. release removes remaining locks and all proofs.
//
// The first proof is locked with flock while this process lives. If the process is killed, the next
// one that finds the first proof without a flock takes the transaction back if it was not decided,
// and completes it if it was (see Reclaim).
type transaction struct {
	Files
	id    string // random; part of the names of all proofs
	locks []*refLock
	first *os.File // the first proof, open and locked with flock
}

// proofs returns the directory of the proof files. All worktrees of a repository share it, as they
// share the refs.
func (f Files) proofs() string { return filepath.Join(f.Dir, "checkpoint") }

// proofOf returns the name of the n-th proof of a transaction: tmp-ref-<id>.<n>:<ref>, with ":" for
// each "/" in the ref. That is reversible because git allows neither a colon nor a space in the
// name of a ref. In the first proof of a decided transaction a space replaces the first colon.
func proofOf(id string, n int, ref name.Ref) string {
	return fmt.Sprintf("%s%s.%06d:%s", TempPrefix, id, n, strings.ReplaceAll(string(ref), "/", ":"))
}

// decided returns the name that the first proof gets when the transaction is decided.
func decided(proof string) string { return strings.Replace(proof, firstProof+":", firstProof+" ", 1) }

// firstProof is the number in the name of a transaction's first proof.
const firstProof = ".000000"

// add creates the proof and the lock of a ref, or of packed-refs. It returns errUseGit if that fails
// for a reason that git can explain better, and a LockedError if somebody else holds the lock.
func (t *transaction) add(l *refLock) error {
	l.proof = filepath.Join(t.proofs(), proofOf(t.id, len(t.locks), l.update.Ref))
	l.ref = filepath.Join(t.Dir, filepath.FromSlash(string(l.update.Ref)))
	f, err := os.OpenFile(l.proof, os.O_CREATE|os.O_EXCL|os.O_WRONLY, 0o666)
	if errors.Is(err, fs.ErrNotExist) && os.MkdirAll(t.proofs(), 0o777) == nil {
		f, err = os.OpenFile(l.proof, os.O_CREATE|os.O_EXCL|os.O_WRONLY, 0o666)
	}
	if err != nil {
		return errUseGit
	}
	t.locks = append(t.locks, l)
	_, err = f.WriteString(l.content())
	if t.first == nil {
		if t.first = f; !tryFlock(f) {
			return errUseGit
		}
	} else if closed := f.Close(); err == nil {
		err = closed
	}
	if err != nil {
		return errUseGit
	}
	return t.acquire(l)
}

// acquire links the lock file. It waits for another holder as long as git would wait by default, and
// removes locks that killed processes of ours have left.
func (t *transaction) acquire(l *refLock) error {
	// How long git waits by default for the lock of a ref, and for that of packed-refs.
	const refPatience, packedPatience = 100 * time.Millisecond, time.Second
	patience := refPatience
	if l.update.Ref == packedRefsFile {
		patience = packedPatience
	}
	for begin, made := time.Now(), 0; ; {
		switch err := os.Link(l.proof, l.path()); {
		case err == nil:
			l.held = true
			return nil
		case errors.Is(err, fs.ErrNotExist) && made < 5: // `git pack-refs` removes directories that have become empty
			made++
			if os.MkdirAll(filepath.Dir(l.ref), 0o777) != nil {
				return errUseGit
			}
		case !errors.Is(err, fs.ErrExist):
			return errUseGit
		case t.Reclaim():
		case time.Since(begin) > patience:
			return &LockedError{Path: l.path()}
		default:
			time.Sleep(3 * time.Millisecond)
		}
	}
}

// commit makes the transaction happen. After a failure it takes back what it has written and
// returns errUseGit, and git tries the same updates. Where that is not possible either, the failure is
// an error, and the refs before it keep their new values, as in git.
func (t *transaction) commit() error {
	if err := t.decide(); err != nil {
		return errUseGit
	}
	var done []*refLock
	for _, l := range t.locks {
		if l.idle {
			continue
		}
		if err := l.commit(); err != nil {
			if t.takeBack(done) {
				return errUseGit
			}
			return fmt.Errorf("update refs: %w", err)
		}
		done = append(done, l)
	}
	return nil
}

// takeBack gives refs their old values again and reports whether it could. It keeps their locks
// until release: if this process is killed meanwhile, the next one completes the transaction. On
// some file systems a rename fails when the disk is full, and a checkpoint without an event in the
// journal would be left.
func (t *transaction) takeBack(done []*refLock) bool {
	for _, l := range done {
		if l.content() == noLoose || l.update.Ref == packedRefsFile {
			return false // the old value is gone
		}
	}
	for _, l := range slices.Backward(done) {
		if !t.reset(l) {
			return false
		}
	}
	return true
}

// reset gives one ref its old value again, unless somebody has changed it since.
func (t *transaction) reset(l *refLock) bool {
	if os.Link(l.proof, l.path()) != nil {
		return false
	}
	l.held = true
	if !lockfile.Same(l.proof, l.ref) { // commit has put the file there of which the proof is another name
		return false
	}
	if l.update.Old == "" {
		return os.Remove(l.ref) == nil
	}
	old := filepath.Join(t.proofs(), "tmp-"+rand.Text())
	defer os.Remove(old) //nolint:errcheck // it was renamed
	return os.WriteFile(old, []byte(l.update.Old+"\n"), 0o666) == nil && os.Rename(old, l.ref) == nil
}

// commit renames the lock to the ref, which sets the value and releases the lock at once. A lock
// without a value stays until release, because the ref must be locked until the whole transaction
// is done.
func (l *refLock) commit() error {
	if l.content() == noLoose {
		return wholefile.Remove(l.ref) // one that is only in packed-refs has no file
	}
	err := os.Rename(l.path(), l.ref)
	l.held = err != nil
	return err
}

// decide renames the first proof. The rename is atomic, so every other process sees the transaction
// either as open or as decided.
func (t *transaction) decide() error {
	first := t.locks[0]
	to := filepath.Join(t.proofs(), decided(filepath.Base(first.proof)))
	err := os.Rename(first.proof, to)
	if err == nil {
		first.proof = to
	}
	return err
}

// release removes the remaining locks and then the proofs. The first proof is removed last: as long
// as it exists and is locked with flock, no other process takes the remaining ones for leftovers.
func (t *transaction) release() {
	for _, l := range t.locks {
		if l.held {
			os.Remove(l.path()) //nolint:errcheck // ours; else it is reclaimed
		}
		if l.held && l.content() == noLoose {
			t.removeEmpty(l.update.Ref)
		}
	}
	for i := len(t.locks) - 1; i >= 0; i-- {
		os.Remove(t.locks[i].proof) //nolint:errcheck // likewise
	}
	if t.first != nil {
		t.first.Close() //nolint:errcheck // it was written
	}
}

// removeEmpty removes the directories of a deleted ref that have become empty, as git does. The
// first two levels, such as refs/tags, stay.
func (f Files) removeEmpty(ref name.Ref) {
	const kept = 2
	parts := strings.Split(string(ref), "/")
	for n := len(parts) - 1; n > kept; n-- {
		if os.Remove(filepath.Join(f.Dir, filepath.Join(parts[:n]...))) != nil {
			return
		}
	}
}
