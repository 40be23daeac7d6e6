package checkpoint_test

import (
	"path/filepath"
	"testing"

	"git-checkpoint/internal/core/checkpoint"
)

// A signature in another worktree, such as that of an attempt, may ask for a passphrase where one in
// this worktree may, and ids there come from the same source.
func TestOpenAt(t *testing.T) {
	c := newClones(t, 1, 0).all[0]
	other := filepath.Join(c.w.root, "other")
	c.w.git(c.dir, "worktree", "add", "-q", "--detach", other)
	c.w.git(c.dir, "config", "checkpoint.sign", "true")
	for _, asking := range []bool{false, true} {
		s, err := checkpoint.Open(t.Context(), checkpoint.Options{Dir: c.dir, Env: c.w.env, MayAsk: asking, Random: func() uint32 { return 7 }})
		if err != nil {
			t.Fatal(err)
		}
		defer s.Close() //nolint:errcheck // only a test
		there, err := checkpoint.OpenAt(t.Context(), s, other)
		if err != nil {
			t.Fatal(err)
		}
		defer there.Close() //nolint:errcheck // likewise
		if got := there.Store.Signer.MayAsk; got != asking {
			t.Errorf("here it asks %v, there %v", asking, got)
		}
		if got := there.Store.Random(); got != 7 {
			t.Errorf("another random source: %d", got)
		}
	}
}
