package interop

import (
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"git-checkpoint/internal/core/checkpoint"
)

// Commands in two sessions that read the record of a mirror at the same time do not lose what the
// other one wrote down, and a record of version 0.1.0 is still known.
func TestRecordsOfAMirrorAddUp(t *testing.T) {
	w := newWorld(t)
	s := w.Open()
	m := checkpoint.Mirror{Format: Crunch, Dir: "mirror"}
	read := func() *mirrored {
		known, err := readMirrored(s.Repo, m)
		if err != nil {
			t.Fatal(err)
		}
		return known
	}
	a, b := read(), read()
	old := `{"sessions":{"old":{"x":"1"},"a":{"x":"2"}}}`
	if err := os.WriteFile(a.file, []byte(old), 0o666); err != nil {
		t.Fatal(err)
	}
	if err := a.save("a", map[string]string{"a.yaml": digest([]byte("of a"))}); err != nil {
		t.Fatal(err)
	}
	if err := b.save("b", map[string]string{"b.yaml": digest([]byte("of b"))}); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(a.file+partOf("c"), []byte(`{"sess`), 0o666); err != nil {
		t.Fatal(err)
	}
	known := read()
	if got := strings.Join(slices.Sorted(maps.Keys(known.Sessions)), " "); got != "a b old" {
		t.Errorf("known are %s", got)
	}
	if !known.has([]byte("of a")) || !known.has([]byte("of b")) || known.Sessions["a"]["x"] != "" {
		t.Errorf("known is %v", known.Sessions)
	}
	if other, err := readMirrored(s.Repo, checkpoint.Mirror{Format: Crunch, Dir: filepath.Join("another", "mirror")}); err != nil || len(other.Sessions) > 0 {
		t.Errorf("another mirror knows %v, %v", other, err)
	}
}
