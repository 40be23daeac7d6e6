package guard_test

import (
	"encoding/json"
	"fmt"
	"math/rand"
	"net/url"
	"strings"
	"testing"
	"unicode"
)

// alphabets are what programs that make passwords and keys choose from.
var alphabets = []struct {
	name, letters string
	shortest      int
}{
	{"hexadecimal", "0123456789abcdef", 12},
	{"lower case and digits", "abcdefghijklmnopqrstuvwxyz0123456789", 12},
	{"upper case and digits", "ABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789", 12},
	{"letters", "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ", 12},
	{"letters and digits", "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789", 12},
	{"base 58", "123456789ABCDEFGHJKLMNPQRSTUVWXYZabcdefghijkmnopqrstuvwxyz", 12},
	{"base64", "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789+/", 12},
	{"base64 for addresses", "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789-_", 12},
	{"lower case and symbols", "abcdefghijklmnopqrstuvwxyz!@#$%^&*", 12},
	{"digits and symbols", "0123456789!@#$%^&*-_+=", 12},
	{"unreserved in addresses", "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789-._~", 12},
	{"the number row", "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789!@#$%^&*()", 12},
	{"Django", "abcdefghijklmnopqrstuvwxyz0123456789!@#$%^&*(-_=+)", 12},
	{"all that can be printed", printed(), 12},
	{"lower case", "abcdefghijklmnopqrstuvwxyz", 16},
	{"upper case", "ABCDEFGHIJKLMNOPQRSTUVWXYZ", 16},
	{"base 32", "ABCDEFGHIJKLMNOPQRSTUVWXYZ234567", 16},
	{"base 32 in lower case", "abcdefghijklmnopqrstuvwxyz234567", 16},
	{"digits", "0123456789", 16},
}

func printed() (all string) {
	for c := '!'; c <= '~'; c++ {
		all += string(c)
	}
	return all
}

// asString escapes what ends a string, and the escape itself.
func asString(quote string) func(string) string {
	return func(value string) string {
		return quote + strings.NewReplacer(`\`, `\\`, quote, `\`+quote).Replace(value) + quote
	}
}

// contexts are places in which people and programs keep a secret.
var contexts = []struct {
	name, form string
	write      func(string) string
}{
	{".env", "A=b\nDB_PASSWORD=%s\nC=d\n", nil},
	{"export", "export API_TOKEN=%s\n", nil},
	{"double quotes", "DB_PASSWORD=%s\n", asString(`"`)},
	{"single quotes", "DB_PASSWORD=%s\n", asString(`'`)},
	{"a constant", "const dbPassword = %s;\n", asString(`"`)},
	{"YAML", "db:\n  user: app\n  password: %s\n  port: 1\n", nil},
	{"YAML in quotes", "  - password: %s # of the server\n", asString(`"`)},
	{"JSON", `{"user": "app", "password": %s, "port": 1}`, marshaled},
	{"Django", "DEBUG = False\nSECRET_KEY = %s\n", asString(`'`)},
	{"an address", "DATABASE_URL=postgres://app:%s@db.acme.dev:5432/app\n", nil},
	{"an escaped address", "see https://ci:%s@git.acme.dev/x.git", url.QueryEscape},
}

func marshaled(value string) string {
	out, err := json.Marshal(value)
	if err != nil {
		panic(err)
	}
	return string(out)
}

// kinds counts the kinds of characters of a value.
func kinds(value string) int {
	var has [4]int
	for _, c := range value {
		switch {
		case unicode.IsLower(c):
			has[0] = 1
		case unicode.IsUpper(c):
			has[1] = 1
		case unicode.IsDigit(c):
			has[2] = 1
		default:
			has[3] = 1
		}
	}
	return has[0] + has[1] + has[2] + has[3]
}

// Of random values, at least 99 in 100 are found: of 12 characters and more with two kinds
// of characters, and of 16 characters and more with one kind.
func TestStrongValues(t *testing.T) {
	tries := 1000
	if testing.Short() {
		tries = 100
	}
	for _, context := range contexts {
		for _, from := range alphabets {
			r := rand.New(rand.NewSource(1))
			found := 0
			var missed []string
			for range tries {
				value := strong(r, from.letters, from.shortest)
				// A slash ends the part of an address in which a password stands.
				if context.name == "an address" {
					value = strings.NewReplacer("/", "+", `\`, "+", `"`, "+", "`", "+").Replace(value)
				}
				written := value
				if context.write != nil {
					written = context.write(value)
				}
				text := fmt.Sprintf(context.form, written)
				if len(scanner().Bytes([]byte(text)).Findings) > 0 {
					found++
				} else {
					missed = append(missed, value)
				}
			}
			least := 99 // in a hundred
			// A value that begins with > or | or a quote, or ends with {, may be a part of a program, digits between symbols
			// a calculation, and a bare value ends at what a string of a program has escaped.
			switch context.name + ", " + from.name {
			case ".env, all that can be printed", "export, all that can be printed":
				least = 97
			case "YAML, all that can be printed", "an address, digits and symbols":
				least = 98
			}
			if found*100 < tries*least {
				t.Errorf("%s, %s: found %d of %d, and not %q", context.name, from.name, found, tries, missed[:min(len(missed), 12)])
			}
		}
	}
}

// strong returns a random value of up to 40 characters with two kinds of characters, where
// the alphabet has two.
func strong(r *rand.Rand, letters string, shortest int) string {
	for {
		value := make([]byte, shortest+r.Intn(3)*(40-shortest)/2)
		for i := range value {
			value[i] = letters[r.Intn(len(letters))]
		}
		if kinds(string(value)) >= min(2, kinds(letters)) || len(value) >= 16 {
			return string(value)
		}
	}
}
