package guard

import (
	_ "embed" // for the table
	"hash/crc32"
	"regexp"
	"strconv"
	"strings"
)

// A format is what a service gives its tokens, so that they are known wherever they stand: a beginning, or a few of
// them, and a pattern of the rest, which says the alphabet and the length. formats.txt has a line for each service. A
// short beginning also occurs in ordinary text, so that such tokens have to look as if they were made at random; see
// isToken.

//go:embed formats.txt
var formats string

// tokenRules returns the rules of formats.txt.
func tokenRules() []Rule {
	all := make([]Rule, 0, 256) // with room for those in code
	parts := strings.NewReplacer("{uuid}", uuid, "{hex}", "[0-9a-f]", "{an}", "[A-Za-z0-9]")
	for line := range strings.Lines(formats) {
		fields := strings.Split(strings.TrimSuffix(line, "\n"), "\t")
		if line[0] == '#' || len(fields) < 5 {
			continue
		}
		r := Rule{ID: fields[0], What: fields[1], Source: fields[2], Check: isToken}
		whole := false // the pattern has the fixed part, too
		for flag := range strings.SplitSeq(fields[3], ",") {
			name, number, _ := strings.Cut(flag, "=")
			n, _ := strconv.Atoi(number) //nolint:errcheck // the table is ours
			switch name {
			case "back": // the fixed part comes after so many bytes
				r.Back, whole = n, true
			case "reach":
				r.Reach = n
			case "inside":
				r.Start = anywhere
			case "random", "mixed", "crc":
				r.Check = map[string]func(match) bool{"random": isRandom, "mixed": isMixed, "crc": isGitHubs}[name]
			}
		}
		var patterns []string
		for _, form := range fields[4:] {
			starts, rest, _ := strings.Cut(form, " ")
			r.Keywords = append(r.Keywords, strings.Split(starts, "|")...)
			rest = parts.Replace(rest)
			if !whole {
				rest = "(?:" + strings.ReplaceAll(regexp.QuoteMeta(starts), `\|`, "|") + ")" + rest
			}
			patterns = append(patterns, rest)
		}
		r.Pattern = strings.Join(patterns, "|")
		all = append(all, r)
	}
	return all
}

// Parts of patterns.
const uuid = `[0-9a-fA-F]{8}-[0-9a-fA-F]{4}-[0-9a-fA-F]{4}-[0-9a-fA-F]{4}-[0-9a-fA-F]{12}`

// sure is the length of a prefix that no ordinary text has, in bytes.
const sure = 5

// isToken checks what follows the prefix of a token.
func isToken(m match) bool {
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
