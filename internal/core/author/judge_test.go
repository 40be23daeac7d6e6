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

// A file that a person saved is not the person's where the agent of another session had changed it, too.
func TestSavedOverAnother(t *testing.T) {
	for claim, want := range map[string]string{record.Named: record.Unknown, record.OutsideAgents: record.OutsideAgents} {
		var w Work
		for _, worker := range []string{"a", "b"} {
			w.Begin(worker, Worker{Session: name.Session(worker), Agent: "agent"})
			w.Saw(name.Session(worker), "t0")
		}
		w.Begin("a", Worker{Session: "a", Agent: "agent"})
		w.Made(Look{Moment: AfterTool, Worker: "a", Session: "a"}, "1", "2", []Change{{Path: "f", From: "0", To: "1"}}, map[string]string{"f": claim})
		w.Saw("a", "t1")
		w.Begin("b", Worker{Session: "b", Agent: "agent"})
		look := Look{Moment: BeforeTool, Worker: "b", Session: "b", Saved: map[string]bool{"f": true}}
		if got := w.Claims(look, []Change{{Path: "f", From: "0", To: "2"}})["f"]; got != want {
			t.Errorf("after a change that is %q: %q, want %q", claim, got, want)
		}
	}
}

// What nobody is known to have made is work of others before a tool, unless a tool of the worker was at work; and what a
// person saved in an editor meanwhile is, too.
func TestForeignUnknown(t *testing.T) {
	for _, tool := range []bool{false, true} {
		var w Work
		by := w.Begin("a", Worker{Session: "a", Agent: "agent"})
		w.Saw("a", "t0")
		if tool {
			w.Open(Window{Worker: "a", Call: "1"})
		}
		w.Begin("a", Worker{Session: "a", Agent: "agent"})
		w.Made(Look{Moment: AfterTool, Worker: "a", Session: "a"}, "0", "1", []Change{{Path: "saved", To: "1"}}, map[string]string{"saved": record.OutsideAgents})
		if _, known := by.Foreign["saved"]; !known {
			t.Error("what a person saved while a tool was at work is not remembered")
		}
		look := Look{Moment: BeforeTool, Worker: "a", Session: "a"}
		w.Made(look, "1", "2", []Change{{Path: "f", To: "1"}}, map[string]string{"f": record.Unknown})
		look.Moment = AfterTool
		w.Made(look, "2", "3", []Change{{Path: "f", From: "1"}}, map[string]string{"f": record.During})
		if f, known := by.Foreign["f"]; known == tool || f.Met == tool {
			t.Errorf("a tool of its own was at work: %v; remembered: %v, met: %v", tool, known, f.Met)
		}
	}
}
