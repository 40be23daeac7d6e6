package snapshot

import (
	"slices"
	"testing"

	"git-checkpoint/internal/git"
	"git-checkpoint/internal/sys/gather"
)

// A file that a caller wants in the capture is not taken twice where the index has it under another spelling: a
// rollback would then delete one of the two, which is the other, too.
func TestForcedUnderAnotherSpelling(t *testing.T) {
	shot, err := New(repository(t))
	if err != nil {
		t.Fatal(err)
	}
	choose := shot.capturer.chooser
	for _, choose.folds = range []bool{true, false} {
		got, err := choose.listForced(t.Context(), &privateIndex{entries: []git.IndexEntry{{Path: "file"}}}, Rules{Force: []string{"File", "new"}}, nil)
		if slices.Contains(got, "File") == choose.folds || !slices.Contains(got, "new") || err != nil {
			t.Errorf("the disk folds: %v, got %q, %v", choose.folds, got, err)
		}
	}
}

// TestTwins checks which paths a disk that does not distinguish case holds as one.
func TestTwins(t *testing.T) {
	for _, c := range []struct {
		name           string
		paths, written []string
		a, b           string
	}{
		{"nothing", nil, nil, "", ""},
		{"files", []string{"File", "file"}, []string{"file"}, "File", "file"},
		{"neither is written", []string{"File", "file", "new"}, []string{"new"}, "", ""},
		{"directories", []string{"Dir/a", "dir/b"}, []string{"dir/b"}, "Dir", "dir"},
		{"a file and a directory", []string{"README", "readme/a"}, []string{"README"}, "README", "readme"},
		{"deep", []string{"a/b/C/x", "a/b/c/x"}, []string{"a/b/C/x"}, "a/b/C/x", "a/b/c/x"},
		{"other letters", []string{"\u00c4", "\u00e4"}, []string{"\u00c4"}, "\u00c4", "\u00e4"},
		{"one spelling", []string{"Dir/a", "Dir/b"}, []string{"Dir/a"}, "", ""},
		{"the one that stays comes between", []string{"x", "X", "y"}, []string{"x"}, "X", "x"},
	} {
		if a, b := twins(c.paths, gather.SetOf(c.written)); a != c.a || b != c.b {
			t.Errorf("%s: got %q and %q, want %q and %q", c.name, a, b, c.a, c.b)
		}
	}
}
