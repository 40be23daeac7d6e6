package main

import (
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"git-checkpoint/internal/test/scripttest"
)

// twoClones are two worlds with one remote, and a checkpoint that both have.
func twoClones(t *testing.T) (a, b *world, remote string) {
	t.Helper()
	a, b = newWorld(t), newWorld(t)
	remote = bare(t, a, filepath.Join(t.TempDir(), "r.git"))
	for _, w := range []*world{a, b} {
		w.run("git", "remote", "add", "origin", remote)
	}
	a.run("git-checkpoint", "create", "--session", "demo", "-m", "one")
	a.run("git-checkpoint", "push", "-y")
	b.run("git-checkpoint", "fetch")
	return a, b, remote
}

// agree demands that running it again brings everything together.
func agree(t *testing.T, a, b *world, remote string) {
	t.Helper()
	for range 2 {
		a.run("git-checkpoint", "sync", "-y")
		b.run("git-checkpoint", "sync", "-y")
	}
	refs := func(w *world, dir string) string {
		return w.run("git", "-C", dir, "for-each-ref", "--format=%(refname) %(objectname)", "refs/checkpoints")
	}
	want := refs(a, a.dir)
	if got := refs(b, b.dir); got != want {
		t.Fatalf("one has\n%s\nthe other\n%s", want, got)
	}
	if got := refs(a, remote); got != want {
		t.Fatalf("one has\n%s\nthe remote\n%s", want, got)
	}
	if n := strings.Count(want, "/cp-"); n != 4 {
		t.Fatalf("%d checkpoints of 4 are there:\n%s", n, want)
	}
	for _, dir := range []string{a.dir, b.dir, remote} {
		a.run("git", "-C", dir, "fsck", "--strict")
	}
}

// A push and a fetch that are killed at any step are completed by running them again,
// here or elsewhere.
func TestKilledTravel(t *testing.T) {
	for i, k := range []struct{ verb, step string }{
		{"push", "planned push"}, {"push", "sent"}, {"push", "journal sent"}, {"push", "notes sent"},
		{"fetch", "fetched"}, {"fetch", "united"}, {"sync", "fetched"}, {"sync", "united"}, {"sync", "planned push"},
	} {
		for _, refuses := range []string{"", "true"} {
			if refuses != "" && (k.verb != "push" || k.step == "planned push") || refuses == "" && (k.step == "sent" || k.step == "journal sent") {
				continue // one push has no steps in between
			}
			t.Run(k.verb+" "+k.step+refuses, func(t *testing.T) {
				scripttest.OneIn(t, 5, i) // an atomic push, and fetch's
				t.Parallel()
				a, b, remote := twoClones(t)
				if refuses != "" { // no atomic push: one after the other
					a.run("git", "-C", remote, "config", "receive.advertiseAtomic", "false")
				}
				b.run("git-checkpoint", "create", "--session", "demo", "-m", "b")
				b.run("git-checkpoint", "push", "-y")
				a.run("git-checkpoint", "create", "--session", "demo", "-m", "two")
				a.run("git-checkpoint", "create", "--session", "demo", "-m", "three")
				a.env = append(a.env, "GIT_CHECKPOINT_FAILPOINT="+k.step)
				out, code := a.try("git-checkpoint", k.verb)
				if a.env = a.env[:len(a.env)-1]; code != -1 {
					t.Fatalf("not killed at %q: exit code %d\n%s", k.step, code, out)
				}
				agree(t, a, b, remote)
			})
		}
	}
}

// Killed at any moment, with the processes of git on their way.
func TestKilledTravelAnywhere(t *testing.T) {
	for i := range 8 {
		t.Run("", func(t *testing.T) {
			scripttest.OneIn(t, 8, i+3)
			t.Parallel()
			a, b, remote := twoClones(t)
			b.run("git-checkpoint", "create", "--session", "demo", "-m", "b")
			b.run("git-checkpoint", "push", "-y")
			a.run("git-checkpoint", "create", "--session", "demo", "-m", "two")
			a.run("git-checkpoint", "create", "--session", "demo", "-m", "three")
			cmd := exec.Command("git-checkpoint", "sync", "-y")
			cmd.Dir, cmd.Env = a.dir, a.env
			if err := cmd.Start(); err != nil {
				t.Fatal(err)
			}
			time.Sleep(time.Duration(i*23) * time.Millisecond)
			cmd.Process.Kill() //nolint:errcheck // it may have ended
			cmd.Wait()         //nolint:errcheck // it was killed
			agree(t, a, b, remote)
		})
	}
}
