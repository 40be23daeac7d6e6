package connect

import (
	"encoding/json"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"git-checkpoint/internal/core/agent"
	"git-checkpoint/internal/sys/wholefile"
)

// Failing is what keeps the hooks of one kind from making checkpoints, since the last one that did.
type Failing struct {
	Conversation string `json:"conversation"` // of the last one, as agent.HashedID has it
	Problem      string `json:"problem"`
	Failures     int    `json:"failures"` // in a row
	// Large says that the files were too many or too large, which takes seconds to find out.
	Large bool `json:"large,omitempty"`
}

// Health has what fails of an agent's hooks in a worktree, by kind. A hook of one kind says nothing about
// those of another.
type Health map[agent.Kind]Failing

func healthFile(gitDir, name string) string {
	return filepath.Join(gitDir, "checkpoint", "agents", "failing-"+name)
}

// RemovedFile remembers what an agent's last prompt removed of the work of others, until status says it.
const RemovedFile = "removed.json"

// HealthOf reads it. A file that is missing or damaged means that nothing fails.
func HealthOf(gitDir, name string) Health {
	h := Health{}
	data, err := os.ReadFile(healthFile(gitDir, name))
	if err != nil || json.Unmarshal(data, &h) != nil || h == nil {
		return Health{}
	}
	return h
}

// Save writes it. There is no file while nothing fails.
func (h Health) Save(gitDir, name string) error {
	file := healthFile(gitDir, name)
	if len(h) == 0 {
		return wholefile.Remove(file)
	}
	return wholefile.Private(file, h)
}

// Kinds returns what fails, sorted.
func (h Health) Kinds() []agent.Kind { return slices.Sorted(maps.Keys(h)) }

// HookAt says in words which hook one of a kind is.
func HookAt(kind agent.Kind) string {
	switch kind {
	case agent.KindBeforeTool:
		return "hook before a tool"
	case agent.KindTool:
		return "hook after a tool"
	case agent.KindTurnEnd:
		return "hook at the end of a turn"
	}
	return "hook at a " + strings.ReplaceAll(string(kind), "_", " ")
}
