package guard_test

import (
	"bytes"
	"encoding/json"
	"fmt"
	"math/rand"
	"slices"
	"strings"
	"testing"
	"unicode/utf16"

	"git-checkpoint/internal/core/guard"
)

// encodings are ways in which programs write a string of JSON.
var encodings = map[string]func(string) string{
	"Go": marshaled,
	"plain": func(text string) string {
		var out bytes.Buffer
		to := json.NewEncoder(&out)
		to.SetEscapeHTML(false)
		if err := to.Encode(text); err != nil {
			panic(err)
		}
		return strings.TrimSpace(out.String())
	},
	"PHP": func(text string) string { return strings.ReplaceAll(marshaled(text), "/", `\/`) },
	"every letter": func(text string) string {
		var out strings.Builder
		for _, unit := range utf16.Encode([]rune(text)) {
			fmt.Fprintf(&out, `\u%04X`, unit)
		}
		return `"` + out.String() + `"`
	},
}

// numbered returns a text as tools print it that read files.
func numbered(form string) func(string) string {
	return func(text string) string {
		lines := strings.SplitAfter(strings.TrimSuffix(text, "\n"), "\n")
		for i, line := range lines {
			lines[i] = fmt.Sprintf(form, i+1) + line
		}
		return strings.Join(lines, "") + "\n"
	}
}

// Whatever a rule finds in a file is found in a transcript that quotes the file, however often it
// is encoded and with line numbers, once, with the fingerprint that it has in the file, and on
// the line of the transcript.
func TestQuoted(t *testing.T) {
	written := map[string]func(string) string{
		"lines": numbered("%d→"), "aligned lines": numbered("%6d→"), "cat -n": numbered("%6d\t"), "a bar": numbered("%4d | "),
		"twice": func(text string) string { return marshaled(`{"text":` + marshaled(text) + "}") },
		"three times": func(text string) string {
			return marshaled(`[` + marshaled("see "+marshaled(numbered("%d→")(text))) + "]")
		},
		"half a line": func(text string) string { return strings.TrimSuffix(marshaled(text), `"`) },
	}
	for name, encode := range encodings {
		written[name] = encode
		written[name+", lines"] = func(text string) string { return encode(numbered("%d→")(text)) }
	}
	for _, rule := range guard.Rules() {
		r := rand.New(rand.NewSource(2))
		for _, template := range examples()[rule.ID].match {
			secret := fill(r, template)
			plain := scanner().Bytes([]byte("one\n" + secret + "\n~\n")).Findings
			for name, write := range written {
				text := `{"type":"user"}` + "\n" + `{"type":"tool","content":` + write("one\n"+secret+"\n~\n")
				got := scanner().Bytes([]byte(text)).Findings
				if len(got) != 1 || got[0].Fingerprint != plain[0].Fingerprint {
					t.Errorf("%s, %s: found %v, not %v, in %s", rule.ID, name, got, plain, text)
				} else if !strings.Contains(name, "line") && name != "cat -n" && name != "a bar" && got[0].Line != 2 {
					t.Errorf("%s, %s: on line %d", rule.ID, name, got[0].Line)
				}
			}
		}
	}
}

// In a stream, a string of JSON may be longer than a piece.
func TestQuotedStream(t *testing.T) {
	r := rand.New(rand.NewSource(3))
	const piece = 1 << 20
	for i, before := range []int{10, piece - 20000, piece - 16384, piece - 9000, piece - 100, piece} {
		for _, encode := range encodings {
			if i%2 > 0 && testing.Short() {
				continue
			}
			secret := "DB_PASSWORD=" + fill(r, "{pass}") + "\n" + strings.ReplaceAll(fill(r, pem), "-----BEGIN", "a\n-----BEGIN")
			text := `{"content":` + encode(strings.Repeat("a\\\n", before/5)+secret+strings.Repeat("b\n", piece/2)) + "}\n"
			got, err := scanner().Reader(iotestReader{strings.NewReader(text)})
			if err != nil || !slices.Equal(rulesOf(got), []string{"named-password", "private-key"}) {
				t.Errorf("%d before: %v, %v", before, got, err)
			}
		}
	}
}

// A byte order mark hides nothing on the first line.
func TestByteOrderMark(t *testing.T) {
	text := "\ufeffDB_PASSWORD=" + fill(rand.New(rand.NewSource(4)), "{pass}") + "\n"
	for _, content := range []string{text, `{"content":` + marshaled(text) + "}"} {
		if got := rulesOf(scanner().Bytes([]byte(content))); !slices.Equal(got, []string{"named-password"}) {
			t.Errorf("%q: found %q", content, got)
		}
	}
}

// What replaces a secret in JSON is encoded as the secret was, and nothing else changes.
func TestReplaceQuoted(t *testing.T) {
	r := rand.New(rand.NewSource(5))
	for name, encode := range encodings {
		for depth := range 3 {
			with := "a \"quoted\"\n\\ text"
			whole := func(value string) string {
				text := "A=\"\\\"\t\x01é\U0001F600\"\nDB_PASSWORD=" + value + "\nB=2\n"
				for range depth {
					text = `{"a": [` + encode(text) + `, "\u0041"]}`
				}
				return `{"content":   ` + encode(text) + `, "b":"\/\u00e9"}` + "\n"
			}
			mark := "MARK"
			got, count := scanner().Replace([]byte(whole(fill(r, "{pass}"))), func(guard.Finding) (string, bool) { return mark, true })
			if want := whole(mark); count != 1 || strings.ReplaceAll(whole(mark), encode(mark), mark) != strings.ReplaceAll(string(got), encode(mark), mark) && name != "every letter" {
				t.Errorf("%s, %d: %d replaced:\n%s\n%s", name, depth, count, got, want)
			}
			got, _ = scanner().Replace([]byte(whole(fill(r, "{pass}"))), func(guard.Finding) (string, bool) { return with, true })
			if plain := decoded(t, string(got), depth); plain != "A=\"\\\"\t\x01é\U0001F600\"\nDB_PASSWORD="+with+"\nB=2\n" {
				t.Errorf("%s, %d: %q in %s", name, depth, plain, got)
			}
		}
	}
	got, _ := scanner().Replace([]byte(`{"password": "`+fill(r, "{pass}")+`"}`), func(guard.Finding) (string, bool) { return `a"b`, true })
	if string(got) != `{"password": "a\"b"}` {
		t.Errorf("a member: %s", got)
	}
}

// decoded returns the innermost text of a document that TestReplaceQuoted made.
func decoded(t *testing.T, text string, depth int) string {
	t.Helper()
	var outer struct{ Content string }
	if err := json.Unmarshal([]byte(text), &outer); err != nil {
		t.Errorf("%v in %s", err, text)
	}
	for range depth {
		var inner struct{ A []string }
		if err := json.Unmarshal([]byte(outer.Content), &inner); err != nil || len(inner.A) != 2 {
			t.Errorf("%v in %s", err, outer.Content)
			return ""
		}
		outer.Content = inner.A[0]
	}
	return outer.Content
}

// FuzzReplace replaces secrets in any JSON: it stays JSON, and everything but the secrets stays
// byte for byte.
func FuzzReplace(f *testing.F) {
	f.Add("a\n", "\nb", "{}", uint8(1))
	f.Add("\"x\": \"", "\"}", `{"a":["b",{"c":"\u00e9\n\\\""}]}`, uint8(2))
	f.Add("1→-----\n2→", "\n3→\\u0041", "[\"\\\\\"]\n", uint8(3))
	f.Add("\\", "\\\"", "\"\\ud800\"", uint8(7))
	token := fill(rand.New(rand.NewSource(6)), "ghp_{crc:36}")
	f.Fuzz(func(t *testing.T, before, after, beside string, depth uint8) {
		before, after = strings.ToValidUTF8(before, "?"), strings.ToValidUTF8(after, "?")
		beside = strings.ReplaceAll(beside, "[MARK]", "")
		text := before + " " + token + " " + after
		for range depth%3 + 1 {
			text = encodings[[]string{"Go", "plain", "PHP"}[depth/3%3]](text)
		}
		if json.Valid([]byte(beside)) {
			text = `[` + text + `,` + beside + `]`
		} else {
			text = beside + "\n" + text
		}
		got, count := scanner().Replace([]byte(text), func(guard.Finding) (string, bool) { return "\"\n\\", true })
		if json.Valid([]byte(text)) && !json.Valid(got) {
			t.Fatalf("%q became %q", text, got)
		}
		const mark = "[MARK]"
		got, marks := scanner().Replace([]byte(text), func(guard.Finding) (string, bool) { return mark, true })
		if count != marks || count == 0 || strings.Contains(string(got), token) {
			t.Fatalf("%d and %d replaced: %q", count, marks, got)
		}
		// Between the marks stands what stood there before.
		left := text
		for i, piece := range strings.Split(string(got), mark) {
			at := strings.Index(left, piece)
			if at < 0 || i == 0 && at > 0 || i == count && !strings.HasSuffix(left, piece) {
				t.Fatalf("%q is not in %q", piece, left)
			}
			left = left[at+len(piece):]
		}
	})
}
