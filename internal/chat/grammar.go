package chat

import (
	_ "embed"
	"encoding/json"
	"regexp"
	"strings"
	"sync"
	"unicode/utf8"
)

//go:embed chat.json
var chatGrammar []byte

// Command is a line of a chat that is ours. All of it is data: A and B name
// checkpoints and have their narrow form, Words is a text for people.
type Command struct {
	Does  string `json:"does"`
	A     string `json:"a"`
	B     string `json:"b"`
	Words string `json:"words"`

	OverwriteIgnored bool `json:"overwrite_ignored"`
	Branch           bool `json:"branch"`
	Alone            bool `json:"alone"` // it means something only as the whole text, and when it was asked for
}

// chatForm is how a command is typed: literal text with {a}, {b} and {words} in it.
type chatForm struct {
	Command
	Says string `json:"says"`
}

// Bounds of what a chat may say.
const (
	longestChatLine = 4000 // of a line that can be a command
	mostChatLines   = 10_000
)

// Parse finds the first line of a text that is one of our commands.
func Parse(text string) (Command, bool) {
	if !strings.ContainsAny(text, "*/y") {
		return Command{}, false
	}
	var forms []chatForm
	if json.Unmarshal(chatGrammar, &forms) != nil { // a test reads it
		return Command{}, false
	}
	whole, rest := strings.TrimSpace(text), text
	for range mostChatLines {
		line, after, more := strings.Cut(rest, "\n")
		line = strings.TrimSpace(line)
		for _, f := range forms {
			if c, ok := f.match(line); ok && (!c.Alone || line == whole) {
				return c, true
			}
		}
		if !more {
			break
		}
		rest = after
	}
	return Command{}, false
}

// chatRef is what may stand for a checkpoint: a number, a label, an id of ours or of the
// system that a document comes from, or a word for the current and the newest one. It names
// nothing in another session.
var chatRef = sync.OnceValue(func() *regexp.Regexp {
	return regexp.MustCompile(`^(?:\d{1,9}(?:[.+][A-Za-z0-9_-]{1,40})?|(?:cp|CP|checkpoint|PRD|orchestrate|implement|test-all)[-_][A-Za-z0-9._+-]{1,120}|@(?:~\d{0,9})?|latest)$`)
})

// match reads a line by the form.
func (f chatForm) match(line string) (Command, bool) {
	c := f.Command
	if len(line) > longestChatLine || !utf8.ValidString(line) {
		return c, false
	}
	says := f.Says
	for {
		literal, after, found := strings.Cut(says, "{")
		rest, ok := strings.CutPrefix(line, literal)
		if !ok || !found {
			return c, ok && rest == ""
		}
		slot, next, _ := strings.Cut(after, "}")
		line, says = rest, next
		value := line
		if stop, _, _ := strings.Cut(next, "{"); stop != "" {
			if value, _, ok = strings.Cut(line, stop); !ok {
				return c, false
			}
		}
		if !c.take(slot, strings.TrimSpace(value)) {
			return c, false
		}
		line = line[len(value):]
	}
}

// take puts a value into its place, if it has the form for it.
func (c *Command) take(slot, value string) bool {
	if slot == "words" {
		c.Words = value
		return value != ""
	}
	if !chatRef().MatchString(value) {
		return false
	}
	if slot == "a" {
		c.A = value
	} else {
		c.B = value
	}
	return true
}
