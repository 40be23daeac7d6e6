package author

import (
	"cmp"
	"fmt"
	"strings"
	"testing"

	"git-checkpoint/internal/format/name"
	"git-checkpoint/internal/format/record"
)

// What changed outside after another session had captured an earlier change is outside, too, if that one
// was; and unknown if nobody knows who made that one. A session that saw nothing yet is no exception.
func TestOutsideInParts(t *testing.T) {
	for _, earlier := range []string{record.OutsideAgents, record.Unknown} {
		trees := map[name.OID]string{"t0": "0", "t1": "1"}
		var w Work
		look := func(worker string, from, to string) (CaptureContext, []Change, map[string]string) {
			w.Begin(worker, Worker{Session: name.Session(worker), Agent: "agent"})
			l := CaptureContext{Cause: BeforeTurn, Worker: worker, Session: name.Session(worker), In: func(tree name.OID, _ string) (string, bool) { return trees[tree], true }}
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
		for _, next := range []string{"b", "new"} {
			w.Saw("a", "t1")
			if _, _, claims := look(next, "0", "2"); claims["f"] != earlier {
				t.Errorf("after one that is %q, it is %q for %s", earlier, claims["f"], next)
			}
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
		w.Made(CaptureContext{Cause: AfterTool, Worker: "a", Session: "a"}, "1", "2", []Change{{Path: "f", From: "0", To: "1"}}, map[string]string{"f": claim})
		w.Saw("a", "t1")
		w.Begin("b", Worker{Session: "b", Agent: "agent"})
		w.Saved(Save{Path: "f"})
		capture := CaptureContext{Cause: BeforeTool, Worker: "b", Session: "b", Saved: map[string]bool{"f": true}}
		if got := w.Claims(capture, []Change{{Path: "f", From: "0", To: "2"}})["f"]; got != want {
			t.Errorf("after a change that is %q: %q, want %q", claim, got, want)
		}
	}
}

// A file that a person saved while a command ran is the person's, unless the editor told that it was another before a save than
// before the command: then the command changed it, too.
func TestSavedWhileAToolWorks(t *testing.T) {
	command, edit := Window{Worker: "a", Call: "1", Known: true}, Window{Worker: "a", Call: "1", Known: true, Edits: map[string]Edit{"g": {}}}
	before := func(content string) Save { return Save{Path: "f", Before: true, Content: content} }
	saved := func(content string) Save { return Save{Path: "f", Content: content} }
	for _, c := range []struct {
		open  Window
		saves []Save
		want  string
	}{
		{edit, []Save{saved("2")}, record.OutsideAgents},
		{command, []Save{saved("2")}, record.OutsideAgents},
		{command, []Save{before("0"), saved("2")}, record.OutsideAgents},
		{command, []Save{before("0"), saved("1"), before("1"), saved("2")}, record.OutsideAgents},
		{command, []Save{before("1"), saved("2")}, record.During},
		{command, []Save{before("0"), saved("1"), saved("2")}, record.OutsideAgents},
		{command, []Save{before("0"), saved("1"), before("x"), saved("2")}, record.During},
	} {
		var w Work
		w.Begin("a", Worker{Session: "a", Agent: "agent"})
		w.Saw("a", "t0")
		w.Open(c.open)
		for _, s := range c.saves {
			w.Saved(s)
		}
		w.Begin("a", Worker{Session: "a", Agent: "agent"})
		capture := CaptureContext{Cause: AfterTool, Worker: "a", Session: "a", Call: "1", Saved: map[string]bool{"f": true}}
		changes := []Change{{Path: "f", From: "0", To: "2"}}
		claims := w.Claims(capture, changes)
		if claims["f"] != c.want {
			t.Errorf("%v: %q, want %q", c.saves, claims["f"], c.want)
		}
		w.Made(capture, "1", "2", changes, claims)
		if len(w.Workers["a"].Others) != 1 {
			t.Errorf("%v: what a person saved is not remembered", c.saves)
		}
	}
}

// A tool that has done what it was asked made that, whoever's command was open; one that failed, or was denied, did not.
func TestEditBesideCommand(t *testing.T) {
	for want, capture := range map[string]CaptureContext{
		record.Named:   {Cause: AfterTool, Call: "1"},
		record.Unknown: {Cause: AfterTool, Call: "1", Failed: true},
		"":             {Cause: BeforeTool, Call: "2"},
	} {
		var w Work
		for _, worker := range []string{"a", "b"} {
			w.Begin(worker, Worker{Session: name.Session(worker), Agent: "agent"})
			w.Saw(name.Session(worker), "t0")
		}
		w.Open(Window{Worker: "b", Call: "9", Known: true})
		w.Begin("a", Worker{Session: "a", Agent: "agent"})
		w.Open(Window{Worker: "a", Call: "1", Known: true, Edits: map[string]Edit{"f": {From: "0", To: "1"}}})
		w.Begin("a", Worker{Session: "a", Agent: "agent"})
		capture.Worker, capture.Session = "a", "a"
		if got := w.Claims(capture, []Change{{Path: "f", From: "0", To: "1"}})["f"]; got != cmp.Or(want, record.Unknown) {
			t.Errorf("%+v: %q, want %q", capture, got, want)
		}
		if got := w.Claims(capture, []Change{{Path: "f", From: "0", To: "2"}})["f"]; got != record.Unknown {
			t.Errorf("what the tool does not make: %q", got)
		}
	}
}

// What nobody is known to have made is work of others, unless a tool of the worker was at work; and what a person saved in
// an editor meanwhile is, too.
func TestForeignUnknown(t *testing.T) {
	for _, tool := range []bool{false, true} {
		var w Work
		by := w.Begin("a", Worker{Session: "a", Agent: "agent"})
		w.Saw("a", "t0")
		if tool {
			w.Open(Window{Worker: "a", Call: "1"})
		}
		w.Begin("a", Worker{Session: "a", Agent: "agent"})
		capture := CaptureContext{Cause: AfterTool, Worker: "a", Session: "a", Text: func(content string) ([]byte, bool) { return []byte(content), true }}
		w.Made(capture, "0", "1", []Change{{Path: "saved", To: "1"}}, map[string]string{"saved": record.OutsideAgents})
		if len(by.Others) != 1 {
			t.Error("what a person saved while a tool was at work is not remembered")
		}
		w.Made(capture, "1", "2", []Change{{Path: "f", To: "1"}}, map[string]string{"f": record.Unknown})
		w.Made(capture, "2", "3", []Change{{Path: "f", From: "1", To: "2"}}, map[string]string{"f": record.During})
		if lost := by.Others[len(by.Others)-1].Lost == "2"; lost == tool {
			t.Errorf("a tool of its own was at work: %v; lost: %v", tool, lost)
		}
	}
}

// Each change of others to a file is looked at by itself, until it is said to be lost, whatever else the worker did to the
// file before. What an edit removed that names the file, or others did, is not lost, and neither is what came back.
func TestLost(t *testing.T) {
	const mine, theirs = record.During, record.OutsideAgents
	type step struct{ claim, to string }
	for _, c := range []struct {
		steps []step
		lost  string
	}{
		{[]step{{theirs, "a"}, {mine, ""}}, "1"},
		{[]step{{theirs, "a"}, {mine, "a x"}, {mine, "x"}}, "2"},
		{[]step{{theirs, "a"}, {mine, ""}, {theirs, "b"}, {mine, ""}}, "1 3"},
		{[]step{{theirs, "a"}, {mine, "a x"}, {theirs, "a x b"}, {mine, "a x"}}, "3"},
		{[]step{{theirs, "a"}, {record.Unknown, ""}}, "1"},
		{[]step{{theirs, "a"}, {record.Named, "x"}, {mine, "y"}}, ""},
		{[]step{{theirs, "a"}, {theirs, "b"}, {mine, "b x"}}, ""},
		{[]step{{theirs, "a"}, {mine, ""}, {mine, "a"}}, ""},
	} {
		var w Work
		by := w.Begin("a", Worker{Session: "a", Agent: "agent"})
		w.Open(Window{Worker: "a", Call: "1"})
		capture := CaptureContext{Worker: "a", Session: "a", Text: func(content string) ([]byte, bool) {
			return []byte(strings.ReplaceAll(content, " ", "\n")), true
		}}
		from := "base"
		for i, s := range c.steps {
			to := strings.TrimSpace("base " + s.to)
			w.Made(capture, name.ID(fmt.Sprint(i)), name.ID(fmt.Sprint(i+1)), []Change{{Path: "f", From: from, To: to}}, map[string]string{"f": s.claim})
			from = to
		}
		lost := ""
		for _, f := range by.Others {
			lost += " " + string(f.Lost)
		}
		if got := strings.TrimSpace(lost); got != c.lost {
			t.Errorf("%v: lost %q, want %q", c.steps, got, c.lost)
		}
	}
}
