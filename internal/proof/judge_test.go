package proof_test

import (
	"testing"

	"git-checkpoint/internal/name"
	"git-checkpoint/internal/proof"
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
		w.git("update-ref", string(name.TagRef(demo, 10, "")), string(at))
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
