package main

import (
	"encoding/json"
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"git-checkpoint/internal/test/scripttest"
)

// answers are what parallel commands said.
type answers struct {
	mu   sync.Mutex
	ids  []string // of the checkpoints that were made
	said []string // by commands that failed
	gone []string // what was pruned
}

// all runs commands at once. A command that makes or prunes a checkpoint has --json.
func (w *world) all(commands [][]string) *answers {
	w.t.Helper()
	a := &answers{}
	var group sync.WaitGroup
	for _, c := range commands {
		group.Go(func() {
			out, code := w.try(append([]string{"git-checkpoint"}, c...)...)
			a.mu.Lock()
			defer a.mu.Unlock()
			var made struct {
				ID, Safety string
				Pruned     []struct{ ID string }
			}
			switch {
			case code != 0:
				a.said = append(a.said, fmt.Sprintf("%v: exit code %d: %s", c, code, out))
			case json.Unmarshal([]byte(out[max(0, strings.Index(out, "{")):]), &made) != nil:
				a.said = append(a.said, fmt.Sprintf("%v: %s", c, out))
			case c[0] == "prune":
				for _, p := range made.Pruned {
					a.gone = append(a.gone, p.ID)
				}
			default:
				if id := made.ID + made.Safety; id != "" { // otherwise a rollback had nothing to do
					a.ids = append(a.ids, id)
				}
			}
		})
	}
	group.Wait()
	return a
}

// held demands that each checkpoint that was reported is there, with its note, unless it
// was reported to be pruned, and no other but had.
func (w *world) held(a *answers, had int) {
	w.t.Helper()
	refs := w.run("git", "for-each-ref", "refs/checkpoints")
	for _, id := range a.ids {
		if strings.Contains(refs, "/"+id+"\n") == slices.Contains(a.gone, id) {
			w.t.Errorf("%s was reported and is not there, or was pruned and is", id)
		}
	}
	if n := w.count(); n != had+len(a.ids)-len(a.gone) {
		w.t.Errorf("%d checkpoints are there, %d were before, %d were reported, %d pruned", n, had, len(a.ids), len(a.gone))
	}
	if n := strings.Count(w.run("git", "notes", "--ref=checkpoints", "list"), "\n"); n != w.count() {
		w.t.Errorf("%d notes for %d checkpoints", n, w.count())
	}
	listed := w.run("git-checkpoint", "list", "--all", "--json")
	if n := strings.Count(listed, `"valid":true`); n != w.count() {
		w.t.Errorf("%d valid checkpoints are listed of %d", n, w.count())
	}
	w.run("git", "fsck", "--strict", "--no-dangling")
	for _, lock := range w.locks() {
		w.t.Errorf("%s was left", lock)
	}
}

// Sixteen that create at once, in one session and in sixteen, with pins, unpins, prunes
// and switches of the session between: as many checkpoints as commands that reported one,
// less those that were reported to be pruned, and nobody fails.
func TestRaceOfCreators(t *testing.T) {
	for round := range rounds(1) {
		w, _, after := twoSides(t)
		for range 3 { // for a prune that is the first
			w.run("git-checkpoint", "create", "-m", "before")
		}
		var commands [][]string
		for i := range 16 {
			commands = append(commands, []string{"create", "--session", "main", "-m", fmt.Sprint("one ", i), "--json"},
				[]string{"create", "--session", fmt.Sprint("s", i), "-m", "own", "--json"})
			switch i % 4 {
			case 0:
				commands = append(commands, []string{"pin", "1", "--session", "main"})
			case 1:
				commands = append(commands, []string{"unpin", "1", "--session", "main"})
			case 2:
				commands = append(commands, []string{"session", "switch", "main"})
			case 3:
				commands = append(commands, []string{"prune", "-y", "--session", "main", "--keep", "2", "--json"})
			}
		}
		had := w.count()
		a := w.all(commands)
		for _, s := range a.said {
			if strings.Contains(s, "exit code") && !strings.HasPrefix(s, "[unpin") && !strings.HasPrefix(s, "[pin") { // pinned already, or not
				t.Errorf("round %d: %s", round, s)
			}
		}
		if len(a.ids) != 32 {
			t.Errorf("%d of 32 creates reported a checkpoint", len(a.ids))
		}
		w.held(a, had)
		t.Logf("round %d: %d pruned", round, len(a.gone))
		if now := w.look(); now != after {
			t.Errorf("the worktree is another:\n%s", now)
		}
	}
}

// Creates, rollbacks, deletions and gc at once: what a create reported is there unless
// it was deleted, and the worktree is one that was captured.
func TestRaceWithRollbacks(t *testing.T) {
	scripttest.Long(t)
	for round := range rounds(1) {
		w, before, after := twoSides(t)
		w.run("git-checkpoint", "create", "-m", "second")
		var commands [][]string
		for range 5 {
			commands = append(commands, []string{"create", "-m", "more", "--json"}, []string{"rollback", "1", "-y", "--json"}, []string{"rollback", "2", "-y", "--json"})
		}
		commands = append(commands, []string{"prune", "-y", "--keep", "100"}, []string{"validate"}, []string{"undo", "-y", "--json"})
		had, sides := w.count(), w.trees()
		a := w.all(commands)
		w.run("git-checkpoint", "status")
		for _, s := range a.said {
			if strings.HasPrefix(s, "[create") && !strings.Contains(s, "changed while") {
				t.Errorf("round %d: %s", round, s)
			}
			if strings.Contains(s, "halfway, and not everything") || strings.Contains(s, "panic") {
				t.Errorf("round %d: %s", round, s)
			}
		}
		refs := w.run("git", "for-each-ref", "refs/checkpoints")
		for _, id := range a.ids {
			if !strings.Contains(refs, "/"+id+"\n") {
				t.Errorf("round %d: %s was reported and is not there", round, id)
			}
		}
		if n := w.count(); n < had+len(a.ids) {
			t.Errorf("round %d: %d checkpoints are there, %d were before, %d were reported", round, n, had, len(a.ids))
		}
		if out, code := w.try("git-checkpoint", "rollback", "--continue"); code != 3 {
			t.Errorf("round %d: something is left to be finished: %s", round, out)
		}
		w.oneSided(sides)
		// HEAD stays, so only the files tell.
		if files := filesOf(w.look()); files != filesOf(before) && files != filesOf(after) {
			t.Errorf("round %d: the worktree is neither side:\n%s", round, files)
		}
		w.run("git", "fsck", "--strict", "--no-dangling")
		for _, lock := range w.locks() {
			t.Errorf("round %d: %s was left", round, lock)
		}
	}
}

// trees are those of all checkpoints, by ref.
func (w *world) trees() map[string]string {
	w.t.Helper()
	found := map[string]string{}
	for line := range strings.Lines(w.run("git", "for-each-ref", "--format=%(tree) %(refname)", "refs/checkpoints/main/cp-*")) {
		tree, ref, _ := strings.Cut(strings.TrimSpace(line), " ")
		found[ref] = tree
	}
	return found
}

// oneSided demands that every checkpoint is the worktree of one of the moments, and none
// half of a rollback.
func (w *world) oneSided(sides map[string]string) {
	w.t.Helper()
	for ref, tree := range w.trees() {
		if !slices.Contains(slices.Collect(maps.Values(sides)), tree) {
			w.t.Errorf("%s is neither side", ref)
		}
	}
}

// While a rollback moves files, another one and --continue refuse by name, and a create
// waits for its end.
func TestInTheMiddle(t *testing.T) {
	w, before, _ := twoSides(t)
	w.run("git-checkpoint", "create", "-m", "second")
	slow := *w
	slow.env = append(slices.Clone(w.env), "GIT_CHECKPOINT_FAILPOINT=place:1:pause")
	var group sync.WaitGroup
	group.Go(func() { slow.run("git-checkpoint", "rollback", "1", "-y") })
	runs := func() bool {
		_, err := os.Lstat(filepath.Join(w.dir, ".git", "checkpoint", "rollback"))
		return err == nil
	}
	for !runs() {
		time.Sleep(time.Millisecond)
	}
	for _, args := range [][]string{{"rollback", "2", "-y"}, {"rollback", "--continue"}, {"rollback", "--abort"}} {
		if out, code := w.try(append([]string{"git-checkpoint"}, args...)...); code != 4 || !strings.Contains(out, "another rollback is in progress") {
			t.Errorf("%v: exit code %d\n%s", args, code, out)
		}
	}
	if out := w.run("git-checkpoint", "list"); runs() && (!strings.HasPrefix(out, "Running rollback to cp-01-") || strings.Contains(out, "--abort")) {
		t.Errorf("list does not say that a rollback is running:\n%s", out)
	}
	if out := w.run("git-checkpoint", "doctor"); runs() && !strings.Contains(out, "in this worktree is running (process ") {
		t.Errorf("doctor does not say that a rollback is running:\n%s", out)
	}
	if out := w.run("git-checkpoint", "status"); strings.Contains(out, "nning rollback") || strings.Contains(out, "nfinished") || !strings.Contains(out, "Current\t1 ") {
		t.Errorf("status has waited for the rollback, and tells of before:\n%s", out)
	}
	id := w.created()
	group.Wait()
	w.run("git", "diff", "--exit-code", "checkpoint/main/step-1^{tree}", "refs/checkpoints/main/"+id+"^{tree}")
	if filesOf(w.look()) != filesOf(before) {
		t.Errorf("this is there:\n%s", w.look())
	}
	w.whole()
}

// filesOf keeps the files of what look gives.
func filesOf(seen string) string {
	var files []string
	for line := range strings.Lines(seen) {
		if strings.HasPrefix(line, "/") {
			files = append(files, line)
		}
	}
	return strings.Join(files, "")
}

// Beside a gc that drops all that no ref holds, and packs that are made and taken away, as
// many checkpoints as reports, and all of them whole; what is read meanwhile is there.
func TestRaceWithGC(t *testing.T) {
	scripttest.Long(t)
	w, _, _ := twoSides(t)
	var group sync.WaitGroup
	done := make(chan struct{})
	packing := [][]string{
		{"gc", "-q", "--prune=now"}, {"repack", "-adq"}, {"repack", "-dq"}, {"multi-pack-index", "write", "--no-progress"}, {"pack-refs", "--all"},
		{"gc", "-q", "--prune=now"}, {"multi-pack-index", "repack", "--no-progress"}, {"multi-pack-index", "expire", "--no-progress"},
	}
	group.Go(func() {
		for i := 0; ; i++ {
			select {
			case <-done:
				return
			default:
				w.try(append([]string{"git"}, packing[i%len(packing)]...)...)
			}
		}
	})
	made := 0
	for i := range 6 * rounds(1) {
		w.write("edited", fmt.Sprint("version ", i, "\n"))
		w.write(fmt.Sprint("new/", i), fmt.Sprint("new ", i, "\n"))
		commands := [][]string{{"create", "-m", "next"}}
		if i%3 == 2 {
			w.run("git-checkpoint", "validate")
			w.run("git-checkpoint", "diff", "1", "latest")
			commands = append(commands, []string{"rollback", "1", "-y"}) // makes a safety checkpoint
		}
		for _, c := range commands {
			out, code := w.try(append([]string{"git-checkpoint"}, c...)...)
			if code == 0 {
				made++
			} else if !strings.Contains(out, "vanished") {
				t.Errorf("%v: exit code %d: %s", c, code, out)
			}
		}
	}
	close(done)
	group.Wait()
	if n := w.count(); n != made+1 {
		t.Errorf("%d checkpoints are there, %d were reported", n, made+1)
	}
	w.run("git", "fsck", "--strict", "--no-dangling", "--connectivity-only")
	w.run("git", "gc", "-q", "--prune=now")
	w.run("git-checkpoint", "rollback", "1", "-y")
	w.run("git-checkpoint", "undo", "-y")
}
