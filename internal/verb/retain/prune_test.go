package retain_test

import (
	"slices"
	"testing"
	"time"

	"git-checkpoint/internal/core/checkpoint"
	"git-checkpoint/internal/format/journal"
	"git-checkpoint/internal/format/name"
	"git-checkpoint/internal/verb/retain"
	"git-checkpoint/internal/verb/rollback"
)

func judged(all []retain.Judged) (out []name.ID) {
	for _, j := range all {
		out = append(out, j.ID)
	}
	slices.Sort(out)
	return out
}

// A prune keeps the newest, what is pinned, and nothing else. A plan removes nothing and says the
// same.
func TestPrune(t *testing.T) {
	w := newWorld(t)
	one, two, three, four := w.create(demo), w.create(demo), w.create(demo), w.create(demo)
	if _, err := retain.Mark(t.Context(), w.Open().Sessions, journal.KindPin, string(demo), []string{"2"}); err != nil {
		t.Fatal(err)
	}
	for _, dry := range []bool{true, false} {
		keep := 1
		plan, err := retain.PlanPrune(t.Context(), w.Open(), retain.PruneRequest{Session: string(demo), Keep: &keep})
		a := plan.Answer()
		if err == nil && !dry {
			a, err = plan.Apply(t.Context())
		}
		if err != nil || a.DryRun != dry || !slices.Equal(judged(a.Pruned), []name.ID{one, three}) || !slices.Equal(judged(a.Kept), []name.ID{two, four}) {
			t.Errorf("%+v %v", a, err)
		}
		want := []name.ID{one, two, three, four}
		if !dry {
			want = []name.ID{two, four}
		}
		if got := w.live(demo); !slices.Equal(got, want) {
			t.Errorf("left: %v", got)
		}
	}
}

// A safety checkpoint that is old stays while one of the next undos needs it, of as many as
// checkpoint.undoLevels says. After that it goes, and what can no longer be undone is named.
func TestPruneKeepsUndo(t *testing.T) {
	w := newWorld(t)
	for range 4 {
		w.create(demo)
	}
	var safety []name.ID
	for _, to := range []string{"3", "2", "1"} {
		plan, err := rollback.Prepare(t.Context(), w.Open(), rollback.Request{Session: string(demo), Ref: to})
		if err != nil {
			t.Fatal(err)
		}
		done, err := plan.Apply(t.Context())
		if err != nil {
			t.Fatal(err)
		}
		safety = append(safety, done.Safety)
		if to == "3" {
			w.Later(40 * 24 * time.Hour) // the next command runs forty days later
		}
	}
	for levels, goes := range map[string]bool{"3": false, "2": true} {
		w.Git("config", "checkpoint.undoLevels", levels)
		plan, err := retain.PlanPrune(t.Context(), w.Open(), retain.PruneRequest{Session: string(demo)})
		a := plan.Answer()
		if err != nil || slices.Contains(judged(a.Pruned), safety[0]) != goes || (len(a.Levels) == 1 && a.Levels[0].List == "undo") != goes {
			t.Errorf("%s levels: %v of %v, lost %+v: %v", levels, judged(a.Pruned), safety, a.Levels, err)
		}
		if kept := judged(a.Kept); !slices.Contains(kept, safety[1]) || !slices.Contains(kept, safety[2]) {
			t.Errorf("%s levels: of %v only %v are kept", levels, safety, kept)
		}
	}
	w.Git("config", "checkpoint.undoLevels", "many")
	if _, err := retain.PlanPrune(t.Context(), w.Open(), retain.PruneRequest{Session: string(demo)}); checkpoint.KindOf(err) != checkpoint.KindUsage {
		t.Errorf("%v", err)
	}
}
