package chat

import (
	"regexp"
	"slices"
	"strings"
	"sync"

	"git-checkpoint/internal/format/name"
)

// starred is a line that begins with "*" and a word, as a person typed it.
type starred struct {
	line string
	word string   // in small letters
	refs []string // checkpoints, which may be named with their session
	bad  bool     // something else follows the word

	// Only if bad: the checkpoints before what is not one, and what follows the first n of them.
	found, rests []string
}

// starPattern matches the star, the word, and what follows after blanks or a colon.
var starPattern = sync.OnceValue(func() *regexp.Regexp {
	return regexp.MustCompile(`^\*([A-Za-z][A-Za-z-]*)(?:[ \t:]+(.*))?$`)
})

// readStarred reads a line that begins with "*" and a word. Colons and blanks separate what follows.
// A word that ends in "*" or "_" is emphasised text.
func readStarred(line string) (t starred, ok bool) {
	m := starPattern().FindStringSubmatch(line)
	if m == nil {
		end := strings.IndexFunc(line[min(1, len(line)):], func(r rune) bool { return r != '-' && (r < 'A' || r > 'Z') && (r < 'a' || r > 'z') }) + 1
		if !strings.HasPrefix(line, "*") || end < 2 || strings.ContainsAny(line[end:], "*_") {
			return t, false
		}
		return starred{line: line, word: strings.ToLower(line[1:end]), bad: true}, true
	}
	t = starred{line: line, word: strings.ToLower(m[1])}
	rest := m[2]
	var refs []string
	for strings.Trim(rest, separators) != "" {
		t.rests = append(t.rests, rest)
		ref, after := nextWord(rest)
		if !chatRef().MatchString(ref) {
			session, err := name.ParseSession(ref)
			if ref, after = nextWord(after); err != nil || !chatRef().MatchString(ref) {
				t.found, t.bad = refs, true
				return t, true
			}
			ref = string(session) + ":" + ref
		}
		refs, rest = append(refs, ref), after
	}
	t.refs = refs
	return t, true
}

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

// command returns the command that was typed, if there is one of this name that takes as many
// checkpoints.
func (t starred) command(forms []chatForm) (Command, bool) {
	refs, words := t.refs, ""
	at := slices.IndexFunc(forms, func(f chatForm) bool {
		word, slots := f.starred()
		if word != t.word || f.takesWords() != t.bad {
			return false
		}
		if !t.bad {
			return slots == len(t.refs)
		}
		// Words come after a blank, and only in the form with a colon: the others may be prose.
		if slots > len(t.found) || !strings.HasPrefix(t.line[1+len(t.word):], ":") || strings.TrimLeft(t.rests[slots], " \t") == t.rests[slots] {
			return false
		}
		refs, words = t.found[:slots], strings.TrimSpace(t.rests[slots])
		return words != ""
	})
	if at < 0 {
		return Command{}, false
	}
	c := forms[at].Command
	c.Words = words
	for i, ref := range refs {
		if i == 0 {
			c.A = ref
		} else {
			c.B = ref
		}
	}
	return c, true
}

// starred returns the word of a form that begins with "*", and how many checkpoints it takes.
func (f chatForm) starred() (word string, slots int) {
	word, is := strings.CutPrefix(f.Says, "*")
	if !is {
		return "", 0
	}
	word, _, _ = strings.Cut(word, ":")
	slots = strings.Count(f.Says, "{")
	if f.takesWords() {
		slots--
	}
	return word, slots
}

// takesWords reports whether a form ends in free text.
func (f chatForm) takesWords() bool { return strings.HasSuffix(f.Says, "{words}") }

// Limits on how many letters of a word may be wrong: nothing short is near to a word of three letters.
const (
	mostWrong      = 2
	mostWrongShort = 1
)

// mistyped returns the command for a line whose word is that of one of ours, or nearly so, but which is
// none of them: an answer with the right form.
func (t starred) mistyped(forms []chatForm) (Command, bool) {
	best, nearest := mostWrong+1, ""
	for _, f := range forms {
		word, _ := f.starred()
		d, most := name.Distance(t.word, word), mostWrong
		if len(word) <= 3 {
			most = mostWrongShort
		}
		if word != "" && d <= most && d < best {
			best, nearest = d, word
		}
	}
	return Command{Does: "mistyped", Words: t.line, A: t.right(forms, nearest)}, nearest != ""
}

// right returns what the person probably meant by a word, as it is typed.
func (t starred) right(forms []chatForm, word string) string {
	meant := ""
	for _, f := range forms {
		if of, slots := f.starred(); of == word && !f.takesWords() && (meant == "" || slots == len(t.refs)) {
			meant = f.Says
		}
	}
	for i, slot := range []string{"{a}", "{b}"} {
		ref := "N"
		if i < len(t.refs) {
			ref = t.refs[i]
		}
		meant = strings.ReplaceAll(meant, slot, ref)
	}
	if len(t.refs) == 1 && (word == "undo" || word == "redo") { // they take no checkpoint
		meant += " or *rollback:" + t.refs[0]
	}
	return meant
}
