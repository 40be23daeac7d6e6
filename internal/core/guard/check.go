package guard

// Checks decide whether text that matches a pattern is a real secret. They are heuristics,
// tuned to stay silent on documentation, tests and references to secrets that are stored
// elsewhere. Real secrets are random; placeholders repeat themselves, spell words or follow
// the keyboard.

import (
	"bytes"
	"encoding/base64"
	"encoding/json"
	"math"
	"net/url"
	"strings"

	"git-checkpoint/internal/sys/gather"
	"git-checkpoint/internal/sys/lazy"
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
var placeholder = lazy.Pattern(`(?i)example|placeholder|x{5}|\*{3}|\.{3}|0{8}|1{8}|a{8}|change_?-?me|redacted|dummy|insert|replace|your_?-?(?:token|key|api|secret|own|password|pass)`)

// isPlaceholder reports whether the text looks like a placeholder from documentation.
func isPlaceholder(secret []byte) bool { return placeholder().Match(secret) }

// isSequence reports whether the text contains a run along the keyboard or the alphabet.
func isSequence(value []byte) bool { return sequence().Match(value) }

var sequence = lazy.Pattern(`(?i)12345678|01234567|abcdef[g0]|abcd1234|deadbeef`)

// isJWT checks a JSON web token: the header has to name an algorithm, and there has to be a
// signature.
func isJWT(m match) bool {
	parts := bytes.Split(m.secret, []byte{'.'})
	header, err := base64.RawURLEncoding.DecodeString(string(parts[0]))
	var says struct {
		Alg string `json:"alg"`
	}
	return !isExample(m.secret) && err == nil && json.Unmarshal(header, &says) == nil && says.Alg != "" && says.Alg != "none" &&
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
	return classes(password) >= 3 || classes(password) == 2 && hasDigit(password) && entropy(password) >= 2.5
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
var reference = lazy.Pattern(`^(?:\$\w+|\$\{[^}]*\}|\$\(.*\)|#\{.*\}|\{\{.*\}\}|\{%.*%\}|<[^<>]*>|<%.*%>|%\([^)]*\)[a-z]|%\w+%|\{\w*\}|\[\w*\]|(?:%[-+#0-9.]*[a-zA-Z]\W*)+` +
	`|[&*!]*[\w.]+[\[({].*[\])}][;,]?|\.{1,2}/.*|(?i:https?|file|env|vault|arn|ssm|op|secret|ref):.*|(?i:process\.env|os\.environ|secrets)\b.*)$`)

// isReference reports whether a value is a reference and no secret itself.
func isReference(value []byte) bool {
	return reference().Match(value) || absolute().Match(value) && !bytes.ContainsAny(value, "0123456789")
}

// absolute matches a path from the root. Random bytes in base64 may look like one, but have
// digits.
var absolute = lazy.Pattern(`^/[\w.-]+/[\w./-]*$`)

// stockWords are patterns of words that examples and tests use.
const stockWords = "open ?sesame|aladdin|p[a@].{0,4}ss(?:.{0,4}w[o0]rd|wd|phrase|code)?|pwd|pw|s[e3]cr[e3]ts?|tok[e3]ns?|keys?|tests?|testing|demo|sample|fake|mock|stub|foo|bar|baz|qux|guest|admin|root|users?|name|default|" +
	"qwerty|letmein|abc|abcd|hello|world|none|null|undefined|todo|fixme|invalid|valid|my|your|the|this|that|is|an?|some|other|another|random|string|value|private|public|unsafe|insecure|" +
	"wrong|correct|right|bad|good|new|old|super|very|long|short|strong|weak|simple|complex|example|auth|api|access|client|server|app|db|database|postgres|mysql|redis|rabbitmq|mongo|" +
	"bearer|basic|id|data|plain|text|encrypted|hash|hashed|here|for|not|no|real|dev|prod|local|staging|temp|tmp|one|two|three|first|second|github|gitlab|google|aws|azure|oauth|jwt|hmac|session|refresh|signing|encryption|shared|pre|post|service|account|file|path|type"

var stock = lazy.Pattern(`(?i)^(?:` + stockWords + `|[\d\W_]|.?$)+$`)

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
func isName(value []byte) bool { return digitsIn(value) < 3 && naming().Match(value) }

var naming = lazy.Pattern(`^[a-z]+(?:[._/:-][a-z]+)+$|^[A-Z]+(?:_[A-Z]+)+$|(?i:pass(?:word|wd|phrase)|secret|token|private|credential|api_?key)`)

var hexadecimal = lazy.Pattern(`^[0-9a-fA-F]+$`)

// measured matches numbers with signs between them: a time, a version, an address.
var measured = lazy.Pattern(`^[\d.,:/_+-]+$|^-?0x[0-9a-fA-F]{1,16}$`)

func hasLetter(value []byte) bool {
	return bytes.ContainsFunc(value, func(r rune) bool { return r < 0x80 && isLetter(byte(r)) })
}

// accepts reports whether a value is the secret of a name. The less ties the two, the more the value itself has to
// prove.
func (n name) accepts(text []byte, v value) bool { //nolint:gocyclo // one question about the text after the other
	held := text[v.from:v.to]
	how := v.tie
	switch {
	case how >= near && (len(held) < 12 || len(held) > 200 || !hasDigit(held)):
		return false
	case n.kind == key && (n.vague || bytes.ContainsAny(held, signs)) || expression().Match(held) || isExample(held) || isMashed(held) || repeats(held):
		return false
	case n.kind == words12:
		return phrase().Match(held)
	case phrase().Match(held):
		return n.kind == password && !isWordy(bytes.ReplaceAll(held, []byte{' '}, nil)) && !isName(held)
	case len(basicPassword(held)) >= 6 && (n.kind != key || v.tie == firm):
		return isBasicAuth(match{secret: held})
	case v.quote == 0:
		signed := namesPath().Match(held) || bytes.ContainsAny(held, signs)
		if isComputed(held) || n.kind != password && isSpelled(held) || signed && (how > firm || !isStrong(held)) {
			return false
		}
		if line := lineBefore(text[:n.from]); how == list || !bare().Match(line) && !login().Match(line) {
			how = max(how, near)
		}
	}
	switch {
	case how >= near:
		return isUnmistakable(held, how) && (n.kind != key || len(held) >= 20) && (!n.vague || how == near)
	case n.kind == key:
		return isLongRandom(held) && len(held) < 200 && (isUnmistakable(held, near) || hexadecimal().Match(held) && len(held)%16 == 0 && len(held) >= 32)
	case isStrong(held):
		return how == firm || v.paired && hasDigit(held) || isUnmistakable(held, near) || classes(held) > 3 && !isSpelled(held)
	case n.vague || how == list && !v.paired:
		return false
	case n.kind == password:
		return isChosen(held)
	}
	return !v.paired && len(held) >= 10 && classes(held) >= 3 && looksChosen(held) && !((isWordy(held) || isName(held)) && pathLike().Match(held))
}

// isUnmistakable reports whether a value is a secret even where little ties it to a name: kinds of characters
// change all the time in it, and not where words begin.
func isUnmistakable(value []byte, how tie) bool { //nolint:gocyclo // one question about the text after the other
	if !hasDigit(value) || !hasLetter(value) || how == loose && bytes.ContainsAny(value, "/:.") || located().Match(value) || !isStrong(value) {
		return false
	}
	if hexadecimal().Match(value) {
		return how == near && len(value) >= 20
	}
	changes, upper, small := 0, false, false
	for i, b := range value {
		if i > 0 && classes(value[i-1:i+1]) > 1 {
			changes++
		}
		upper, small = upper || 'A' <= b && b <= 'Z', small || 'a' <= b && b <= 'z'
	}
	switch {
	case how == loose && len(value) < 16 && digitsIn(value) < 2:
		return false
	case upper && small:
		return !isSpelled(value) && changes*100 > len(value)*map[tie]int{near: 33, loose: 42}[how]
	case bytes.ContainsAny(value, "-_./:"):
		return grouped().Match(value)
	}
	return (how == near || len(value) >= 16) && changes*4 > len(value)
}

// isSpelled reports whether most parts between signs are words or numbers, as in TLS_RSA_WITH_AES_128.
func isSpelled(value []byte) bool {
	parts := bytes.FieldsFunc(value, func(r rune) bool { return r == '_' || r == '-' || r == '.' || r == '/' })
	plain := gather.Count(parts, func(part []byte) bool {
		return classes(part) == 1 && (len(part) > 1 || hasDigit(part)) || part[0] < 'a' && len(part) > 2 && classes(part[1:]) == 1 && !hasDigit(part)
	})
	return len(parts) > 2 && pathLike().Match(value) && plain*3 >= len(parts)*2
}

// grouped matches a UUID.
var grouped = lazy.Pattern(`^` + uuid + `$`)

// repeats reports whether four characters come twice, as they do where somebody types at random.
func repeats(value []byte) bool {
	for i := 4; i < len(value)-3 && len(value) < 60; i++ {
		if bytes.Contains(value[:i], value[i:i+4]) && !hexadecimal().Match(value) && hasLetter(value) && bytes.IndexByte(value, '\\') < 0 {
			return true
		}
	}
	return false
}

// located matches paths, addresses and versions.
var located = lazy.Pattern(`/.*/.*/|^[.~]|://|\d\.\d|@.*\.|\.[a-z]{1,4}$|[|\s]|^sha\d+[-=:]`)

func digitsIn(value []byte) int { return gather.Count(value, isDigit) }

func hasDigit(value []byte) bool { return bytes.ContainsAny(value, "0123456789") }

// phrase matches a secret of several words.
var phrase = lazy.Pattern(`^[a-z]{3,8}(?:[ -][a-z]{3,8}){3,23}$`)

// expression matches a value that is a regular expression.
var expression = lazy.Pattern(`\[(?:\^|[^\]]{0,20}(?:\w-\w|\\))[^\]]{0,30}\][*+?{]|\\[wdsWDSbB][*+?\\(\[)$|]|\(\?[:=!P]|^-?0x[0-9a-fA-F]{1,16}$|\\x[0-9A-Fa-f]{2}.{0,3}\\x`)

// isExample reports whether a value begins as an example of a standard does (RFC 5849, 6749, 6750, 7519, 7617, 7636 and
// the pages of jwt.io), which documents everywhere repeat.
func isExample(value []byte) bool { return known().Match(value) }

var known = lazy.Pattern(`^(?:2YotnFZF|tGzv3JOk|SplxlOBe|czZCaGRS|mF_9\.B5f|h480djs9|ad180jjd|7Fjfp0ZB|gX1fBat3|s6BhdRkq|kd94hf93|pfkkdhi9|nnch734d|hh5s93j4|hdhd0244|dpf43f3p|MTQ0NjJk|IxOGRlYm|j49sk3j2|0685bd91|` +
	`QWxhZGRp|dXNlcjpw|dXNlcm5h|YWxhZGRp|SlAV32hk|dBjftJeZ|E9Melhoa|wJalrXUt|eyJhbGciOiJIUzI1NiIsInR5cCI6IkpXVCJ9\.eyJ(?:zdWIiOiIxMjM0|zb21lIjoi)|Basic QWx)`)

// isMashed reports whether somebody ran over the keyboard: over the row where the fingers rest, or along any row.
func isMashed(value []byte) bool {
	const rows = "qwertyuiop asdfghjkl zxcvbnm lkjhgfdsa poiuytrewq"
	letters, home, pairs := 0, 0, 0
	for i, b := range value {
		if !isLetter(b) {
			continue
		}
		letters++
		if strings.IndexByte("asdfghjkl", lower(b)) >= 0 {
			home++
		}
		if i > 0 && strings.Contains(rows, string([]byte{lower(value[i-1]), lower(b)})) {
			pairs++
		}
	}
	if hexadecimal().Match(value) || bytes.ContainsFunc(value, func(r rune) bool { return r < '0' || r > '9' && r < 'a' || r > 'z' }) {
		return false
	}
	most := 4
	if len(value) >= 16 { // of random letters one in 400 has so many
		most = max(5, len(value)/4)
	}
	return pairs >= most || letters >= 10 && home*4 >= letters*3 || letters >= 16 && home*10 >= letters*7
}
