package workflow

import (
	"fmt"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"pgregory.net/rapid"
)

const day = 24 * time.Hour

var epoch = time.Date(2026, 3, 1, 0, 0, 0, 0, time.UTC)

// items makes one item per word: "batch_complete@3" is of step 3, marks are "!" for
// pinned, "-" for discarded, "*" for current; each is an hour younger than the last.
func items(words string) []Item {
	list := []Item{}
	for i, word := range strings.Fields(words) {
		item := Item{ID: fmt.Sprintf("%02d", i), CreatedAt: epoch.Add(time.Duration(i) * time.Hour)}
		item.Pinned, item.Discarded, item.Current = strings.Contains(word, "!"), strings.Contains(word, "-"), strings.Contains(word, "*")
		word = strings.Trim(word, "!-*")
		if trigger, rest, ok := strings.Cut(word, "@"); ok {
			fmt.Sscanf(rest, "%d", &item.Step)
			word = trigger
		}
		if item.Trigger = word; word == TriggerSafety {
			item.Worktree = strconv.Itoa(item.Step)
		}
		list = append(list, item)
	}
	return list
}

// gone lists what a policy lets go.
func gone(t interface{ Fatal(...any) }, d *Definition, list []Item, p Policy) string {
	verdicts, err := d.Retain(list, p)
	if err != nil {
		t.Fatal(err)
	}
	ids := []string{}
	for i, v := range verdicts {
		if v.ID != list[i].ID {
			t.Fatal("verdicts are not in the order of the items")
		}
		if v.Reason == "" {
			t.Fatal("no reason for", v.ID)
		}
		if !v.Keep {
			ids = append(ids, v.ID)
		}
	}
	return strings.Join(ids, " ")
}

func TestRetentionOfWorkflows(t *testing.T) {
	soon := epoch.Add(2 * day)
	twelve := strings.Repeat("manual ", 11)
	cases := []struct {
		about, workflow, items string
		Policy
		want string
	}{
		{"nothing by itself", "default", strings.Repeat("manual ", 30), Policy{Now: epoch.Add(1000 * day)}, ""},
		{"nothing by itself", "go-team", strings.Repeat("manual ", 30), Policy{Now: epoch.Add(1000 * day)}, ""},
		{"nothing by itself", "pipeline", strings.Repeat("manual ", 30), Policy{Now: epoch.Add(1000 * day), SessionStatus: "complete"}, ""},
		{"ten and the pinned one", "ultra-create", "phase_transition! phase_transition " + strings.Repeat("manual ", 9) + "phase_transition*", Policy{Now: soon}, "01"},
		{"ten live ones", "ultra-create", "manual- " + twelve + " safety", Policy{Now: soon}, "01"},
		{"the current one stays", "ultra-create", "manual* " + twelve, Policy{Now: soon}, "01"},
		{"three batches of a phase", "crunch", "batch_complete@1 batch_complete@2 manual@2 batch_complete@2 manual@2 batch_complete@2 manual@2 batch_complete@2 batch_complete@1", Policy{Now: soon}, "01"},
		{"one agent of a phase", "crunch", "agent_complete@1 agent_complete@2 agent_complete@1", Policy{Now: soon}, "00"},
		{"one interrupt", "crunch", "user_interrupt@1 user_interrupt@2 manual@2", Policy{Now: soon}, "00"},
		{"all the rest", "crunch", strings.Repeat("phase_transition@1 conflict_start@1 conflict_resolved@1 manual@1 session_end@1 ", 5), Policy{Now: soon}, ""},
		{"as configured", "crunch", "batch_complete@1 manual@1 batch_complete@1 manual@1",
			Policy{Now: soon, Config: config("checkpoint.batch_complete.keep", "-1", "checkpoint.manual.keep", "1")}, "01"},
		{"complete is due", "orchestrate", "manual manual- manual* manual!", Policy{Now: soon, SessionStatus: "complete"}, "00 01 02"},
		{"complete by its document", "orchestrate", "manual manual*", Policy{Now: soon, Status: "completed"}, "00 01"},
		{"failed for 29 days", "orchestrate", "manual manual*", Policy{Now: epoch.Add(29 * day), ChangedAt: epoch, SessionStatus: "failed"}, ""},
		{"failed for 31 days", "orchestrate", "manual manual*", Policy{Now: epoch.Add(32 * day), ChangedAt: epoch.Add(day), SessionStatus: "failed"}, "00 01"},
		{"failed by its document", "orchestrate", "manual manual*", Policy{Now: epoch.Add(29 * day), Status: "failed"}, ""},
		{"abandoned for 29 days", "orchestrate", "manual*", Policy{Now: epoch.Add(29 * day), SessionStatus: "abandoned"}, ""},
		{"abandoned for 31 days", "orchestrate", "manual*", Policy{Now: epoch.Add(31 * day), SessionStatus: "abandoned"}, "00"},
		{"abandoned by its document", "orchestrate", "manual*", Policy{Now: epoch.Add(29 * day), Status: "abandoned"}, ""},
		{"untouched for 6 days", "orchestrate", "manual*", Policy{Now: epoch.Add(6 * day), Status: "in_progress"}, ""},
		{"untouched for 8 days", "orchestrate", "manual*", Policy{Now: epoch.Add(8 * day), Status: "in_progress"}, "00"},
		{"touched yesterday", "orchestrate", "manual*", Policy{Now: epoch.Add(8 * day), ChangedAt: epoch.Add(7 * day)}, ""},
		{"expires as configured", "orchestrate", "manual*", Policy{Now: epoch.Add(8 * day), Config: config("checkpoint.expire", "14d")}, ""},
		{"fails as configured", "orchestrate", "manual*", Policy{Now: epoch.Add(8 * day), SessionStatus: "failed", Config: config("checkpoint.failedExpire", "1w")}, "00"},
		{"never as configured", "orchestrate", "manual*", Policy{Now: epoch.Add(800 * day), Config: config("checkpoint.expire", "never")}, ""},
		{"complete whatever is configured", "orchestrate", "manual*", Policy{Now: soon, SessionStatus: "complete", Config: config("checkpoint.expire", "14d")}, "00"},
	}
	for _, name := range Names() {
		for label, d := range twins(t, name) {
			t.Run(label, func(t *testing.T) {
				for _, c := range cases {
					if c.workflow == name {
						if got := gone(t, d, items(c.items), c.Policy); got != c.want {
							t.Errorf("%s: gone are %q, want %q", c.about, got, c.want)
						}
					}
				}
			})
		}
	}
}

// A definition can say of one status that its sessions stay, and of all others that they
// go.
func TestNeverIsAnAge(t *testing.T) {
	d, err := Parse([]byte(`{"name": "x", "version": "1", "retention": {"sessions": {"complete": "never", "*": "7d"}}}`), "x.json")
	if err != nil {
		t.Fatal(err)
	}
	for status, want := range map[string]string{"complete": "", "failed": "00", "": "00"} {
		if got := gone(t, d, items("manual"), Policy{Now: epoch.Add(800 * day), SessionStatus: status}); got != want {
			t.Errorf("%q: gone are %q, want %q", status, got, want)
		}
	}
}

// The reason says which of the limits of a trigger let a checkpoint go.
func TestReasonsNameTheLimit(t *testing.T) {
	d, err := Parse([]byte(`{"name": "x", "version": "1", "retention": {"triggers": {
		"tool": {"last": -1, "steps": 2}, "watch": {"last": 1, "steps": 2}}}}`), "x.json")
	if err != nil {
		t.Fatal(err)
	}
	verdicts, err := d.Retain(items("tool@1 watch@1 tool@3 watch@3 watch@3 manual@3*"), Policy{Now: epoch.Add(day)})
	if err != nil {
		t.Fatal(err)
	}
	said := []string{}
	for _, v := range verdicts {
		said = append(said, v.Reason)
	}
	want := texts("not in the newest 2 steps, for trigger tool", "not among the last 1 of trigger watch", "kept by the workflow",
		"not among the last 1 of trigger watch", "kept by the workflow", "current")
	if !slices.Equal(said, want) {
		t.Errorf("reasons are %q", said)
	}
}

// What a rule keeps for ever is told apart from what no rule removes now, so that a budget for sizes
// may take only the latter. A discarded checkpoint goes by age, whatever its trigger.
func TestKeptForEver(t *testing.T) {
	const list = "turn turn- tool tool! manual safety safety"
	for rules, want := range map[string]string{
		``: "03 06",
		`"triggers": {"turn": {"last": -1}, "tool": {"last": 9}}`:               "00 03 06",
		`"triggers": {"turn": {"last": -1, "steps": 9}}`:                        "03 06",
		`"keep": -1, "triggers": {"tool": {"last": 9}}`:                         "00 03 04 06",
		`"keep": 9, "triggers": {"manual": {"last": -1}}`:                       "03 04 06",
		`"sessions": {"*": "never"}`:                                            "00 02 03 04 06",
		`"sessions": {"failed": "never"}, "triggers": {"safety": {"last": -1}}`: "03 06",
	} {
		d, err := Parse([]byte(`{"name": "x", "version": "1", "retention": {`+rules+`}}`), "x.json")
		if err != nil {
			t.Fatal(err)
		}
		keep := 7
		for _, p := range []Policy{{}, {Keep: &keep}} {
			p.Now = epoch.Add(day)
			verdicts, err := d.Retain(items(list), p)
			var got []string
			for _, v := range verdicts {
				if v.Forever {
					got = append(got, v.ID)
				}
			}
			if strings.Join(got, " ") != want || err != nil {
				t.Errorf("%s: %q, want %q, %v", rules, got, want, err)
			}
		}
	}
	for value, want := range map[string]bool{"-1": true, "9": false} {
		verdicts, err := Default().Retain(items("manual"), Policy{Now: epoch, Config: config("checkpoint.manual.keep", value)})
		if err != nil || verdicts[0].Forever != want {
			t.Errorf("%s: %+v %v", value, verdicts, err)
		}
	}
}

func TestRetentionByFlags(t *testing.T) {
	d := Default()
	n := func(n int) *int { return &n }
	old := func(age time.Duration) *time.Duration { return &age }
	list := items("manual manual! safety@1 manual- manual* safety@2 safety@1")
	for _, c := range []struct {
		about string
		Policy
		want string
	}{
		{"keep none", Policy{Now: epoch.Add(day), Keep: n(0)}, "00 04"},
		{"keep one", Policy{Now: epoch.Add(day), Keep: n(1)}, "00"},
		{"keep all", Policy{Now: epoch.Add(day), Keep: n(-1)}, ""},
		{"older than a day", Policy{Now: epoch.Add(day + 3*time.Hour + time.Minute), OlderThan: old(day)}, "00 02 03"},
		{"both: only what both let go", Policy{Now: epoch.Add(90 * day), OlderThan: old(day), Keep: n(2)}, "00 02 03"},
		{"after 29 days", Policy{Now: epoch.Add(29 * day)}, ""},
		{"after 31 days", Policy{Now: epoch.Add(31 * day)}, "02 03"},
	} {
		if got := gone(t, d, list, c.Policy); got != c.want {
			t.Errorf("%s: gone are %q, want %q", c.about, got, c.want)
		}
	}
	late := slices.Clone(list)
	late[3].DiscardedAt = epoch.Add(30 * day)
	if got := gone(t, d, late, Policy{Now: epoch.Add(31 * day)}); got != "02" {
		t.Errorf("discarded yesterday: gone are %q", got)
	}
}

// Whatever the rules: pinned ones stay, each worktree keeps its newest safety
// checkpoint, and with a number to keep the newest live ones stay.
func TestRetentionLosesNothingItPromised(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		d, _ := Builtin(rapid.SampledFrom(Names()).Draw(t, "workflow"))
		word := rapid.Custom(func(t *rapid.T) string {
			trigger := rapid.SampledFrom([]string{"manual", "safety", "phase_transition", "user_interrupt"}).Draw(t, "trigger")
			mark := rapid.SampledFrom([]string{"", "", "!", "-", "-!"}).Draw(t, "mark")
			return fmt.Sprintf("%s@%d%s", trigger, rapid.IntRange(0, 3).Draw(t, "step"), mark)
		})
		list := items(strings.Join(rapid.SliceOfN(word, 0, 25).Draw(t, "items"), " "))
		for i := range list {
			list[i].Pinned = list[i].Pinned || strings.Contains(list[i].Trigger, "!")
		}
		p := Policy{
			Now:           epoch.Add(time.Duration(rapid.IntRange(0, 100).Draw(t, "days")) * day),
			SessionStatus: rapid.SampledFrom([]string{"", "complete", "failed", "abandoned"}).Draw(t, "status"),
		}
		if rapid.Bool().Draw(t, "flag") {
			p.Keep = step(rapid.IntRange(0, 12).Draw(t, "keep"))
		}
		kept := map[string]bool{}
		for _, id := range strings.Fields(gone(t, d, list, p)) {
			kept[id] = false
		}
		stays := func(id string) bool { _, gone := kept[id]; return !gone }
		newest, live := map[string]string{}, 0
		for _, item := range list {
			if item.Pinned && !stays(item.ID) {
				t.Fatalf("pinned %s is gone", item.ID)
			}
			if item.Trigger == TriggerSafety {
				newest[item.Worktree] = item.ID
			}
		}
		for worktree, id := range newest {
			if !stays(id) {
				t.Fatalf("the newest safety checkpoint of %s is gone", worktree)
			}
		}
		for _, item := range slices.Backward(list) {
			if p.Keep != nil && isLive(item) {
				if live++; live <= *p.Keep && !stays(item.ID) {
					t.Fatalf("%s is one of the %d newest", item.ID, *p.Keep)
				}
			}
		}
	})
}

func TestParseAge(t *testing.T) {
	for text, want := range map[string]time.Duration{"30d": 30 * day, "12h": 12 * time.Hour, "2w1d": 15 * day, "0d": 0, " 90m ": 90 * time.Minute, "45s": 45 * time.Second} {
		if got, err := ParseAge(text); err != nil || got != want {
			t.Errorf("%q is %v, %v", text, got, err)
		}
	}
	for _, text := range []string{"", "30", "d", "-1d", "1.5d", "1y", "999999999w999999999w", "30 d", "never"} {
		if got, err := ParseAge(text); err == nil {
			t.Errorf("%q is %v", text, got)
		}
	}
}
