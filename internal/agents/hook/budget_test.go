package hook

import (
	"testing"
	"time"

	"git-checkpoint/internal/core/agent"
)

// Ordinary hooks of a prompt's tools, however many, and waiting for others spend nothing. One that takes long and works leaves
// the next an ordinary time; one that is too late then ends them all, until a prompt comes.
func TestBudget(t *testing.T) {
	def, err := agent.Find("claude")
	if err != nil {
		t.Fatal(err)
	}
	state := t.TempDir()
	getenv := func(key string) string { return map[string]string{"XDG_STATE_HOME": state}[key] }
	defer func(was time.Time) { started = was }(started)
	h := &handler{memory: memory{agent: "claude"}, places: placesOf(getenv), before: time.Second}
	for _, c := range []struct {
		kind         agent.Kind
		took, waited time.Duration
		late         bool
		times, spent int
	}{
		{agent.KindBeforeTool, 200 * time.Millisecond, 0, false, 300, 0},
		{agent.KindTool, 9 * time.Second, 9 * time.Second, false, 300, 0},
		{agent.KindTurnEnd, 9 * time.Second, 0, false, 1, 0},
		{agent.KindTool, 550 * time.Millisecond, 0, false, 2, 200},
		{agent.KindTool, 9 * time.Second, 0, false, 2, budget},
		{agent.KindTool, 200 * time.Millisecond, 0, false, 5, budget},
		{agent.KindBeforeTool, 300 * time.Millisecond, 0, true, 1, budget + 100},
	} {
		h.e, h.waited = agent.Event{Kind: c.kind, Session: "one"}, c.waited
		for range c.times {
			started = time.Now().Add(-c.took)
			h.spend(c.late)
		}
		if got := h.places.spent(hashed("claude", h.e)); got < c.spent || got > c.spent+5 {
			t.Errorf("%+v: %d are spent", c, got)
		}
	}
	if Spent(def, agent.Event{Kind: agent.KindBeforeTool, Session: "other"}, getenv) {
		t.Error("the hooks of another conversation give up")
	}
	h.e.Kind = agent.KindTool
	if !Spent(def, h.e, getenv) {
		t.Error("the next hook does not give up")
	}
	h.e.Kind = agent.KindPrompt
	for range 2 {
		if Spent(def, h.e, getenv) || h.places.spent(hashed("claude", h.e)) != 0 {
			t.Error("a prompt does not give the time anew")
		}
	}
}
