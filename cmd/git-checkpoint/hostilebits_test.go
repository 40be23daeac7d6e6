package main

import (
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"testing"

	"git-checkpoint/internal/test/scripttest"
)

// The modes in a record of others give group and others no bit that the umask and core.sharedRepository
// do not give them: not by a rollback, for files and directories, and not by a fork.
func TestHostileModes(t *testing.T) {
	if runtime.GOOS == "windows" {
		t.Skip("it has no permission bits")
	}
	for i, c := range []struct {
		umask, shared, mode string
		file, dir           os.FileMode
	}{
		{"022", "umask", "0777", 0o755, 0o755}, {"077", "umask", "0777", 0o700, 0o700}, {"022", "umask", "0666", 0o644, 0o744},
		{"022", "group", "0777", 0o775, 0o775}, {"077", "0640", "0777", 0o750, 0o750}, {"022", "umask", "0640", 0o640, 0o740},
	} {
		t.Run(c.umask+" "+c.shared+" "+c.mode, func(t *testing.T) {
			scripttest.OneIn(t, 3, i+2) // the sample has those whose umask gives others nothing
			w := newWorld(t)
			w.write("file", "one")
			w.run("git", "checkpoint", "create", "-q", "--name", "one", "--output", "spec=file")
			w.write("file", "two")
			w.write("dir/b", "b")
			w.run("git", "checkpoint", "create", "-q", "--name", "two", "--output", "spec=file")
			good := w.run("git", "cat-file", "blob", "refs/tags/checkpoint/main/step-2^1:checkpoint.json")
			w.forgeSealed(good, func(r map[string]any) {
				r["snapshot"].(map[string]any)["modes"] = map[string]any{"file": c.mode, "dir/b": c.mode, "dir/": c.mode}
			})
			id := strings.TrimSpace(w.run("git", "for-each-ref", "--format=%(refname:lstrip=3)", "refs/checkpoints/main/cp-02-*"))
			w.run("git", "config", "core.sharedRepository", c.shared)
			w.run("git", "checkpoint", "rollback", "1", "-y")
			w.run("sh", "-c", "umask "+c.umask+"; git checkpoint rollback "+id+" -y")
			bits := func(top, name string, want os.FileMode) {
				t.Helper()
				if info, err := os.Stat(filepath.Join(top, name)); err != nil || info.Mode().Perm() != want {
					t.Errorf("%s is %v, not %v: %v", name, info, want, err)
				}
			}
			bits(w.dir, "file", c.file)
			bits(w.dir, "dir/b", c.file)
			w.run("git", "commit", "-q", "--allow-empty", "-m", "Begin")
			w.run("sh", "-c", "umask "+c.umask+"; git checkpoint fork -q "+id+" ../other --name other")
			bits(filepath.Join(filepath.Dir(w.dir), "other"), "file", c.file)
		})
	}
}
