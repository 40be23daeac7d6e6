package store

import (
	"bytes"
	"os"
	"path/filepath"
	"testing"

	"github.com/tidwall/gjson"

	"git-checkpoint/internal/format/name"
	"git-checkpoint/internal/format/record"
)

// told returns what a list shows of checkpoints.
func (f *fixture) told(ids []name.ID) string {
	f.Helper()
	byID, err := f.Listed(f.Context(), "demo", ids)
	if err != nil {
		f.Fatal(err)
	}
	out := ""
	for _, id := range ids {
		sum := byID[id]
		if sum == nil {
			out += string(id) + " is not there\n"
			continue
		}
		out += string(id) + " " + string(sum.Commit) + " " + sum.CreatedAt.String() + " " + sum.Message + " " + sum.Checksum
		if sum.Err != nil {
			out += " damaged"
		}
		out += "\n"
	}
	return out
}

// The remembered values of older checkpoints are those of their commits. Missing objects are
// noticed all the same, and a damaged cache file is not used.
func TestGlances(t *testing.T) {
	f := newFixture(t)
	f.whole = 2
	var ids []name.ID
	for range 6 {
		ids = append(ids, f.create("demo", milestone{}))
	}
	path := filepath.Join(f.Repo.GitDir, "checkpoint", "list-demo")
	want := f.told(ids)
	data, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	if got := f.told(ids); got != want {
		t.Errorf("remembered:\n%s\nread:\n%s", got, want)
	}
	garbled := f.Git("rev-parse", "refs/checkpoints/demo/"+string(ids[0]))
	before := f.garble(name.OID(garbled))
	if got := f.told(ids); got != want {
		t.Error("what is remembered was read again")
	}
	for i := range data {
		damaged := bytes.Clone(data)
		damaged[i] ^= 0x10
		f.Write(path, string(damaged))
		if got := f.told(ids); got == want || !bytes.Contains([]byte(got), []byte(ids[0]+" "+name.ID(garbled)+" 0001-01-01 00:00:00 +0000 UTC   damaged\n")) {
			t.Fatalf("byte %d of the file was believed:\n%s", i, got)
		}
	}
	f.restore(name.OID(garbled), before)
	f.Write(path, string(data[:len(data)-1]))
	if got := f.told(ids); got != want {
		t.Errorf("after a file that is cut off:\n%s", got)
	}
	f.drop(name.OID(f.Git("rev-parse", garbled+"^2:checkpoint.json")))
	if got := f.told(ids); got == want {
		t.Error("a record that is missing was not noticed")
	}
	later := f.create("demo", milestone{})
	if got := f.told(append(ids[1:], later)); got != f.told(append(ids[1:], later)) {
		t.Error("a file that grew says something else")
	}
}

// EachRecord also finds the record of a remembered checkpoint. A damaged record is skipped.
func TestEachRecord(t *testing.T) {
	f := newFixture(t)
	f.whole = 2
	var ids []name.ID
	for range 6 {
		ids = append(ids, f.create("demo", milestone{}))
	}
	for _, state := range []string{"nothing", "four checkpoints"} {
		byID, err := f.Listed(t.Context(), "demo", ids)
		if err != nil {
			t.Fatal(err)
		}
		all := make([]*Summary, len(ids))
		for i, id := range ids {
			all[i] = byID[id]
		}
		f.garble(name.OID(f.Git("rev-parse", "refs/checkpoints/demo/"+string(ids[1])+"^2:checkpoint.json")))
		got := make([]string, len(ids))
		if err := f.EachRecord(t.Context(), all, func(i int, raw []byte, r *record.Record) error {
			if got[i] = gjson.GetBytes(raw, "id").Str; got[i] != string(r.ID) {
				t.Errorf("of %q the record of %q was parsed", got[i], r.ID)
			}
			return nil
		}); err != nil {
			t.Fatal(err)
		}
		for i, id := range ids {
			if want := string(id); i == 1 && got[i] != "" || i != 1 && got[i] != want {
				t.Errorf("with %s remembered record %d is that of %q", state, i, got[i])
			}
		}
	}
}

// garble overwrites the file of a loose object and returns the old content.
func (f *fixture) garble(oid name.OID) []byte {
	f.Helper()
	path := f.Loose(oid)
	before, err := os.ReadFile(path)
	if err != nil {
		f.Fatal(err)
	}
	f.restore(oid, bytes.Repeat([]byte{1}, len(before)))
	return before
}

func (f *fixture) restore(oid name.OID, content []byte) {
	f.Helper()
	path := f.Loose(oid)
	if err := os.Remove(path); err != nil {
		f.Fatal(err)
	}
	f.Write(path, string(content))
}
