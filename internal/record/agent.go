package record

import (
	"encoding/json"
	"fmt"
	"strings"
	"unicode/utf8"
)

// Agent says which coding agent's event made a checkpoint. All of it is text that the agent sent, each
// member at most 256 characters; members without a value are left out.
type Agent struct {
	Name     string `json:"name"`
	Version  string `json:"version,omitempty"`
	Model    string `json:"model,omitempty"`
	Session  string `json:"session,omitempty"` // the agent's id of the conversation
	Turn     string `json:"turn,omitempty"`
	Tool     string `json:"tool,omitempty"`
	Subagent string `json:"subagent,omitempty"`
	Event    string `json:"event,omitempty"`

	Transcript *Transcript `json:"transcript,omitempty"`
}

// Transcript says which lines of the agent's own transcript the output TranscriptOutput holds.
type Transcript struct {
	File   string `json:"file"`   // an id; another one when the agent has rewritten what was kept
	From   int    `json:"from"`   // lines before the first one that is kept
	To     int    `json:"to"`     // lines up to the last one that is kept
	Before string `json:"before"` // SHA-256 of the lines before, as the agent wrote them, in hexadecimal
}

// TranscriptOutput is the output that holds what an agent's transcript gained. The next checkpoint does
// not inherit it.
const TranscriptOutput = "transcript"

// memberAgent is optional: versions that do not know it keep it unread.
const memberAgent = "agent"

const longestAgentText = 256

// SetAgent puts the member agent into the record.
func (r *Record) SetAgent(a Agent) error {
	for _, s := range []string{a.Name, a.Version, a.Model, a.Session, a.Turn, a.Tool, a.Subagent, a.Event} {
		if !utf8.ValidString(s) || utf8.RuneCountInString(s) > longestAgentText {
			return fmt.Errorf("a member of agent is no text of at most %d characters", longestAgentText)
		}
	}
	raw, err := json.Marshal(a)
	if err != nil {
		return err
	}
	if r.Extra == nil {
		r.Extra = map[string]json.RawMessage{}
	}
	r.Extra[memberAgent] = raw
	return nil
}

// Agent is the member agent; false where there is none, or none that can be read.
func (r *Record) Agent() (Agent, bool) {
	var a Agent
	raw, has := r.Extra[memberAgent]
	if !has || json.Unmarshal(raw, &a) != nil || a.Name == "" {
		return Agent{}, false
	}
	return a, true
}

// Messages of checkpoints without the words of a prompt. With them they go on after a colon.
const (
	BeforePrompt = "before"
	Interrupted  = "interrupted"
)

// HasPrompt reports whether the message has words of a prompt.
func (r *Record) HasPrompt() bool {
	_, ok := r.Agent()
	return ok && (r.Trigger == "turn" && r.Message != "" ||
		strings.HasPrefix(r.Message, BeforePrompt+": ") || strings.HasPrefix(r.Message, Interrupted+": "))
}
