package name

import (
	"regexp"
	"strings"
	"testing"
	"time"

	"pgregory.net/rapid"
)

// An id and its bytes are the same, and what is no id has no bytes.
func TestBytes(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		size := rapid.SampledFrom([]int{20, 32}).Draw(t, "size")
		id := rapid.SliceOfN(rapid.Byte(), size, size).Draw(t, "id")
		if got := OIDOf(id).Bytes([]byte("before")); string(got) != "before"+string(id) {
			t.Fatalf("%x became %x", id, got)
		}
	})
	for _, o := range []string{"", "12", strings.Repeat("a", 39), strings.Repeat("A", 40), strings.Repeat("a", 39) + "g", strings.Repeat("`", 64)} {
		if got := OID(o).Bytes(nil); got != nil {
			t.Errorf("%q became %x", o, got)
		}
	}
}

func TestParseSession(t *testing.T) {
	for s, ok := range map[string]bool{
		"demo": true, "issue-88": true, "a.b": true, "A": true, "9": true, strings.Repeat("a", 64): true,
		"": false, "-a": false, ".a": false, "a..b": false, "a.": false, "a.lock": false, "a.LOCK": false,
		"a b": false, "a/b": false, "ä": false, "a\n": false, strings.Repeat("a", 65): false,
	} {
		if _, err := ParseSession(s); (err == nil) != ok {
			t.Errorf("ParseSession(%q): %v", s, err)
		}
	}
}

// The session that is named after a branch has a valid name, whatever the branch is called, and
// leaves room for "-2".
func TestSessionFromBranch(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		branch := rapid.OneOf(rapid.String(), rapid.StringMatching(`[a.\-/_]{0,80}(\.lock)?`)).Draw(t, "branch")
		s := SessionFromBranch(branch)
		if _, err := ParseSession(string(s) + "-2"); err != nil {
			t.Fatalf("%q: %v", s, err)
		}
		if _, err := ParseSession(string(s)); err != nil {
			t.Fatalf("%q: %v", s, err)
		}
		if len(s) > 60 {
			t.Fatalf("%q is %d long", s, len(s))
		}
	})
	for branch, want := range map[string]Session{"main": "main", "feature/x": "feature-x", "-x": "s-x", "ü": "s-", "_a": "s_a"} {
		if got := SessionFromBranch(branch); got != want {
			t.Errorf("SessionFromBranch(%q) = %q, want %q", branch, got, want)
		}
	}
}

func TestIDs(t *testing.T) {
	at := time.Date(2026, 11, 20, 10, 43, 11, 123_999_999, time.FixedZone("", 3600))
	if got, want := NewID(3, at, 0x4f2a), ID("cp-03-20261120T094311123Z-4f2a"); got != want {
		t.Errorf("NewID = %q, want %q", got, want)
	}
	if _, err := ParseID("cp-103-20261120T094311123Z-4f2a"); err != nil {
		t.Error(err)
	}
	for _, bad := range []string{"", "cp-3", "journal", "cp-03-20261120T094311123Z-4F2A", "cp-03-20261120T094311123Z-4f2a "} {
		if _, err := ParseID(bad); err == nil {
			t.Errorf("ParseID(%q) took it", bad)
		}
	}
}

func TestLabels(t *testing.T) {
	for want, got := range map[string]string{
		"cp-03":              Label(3, "", ""),
		"cp-03-architecture": Label(3, "Architecture", ""),
		"cp-06-review-2":     Label(6, "review", "2"),
		"cp-06-review-final": Label(6, "review", "final"),
		"cp-01-a-b":          Label(1, " a / b! ", ""),
		"cp-01-phase_1":      Label(1, "phase_1", ""),
	} {
		if got != want {
			t.Errorf("%q, want %q", got, want)
		}
	}
}

func TestSplitCheckpointRef(t *testing.T) {
	s, leaf, ok := SplitCheckpointRef("refs/checkpoints/demo/journal")
	if s != "demo" || leaf != "journal" || !ok {
		t.Error(s, leaf, ok)
	}
	for _, r := range []Ref{"refs/heads/x", "refs/checkpoints/demo", "refs/checkpoints/a/b/c", "refs/checkpoints/-x/y", "refs/checkpoints/x/"} {
		if _, _, ok := SplitCheckpointRef(r); ok {
			t.Errorf("%q was taken apart", r)
		}
	}
}

func FuzzParse(f *testing.F) {
	f.Add("refs/checkpoints/demo/cp-03-20261120T094311123Z-4f2a")
	f.Fuzz(func(t *testing.T, s string) {
		if id, err := ParseID(s); err == nil && string(id) != s {
			t.Fatal(id)
		}
		if oid, err := ParseOID(s); err == nil && oid.Short() != s[:7] {
			t.Fatal(oid)
		}
		if session, leaf, ok := SplitCheckpointRef(Ref(s)); ok && "refs/checkpoints/"+string(session)+"/"+leaf != s {
			t.Fatal(session, leaf)
		}
	})
}

// ParseID accepts exactly what the pattern of an id matches, whatever is changed in one.
func TestParseIDByPattern(t *testing.T) {
	pattern := regexp.MustCompile(`^cp-[0-9]{2,9}-[0-9]{8}T[0-9]{9}Z-[0-9a-f]{4}$`)
	taken := 0
	rapid.Check(t, func(t *rapid.T) {
		s := rapid.StringMatching(`cp-[0-9]{1,10}-[0-9]{8}T[0-9]{9}Z-[0-9a-f]{4}`).Draw(t, "id")
		if rapid.Bool().Draw(t, "changed") {
			i := rapid.IntRange(0, len(s)).Draw(t, "at")
			s = s[:i] + rapid.SampledFrom([]string{"", "0", "-", "T", "g", "A", "\n", "ü"}).Draw(t, "piece") + s[min(len(s), i+rapid.IntRange(0, 1).Draw(t, "less")):]
		}
		_, err := ParseID(s)
		if want := pattern.MatchString(s); (err == nil) != want {
			t.Fatalf("%q: %v", s, err)
		} else if want {
			taken++
		}
	})
	if taken == 0 {
		t.Error("no id was taken")
	}
}
