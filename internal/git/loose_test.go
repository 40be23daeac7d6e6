package git

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"pgregory.net/rapid"

	"git-checkpoint/internal/format/name"
	"git-checkpoint/internal/test/gittest"
)

// Whichever byte of a loose object is damaged, no other content is ever returned under its id.
func TestGarbledLooseObjects(t *testing.T) {
	for _, format := range gittest.Formats() {
		f := newFixture(t, "--object-format="+format)
		content := "some content " + strings.Repeat("that compresses ", 10)
		oid := f.Blob(content)
		whole, err := os.ReadFile(f.Loose(oid))
		if err != nil {
			t.Fatal(err)
		}
		d := f.open().Objects.database().borrow()
		given := 0
		for i := range whole {
			for bit := range 8 {
				data := append([]byte(nil), whole...)
				data[i] ^= 1 << bit
				f.rewrite(oid, string(data))
				o, err := d.readLoose(oid, maxHere)
				switch {
				case err == nil && (string(o.Data) != content || o.Type != "blob"):
					t.Fatalf("byte %d, bit %d: %q", i, bit, o.Data)
				case err == nil:
					given++
				}
			}
		}
		if given > 8 { // bits of zlib's header that change nothing
			t.Errorf("%d garbled files of %d bytes were taken for whole", given, len(whole))
		}
		f.rewrite(oid, string(whole)+"more")
		if o, err := d.readLoose(oid, maxHere); err == nil && string(o.Data) != content {
			t.Errorf("%q", o.Data)
		}
	}
}

// An object whose loose copy is damaged is read from a pack, or is an error if there is none. The
// content of another object's file is never returned.
func TestGarbledAndPacked(t *testing.T) {
	f := newFixture(t)
	oid, other := f.Blob("packed"), f.Blob("other")
	f.GitIn(string(oid)+"\n", "pack-objects", "-q", f.Dir+"/.git/objects/pack/pack")
	f.rewrite(oid, "garbled")
	if o, err := f.open().Objects.Batch().Object(ctx(t), string(oid)); err != nil || string(o.Data) != "packed" {
		t.Errorf("%q %v", o.Data, err)
	}
	swapped, err := os.ReadFile(f.Loose(oid))
	if err != nil {
		t.Fatal(err)
	}
	f.rewrite(other, string(swapped))
	if o, err := f.open().Objects.Batch().Object(ctx(t), string(other)); !errors.Is(err, ErrUnreadable) && !errors.Is(err, ErrMissing) {
		t.Errorf("%q %v", o.Data, err)
	}
	third := f.Blob("third")
	whole, err := os.ReadFile(f.Loose(third))
	if err != nil {
		t.Fatal(err)
	}
	f.rewrite(other, string(whole))
	if o, err := f.open().Objects.Batch().Object(ctx(t), string(other)); !errors.Is(err, ErrUnreadable) && !errors.Is(err, ErrMissing) {
		t.Errorf("%q %v", o.Data, err)
	}
}

// If a pack has other content under an id, git returns that content, and a proof reports it, even
// if there is an intact loose copy. A normal read finds the intact copy.
func TestSwappedInPack(t *testing.T) {
	f := newFixture(t)
	one, two := f.Blob("first of them"), f.Blob("the other one")
	f.GitIn(string(one)+"\n"+string(two)+"\n", "pack-objects", "-q", f.Dir+"/.git/objects/pack/pack")
	paths, err := filepath.Glob(f.Dir + "/.git/objects/pack/*.idx")
	if err != nil || len(paths) != 1 {
		t.Fatal(paths, err)
	}
	index, err := os.ReadFile(paths[0])
	if err != nil {
		t.Fatal(err)
	}
	offsets := index[len(index)-40-8 : len(index)-40]
	copy(offsets, append(slices.Clone(offsets[4:]), offsets[:4]...))
	if err := errors.Join(os.Remove(paths[0]), os.WriteFile(paths[0], index, 0o444)); err != nil {
		t.Fatal(err)
	}
	r := f.open()
	if o, err := r.Objects.Batch().Object(ctx(t), string(one)); err != nil || string(o.Data) != "first of them" {
		t.Errorf("%q %v", o.Data, err)
	}
	err = r.Objects.Batch().Prove(ctx(t), []string{string(one), string(two)}, 100, func(i int, o Object, err error) error {
		if !errors.Is(err, ErrGarbled) {
			t.Errorf("%d: %q %v", i, o.Data, err)
		}
		return nil
	})
	if err != nil {
		t.Error(err)
	}
}

// Answers come in the order of the requests, wherever the objects are read from.
func TestAskHereOrder(t *testing.T) {
	f := newFixture(t)
	var oids, packed []name.OID
	for i := range 40 {
		oid := f.Blob(fmt.Sprint("content ", i))
		oids = append(oids, oid)
		if i%3 == 0 {
			packed = append(packed, oid)
		}
	}
	var in strings.Builder
	for _, oid := range packed {
		fmt.Fprintln(&in, oid)
	}
	f.GitIn(in.String(), "pack-objects", "-q", f.Dir+"/.git/objects/pack/pack")
	f.Git("prune-packed")
	missing := name.OID(strings.Repeat("1", 40))
	r := f.open()
	rapid.Check(t, func(rt *rapid.T) {
		b := newBatch(r.Objects)
		defer b.close()
		picks := rapid.SliceOfN(rapid.IntRange(-1, len(oids)-1), 0, 70).Draw(rt, "picks")
		specs := make([]string, len(picks))
		for i, p := range picks {
			if specs[i] = string(missing); p >= 0 {
				specs[i] = string(oids[p])
			}
		}
		next := 0
		err := b.Objects(ctx(t), specs, func(i int, o Object, err error) error {
			want := "content " + fmt.Sprint(picks[i])
			if i != next || picks[i] < 0 != errors.Is(err, ErrMissing) || picks[i] >= 0 && string(o.Data) != want {
				rt.Fatalf("%d, not %d: %q %v", i, next, o.Data, err)
			}
			next++
			return nil
		})
		if err != nil || next != len(specs) {
			rt.Fatal(next, err)
		}
	})
}
