package guard

import (
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"regexp"
	"sync"
)

// Rule says how one kind of secret looks. A rule is tried only where one of its keywords
// stands, in whatever case, and its pattern begins there: most files have no keyword at
// all, and are passed over at the speed of reading them.
type Rule struct {
	ID       string
	What     string // "an AWS access key", to follow "looks like"
	Source   string // who describes the format
	Keywords []string

	// Pattern matches from the keyword on, or from Back bytes before it. Its first group
	// that matched is the secret; without groups all of it is.
	Pattern string
	Back    int
	Reach   int // how far behind the keyword the pattern looks; default: reach

	Start  start
	Within content
	Shape  shape
	Guess  bool             // it goes by a name or a place, not by the secret's own format
	Check  func(match) bool // nil: isRandom
}

// start says what may stand before the keyword.
type start int

const (
	atWord   start = iota // nothing that could belong to the same word
	anywhere              // anything: the keyword is part of a longer name
)

// content says in which files a rule is worth its false alarms.
type content int

const (
	anyContent  content = iota
	textContent         // not in binary files, where names and values stand side by side by chance
)

// shape is what has to follow a keyword before the pattern is worth trying. Names such as
// token stand everywhere, and what is assigned to one hardly anywhere.
type shape int

const (
	anyShape   shape = iota
	assignment       // the rest of a name, then = or what else assigns
)

// reach is how far behind its keyword a rule looks, unless it says otherwise.
const reach = 400

// longestReach bounds Reach and Back, and so what two pieces of a stream have to share.
const longestReach = 4096

// match is what a pattern found, for checks that a regular expression cannot make.
type match struct {
	secret []byte
	groups [][]byte // those of the pattern, [0] being all of it
	before []byte   // what stands before the match on its line
	after  byte     // the byte that follows the secret; 0 at the end
	from   int      // where the secret begins
}

// compiled is a rule whose pattern is compiled when its keyword is first met: a run that
// meets none pays for none.
type compiled struct {
	Rule
	pattern func() *regexp.Regexp
}

// Rules lists all rules, the more specific ones first: of two that match the same bytes
// the first is reported.
func Rules() []Rule {
	var all []Rule
	for _, some := range [][]Rule{cloudRules(), hostRules(), modelRules(), serviceRules(), formatRules()} {
		all = append(all, some...)
	}
	return all
}

// Version changes with the rules. What an older version has cleared is looked at again.
var Version = sync.OnceValue(func() string {
	sum := sha256.New()
	fmt.Fprintln(sum, checks)
	for _, r := range Rules() {
		fmt.Fprintln(sum, r.ID, r.Keywords, r.Pattern, r.Back, r.Reach, r.Start, r.Within, r.Shape)
	}
	return hex.EncodeToString(sum.Sum(nil)[:8])
})

// checks is raised when a check changes that is code, which Version cannot see.
const checks = 1

// table is the rules with the automaton that finds their keywords.
type table struct {
	rules    []compiled
	keywords *automaton
	of       [][]int // keyword to rules
}

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
		t.rules = append(t.rules, compiled{r, sync.OnceValue(func() *regexp.Regexp {
			return regexp.MustCompile(`\A(?:` + r.Pattern + `)`)
		})})
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
