package workflow

import "strings"

// Words and symbols that have a meaning in definitions. The tags in definition.go have all words.
const (
	stepNumber       = "{N}"
	anyOther         = "*"
	requiresPrevious = "previous"
	followState      = "state"
	againIterate     = "iterate"
	hangsLast        = "last"
	perPhase         = "phase"
	freshWarn        = "warn"
	freshAsk         = "ask"
	freshRefuse      = "refuse"
)

// letters is also indexed by isIdentifier: a-z, then A-Z, then the digits.
const letters = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789"

// isWord reports whether s is a valid name in a definition: 1 to 40 letters, digits, "_" and "-",
// starting with a letter or digit. It is written without regexp, because compiling one would cost
// time at every start of the program.
func isWord(s string) bool {
	return s != "" && len(s) <= 40 && strings.Contains(letters, s[:1]) && hasOnly(s, letters+"_-")
}

// isIdentifier reports whether s is a valid name in an expression: 1 to 40 of a-z, 0-9 and "_",
// starting with a letter. A leading "_" is reserved for the guard.
func isIdentifier(s string) bool {
	return len(s) <= 40 && s != "" && strings.Contains(letters[:26], s[:1]) && hasOnly(s, letters[:26]+letters[52:]+"_")
}

// isPath reports whether s is a path into a document: up to 20 names with dots between them. extra
// has characters that are allowed in names besides the usual ones.
func isPath(s, extra string) bool {
	if len(s) > 400 || strings.Count(s, ".") > 19 {
		return false
	}
	for name := range strings.SplitSeq(s, ".") {
		if name == "" || !hasOnly(name, letters+"_-"+extra) {
			return false
		}
	}
	return true
}

// hasOnly reports whether s consists of the given characters.
func hasOnly(s, characters string) bool {
	return strings.IndexFunc(s, func(r rune) bool { return !strings.ContainsRune(characters, r) }) < 0
}
