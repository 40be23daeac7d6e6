package agent

import (
	"path/filepath"
	"regexp"
	"strings"
	"unicode"
	"unicode/utf8"

	"github.com/tidwall/gjson"

	"git-checkpoint/internal/name"
)

// Happening is an event of an agent, read. Texts are as the agent sent them, less what it put around
// them; all of them are untrusted data.
type Happening struct {
	Kind       Kind   // empty: ignore it
	Session    string // the agent's id of the conversation
	Directory  string // where the agent works; empty when it does not say
	Prompt     string
	Reply      string // the last answer of the model
	Model      string
	Version    string
	Turn       string
	Transcript string // path of the agent's own transcript
	Subagent   string // id of the subagent whose event this is
	Parent     string // the conversation that it belongs to, where that is told
	Child      string // a subagent's conversation that begins with this event
	Tool       string
	Use        string // what the tool did, in a few words: "Edit a.go", "Bash: make test"
	Source     string // why a conversation starts: startup, resume, clear, compact
}

// longest bounds what is kept of a member that has no length of its own.
const longest = 256

// Read reads what a hook was given for an event. Bytes that are no JSON object give a Happening without a kind.
func (d *Definition) Read(event string, payload []byte) Happening {
	payload = []byte(strings.TrimPrefix(string(payload), "\ufeff"))
	if !gjson.ValidBytes(payload) {
		return Happening{}
	}
	root := gjson.ParseBytes(payload)
	spec, known := d.Events[strings.Replace(event, "event-", "event:", 1)]
	if !known || !root.IsObject() {
		return Happening{}
	}
	m := d.Members
	h := Happening{
		Kind: spec.Kind, Session: short(root, m.Session), Directory: text(root, m.Directory),
		Prompt: d.words(text(root, m.Prompt)), Reply: d.reply(text(root, m.Reply)),
		Model: short(root, m.Model), Version: short(root, m.Version), Turn: short(root, m.Turn),
		Transcript: text(root, m.Transcript), Subagent: short(root, m.Subagent), Parent: short(root, m.Parent),
		Tool: short(root, m.Tool), Source: short(root, m.Source),
	}
	if parent := short(root, []string{spec.Parent}); spec.Child != "" && parent != "" {
		h.Child, h.Parent = short(root, []string{spec.Child}), parent
	}
	if !spec.holds(root) || d.nobodys(text(root, m.Prompt)) && h.Kind == KindPrompt {
		h.Kind = ""
	}
	if h.Kind == KindTool {
		tool, writes := d.Tools[h.Tool]
		if !writes {
			tool, writes = d.Tools["*"]
			tool.Verb = h.Tool
		}
		if !writes {
			h.Kind = ""
		}
		h.Use = tool.say(root, h.Directory)
	}
	if h.Subagent != "" && (h.Kind == KindPrompt || h.Kind == KindTurnEnd || h.Kind == KindSessionStart || h.Kind == KindSessionEnd) {
		h.Kind = "" // a subagent's turn is no turn of the person's
	}
	return h
}

// holds reports whether the payload is of the sort that the event is about.
func (e Event) holds(root gjson.Result) bool {
	for path, want := range e.When {
		if root.Get(path).String() != want {
			return false
		}
	}
	for _, path := range e.Present {
		if root.Get(path).String() == "" {
			return false
		}
	}
	return true
}

func text(root gjson.Result, paths []string) string {
	for _, path := range paths {
		if v := root.Get(path); v.Type == gjson.String || v.Type == gjson.Number {
			return strings.ToValidUTF8(v.String(), "\ufffd")
		}
	}
	return ""
}

func short(root gjson.Result, paths []string) string { return name.Clip(text(root, paths), longest) }

// words are the words that a person typed.
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

// nobodys reports whether a prompt was made by the agent itself.
func (d *Definition) nobodys(prompt string) bool {
	for _, start := range d.Prompt.Ignore {
		if strings.HasPrefix(prompt, start) {
			return true
		}
	}
	return false
}

func (d *Definition) reply(s string) string {
	for _, silent := range d.Prompt.Silent {
		if strings.TrimSpace(s) == silent {
			return ""
		}
	}
	return s
}

var patched = regexp.MustCompile(`(?m)^\*\*\* (Add|Update|Delete) File: (.+)$`)

// say puts a use of a tool into a few words.
func (t Tool) say(root gjson.Result, dir string) string {
	verb := t.Verb
	what := ""
	if p := text(root, t.Path); p != "" {
		what = " " + relative(dir, p)
	} else if all := patched.FindAllStringSubmatch(text(root, t.Patch), -1); len(all) > 0 {
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
	return name.Clip(printable(verb+what), longest)
}

// relative names a file as seen from the directory of the agent, where it is below that.
func relative(dir, path string) string {
	if dir == "" || !filepath.IsAbs(path) {
		return path
	}
	if rel, err := filepath.Rel(dir, path); err == nil && rel != ".." && !strings.HasPrefix(rel, ".."+string(filepath.Separator)) {
		return rel
	}
	return path
}

// printable replaces what a message may not hold.
func printable(s string) string {
	return strings.Map(func(r rune) rune {
		if r == utf8.RuneError || unicode.IsControl(r) {
			return ' '
		}
		return r
	}, s)
}
