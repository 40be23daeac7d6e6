package agent

import (
	"cmp"
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"path/filepath"
	"slices"
	"strings"
	"unicode"
	"unicode/utf8"

	"github.com/tidwall/gjson"

	"git-checkpoint/internal/format/name"
	"git-checkpoint/internal/format/record"
	"git-checkpoint/internal/sys/lazy"
)

// Event is a parsed event of an agent. The texts are what the agent sent, without what
// it put around them. All of them are untrusted.
type Event struct {
	Kind               Kind   // empty: ignore the event
	Session            string // the agent's id of the conversation
	Directory          string // the agent's working directory; empty: unknown
	Project            string // the directory in which the agent was started; empty: unknown
	Prompt             string
	Reply              string // the model's last answer
	Model              string
	Version            string
	Turn               string
	Transcript         string       // path of the agent's transcript file
	SubagentTranscript string       // path of the transcript of a subagent that has ended, if it has one of its own
	Usage              record.Usage // the tokens that requests to a model used, if the payload says that
	Subagent           string       // id of the subagent that sent the event
	Parent             string       // the conversation to which the subagent belongs, if known
	// Id of a subagent's conversation that starts with this event.
	Child string
	Tool  string
	File  string // the file that the tool wrote, as an absolute path; empty: unknown
	// What the tool did: "Edit a.go", "Bash: make test". It is not bounded here, because half
	// a secret is not recognized as one.
	Use      string
	Call     string // the agent's id of this use of the tool, or else Input
	Input    string // a digest of what the tool is asked to do
	Edits    []Edit // has the files that the tool names. Without any, it may change everything
	Source   string // why the conversation starts: startup, resume, clear or compact
	Worktree string // the name of the worktree to make, or the path of the one to remove
	Borrowed bool   // says that the payload is one of the definition's borrower
	Plugin   bool   // says that the hook of a plugin received it, see Bundle
	Unread   string // why nothing more can be read than the kind
}

// longest bounds short members, in characters. Prompts, replies and uses are not bounded here.
const longest = 256

// Read parses the payload of a hook for an event. If the event is unknown, the result has no kind.
func (d *Definition) Read(event string, payload []byte) Event {
	payload = []byte(strings.TrimPrefix(string(payload), "\ufeff"))
	root := gjson.ParseBytes(payload)
	// A colon in an event's name cannot be part of the command of some agents.
	spec, m := d.Events[strings.Replace(event, "event-", "event:", 1)], d.Members
	lacks := func(paths []string) bool {
		return text(root, paths) == "" && slices.ContainsFunc(paths, func(path string) bool { return root.Get(path).Type != gjson.Null })
	}
	switch {
	case !gjson.ValidBytes(payload) || !root.IsObject():
		return Event{Kind: spec.Kind, Unread: fmt.Sprintf("what the agent sent is no JSON object, or not all of it (%d bytes)", len(payload))}
	case lacks(m.Session), spec.Kind.OfTool() && lacks(m.Tool):
		return Event{Kind: spec.Kind, Unread: "what the agent sent does not say in words which conversation or tool it is about"}
	}
	h := Event{
		Kind: spec.Kind, Session: short(root, m.Session), Directory: text(root, m.Directory), Project: text(root, m.Project),
		Prompt: d.words(text(root, m.Prompt)), Reply: d.reply(text(root, m.Reply)),
		Model: short(root, m.Model), Version: short(root, m.Version), Turn: short(root, m.Turn),
		Transcript: text(root, m.Transcript), Subagent: short(root, m.Subagent), Parent: short(root, m.Parent),
		Tool: short(root, m.Tool), Source: short(root, m.Source),
		SubagentTranscript: text(root, m.SubagentTranscript), Usage: d.Usage.inPayload(root), Worktree: text(root, spec.Worktree),
	}
	if parent := short(root, []string{spec.Parent}); spec.Child != "" && parent != "" {
		h.Child, h.Parent = short(root, []string{spec.Child}), parent
	}
	h.Borrowed = d.Borrower != nil && root.Get(d.Borrower.Present).Exists()
	if !spec.holds(root) || d.nobodys(text(root, m.Prompt)) && h.Kind == KindPrompt {
		h.Kind = ""
	}
	if h.Kind.OfTool() || h.Kind == KindSaved {
		d.readTool(root, &h)
	}
	if h.Subagent != "" && (h.Kind == KindPrompt || h.Kind == KindTurnEnd || h.Kind == KindSessionStart || h.Kind == KindSessionEnd) {
		// The person's turn goes on while a subagent starts and ends its own.
		h.Kind = ""
	}
	return h
}

// readTool adds what a tool does. Only tools that may write files are of interest.
func (d *Definition) readTool(root gjson.Result, h *Event) {
	tool, writes := d.Tools[h.Tool]
	if !writes {
		tool, writes = d.Tools["*"]
		tool.Verb = h.Tool
	}
	if !writes {
		h.Kind = ""
	}
	h.Use, h.Edits = tool.say(root, h.Directory), tool.edits(root, h.Directory)
	if len(h.Edits) > 0 && filepath.IsAbs(h.Edits[0].Path) {
		h.File = h.Edits[0].Path
	}
	h.Input = digest(h.Tool + "\x00" + h.Use + "\x00" + text(root, tool.Text) + text(root, tool.Patch))
	h.Call = cmp.Or(short(root, d.Members.Call), h.Input)
}

// holds reports whether the payload fulfils the conditions of the event.
func (e EventRule) holds(root gjson.Result) bool {
	for path, want := range e.When {
		if root.Get(path).String() != want {
			return false
		}
	}
	return !slices.ContainsFunc(e.Present, func(path string) bool { return root.Get(path).String() == "" })
}

// text returns the first value among paths that is a string or a number.
func text(root gjson.Result, paths []string) string {
	for _, path := range paths {
		if v := root.Get(path); v.Type == gjson.String || v.Type == gjson.Number {
			return strings.ToValidUTF8(v.String(), "\ufffd")
		}
	}
	return ""
}

func short(root gjson.Result, paths []string) string { return name.Clip(text(root, paths), longest) }

// words returns the words that the person typed, without what the agent added.
func (d *Definition) words(prompt string) string {
	for _, tag := range d.Prompt.Tags {
		end := "</" + tag + ">"
		for strings.HasPrefix(prompt, "<"+tag+">") {
			_, rest, closed := strings.Cut(prompt, end)
			if !closed {
				break
			}
			prompt = strings.TrimLeft(rest, " \r\n\t")
		}
	}
	if d.Prompt.Quotes && len(prompt) > 1 && strings.HasPrefix(prompt, `"`) && strings.HasSuffix(prompt, `"`) {
		prompt = prompt[1 : len(prompt)-1]
	}
	return prompt
}

// nobodys reports whether the agent itself wrote the prompt.
func (d *Definition) nobodys(prompt string) bool {
	return slices.ContainsFunc(d.Prompt.Ignore, func(start string) bool { return strings.HasPrefix(prompt, start) })
}

// reply returns the model's answer, or "" for one that stands for none.
func (d *Definition) reply(s string) string {
	if slices.Contains(d.Prompt.Silent, strings.TrimSpace(s)) {
		return ""
	}
	return s
}

// patched matches the headers of files in a patch of Codex.
var patched = lazy.Pattern(`(?m)^\*\*\* (Add|Update|Delete) File: (.+)$`)

// say describes a use of the tool in a few words, from the file, the patch or the text in
// the payload.
func (t Tool) say(root gjson.Result, dir string) string {
	verb := t.Verb
	what := ""
	if p := text(root, t.Path); p != "" {
		what = " " + relative(dir, p)
	} else if all := patched().FindAllStringSubmatch(text(root, t.Patch), -1); len(all) > 0 {
		verb = map[string]string{"Add": "Write", "Update": "Edit", "Delete": "Delete"}[all[0][1]]
		what = " " + relative(dir, strings.TrimSpace(all[0][2]))
		if len(all) > 1 {
			what += " …"
		}
	} else if s := text(root, t.Text); s != "" {
		line, _, more := strings.Cut(strings.TrimSpace(s), "\n")
		if more {
			line += " …"
		}
		what = ": " + line
	}
	return printable(verb + what)
}

// digest returns a hash, which stands for a text in what is remembered.
func digest(s string) string {
	sum := sha256.Sum256([]byte(s))
	return hex.EncodeToString(sum[:8])
}

// MemoryOf returns the name of the file in which hooks keep what they remember of a conversation. Its id may
// be any text.
func MemoryOf(agent, id string) string { return agent + "-" + HashedID(agent, id) + ".json" }

// HashedID returns what stands for a conversation with an agent in names and content of files.
func HashedID(agent, id string) string { return digest(agent + "\x00" + id) }

// relative returns the path relative to the agent's directory, if it is below it.
func relative(dir, path string) string {
	if dir == "" || !filepath.IsAbs(path) {
		return path
	}
	if rel, err := filepath.Rel(dir, path); err == nil && rel != ".." && !strings.HasPrefix(rel, ".."+string(filepath.Separator)) {
		return rel
	}
	return path
}

// printable replaces control characters, which a message must not contain, by spaces.
func printable(s string) string {
	return strings.Map(func(r rune) rune {
		if r == utf8.RuneError || unicode.IsControl(r) {
			return ' '
		}
		return r
	}, s)
}
