package guard_test

import (
	"encoding/base64"
	"encoding/json"
	"fmt"
	"math/rand"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"

	"git-checkpoint/internal/core/guard"
)

// seed returns the seed of GUARD_SEED, or 1.
func seed() int64 {
	n, err := strconv.ParseInt(os.Getenv("GUARD_SEED"), 10, 64)
	if err != nil {
		return 1
	}
	return n
}

// sample is a generated file with one secret.
type sample struct {
	form, text string
}

// tokenSamples returns each token of a service in each place.
func tokenSamples(r *rand.Rand) (all []sample) {
	forms := examples()
	for _, rule := range guard.Rules() {
		id := rule.ID
		for _, form := range forms[id].match {
			if rule.Guess || tokenForms[id] == nil && strings.ContainsAny(part.ReplaceAllString(form, ""), " =:\"'\\\n") {
				continue // it is known by what stands around it
			}
			for _, place := range places {
				all = append(all, sample{id + " in " + place, fmt.Sprintf(place, fill(r, form))})
			}
		}
	}
	return all
}

func sorted[V any](of map[string]V) (keys []string) {
	for key := range of {
		keys = append(keys, key)
	}
	slices.Sort(keys)
	return keys
}

var (
	loud      = []string{"DB_PASSWORD", "API_TOKEN", "CLIENT_SECRET", "ACME_API_KEY", "SMTP_PASS", "MYSQL_PWD"}
	quiet     = []string{"dbPassword", "api_token", "clientSecret", "apiKey", "password", "passphrase"}
	otherLoud = []string{"PGPASSWORD", "GITHUB_TOKEN_PROD", "STRIPE_KEY", "ADMIN_PASSWORD_2", "JWT_SIGNING_KEY", "RABBITMQ_DEFAULT_PASS", "ENCRYPTION_KEY", "SECRET_KEY_BASE"}
	otherLow  = []string{"accessToken", "spring.datasource.password", "redis-password", "signing_key", "userPassword", "secret", "auth_token", "privateKey"}
)

// value returns a random password or key.
func value(r *rand.Rand, plain bool) string {
	kinds := []string{"alnum", "hex", "urlsafe", "mixed"}
	if !plain {
		kinds = append(kinds, "b64", "symbols")
	}
	for {
		kind := kinds[r.Intn(len(kinds))]
		n := 14 + r.Intn(26)
		if kind == "hex" {
			n = 24 + r.Intn(17)
		}
		if v := random(r, kind, n); !strings.HasPrefix(v, "-") {
			return v
		}
	}
}

// write returns a shape with a random secret.
func (s shape) write(r *rand.Rand, loud, quiet []string) string {
	v := value(r, s.plain)
	text := strings.ReplaceAll(strings.ReplaceAll(s.text, "%N", loud[r.Intn(len(loud))]), "%n", quiet[r.Intn(len(quiet))])
	encode := base64.StdEncoding.EncodeToString
	signs := map[string]func() string{
		"%v": func() string { return v }, "%b": func() string { return random(r, "base32", 32) }, "%64": func() string { return random(r, "b64", 43) },
		"%u": func() string { return encode([]byte("ci:" + v)) }, "%e": func() string { return encode([]byte("A=b\nDB_PASSWORD=" + v + "\nPORT=1\n")) },
		"%j": func() string { return random(r, "urlsafe", 43) }, "%h": func() string { return random(r, "hex", 64) }, "%w": func() string { return random(r, "b64", 43) + "=" },
		"%k": func() string { return random(r, "b64", 64) }, "%g": func() string {
			return random(r, "small", 4) + " " + random(r, "small", 4) + " " + random(r, "small", 4) + " " + random(r, "small", 4)
		},
		"%m": func() string { return phrase(r) },
	}
	for _, sign := range sorted(signs) { // in one order, so that a seed always makes the same files
		if strings.Contains(text, sign) {
			text = strings.ReplaceAll(text, sign, signs[sign]())
		}
	}
	return text
}

func phrase(r *rand.Rand) string {
	list := strings.Fields("abandon ability crane decade eager fabric galaxy habit ice jacket kangaroo ladder machine narrow oak paddle quality rabbit salad table ugly vacant wagon yard zebra")
	var out []string
	for range 12 {
		out = append(out, list[r.Intn(len(list))])
	}
	return strings.Join(out, " ")
}

// varied writes a text in another way: with other quotes, other line ends, indented, or within another text.
func varied(r *rand.Rand, text string) string {
	switch r.Intn(6) {
	case 0:
		return strings.ReplaceAll(text, "\n", "\r\n")
	case 1:
		return `{"role":"user","content":` + marshaled("see this:\n"+text+"\nthanks") + "}\n"
	case 2:
		return "    " + strings.ReplaceAll(strings.TrimSuffix(text, "\n"), "\n", "\n    ") + "\n"
	case 3:
		return "```\n" + text + "```\n"
	case 4:
		return numbered("%6d\t")(text)
	}
	return "A first line.\n\n" + text + "\nThe last one.\n"
}

// count scans samples and returns how many are found, and the forms of those that are not.
func count(samples []sample) (found int, missed map[string]int) {
	missed = map[string]int{}
	for _, s := range samples {
		if len(scanner().Bytes([]byte(s.text)).Findings) > 0 {
			found++
		} else {
			missed[s.form]++
		}
	}
	return found, missed
}

// countOther returns in how many samples gitleaks finds something, or -1 where it is not installed.
func countOther(t *testing.T, samples []sample) int {
	t.Helper()
	program, err := exec.LookPath("gitleaks")
	if err != nil {
		return -1
	}
	dir := t.TempDir()
	for i, s := range samples {
		if err := os.WriteFile(filepath.Join(dir, fmt.Sprintf("%d.txt", i)), []byte(s.text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	out, err := exec.Command(program, "dir", "--no-banner", "--log-level", "error", "--exit-code", "0", "--report-format", "json", "--report-path", "-", dir).Output()
	var report []struct{ File string }
	if err == nil {
		err = json.Unmarshal(out, &report)
	}
	if err != nil {
		t.Fatal(err)
	}
	files := map[string]bool{}
	for _, one := range report {
		files[one.File] = true
	}
	return len(files)
}

// TestMeasure generates files with a secret each and counts those that are found. `make test-guard` prints the table, and
// GUARD_SEED makes other files.
func TestMeasure(t *testing.T) {
	r := rand.New(rand.NewSource(seed()))
	const times = 8
	var known, held []sample
	for range times {
		for _, s := range shapes {
			known = append(known, sample{s.text, s.write(r, loud, quiet)})
			held = append(held, sample{s.text, varied(r, s.write(r, otherLoud, otherLow))})
		}
		for _, s := range heldOut {
			held = append(held, sample{s.text, varied(r, s.write(r, otherLoud, otherLow))})
		}
	}
	for _, table := range []struct {
		what    string
		samples []sample
		least   int
	}{{"tokens of services", tokenSamples(r), 97}, {"passwords and keys in known shapes", known, 92}, {"other shapes, names, quotes, line ends and nesting", held, 92}} {
		found, missed := count(table.samples)
		t.Logf("%s: %d of %d files, %.1f %%", table.what, found, len(table.samples), 100*float64(found)/float64(len(table.samples)))
		if other := countOther(t, table.samples); other >= 0 {
			t.Logf("  gitleaks: %.1f %%", 100*float64(other)/float64(len(table.samples)))
		}
		for _, form := range sorted(missed) {
			t.Logf("  missed %d: %q", missed[form], form)
		}
		if found*100 < len(table.samples)*table.least {
			t.Errorf("%s: fewer than %d %%", table.what, table.least)
		}
	}
}
