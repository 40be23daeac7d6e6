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

// Command is a command that was found in a prompt. Does names it. All of it is data: A and B have
// the form of a checkpoint's name (chatRef), after a session and a colon if it is another one's. Words is
// free text. For "mistyped", A is what was probably meant.
type Command struct {
	Does  string `json:"does"`
	A     string `json:"a"`
	B     string `json:"b"`
	Words string `json:"words"`

	OverwriteIgnored bool `json:"overwrite_ignored"`
	Branch           bool `json:"branch"`
	// Alone is set for "y", which is a command only if it is the whole prompt and a question was
	// asked.
	Alone bool `json:"alone"`
}

// chatForm is a row of chat.json: what is typed, and the Command that it means. Says is literal
// text with the slots {a}, {b} and {words}, as in "*cp-diff:{a}:{b}".
type chatForm struct {
	Command
	Says string `json:"says"`
}

// Limits on what is searched for a command: longestChatLine is in bytes.
const (
	longestChatLine = 4000
	mostChatLines   = 10_000
)

// Parse finds the first line of a prompt that is one of our commands. Within a line, the first row
// of chat.json that matches is used, so the order of the rows matters. A prompt that begins with
// "*" and nearly the word of a command is the command "mistyped".
func Parse(text string) (Command, bool) {
	// Every command begins with one of these. This skips most prompts before the table is decoded.
	if !strings.ContainsAny(text, "*/yY") {
		return Command{}, false
	}
	var forms []chatForm
	// The table is embedded, and a test decodes it.
	if json.Unmarshal(chatGrammar, &forms) != nil {
		return Command{}, false
	}
	whole, lines := strings.TrimSpace(text), strings.SplitN(text, "\n", mostChatLines+1)
	for _, line := range lines[:min(len(lines), mostChatLines)] {
		line = strings.TrimSpace(line)
		if len(line) > longestChatLine || !utf8.ValidString(line) {
			continue
		}
		if typed, ok := readStarred(line); ok {
			if c, ok := typed.command(forms); ok {
				return c, true
			}
			continue
		}
		for _, f := range forms {
			if c, ok := f.match(line); ok && (!c.Alone || line == whole) {
				return c, true
			}
		}
	}
	first, _, _ := strings.Cut(whole, "\n")
	if typed, ok := readStarred(strings.TrimSpace(first)); ok && len(first) <= longestChatLine && utf8.ValidString(first) {
		return typed.mistyped(forms)
	}
	return Command{}, false
}

// chatRef is what may stand for a checkpoint in a chat: a number, a label, an id of ours or of a
// system that checkpoints were imported from, @ and @~2, or latest. It has no colon: a session
// before it is parsed separately.
var chatRef = sync.OnceValue(func() *regexp.Regexp {
	return regexp.MustCompile(`^(?:\d{1,9}(?:[.+][A-Za-z0-9_-]{1,40})?|(?:cp|CP|checkpoint|PRD|orchestrate|implement|test-all)[-_][A-Za-z0-9._+-]{1,120}|@(?:~\d{0,9})?|latest)$`)
})

// match compares a line with the form and fills in the slots. A slot ends where the literal text
// after it begins, or at the end of the line.
func (f chatForm) match(line string) (Command, bool) {
	c := f.Command
	if c.Alone { // capital letters are understood
		line = strings.ToLower(line)
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
		if !c.fillSlot(slot, strings.TrimSpace(value)) {
			return c, false
		}
		line = line[len(value):]
	}
}

// fillSlot stores the value of a slot. It reports whether the value has the form that the slot
// requires.
func (c *Command) fillSlot(slot, value string) bool {
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
