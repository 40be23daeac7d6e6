package guard

import (
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"regexp"
	"slices"
	"strings"
	"sync"
)

// Rule describes one kind of secret. It is tried only where one of its keywords occurs, and its pattern is anchored there. Most files contain no keyword and are passed
// at reading speed.
type Rule struct {
	ID     string
	What   string // follows "looks like", so it has an article
	Source string // where the format is documented
	// Of three bytes at least. One with a capital letter is found as it is spelled, others in any case.
	Keywords []string

	// pattern is matched from the keyword on, or from Back bytes before it. Its first group
	// that matched is the secret. Without groups the whole match is.
	pattern func() *regexp.Regexp
	Back    int
	Reach   int // how many bytes after the keyword the pattern sees. The default is reach
	// Named marks a rule without keywords: of a value that stands beside the name of a secret; see names.go. If one
	// of these words is in the name, or with = all of it, and all of the value matches pattern, the rule is this one.
	Named []string

	Needs string // has signs of which one has to follow the keyword on its line, for keywords that are frequent

	Inside bool // the keyword may be part of a longer word
	Text   bool // not in binary files, where names and values are adjacent by chance
	Guess  bool // marks a rule that goes by a name or a place and not by the secret's own format
	// Firm marks a rule whose match is not a guess, even in a test, if the value looks as if a
	// program had made it.
	Firm  bool
	Check func(match) bool
}

// reach is the default of Rule.Reach in bytes.
const reach = 400

// longestReach is the upper bound of Reach and Back.
const longestReach = 4096

// match is what a pattern matched, for checks that a regular expression cannot express.
type match struct {
	secret []byte
	groups [][]byte // groups of the pattern; groups[0] is the whole match
	before []byte   // what precedes the match on its line
	from   int      // offset of the secret in the text
	prefix int      // length of the keyword; 0 if it is not at the beginning
}

// Rules returns all rules, the specific ones first. Of two that match the same bytes, the
// first is reported.
func Rules() []Rule {
	var all []Rule
	for _, r := range allRules() {
		if !slices.ContainsFunc(all, func(other Rule) bool { return other.ID == r.ID }) {
			all = append(all, r)
		}
	}
	return all
}

// Version identifies the rules. When it changes, objects that an older version has cleared
// are scanned again.
var Version = sync.OnceValue(func() string {
	sum := sha256.Sum256(fmt.Append(nil, revision, lines))
	return hex.EncodeToString(sum[:8])
})

// revision has to be raised when other code decides what is found, because Version sees only the table of rules.
const revision = 4

// table holds the compiled rules and the finder of their keywords, of the names of secrets, and of these names in
// base64.
type table struct {
	rules    []Rule
	named    []int // indexes of the rules with Named
	keywords *finder
	of       []meaning // by the number of a keyword
}

// meaning says what a keyword stands for.
type meaning struct {
	rules   []int
	stem    string // of a name; empty: no name
	encoded bool   // it is base64 of a name
}

// rules builds the table once, when something is scanned for the first time.
var rules = sync.OnceValue(func() *table {
	known := allRules()
	t := &table{rules: make([]Rule, 0, len(known)), of: make([]meaning, 0, 1024)}
	at, all := make(map[string]int, 1024), make([]string, 0, 1024)
	of := func(word string) *meaning {
		k, known := at[word]
		if !known {
			k = len(all)
			at[word] = k
			all, t.of = append(all, word), append(t.of, meaning{})
		}
		return &t.of[k]
	}
	for i, r := range known {
		if r.Named != nil {
			t.named = append(t.named, i)
		}
		t.rules = append(t.rules, r)
		for _, word := range r.Keywords {
			m := of(word)
			m.rules = append(m.rules, i)
		}
	}
	for stem := range stems {
		if word := strings.TrimPrefix(stem, "_"); len(word) > 2 {
			of(word).stem = stem
			continue
		}
		for _, sign := range []string{":", "=", " =", " is"} { // a word for the finder
			of(stem[1:] + sign).stem = stem
		}
	}
	for _, word := range inBase64() {
		of(word).encoded = true
	}
	t.keywords = newFinder(all)
	return t
})

// Prepare builds the table in the background, for a command that may scan something soon.
func Prepare() { go rules() }

// index returns the index of the last rule with an ID.
func (t *table) index(id string) int {
	for i := len(t.rules) - 1; i >= 0; i-- {
		if t.rules[i].ID == id {
			return i
		}
	}
	return -1
}
