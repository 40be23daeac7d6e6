package hook

import (
	"errors"
	"time"

	"git-checkpoint/internal/core/agent"
)

var started = time.Now() // of the process, which handles one event

// budget is what the hooks of one prompt's tools may take together, in the unit of place.Spent: three times the limit of a
// hook before a tool. One that is too late counts as a whole, any other with what it takes beyond an ordinary one, up to the
// budget. When that is spent, each still has the time of an ordinary one, which is a quarter of the limit: as long as among
// 100,000 files. Once one is too late even so, those that follow give up before they open a repository.
const budget = 1000

// ErrSpent says that a hook gave up because those before it took too long.
var ErrSpent = errors.New("the hooks of this prompt's tools took too long together, so the rest of them make no checkpoints")

// spent returns what was counted since the prompt.
func (f places) spent(id string) (sum int) {
	f.find(id, func(p place) bool {
		sum = max(0, sum+p.Spent)
		return false
	})
	return sum
}

// spend counts what the hook took, and reports whether those that follow give up.
func (h *handler) spend(late bool) bool {
	took, id := time.Since(started)-h.waited, hashed(h.agent, h.e)
	if took <= h.before/4 || !h.e.Kind.OfTool() {
		return false
	}
	spent, more := h.places.spent(id), int(budget*took/(3*h.before))
	if !late {
		more = min(more-budget/12, budget-spent)
	}
	if more > 0 {
		h.places.add(place{ID: id, Spent: more}) //nolint:errcheck // then it counts nothing
	}
	return spent+more > budget
}

// Spent reports whether a tool's hook has nothing to do, because those of this prompt took too long. With each prompt, and at
// its end, they get their time anew.
func Spent(def *agent.Definition, e agent.Event, getenv func(string) string) bool {
	f, id := placesOf(getenv), hashed(def.Name, e)
	spent := f.spent(id)
	if k := e.Kind; spent > 0 && (k == agent.KindPrompt || k == agent.KindTurnEnd || k == agent.KindSessionEnd) {
		f.add(place{ID: id, Spent: -spent}) //nolint:errcheck // then they give up for longer
	}
	return spent > budget && e.Kind.OfTool()
}
