package guard

import (
	"bytes"
	"encoding/base64"

	"git-checkpoint/internal/sys/lazy"
)

// isBasicAuth decodes the credential and requires user:password with a password that is not an
// example.
func isBasicAuth(m match) bool {
	password := basicPassword(m.secret)
	return len(password) >= 4 && !isStock(password) && !isPlaceholder(password)
}

// basicPassword returns the password in the base64 of user:password, or nil.
func basicPassword(secret []byte) []byte {
	plain := fromBase64(secret)
	_, password, _ := bytes.Cut(plain, []byte{':'})
	if !isText(plain) {
		return nil
	}
	return password
}

// fromBase64 decodes a text whose end may be cut off. It returns nil if it is no base64.
func fromBase64(text []byte) []byte {
	text = bytes.TrimRight(text, "=")
	if len(text)%4 == 1 {
		text = text[:len(text)-1]
	}
	plain, err := base64.RawStdEncoding.AppendDecode(nil, text)
	if err != nil {
		return nil
	}
	return plain
}

// isText reports whether a text has no bytes that texts in ASCII lack.
func isText(text []byte) bool {
	return !bytes.ContainsFunc(text, func(r rune) bool { return r < ' ' && r != '\n' && r != '\r' && r != '\t' || r > '~' })
}

// isFirm reports whether a program made the password in a header or an address.
func isFirm(secret []byte) bool {
	if password := basicPassword(secret); password != nil {
		secret = password
	}
	return isStrong(secret)
}

// isPassword reports whether a value that stands where a password does is one.
func isPassword(m match) bool { return isStrong(m.secret) || isChosen(m.secret) }

// isEncodedKey decodes base64 and requires a private key.
func isEncodedKey(m match) bool {
	plain := fromBase64(m.secret)
	_, body, found := bytes.Cut(plain, []byte(" PRIVATE KEY"))
	m.secret = body
	return found && isKeyBody(m)
}

// bare matches what precedes an assignment in configuration files and shells: NAME=value,
// export NAME=value, name: value. In a programming language, a value without quotes is a
// variable.
var bare = lazy.Pattern(`^(?: *\d+(?:[:|\t│]|→)\s*)?[ \t]*(?:[-+#/>]+ *)?(?:export |set |ENV |ARG |-e |--|<|\$env:)?["']?[\w.-]*$|--[\w-]*$|-D[\w.]*$|<[\w.-]*$|(?:-e|-H|--env|--header|--build-arg)[ =]["']?[\w.-]*$`)

// namesPath matches a member of another variable, which programs assign without quotes.
var namesPath = lazy.Pattern(`^[&*]*[A-Za-z_]\w*(?:(?:\.|->|::)[A-Za-z_]\w*)+$`)

// isComputed reports whether a bare value is a member of a variable without digits, or ends
// with a bracket and all of its brackets match, as calls and literals do.
func isComputed(value []byte) bool {
	value = bytes.TrimRight(value, ",;")
	if bytes.HasPrefix(value, []byte("(*")) || namesPath().Match(value) && !bytes.ContainsAny(value, "0123456789") {
		return true
	}
	var open []byte
	for _, b := range value {
		switch b {
		case '(', '[', '{':
			open = append(open, b)
		case ')', ']', '}':
			if len(open) == 0 || open[len(open)-1]/16 != b/16 { // the brackets of a kind are neighbors in ASCII
				return false
			}
			open = open[:len(open)-1]
		}
	}
	return len(open) == 0 && len(value) > 0 && bytes.IndexByte([]byte(")]}"), value[len(value)-1]) >= 0 ||
		len(open) == 1 && len(value) > 0 && value[len(value)-1] == '{'
}

// signs are characters of programs, which in a bare value say that it is computed.
const signs = "\"'`,;(){}<>[]\\"

// isChosen reports whether a value looks like a password that somebody chose, and not like a
// name.
func isChosen(value []byte) bool {
	return looksChosen(value) && !((isWordy(value) || isName(value)) && nameLike().Match(value))
}

var (
	nameLike = lazy.Pattern(`^[A-Za-z_.-]+$`)
	pathLike = lazy.Pattern(`^[\w./\\:,'-]+$`)
)
