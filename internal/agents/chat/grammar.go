package chat

import (
	_ "embed"
	"encoding/json"
	"slices"
	"strings"
	"sync"
	"unicode/utf8"

	"git-checkpoint/internal/format/name"
	"git-checkpoint/internal/sys/lazy"
)

//go:embed chat.json
var table []byte

// form is a row of chat.json: what is typed, and the command line that it stands for.
type form struct {
	Words []string `json:"words"` // what it begins with
	Least int      `json:"least"` // how many checkpoints follow
	Most  int      `json:"most"`
	Refs  []string `json:"refs"`  // the checkpoints that are meant if they are left out
	Text  bool     `json:"text"`  // words of the person's own may follow
	Flags []string `json:"flags"` // of the command line, which may be typed here, too

	Line []string `json:"line"` // the arguments; {a}, {b} and {words} are what was typed
	Does string   `json:"does"` // what is no command line, or more than one

	Means  []string `json:"means"`  // other command lines that answers name, and that it stands for
	Quotes bool     `json:"quotes"` // the answer quotes messages, in which a command line is somebody's text
	Next   string   `json:"next"`   // what may be typed after it
	Broken string   `json:"broken"` // what an exit code without an error means
}

// forms returns the table.
var forms = sync.OnceValue(func() (all []form) {
	if err := json.Unmarshal(table, &all); err != nil {
		panic(err) //nolint:forbidigo // it is embedded, and a test reads it
	}
	return all
})

// command is a command that was typed. All of it is data: a checkpoint has the form of chatRef, after a
// session and a colon if it is another one's, and a flag is one of the form's.
type command struct {
	form
	refs, flags []string
	words       string // free text; the whole line of a command that was mistyped
	meant       string // what a mistyped one probably is
}

// IsCommand reports whether a prompt is one of our commands, also a mistyped one.
func IsCommand(prompt string) bool {
	_, ours := parse(prompt)
	return ours
}

// parse reads a prompt that is one of our commands: a single line that begins with its words. A line that
// begins with nearly such a word, and is too short for a sentence, is a command that was mistyped.
func parse(prompt string) (c command, ours bool) {
	const longestLine = 4000 // bounds what is searched for a command, in bytes
	line := strings.TrimSpace(prompt)
	if line == "" || line[0] != '*' && line[0] != '/' || len(line) > longestLine || strings.ContainsAny(line, "\r\n") || !utf8.ValidString(line) {
		return c, false
	}
	for _, f := range forms() {
		for _, words := range f.Words {
			if c, ours := f.read(line, words); ours {
				return c, true
			}
		}
	}
	return mistyped(line)
}

// chatRef is what may stand for a checkpoint in a chat: a number, a label, an id of ours or of a
// system that checkpoints were imported from, @ and @~2, or latest. It has no colon: a session
// before it is parsed separately.
var chatRef = lazy.Pattern(`^(?:\d{1,9}(?:[.+][A-Za-z0-9_-]{1,40})?|(?:cp|CP|checkpoint|PRD|orchestrate|implement|test-all)[-_][A-Za-z0-9._+-]{1,120}|@(?:~\d{0,9})?|latest)$`)

// separators are what may stand between checkpoints.
const separators = " \t:"

// nextWord returns the first word of a text, and what follows it.
func nextWord(text string) (word, after string) {
	text = strings.TrimLeft(text, separators)
	if end := strings.IndexAny(text, separators); end >= 0 {
		return text[:end], text[end:]
	}
	return text, ""
}

// nextRef returns the checkpoint with which a text begins, and what follows it; "" if it is none.
func nextRef(text string) (ref, after string) {
	ref, after = nextWord(text)
	if chatRef().MatchString(ref) {
		return ref, after
	}
	session, err := name.ParseSession(ref)
	if ref, after = nextWord(after); err != nil || !chatRef().MatchString(ref) {
		return "", text
	}
	return string(session) + ":" + ref, after
}

// nextRefs returns the checkpoints with which a text begins, and what follows them.
func nextRefs(text string, most int) (refs []string, after string) {
	for len(refs) < most {
		ref, after := nextRef(text)
		if ref == "" {
			break
		}
		refs, text = append(refs, ref), after
	}
	return refs, text
}

// read reads a line as this form. Free text after a checkpoint counts only where a colon follows the
// words, because anything else may be prose.
func (f form) read(line, words string) (c command, ours bool) {
	c.form = f
	if len(line) < len(words) || !strings.EqualFold(line[:len(words)], words) {
		return c, false
	}
	rest := line[len(words):]
	if rest != "" && !strings.ContainsAny(rest[:1], separators) || rest != "" && words[0] == '/' && rest[0] == ':' {
		return c, false
	}
	colon := strings.HasPrefix(rest, ":") || words[0] == '/'
	c.refs, rest = nextRefs(rest, f.Most)
	for len(f.Flags) > 0 {
		flag, after, _ := strings.Cut(strings.TrimLeft(rest, " \t"), " ")
		if !slices.Contains(f.Flags, flag) {
			break
		}
		c.flags, rest = append(c.flags, flag), after
	}
	c.words = strings.TrimSpace(rest)
	blank := strings.TrimLeft(rest, " \t") != rest
	return c, len(c.refs) >= f.Least && (strings.Trim(rest, separators) == "" ||
		f.Text && colon && (blank || len(c.flags) > 0) && (f.Least == 0 || !unknownFlag().MatchString(c.words)))
}

// unknownFlag matches what looks like a flag, or ends the flags before paths, and is no reason that a person gives.
var unknownFlag = lazy.Pattern(`^(--?[A-Za-z]|--(\s|$))`)

// args returns the arguments of the command line. An argument whose slot is empty is left out.
func (c command) args() (args []string) {
	slots := map[string]string{"{a}": "", "{b}": "", "{words}": c.words}
	for i, ref := range slices.Concat(c.refs, c.Refs[min(len(c.refs), len(c.Refs)):]) {
		slots["{"+"ab"[i:i+1]+"}"] = ref
	}
	for _, arg := range c.Line {
		before, slot, _ := strings.Cut(arg, "{")
		switch value, filled := slots["{"+slot]; {
		case !filled:
			args = append(args, arg)
		case value != "":
			args = append(args, before+value)
		case before == "--reason=":
			args = append(args, defaultReason)
		}
	}
	return append(args, c.flags...)
}

const defaultReason = "--reason=asked for in the chat"

// typed returns how a command is typed.
func (f form) typed(refs, flags []string) string {
	return strings.Join(append([]string{strings.Join(append([]string{f.Words[0]}, refs...), ":")}, flags...), " ")
}

// isProse reports whether what follows a word makes the line a sentence. *rollback:1; and so on is none.
func isProse(rest string, exact bool) bool {
	const mostWordsAfter = 2 // how many words a line may have after one that is right. More are a sentence
	if exact && len(rest) > 1 && rest[0] == ':' && strings.Contains("0123456789@", rest[1:2]) {
		return false
	}
	return strings.Contains(rest, "*") || strings.HasPrefix(rest, "_") || len(strings.Fields(strings.TrimLeft(rest, ":"))) > mostWordsAfter
}

// mistyped returns the command for a line whose word is that of one of ours, or nearly so, but which is
// none of them.
func mistyped(line string) (c command, ours bool) {
	const lettersPerWrong = 4 // how many letters there are for each that may be wrong
	rest := strings.TrimLeft(line[1:], "-abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ")
	word := strings.ToLower(strings.TrimSuffix(line, rest))
	if line[0] != '*' || len(word) < 2 {
		return c, false
	}
	best := len(line)
	for _, f := range forms() {
		for _, words := range f.Words {
			if d := name.Distance(word, words); words[0] == '*' && d <= len(words)/lettersPerWrong && d < best {
				best, c.form = d, f
				c.Words = []string{words}
			}
		}
	}
	refs, after := nextRefs(rest, len(rest))
	if len(c.Words) == 0 || isProse(rest, best == 0) || best > 0 && strings.Trim(after, separators) != "" && len(refs) == 0 {
		return c, false
	}
	for len(refs) < c.Least {
		refs = append(refs, "N")
	}
	c.Does, c.words, c.meant = "mistyped", line, c.typed(refs[:min(len(refs), c.Most)], nil)
	return c, true
}
