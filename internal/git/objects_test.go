package git

import (
	"bytes"
	"errors"
	"fmt"
	"maps"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"

	"git-checkpoint/internal/format/name"
	"git-checkpoint/internal/test/gittest"
	"git-checkpoint/internal/test/scripttest"
)

// history commits files that change a little each time, so that packs contain long chains of
// deltas. It also commits some that do not compress, a large one, and an annotated tag.
func (f *fixture) history(random *rand.Rand, commits int) {
	f.Helper()
	lines := make([]string, 400)
	for i := range lines {
		lines[i] = fmt.Sprintf("line %d %x", i, random.Uint64())
	}
	for n := range commits {
		for range 3 {
			lines[random.IntN(len(lines))] = fmt.Sprintf("changed %x", random.Uint64())
		}
		f.Write("long", strings.Join(lines, "\n"))
		f.Write(fmt.Sprintf("dir/%d/file", n%7), fmt.Sprint(n))
		noise := make([]byte, random.IntN(6000))
		for i := range noise {
			noise[i] = byte(random.Uint32())
		}
		f.Write("noise", string(noise))
		if n == commits/2 {
			f.Write("large", strings.Repeat("large ", maxHere/5))
			f.Write("empty", "")
		}
		f.Git("add", "-A")
		f.Git("commit", "-q", "-m", fmt.Sprintf("commit %d\n\n%x", n, noise[:len(noise)/20]))
	}
	f.Git("tag", "-a", "-m", "a tag", fmt.Sprintf("v%d", commits))
}

// all returns every object as git reads it.
func (f *fixture) all() map[name.OID]Object {
	f.Helper()
	out, err := f.Try("", "cat-file", "--batch", "--batch-all-objects", "--unordered")
	if err != nil {
		f.Fatal(err)
	}
	all := map[name.OID]Object{}
	for rest := []byte(out); len(rest) > 0; {
		head, body, _ := bytes.Cut(rest, []byte("\n"))
		o := Object{}
		if _, err := fmt.Sscan(string(head), &o.OID, &o.Type, &o.Size); err != nil {
			f.Fatal(err)
		}
		o.Data, rest = body[:o.Size], body[o.Size+1:]
		all[o.OID] = o
	}
	return all
}

// forms are ways in which git may store the objects of a repository. whole says that all small
// objects can be read without git in that form.
func forms() map[string]func(*fixture) (whole bool) {
	repack := func(config, args string) func(*fixture) bool {
		return func(f *fixture) bool {
			f.Git(append(append(strings.Fields(config), "repack", "-q"), strings.Fields(args)...)...)
			return true
		}
	}
	return map[string]func(*fixture) bool{
		"loose":     func(*fixture) bool { return true },
		"packed":    repack("", "-ad"),
		"deep":      repack("-c pack.compression=9", "-adf --depth=250 --window=50"),
		"ref delta": repack("-c repack.useDeltaBaseOffset=false", "-adf"),
		"several packs": func(f *fixture) bool {
			f.Git("repack", "-q", "-d")
			f.history(rand.New(rand.NewPCG(9, 9)), 9)
			f.Git("repack", "-q", "-d")
			f.Blob("loose")
			return true
		},
		"index of several packs": func(f *fixture) bool {
			f.Git("repack", "-q", "-d")
			f.history(rand.New(rand.NewPCG(8, 8)), 9)
			f.Git("repack", "-q", "-d")
			f.Git("multi-pack-index", "write")
			return true
		},
		"old index": func(f *fixture) bool {
			f.Git("-c", "pack.indexVersion=1", "repack", "-q", "-ad")
			return false
		},
		"borrowed": func(f *fixture) bool {
			f.Git("repack", "-q", "-ad")
			lender := f.Dir + "-lender"
			if err := os.Rename(f.Dir, lender); err != nil {
				f.Fatal(err)
			}
			if err := os.Mkdir(f.Dir, 0o777); err != nil {
				f.Fatal(err)
			}
			f.Git("clone", "-q", "--shared", lender, f.Dir)
			f.Blob("its own")
			return true
		},
	}
}

// What is read in this process is what git reads, in every form of storage, and what can be read
// without git is read without it.
func TestObjectsAgreeWithGit(t *testing.T) {
	commits := 25
	if testing.Short() {
		commits = 8
	}
	for _, format := range gittest.Formats() {
		for i, form := range slices.Sorted(maps.Keys(forms())) {
			t.Run(format+" "+form, func(t *testing.T) {
				if scripttest.OneIn(t, 2, i); format == "sha256" {
					scripttest.OneIn(t, 4, i+2)
				}
				t.Parallel()
				f := newFixture(t, "--object-format="+format)
				f.history(rand.New(rand.NewPCG(1, 1)), commits)
				if format == "sha256" && form == "old index" {
					t.Skip("git has none for these")
				}
				whole := forms()[form](f)
				f.compare(whole)
			})
		}
	}
}

func (f *fixture) compare(whole bool) {
	f.Helper()
	all := f.all()
	var small, specs []string
	for oid, o := range all {
		if specs = append(specs, string(oid)); o.Size <= maxHere {
			small = append(small, string(oid))
		}
	}
	r := f.open()
	check := func(specs []string, ask func([]string, func(int, Object, error) error) error, data bool) {
		f.Helper()
		var lock sync.Mutex
		seen := map[string]bool{}
		err := ask(specs, func(i int, o Object, err error) error {
			lock.Lock()
			defer lock.Unlock()
			want := all[name.OID(specs[i])]
			if err != nil || seen[specs[i]] || o.OID != want.OID || o.Type != want.Type || o.Size != want.Size || data && !bytes.Equal(o.Data, want.Data) {
				f.Errorf("%s: %v, %s of %d bytes; git has a %s of %d", specs[i], err, o.Type, o.Size, want.Type, want.Size)
			}
			seen[specs[i]] = true
			return nil
		})
		if err != nil || len(seen) != len(specs) {
			f.Errorf("%d of %d objects: %v", len(seen), len(specs), err)
		}
	}
	objects := func(some []string, each func(int, Object, error) error) error {
		return newBatch(r.Objects).Objects(ctx(f.TB), some, each)
	}
	apart := func(some []string, each func(int, Object, error) error) error {
		return r.Objects.ProveInParallel(ctx(f.TB), some, MaxObject, each)
	}
	info := func(some []string, each func(int, Object, error) error) error {
		return r.Objects.Batch().Info(ctx(f.TB), some, each)
	}
	check(small, apart, true)
	check(specs, info, false)
	for _, one := range small[:20] {
		check([]string{one}, objects, true)
	}
	if missing, err := r.Objects.Batch().Missing(ctx(f.TB), oids(small)); err != nil || len(missing) > 0 {
		f.Errorf("%v %v", missing, err)
	}
	if started := (r.Objects.Batch().contents != nil || r.Objects.Batch().info != nil); started && whole {
		f.Error("git was asked for what can be read here")
	}
	check(specs, objects, true)
	check(specs, apart, true)
}

func oids(specs []string) (all []name.OID) {
	for _, s := range specs {
		all = append(all, name.OID(s))
	}
	return all
}

// What a gc has moved is found again, what it has dropped is missing, and packs that were opened
// before stay readable.
func TestPacksMove(t *testing.T) {
	f := newFixture(t)
	f.history(rand.New(rand.NewPCG(2, 2)), 12)
	f.Git("repack", "-qad")
	r := f.open()
	b := r.Objects.Batch()
	head := name.OID(f.Git("rev-parse", "HEAD"))
	if _, err := b.Object(ctx(t), string(head)); err != nil {
		t.Fatal(err)
	}
	f.Git("reset", "-q", "--hard", "HEAD~3")
	f.Git("tag", "-d", "v12")
	f.Git("reflog", "expire", "--expire=all", "--all")
	f.Git("gc", "-q", "--prune=now")
	other := name.OID(f.Git("rev-parse", "HEAD~4"))
	if o, err := b.Object(ctx(t), string(other)); err != nil || o.Type != "commit" {
		t.Errorf("%v", err)
	}
	missing, err := b.Missing(ctx(t), []name.OID{head, other})
	if err != nil || !missing[head] || missing[other] {
		t.Errorf("%v %v", missing, err)
	}
	if _, err := newBatch(r.Objects).Object(ctx(t), string(head)); !errors.Is(err, ErrMissing) {
		t.Errorf("what a gc dropped: %v", err)
	}
}

// Whichever bit of a pack or its index is flipped, no other content is returned under an id, and
// what git cannot read is not proven.
func TestGarbledPacks(t *testing.T) {
	flips := 30
	if testing.Short() {
		flips = 6
	}
	for k, format := range gittest.Formats() {
		for i, form := range []string{"packed", "ref delta", "index of several packs"} {
			t.Run(format+" "+form, func(t *testing.T) {
				scripttest.OneIn(t, 2, k+i)
				t.Parallel()
				f := newFixture(t, "--object-format="+format)
				f.history(rand.New(rand.NewPCG(3, 3)), 6)
				if err := os.Remove(filepath.Join(f.Dir, "large")); err != nil && !errors.Is(err, os.ErrNotExist) {
					t.Fatal(err)
				}
				forms()[form](f)
				f.Git("prune-packed")
				all := f.all()
				files, err := filepath.Glob(filepath.Join(f.Dir, ".git/objects/pack/*[kx]")) // .pack, .idx, multi-pack-index
				if err != nil || len(files) < 2 {
					t.Fatal(files, err)
				}
				random := rand.New(rand.NewPCG(uint64(k), uint64(i)))
				damaged := 0
				for range flips {
					damaged += f.garble(files[random.IntN(len(files))], random, all)
				}
				if damaged == 0 {
					t.Error("no flip damaged anything: this cannot fail")
				}
			})
		}
	}
}

// garble flips a bit and reports whether git sees damage.
func (f *fixture) garble(path string, random *rand.Rand, all map[name.OID]Object) (damaged int) {
	f.Helper()
	before, err := os.ReadFile(path)
	if err != nil {
		f.Fatal(err)
	}
	after := bytes.Clone(before)
	at := random.IntN(8 * len(after))
	after[at/8] ^= 1 << (at % 8)
	replace := func(data []byte) {
		if err := errors.Join(os.Remove(path), os.WriteFile(path, data, 0o444)); err != nil {
			f.Fatal(err)
		}
	}
	replace(after)
	defer replace(before)
	var specs []string
	for oid := range all {
		specs = append(specs, string(oid))
	}
	readable := f.readable(specs, all)
	r := f.open()
	defer r.Close()
	var lock sync.Mutex
	where := fmt.Sprintf("bit %d of %s", at, filepath.Base(path))
	err = r.Objects.ProveInParallel(ctx(f.TB), specs, MaxObject, func(i int, o Object, err error) error {
		lock.Lock()
		defer lock.Unlock()
		want := all[name.OID(specs[i])]
		switch {
		case err == nil && (o.Type != want.Type || !bytes.Equal(o.Data, want.Data)):
			f.Errorf("%s: %s is proven with other content", where, specs[i])
		case err == nil && !readable[want.OID]:
			f.Errorf("%s: %s is proven, and git does not read it", where, specs[i])
		case err != nil && readable[want.OID]:
			f.Errorf("%s: %s is whole: %v", where, specs[i], err)
		case err != nil:
			damaged = 1
		}
		return nil
	})
	if err != nil {
		f.Errorf("%s: %v", where, err)
	}
	return damaged
}

// readable returns the objects that git reads unchanged. It stops at one that git cannot read, and
// does not check the content of those that it can read.
func (f *fixture) readable(specs []string, all map[name.OID]Object) map[name.OID]bool {
	found := map[name.OID]bool{}
	for rest := specs; len(rest) > 0; {
		out, _ := f.Try(strings.Join(rest, "\n")+"\n", "cat-file", "--batch") //nolint:errcheck // what is missing in the answer tells
		n := 0
		for n < len(rest) {
			head, body, ok := strings.Cut(out, "\n")
			var typ string
			var size int
			if _, err := fmt.Sscan(strings.TrimPrefix(head, rest[n]), &typ, &size); ok && typ == "missing" {
				out, n = body, n+1
			} else if !ok || err != nil || size+1 > len(body) {
				break
			} else {
				want := all[name.OID(rest[n])]
				found[want.OID] = want.Type == typ && string(want.Data) == body[:size]
				out, n = body[size+1:], n+1
			}
		}
		rest = rest[min(n+1, len(rest)):]
	}
	return found
}
