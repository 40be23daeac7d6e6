package guard_test

import (
	"bytes"
	"encoding/binary"
	"fmt"
	"io"
	"math/rand"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"testing"
	"unicode/utf16"

	"git-checkpoint/internal/core/guard"
)

func scanner() *guard.Scanner { return guard.New([]byte("a key"), nil) }

func rulesOf(r guard.Result) (ids []string) {
	for _, f := range r.Findings {
		ids = append(ids, f.Rule)
	}
	return ids
}

// Each rule finds the secrets in its own examples and nothing in those of others.
func TestRules(t *testing.T) {
	all := examples()
	for _, rule := range guard.Rules() {
		t.Run(rule.ID, func(t *testing.T) {
			of, listed := all[rule.ID]
			delete(all, rule.ID)
			if !listed || len(of.match) == 0 || len(of.none) == 0 {
				t.Fatal("it needs an example that matches and one that does not")
			}
			if rule.What == "" || rule.Source == "" {
				t.Error("it lacks a description or a source")
			}
			r := rand.New(rand.NewSource(7))
			for _, template := range of.match {
				for range 50 {
					text := fill(r, template)
					if got := rulesOf(scanner().Bytes([]byte("one\n" + text + "\nthree\n"))); !slices.Equal(got, []string{rule.ID}) {
						t.Fatalf("in %q: found %q", text, got)
					}
				}
			}
			for _, template := range of.none {
				text := fill(r, template)
				if got := rulesOf(scanner().Bytes([]byte("one\n" + text + "\nthree\n"))); slices.Contains(got, rule.ID) {
					t.Errorf("in %q: found %q", text, got)
				}
			}
		})
	}
	for id := range all {
		t.Errorf("%s is no rule", id)
	}
}

// A hundred secrets of all kinds in one file of noise: none is missed, none is found
// twice, each on its line.
func TestPlanted(t *testing.T) {
	r := rand.New(rand.NewSource(11))
	var file strings.Builder
	var want []string
	line := 1
	planted := guard.Rules()
	for i := range max(100, len(planted)) {
		for range r.Intn(40) {
			file.WriteString(strings.Repeat("lorem ipsum ", r.Intn(9)) + "\n")
			line++
		}
		rule := planted[i%len(planted)]
		templates := examples()[rule.ID].match
		text := fill(r, templates[i/len(planted)%len(templates)])
		at := line
		if rule.ID == "putty-key" {
			at++
		}
		want = append(want, fmt.Sprintf("%d %s", at, rule.ID))
		file.WriteString(text + "\n~\n")
		line += strings.Count(text, "\n") + 2
	}
	var got []string
	for _, f := range scanner().Bytes([]byte(file.String())).Findings {
		got = append(got, fmt.Sprintf("%d %s", f.Line, f.Rule))
	}
	if !slices.Equal(got, want) {
		t.Errorf("found %d of %d\ngot  %q\nwant %q", len(got), len(want), got, want)
	}
	if len(planted) < 50 {
		t.Errorf("%d rules", len(planted))
	}
}

// A secret at each place around the border of two pieces of a stream, which is read in
// small bits, is found once and on its line.
func TestStream(t *testing.T) {
	r := rand.New(rand.NewSource(3))
	const piece = 1 << 20
	for _, at := range []int{0, piece - 5000, piece - 4096, piece - 4095, piece - 100, piece - 7, piece, piece + 1, 3*piece - 12000} {
		for _, template := range []string{"AKIA{base32:16}", pem, "{jwt}"} {
			secret := fill(r, template)
			filler := strings.Repeat(strings.Repeat("-", 98)+".\n", at/100+1)[:at]
			text := filler + "\n" + secret + "\n" + strings.Repeat("y\n", piece)
			got, err := scanner().Reader(iotestReader{strings.NewReader(text)})
			if err != nil || len(got.Findings) != 1 || got.Findings[0].Line != strings.Count(filler, "\n")+2 {
				t.Errorf("%s at %d: %v, %v", template, at, got, err)
			}
		}
	}
}

type iotestReader struct{ r io.Reader }

func (o iotestReader) Read(p []byte) (int, error) { return o.r.Read(p[:min(len(p), 7001)]) }

// UTF-16 of either order, with a mark and without, is read as text.
func TestUTF16(t *testing.T) {
	r := rand.New(rand.NewSource(4))
	for _, order := range []binary.AppendByteOrder{binary.LittleEndian, binary.BigEndian} {
		for _, mark := range []string{"\ufeff", ""} {
			var file []byte
			for _, unit := range utf16.Encode([]rune(mark + "first line\r\nDB_PASSWORD=" + fill(r, "{pass}") + "\r\n")) {
				file = order.AppendUint16(file, unit)
			}
			got := scanner().Bytes(append(file, 0)) // an odd byte more
			if !slices.Equal(rulesOf(got), []string{"named-password"}) || got.Findings[0].Line != 2 || got.Binary {
				t.Errorf("%T, mark %q: %v", order, mark, got)
			}
		}
	}
}

// In binary files tokens are found and named values are not, and the result says so.
func TestBinary(t *testing.T) {
	r := rand.New(rand.NewSource(5))
	file := []byte("\x00\x01" + fill(r, "ghp_{crc:36}") + "\x00password=" + fill(r, "{pass}") + "\x00")
	got := scanner().Bytes(file)
	if !got.Binary || !slices.Equal(rulesOf(got), []string{"github-token"}) {
		t.Errorf("found %v", got)
	}
}

// A fingerprint depends on the secret, the rule and the key, and not on the file. No part
// of a result contains the secret.
func TestFingerprint(t *testing.T) {
	secret := fill(rand.New(rand.NewSource(6)), "ghp_{crc:36}")
	here := scanner().Bytes([]byte(secret)).Findings[0]
	there := scanner().Bytes([]byte("\n\ntoken: \"" + secret + "\"\n")).Findings[0]
	other := guard.New([]byte("another key"), nil).Bytes([]byte(secret)).Findings[0]
	if here.Fingerprint != there.Fingerprint || here.Fingerprint == other.Fingerprint {
		t.Errorf("%q, %q, %q", here.Fingerprint, there.Fingerprint, other.Fingerprint)
	}
	if all := fmt.Sprintf("%+v", []guard.Finding{here, there, other}); strings.Contains(all, secret[4:12]) {
		t.Errorf("the secret is in %s", all)
	}
}

// Text without secrets stays what it is; a secret becomes the name of its rule.
func TestRedact(t *testing.T) {
	r := rand.New(rand.NewSource(8))
	token, password := fill(r, "ghp_{crc:36}"), fill(r, "{pass}")
	got, found := guard.Redact("use " + token + " and postgres://app:" + password + "@db.acme.dev/x, then rest")
	if got != "use [secret: github-token] and postgres://app:[secret: url-password]@db.acme.dev/x, then rest" || !slices.Equal(found, []string{"github-token", "url-password"}) {
		t.Errorf("%q, %q", got, found)
	}
	if again, found := guard.Redact(got); again != got || found != nil {
		t.Errorf("again: %q, %q", again, found)
	}
	for _, rule := range guard.Rules() {
		for _, template := range examples()[rule.ID].match {
			text, _ := guard.Redact(fill(r, template))
			if left := rulesOf(scanner().Bytes([]byte(text))); left != nil {
				t.Errorf("%s: %q is left in %q", rule.ID, left, text)
			}
		}
	}
}

// A guess counts where programs are, not in their tests; a token counts everywhere.
func TestAt(t *testing.T) {
	found := []guard.Finding{{Rule: "named-password", Guess: true}, {Rule: "github-token"}}
	for file, want := range map[string]int{
		"config.env": 2, "src/app.go": 2, "contest/latest.go": 2, "testdata/.env": 2, "tests/.env.local": 2, "fixtures/credentials.json": 2,
		"src/app_test.go": 1, "testdata/a.json": 1, "web/login.spec.ts": 1, "tests/login.py": 1, "test_login.py": 1,
	} {
		if got := guard.CountingAt(file, found); len(got) != want {
			t.Errorf("%s: %v", file, got)
		}
	}
}

// An address and a header with what a program made at random count in tests, too.
func TestFirm(t *testing.T) {
	r := rand.New(rand.NewSource(9))
	for template, want := range map[string]int{
		"postgres://app:{alnum:20}@db.acme.dev/app": 1, "postgres://app:Sommer24@db.acme.dev/app": 0,
		"Authorization: Bearer {alnum:40}": 1, "DB_PASSWORD={alnum:20}": 0,
	} {
		found := scanner().Bytes([]byte(fill(r, template))).Findings
		if got := guard.CountingAt("tests/fixtures/app.py", found); len(found) != 1 || len(got) != want {
			t.Errorf("%s: %v of %v", template, got, found)
		}
	}
}

// hostile is a reader that returns the same bytes for ever.
type hostile struct{ text []byte }

func (h hostile) Read(p []byte) (int, error) {
	n := 0
	for n < len(p) {
		n += copy(p[n:], h.text)
	}
	return n, nil
}

// Content that is made to be slow is given up or completed. The work is bounded by counts,
// so this test needs no clock.
func TestHostile(t *testing.T) {
	length, redacted := int64(6<<20), 64<<10
	if testing.Short() {
		length, redacted = 1<<17, 8<<10
	}
	for _, text := range []string{
		"password=", "password=aaaaaaaaaaaaaaaaaaaa", "eyJ", "://a:b@", "-----BEGIN PRIVATE KEY-----", "-----BEGIN PRIVATE KEY-----\nA: b\n", "\x00", "a", "\n", "sk-", "AKIA", "token token ",
		strings.Repeat("eyJhbGciOiJIUzI1NiJ9.", 40), "machine a login b password c ", strings.Repeat("secret", 20) + "=",
	} {
		if _, err := scanner().Reader(io.LimitReader(hostile{[]byte(text)}, length)); err != nil {
			t.Errorf("%q: %v", text, err)
		}
		guard.Redact(string(bytes.Repeat([]byte(text), 1+redacted/len(text))))
	}
}

func BenchmarkText(b *testing.B) {
	text := []byte(strings.Repeat("func (s *Service) tokenFor(name string) error { return s.password(name) } // a key is a key\n", 11_000))
	b.SetBytes(int64(len(text)))
	for b.Loop() {
		scanner().Bytes(text)
	}
}

func BenchmarkTranscript(b *testing.B) {
	line := `{"type":"user","message":{"content":[{"type":"tool_result","content":"     1→package main\n     2→\n     3→func (s *Service) tokenFor(name string) error { return s.password(\"name\") }\n"}]}}` + "\n"
	text := []byte(strings.Repeat(line, 5_000))
	b.SetBytes(int64(len(text)))
	for b.Loop() {
		scanner().Bytes(text)
	}
}

// BenchmarkSource scans the source of Go's library, as a save does.
func BenchmarkSource(b *testing.B) {
	var files [][]byte
	size := int64(0)
	for _, pattern := range []string{"net/http/*.go", "encoding/json/*.go", "go/types/*.go", "crypto/tls/*.go"} {
		found, _ := filepath.Glob(filepath.Join(runtime.GOROOT(), "src", pattern)) //nolint:errcheck,staticcheck // a fixed pattern; only measured where the source is
		for _, name := range found {
			if content, err := os.ReadFile(name); err == nil {
				files, size = append(files, content), size+int64(len(content))
			}
		}
	}
	b.SetBytes(size)
	for b.Loop() {
		for _, content := range files {
			scanner().Bytes(content)
		}
	}
}
