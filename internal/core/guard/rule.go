package guard

import (
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"regexp"
	"strings"
	"sync"
)

// Rule describes one kind of secret. It is tried only where one of its keywords occurs, in
// any case, and its pattern is anchored there. Most files contain no keyword and are passed
// at reading speed.
type Rule struct {
	ID string
	// Follows "looks like", so it has an article.
	What   string
	Source string // where the format is documented
	// In lower case; nil: what Pattern begins with, up to its first [ ( \ or dot.
	Keywords []string

	// Pattern is matched from the keyword on, or from Back bytes before it. Its first group
	// that matched is the secret. Without groups the whole match is.
	Pattern string
	Back    int
	// Reach is how many bytes after the keyword the pattern sees. The default is reach.
	Reach int

	Start  start
	Within content
	Shape  shape
	// Guess marks a rule that goes by a name or a place and not by the secret's own format.
	Guess bool
	// Firm marks a rule whose match is not a guess, even in a test, if the value looks as if a
	// program had made it.
	Firm  bool
	Check func(match) bool // nil: isRandom
}

// start says what may precede the keyword.
type start int

const (
	// Nothing that belongs to the same word.
	atWord   start = iota
	anywhere       // anything, as part of a longer name
)

// content says in which files a rule applies, given its false alarms.
type content int

const (
	anyContent  content = iota
	textContent         // not in binary files, where names and values are adjacent by chance
)

// shape says what has to follow the keyword before the pattern is tried. Words such as
// "token" are frequent, while assignments to them are rare.
type shape int

const (
	anyShape   shape = iota
	assignment       // the rest of a name, then an operator that assigns
	// The same, and then a value, which is the secret. It begins where the pattern ends; see
	// valueAt.
	named
	// Nothing, if it is the name of a pair; see pair.go. The secret is the value of the pair.
	paired
)

// reach is the default of Rule.Reach in bytes.
const reach = 400

// longestReach is the upper bound of Reach and Back.
const longestReach = 4096

// match is what a pattern matched, for checks that a regular expression cannot express.
type match struct {
	secret []byte
	// Groups of the pattern; groups[0] is the whole match.
	groups [][]byte
	// What precedes the match on its line.
	before []byte
	// The byte after the secret; 0 at the end.
	after byte
	// The quote before the secret; 0 without.
	quote byte
	from  int // offset of the secret in the text
}

// lazily returns a pattern that is compiled when it is first used. A run of the program uses few of
// them, and compiling all takes noticeable time.
func lazily(pattern string) func() *regexp.Regexp {
	return sync.OnceValue(func() *regexp.Regexp { return regexp.MustCompile(pattern) })
}

// compiled is a rule with its pattern.
type compiled struct {
	Rule
	pattern func() *regexp.Regexp
}

// Rules returns all rules, the specific ones first. Of two that match the same bytes, the
// first is reported.
func Rules() []Rule {
	var all []Rule
	for _, some := range [][]Rule{cloudRules(), hostRules(), modelRules(), serviceRules(), formatRules()} {
		all = append(all, some...)
	}
	for i, r := range all {
		if r.Keywords == nil {
			all[i].Keywords = []string{strings.ToLower(r.Pattern[:strings.IndexAny(r.Pattern, `[(\.`)])}
		}
	}
	return all
}

// Version identifies the rules. When it changes, objects that an older version has cleared
// are scanned again.
var Version = sync.OnceValue(func() string { return versionOf(Rules()) })

func versionOf(rules []Rule) string {
	sum := sha256.New()
	fmt.Fprintln(sum, checks)
	for _, r := range rules {
		fmt.Fprintln(sum, r.ID, r.Keywords, r.Pattern, r.Back, r.Reach, r.Start, r.Within, r.Shape, r.Guess, r.Firm)
	}
	return hex.EncodeToString(sum.Sum(nil)[:8])
}

// checks has to be raised when the code of a check changes, because Version cannot see
// that.
const checks = 2

// table holds the compiled rules and the automaton of their keywords.
type table struct {
	rules    []compiled
	keywords *automaton
	// Indexes of the rules of each keyword.
	of [][]int
}

// rules builds the table once, when something is scanned for the first time.
var rules = sync.OnceValue(func() *table {
	t := &table{}
	at := map[string]int{}
	var words []string
	for i, r := range Rules() {
		if r.Reach == 0 {
			r.Reach = reach
		}
		if r.Check == nil {
			r.Check = isRandom
		}
		// The pattern must match at the keyword, so it is anchored.
		t.rules = append(t.rules, compiled{r, lazily(`\A(?:` + r.Pattern + `)`)})
		for _, word := range r.Keywords {
			k, known := at[word]
			if !known {
				k = len(words)
				at[word] = k
				words, t.of = append(words, word), append(t.of, nil)
			}
			t.of[k] = append(t.of[k], i)
		}
	}
	t.keywords = newAutomaton(words)
	return t
})
