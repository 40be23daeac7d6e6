package git

import (
	"crypto"
	"fmt"
	"hash"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	gohash "github.com/go-git/go-git/v5/plumbing/hash"

	"git-checkpoint/internal/format/name"
	"git-checkpoint/internal/git/gitconfig"
	"git-checkpoint/internal/git/internal/odb"
	"git-checkpoint/internal/test/gittest"
)

// Both writers, with both object formats where possible, return git's ids and write objects that
// fsck accepts. They freshen existing objects and replace damaged ones.
func TestWriters(t *testing.T) {
	for _, format := range gittest.Formats() {
		for _, process := range []bool{false, true} {
			t.Run(fmt.Sprintf("%s process=%v", format, process), func(t *testing.T) {
				f := newFixture(t, "--object-format="+format)
				r := f.open()
				w := r.Objects.newWriter()
				if _, loose := w.(*looseDir); !loose {
					t.Fatalf("%T for %s", w, format)
				}
				if process {
					w = &processWriter{r.Location}
				}
				conform(t, f, w)
			})
		}
	}
}

// If each object also has a name of another format, only git can record it.
func TestWriterCompat(t *testing.T) {
	f := newFixture(t)
	r := f.open("GIT_CONFIG_PARAMETERS='extensions.compatobjectformat=sha256'")
	if w, ok := r.Objects.newWriter().(*processWriter); !ok {
		t.Errorf("%T", w)
	}
}

// A damaged loose object is written again, and not only freshened.
func TestWriterMendsGarbledObject(t *testing.T) {
	f := newFixture(t)
	oid := f.Blob("worth keeping")
	f.rewrite(oid, "no zlib at all")
	if got, err := f.open().Objects.Write(ctx(t), "blob", []byte("worth keeping")); got != oid || err != nil {
		t.Fatal(got, err)
	}
	if got := f.Git("cat-file", "-p", string(oid)); got != "worth keeping" {
		t.Errorf("%q", got)
	}
}

// Content that was made to collide under SHA-1 is refused, as in git: its id would name something
// else.
func TestWriterRefusesCollision(t *testing.T) {
	if _, is := gohash.New(crypto.SHA1).(collisionDetector); !is {
		t.Error("the hash recognizes no collisions")
	}
	if oid, err := seal(crafted{odb.NewHash(false)}); err == nil {
		t.Errorf("%s was accepted", oid)
	}
	for _, format := range gittest.Formats() {
		if oid, err := identify(format, "blob", []byte("x")); oid != HashObject(format, "blob", []byte("x")) || err != nil {
			t.Error(oid, err)
		}
	}
}

// crafted takes all content for crafted.
type crafted struct{ hash.Hash }

func (crafted) CollisionResistantSum(sum []byte) ([]byte, bool) { return sum, true }

// Compression levels are those that git would use.
func TestCompression(t *testing.T) {
	for config, want := range map[string]int{"": 1, "core.loosecompression\n9": 9, "core.compression\n0": 0, "core.compression\n5\x00core.loosecompression\n-1": -1, "core.loosecompression\n77": 1} {
		if got := compression(gitconfig.ParseConfig([]byte(config))); got != want {
			t.Errorf("%q: %d", config, got)
		}
	}
}

func conform(t *testing.T, f *fixture, w ObjectWriter) {
	put := func(typ, data string) name.OID {
		t.Helper()
		oid, err := w.WriteObject(ctx(t), typ, []byte(data))
		if err != nil {
			t.Fatal(err)
		}
		if want := f.GitIn(data, "hash-object", "--stdin", "-t", typ); string(oid) != want {
			t.Fatalf("%s: %s, not %s", typ, oid, want)
		}
		return oid
	}
	large := strings.Repeat("0123456789\n", 300_000)
	for _, data := range []string{"", "x", "\x00\r\n", large} {
		oid := put("blob", data)
		if got := f.Git("cat-file", "blob", string(oid)); got != strings.TrimSuffix(data, "\n") {
			t.Errorf("%d bytes became %d", len(data), len(got))
		}
	}
	tree := put("tree", "")
	put("commit", "tree "+string(tree)+"\nauthor A <a@b> 1 +0000\ncommitter A <a@b> 1 +0000\n\nx\n")
	f.Git("fsck", "--strict", "--no-dangling")

	oid := put("blob", "fresh")
	old := time.Now().Add(-90 * 24 * time.Hour)
	if err := os.Chtimes(f.Loose(oid), old, old); err != nil {
		t.Fatal(err)
	}
	put("blob", "fresh")
	f.Git("prune", "--expire=1.hour.ago")
	if got := f.Git("cat-file", "-p", string(oid)); got != "fresh" {
		t.Errorf("%q", got)
	}

	// What is only in an old pack would be dropped together with it: the pack is
	// fresh afterwards, or the object stands on its own.
	pack := f.GitIn(string(oid)+"\n", "pack-objects", "-q", filepath.Join(f.Dir, ".git/objects/pack/pack"))
	path := filepath.Join(f.Dir, ".git/objects/pack/pack-"+pack+".pack")
	f.Git("prune-packed")
	if _, err := os.Lstat(f.Loose(oid)); err == nil {
		t.Fatal("the loose object should be gone")
	}
	if err := os.Chtimes(path, old, old); err != nil {
		t.Fatal(err)
	}
	put("blob", "fresh")
	info, err := os.Stat(path)
	if _, loose := os.Lstat(f.Loose(oid)); err != nil || loose != nil && time.Since(info.ModTime()) > time.Hour {
		t.Error(err, loose)
	}
}

func TestWriterMendsEmptyObject(t *testing.T) {
	f := newFixture(t)
	oid := f.Blob("lost in a crash")
	f.rewrite(oid, "")
	if got, err := f.open().Objects.Write(ctx(t), "blob", []byte("lost in a crash")); got != oid || err != nil {
		t.Fatal(got, err)
	}
	if got := f.Git("cat-file", "-p", string(oid)); got != "lost in a crash" {
		t.Errorf("%q", got)
	}
}

// Inside a quarantine, objects go to the directory that git has set.
func TestWriterQuarantine(t *testing.T) {
	f := newFixture(t)
	for _, leaf := range []string{"objects", "incoming"} {
		dir := filepath.Join(t.TempDir(), leaf)
		if err := os.Mkdir(dir, 0o777); err != nil {
			t.Fatal(err)
		}
		r := f.open("GIT_OBJECT_DIRECTORY="+dir, "GIT_QUARANTINE_PATH="+dir)
		oid, err := r.Objects.Write(ctx(t), "blob", []byte(leaf))
		if err != nil {
			t.Fatal(err)
		}
		if _, err := os.Lstat(filepath.Join(dir, string(oid[:2]), string(oid[2:]))); err != nil {
			t.Error(err)
		}
	}
}

func TestWriterConcurrently(t *testing.T) {
	f := newFixture(t)
	r := f.open()
	var wg sync.WaitGroup
	for range 8 {
		wg.Go(func() {
			for i := range 50 {
				if _, err := r.Objects.Write(ctx(t), "blob", []byte{byte(i)}); err != nil {
					t.Error(err)
				}
			}
		})
	}
	wg.Wait()
	f.Git("fsck", "--strict", "--no-dangling")
	if left, err := filepath.Glob(filepath.Join(f.Dir, ".git/objects/*tmp*")); len(left) > 0 || err != nil {
		t.Errorf("%q %v", left, err)
	}
}

func TestSyncs(t *testing.T) {
	kinds := []string{"loose-object", "pack", "pack-metadata"}
	for value, want := range map[string][3]bool{
		"": {false, true, true}, "none": {}, "loose-object": {true, true, true}, "committed": {true, true, true},
		"none,objects": {true, true, false}, "none,pack": {false, true, false}, "none,derived-metadata": {false, false, true},
		"all": {true, true, true}, "all,-loose-object": {true, true, true}, "-pack": {false, false, true}, "-all": {},
	} {
		for i, kind := range kinds {
			if got := syncs(gitconfig.ParseConfig([]byte("core.fsync\n"+value+"\x00")), kind); got != want[i] {
				t.Errorf("%q, %s: %v", value, kind, got)
			}
		}
	}
	if !syncs(gitconfig.ParseConfig([]byte("core.fsyncobjectfiles\ntrue\x00")), "loose-object") {
		t.Error("core.fsyncObjectFiles")
	}
}

// An object in a pack is freshened there, as git does it: there is no loose copy whose mtime a gc
// could go by. One that is damaged in its pack, or in a cruft pack, is written as a loose object.
func TestWriterFreshensPack(t *testing.T) {
	long := time.Now().Add(-1000 * time.Hour)
	for state, wantLoose := range map[string]bool{"whole": false, "cruft": true, "damaged": true} {
		t.Run(state, func(t *testing.T) {
			f := newFixture(t)
			oid := f.Blob("packed alone")
			base := filepath.Join(f.Dir, ".git", "objects", "pack", "loose")
			base += "-" + f.GitIn(string(oid)+"\n", "pack-objects", "-q", base)
			f.Git("prune-packed")
			pack := base + ".pack"
			switch state {
			case "cruft":
				f.must(os.WriteFile(base+".mtimes", nil, 0o666))
			case "damaged":
				data, err := os.ReadFile(pack)
				f.must(err)
				data[len(data)-25] ^= 0xff
				f.must(os.Remove(pack))
				f.must(os.WriteFile(pack, data, 0o444))
			}
			f.must(os.Chtimes(pack, long, long))
			if got, err := f.open().Objects.Write(ctx(t), "blob", []byte("packed alone")); got != oid || err != nil {
				t.Fatal(got, err)
			}
			info, err := os.Stat(pack)
			f.must(err)
			if _, err := os.Lstat(f.Loose(oid)); (err == nil) != wantLoose {
				t.Errorf("loose: %v", err)
			}
			if fresh := info.ModTime().After(long.Add(time.Hour)); fresh == (state == "cruft") {
				t.Errorf("freshened: %t", fresh)
			}
		})
	}
}
