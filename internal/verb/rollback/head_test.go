package rollback_test

import (
	"fmt"
	"strings"
	"testing"

	"git-checkpoint/internal/core/checkpoint"
	"git-checkpoint/internal/verb/rollback"
)

// A commit that somebody makes after a plan was shown is never dropped: the rollback refuses and
// changes nothing. It is noticed whatever the plan moves: the branch that HEAD is on, another
// branch, or only HEAD.
func TestCommittedMeanwhile(t *testing.T) {
	for _, k := range []struct {
		name, message string
		before        func(w *world) // after the checkpoint
		meanwhile     func(w *world) // after the plan
	}{
		{"branch of HEAD", "HEAD has moved since", func(w *world) { w.commit("two") }, func(w *world) {
			w.Git("commit", "-q", "--allow-empty", "-m", "meanwhile")
		}},
		{"another branch", "branch main has moved since", func(w *world) { w.Git("checkout", "-qb", "other") }, func(w *world) {
			w.Git("branch", "-f", "main", w.Git("commit-tree", "-p", "main", "-m", "meanwhile", "main^{tree}"))
		}},
		{"HEAD goes elsewhere", "HEAD has moved since", func(w *world) { w.commit("two") }, func(w *world) {
			w.Git("checkout", "-qb", "other")
		}},
	} {
		t.Run(k.name, func(t *testing.T) {
			w := newWorld(t)
			w.create()
			k.before(w)
			var before string
			err := w.rollBack(rollback.Request{Session: "main", Branch: rollback.BranchMove}, func() {
				k.meanwhile(w)
				before = w.refs()
			}, nil)
			if checkpoint.KindOf(err) != checkpoint.KindRefused || !strings.Contains(fmt.Sprint(err), k.message) {
				t.Errorf("error: %v", err)
			}
			if after := w.refs(); after != before {
				t.Errorf("refs changed from\n%s\nto\n%s", before, after)
			}
		})
	}
}

// A commit that somebody makes while files move is kept too: the rollback goes back, and leaves the
// branch where it is by then.
func TestCommittedWhileFilesMove(t *testing.T) {
	w := newWorld(t)
	w.create()
	w.commit("two")
	meanwhile := w.Git("commit-tree", "-p", "main", "-m", "meanwhile", "main^{tree}")
	err := w.rollBack(rollback.Request{Session: "main", Branch: rollback.BranchMove}, func() {}, func(step string) {
		if step == "begun" {
			w.Git("update-ref", "refs/heads/main", meanwhile)
		}
	})
	if checkpoint.KindOf(err) != checkpoint.KindFailed || !strings.Contains(fmt.Sprint(err), "the rollback failed halfway") {
		t.Errorf("error: %v", err)
	}
	if got := w.Git("rev-parse", "main"); got != meanwhile {
		t.Errorf("main is at %s, want %s", got, meanwhile)
	}
	if got := w.Read("file"); got != "two" {
		t.Errorf("the file has %q", got)
	}
	if got := strings.Join(w.Warned, "\n"); got != "branch main stays where it is: it has moved since" {
		t.Errorf("warnings: %q", got)
	}
}
