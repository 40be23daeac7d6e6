package git

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"pgregory.net/rapid"

	"git-checkpoint/internal/name"
)

// The trees that an index recalls are those that git wrote, also if a part of its cache tree is
// invalid, and in every version of the file.
func TestRecall(t *testing.T) {
	for _, format := range formats {
		f := newFixture(t, "--object-format="+format)
		for i := range 40 {
			f.write(fmt.Sprintf("d%d/e%d/f%d", i%3, i%4, i), fmt.Sprint(i))
			f.write(fmt.Sprintf("d%d.x/a-%d", i%3, i), fmt.Sprint(i))
		}
		recalled := 0
		compare := func(tb rapid.TB, version string, stage func()) {
			f.git("add", "-A")
			f.git("commit", "-q", "--allow-empty", "-m", "x")
			f.git("update-index", "--index-version", version)
			stage()
			r := f.open()
			ix, err := r.ReadIndex(r.IndexPath)
			if err != nil {
				tb.Fatal(err)
			}
			entries, err := ix.Entries()
			if err != nil {
				tb.Fatal(err)
			}
			r.Recall(ix, entries, map[string]Entry{"d0/e1/f9": {}, "d1/e2/f1": {}, "top": {}, "d2.x/a-5": {}, "none/x/y": {}})
			for oid, o := range r.Batch().kept {
				recalled++
				if want := f.git("cat-file", "-t", string(oid)); want != o.Type || HashObject(format, "tree", o.Data) != oid {
					tb.Fatalf("%s: %s %q", oid, want, o.Data)
				}
			}
		}
		// One index whose cache is whole, whatever is drawn below.
		compare(t, "2", func() {})
		rapid.Check(t, func(rt *rapid.T) {
			compare(rt, rapid.SampledFrom([]string{"2", "3", "4"}).Draw(rt, "version"), func() {
				if rapid.Bool().Draw(rt, "stage") {
					f.write("d1/e2/new", rapid.StringN(0, 9, 9).Draw(rt, "content"))
					f.git("add", "-A")
				}
			})
		})
		if recalled == 0 || recalled < 200 && !testing.Short() {
			t.Errorf("%s: only %d trees were recalled", format, recalled)
		}
	}
}

// A cache tree with wrong ids is not believed.
func TestRecallForged(t *testing.T) {
	f := newFixture(t)
	f.write("a/b", "x")
	f.git("add", "-A")
	f.git("write-tree")
	path := filepath.Join(f.dir, ".git/index")
	data, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	at := strings.Index(string(data), "TREE")
	for i := at + 8; i < len(data)-20; i++ {
		forged := append([]byte(nil), data...)
		forged[i] ^= 1
		ix, err := ParseIndex(forged, 20)
		if err != nil {
			continue
		}
		entries, err := ix.Entries()
		if err != nil {
			t.Fatal(err)
		}
		r := f.open()
		r.Recall(ix, entries, map[string]Entry{"a/b": {}})
		for oid, o := range r.Batch().kept {
			if HashObject("sha1", "tree", o.Data) != oid {
				t.Fatalf("byte %d: %s is %q", i, oid, o.Data)
			}
		}
	}
}

// Missing returns what git says is missing, wherever the other objects are.
func TestMissing(t *testing.T) {
	for _, format := range formats {
		f := newFixture(t, "--object-format="+format)
		f.write("a/b", "x")
		f.git("add", "-A")
		f.git("commit", "-q", "-m", "x")
		f.git("repack", "-adq")
		f.git("prune-packed")
		loose := f.blob("loose")
		all := []name.OID{loose, "", loose, name.OID(strings.Repeat("1", len(loose))), name.OID(strings.Repeat("0", len(loose))), name.OID(strings.Repeat("f", len(loose)))}
		for _, spec := range []string{"HEAD", "HEAD^{tree}", "HEAD:a", "HEAD:a/b"} {
			all = append(all, name.OID(f.git("rev-parse", spec)))
		}
		b := f.open().Batch()
		got, err := b.Missing(ctx(t), all)
		if err != nil || len(got) != 3 || !got[all[3]] || !got[all[4]] || !got[all[5]] {
			t.Errorf("%v %v", got, err)
		}
		if _, err := b.Missing(ctx(t), all[6:]); err != nil || inPack(b, all[3]) {
			t.Error(err)
		}
		for _, oid := range all[6:] {
			if !inPack(b, oid) {
				t.Errorf("%s is packed", oid)
			}
		}
	}
}

func inPack(b *Batch, oid name.OID) bool {
	b.objects.packs.Refresh()
	_, ok := b.objects.packs.Find(oid)
	return ok
}
