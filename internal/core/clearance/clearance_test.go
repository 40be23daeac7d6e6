package clearance

import (
	"context"
	"errors"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"git-checkpoint/internal/core/guard"
	"git-checkpoint/internal/format/name"
	"git-checkpoint/internal/git"
)

const token = "AKIAQYLPMN5HHHFPZAM2"

// bench is a repository and a scanner of it.
type bench struct {
	t    *testing.T
	dir  string
	repo *git.Repo
}

func newBench(t *testing.T) *bench {
	t.Helper()
	b := &bench{t: t, dir: t.TempDir()}
	b.git("init", "-q")
	var err error
	if b.repo, err = git.Open(t.Context(), git.Options{Dir: b.dir, Env: os.Environ()}); err != nil {
		t.Fatal(err)
	}
	return b
}

func (b *bench) git(args ...string) string {
	b.t.Helper()
	cmd := exec.Command("git", append([]string{"-c", "user.name=A", "-c", "user.email=a@example.com"}, args...)...)
	cmd.Dir = b.dir
	out, err := cmd.CombinedOutput()
	if err != nil {
		b.t.Fatalf("git %v: %v\n%s", args, err, out)
	}
	return strings.TrimSpace(string(out))
}

// commit commits one file and returns the commit.
func (b *bench) commit(file, content, message string) name.OID {
	b.t.Helper()
	full := filepath.Join(b.dir, file)
	if err := os.MkdirAll(filepath.Dir(full), 0o777); err != nil {
		b.t.Fatal(err)
	}
	if err := os.WriteFile(full, []byte(content), 0o666); err != nil {
		b.t.Fatal(err)
	}
	b.git("add", ".")
	b.git("commit", "-q", "--no-gpg-sign", "-m", message)
	return name.OID(b.git("rev-parse", "HEAD"))
}

func (b *bench) open(userKey string, allowed ...string) *Scanner {
	b.t.Helper()
	d, err := open(b.repo, allowed, userKey, "")
	if err != nil {
		b.t.Fatal(err)
	}
	return d
}

func (b *bench) sent(d *Scanner, tips, held []name.OID) *Report {
	b.t.Helper()
	r, err := d.ScanOutgoing(b.t.Context(), tips, held)
	if err != nil {
		b.t.Fatal(err)
	}
	if err := d.Close(); err != nil {
		b.t.Fatal(err)
	}
	return r
}

// Files and messages that are sent are scanned, except for what the other side has. The
// verdict is remembered, and its file contains no secret.
func TestSent(t *testing.T) {
	b := newBench(t)
	one := b.commit("config.env", "a\nkey="+token+"\n", "one")
	two := b.commit("plain", "nothing\n", "with "+token)
	for range 2 { // the second time from memory
		r := b.sent(b.open(""), []name.OID{two}, nil)
		if len(r.Found) != 2 || len(r.Stopped()) != 2 {
			t.Fatalf("%+v", r.Found)
		}
	}
	r := b.sent(b.open(""), []name.OID{two}, []name.OID{one})
	if len(r.Found) != 1 || r.Found[0].Path != "" || r.Found[0].OID != two {
		t.Fatalf("%+v", r.Found)
	}
	kept, err := os.ReadFile(filepath.Join(b.dir, ".git", "checkpoint", "guard"))
	if err != nil || strings.Contains(string(kept), token) {
		t.Fatalf("%v\n%s", err, kept)
	}
}

// A fingerprint allows one secret, whichever key it was made with.
func TestAllowed(t *testing.T) {
	b := newBench(t)
	tip := b.commit("config.env", "key="+token+"\n", "one")
	userKey := filepath.Join(t.TempDir(), "key")
	if _, err := keyIn(userKey); err != nil {
		t.Fatal(err)
	}
	found := b.sent(b.open(userKey), []name.OID{tip}, nil).Found
	if len(found) != 1 || found[0].User == "" || found[0].User == found[0].Fingerprint {
		t.Fatalf("%+v", found)
	}
	for _, fingerprint := range []string{found[0].Fingerprint, found[0].User} {
		if r := b.sent(b.open(userKey, fingerprint+" made up"), []name.OID{tip}, nil); len(r.Stopped()) != 0 || r.Found[0].Allowed != "made up" {
			t.Fatalf("%+v", r.Found)
		}
	}
	other := b.commit("config.env", "key=AKIARZMQNO6IIIGQABN3\n", "two")
	if r := b.sent(b.open(userKey, found[0].Fingerprint+" made up"), []name.OID{other}, []name.OID{tip}); len(r.Stopped()) != 1 {
		t.Fatalf("%+v", r.Found)
	}
}

// Expunged objects are found whatever their content is. A list with a torn last line is
// read up to it.
func TestExpunged(t *testing.T) {
	b := newBench(t)
	tip := b.commit("harmless", "harmless\n", "one")
	list, err := ReadExpunged(b.repo)
	if err != nil {
		t.Fatal(err)
	}
	blob := name.OID(b.git("rev-parse", "HEAD:harmless"))
	for range 2 {
		if err := list.Add("job", []name.ID{"cp-01-20261120T090000000Z-0000"}, []name.OID{blob}); err != nil {
			t.Fatal(err)
		}
	}
	path := filepath.Join(b.dir, ".git", "checkpoint", "expunged")
	f, err := os.OpenFile(path, os.O_APPEND|os.O_WRONLY, 0)
	if err != nil {
		t.Fatal(err)
	}
	io.WriteString(f, "checkpoint jo") //nolint:errcheck // read back below
	f.Close()                          //nolint:errcheck // the same
	if text, err := os.ReadFile(path); err != nil || strings.Count(string(text), "\n") != 2 {
		t.Fatalf("%v\n%s", err, text)
	}
	if list, err = ReadExpunged(b.repo); err != nil || len(list.Listed()) != 1 || len(list.Checkpoints["job"]) != 1 {
		t.Fatalf("%+v %v", list, err)
	}
	if r := b.sent(b.open(""), []name.OID{tip}, nil); len(r.Found) != 1 || r.Found[0].Rule != RuleExpunged || r.Found[0].Path != "harmless" {
		t.Fatalf("%+v", r.Found)
	}
}

// The user's scanner gets every content below a number, is bounded in time, and has to
// print a report.
func TestExternal(t *testing.T) {
	fingerprints := guard.New([]byte("a key"), nil)
	text := func(s string) func(io.Writer) error {
		return func(w io.Writer) error { _, err := io.WriteString(w, s); return err }
	}
	some := []content{{".gitleaks.toml", text("no configuration")}, {"../../out", text("x")}, {"", text("a message")}}
	for command, want := range map[string]string{
		"test -f 0/.gitleaks.toml -a -f 1/content -a -f 2/content && echo '[]'": "",
		"echo null": "",
		"echo '[{\"RuleID\":\"r\",\"File\":\"0/.gitleaks.toml\",\"StartLine\":4,\"Secret\":\"no\"}]'; exit 1":  "0 4 r",
		"echo \"[{\\\"RuleID\\\":\\\"a b\\\",\\\"File\\\":\\\"$PWD/2/content\\\",\\\"Secret\\\":\\\"m\\\"}]\"": "2 1 secret",
		"sleep 60":                    "took longer",
		"echo '[]'; exit 2":           "exit code 2",
		"echo leaks":                  "no report",
		"true":                        "no report",
		"echo '[{\"File\":\"3/x\"}]'": "was not given",
	} {
		e := &external{command: command, patience: 5 * time.Second}
		if command == "sleep 60" {
			e.patience = 50 * time.Millisecond
		}
		got, err := e.scan(context.Background(), fingerprints, some)
		if err != nil {
			if !errors.Is(err, ErrScanner) || want == "" || !strings.Contains(err.Error(), want) {
				t.Errorf("%s: %v, want %q", command, err, want)
			}
			continue
		}
		said := ""
		for i, v := range got {
			for _, f := range v.Findings {
				said = string(rune('0'+i)) + " " + string(rune('0'+f.Line)) + " " + f.Rule
			}
		}
		if said != want {
			t.Errorf("%s: %q, want %q", command, said, want)
		}
	}
}

// A hostile file name neither breaks the line of a warning nor moves the cursor.
func TestPlaceOf(t *testing.T) {
	for path, want := range map[string]string{"a b/é": "a b/é:7", "a\nb": `"a\nb":7`, "a\x1b[2J": `"a\x1b[2J":7`, "": "the message of 1234567, line 7,"} {
		if got := placeOf(Found{OID: "1234567890", Path: path, Finding: guard.Finding{Line: 7}}); got != want {
			t.Errorf("%q: %s", path, got)
		}
	}
}
