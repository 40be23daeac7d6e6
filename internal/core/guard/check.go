package guard

// Checks decide whether text that matches a pattern is a real secret. They are heuristics,
// tuned to stay silent on documentation, tests and references to secrets that are stored
// elsewhere. Real secrets are random; placeholders repeat themselves, spell words or follow
// the keyboard.

import (
	"bytes"
	"encoding/base64"
	"encoding/json"
	"hash/crc32"
	"math"
	"net/url"
	"strings"
)

// isRandom is the default check, for tokens with a known prefix: the rest has to look
// random.
func isRandom(m match) bool { return entropy(m.secret) >= 2.8 && !isPlaceholder(m.secret) }

// entropy returns Shannon's entropy in bits per byte.
func entropy(text []byte) float64 {
	var counts [256]int
	for _, b := range text {
		counts[b]++
	}
	bits := 0.0
	for _, n := range counts {
		if n > 0 {
			p := float64(n) / float64(len(text))
			bits -= p * math.Log2(p)
		}
	}
	return bits
}

// placeholder matches words and repetitions that documentation uses in place of a secret.
var placeholder = lazily(`(?i)example|placeholder|x{5}|\*{3}|\.{3}|0{8}|1{8}|a{8}|change_?-?me|redacted|dummy|insert|replace|your_?-?(?:token|key|api|secret|own|password|pass)`)

// isPlaceholder reports whether the text looks like a placeholder from documentation.
func isPlaceholder(secret []byte) bool { return placeholder().Match(secret) }

// isSequence reports whether the text contains a run along the keyboard or the alphabet.
func isSequence(value []byte) bool { return sequence().Match(value) }

var sequence = lazily(`(?i)12345678|01234567|abcdef[g0]|abcd1234|deadbeef`)

// isGitHubs checks the tokens of GitHub and npm. They end with a checksum: the CRC-32 of
// the rest in six base 62 digits. If it fits, the token is real. If not, it may still be a
// token of another kind with the same prefix, so it is judged like other tokens.
func isGitHubs(m match) bool {
	body := m.secret[len("ghp_"):]
	return base62(crc32.ChecksumIEEE(body[:len(body)-6])) == string(body[len(body)-6:]) || isRandom(m)
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

// isJWT checks a JSON web token: the header has to name an algorithm, and there has to be a
// signature.
func isJWT(m match) bool {
	parts := bytes.Split(m.secret, []byte{'.'})
	header, err := base64.RawURLEncoding.DecodeString(string(parts[0]))
	var says struct {
		Alg string `json:"alg"`
	}
	return err == nil && json.Unmarshal(header, &says) == nil && says.Alg != "" && says.Alg != "none" &&
		entropy(parts[2]) >= 3.5 && !isPlaceholder(parts[2])
}

// isKeyBody checks that enough of a private key follows its header. Programs that parse
// keys contain the headers alone, and documentation shortens the body.
func isKeyBody(m match) bool {
	body := strings.NewReplacer(`\n`, "", `\r`, "", "\n", "", "\r", "", " ", "", "\t", "", `"`, "", "+", "").Replace(string(m.secret))
	return len(body) >= 60 && entropy([]byte(body)) >= 4 && !strings.Contains(body, "AAAAAAAAAAAAAAAA")
}

// isURLPassword checks the password in scheme://user:password@host.
func isURLPassword(m match) bool {
	password := m.secret
	if plain, err := url.PathUnescape(string(password)); err == nil {
		password = []byte(plain)
	}
	return !isLocalOrExample(m.groups[2]) && (isStrong(password) || looksChosen(password))
}

// isLocalOrExample reports whether a host is one that examples use.
func isLocalOrExample(host []byte) bool {
	name := strings.ToLower(string(host))
	return strings.Contains(name, "example") || strings.HasSuffix(name, ".test") || strings.HasSuffix(name, ".invalid") ||
		name == "localhost" || name == "127.0.0.1" || name == "host" || name == "hostname" || name == "server" || name == "foo.com" || name == "bar.com"
}

// looksChosen reports whether a short password could be somebody's: it mixes kinds of
// characters and is none of the words that documentation uses.
func looksChosen(password []byte) bool {
	if len(password) < 6 || isReference(password) || isPlaceholder(password) || isSequence(password) || isStock(password) {
		return false
	}
	return classes(password) >= 2 && (classes(password) >= 3 || entropy(password) >= 2.5)
}

// classes counts the kinds of characters: lower case, upper case, digits, others.
func classes(text []byte) int {
	var has [4]int
	for _, b := range text {
		switch {
		case 'a' <= b && b <= 'z':
			has[0] = 1
		case 'A' <= b && b <= 'Z':
			has[1] = 1
		case '0' <= b && b <= '9':
			has[2] = 1
		default:
			has[3] = 1
		}
	}
	return has[0] + has[1] + has[2] + has[3]
}

// reference matches a value that says where a secret is, or computes it: a variable, a
// template, the output of a command, a call, a verb of a format, a path, a scheme such as
// vault:. It is the whole value, because a strong password may contain any of the signs.
var reference = lazily(`^(?:\$\w+|\$\{[^}]*\}|\$\(.*\)|#\{.*\}|\{\{.*\}\}|\{%.*%\}|<[^<>]*>|<%.*%>|%\([^)]*\)[a-z]|%\w+%|\{\w*\}|\[\w*\]|(?:%[-+#0-9.]*[a-zA-Z]\W*)+` +
	`|[&*!]*[\w.]+[\[({].*[\])}][;,]?|\.{1,2}/.*|(?i:https?|file|env|vault|arn|ssm|op|secret|ref):.*|(?i:process\.env|os\.environ|secrets)\b.*)$`)

// isReference reports whether a value is a reference and no secret itself.
func isReference(value []byte) bool {
	return reference().Match(value) || absolute().Match(value) && !bytes.ContainsAny(value, "0123456789")
}

// absolute matches a path from the root. Random bytes in base64 may look like one, but have
// digits.
var absolute = lazily(`^/[\w.-]+/[\w./-]*$`)

// stockWords are patterns of words that examples and tests use.
const stockWords = "open ?sesame|aladdin|p[a@].{0,4}ss(?:.{0,4}w[o0]rd|wd|phrase|code)?|pwd|pw|s[e3]cr[e3]ts?|tok[e3]ns?|keys?|tests?|testing|demo|sample|fake|mock|stub|foo|bar|baz|qux|guest|admin|root|users?|name|default|" +
	"qwerty|letmein|abc|abcd|hello|world|none|null|undefined|todo|fixme|invalid|valid|my|your|the|this|that|is|an?|some|other|another|random|string|value|private|public|unsafe|insecure|" +
	"wrong|correct|right|bad|good|new|old|super|very|long|short|strong|weak|simple|complex|example|auth|api|access|client|server|app|db|database|postgres|mysql|redis|rabbitmq|mongo|" +
	"bearer|basic|id|data|plain|text|encrypted|hash|hashed|here|for|not|no|real|dev|prod|local|staging|temp|tmp|one|two|three|first|second|github|gitlab|google|aws|azure|oauth|jwt|hmac|session|refresh|signing|encryption|shared|pre|post|service|account|file|path|type"

var stock = lazily(`(?i)^(?:` + stockWords + `|[\d\W_]|.?$)+$`)

// isStock reports whether a value consists of words that examples and tests use, and of
// digits.
func isStock(value []byte) bool { return stock().Match(value) }

// isLongRandom checks the value of a variable with a name such as API_TOKEN.
func isLongRandom(value []byte) bool { return len(value) >= 16 && isStrong(value) }

// isStrong reports whether a value looks as if a program had made it: at random, from one kind of
// characters if it is long.
func isStrong(value []byte) bool {
	if len(value) < 12 || isReference(value) || isPlaceholder(value) || isSequence(value) {
		return false
	}
	if classes(value) == 1 && len(value) < 16 || entropy(value) < 2.2 {
		return false
	}
	// Hexadecimal has six letters, so that its pairs of letters say little.
	if hexadecimal().Match(value) || !measured().Match(value) && !isWordy(value) && !isName(value) && (!hasLetter(value) || !isStock(value)) {
		return true
	}
	// Words may stand before what was made at random, as in django-insecure-.
	word := bytes.IndexAny(value, "-_.:")
	return word > 0 && len(value)-word > 16 && isStrong(value[word+1:])
}

// isName reports whether a value is a name rather than a secret: in one case with separators,
// or of something that holds a secret.
func isName(value []byte) bool {
	digits := 0
	for _, b := range value {
		if '0' <= b && b <= '9' {
			digits++
		}
	}
	return digits < 3 && naming().Match(value)
}

var naming = lazily(`^[a-z]+(?:[._/:-][a-z]+)+$|^[A-Z]+(?:_[A-Z]+)+$|(?i:pass(?:word|wd|phrase)|secret|token|private|credential|api_?key)`)

var hexadecimal = lazily(`^[0-9a-fA-F]+$`)

// measured matches numbers with signs between them: a time, a version, an address.
var measured = lazily(`^[\d.,:/_+-]+$`)

func hasLetter(value []byte) bool {
	return bytes.ContainsFunc(value, func(r rune) bool { return r < 0x80 && isLetter(byte(r)) })
}
