package refs

import (
	"os"
	"path/filepath"
	"strings"

	"git-checkpoint/internal/format/name"
	"git-checkpoint/internal/sys/lockfile"
	"git-checkpoint/internal/sys/wholefile"
)

// Reclaim finishes the transactions of processes of ours that were killed, and reports whether
// it removed a lock. It completes a transaction that was decided: the locks have prevented all
// changes of these refs since then. It takes back one that was not decided, by removing its locks.
// Locks of living processes, of git, and of other programs stay.
//
// lock.go describes the files that it works with.
func (f Files) Reclaim() bool {
	entries, _ := os.ReadDir(f.proofs()) //nolint:errcheck // then nothing is proved
	done := false
	for _, e := range entries {
		p, ok := parseProof(e.Name())
		if !ok || !p.first {
			continue
		}
		if !localFileSystem(f.proofs()) { // the process may be alive on another machine
			return false
		}
		done = f.reclaim(p) || done
	}
	return done
}

// proof is what the name of a proof file says.
type proof struct {
	file, id       string // name of the file; id of the transaction
	ref            name.Ref
	first, decided bool // the first proof of its transaction; with the mark of a decided one
}

// parseProof is the inverse of proofOf and decided. ok is false for names that no proof can have,
// so that a file that somebody put there cannot name a path outside refs.
func parseProof(file string) (proof, bool) {
	p := proof{file: file}
	rest, ours := strings.CutPrefix(file, TempPrefix)
	id, rest, ok := strings.Cut(rest, ".")
	if !ours || !ok || len(rest) < len(firstProof)+1 || id == "" {
		return p, false
	}
	number, mark, ref := "."+rest[:len(firstProof)-1], rest[len(firstProof)-1], rest[len(firstProof):]
	p.id, p.first, p.decided = id, number == firstProof, mark == ' '
	p.ref = name.Ref(strings.ReplaceAll(ref, ":", "/"))
	known := p.ref == packedRefsFile || IsSimple(string(p.ref)) && strings.HasPrefix(string(p.ref), "refs/")
	return p, known && (p.decided || mark == ':')
}

// reclaim finishes one transaction. It takes the flock of the first proof, which shows that the
// process is dead and keeps other processes from doing the same work. A lock that is the same file
// as its proof cannot change meanwhile, because only a holder of this flock may remove it.
func (f Files) reclaim(first proof) bool {
	held, err := os.Open(filepath.Join(f.proofs(), first.file))
	if err != nil {
		return false // the transaction was decided or has ended since
	}
	defer held.Close() //nolint:errcheck // read only
	if !tryFlock(held) || !f.isNamed(held, first.file) {
		return false
	}
	entries, err := os.ReadDir(f.proofs()) // list again: the process may have created more proofs before it died
	if err != nil {
		return false
	}
	var all []proof
	done := false
	for _, e := range entries {
		p, ok := parseProof(e.Name())
		if !ok || p.id != first.id {
			continue
		}
		one, err := f.end(p, first.decided)
		if err != nil {
			return done // leave the proofs for the next attempt
		}
		all, done = append(all, p), done || one
	}
	for i := len(all) - 1; i >= 0; i-- {
		os.Remove(filepath.Join(f.proofs(), all[i].file)) //nolint:errcheck // it is tried again
	}
	return done
}

// isNamed reports whether an open file still has the name file. Between the listing and the
// flock, the process may have renamed its proof (decided) or removed it.
func (f Files) isNamed(held *os.File, file string) bool {
	info, err := held.Stat()
	if err != nil {
		return false
	}
	now, err := os.Lstat(filepath.Join(f.proofs(), file))
	return err == nil && os.SameFile(info, now)
}

// end finishes the lock of one proof and reports whether there was one. With write it does what the
// lock was for; in any case the lock is gone afterwards.
func (f Files) end(p proof, write bool) (bool, error) {
	ref := filepath.Join(f.Dir, filepath.FromSlash(string(p.ref)))
	lock, err := os.Lstat(ref + ".lock")
	if err != nil {
		return false, nil //nolint:nilerr // it is a ref now, or was never made
	}
	mine, err := os.Lstat(filepath.Join(f.proofs(), p.file))
	if err != nil || !os.SameFile(lock, mine) {
		return false, err
	}
	data, err := os.ReadFile(ref + ".lock")
	if err != nil {
		return false, err
	}
	// The content may be cut off after a crash of the machine. Then the ref keeps its old value.
	// It does nothing to rename one name of a file to another: killed before takeBack reset the ref.
	if write && f.isValue(p.ref, string(data)) && !lockfile.Same(ref+".lock", ref) {
		return true, os.Rename(ref+".lock", ref)
	}
	if write && string(data) == noLoose {
		if err := wholefile.Remove(ref); err != nil {
			return false, err
		}
	}
	err = os.Remove(ref + ".lock")
	if string(data) == noLoose {
		f.removeEmpty(p.ref)
	}
	return true, err
}

// isValue reports whether the content of a lock is complete and may become the ref: a readable
// packed-refs file, or the id of an object that exists.
func (f Files) isValue(ref name.Ref, data string) bool {
	if ref == packedRefsFile {
		return saysSorted(data) && strings.HasSuffix(data, "\n")
	}
	oid, _ := strings.CutSuffix(data, "\n")
	return len(oid) == f.Digits && name.IsHex(oid) && f.Whole(name.OID(oid))
}
