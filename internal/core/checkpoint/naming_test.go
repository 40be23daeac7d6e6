package checkpoint

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"pgregory.net/rapid"

	"git-checkpoint/internal/core/workflow"
	"git-checkpoint/internal/format/journal"
	"git-checkpoint/internal/format/name"
)

// story draws a journal of creates, rollbacks and prunes, one after the other.
func story(t *rapid.T) *journal.State {
	at := time.Date(2026, 11, 20, 9, 0, 0, 0, time.UTC)
	var nodes []journal.Node
	var ids []name.ID
	add := func(e journal.Event) *journal.State {
		at = at.Add(time.Duration(rapid.IntRange(1, 5000).Draw(t, "ms")) * time.Millisecond)
		e.Session, e.Time, e.OID = "demo", at, name.OID(fmt.Sprintf("%040x", len(nodes)+1))
		if len(nodes) > 0 {
			e.Parents = []name.OID{nodes[len(nodes)-1].OID}
		}
		nodes = append(nodes, journal.Node{OID: e.OID, Parents: e.Parents, Event: &e, CommitterTime: at})
		log, err := journal.NewLog(nodes, e.OID)
		if err != nil {
			t.Fatal(err)
		}
		return log.Fold()
	}
	st := add(journal.Event{Kind: journal.KindStart})
	for range rapid.IntRange(1, 24).Draw(t, "events") {
		switch kind := rapid.IntRange(0, 9).Draw(t, "kind"); {
		case kind < 5 || len(ids) == 0:
			st = add(drawCreate(t, st, at, len(nodes)))
			ids = append(ids, st.Events()[len(st.Events())-1].Checkpoint)
		case kind < 9:
			to := rapid.SampledFrom(ids).Draw(t, "to")
			_, discard, restore, err := st.RollbackPlan(to)
			if err != nil {
				continue
			}
			st = add(journal.Event{Kind: journal.KindRollback, From: st.Current, To: to, Discard: discard, Restore: restore, Mode: "all"})
		default:
			gone := rapid.SampledFrom(ids).Draw(t, "gone")
			st = add(journal.Event{Kind: journal.KindPrune, Tombstones: []journal.Tombstone{{ID: gone}}})
		}
	}
	return st
}

func drawCreate(t *rapid.T, st *journal.State, at time.Time, n int) journal.Event {
	step := rapid.IntRange(0, 2).Draw(t, "step")
	e := journal.Event{
		Kind: journal.KindCreate, Step: step, StepName: rapid.SampledFrom([]string{"", "review"}).Draw(t, "name"),
		Commit: name.OID(fmt.Sprintf("%040x", 1000+n*7919)), Previous: st.Current, Trigger: "manual",
		Checkpoint: name.NewID(step, at.Add(time.Millisecond), uint16(n)),
	}
	if e.Milestone = rapid.Bool().Draw(t, "milestone"); e.Milestone {
		e.Iteration = rapid.SampledFrom([]string{"", "2"}).Draw(t, "iteration")
		e.Label = name.Label(step, e.StepName, e.Iteration)
	} else {
		e.Label = fmt.Sprintf("%s+%d", name.Label(step, e.StepName, ""), HighestSuffix(st, step, workflow.Steps{List: []workflow.Step{{}}})+1)
	}
	return e
}

// named applies the rules in their order, as resolve does.
func named(st *journal.State, ref string) ([]*journal.Entry, error) {
	if got, err := byName(st, ref); err != nil {
		return nil, err
	} else if got != nil {
		return got, nil
	}
	if got := byPrefix(st, ref); len(got) > 0 {
		return got, nil
	}
	return byCommit(st, ref), nil
}

// Whatever happened in a session: an id means its checkpoint, and so does a whole commit id; labels
// and numbers mean the newest live one and those that have the same, @ the current one, and no name means a pruned one.
func TestNaming(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		st := story(t)
		newest := map[string]name.ID{}
		for _, c := range st.Checkpoints() {
			if !c.Live {
				continue
			}
			newest[c.Label] = c.Checkpoint
			if c.Milestone {
				newest[fmt.Sprint(c.Step)] = c.Checkpoint
				if c.Event().Iteration != "" {
					newest[fmt.Sprintf("%d.%s", c.Step, c.Event().Iteration)] = c.Checkpoint
				}
			} else {
				_, k, _ := strings.Cut(c.Label, "+")
				newest[fmt.Sprintf("%d+%s", c.Step, k)] = c.Checkpoint
			}
			newest["latest"] = c.Checkpoint
		}
		for _, c := range st.Checkpoints() { // 3.1 is the one that has no iteration
			if c.Live && c.Milestone && c.Event().Iteration == "" {
				newest[fmt.Sprintf("%d.1", c.Step)] = c.Checkpoint
			}
			if got, err := named(st, TypedName(st, c)); !c.Dead && (err != nil || len(got) != 1 || got[0].Checkpoint != c.Checkpoint) {
				t.Fatalf("%s is typed %q, which means %v (%v)", c.Checkpoint, TypedName(st, c), got, err)
			}
		}
		if st.Current != "" {
			newest["@"], newest["@~0"] = st.Current, st.Current
		}
		for _, c := range st.Checkpoints() {
			if !c.Dead {
				newest[string(c.Checkpoint)], newest[string(c.Event().Commit)] = c.Checkpoint, c.Checkpoint
			}
		}
		for ref, want := range newest {
			got, err := named(st, ref)
			twins := map[name.ID]bool{}
			for _, e := range got {
				twins[e.Checkpoint] = e.Live && (len(got) == 1 || e.Step == got[0].Step && e.Milestone == got[0].Milestone)
			}
			isNumber := ref != "latest" && !strings.HasPrefix(ref, "@") && len(ref) < len(want)
			if err != nil || len(got) != 1 && !isNumber || !twins[want] && (len(got) != 1 || got[0].Checkpoint != want) {
				t.Fatalf("%q means %v (%v), want %s", ref, got, err, want)
			}
		}
		for _, c := range st.Checkpoints() {
			if got, _ := named(st, string(c.Checkpoint)); c.Dead && len(got) > 0 {
				t.Fatalf("%s was pruned and is found", c.Checkpoint)
			}
		}
	})
}

// No text that somebody types makes a rule panic or name what is not there.
func FuzzNaming(f *testing.F) {
	for _, seed := range []string{"3", "6.2", "3+2", "@", "@~1", "@~999999999", "latest", "cp-03", "cp-", "0000", "+", "3+", "3.", "demo:3"} {
		f.Add(seed)
	}
	st := rapid.Custom(story).Example(7)
	f.Fuzz(func(t *testing.T, ref string) {
		got, err := named(st, ref)
		for _, c := range got {
			if c.Dead || st.Entry(c.Checkpoint) != c {
				t.Fatalf("%q names %v (%v)", ref, c, err)
			}
		}
		for _, c := range byDiscarded(st, ref) {
			if !c.Discarded || st.Entry(c.Checkpoint) != c {
				t.Fatalf("%q names %v, which is not discarded", ref, c)
			}
		}
	})
}

func TestNearest(t *testing.T) {
	names := []string{"cp-01-init", "cp-02-requirements", "cp-03-architecture"}
	for typed, want := range map[string]string{"cp-03-arhitecture": "cp-03-architecture", "init": "cp-01-init", "cp-01-initt": "cp-01-init"} {
		if got := nearest(typed, names); len(got) == 0 || got[0] != want {
			t.Errorf("nearest(%q) = %v", typed, got)
		}
	}
	if got := nearest("zzzzzzzzzz", names); len(got) > 0 {
		t.Errorf("nearest of nonsense: %v", got)
	}
}

// What is typed may be near a step's number, its name, the label or the id.
func TestNearestCheckpoints(t *testing.T) {
	var nodes []journal.Node
	for i, label := range []string{"cp-01-spec", "cp-02-architecture", "cp-05-implementation", "cp-09"} {
		step := []int{1, 2, 5, 9}[i]
		e := &journal.Event{Kind: journal.KindCreate, Label: label, Step: step, Checkpoint: name.ID(fmt.Sprintf("cp-%02d-20261120T09000%d000Z-00ff", step, step))}
		if label == "cp-09" {
			e.Trigger = journal.TriggerSafety
		}
		if e.OID = name.OID(strings.Repeat(fmt.Sprint(i), 40)); i > 0 {
			e.Parents = []name.OID{nodes[i-1].OID}
		}
		nodes = append(nodes, journal.Node{OID: e.OID, Parents: e.Parents, Event: e})
	}
	log, err := journal.NewLog(nodes, nodes[len(nodes)-1].OID)
	if err != nil {
		t.Fatal(err)
	}
	st := log.Fold()
	for typed, want := range map[string]string{
		"4": "", "implementatoin": "cp-05-implementation", "cp-02-architektur": "cp-02-architecture",
		"cp-01-20261120T090001000Z-00fe": "cp-01-20261120T090001000Z-00ff", "zzzzzzzzzzz": "",
	} {
		if got := append(nearestCheckpoints(st, typed), ""); got[0] != want {
			t.Errorf("nearest to %q: %v", typed, got)
		}
	}
}

// An id means its checkpoint, even if somebody gave that id to another one as its label.
func TestIDBeforeLabel(t *testing.T) {
	const id = "cp-01-20261120T090001000Z-00ff"
	st := made(t, journal.Event{Label: "cp-01", Step: 1, Checkpoint: id}, journal.Event{Label: id, Step: 2, Checkpoint: "cp-02-20261120T090001000Z-00ff"})
	if found, err := byName(st, id); err != nil || len(found) != 1 || found[0].Checkpoint != id {
		t.Errorf("found %v, %v", found, err)
	}
}

// The label that safety checkpoints of two clones have means neither of them alone.
func TestSafetyOfTwoClones(t *testing.T) {
	const label = "cp-01+safety-1"
	safety := func(id name.ID) journal.Event {
		return journal.Event{Label: label, Step: 1, Checkpoint: id, Trigger: "safety"}
	}
	st := made(t, safety("cp-01-20261120T090001000Z-00ff"), safety("cp-01-20261120T090002000Z-00ee"))
	if found, err := byName(st, label); err != nil || len(found) != 2 {
		t.Errorf("found %v, %v", found, err)
	}
}

// made returns a session with checkpoints.
func made(t *testing.T, creates ...journal.Event) *journal.State {
	t.Helper()
	var nodes []journal.Node
	for i := range creates {
		e := &creates[i]
		e.Kind = journal.KindCreate
		if e.OID = name.OID(strings.Repeat(fmt.Sprint(i), 40)); i > 0 {
			e.Parents = []name.OID{nodes[i-1].OID}
		}
		nodes = append(nodes, journal.Node{OID: e.OID, Parents: e.Parents, Event: e})
	}
	log, err := journal.NewLog(nodes, nodes[len(nodes)-1].OID)
	if err != nil {
		t.Fatal(err)
	}
	return log.Fold()
}
