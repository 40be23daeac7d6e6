package refs

import (
	"crypto/rand"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"git-checkpoint/internal/format/name"
	"git-checkpoint/internal/test/gittest"
)

// The lock of a killed process of ours is removed. A lock that a living process holds stays, and so
// does one that git made.
func TestReclaimRefs(t *testing.T) {
	f := newFixture(t)
	one, two := f.Blob("one"), f.Blob("two")
	r := f.files()
	f.writesHere()
	journal, tag := name.Ref("refs/checkpoints/s/journal"), name.Ref("refs/tags/checkpoint/s/step-1")
	write := func(u ...Update) error { return r.Write(u, commits) }
	lock := func(ref name.Ref) *transaction {
		l := &transaction{Files: f.files(), id: rand.Text()[:10]}
		if err := l.add(&refLock{update: Update{Ref: ref, New: two}}); err != nil {
			t.Fatal(err)
		}
		return l
	}
	die := func(l *transaction) { l.first.Close() } //nolint:errcheck // as the end of a process does
	if err := write(Update{Ref: journal, New: one}); err != nil {
		t.Fatal(err)
	}
	var held *LockedError
	living := lock(journal)
	if err := write(Update{Ref: tag, New: one}, Update{Ref: journal, New: two, Old: one}); !errors.As(err, &held) || held.Path != living.locks[0].path() {
		t.Errorf("a lock that is held: %v", err)
	}
	if err := write(Update{Ref: journal, Old: one}); !errors.As(err, &held) {
		t.Errorf("a lock that is held, of a ref to delete: %v", err)
	}
	if r.Reclaim(); len(f.RefLocks()) != 1 || len(f.leftovers()) != 1 {
		t.Errorf("%v %v", f.RefLocks(), f.leftovers())
	}
	before := filepath.Base(living.locks[0].proof)
	if err := living.decide(); err != nil {
		t.Fatal(err)
	}
	if after := filepath.Base(living.locks[0].proof); r.isNamed(living.first, before) || !r.isNamed(living.first, after) {
		t.Errorf("%s is %s now", before, after)
	}
	if err := os.Rename(living.locks[0].proof, filepath.Join(r.proofs(), before)); err != nil { // undecided after all
		t.Fatal(err)
	}
	die(living)
	if err := write(Update{Ref: tag, New: one}, Update{Ref: journal, New: two, Old: one}); err != nil {
		t.Errorf("a lock of the dead: %v", err)
	}
	die(lock(journal))
	die(lock(tag))
	if err := write(Update{Ref: journal, Old: two}, Update{Ref: tag, Old: one}); err != nil {
		t.Errorf("locks of the dead, of refs to delete: %v", err)
	}
	die(lock("refs/checkpoints/s/cp-1"))
	if r.Reclaim(); len(f.RefLocks())+len(f.leftovers()) > 0 {
		t.Errorf("%v %v", f.RefLocks(), f.leftovers())
	}
	dead := lock("refs/checkpoints/s/cp-2")
	if err := os.Remove(dead.locks[0].path()); err != nil {
		t.Fatal(err)
	}
	die(dead)
	f.Write(".git/refs/checkpoints/s/cp-2.lock", string(two)+"\n") // somebody else's since
	if r.Reclaim(); len(f.RefLocks()) != 1 || len(f.leftovers()) != 0 {
		t.Errorf("%v %v", f.RefLocks(), f.leftovers())
	}
	f.Write(".git/refs/checkpoints/s/journal.lock", string(two)+"\n") // as git's looks
	r.Reclaim()
	if err := write(Update{Ref: journal, New: two}); !errors.As(err, &held) || len(f.RefLocks()) != 2 {
		t.Errorf("a lock of git's: %v", err)
	}
}

// A transaction that was decided is completed, wherever its process was killed. One that was not
// decided is taken back. In both cases all of it takes effect, or nothing.
func TestReclaimEnds(t *testing.T) {
	f := newFixture(t)
	r := f.files()
	f.writesHere()
	refs := gittest.Refs()[:3]
	for decided := range 2 {
		for renamed := range len(refs) + 1 {
			if decided == 0 && renamed > 0 {
				continue
			}
			for _, pack := range []bool{false, true} {
				f.RemoveRefs()
				l := &transaction{Files: f.files(), id: rand.Text()[:10]}
				oid := f.Blob(fmt.Sprint(decided, renamed, pack))
				for _, ref := range refs {
					if err := l.add(&refLock{update: Update{Ref: ref, New: oid}}); err != nil {
						t.Fatal(err)
					}
				}
				if decided == 1 {
					if err := l.decide(); err != nil {
						t.Fatal(err)
					}
				}
				for _, lock := range l.locks[:renamed] {
					if err := os.Rename(lock.path(), lock.ref); err != nil {
						t.Fatal(err)
					}
				}
				if r.Reclaim(); len(f.RefLocks()) != len(refs)-renamed {
					t.Fatalf("reclaimed from the living: %v", f.RefLocks())
				}
				l.first.Close() //nolint:errcheck // as the end of a process does
				if pack {
					f.Try("", "pack-refs", "--all") //nolint:errcheck // it meets locks
				}
				r.Reclaim()
				want := len(refs) * decided
				if got := strings.Count(f.Git("for-each-ref", "refs/checkpoints")+"\n", string(oid)); got != want {
					t.Errorf("decided %d, %d renamed, packed %v: %d refs", decided, renamed, pack, got)
				}
				f.nothingLeft()
			}
		}
	}
}

// A transaction that fails at one ref takes back those before it. If it is killed while it does
// that, the next process completes it.
func TestCommitTakesBack(t *testing.T) {
	f := newFixture(t)
	r := f.files()
	f.writesHere()
	one, two := f.Blob("one"), f.Blob("two")
	refs := gittest.Refs()[:3]
	begin := func() (*transaction, string) {
		t.Helper()
		f.RemoveRefs()
		if err := r.Write([]Update{{Ref: refs[1], New: one}}, commits); err != nil {
			t.Fatal(err)
		}
		before := f.LooseRefs()
		l := &transaction{Files: f.files(), id: rand.Text()[:10]}
		for _, u := range []Update{{Ref: refs[0], New: two}, {Ref: refs[1], New: two, Old: one}, {Ref: refs[2], New: two}} {
			if err := l.add(&refLock{update: u}); err != nil {
				t.Fatal(err)
			}
		}
		return l, before
	}
	for at := range refs {
		l, before := begin()
		inTheWay := filepath.Join(f.Dir, ".git", filepath.FromSlash(string(refs[at])))
		os.Remove(inTheWay) //nolint:errcheck // there is none, or MkdirAll fails
		if err := os.MkdirAll(filepath.Join(inTheWay, "full"), 0o777); err != nil {
			t.Fatal(err)
		}
		if err := l.commit(); !errors.Is(err, errUseGit) {
			t.Errorf("failed at %d: %v", at, err)
		}
		l.release()
		if err := os.RemoveAll(inTheWay); err != nil {
			t.Fatal(err)
		}
		if at == 1 {
			f.Write(".git/"+string(refs[1]), string(one)+"\n")
		}
		if after := f.LooseRefs(); after != before || len(f.RefLocks())+len(f.leftovers()) > 0 {
			t.Errorf("failed at %d:\n%swas\n%s%v %v", at, after, before, f.RefLocks(), f.leftovers())
		}
	}
	for _, killed := range []string{"linked", "reset"} {
		l, _ := begin()
		if err := l.commit(); err != nil {
			t.Fatal(err)
		}
		for _, done := range l.locks {
			if killed == "reset" && !l.reset(done) {
				t.Errorf("%s was not reset", done.ref)
			}
			if err := os.Link(done.proof, done.path()); killed == "linked" && err != nil {
				t.Fatal(err)
			}
		}
		l.first.Close() //nolint:errcheck // as the end of a process does
		r.Reclaim()
		if got := strings.Count(f.LooseRefs(), string(two)); got != len(refs) || len(f.RefLocks())+len(f.leftovers()) > 0 {
			t.Errorf("killed when %s: %d refs are new; %v %v", killed, got, f.RefLocks(), f.leftovers())
		}
	}
}

// The same holds for a transaction that deletes refs, or writes many into packed-refs: all of it
// takes effect once it was decided, else nothing.
func TestReclaimDeletes(t *testing.T) {
	f := newFixture(t)
	r := f.files()
	f.writesHere()
	one, two := f.Commit("one"), f.Commit("two")
	const session = "refs/checkpoints/s/"
	for _, many := range []bool{false, true} {
		steps := 1
		for done := -1; done <= steps; done++ { // -1: not decided
			f.RemoveRefs()
			for _, ref := range []string{"journal", "packed", "both", "loose"} {
				f.Git("update-ref", session+ref, string(one))
			}
			f.Git("pack-refs", "--all")
			f.Git("update-ref", session+"both", string(two))
			f.Git("update-ref", "-d", session+"loose")
			f.Git("update-ref", session+"loose", string(two))
			before := f.Git("for-each-ref")
			updates := []Update{
				{Ref: session + "packed", Old: one}, {Ref: session + "both", Old: two}, {Ref: session + "loose", Old: two},
				{Ref: session + "journal", Old: one, New: two},
			}
			if many {
				updates = append(manyNew(two, "t", manyRefs), updates[3])
			}
			l := &transaction{Files: f.files(), id: rand.Text()[:10]}
			for _, lock := range l.locksFor(updates, commits) {
				if err := l.add(lock); err != nil {
					t.Fatal(err)
				}
			}
			if err := errors.Join(l.verifyRefs(l.locks), l.fillPacked()); err != nil {
				t.Fatal(err)
			}
			if steps = len(l.locks); many {
				steps = 3
			}
			if done >= 0 {
				if err := l.decide(); err != nil {
					t.Fatal(err)
				}
			}
			for _, lock := range l.locks[:max(done, 0)] {
				if err := lock.commit(); err != nil {
					t.Fatal(err)
				}
			}
			l.first.Close() //nolint:errcheck // as the end of a process does
			r.Reclaim()
			after := f.Git("for-each-ref", "--format=%(objectname) %(refname)", "refs/checkpoints")
			switch {
			case done < 0:
				if now := f.Git("for-each-ref"); now != before {
					t.Errorf("not decided, and refs changed:\n%s\n%s", before, now)
				}
			case !many:
				if want := string(two) + " " + session + "journal"; after != want {
					t.Errorf("killed after %d:\n%s", done, after)
				}
			default:
				if n := strings.Count(after, string(two)+" refs/checkpoints/t/"); n != manyRefs+1 || !strings.Contains(after, string(two)+" "+session+"journal") {
					t.Errorf("killed after %d: %d refs\n%s", done, n, after)
				}
			}
			f.nothingLeft()
			if _, err := os.Lstat(filepath.Join(f.Dir, ".git", "packed-refs.lock")); err == nil {
				t.Errorf("killed after %d: packed-refs is locked", done)
			}
		}
	}
}

// The name of a proof identifies one ref, and no other.
func TestProofNames(t *testing.T) {
	for i, ref := range gittest.Refs() {
		file := proofOf("ABC", i, ref)
		if p, ok := parseProof(file); !ok || p.ref != ref || p.id != "ABC" || p.first != (i == 0) || p.decided {
			t.Errorf("%s: %+v", file, p)
		}
	}
	if p, ok := parseProof(decided(proofOf("ABC", 0, "refs/x"))); !ok || !p.decided || p.ref != "refs/x" || !p.first {
		t.Errorf("%+v", p)
	}
	for _, file := range []string{"", "tmp-ref-", "tmp-ref-x", "tmp-index-a.000000:refs:x", "tmp-ref-x.000000:..:..:config", "tmp-ref-x.000000:refs:a.lock", "tmp-ref-x.000000:config", "tmp-ref-x.000000;refs:x"} {
		if p, ok := parseProof(file); ok {
			t.Errorf("%q: %+v", file, p)
		}
	}
}
