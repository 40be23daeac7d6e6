package snapshot

import (
	"os"
	"path/filepath"
	"testing"

	"git-checkpoint/internal/git"
	"git-checkpoint/internal/name"
)

// A file that becomes something else between the scan and the reading is captured as what was
// read: content and mode belong together.
func TestReplacedAfterTheScan(t *testing.T) {
	shot, err := New(repository(t))
	if err != nil {
		t.Fatal(err)
	}
	defer shot.Close()
	top := shot.repo.WorkTree
	if err := os.Symlink("target", filepath.Join(top, "link")); err != nil {
		t.Skip(err)
	}
	put(t, filepath.Join(top, "file"), "text\n")
	if err := os.WriteFile(filepath.Join(top, "script"), []byte("text\n"), 0o755); err != nil {
		t.Fatal(err)
	}
	var looked []string
	look := func(path string, _ name.OID, _ []byte) { looked = append(looked, path) }
	for _, k := range []struct {
		path      string
		was, want git.Mode
	}{
		{"link", git.ModeFile, git.ModeSymlink}, {"file", git.ModeSymlink, git.ModeFile}, {"script", git.ModeFile, git.ModeExec}, {".git", git.ModeFile, 0}, {"gone", git.ModeFile, 0},
	} {
		h, err := shot.hashFile(t.Context(), candidate{path: k.path, mode: k.was}, look)
		if err != nil || h.entry.Mode != k.want {
			t.Errorf("%s: %o, %v", k.path, h.entry.Mode, err)
		}
		c, edits := &Capture{}, map[string]git.Entry{}
		if err := shot.hashLarge(t.Context(), []candidate{{path: k.path, mode: k.was}}, c, edits); err != nil || edits[k.path].Mode != k.want {
			t.Errorf("%s as a large file: %o, %v", k.path, edits[k.path].Mode, err)
		}
	}
	if len(looked) != 2 {
		t.Errorf("looked at %q", looked)
	}
}
