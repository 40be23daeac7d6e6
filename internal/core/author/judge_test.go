package author

import (
	"testing"

	"git-checkpoint/internal/format/name"
	"git-checkpoint/internal/format/record"
)

// What changed outside after another session had captured an earlier change is outside, too, if that one
// was; and unknown if nobody knows who made that one.
func TestOutsideInParts(t *testing.T) {
	for _, earlier := range []string{record.OutsideAgents, record.Unknown} {
		trees := map[name.OID]string{"t0": "0", "t1": "1"}
		var w Work
		look := func(worker string, from, to string) (Look, []Change, map[string]string) {
			w.Begin(worker, Worker{Session: name.Session(worker), Agent: "agent"})
			l := Look{Moment: BeforeTurn, Worker: worker, Session: name.Session(worker), In: func(tree name.OID, _ string) (string, bool) { return trees[tree], true }}
			changes := []Change{{Path: "f", From: from, To: to}}
			return l, changes, w.Claims(l, changes)
		}
		for _, worker := range []string{"a", "b"} {
			w.Begin(worker, Worker{Session: name.Session(worker), Agent: "agent"})
			w.Saw(name.Session(worker), "t0")
		}
		l, changes, claims := look("a", "0", "1")
		if claims["f"] != record.OutsideAgents {
			t.Errorf("the first change is %q", claims["f"])
		}
		w.Made(l, "1", "2", changes, map[string]string{"f": earlier})
		w.Saw("a", "t1")
		if _, _, claims := look("b", "0", "2"); claims["f"] != earlier {
			t.Errorf("after one that is %q, it is %q", earlier, claims["f"])
		}
	}
}
