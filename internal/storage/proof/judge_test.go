package proof_test

import (
	"strings"
	"testing"

	"git-checkpoint/internal/format/name"
	"git-checkpoint/internal/storage/proof"
)

// While the newest checkpoint of a step lacks its commit, the tag of the step may name an older
// checkpoint of that step, and none of another one.
func TestTagOfLostCommit(t *testing.T) {
	w := newWorld(t)
	_, one := w.create(1)
	_, older := w.create(10)
	_, newest := w.create(10)
	w.lose(newest)
	for at, moved := range map[name.OID]bool{older: false, one: true} {
		w.Git("update-ref", string(name.TagRef(demo, 10, "")), string(at))
		found := false
		for _, v := range w.judge() {
			for _, f := range v.Findings {
				found = found || f.Kind == proof.TagMoved
			}
		}
		if found != moved {
			t.Errorf("the tag of step 10 at %s: reported as moved is %v", at, found)
		}
	}
}

// What is whole has no findings and is sound. Damage of what can be derived again is found and
// leaves a checkpoint sound; the loss of its commit or record does not.
func TestJudge(t *testing.T) {
	for what, c := range map[string]struct {
		damage func(w *world, commit, record name.OID)
		kinds  string
		sound  bool
	}{
		"whole": {func(*world, name.OID, name.OID) {}, "", true},
		"note removed": {func(w *world, commit, _ name.OID) {
			w.Git("notes", "--ref=checkpoints", "remove", string(commit))
		}, "note_missing", true},
		"note edited": {func(w *world, commit, _ name.OID) {
			w.Git("notes", "--ref=checkpoints", "add", "-f", "-m", "mine", string(commit))
		}, "note_edited", true},
		"ref removed": {func(w *world, commit, _ name.OID) {
			for _, ref := range strings.Fields(w.Git("for-each-ref", "--format=%(refname)", "--points-at="+string(commit), "refs/checkpoints")) {
				w.Git("update-ref", "-d", ref)
			}
		}, "ref_missing", true},
		"commit lost": {func(w *world, commit, _ name.OID) { w.lose(commit) }, "commit_missing", false},
		"record lost": {func(w *world, _, record name.OID) { w.lose(record) }, "record_missing", false},
	} {
		t.Run(what, func(t *testing.T) {
			w := newWorld(t)
			w.create(1)
			_, commit := w.create(2)
			w.create(3)
			c.damage(w, commit, name.OID(w.Git("rev-parse", string(commit)+"^2:checkpoint.json")))
			for i, v := range w.judge() {
				want, sound := "", true
				if i == 1 {
					want, sound = c.kinds, c.sound
				}
				if got := kinds(v.Findings); got != want || v.Sound != sound {
					t.Errorf("step %d: %q, sound is %v: %+v", i+1, got, v.Sound, v.Findings)
				}
			}
		})
	}
}

// A journal that was set back is reported, and what it has lost is named.
func TestRewoundJournal(t *testing.T) {
	w := newWorld(t)
	w.create(1)
	before := w.Git("rev-parse", string(name.JournalRef(demo)))
	w.create(2)
	tip := w.Git("rev-parse", string(name.JournalRef(demo)))
	w.Git("update-ref", string(name.JournalRef(demo)), before)
	p := w.session()
	if got := kinds(p.Findings); got != string(proof.JournalRewound) || len(p.Lost) != 1 || string(p.Lost[0]) != tip {
		t.Errorf("%q, lost %v of %s", got, p.Lost, tip)
	}
	w.Git("update-ref", "-d", string(name.JournalRef(demo)))
	if got := kinds(w.session().Findings); got != string(proof.JournalDeleted) {
		t.Errorf("without a journal: %q", got)
	}
}
