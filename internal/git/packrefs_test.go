package git

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"git-checkpoint/internal/format/name"
	"git-checkpoint/internal/test/scripttest"
)

// manyRefs is how many new refs package refs writes directly into packed-refs.
const manyRefs = 100

// manyNew returns a transaction of n new refs and one journal.
func manyNew(oid name.OID, session string, n int) []Update {
	var out []Update
	for i := range n {
		out = append(out, Update{Ref: name.Ref(fmt.Sprintf("refs/checkpoints/%s/cp-%04d", session, i)), New: oid})
	}
	return append(out, Update{Ref: name.Ref("refs/checkpoints/" + session + "/journal"), New: oid})
}

func commitOf(f *fixture, message string) name.OID {
	f.Helper()
	f.Git("commit", "-q", "--allow-empty", "-m", message)
	return name.OID(f.Git("rev-parse", "HEAD"))
}

// A transaction with very many new refs has the same result as if git had written each of them,
// whatever packed-refs contains, and does not change refs that are in the way.
func TestManyRefs(t *testing.T) {
	for _, format := range []string{"sha1", "sha256"} {
		f := newFixture(t, "--object-format="+format)
		one, two := commitOf(f, "one"), commitOf(f, "two")
		f.Git("update-ref", "refs/aaa", string(one))
		f.Git("update-ref", "refs/zzz", string(one))
		f.Git("tag", "-m", "annotated", "v1", string(one))
		r := f.open()
		for i, session := range []string{"s", "a", "z"} {
			if err := r.Refs.Update(ctx(t), manyNew(two, session, manyRefs)); err != nil {
				t.Fatal(err)
			}
			if i == 0 {
				f.Git("pack-refs", "--all")
			}
			if err := r.Refs.Update(ctx(t), []Update{{Ref: name.Ref("refs/checkpoints/" + session + "/cp-0001"), Old: two}}); err != nil {
				t.Fatalf("delete one: %v", err)
			}
		}
		if n := len(strings.Split(f.Git("for-each-ref", "refs/checkpoints"), "\n")); n != 3*manyRefs {
			t.Errorf("%d refs", n)
		}
		if got := f.Git("rev-parse", "refs/aaa", "refs/zzz", "v1^{commit}", "refs/checkpoints/z/cp-0099"); got != strings.Join([]string{string(one), string(one), string(one), string(two)}, "\n") {
			t.Errorf("refs are %s", got)
		}
		f.Git("fsck", "--strict", "--no-dangling")
		f.Git("pack-refs", "--all")
		before := f.Git("for-each-ref")
		again := manyNew(one, "s", manyRefs)
		if err := r.Refs.Update(ctx(t), again); !errors.Is(err, ErrRaced) {
			t.Errorf("refs that exist: %v", err)
		}
		raced := append(manyNew(one, "q", manyRefs)[:manyRefs], Update{Ref: "refs/checkpoints/s/journal", New: one, Old: one})
		if err := r.Refs.Update(ctx(t), raced); !errors.Is(err, ErrRaced) {
			t.Errorf("a journal that moved: %v", err)
		}
		for _, ref := range []string{"refs/checkpoints/w", "refs/checkpoints/v/cp-0003/x"} {
			f.Git("update-ref", ref, string(one))
			session := strings.Split(ref, "/")[2]
			for range 2 { // loose, then packed
				if err := r.Refs.Update(ctx(t), manyNew(one, session, manyRefs)); err == nil {
					t.Errorf("%s was in the way and is not any more", ref)
				}
				f.Git("pack-refs", "--all")
			}
			f.Git("update-ref", "-d", ref)
		}
		if now := f.Git("for-each-ref"); now != before {
			t.Errorf("refs changed:\n%s\n%s", before, now)
		}
		lock := filepath.Join(f.Dir, ".git", "packed-refs.lock")
		if err := os.WriteFile(lock, nil, 0o666); err != nil {
			t.Fatal(err)
		}
		var held *LockedError
		if err := r.Refs.Update(ctx(t), manyNew(one, "u", manyRefs)); !errors.As(err, &held) || !errors.Is(err, ErrRaced) {
			t.Errorf("locked: %v", err)
		}
		if _, err := os.Stat(lock); err != nil {
			t.Errorf("a lock that is not ours went: %v", err)
		}
	}
}

// Nothing changes if packed-refs has a form that git no longer writes, or is a symbolic link, or if
// another process holds the lock of a ref.
func TestManyRefsInOddPlaces(t *testing.T) {
	scripttest.Long(t)
	f := newFixture(t)
	one := commitOf(f, "one")
	f.Git("tag", "-m", "annotated", "v1", string(one))
	f.Git("config", "core.logAllRefUpdates", "always")
	f.Git("pack-refs", "--all")
	file := filepath.Join(f.Dir, ".git", "packed-refs")
	content, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	_, body, _ := strings.Cut(string(content), "\n")
	for i, odd := range []string{body, "# pack-refs with: peeled \n" + body, "# pack-refs with: peeled fully-peeled sorted\n" + body} {
		if err := os.WriteFile(file, []byte(odd), 0o644); err != nil {
			t.Fatal(err)
		}
		if err := f.open().Refs.Update(ctx(t), manyNew(one, fmt.Sprint("odd", i), manyRefs)); err != nil {
			t.Fatal(err)
		}
		if now, err := os.ReadFile(file); err != nil || string(now) != odd {
			t.Errorf("odd file %d was written: %v\n%s", i, err, now)
		}
	}
	elsewhere := filepath.Join(f.Dir, "elsewhere")
	if err := errors.Join(os.WriteFile(elsewhere, content, 0o644), os.Remove(file), os.Symlink(elsewhere, file)); err != nil {
		t.Fatal(err)
	}
	if err := f.open().Refs.Update(ctx(t), manyNew(one, "linked", manyRefs)); err != nil {
		t.Fatal(err)
	}
	if to, err := os.Readlink(file); err != nil || to != elsewhere {
		t.Errorf("the link went: %v", err)
	}
	lock := filepath.Join(f.Dir, ".git/refs/checkpoints/held/cp-0042.lock")
	if err := errors.Join(os.MkdirAll(filepath.Dir(lock), 0o777), os.WriteFile(lock, nil, 0o666)); err != nil {
		t.Fatal(err)
	}
	var held *LockedError
	if err := f.open().Refs.Update(ctx(t), manyNew(one, "held", manyRefs)); !errors.As(err, &held) || held.Path != lock {
		t.Errorf("a ref that is locked: %v", err)
	}
	if got := f.Git("for-each-ref", "refs/checkpoints/held"); got != "" {
		t.Errorf("written all the same: %s", got)
	}
	if err := os.Remove(lock); err != nil {
		t.Fatal(err)
	}
	if logs, _ := filepath.Glob(filepath.Join(f.Dir, ".git/logs/refs/checkpoints/*")); len(logs) != 0 {
		t.Errorf("reflogs: %v", logs)
	}
	f.Git("worktree", "add", "-q", "../linked")
	linked, err := Open(ctx(t), Options{Dir: filepath.Join(f.Dir, "../linked"), Env: f.Env})
	if err != nil {
		t.Fatal(err)
	}
	defer linked.Close() //nolint:errcheck // a test
	if err := errors.Join(os.Remove(file), os.Rename(elsewhere, file)); err != nil {
		t.Fatal(err)
	}
	if err := linked.Refs.Update(ctx(t), manyNew(one, "late", manyRefs)); err != nil {
		t.Errorf("after one that was locked: %v", err)
	}
	if n := strings.Count(f.Git("for-each-ref", "refs/checkpoints/late"), "\n"); n != manyRefs {
		t.Errorf("%d refs from a linked worktree", n+1)
	}
	if left, _ := filepath.Glob(filepath.Join(f.Dir, ".git/refs/checkpoints/*/*.lock")); len(left) != 0 {
		t.Errorf("locks are left: %v", left)
	}
	if got := f.Git("rev-parse", "v1^{}"); got != string(one) {
		t.Errorf("the tag is %s", got)
	}
}

// Several writers run while git packs refs. Of those that want the same refs one gets all of them,
// and no ref of anybody is lost.
func TestManyRefsAtOnce(t *testing.T) {
	scripttest.Long(t)
	f := newFixture(t)
	one, two := commitOf(f, "one"), commitOf(f, "two")
	stop, packed := make(chan struct{}), make(chan struct{})
	go func() {
		defer close(packed)
		for {
			select {
			case <-stop:
				return
			default:
				f.Try("", "pack-refs", "--all") //nolint:errcheck // it may meet our lock
				time.Sleep(5 * time.Millisecond)
			}
		}
	}()
	var writers sync.WaitGroup
	won := make([][3]bool, 4)
	for w := range won {
		r, oid := f.open(), one
		if w%2 == 1 {
			oid = two
		}
		writers.Go(func() {
			for i := range 3 {
				for try := 0; try < 50; try++ {
					err := r.Refs.Update(context.Background(), manyNew(oid, fmt.Sprint("s", i), manyRefs))
					if err == nil {
						won[w][i] = true
					}
					var held *LockedError
					if !errors.As(err, &held) {
						break
					}
					time.Sleep(10 * time.Millisecond)
				}
			}
		})
	}
	writers.Wait()
	close(stop)
	<-packed
	for i := range 3 {
		winners, oid := 0, one
		for w := range won {
			if won[w][i] {
				winners++
				if w%2 == 1 {
					oid = two
				}
			}
		}
		got := f.Git("for-each-ref", "--format=%(objectname)", fmt.Sprint("refs/checkpoints/s", i))
		if want := strings.TrimSuffix(strings.Repeat(string(oid)+"\n", manyRefs+1), "\n"); winners != 1 || got != want {
			t.Errorf("session %d has %d winners and refs\n%s", i, winners, got)
		}
	}
}

// What packed-refs cannot hold in one line is left to git: an annotated tag needs its peeled value,
// and a missing object is refused.
func TestManyRefsOfOtherTypes(t *testing.T) {
	f := newFixture(t)
	one := commitOf(f, "one")
	f.Git("tag", "-m", "annotated", "v1", string(one))
	tag := name.OID(f.Git("rev-parse", "v1"))
	updates := manyNew(one, "s", manyRefs)
	updates[7].New = tag
	if err := f.open().Refs.Update(ctx(t), updates); err != nil {
		t.Fatal(err)
	}
	f.Git("pack-refs", "--all")
	if got := f.Git("rev-parse", "refs/checkpoints/s/cp-0007^{}"); got != string(one) {
		t.Errorf("it peels to %s", got)
	}
	updates = manyNew(one, "t", manyRefs)
	updates[7].New = name.OID(strings.Repeat("1", 40))
	if err := f.open().Refs.Update(ctx(t), updates); err == nil {
		t.Error("a ref to nothing")
	}
	if got := f.Git("for-each-ref", "refs/checkpoints/t"); got != "" {
		t.Errorf("written all the same: %s", got)
	}
}

// What is written in packs can be read at once, exists before refs move, and passes fsck.
func TestInPacks(t *testing.T) {
	for _, format := range []string{"sha1", "sha256"} {
		f := newFixture(t, "--object-format="+format)
		r := f.open()
		var commit name.OID
		err := r.Objects.InPacks(ctx(t), func() error {
			if err := r.Objects.InPacks(ctx(t), func() error { return nil }); err == nil {
				t.Error("packs inside packs")
			}
			blob, err := r.Objects.Write(ctx(t), "blob", []byte(strings.Repeat("text\n", 1000)))
			if err != nil {
				return err
			}
			tree, err := r.Trees.Write(ctx(t), []Entry{{ModeFile, "a", blob}, {ModeFile, "b", blob}})
			if err != nil {
				return err
			}
			if entries, err := r.Trees.Read(ctx(t), tree); err != nil || len(entries) != 2 {
				t.Errorf("read at once: %v %v", entries, err)
			}
			author, committer := r.Commits.Identity(time.Unix(1_700_000_000, 0).UTC())
			if commit, err = r.Commits.Write(ctx(t), Commit{Tree: tree, Author: author, Committer: committer, Message: "m\n"}); err != nil {
				return err
			}
			if c, err := r.Commits.Read(ctx(t), string(commit)); err != nil || c.Tree != tree {
				t.Errorf("read at once: %v %v", c, err)
			}
			return r.Refs.Update(ctx(t), []Update{{Ref: "refs/x/c", New: commit}})
		})
		if err != nil {
			t.Fatal(err)
		}
		f.Git("fsck", "--strict")
		if got := f.Git("show", "refs/x/c:b"); len(got) != 4999 {
			t.Errorf("%d bytes came back", len(got))
		}
		if packs, _ := filepath.Glob(filepath.Join(f.Dir, ".git/objects/pack/*")); len(packs) != 0 {
			t.Errorf("packs of three objects: %v", packs)
		}
	}
}

// Many objects become one pack, those that the repository has are not written again, and no file
// is left over.
func TestInPacksKeepsOne(t *testing.T) {
	f := newFixture(t)
	old := strings.Repeat("an old file\n", 100)
	f.Write("old", old)
	f.Git("add", "old")
	f.Git("commit", "-q", "-m", "old")
	f.Git("repack", "-adq")
	r := f.open()
	random := rand.New(rand.NewPCG(1, 2))
	contents := []string{old, old}
	for range unpackLimit {
		content := make([]byte, 1+random.IntN(100_000))
		for i := range content {
			content[i] = byte(random.Uint32())
		}
		contents = append(contents, string(content))
	}
	oids := make([]name.OID, len(contents))
	err := r.Objects.InPacks(ctx(t), func() error {
		return Each(len(contents), func(i int) (err error) {
			oids[i], err = r.Objects.Write(ctx(t), "blob", []byte(contents[i]))
			return err
		})
	})
	if err != nil {
		t.Fatal(err)
	}
	for i, oid := range oids {
		if o, err := f.open().Objects.Batch().Object(ctx(t), string(oid)); err != nil || string(o.Data) != contents[i] {
			t.Errorf("object %d came back as %d bytes, %v", i, len(o.Data), err)
		}
	}
	indexes, _ := filepath.Glob(filepath.Join(f.Dir, ".git/objects/pack/*.idx"))
	if len(indexes) != 2 {
		t.Fatalf("packs: %v", indexes)
	}
	f.Git("fsck", "--strict")
	if rest, _ := filepath.Glob(filepath.Join(f.Dir, ".git/objects/pack/tmp*")); len(rest) > 0 {
		t.Errorf("left over: %v", rest)
	}
	if got := f.Git("count-objects", "-v"); !strings.Contains(got, "in-pack: 103\n") || !strings.Contains(got, "count: 0\n") {
		t.Errorf("not 3 old and 100 new objects in packs:\n%s", got)
	}
}

// What fails leaves no object and no file.
func TestInPacksFails(t *testing.T) {
	f := newFixture(t)
	r := f.open()
	fails := errors.New("read a file")
	err := r.Objects.InPacks(ctx(t), func() error {
		for i := range 9 {
			content := make([]byte, 500_000)
			for j := range content {
				content[j] = byte(i*j*j>>3 + j)
			}
			if _, err := r.Objects.Write(ctx(t), "blob", content); err != nil {
				return err
			}
		}
		return fails
	})
	if !errors.Is(err, fails) {
		t.Fatalf("it ended with %v", err)
	}
	if rest, _ := filepath.Glob(filepath.Join(f.Dir, ".git/objects/pack/*")); len(rest) > 0 {
		t.Errorf("left over: %v", rest)
	}
}
