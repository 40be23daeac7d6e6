package snapshot

import (
	"encoding/json"
	"io/fs"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"
	"pgregory.net/rapid"

	"git-checkpoint/internal/format/name"
	"git-checkpoint/internal/git"
)

// Any intent can be stored and read back. A file that is cut off anywhere is not accepted.
func TestIntentComesBack(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		in := drawIntent(t)
		data, err := encodeIntent(in)
		if err != nil {
			t.Fatal(err)
		}
		back, err := decodeIntent(data)
		if err != nil {
			t.Fatalf("%v in %s", err, data)
		}
		if d := cmp.Diff(in, back, cmpopts.EquateEmpty()); d != "" {
			t.Fatal(d)
		}
		if _, err := decodeIntent(data[:rapid.IntRange(0, len(data)-1).Draw(t, "cut")]); err == nil {
			t.Fatalf("a part of %s is an intent", data)
		}
	})
}

// An intent of another version is distinguished from a damaged one. Neither is accepted.
func TestIntentOfAnotherVersion(t *testing.T) {
	for _, data := range []string{"", "\x1b\xff\x81", `{}`, `{"format":1,"meta":{}}`, `{"format":4,"meta":{}}`, `{"format":3,"meta":{}}`, `{"format":2}`, `{"format":2,"meta":null}`, `{"format":2,"meta":{}}`, `[]`} {
		if in, err := decodeIntent([]byte(data)); err == nil {
			t.Errorf("%q is the intent %v", data, in)
		}
	}
}

// An older version refuses an intent with directories that are staged whole, and reads any other.
func TestIntentForOlderVersions(t *testing.T) {
	for format, missing := range map[string]map[string]int{"2": nil, "3": {"dir": 0}} {
		data, err := encodeIntent(&Intent{Meta: json.RawMessage(`{}`), Missing: missing})
		if err != nil || !strings.HasPrefix(string(data), `{"format":`+format+`,`) {
			t.Errorf("with %v: %s, %v", missing, data, err)
		}
	}
}

// FuzzIntent checks that decodeIntent survives any input.
func FuzzIntent(f *testing.F) {
	data, err := encodeIntent(&Intent{Meta: json.RawMessage(`{}`), Ops: []Op{{Path: "a\xff", Old: git.Entry{Mode: git.ModeFile}}}})
	if err != nil {
		f.Fatal(err)
	}
	f.Add(data)
	f.Fuzz(func(t *testing.T, data []byte) {
		in, err := decodeIntent(data)
		if err != nil {
			return
		}
		if _, err := encodeIntent(in); err != nil {
			t.Fatal(err)
		}
	})
}

func drawIntent(t *rapid.T) *Intent {
	text := rapid.Custom(func(t *rapid.T) string {
		return string(rapid.SliceOfN(rapid.Byte(), 1, 12).Draw(t, "bytes"))
	})
	texts := func(label string) []string {
		if s := rapid.SliceOfN(text, 0, 3).Draw(t, label); len(s) > 0 {
			return s
		}
		return nil
	}
	oid := rapid.Map(rapid.StringMatching(`([0-9a-f]{40})?`), func(s string) name.OID { return name.OID(s) })
	entry := rapid.Custom(func(t *rapid.T) git.Entry {
		return git.Entry{Mode: git.Mode(rapid.Uint32().Draw(t, "mode")), Name: text.Draw(t, "name"), OID: oid.Draw(t, "oid")}
	})
	mode := rapid.Map(rapid.Uint32(), func(m uint32) fs.FileMode { return fs.FileMode(m) })
	in := &Intent{
		Meta: json.RawMessage(`{"session":"main"}`), Top: text.Draw(t, "top"), Stage: text.Draw(t, "stage"), Lock: text.Draw(t, "lock"), LockInode: rapid.Uint64().Draw(t, "inode"),
		IndexTree: oid.Draw(t, "tree"), Directories: rapid.MapOf(text, mode).Draw(t, "directories"), NewModes: rapid.MapOf(text, mode).Draw(t, "new"), OldModes: rapid.MapOf(text, mode).Draw(t, "old modes"),
		Parents: rapid.MapOf(text, rapid.Just(true)).Draw(t, "parents"), Missing: rapid.MapOf(text, rapid.Int()).Draw(t, "missing"), HasIndex: rapid.Bool().Draw(t, "index"), OldIndex: text.Draw(t, "old"),
	}
	for range rapid.IntRange(0, 3).Draw(t, "ops") {
		in.Ops = append(in.Ops, Op{
			Path: text.Draw(t, "path"), Old: entry.Draw(t, "from"), New: entry.Draw(t, "to"), OldRaw: oid.Draw(t, "raw"), NewRaw: oid.Draw(t, "new raw"),
			Perm: mode.Draw(t, "perm"), Same: rapid.Bool().Draw(t, "same"),
		})
	}
	if rapid.Bool().Draw(t, "staged") {
		in.Index = &IndexState{Tree: oid.Draw(t, "staged tree"), IntentToAdd: texts("intent"), AssumeUnchanged: texts("assume"), SkipWorktree: texts("skip"), SparsePresent: texts("present")}
		for range rapid.IntRange(0, 2).Draw(t, "unmerged") {
			in.Index.Unmerged = append(in.Index.Unmerged, git.Unmerged{Stage: rapid.IntRange(1, 3).Draw(t, "stage"), Path: text.Draw(t, "path"), Entry: entry.Draw(t, "entry")})
		}
	}
	return in
}
