package git

import (
	"os"
	"path/filepath"
	"strings"

	"git-checkpoint/internal/name"
)

// ReclaimRefs ends what killed processes of ours had begun with refs, and reports whether
// a lock was left. Where a transaction was decided, the locks get their refs' names: nobody
// could change these refs since. Where it was not, the locks go. A lock of a process that
// lives stays, and so does one that git made, or anybody else.
func (r *Repo) ReclaimRefs() bool {
	entries, _ := os.ReadDir(r.proofs()) //nolint:errcheck // then nothing is proved
	done := false
	for _, e := range entries {
		p, ok := parseProof(e.Name())
		if !ok || !p.first {
			continue
		}
		if !localFileSystem(r.proofs()) { // the process may live on another machine
			return false
		}
		done = r.reclaim(p) || done
	}
	return done
}

// proof is what the name of one says.
type proof struct {
	file, id       string
	ref            name.Ref
	first, decided bool
}

func parseProof(file string) (proof, bool) {
	p := proof{file: file}
	rest, ours := strings.CutPrefix(file, RefTempPrefix)
	id, rest, ok := strings.Cut(rest, ".")
	if !ours || !ok || len(rest) < len(firstProof)+1 || id == "" {
		return p, false
	}
	number, mark, ref := "."+rest[:len(firstProof)-1], rest[len(firstProof)-1], rest[len(firstProof):]
	p.id, p.first, p.decided = id, number == firstProof, mark == ' '
	p.ref = name.Ref(strings.ReplaceAll(ref, ":", "/"))
	known := p.ref == packedRefsFile || isSimpleRef(string(p.ref)) && strings.HasPrefix(string(p.ref), "refs/")
	return p, known && (p.decided || mark == ':')
}

// reclaim has the first proof locked while it works: its process is dead, and nobody else
// ends the same transaction. A lock that is the same file as a proof stays so, because
// nobody but we may remove it.
func (r *Repo) reclaim(first proof) bool {
	f, err := os.Open(filepath.Join(r.proofs(), first.file))
	if err != nil {
		return false // it was decided or is over
	}
	defer f.Close() //nolint:errcheck // read only
	if !tryFlock(f) || !r.isNamed(f, first.file) {
		return false
	}
	entries, err := os.ReadDir(r.proofs()) // in order; more may have come since the first look
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
		one, err := r.end(p, first.decided)
		if err != nil {
			return done // the proofs stay
		}
		all, done = append(all, p), done || one
	}
	for i := len(all) - 1; i >= 0; i-- {
		os.Remove(filepath.Join(r.proofs(), all[i].file)) //nolint:errcheck // it is tried again
	}
	return done
}

// isNamed reports whether a file has still the name by which it was opened.
func (r *Repo) isNamed(f *os.File, file string) bool {
	info, err := f.Stat()
	if err != nil {
		return false
	}
	now, err := os.Lstat(filepath.Join(r.proofs(), file))
	return err == nil && os.SameFile(info, now)
}

// end does what a lock that is left was for, or removes it, and reports whether there is one.
func (r *Repo) end(p proof, write bool) (bool, error) {
	ref := filepath.Join(r.CommonDir, filepath.FromSlash(string(p.ref)))
	lock, err := os.Lstat(ref + ".lock")
	if err != nil {
		return false, nil //nolint:nilerr // it is a ref now, or was never made
	}
	mine, err := os.Lstat(filepath.Join(r.proofs(), p.file))
	if err != nil || !os.SameFile(lock, mine) {
		return false, err
	}
	data, err := os.ReadFile(ref + ".lock")
	if err != nil {
		return false, err
	}
	if write && r.isValue(p.ref, string(data)) {
		return true, os.Rename(ref+".lock", ref)
	}
	if write && string(data) == noLoose {
		if err := removeLoose(ref); err != nil {
			return false, err
		}
	}
	err = os.Remove(ref + ".lock")
	if string(data) == noLoose {
		r.removeEmpty(p.ref)
	}
	return true, err
}

// isValue reports whether the content of a lock is whole: the machine may have crashed.
func (r *Repo) isValue(ref name.Ref, data string) bool {
	if ref == packedRefsFile {
		return saysSorted(data) && strings.HasSuffix(data, "\n")
	}
	oid, _ := strings.CutSuffix(data, "\n")
	return len(oid) == 2*r.HashLen() && name.IsHex(oid) && r.isWhole(name.OID(oid))
}
