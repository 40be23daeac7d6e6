package guard

import (
	_ "embed" // for the table
	"hash/crc32"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"sync"

	"git-checkpoint/internal/sys/lazy"
)

// A format is what a service gives its tokens, so that they are known wherever they stand: a beginning, or a few of
// them, and a pattern of the rest, which says the alphabet and the length. rules.txt has a line for each service. A
// short beginning also occurs in ordinary text, so that such tokens have to look as if they were made at random; see
// isToken. Other lines are of secrets that are known by the place where they stand.

//go:embed rules.txt
var lines string

// checksOf has the checks by their names in rules.txt. Without one, a rule has isToken.
var checksOf = map[string]func(match) bool{
	"random": isRandom, "mixed": isMixed, "crc": isGitHubs, "key": isKeyBody, "encoded": isEncodedKey, "jwt": isJWT, "basic": isBasicAuth,
	"url": isURLPassword, "password": isPassword,
	"shuffled": func(m match) bool { return isUnmistakable(m.secret, near) },
	"account":  func(m match) bool { return isStrong(m.secret) && hasDigit(m.secret) && !isLocalOrExample(m.groups[2]) },
	"pgpass":   func(m match) bool { return credentialLine().Match(m.before) && isPassword(m) },
	"registry": func(m match) bool { return isLongRandom(m.secret) || isBasicAuth(m) },
}

// credentialLine matches what precedes the port in a line of .pgpass.
var credentialLine = lazy.Pattern(`^(?: *\d+(?:[:|\t]|→)\s*)?[\w.*-]+(?::\*)?$`)

// allRules returns the rules of rules.txt. Some have the same ID: it is one kind of secret that is written in several ways.
func allRules() []Rule {
	all := make([]Rule, 0, 256)
	for line := range strings.Lines(lines) {
		if line[0] != '#' {
			all = append(all, ruleOf(strings.Split(strings.TrimSuffix(line, "\n"), "\t")))
		}
	}
	return all
}

// ruleOf returns the rule of a line. Its flags are those of Rule, the name of a check, and
//
//	whole    the pattern has the fixed part, too; so it is with back=
//	named    the beginnings are words of a name
//	command  the beginnings are programs, and a password follows the pattern
func ruleOf(fields []string) Rule {
	flags := strings.Fields(fields[3])
	has := func(flag string) bool { return slices.Contains(flags, flag) }
	named, command, whole := has("named"), has("command"), has("whole")
	r := Rule{
		ID: fields[0], What: fields[1], Source: fields[2], Reach: reach, Check: isToken,
		Inside: has("inside"), Text: has("text") || command, Guess: has("guess") || command, Firm: has("firm"),
	}
	for _, flag := range flags {
		name, value, _ := strings.Cut(flag, "=")
		n, _ := strconv.Atoi(value) //nolint:errcheck // the table is ours
		switch check := checksOf[name]; {
		case name == "back":
			r.Back, whole = n, true
		case name == "reach":
			r.Reach = n
		case name == "needs":
			r.Needs = value
		case check != nil:
			r.Check = check
		}
	}
	forms := fields[4:]
	for _, form := range forms {
		starts, _, _ := strings.Cut(form, " ")
		words := strings.Split(parts.Replace(starts), "|")
		switch {
		case command:
			for _, program := range words {
				r.Keywords = append(r.Keywords, program+" ", program+".exe ")
			}
		case named:
			r.Named = words
		default:
			r.Keywords = append(r.Keywords, words...)
		}
	}
	// The pattern must match at the keyword, so it is anchored, and that of a value all of it. Few are used in one run.
	r.pattern = sync.OnceValue(func() *regexp.Regexp {
		patterns, end := make([]string, 0, len(forms)), ""
		for _, form := range forms {
			starts, rest, _ := strings.Cut(form, " ")
			start := strings.ReplaceAll(regexp.QuoteMeta(starts), `\|`, "|")
			rest = parts.Replace(rest)
			switch {
			case command:
				rest = `(?i:` + start + `)(?:\.exe)? ` + rest + `["']?([^\s"'$<{%-][^\s"']{5,})`
			case named:
				end = `\z`
			case !whole:
				rest = "(?:" + start + ")" + rest
			}
			patterns = append(patterns, rest)
		}
		return regexp.MustCompile(`\A(?:` + strings.Join(patterns, "|") + `)` + end)
	})
	return r
}

// parts are what patterns share.
var parts = strings.NewReplacer("{uuid}", uuid, "{hex}", "[0-9a-f]", "{an}", "[A-Za-z0-9]", "{args}", `(?:[^\n|;]{0,200}? )?`, "{sp}", " ")

const uuid = `[0-9a-fA-F]{8}-[0-9a-fA-F]{4}-[0-9a-fA-F]{4}-[0-9a-fA-F]{4}-[0-9a-fA-F]{12}`

// isToken checks what follows the prefix of a token.
func isToken(m match) bool {
	const sure = 5 // the length of a prefix that no ordinary text has, in bytes
	body := m.secret[min(m.prefix, len(m.secret)-1):]
	if entropy(body) < 2.8 || isPlaceholder(m.secret) {
		return false
	}
	return m.prefix >= sure || isShuffled(body)
}

// isMixed checks tokens whose beginning is short: they have small and capital letters and digits.
func isMixed(m match) bool {
	body := m.secret[min(m.prefix, len(m.secret)-1):]
	return classes(body) >= 3 && entropy(body) >= 2.8 && !isPlaceholder(body) && !isWordy(body)
}

// isShuffled reports whether a text after a short prefix is no word, and no words with signs between them.
func isShuffled(body []byte) bool {
	digits := digitsIn(body)
	return len(body) > 27 && digits > 1 || !isWordy(body) && !isName(body) && (digits > 0 || len(body) >= 20 || classes(body) > 2)
}

// isGitHubs checks the tokens of GitHub and npm. They end with a checksum: the CRC-32 of
// the rest in six base 62 digits. If it fits, the token is real. If not, it may still be a
// token of another kind with the same prefix, so it is judged like other tokens.
func isGitHubs(m match) bool {
	body := m.secret[len("ghp_"):]
	return base62(crc32.ChecksumIEEE(body[:len(body)-6])) == string(body[len(body)-6:]) || isToken(m)
}

// base62 encodes a number in six digits, in GitHub's order of digits.
func base62(n uint32) string {
	const digits = "0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz"
	out := [6]byte{}
	for i := len(out) - 1; i >= 0; i-- {
		out[i] = digits[n%62]
		n /= 62
	}
	return string(out[:])
}
