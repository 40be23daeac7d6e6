package git

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"time"

	"git-checkpoint/internal/name"
)

// How long git waits for the lock of a ref, and for that of packed-refs, unless configured.
const (
	refPatience    = 100 * time.Millisecond
	packedPatience = time.Second
)

// RefTempPrefix begins the names of the files in <common directory>/checkpoint that prove
// whose the locks of refs are.
const RefTempPrefix = "tmp-ref-"

// refLock is the lock of one ref, or of packed-refs: the file that git would make. It is a
// second name of a file of ours, its proof, so that it can be told from every other lock.
// A new value is its content, and it becomes the ref by a rename.
type refLock struct {
	update Update
	proof  string // path
	ref    string // the path that it becomes
	packs  bool   // the new value goes into packed-refs
	held   bool   // it has its name
	idle   bool   // nothing is to be written, and nothing to be deleted
}

// noLoose is the content of a lock whose ref has no file of its own in the end: it is
// deleted, or new in packed-refs. It is not empty: that is what a crash of the machine may
// leave of a new value.
const noLoose = "no loose ref\n"

// packedRefsFile is what is locked of refs that are in no files of their own.
const packedRefsFile name.Ref = "packed-refs"

func (l *refLock) path() string { return l.ref + ".lock" }

// content is what the lock is made with. What packed-refs is to hold is known later.
func (l *refLock) content() string {
	switch {
	case l.update.Ref == packedRefsFile:
		return ""
	case l.packs || l.update.New == "":
		return noLoose
	}
	return string(l.update.New) + "\n"
}

// refLocks are those of one transaction. The proof of the first is locked with flock for as long as
// we live, and gets another name when all is decided: whoever comes after a process
// that was killed ends its transaction, or takes it back (see reclaim).
type refLocks struct {
	repo  *Repo
	id    string
	locks []*refLock
	first *os.File
}

// proofs is the directory of the proofs. Each repository has one, for all worktrees.
func (r *Repo) proofs() string { return filepath.Join(r.CommonDir, "checkpoint") }

// proofOf names a proof; no ref has a ":" or blank in its name. decided says that the
// transaction is to be ended.
func proofOf(id string, n int, ref name.Ref) string {
	return fmt.Sprintf("%s%s.%06d:%s", RefTempPrefix, id, n, strings.ReplaceAll(string(ref), "/", ":"))
}

// decided is the name that the first proof gets.
func decided(proof string) string { return strings.Replace(proof, firstProof+":", firstProof+" ", 1) }

// firstProof is the number in the name of a transaction's first proof.
const firstProof = ".000000"

// add makes the lock of a ref, or of packed-refs. errAsk: it cannot be made here, for git
// to say why.
func (t *refLocks) add(l *refLock) error {
	l.proof = filepath.Join(t.repo.proofs(), proofOf(t.id, len(t.locks), l.update.Ref))
	l.ref = filepath.Join(t.repo.CommonDir, filepath.FromSlash(string(l.update.Ref)))
	f, err := os.OpenFile(l.proof, os.O_CREATE|os.O_EXCL|os.O_WRONLY, 0o666)
	if errors.Is(err, fs.ErrNotExist) && os.MkdirAll(t.repo.proofs(), 0o777) == nil {
		f, err = os.OpenFile(l.proof, os.O_CREATE|os.O_EXCL|os.O_WRONLY, 0o666)
	}
	if err != nil {
		return errAsk
	}
	t.locks = append(t.locks, l)
	_, err = f.WriteString(l.content())
	if t.first == nil {
		if t.first = f; !tryFlock(f) {
			return errAsk
		}
	} else if closed := f.Close(); err == nil {
		err = closed
	}
	if err != nil {
		return errAsk
	}
	return t.take(l)
}

// take gives the lock its name, waiting as long as git does.
func (t *refLocks) take(l *refLock) error {
	patience := refPatience
	if l.update.Ref == packedRefsFile {
		patience = packedPatience
	}
	for begin, made := time.Now(), 0; ; {
		switch err := os.Link(l.proof, l.path()); {
		case err == nil:
			l.held = true
			return nil
		case errors.Is(err, fs.ErrNotExist) && made < 5: // packing removes directories that are empty
			made++
			if os.MkdirAll(filepath.Dir(l.ref), 0o777) != nil {
				return errAsk
			}
		case !errors.Is(err, fs.ErrExist):
			return errAsk
		case t.repo.ReclaimRefs():
		case time.Since(begin) > patience:
			return &LockedError{Path: l.path()}
		default:
			time.Sleep(3 * time.Millisecond)
		}
	}
}

// commit gives the locks the refs' names, or deletes what they lock, one after the other.
// From decide on a process that is killed counts as one that would have done it all.
func (t *refLocks) commit() error {
	if err := t.decide(); err != nil {
		return errAsk
	}
	written := 0
	for _, l := range t.locks {
		if l.idle {
			continue
		}
		if err := l.commit(); err != nil {
			if written == 0 {
				return errAsk
			}
			return fmt.Errorf("update refs: %w", err) // as in git, those before it are written
		}
		written++
	}
	return nil
}

func (l *refLock) commit() error {
	if l.content() == noLoose { // it stays locked until all is done
		return removeLoose(l.ref)
	}
	err := os.Rename(l.path(), l.ref)
	l.held = err != nil
	return err
}

// removeLoose removes the file of a ref, which may be in packed-refs only.
func removeLoose(ref string) error {
	if err := os.Remove(ref); err != nil && !errors.Is(err, fs.ErrNotExist) {
		return err
	}
	return nil
}

func (t *refLocks) decide() error {
	first := t.locks[0]
	to := filepath.Join(t.repo.proofs(), decided(filepath.Base(first.proof)))
	err := os.Rename(first.proof, to)
	if err == nil {
		first.proof = to
	}
	return err
}

// release gives the locks free that are left, and forgets the proofs, the first one last:
// while it is there and locked, nobody takes the others for those of the dead.
func (t *refLocks) release() {
	for _, l := range t.locks {
		if l.held {
			os.Remove(l.path()) //nolint:errcheck // ours; else it is reclaimed
		}
		if l.held && l.content() == noLoose {
			t.repo.removeEmpty(l.update.Ref)
		}
	}
	for i := len(t.locks) - 1; i >= 0; i-- {
		os.Remove(t.locks[i].proof) //nolint:errcheck // likewise
	}
	if t.first != nil {
		t.first.Close() //nolint:errcheck // it was written
	}
}

// removeEmpty removes the directories of a ref that hold nothing any more, as git does
// when it deletes a ref: refs/tags and its like stay.
func (r *Repo) removeEmpty(ref name.Ref) {
	const kept = 2
	parts := strings.Split(string(ref), "/")
	for n := len(parts) - 1; n > kept; n-- {
		if os.Remove(filepath.Join(r.CommonDir, filepath.Join(parts[:n]...))) != nil {
			return
		}
	}
}
