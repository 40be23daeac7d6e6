package agent

import (
	"embed"
	"encoding/json"
	"fmt"
	"path"
	"slices"
	"strings"

	"git-checkpoint/internal/name"
)

//go:embed definitions
var files embed.FS

// Kind is what an event of an agent means here.
type Kind string

// The kinds. An event that a definition does not name has none of them and is ignored.
const (
	KindSessionStart Kind = "session_start"
	KindPrompt       Kind = "prompt"
	KindTool         Kind = "tool"
	KindTurnEnd      Kind = "turn_end"
	KindInterrupt    Kind = "interrupt"
	KindCompaction   Kind = "compaction"
	KindSubagentEnd  Kind = "subagent_end"
	KindSessionEnd   Kind = "session_end"
)

// Scope says whose settings a file holds.
type Scope string

// The scopes: the repository's (committed), this clone's (ignored by git), the person's own.
const (
	ScopeProject Scope = "project"
	ScopeLocal   Scope = "local"
	ScopeUser    Scope = "user"
)

// Definition describes one agent.
type Definition struct {
	Name     string   `json:"name"`
	Title    string   `json:"title"`
	Aliases  []string `json:"aliases"`
	Programs []string `json:"programs"` // names of its program in PATH
	After    []string `json:"after"`    // what a person has to know or do once the hooks are added

	Hooks   Hooks            `json:"hooks"`
	Server  Server           `json:"mcp"`
	Pages   []Page           `json:"pages"` // the skill and the /checkpoint command
	Events  map[string]Event `json:"events"`
	Members Members          `json:"members"`
	Tools   map[string]Tool  `json:"tools"`
	Prompt  Prompt           `json:"prompt"`
	Answers Answers          `json:"answers"`
}

// Hooks says where hooks are configured, and how.
type Hooks struct {
	Files  map[Scope]string `json:"files"`  // relative to the worktree; "~/" is the home directory
	Shape  string           `json:"shape"`  // groups, flat or plugin
	Own    bool             `json:"own"`    // the file holds nothing but our hooks
	Root   json.RawMessage  `json:"root"`   // members that a new file starts with
	Entry  map[string]any   `json:"entry"`  // members of an entry beside its command
	Limit  string           `json:"limit"`  // the member that holds the time limit
	Second int              `json:"second"` // units of the limit in a second: 1, or 1000 for milliseconds
	Events []Added          `json:"events"`
	Plugin string           `json:"plugin"` // the file to write, for shape plugin
}

// Added is a hook that `agent add` adds.
type Added struct {
	Event   string `json:"event"`
	Matcher string `json:"matcher"`
	Seconds int    `json:"seconds"`
}

// Server says how the MCP server is registered.
type Server struct {
	Files map[Scope]string `json:"files"`
	At    []string         `json:"at"` // the members that lead to the entry
	Entry json.RawMessage  `json:"entry"`
	TOML  string           `json:"toml"` // a block to append instead, where the file is TOML
}

// Page is a file of our own that teaches an agent.
type Page struct {
	Files    map[Scope]string `json:"files"`
	Template string           `json:"template"`
}

// Event says what an event means.
type Event struct {
	Kind    Kind              `json:"kind"`
	When    map[string]string `json:"when"`    // gjson paths that must have these values
	Present []string          `json:"present"` // gjson paths that must not be empty
	Child   string            `json:"child"`   // where the id of a new subagent's conversation is
	Parent  string            `json:"parent"`  // and that of its parent's
}

// Members are the gjson paths at which values lie, the first that is there counts.
type Members struct {
	Session    []string `json:"session"`
	Directory  []string `json:"directory"`
	Prompt     []string `json:"prompt"`
	Reply      []string `json:"reply"`
	Model      []string `json:"model"`
	Version    []string `json:"version"`
	Turn       []string `json:"turn"`
	Transcript []string `json:"transcript"`
	Subagent   []string `json:"subagent"` // set in an event of a subagent
	Parent     []string `json:"parent"`   // the conversation that a subagent belongs to
	Tool       []string `json:"tool"`
	Source     []string `json:"source"`
}

// Tool is a tool that may write, and what to say of a use of it.
type Tool struct {
	Verb  string   `json:"verb"`
	Path  []string `json:"path"`  // where the file's name is
	Text  []string `json:"text"`  // where a text is, such as a shell command
	Patch []string `json:"patch"` // where a patch in Codex's form is
}

// Prompt says what an agent puts around the words that a person typed.
type Prompt struct {
	Ignore []string `json:"ignore"` // a prompt that begins so is nobody's
	Tags   []string `json:"tags"`   // elements that are put in front of it
	Quotes bool     `json:"quotes"` // it may stand in quotation marks
	Silent []string `json:"silent"` // replies that stand for no reply
}

// Answers are templates of what a hook prints. In them "$text" and "$event" are replaced.
type Answers struct {
	Context Template `json:"context"` // text for the model
	Block   Template `json:"block"`   // the prompt is answered, the model is not asked
	Tell    Template `json:"tell"`    // text for the person
}

// Template is an answer and the events that take it.
type Template struct {
	Events []string        `json:"events"`
	JSON   json.RawMessage `json:"json"`
}

// Names lists the agents, in the order of the alphabet.
func Names() []string {
	entries, _ := files.ReadDir("definitions") //nolint:errcheck // it is embedded
	var names []string
	for _, e := range entries {
		if name, is := strings.CutSuffix(e.Name(), ".json"); is {
			names = append(names, name)
		}
	}
	return names
}

// Find gives the definition of an agent by its name or an alias. The error lists the names there are.
func Find(name string) (*Definition, error) {
	if slices.Contains(Names(), name) { // every event of an agent asks: the others need not be read
		return load(name)
	}
	for _, known := range Names() {
		d, err := load(known)
		if err != nil {
			return nil, err
		}
		if slices.Contains(d.Aliases, name) {
			return d, nil
		}
	}
	return nil, &UnknownError{Name: name}
}

// UnknownError says that no agent has a name.
type UnknownError struct{ Name string }

func (e *UnknownError) Error() string {
	return fmt.Sprintf("there is no agent %q; known are %s", name.Clip(e.Name, name.Said), strings.Join(Names(), ", "))
}

func load(name string) (*Definition, error) {
	data, err := files.ReadFile(path.Join("definitions", name+".json"))
	if err != nil {
		return nil, err
	}
	d := &Definition{}
	decoder := json.NewDecoder(strings.NewReader(string(data)))
	decoder.DisallowUnknownFields()
	if err := decoder.Decode(d); err != nil {
		return nil, fmt.Errorf("definition of agent %s: %w", name, err)
	}
	return d, nil
}

// Command is what a hook of an agent runs for an event. It stays the same over all versions, because
// Codex trusts a hook by its text, and does no harm where this program is missing, older or dies.
func (d *Definition) Command(event string) string {
	return fmt.Sprintf("command -v git-checkpoint >/dev/null 2>&1 && git-checkpoint hook %s %s 2>/dev/null; exit 0", d.Name, event)
}
