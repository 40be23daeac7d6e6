package interop

import (
	"os"
	"path/filepath"
	"testing"

	"github.com/google/go-cmp/cmp"
)

// Every sample is exported as it was imported, and importing it again adds nothing.
func TestSamplesRoundTrip(t *testing.T) {
	for _, format := range Formats() {
		t.Run(format, func(t *testing.T) {
			w := newWorld(t)
			from, to := filepath.Join("testdata", "samples", format), filepath.Join(t.TempDir(), "out")
			in := w.bringIn(from)
			if in.Added == 0 || in.Added != len(in.Documents) || in.Format != format {
				t.Fatalf("imported %+v", in)
			}
			w.takeOut(to, format)
			if diff := cmp.Diff(documents(t, from), documents(t, to)); diff != "" {
				t.Errorf("import → export (-went in +came out):\n%s", diff)
			}
			refs := w.Git("for-each-ref")
			if again := w.bringIn(from); again.Added+again.Changed != 0 || again.Unchanged != in.Added {
				t.Errorf("importing again: %+v", again)
			}
			if now := w.Git("for-each-ref"); now != refs {
				t.Errorf("importing again changed refs:\n%s\n%s", refs, now)
			}
			if again := w.bringIn(to); again.Added+again.Changed != 0 {
				t.Errorf("importing what came out: %+v", again)
			}
			w.Git("fsck", "--strict", "--no-dangling")
			if status := w.Git("status", "--porcelain"); status != "" {
				t.Errorf("the worktree changed: %s", status)
			}
		})
	}
}

// The newest of crunch is a link.
func TestLatestIsALink(t *testing.T) {
	w, to := newWorld(t), t.TempDir()
	w.bringIn("testdata/samples/crunch")
	w.takeOut(to, Crunch)
	got, err := os.Readlink(filepath.Join(to, ".claude/crunch/57/checkpoints/latest"))
	if err != nil || got != "CP-implementing-20260118-9e77.yaml" {
		t.Errorf("latest leads to %q, %v", got, err)
	}
}
