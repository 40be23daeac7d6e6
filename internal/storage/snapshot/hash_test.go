package snapshot

import (
	"os"
	"path/filepath"
	"testing"
	"time"

	"git-checkpoint/internal/format/name"
	"git-checkpoint/internal/git"
	"git-checkpoint/internal/storage/worktree"
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
	if err := os.WriteFile(filepath.Join(top, "large"), make([]byte, worktree.LargeFile), 0o755); err != nil {
		t.Fatal(err)
	}
	var looked []string
	look := func(path string, _ name.OID, _ []byte) { looked = append(looked, path) }
	for _, k := range []struct {
		path      string
		was, want git.Mode
	}{
		{"link", git.ModeFile, git.ModeSymlink}, {"file", git.ModeSymlink, git.ModeFile}, {"script", git.ModeFile, git.ModeExec}, {"large", git.ModeSymlink, git.ModeExec}, {".git", git.ModeFile, 0}, {"gone", git.ModeFile, 0},
	} {
		h, err := shot.capturer.hash.hashFile(t.Context(), candidate{path: k.path, mode: k.was}, &Capture{look: look, hashes: shot.openHashCache(time.Now())})
		if err != nil || h.entry.Mode != k.want {
			t.Errorf("%s: %o, %v", k.path, h.entry.Mode, err)
		}
	}
	if len(looked) != 3 {
		t.Errorf("looked at %q", looked)
	}
}

// After `cp -r` no stat data match the index. Content that the index has is not stored again then,
// unless the repository has lost it.
func TestSameContentAsTheIndex(t *testing.T) {
	repo := repository(t)
	shot, err := New(repo)
	if err != nil {
		t.Fatal(err)
	}
	defer shot.Close()
	for _, path := range []string{"kept", "lost", "edited"} {
		put(t, filepath.Join(repo.WorkTree, path), path+"\n")
	}
	for _, args := range [][]string{{"add", "."}, {"-c", "user.name=A", "-c", "user.email=a@example.com", "commit", "-q", "-m", "two"}} {
		if _, err := repo.Run(t.Context(), git.Cmd{Args: args}); err != nil {
			t.Fatal(err)
		}
	}
	past := time.Unix(1e9, 0)
	object := func(content string) string {
		oid := string(git.HashObject("sha1", "blob", []byte(content)))
		return filepath.Join(repo.GitDir, "objects", oid[:2], oid[2:])
	}
	for _, path := range []string{"kept", "lost", "edited"} {
		if err := os.Chtimes(filepath.Join(repo.WorkTree, path), past, past); err != nil {
			t.Fatal(err)
		}
	}
	put(t, filepath.Join(repo.WorkTree, "edited"), "new\n")
	if err := os.Chtimes(object("kept\n"), past, past); err != nil {
		t.Fatal(err)
	}
	if err := os.Remove(object("lost\n")); err != nil {
		t.Fatal(err)
	}
	c, err := shot.Take(t.Context(), Rules{MaxFileSize: 1 << 20})
	if err != nil {
		t.Fatal(err)
	}
	for _, content := range []string{"lost\n", "new\n"} {
		if _, err := os.Stat(object(content)); err != nil {
			t.Error(err)
		}
	}
	if info, err := os.Stat(object("kept\n")); err != nil || !info.ModTime().Equal(past) {
		t.Errorf("an object that the index has was written to: %v, %v", info, err)
	}
	for path, content := range map[string]string{"kept": "kept\n", "lost": "lost\n", "edited": "new\n"} {
		if o, err := repo.Objects.Batch().Object(t.Context(), string(c.Tree)+":"+path); err != nil || string(o.Data) != content {
			t.Errorf("%s is %q in the tree, %v", path, o.Data, err)
		}
	}
}
