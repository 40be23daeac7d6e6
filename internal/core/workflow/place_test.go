package workflow

import (
	"encoding/json"
	"errors"
	"strings"
	"testing"

	"pgregory.net/rapid"
)

func document(t *testing.T, d *Definition, text string) (*Facts, json.RawMessage) {
	t.Helper()
	a, err := d.Accept(json.RawMessage(text))
	if err != nil {
		t.Fatal(err)
	}
	return &a.Facts, a.State
}

func TestPlace(t *testing.T) {
	type request struct {
		about, workflow string
		document, state string
		PlaceRequest
		want Place
		fail string
	}
	transition := "phase_transition"
	phase := func(n string) string { return `{"workflow_state": {"current_phase": "` + n + `"}}` }
	goTeam := func(n string) string { return `{"current_step": ` + n + `, "iteration_count": 2}` }
	requests := []request{
		{about: "first", workflow: "default", want: Place{Step: 1, Milestone: true}},
		{about: "next", workflow: "default", PlaceRequest: PlaceRequest{Last: step(3)}, want: Place{Step: 4, Milestone: true}},
		{about: "next after a skip", workflow: "default", PlaceRequest: PlaceRequest{Last: step(3), Skipped: []int{4, 5}}, want: Place{Step: 6, Milestone: true}},
		{about: "named", workflow: "default", PlaceRequest: PlaceRequest{Name: "design"}, want: Place{Step: 1, Name: "design", Milestone: true}},
		{about: "explicit", workflow: "default", PlaceRequest: PlaceRequest{Step: step(7), Last: step(2)}, want: Place{Step: 7, Milestone: true}},
		{about: "explicit zero", workflow: "default", PlaceRequest: PlaceRequest{Step: step(0)}, want: Place{Milestone: true}},
		{about: "again", workflow: "default", PlaceRequest: PlaceRequest{Step: step(2), Milestones: milestones(map[int][]string{2: {""}}, map[int]string{2: "build"})},
			want: Place{Step: 2, Name: "build", Iteration: "2", Milestone: true}},
		{about: "third time", workflow: "default", PlaceRequest: PlaceRequest{Step: step(2), Milestones: milestones(map[int][]string{2: {"", "2"}}, nil)},
			want: Place{Step: 2, Iteration: "3", Milestone: true}},
		{about: "hangs", workflow: "default", PlaceRequest: PlaceRequest{Trigger: "nightly", Last: step(3), Milestones: milestones(nil, map[int]string{3: "design"})},
			want: Place{Step: 3, Name: "design"}},
		{about: "hangs on nothing", workflow: "default", PlaceRequest: PlaceRequest{Trigger: TriggerUserInterrupt}, want: Place{}},
		{about: "explicit makes a milestone", workflow: "default", PlaceRequest: PlaceRequest{Trigger: "nightly", Step: step(3)},
			want: Place{Step: 3, Milestone: true}},
		{about: "below zero", workflow: "default", PlaceRequest: PlaceRequest{Step: step(-1)}, fail: "no step -1"},
		{about: "odd iteration", workflow: "default", PlaceRequest: PlaceRequest{Step: step(1), Iteration: "a b"}, fail: "not an iteration"},
		{about: "iteration of nothing", workflow: "default", PlaceRequest: PlaceRequest{Trigger: "nightly", Iteration: "2"}, fail: "belongs to a step"},
		{about: "taken iteration", workflow: "default", PlaceRequest: PlaceRequest{Step: step(1), Iteration: "2", Milestones: milestones(map[int][]string{1: {"", "2"}}, nil)},
			fail: "allowed: 3"},

		{about: "named step", workflow: "go-team", PlaceRequest: PlaceRequest{Step: step(3)}, want: Place{Step: 3, Name: "architecture", Milestone: true}},
		{about: "step by name", workflow: "go-team", PlaceRequest: PlaceRequest{Name: "Architecture"}, want: Place{Step: 3, Name: "architecture", Milestone: true}},
		{about: "other name", workflow: "go-team", PlaceRequest: PlaceRequest{Step: step(3), Name: "design"}, fail: `step 3 is "architecture"`},
		{about: "no such step", workflow: "go-team", PlaceRequest: PlaceRequest{Step: step(10)}, fail: "9 synthesis"},
		{about: "after the last", workflow: "go-team", PlaceRequest: PlaceRequest{Last: step(9)}, fail: "there is no step after step 9 (synthesis)"},
		{about: "all skipped", workflow: "go-team", PlaceRequest: PlaceRequest{Skipped: []int{1, 2, 3, 4, 5, 6, 7, 8, 9}}, fail: "what was skipped"},
		{about: "first review", workflow: "go-team", PlaceRequest: PlaceRequest{Last: step(5)}, want: Place{Step: 6, Name: "review", Iteration: "1", Milestone: true}},
		{about: "second review", workflow: "go-team", PlaceRequest: PlaceRequest{Step: step(6), Milestones: milestones(map[int][]string{6: {"1"}}, nil)},
			want: Place{Step: 6, Name: "review", Iteration: "2", Milestone: true}},
		{about: "final review", workflow: "go-team", PlaceRequest: PlaceRequest{Step: step(6), Iteration: "final", Milestones: milestones(map[int][]string{6: {"1", "2"}}, nil)},
			want: Place{Step: 6, Name: "review", Iteration: "final", Milestone: true}},
		{about: "review after final", workflow: "go-team", PlaceRequest: PlaceRequest{Step: step(6), Milestones: milestones(map[int][]string{6: {"1", "2", "final"}}, nil)},
			want: Place{Step: 6, Name: "review", Iteration: "3", Milestone: true}},
		{about: "document says step", workflow: "go-team", document: goTeam("3"), PlaceRequest: PlaceRequest{Last: step(1)},
			want: Place{Step: 3, Name: "architecture", Milestone: true}},
		{about: "document again", workflow: "go-team", document: goTeam("3"), PlaceRequest: PlaceRequest{Last: step(3), Milestones: milestones(map[int][]string{3: {""}}, nil)},
			want: Place{Step: 3, Name: "architecture"}},
		{about: "document of a round", workflow: "go-team", document: goTeam("6"), PlaceRequest: PlaceRequest{Milestones: milestones(map[int][]string{6: {"1"}}, nil)},
			want: Place{Step: 6, Name: "review", Iteration: "2", Milestone: true}},
		{about: "document of a round that is there", workflow: "go-team", document: goTeam("6"), PlaceRequest: PlaceRequest{Milestones: milestones(map[int][]string{6: {"1", "2"}}, nil)},
			want: Place{Step: 6, Name: "review", Iteration: "3", Milestone: true}},
		{about: "carried state says nothing", workflow: "go-team", state: goTeam("3"), PlaceRequest: PlaceRequest{Last: step(3)},
			want: Place{Step: 4, Name: "implementation", Milestone: true}},
		{about: "document of no step", workflow: "go-team", document: goTeam("12"), fail: "no step 12"},

		{about: "explicit phase", workflow: "ultra-create", PlaceRequest: PlaceRequest{Step: step(1)}, want: Place{Step: 1, Name: "phase_1", Milestone: true}},
		{about: "by its name", workflow: "ultra-create", PlaceRequest: PlaceRequest{Name: "phase_12"}, want: Place{Step: 12, Name: "phase_12", Milestone: true}},
		{about: "by hand", workflow: "ultra-create", PlaceRequest: PlaceRequest{Last: step(2)}, want: Place{Step: 2, Name: "phase_2"}},
		{about: "record of a new phase", workflow: "ultra-create", document: `{"phase": "phase_3", "state": {}}`, PlaceRequest: PlaceRequest{Last: step(2)},
			want: Place{Step: 3, Name: "phase_3", Milestone: true}},
		{about: "record by number", workflow: "ultra-create", document: `{"phase": 3, "state": {}}`, want: Place{Step: 3, Name: "phase_3", Milestone: true}},
		{about: "record of the phase under way", workflow: "ultra-create", document: `{"phase": "2", "state": {}}`,
			PlaceRequest: PlaceRequest{Last: step(2), Milestones: milestones(map[int][]string{2: {""}}, nil)}, want: Place{Step: 2, Name: "phase_2"}},
		{about: "phase complete", workflow: "ultra-create", PlaceRequest: PlaceRequest{Trigger: transition, Last: step(2)}, want: Place{Step: 3, Name: "phase_3", Milestone: true}},

		{about: "document", workflow: "orchestrate", document: `{"current_phase": 3}`, want: Place{Step: 3, Milestone: true}},
		{about: "update in the phase", workflow: "orchestrate", document: `{"current_phase": 3}`, PlaceRequest: PlaceRequest{Milestones: milestones(map[int][]string{3: {""}}, nil)}, want: Place{Step: 3}},
		{about: "edited state", workflow: "orchestrate", state: `{"current_phase": 4}`, PlaceRequest: PlaceRequest{Last: step(3), Milestones: milestones(map[int][]string{3: {""}}, nil)},
			want: Place{Step: 4, Milestone: true}},

		{about: "transition", workflow: "crunch", document: phase("enrich"), PlaceRequest: PlaceRequest{Trigger: transition}, want: Place{Step: 1, Name: "enrich", Milestone: true}},
		{about: "transition again", workflow: "crunch", document: phase("enrich"), PlaceRequest: PlaceRequest{Trigger: transition, Milestones: milestones(map[int][]string{1: {""}}, nil)},
			want: Place{Step: 1, Name: "enrich", Iteration: "2", Milestone: true}},
		{about: "batch", workflow: "crunch", state: phase("enrich"), PlaceRequest: PlaceRequest{Trigger: "batch_complete", Last: step(1), Milestones: milestones(map[int][]string{1: {""}}, nil)},
			want: Place{Step: 1, Name: "enrich"}},
		{about: "manual", workflow: "crunch", document: phase("docs"), want: Place{Step: 5, Name: "docs"}},
		{about: "manual in silence", workflow: "crunch", PlaceRequest: PlaceRequest{Last: step(2)}, want: Place{Step: 2, Name: "ready"}},
		{about: "safety", workflow: "crunch", state: phase("docs"), PlaceRequest: PlaceRequest{Trigger: TriggerSafety, Last: step(2)}, want: Place{Step: 2, Name: "ready"}},

		{about: "initialised", workflow: "pipeline", document: `{"current_phase": 0}`, want: Place{Milestone: true}},
		{about: "initialised again", workflow: "pipeline", document: `{"current_phase": 0}`, PlaceRequest: PlaceRequest{Milestones: milestones(map[int][]string{0: {""}}, nil)}, want: Place{}},
		{about: "without a phase", workflow: "pipeline", document: `{}`, want: Place{Milestone: true}},
		{about: "set", workflow: "pipeline", state: `{"current_phase": 2}`, PlaceRequest: PlaceRequest{Last: step(2), Milestones: milestones(map[int][]string{2: {""}}, nil)}, want: Place{Step: 2}},
		{about: "interrupted", workflow: "pipeline", state: `{"current_phase": 2}`, PlaceRequest: PlaceRequest{Trigger: TriggerUserInterrupt, Last: step(1)}, want: Place{Step: 2}},
		{about: "unknown trigger", workflow: "pipeline", PlaceRequest: PlaceRequest{Trigger: "nightly"}, fail: "known triggers: before, compaction, manual, phase_transition"},
	}
	for _, name := range Names() {
		for label, d := range twins(t, name) {
			t.Run(label, func(t *testing.T) {
				for _, r := range requests {
					if r.workflow != name {
						continue
					}
					if r.Trigger == "" {
						r.Trigger = TriggerManual
					}
					r.State = json.RawMessage(r.state)
					if r.document != "" {
						r.Document, r.State = document(t, d, r.document)
					}
					got, err := d.Place(r.PlaceRequest)
					switch {
					case r.fail != "" && (err == nil || !strings.Contains(err.Error(), r.fail)):
						t.Errorf("%s: error is %v, want %q", r.about, err, r.fail)
					case r.fail == "" && (err != nil || got != r.want):
						t.Errorf("%s: place is %+v, %v; want %+v", r.about, got, err, r.want)
					}
				}
			})
		}
	}
}

func TestStepOrder(t *testing.T) {
	for label, d := range twins(t, "go-team") {
		t.Run(label, func(t *testing.T) {
			check := func(n int, live, skipped []int, milestone bool) []Violation {
				return d.Check(Change{New: json.RawMessage(`{}`), NewStatus: "in_progress", Trigger: TriggerManual,
					Place: Place{Step: n, Milestone: milestone}, Live: live, Skipped: skipped})
			}
			found := check(3, []int{1}, nil, true)
			want := Violation{Rule: "step_order", Value: "3", Allowed: "step 2 (requirements)", Message: "step 3 (architecture) needs a checkpoint of step 2 (requirements)"}
			if len(found) != 1 || found[0] != want {
				t.Errorf("violations are %+v, want %+v", found, want)
			}
			for about, found := range map[string][]Violation{
				"the first":    check(1, nil, nil, true),
				"the next":     check(2, []int{1}, nil, true),
				"once more":    check(2, []int{1, 2, 3}, nil, true),
				"after a skip": check(3, []int{1}, []int{2}, true),
				"a hanger-on":  check(3, []int{1}, nil, false),
			} {
				if len(found) != 0 {
					t.Errorf("%s is refused: %v", about, found)
				}
			}
		})
	}
	for label, d := range twins(t, "ultra-create") {
		t.Run(label, func(t *testing.T) {
			if found := d.Check(Change{New: json.RawMessage(`{}`), NewStatus: "in_progress", Trigger: TriggerManual, Place: Place{Step: 3, Milestone: true}}); len(found) != 0 {
				t.Errorf("phases have no order to keep: %v", found)
			}
		})
	}
}

func TestPreviousAndNextAgree(t *testing.T) {
	for _, name := range Names() {
		d, _ := Builtin(name)
		rapid.Check(t, func(t *rapid.T) {
			last := rapid.IntRange(d.Steps.first(), 40).Draw(t, "last")
			next, ok := d.Steps.Next(&last, nil, -1)
			if !ok {
				if d.Steps.isOpen() || last < d.Steps.List[len(d.Steps.List)-1].Number {
					t.Fatalf("%s: nothing after %d", name, last)
				}
				return
			}
			if before, ok := d.Steps.Previous(next.Number); !ok || before != last {
				t.Fatalf("%s: before %d is %d, %v; want %d", name, next.Number, before, ok, last)
			}
		})
	}
}

// Whatever milestones are live, a new one without a given iteration gets a label that is free.
func TestIterationsAreNew(t *testing.T) {
	d, _ := Builtin("go-team")
	rapid.Check(t, func(t *rapid.T) {
		n := rapid.IntRange(1, 9).Draw(t, "step")
		live := rapid.SliceOfDistinct(rapid.SampledFrom([]string{"", "1", "2", "3", "final", "007", "99"}), rapid.ID).Draw(t, "live")
		p, err := d.Place(PlaceRequest{Trigger: TriggerManual, Step: &n, Milestones: milestones(map[int][]string{n: live}, nil)})
		if err != nil {
			t.Fatal(err)
		}
		for _, taken := range live {
			if p.Iteration == taken {
				t.Fatalf("iteration %q of step %d is taken: %q", p.Iteration, n, live)
			}
		}
	})
}

func TestPlaceErrorsAreTyped(t *testing.T) {
	d, _ := Builtin("go-team")
	var place *PlaceError
	if _, err := d.Place(PlaceRequest{Trigger: TriggerManual, Step: step(12)}); !errors.As(err, &place) {
		t.Errorf("error is %T", err)
	}
	var unknown *UnknownTrigger
	if _, err := d.Place(PlaceRequest{Trigger: "x"}); !errors.As(err, &unknown) || len(unknown.Known) != 15 {
		t.Errorf("error is %#v", err)
	}
}

// milestones looks up steps in two maps.
func milestones(live map[int][]string, names map[int]string) func(int) ([]string, string) {
	return func(step int) ([]string, string) { return live[step], names[step] }
}
