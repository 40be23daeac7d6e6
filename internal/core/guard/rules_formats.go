package guard

import (
	"bytes"
	"encoding/base64"
	"strings"
)

// formatRules recognise a secret by the format that it is stored in, or by the name that it
// is assigned to. They come last, so that a more specific rule wins where both match.
func formatRules() []Rule {
	return []Rule{
		{
			ID: "private-key", What: "a private key", Source: "RFC 7468; OpenSSH, PROTOCOL.key",
			Pattern: `-----BEGIN[A-Z ]{0,20} PRIVATE KEY(?: BLOCK)?-----(?:\s|\\[nr])*(?:[A-Z][A-Za-z-]+: ?[^\n\\]*(?:\s|\\[nr])+){0,4}((?:[A-Za-z0-9+/=]|\s|\\[nr]|")+)`,
			Start:   anywhere, Reach: 4000, Check: isKeyBody,
		},
		{
			ID: "encoded-private-key", What: "a private key in base64", Source: "kubernetes.io, kubeconfig and Secrets of type tls",
			Keywords: []string{"ls0tls1crudjti"},
			Pattern:  `LS0tLS1CRUdJTi[A-Za-z0-9+/]{80,}={0,2}`, Reach: longestReach, Check: isEncodedKey,
		},
		{
			ID: "putty-key", What: "a private key", Source: "PuTTY's manual, appendix C",
			Keywords: []string{"private-lines:"},
			Pattern:  `Private-Lines: \d+\s+([A-Za-z0-9+/=\s]{40,})`, Check: isKeyBody,
		},
		{
			ID: "age-key", What: "an age key", Source: "age-encryption.org/v1",
			Pattern: `AGE-SECRET-KEY-1[QPZRY9X8GF2TVDW0S3JN54KHCE6MUA7L]{58}`,
		},
		{
			ID: "jwt", What: "a signed token (JWT)", Source: "RFC 7519",
			Pattern: `eyJ[\w-]{10,}\.eyJ[\w-]{10,}\.[\w-]{20,}`, Reach: longestReach, Check: isJWT,
		},
		{
			ID: "url-password", What: "a password in an address", Source: "RFC 3986, userinfo",
			Keywords: []string{"://"},
			Pattern:  `://[^\s:/?#\[\]@"'<>\x60\\]{0,64}:([^\s/"\x60\\]{3,})@([\w.-]+)`, Start: anywhere, Within: textContent, Guess: true, Firm: true, Check: isURLPassword,
		},
		{
			ID: "connection-password", What: "a password in a connection string", Source: "learn.microsoft.com, connection string syntax",
			Keywords: []string{";password=", ";pwd=", "; password=", "; pwd=", "&password=", "?password="},
			Pattern:  `(?i)[;&?] ?(?:password|pwd)=([^;&"'\s<>]{6,})`, Start: anywhere, Within: textContent, Guess: true,
			Check: func(m match) bool { return looksChosen(m.secret) },
		},
		{
			ID: "authorization-header", What: "a credential in a header", Source: "RFC 7617, RFC 6750",
			Keywords: []string{"authorization"},
			Pattern:  `(?i)authorization` + assigned + `["'\x60]?(?:Basic +([A-Za-z0-9+/]{12,}={0,2})|(?:Bearer|Token|Bot) +([\w.~+/-]{16,}={0,2}))`,
			Start:    anywhere, Within: textContent, Guess: true, Firm: true,
			Check: func(m match) bool {
				return m.groups[1] != nil && isBasicAuth(m) || m.groups[2] != nil && isLongRandom(m.secret)
			},
		},
		{
			ID: "command-password", What: "a password in a command", Source: "manuals of curl, mysql and sshpass",
			Keywords: []string{"curl ", "mysql", "mariadb", "sshpass "},
			Pattern: `(?i:curl) (?:[^\n|;]{0,200}? )?(?:-u|--user|--proxy-user)[ =]?["']?[^\s:"'$]{1,64}:([^\s"']{6,})|(?i:mysql|mariadb)[\w-]{0,10} (?:[^\n|;]{0,200}? )?-p["']?([^\s"'-][^\s"']{5,})|` +
				`(?i:sshpass) +-p *["']?([^\s"']{6,})`,
			Within: textContent, Guess: true, Check: func(m match) bool { return isStrong(m.secret) || isChosen(m.secret) },
		},
		{
			ID: "pgpass-password", What: "a password in .pgpass", Source: "postgresql.org, the password file",
			Keywords: []string{":5432:", ":*:"},
			Pattern:  `:(?:5432|\*):[^:\s]{1,64}:[^:\s]{1,64}:([^\s]{6,})(?:\r?\n|\z)`, Start: anywhere, Within: textContent, Guess: true,
			Check: func(m match) bool {
				return credentialLine().Match(m.before) && (isStrong(m.secret) || isChosen(m.secret))
			},
		},
		{
			ID: "basic-auth", What: "a password for HTTP", Source: "requests' and axios' documentation, authentication",
			Keywords: []string{"auth=(", "auth = (", "basicauth("},
			Pattern:  `(?i)(?:auth ?= ?|basicauth)\(\s*["'][^"'\s]{1,64}["']\s*,\s*["']([^"'\s]{6,})["']`, Start: anywhere, Within: textContent, Guess: true,
			Check: func(m match) bool { return isStrong(m.secret) || isChosen(m.secret) },
		},
		{
			ID: "netrc-password", What: "a password in .netrc", Source: "GNU inetutils, .netrc",
			Pattern: `machine\s+[\w.-]+\s+login\s+\S+\s+password\s+(\S{3,})`, Within: textContent, Guess: true,
			Check: func(m match) bool { return !isReference(m.secret) && !isPlaceholder(m.secret) && !isStock(m.secret) },
		},
		{
			ID: "named-password", What: "a password", Source: "gitleaks, generic-api-key",
			Keywords: passwordNames(),
			Pattern:  `(?i:password|passwd|passphrase|_pwd|_pass)(?:[_.-]?\w{0,12})?` + assigned + `()`,
			Start:    anywhere, Shape: named, Within: textContent, Guess: true, Check: isNamedPassword,
		},
		{
			ID: "named-secret", What: "a secret", Source: "gitleaks, generic-api-key",
			Keywords: secretNames(),
			Pattern:  `[A-Za-z_-]{5,24}?(?:[_.-]?\w{0,12})?` + assigned + `()`,
			Start:    anywhere, Shape: named, Within: textContent, Guess: true, Check: isNamedSecret,
		},
		{
			ID: "paired-secret", What: "a secret", Source: "kubernetes.io, environment variables",
			Keywords: append(passwordNames(), secretNames()...),
			Pattern:  `[\w.-]{4,60}()`, Start: anywhere, Shape: paired, Within: textContent, Guess: true, Check: isPaired,
		},
	}
}

// passwordNames are parts of names of variables that hold a password.
func passwordNames() []string { return []string{"password", "passwd", "passphrase", "_pwd", "_pass"} }

// secretNames are parts of names of variables that hold another secret.
func secretNames() []string {
	return []string{
		"secret", "token", "api_key", "apikey", "api-key", "access_key", "accesskey", "access-key", "private_key", "privatekey",
		"auth_key", "authkey", "signing_key", "signingkey", "encryption_key", "encryptionkey", "master_key", "masterkey", "credential", "license_key", "account_key", "_salt", "webhook_key",
	}
}

// isBasicAuth decodes the credential and requires user:password with a password that is not an
// example.
func isBasicAuth(m match) bool {
	password := basicPassword(m.secret)
	return len(password) >= 4 && !isStock(password) && !isPlaceholder(password)
}

// basicPassword returns the password in the base64 of user:password, or nil.
func basicPassword(secret []byte) []byte {
	plain, err := base64.RawStdEncoding.DecodeString(strings.TrimRight(string(secret), "="))
	_, password, found := bytes.Cut(plain, []byte{':'})
	if err != nil || !found || !printable(plain) {
		return nil
	}
	return password
}

// isFirm reports whether a program made the password in a header or an address.
func isFirm(secret []byte) bool {
	if password := basicPassword(secret); password != nil {
		secret = password
	}
	return isStrong(secret)
}

func printable(text []byte) bool {
	return !bytes.ContainsFunc(text, func(r rune) bool { return r < ' ' || r > '~' })
}

// isEncodedKey decodes base64 and requires a private key.
func isEncodedKey(m match) bool {
	plain, err := base64.RawStdEncoding.DecodeString(strings.TrimRight(string(m.secret), "="))
	if err != nil { // the end is cut off
		plain, _ = base64.RawStdEncoding.DecodeString(string(m.secret[:len(m.secret)/4*4])) //nolint:errcheck // what was decoded is enough
	}
	_, body, found := bytes.Cut(plain, []byte(" PRIVATE KEY"))
	m.secret = body
	return found && isKeyBody(m)
}

// credentialLine matches what precedes the port in a line of .pgpass.
var credentialLine = lazily(`^(?: *\d+(?:[:|\t]|→)\s*)?[\w.*-]+(?::\*)?$`)

// bare matches what precedes an assignment in configuration files and shells: NAME=value,
// export NAME=value, name: value. In a programming language, a value without quotes is a
// variable.
var bare = lazily(`^(?: *\d+(?:[:|\t│]|→)\s*)?[ \t]*(?:[-+#/>]+ *)?(?:export |set |ENV |ARG |-e |--|<|\$env:)?["']?[\w.-]*$|--[\w-]*$|-D[\w.]*$|<[\w.-]*$|(?:-e|-H|--env|--header|--build-arg)[ =]["']?[\w.-]*$`)

// aside matches names that belong to a secret but hold something else: tokenID,
// PASSWORD_FILE.
var aside = lazily(`^[\w.-]*(?:(?i:[_.-](?:id|ids|at|alg|len|ttl|env|var|ref))|I[Dd]s?|At|TTL|Ref|(?i:names?|files?|paths?|dir|ur[il]s?|endpoint|header|prefix|suffix|types?|expir\w*|length|size|count|algorithm|policy|field|label|manager|provider|stdin))["'\x60\])\\ \t]*[:=,>?]`)

// namesPath matches a member of another variable, which programs assign without quotes.
var namesPath = lazily(`^[&*]*[A-Za-z_]\w*(?:(?:\.|->|::)[A-Za-z_]\w*)+$`)

// isAssigned reports whether a value is assigned to the name of a secret: in quotes, or
// bare in a configuration file.
func isAssigned(m match) bool {
	if m.quote == 0 {
		signed := namesPath().Match(m.secret) || bytes.ContainsAny(m.secret, signs)
		if isComputed(m.secret) || signed && !isStrong(m.secret) || !bare().Match(m.before) {
			return false
		}
	}
	return !aside().Match(m.groups[0])
}

// isComputed reports whether a bare value is a member of a variable without digits, or ends
// with a bracket and all of its brackets match, as calls and literals do.
func isComputed(value []byte) bool {
	value = bytes.TrimRight(value, ",;")
	if namesPath().Match(value) && !bytes.ContainsAny(value, "0123456789") {
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

// isNamedPassword accepts short passwords, since a name such as "password" is specific.
func isNamedPassword(m match) bool {
	return isAssigned(m) && (isStrong(m.secret) || isChosen(m.secret))
}

// isChosen reports whether a value looks like a password that somebody chose, and not like a
// name.
func isChosen(value []byte) bool {
	return looksChosen(value) && !((isWordy(value) || isName(value)) && nameLike().Match(value))
}

// isNamedSecret requires more of a value than isNamedPassword, since names such as "token" are
// common.
func isNamedSecret(m match) bool {
	return isAssigned(m) && (isStrong(m.secret) || len(m.secret) >= 10 && classes(m.secret) >= 3 && looksChosen(m.secret) && !((isWordy(m.secret) || isName(m.secret)) && pathLike().Match(m.secret)))
}

var (
	nameLike = lazily(`^[A-Za-z_.-]+$`)
	pathLike = lazily(`^[\w./\\:,'-]+$`)
)
