package agent

import (
	"embed"
	"encoding/json"
	"fmt"
	"path"
	"slices"
	"strings"

	"git-checkpoint/internal/format/name"
)

//go:embed definitions
var files embed.FS

// Kind is the meaning of an agent's event for this program.
type Kind string

// The kinds. An event that a definition does not list has no kind and is ignored.
const (
	KindSessionStart Kind = "session_start"
	KindPrompt       Kind = "prompt"
	KindBeforeTool   Kind = "before_tool"
	KindTool         Kind = "tool"
	KindTurnEnd      Kind = "turn_end"
	KindInterrupt    Kind = "interrupt"
	KindCompaction   Kind = "compaction"
	KindSubagentEnd  Kind = "subagent_end"
	KindSessionEnd   Kind = "session_end"
	KindSaved        Kind = "saved" // a person saved a file in an editor
	// The agent wants a worktree, or wants to remove one.
	KindWorktreeCreate Kind = "worktree_create"
	KindWorktreeRemove Kind = "worktree_remove"
)

// OfTool reports whether it is an event before or after a tool.
func (k Kind) OfTool() bool { return k == KindTool || k == KindBeforeTool }

// Scope says whose settings a file holds.
type Scope string

// The scopes: the project's (committed), this clone's (ignored by git), and the user's.
const (
	ScopeProject Scope = "project"
	ScopeLocal   Scope = "local"
	ScopeUser    Scope = "user"
)

// Definition describes one agent. It is loaded from definitions/<name>.json, and unknown
// members are an error, so a misspelt one shows in the tests.
type Definition struct {
	Name     string   `json:"name"`
	Title    string   `json:"title"`
	Aliases  []string `json:"aliases"`
	Programs []string `json:"programs"` // names of its executable in PATH
	// Folder is the agent's own directory in a worktree. Files in it may name commands that the agent
	// runs, so a rollback that changes one warns.
	Folder string   `json:"folder"`
	After  []string `json:"after"` // notes for the person after the hooks were added

	Hooks  Hooks  `json:"hooks"`
	Server Server `json:"mcp"`
	Pages  []Page `json:"pages"` // the skill and the /checkpoint command
	// Events maps the name of an event, as the hook is called with it, to its meaning.
	Events  map[string]EventRule `json:"events"`
	Members Members              `json:"members"` // says where values are in the payload of a hook
	// Tools lists the tools that may write files; "*" stands for all others.
	Tools   map[string]Tool `json:"tools"`
	Prompt  Prompt          `json:"prompt"`
	Answers Answers         `json:"answers"`
	Usage   Usage           `json:"usage"`
	Bundle  Bundle          `json:"bundle"`
	// Where the transcripts of conversations are; empty: unknown.
	Transcripts Transcripts `json:"transcripts"`
	Chat        Chat        `json:"chat"`
	// ProjectVariable is the variable of the agent's hooks that has its project directory.
	ProjectVariable string    `json:"project_variable"`
	Borrower        *Borrower `json:"borrower"` // another agent that runs the hooks of this one as well; nil: none is known
}

// Borrower is an agent that runs another agent's hooks beside its own. If it has hooks of ours too,
// everything would happen twice.
type Borrower struct {
	Agent    string `json:"agent"`
	Present  string `json:"present"`  // a gjson path that exists in its payloads, and not in those of the other agent
	Variable string `json:"variable"` // set in the environment of the hooks that it runs
}

// Hooks says where and how the hooks of an agent are configured.
type Hooks struct {
	Files map[Scope]string `json:"files"` // relative to the worktree; "~/" is the home directory
	// Linked is a directory: in a linked worktree that has it, the agent reads the hooks of the main one.
	Linked string         `json:"linked"`
	Trust  *Trust         `json:"trust"`  // where the agent writes down which hooks the person trusts; nil: it runs all of them
	Strict bool           `json:"strict"` // the agent ignores a whole file with comments or trailing commas
	Shape  string         `json:"shape"`  // groups or flat for a JSON file, plugin, or none for an agent without hooks
	Own    bool           `json:"own"`    // the file belongs to us and has only our hooks
	Root   map[string]any `json:"root"`   // members with which a new file starts
	Entry  map[string]any `json:"entry"`  // members of an entry besides its command
	Limit  string         `json:"limit"`  // name of the member with the time limit
	// Units of the limit per second: 1, or 1000 for milliseconds.
	Second    int     `json:"second"`
	Events    []Added `json:"events"`
	Worktrees []Added `json:"worktrees"` // the hooks that `agent add --worktrees` adds as well
	Plugin    string  `json:"plugin"`    // the file to write if the shape is plugin
	// Former has the SHA-256 of what earlier versions wrote, in hexadecimal, if the file is ours alone.
	Former []string `json:"former"`
}

// Trust is a file of the agent's that names each hook file that the person trusts.
type Trust struct {
	Variable string `json:"variable"` // of the environment: the directory, if it is set
	Home     string `json:"home"`     // the directory otherwise, below the home directory
	File     string `json:"file"`     // in that directory
}

// Added is a hook that `agent add` adds. Seconds is its time limit.
type Added struct {
	Event   string `json:"event"`
	Matcher string `json:"matcher"`
	Seconds int    `json:"seconds"`
}

// Server says how the MCP server is registered.
type Server struct {
	Files map[Scope]string `json:"files"`
	// Path of members that leads to the entry.
	At     []string `json:"at"`
	Entry  any      `json:"entry"`
	Former []any    `json:"former"` // what earlier versions set instead
	TOML   string   `json:"toml"`   // a block of text to append instead, if the file is TOML
}

// Page is a file of our own that teaches the agent about checkpoints.
type Page struct {
	Files    map[Scope]string `json:"files"`
	Template string           `json:"template"`
}

// EventRule says what an event means.
type EventRule struct {
	Kind    Kind              `json:"kind"`
	When    map[string]string `json:"when"`    // has gjson paths that must have these values
	Present []string          `json:"present"` // gjson paths that must not be empty
	Child   string            `json:"child"`   // path to the id of a new subagent's conversation
	Parent  string            `json:"parent"`  // path to the id of its parent's
	// Paths to the name of the worktree to make, or to the path of the one to remove.
	Worktree []string `json:"worktree"`
}

// Members lists, for each value, gjson paths where it may be in a payload. The first one that
// exists is used.
type Members struct {
	Session    []string `json:"session"`
	Directory  []string `json:"directory"`
	Project    []string `json:"project"`
	Prompt     []string `json:"prompt"`
	Reply      []string `json:"reply"`
	Model      []string `json:"model"`
	Version    []string `json:"version"`
	Turn       []string `json:"turn"`
	Transcript []string `json:"transcript"`
	// The subagent's own transcript, once the subagent has ended.
	SubagentTranscript []string `json:"subagent_transcript"`
	Subagent           []string `json:"subagent"` // set only in events of a subagent
	// The conversation to which a subagent belongs.
	Parent []string `json:"parent"`
	Tool   []string `json:"tool"`
	Call   []string `json:"call"` // the id of one use of a tool
	Source []string `json:"source"`
}

// Tool is a tool of the agent that may write files, and how to describe its use.
type Tool struct {
	Verb  string   `json:"verb"`
	Path  []string `json:"path"`  // paths to the name of the file
	Text  []string `json:"text"`  // paths to a text such as a shell command
	Patch []string `json:"patch"` // paths to a patch in the format of Codex

	// What the tool makes of the file: its new content, or a text that replaces another one, once or
	// everywhere. Edits leads to a list of such replacements.
	Content []string `json:"content"`
	Old     []string `json:"old"`
	New     []string `json:"new"`
	All     []string `json:"all"`
	Edits   []string `json:"edits"`
	Sole    bool     `json:"sole"` // says that nothing else writes the file while the tool runs, see Edit
}

// Prompt says what an agent adds around the words that the person typed.
type Prompt struct {
	Ignore []string `json:"ignore"` // a prompt with this prefix was made by the agent itself
	Tags   []string `json:"tags"`   // XML elements that precede the words
	Quotes bool     `json:"quotes"` // the words may be in quotation marks
	Silent []string `json:"silent"` // replies that mean "no reply"
	Kept   bool     `json:"kept"`   // one that a hook blocks is put back into the input line
}

// Answers are templates for the output of a hook. "$text" and "$event" are replaced in
// them.
type Answers struct {
	Context Template `json:"context"` // text for the model
	Block   Template `json:"block"`   // answers a prompt in place of the model
	Tell    Template `json:"tell"`    // text for the person
}

// Template is one part of an answer, with the events that accept it.
type Template struct {
	Events []string        `json:"events"`
	JSON   json.RawMessage `json:"json"`
}

// Fits reports whether the agent takes this part of an answer to the event.
func (t Template) Fits(event string) bool { return slices.Contains(t.Events, event) }

// Names returns the names of all agents, sorted.
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

// All returns the definitions of all agents, sorted by name.
func All() (all []*Definition) {
	for _, name := range Names() {
		if d, err := load(name); err == nil { // a test loads each
			all = append(all, d)
		}
	}
	return all
}

// Find returns the definition of an agent by its name or an alias. If there is none, the error lists
// the names.
func Find(typed string) (*Definition, error) {
	// Every hook calls Find, so do not load the others.
	if slices.Contains(Names(), typed) {
		return load(typed)
	}
	for _, d := range All() {
		if slices.Contains(d.Aliases, typed) {
			return d, nil
		}
	}
	return nil, fmt.Errorf("no such agent: %q; known agents: %s", name.Clip(typed, name.Said), strings.Join(Names(), ", "))
}

// load reads one embedded definition.
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
