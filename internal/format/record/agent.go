package record

import (
	"fmt"
	"maps"
	"strings"
	"unicode/utf8"

	"git-checkpoint/internal/format/name"
)

// Agent describes the coding agent whose event made a checkpoint. The members are texts as sent by
// the agent, of at most 256 characters each; those without a value are left out.
type Agent struct {
	Name     string `json:"name"`
	Version  string `json:"version,omitempty"`
	Model    string `json:"model,omitempty"`
	Session  string `json:"session,omitempty"` // the agent's own id of the conversation
	Turn     string `json:"turn,omitempty"`
	Tool     string `json:"tool,omitempty"`
	Subagent string `json:"subagent,omitempty"`
	Event    string `json:"event,omitempty"`

	Transcript *Transcript `json:"transcript,omitempty"`
	// Usage is what the turn used that the checkpoint ends, and what turns before it used that have
	// no checkpoint of their own.
	Usage *Usage `json:"usage,omitempty"`
	// Position says where the conversation stood when the turn ended. It holds nothing of its content.
	Position *Position `json:"position,omitempty"`

	// Paths says who made each path of the difference from the checkpoint Previous: Named, During,
	// OutsideAgents, Unknown, or the name of another session. It is empty for more than MaxListed paths
	// and has none that is not UTF-8: these are unknown.
	Paths   map[string]string `json:"paths,omitempty"`
	Because map[string]string `json:"because,omitempty"` // says why, for paths that are Unknown
	// Beside has who else was live while a command of the turn ran: agents, and OutsideAgents. What is During may be theirs.
	Beside []string `json:"beside,omitempty"`
	// Whole has the same as Paths for the whole turn, if the checkpoint ends one. It is still right after what
	// lies between was pruned.
	Whole *Whole `json:"whole,omitempty"`
}

// Made returns who made each path of the turn that the checkpoint ends, or else of its own difference.
func (a Agent) Made() map[string]string {
	if a.Whole != nil {
		return a.Whole.Paths
	}
	return a.Paths
}

// IsDuring reports whether none of it is known to be made by the agent's tools, and something changed while its commands ran.
func (a Agent) IsDuring() bool {
	during := false
	for _, who := range a.Made() {
		if who == Named {
			return false
		}
		during = during || who == During
	}
	return during
}

// Values of Agent.Paths, besides the names of sessions, which are never one of these words.
const (
	Named         = "named"   // a tool of the agent names the path
	During        = "during"  // while a command of the agent ran
	OutsideAgents = "outside" // by no known tool
	Unknown       = "unknown"
)

// Whole says who made each path of the difference from the checkpoint Since, or from the session's
// first files if it is empty.
type Whole struct {
	Since name.ID           `json:"since,omitempty"`
	Paths map[string]string `json:"paths"`
}

// Position is a place in a conversation.
type Position struct {
	ID     string `json:"id,omitempty"`     // the agent's own id of the turn, or of its last line
	Offset int64  `json:"offset,omitempty"` // in the agent's transcript, in bytes
	Before string `json:"before,omitempty"` // SHA-256 of the 64 KiB before the offset, or of all if it is less
	// Missing is how many prompts up to this turn the agent had not written by then; they come after the offset.
	Missing int `json:"missing,omitempty"`
}

// Transcript tells which lines of the agent's transcript file the output TranscriptOutput holds.
type Transcript struct {
	File   string `json:"file"`   // id of the transcript; a new one after the agent rewrote lines that were kept
	From   int    `json:"from"`   // number of lines before the first one in the output
	To     int    `json:"to"`     // number of lines up to and including the last one in the output
	Before string `json:"before"` // SHA-256 of the first From lines as the agent wrote them, in hexadecimal
}

// TranscriptOutput is the name of the output with the lines that an agent's transcript gained since
// the last checkpoint. Unlike other outputs it is not inherited by the next checkpoint.
const TranscriptOutput = "transcript"

// SetAgent stores a as the member agent. It returns an error if a text is too long or not UTF-8.
func (r *Record) SetAgent(a Agent) error {
	const longestAgentText = 256 // in characters, not bytes
	for _, s := range []string{a.Name, a.Version, a.Model, a.Session, a.Turn, a.Tool, a.Subagent, a.Event} {
		if !utf8.ValidString(s) || utf8.RuneCountInString(s) > longestAgentText {
			return fmt.Errorf("a member of agent is not text of at most %d characters", longestAgentText)
		}
	}
	memberAgent.Set(&r.Extra, a)
	return nil
}

// Agent returns the member agent. It returns false if there is none, or if it is malformed.
func (r *Record) Agent() (Agent, bool) {
	a, has := memberAgent.Of(r.Extra)
	if !has || a.Name == "" {
		return Agent{}, false
	}
	return a, true
}

// Messages of checkpoints that an agent's event made without a prompt. With a prompt, its words
// follow after a colon and a space.
const (
	BeforePrompt = "before"
	Interrupted  = "interrupted"
)

// HasPrompt reports whether the message contains words of a prompt. A turn checkpoint has the
// prompt as its whole message; the others have it after one of the prefixes above.
func (r *Record) HasPrompt() bool {
	_, ok := r.Agent()
	return ok && (r.Trigger == "turn" && r.Message != "" ||
		strings.HasPrefix(r.Message, BeforePrompt+": ") || strings.HasPrefix(r.Message, Interrupted+": "))
}

// Tokens counts what an agent's requests to a model used.
type Tokens struct {
	Input    int64 `json:"input"`             // read by the model, without what came from a cache or was written to one
	Cached   int64 `json:"cached"`            // came from a cache
	Written  int64 `json:"written,omitempty"` // was written to a cache
	Output   int64 `json:"output"`            // with the model's reasoning
	Requests int64 `json:"requests"`
}

// Total returns the number of all tokens.
func (t Tokens) Total() int64 { return t.Input + t.Cached + t.Written + t.Output }

// Plus returns the sum of both.
func (t Tokens) Plus(o Tokens) Tokens {
	return Tokens{t.Input + o.Input, t.Cached + o.Cached, t.Written + o.Written, t.Output + o.Output, t.Requests + o.Requests}
}

// Minus returns what t has more than o, and never less than nothing.
func (t Tokens) Minus(o Tokens) Tokens {
	return Tokens{
		max(0, t.Input-o.Input), max(0, t.Cached-o.Cached), max(0, t.Written-o.Written), max(0, t.Output-o.Output), max(0, t.Requests-o.Requests),
	}
}

// Usage is what a turn of an agent used, in all and by model.
type Usage struct {
	Tokens
	Models map[string]Tokens `json:"models"`
}

// Add adds what requests to a model used. An empty name is a model that is not known.
func (u *Usage) Add(model string, t Tokens) {
	const mostModels = 64 // bounds the models of which the tokens are told apart
	if t == (Tokens{}) {
		return
	}
	u.Tokens = u.Plus(t)
	if _, known := u.Models[model]; model == "" || !known && len(u.Models) == mostModels {
		return
	}
	if u.Models == nil {
		u.Models = map[string]Tokens{}
	}
	u.Models[model] = u.Models[model].Plus(t)
}

// UsageOf returns the usage of one model.
func UsageOf(model string, t Tokens) (u Usage) {
	u.Add(model, t)
	return u
}

// Join adds another usage.
func (u *Usage) Join(o Usage) {
	models := map[string]Tokens{}
	maps.Copy(models, u.Models)
	for model, t := range o.Models {
		models[model] = models[model].Plus(t)
	}
	if u.Tokens = u.Plus(o.Tokens); len(models) > 0 {
		u.Models = models
	}
}

// Since returns what u has more than before.
func (u Usage) Since(before Usage) Usage {
	more := Usage{Tokens: u.Minus(before.Tokens)}
	for model, t := range u.Models {
		if d := t.Minus(before.Models[model]); d != (Tokens{}) {
			if more.Models == nil {
				more.Models = map[string]Tokens{}
			}
			more.Models[model] = d
		}
	}
	return more
}
