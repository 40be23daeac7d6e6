package git

import (
	"context"
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"git-checkpoint/internal/format/name"
	"git-checkpoint/internal/test/gittest"
)

func TestRefs(t *testing.T) {
	f := newFixture(t)
	f.Git("commit", "-q", "--allow-empty", "-m", "subject\n\nbody\n-- >8 --\nKey: value")
	head := name.OID(f.Git("rev-parse", "HEAD"))
	blob := f.Blob("no commit")
	for ref, oid := range map[string]name.OID{"refs/x/b": head, "refs/x/a": blob, "refs/y/c": head} {
		f.Git("update-ref", ref, string(oid))
	}
	r := f.open()
	for _, how := range []func(context.Context, ...string) ([]RefValue, error){
		r.Refs.List, func(ctx context.Context, prefixes ...string) ([]RefValue, error) {
			return r.Refs.forEachRef(ctx, prefixes)
		},
	} {
		if got, err := how(ctx(t), "refs/x"); err != nil || len(got) != 2 || got[0] != (RefValue{Ref: "refs/x/a", OID: blob}) || got[1] != (RefValue{Ref: "refs/x/b", OID: head}) {
			t.Fatalf("%+v %v", got, err)
		}
		if got, err := how(ctx(t), "refs/none"); len(got) != 0 || err != nil {
			t.Errorf("%v %v", got, err)
		}
	}
	if err := os.Remove(f.Loose(blob)); err != nil {
		t.Fatal(err)
	}
	if got, err := r.Refs.List(ctx(t), "refs/x"); err != nil || len(got) != 2 || got[0].OID != blob {
		t.Errorf("with a missing object: %+v %v", got, err)
	}
}

func TestUpdateRefs(t *testing.T) {
	f := newFixture(t)
	f.Git("config", "core.logAllRefUpdates", "always")
	one, two := f.Blob("one"), f.Blob("two")
	r := f.open()
	update := func(u ...Update) error { t.Helper(); return r.Refs.Update(ctx(t), u) }
	if err := update(Update{Ref: "refs/x/a", New: one}, Update{Ref: "refs/x/b", New: two}); err != nil {
		t.Fatal(err)
	}
	if _, err := os.Lstat(filepath.Join(f.Dir, ".git/logs/refs/x")); err == nil {
		t.Error("a reflog was written")
	}
	for what, u := range map[string]Update{
		"exists":    {Ref: "refs/x/a", New: two},
		"differs":   {Ref: "refs/x/a", New: two, Old: two},
		"is gone":   {Ref: "refs/x/c", New: two, Old: one},
		"delete":    {Ref: "refs/x/a", Old: two},
		"directory": {Ref: "refs/x/a/b", New: one},
	} {
		if err := update(Update{Ref: "refs/x/new", New: one}, u); !errors.Is(err, ErrRaced) {
			t.Errorf("%s: %v", what, err)
		}
	}
	if out, err := f.Try("", "rev-parse", "--verify", "-q", "refs/x/new"); err == nil {
		t.Errorf("half a transaction: %s", out)
	}
	if err := update(Update{Ref: "refs/x/a", Old: one}, Update{Ref: "refs/x/b", New: one, Old: two}); err != nil {
		t.Fatal(err)
	}
	if got := f.Git("for-each-ref", "--format=%(refname) %(objectname)"); got != "refs/x/b "+string(one) {
		t.Errorf("%q", got)
	}
	if err := update(Update{Ref: "refs/x/y z", New: one}); err == nil || errors.Is(err, ErrRaced) {
		t.Errorf("%v", err)
	}
	if err := update(Update{Ref: "refs/x/../y", New: one}); err == nil || errors.Is(err, ErrRaced) {
		t.Errorf("%v", err)
	}
}

// The error names the lock of another process, both on a loose ref and on packed-refs.
func TestUpdateRefsLocked(t *testing.T) {
	f := newFixture(t)
	one := f.Blob("one")
	f.Git("update-ref", "refs/x/a", string(one))
	f.Git("pack-refs", "--all")
	f.Git("config", "core.packedRefsTimeout", "10")
	r := f.open()
	for path, u := range map[string]Update{
		".git/packed-refs.lock": {Ref: "refs/x/a", Old: one},
		".git/refs/x/b.lock":    {Ref: "refs/x/b", New: one},
	} {
		f.Write(path, "")
		err := r.Refs.Update(ctx(t), []Update{u})
		var locked *LockedError
		if !errors.Is(err, ErrRaced) || !errors.As(err, &locked) || !strings.HasSuffix(locked.Path, path) {
			t.Errorf("%s: %v", path, err)
		}
		if _, err := os.Lstat(filepath.Join(f.Dir, path)); err != nil {
			t.Errorf("the lock is gone: %v", err)
		}
		if err := os.Remove(filepath.Join(f.Dir, path)); err != nil {
			t.Fatal(err)
		}
	}
}

// A commit is read as it was written, whatever names and messages contain.
func TestReadCommit(t *testing.T) {
	for _, format := range gittest.Formats() {
		t.Run(format, func(t *testing.T) {
			f := newFixture(t, "--object-format="+format)
			r := f.open()
			tree, err := r.Trees.Write(ctx(t), nil)
			if err != nil {
				t.Fatal(err)
			}
			var parents []name.OID
			want := map[name.OID]Commit{}
			for i, message := range []string{"", "one\n", "\n\nleading", "two\n\nKey: value\n\n\n", "tab\there\n\tand", "-- >8 --\n\x01"} {
				when := time.Unix(int64(1_700_000_000+i), 0).In(time.FixedZone("", 3600*i))
				c := Commit{
					Tree: tree, Parents: parents, Message: message,
					Author: Signature{"A\tb c", "a@x", when}, Committer: Signature{"C", "", when.Add(time.Second)},
				}
				if c.OID, err = r.Commits.Write(ctx(t), c); err != nil {
					t.Fatal(err)
				}
				want[c.OID] = c
				parents = []name.OID{c.OID}
			}
			latin := Commit{Tree: tree, Author: Signature{"A", "a@x", time.Unix(1, 0)}, Committer: Signature{"A", "a@x", time.Unix(1, 0)}, Other: "encoding ISO-8859-1\n", Message: "caf\xe9\n"}
			if latin.OID, err = r.Commits.Write(ctx(t), latin); err != nil {
				t.Fatal(err)
			}
			want[latin.OID] = latin
			for oid, c := range want {
				got, err := r.Commits.Read(ctx(t), string(oid))
				if err != nil || string(got.Encode()) != string(c.Encode()) {
					t.Errorf("read:\n%q, %v\nwritten:\n%q", got.Encode(), err, c.Encode())
				}
			}
		})
	}
}

func TestIdentity(t *testing.T) {
	f := newFixture(t)
	f.Env = f.Env[:3] // no GIT_AUTHOR_NAME and so on
	when := time.Unix(1, 0)
	if a, c := f.open().Commits.Identity(when); a.Person() != "git-checkpoint <git-checkpoint@localhost>" || c.Person() != a.Person() {
		t.Errorf("%v %v", a, c)
	}
	f.Git("config", "user.name", "Ann <x>\n")
	f.Git("config", "user.email", "a@b")
	f.Git("config", "committer.name", "Cid")
	if a, c := f.open("GIT_AUTHOR_EMAIL=e@f").Commits.Identity(when); a.Person() != "Ann x <e@f>" || c.Person() != "Cid <a@b>" {
		t.Errorf("%v %v", a, c)
	}
}

func FuzzParseCommit(f *testing.F) {
	f.Add([]byte("tree 4b825dc642cb6eb9a060e54bf8d69288fbee4904\nauthor A <a> 1 +0000\ncommitter B <b> 2 -0130\ngpgsig x\n y\n\nmessage\n"))
	f.Add([]byte("tree \nauthor <\ncommitter >\n"))
	f.Fuzz(func(t *testing.T, data []byte) {
		c, err := ParseCommit("x", data)
		if err != nil {
			return
		}
		again, err := ParseCommit("x", c.Encode())
		if err != nil || string(again.Encode()) != string(c.Encode()) {
			t.Errorf("%q\n%q\n%v", c.Encode(), again.Encode(), err)
		}
	})
}

// What package refs does not read with certainty is asked of git.
func TestRefsUnsorted(t *testing.T) {
	f := newFixture(t)
	f.Git("commit", "-q", "--allow-empty", "-m", "x")
	f.Git("pack-refs", "--all")
	path := filepath.Join(f.Dir, ".git/packed-refs")
	data, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	f.Write(".git/packed-refs", strings.Replace(string(data), " sorted", "", 1))
	if got, err := f.open().Refs.List(ctx(t), "refs/heads"); err != nil || len(got) != 1 || string(got[0].OID) != f.Git("rev-parse", "HEAD") {
		t.Errorf("%q %v", got, err)
	}
	if got, err := f.open().Refs.Resolve(ctx(t), "refs/heads/main"); string(got) != f.Git("rev-parse", "HEAD") || err != nil {
		t.Errorf("%q %v", got, err)
	}
}

// A lock that a killed process of ours has left is removed when git meets it.
func TestUpdateRefsReclaims(t *testing.T) {
	f := newFixture(t)
	r := f.open()
	writesHere(t, r)
	one := f.Blob("one")
	const ref = name.Ref("refs/checkpoints/s/journal")
	proof, lock := filepath.Join(f.Dir, ".git/checkpoint", RefTempPrefix+"ABC.000000:refs:checkpoints:s:journal"), filepath.Join(f.Dir, ".git", string(ref)+".lock")
	f.Write(".git/checkpoint/"+filepath.Base(proof), string(one)+"\n")
	f.must(os.MkdirAll(filepath.Dir(lock), 0o777))
	f.must(os.Link(proof, lock))
	f.must(r.Refs.updateRefs(ctx(t), []Update{{Ref: ref, New: one}}))
	if got := f.Git("rev-parse", string(ref)); got != string(one) || len(f.leftovers()) > 0 {
		t.Errorf("%s is %s; left are %v", ref, got, f.leftovers())
	}
}
