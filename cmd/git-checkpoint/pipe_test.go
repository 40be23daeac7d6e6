//go:build unix

package main

import (
	"os"
	"os/exec"
	"strings"
	"testing"
)

// `prune --all 2>&1 | head -1`: a reader that goes away ends the output, never the work. The
// warning about the first session meets a closed pipe, and the second one is pruned.
func TestClosedPipe(t *testing.T) {
	w := newWorld(t)
	for _, session := range []string{"a", "b"} {
		w.run("git-checkpoint", "session", "start", session)
		for _, content := range []string{"one", "two", "three"} {
			w.write("file", session+content)
			w.run("git-checkpoint", "create", "--session", session, "-m", content)
		}
	}
	w.run("git", "commit", "-q", "--allow-empty", "-m", "no event")
	w.run("git", "update-ref", "refs/checkpoints/a/journal", "HEAD")
	read, write, err := os.Pipe()
	if err != nil {
		t.Fatal(err)
	}
	read.Close() //nolint:errcheck // nothing was read
	cmd := exec.Command("git-checkpoint", "prune", "-y", "--all", "--keep", "1")
	cmd.Dir, cmd.Env, cmd.Stdout, cmd.Stderr = w.dir, w.env, write, write
	if err := cmd.Run(); err == nil || cmd.ProcessState.ExitCode() != 141 {
		t.Errorf("%v, and not exit code 141 as of git", err)
	}
	write.Close() //nolint:errcheck // nothing was written
	if out := w.run("git", "for-each-ref", "--format=%(refname)", "refs/checkpoints/b/cp-*"); strings.Count(out, "\n") != 1 {
		t.Errorf("left of b:\n%s", out)
	}
}
