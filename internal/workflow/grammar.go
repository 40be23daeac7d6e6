package workflow

import "strings"

// Words with a meaning in definitions.
const (
	stepNumber       = "{N}"
	anyOther         = "*"
	requiresPrevious = "previous"
	followDocument   = "document"
	followState      = "state"
	againHang        = "hang"
	againIterate     = "iterate"
	hangsPhase       = "phase"
	hangsLast        = "last"
	perSession       = "session"
	perPhase         = "phase"
	freshIgnore      = "ignore"
	freshWarn        = "warn"
	freshAsk         = "ask"
	freshRefuse      = "refuse"
)

const letters = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789"

// isWord is the grammar of names in a definition: 1 to 40 letters, digits, "_" and
// "-", the first one a letter or digit. (By hand: patterns cost at every start.)
func isWord(s string) bool {
	return s != "" && len(s) <= 40 && strings.Contains(letters, s[:1]) && only(s, letters+"_-")
}

// isIdentifier is the grammar of names in expressions.
func isIdentifier(s string) bool {
	return len(s) <= 40 && s != "" && strings.Contains(letters[:26], s[:1]) && only(s, letters[:26]+letters[52:]+"_")
}

// isPath is the grammar of paths into a document: up to 20 names with dots
// between; extra are characters that this place allows besides.
func isPath(s, extra string) bool {
	if len(s) > 400 || strings.Count(s, ".") > 19 {
		return false
	}
	for name := range strings.SplitSeq(s, ".") {
		if name == "" || !only(name, letters+"_-"+extra) {
			return false
		}
	}
	return true
}

func only(s, characters string) bool {
	return strings.IndexFunc(s, func(r rune) bool { return !strings.ContainsRune(characters, r) }) < 0
}
