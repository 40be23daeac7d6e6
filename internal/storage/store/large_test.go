package store

import (
	"bytes"
	"os"
	"strings"
	"testing"

	"git-checkpoint/internal/format/name"
	"git-checkpoint/internal/format/record"
)

// A list does not read a large record: three hostile ones would make every list slow. Once something
// else has read it, the list knows what it left out.
func TestLargeRecords(t *testing.T) {
	f := newFixture(t)
	id := f.create("demo", milestone{})
	ref := "refs/checkpoints/demo/" + string(id)
	f.forge(ref, func(raw []byte) []byte {
		r, err := record.Parse(raw)
		if err != nil {
			t.Fatal(err)
		}
		r.State = []byte(`"` + strings.Repeat("x", largeRecord) + `"`)
		r.Snapshot.Skipped = []record.Skipped{{Path: "a", Reason: "unreadable"}, {Path: "b", Reason: "unreadable"}}
		if raw, err = record.Seal(r, record.Limits{}); err != nil {
			t.Fatal(err)
		}
		return raw
	})
	listed := func() *Summary {
		byID, err := f.Listed(t.Context(), "demo", []name.ID{id})
		if err != nil || byID[id].Err != nil || byID[id].Message != "step 1" {
			t.Fatalf("%+v %v", byID[id], err)
		}
		return byID[id]
	}
	listed()
	unread := f.create("demo", milestone{})
	f.forge("refs/checkpoints/demo/"+string(unread), func([]byte) []byte { return bytes.Repeat([]byte{'{'}, largeRecord+1) })
	if byID, err := f.Listed(t.Context(), "demo", []name.ID{unread}); err != nil || byID[unread].Err != nil {
		t.Errorf("a large record was read: %+v %v", byID[unread], err)
	}
	if _, err := f.Record(t.Context(), f.commit("demo", id)); err != nil {
		t.Fatal(err)
	}
	if got := listed().Skipped; len(got) != 1 || got[0].Reason != "unreadable" {
		t.Errorf("left out: %+v", got)
	}
	// Reading it again adds nothing.
	cache, err := os.ReadFile(f.path("checkpoint", "list-demo"))
	if err != nil {
		t.Fatal(err)
	}
	_, err = f.Record(t.Context(), f.commit("demo", id))
	if again, readErr := os.ReadFile(f.path("checkpoint", "list-demo")); err != nil || readErr != nil || !bytes.Equal(again, cache) {
		t.Errorf("the cache changed, or %v %v", err, readErr)
	}
	f.drop(name.OID(f.Git("rev-parse", ref+"^2:checkpoint.json")))
	if byID, err := f.Listed(t.Context(), "demo", []name.ID{id}); err != nil || byID[id].Err == nil {
		t.Errorf("a large record that is missing: %+v %v", byID[id], err)
	}
}
