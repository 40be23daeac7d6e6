package main

import (
	"bytes"
	"encoding/json"
	"errors"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/rogpeppe/go-internal/txtar"
	"github.com/tidwall/gjson"

	"git-checkpoint/internal/format/journal"
	"git-checkpoint/internal/format/record"
	"git-checkpoint/internal/test/scripttest"
	"git-checkpoint/internal/verb/interop"
)

// block is a fenced block of a document whose info string says what it is:
// ```sh example=list, ```json answer=create.
type block struct{ kind, name, text string }

var fenced = regexp.MustCompile("(?ms)^```\\w+ (\\w+)(?:=([\\w-]+))?\n(.*?)^```$")

func document(t *testing.T, file string) (text string, blocks []block) {
	t.Helper()
	data, err := os.ReadFile(filepath.Join("..", "..", "docs", file))
	if err != nil {
		t.Fatal(err)
	}
	for _, m := range fenced.FindAllStringSubmatch(string(data), -1) {
		blocks = append(blocks, block{m[1], m[2], m[3]})
	}
	if len(blocks) == 0 {
		t.Fatalf("%s has no blocks that say what they are", file)
	}
	return string(data), blocks
}

func script(t *testing.T, file string) (lines []string, files map[string]string) {
	t.Helper()
	archive, err := txtar.ParseFile(filepath.Join("..", "..", "testdata", "scripts", file))
	if err != nil {
		t.Fatal(err)
	}
	files = map[string]string{}
	for _, f := range archive.Files {
		files[f.Name] = string(f.Data)
	}
	return strings.Split(string(archive.Comment), "\n"), files
}

// The examples of docs/format.md are those that format_plain_git.txtar runs, in that
// order, with the outputs that it demands, and none of them runs this program.
func TestFormatExamples(t *testing.T) {
	_, blocks := document(t, "format.md")
	lines, files := script(t, "format_plain_git.txtar")
	var run []string
	for _, line := range lines {
		if name, is := strings.CutPrefix(line, "exec sh -e ../"); is {
			run = append(run, strings.TrimSuffix(name, ".sh"))
		}
	}
	var shown []string
	for _, b := range blocks {
		switch b.kind {
		case "example":
			shown = append(shown, b.name)
			same(t, b.name, b.text, files[b.name+".sh"])
			if regexp.MustCompile(`git[ -]checkpoint\b`).MatchString(b.text) {
				t.Errorf("example %s is not plain git", b.name)
			}
		case "output":
			same(t, b.name, scripttest.Scrubbed(b.text), files[b.name+".out"])
			if !slices.Contains(lines, "cmp ../got ../"+b.name+".out") {
				t.Errorf("the script does not look at the output of %s", b.name)
			}
		}
	}
	if diff := cmp.Diff(run, shown); diff != "" {
		t.Errorf("the script runs (-), the document shows (+):\n%s", diff)
	}
}

// The answers in docs/json.md are those that json_members.txtar demands, each below
// the command that gives it, and every member in them is explained.
func TestJSONAnswers(t *testing.T) {
	text, blocks := document(t, "json.md")
	format, _ := document(t, "format.md") // explains the record
	lines, files := script(t, "json_members.txtar")
	shown := map[string]bool{}
	for _, b := range blocks {
		if b.kind != "answer" {
			continue
		}
		name := b.name + ".json"
		shown[name] = true
		same(t, b.name, size.ReplaceAllString(scripttest.Scrubbed(compact(t, b)), `"bytes":0`), files[name])
		if command := commandOf(t, lines, name); !strings.Contains(text, "```sh\n"+command+"\n```\n\n```json answer="+b.name+"\n") {
			t.Errorf("answer %s does not stand below %q", b.name, command)
		}
		for _, member := range membersOf(t, b.text) {
			if !explained(text+format, member) {
				t.Errorf("member %s of answer %s is not explained", member, b.name)
			}
		}
	}
	for name := range files {
		if strings.HasSuffix(name, ".json") && !strings.Contains(name, "/") && !shown[name] {
			t.Errorf("answer %s is not shown", name)
		}
	}
}

// docs/json.md lists every kind of finding that doctor has.
func TestDoctorKinds(t *testing.T) {
	listed := section(t, read(t, "docs", "json.md"), "doctor")
	kinds := first(`Kind: "([a-z_]+)", Level`, sources(t, filepath.Join("..", "..", "internal", "verb", "repair")))
	if len(kinds) < 20 {
		t.Fatalf("only %v were found", kinds)
	}
	for _, kind := range kinds {
		if !strings.Contains(listed, "`"+kind+"`") {
			t.Errorf("the kind %s is not listed", kind)
		}
	}
}

// explained looks for a member by itself or at the end of a path: `next`, `a.b[].next`.
func explained(text, member string) bool {
	return regexp.MustCompile("`(?:[a-z_.\\[\\]]*\\.)?" + regexp.QuoteMeta(member) + "`").MatchString(text)
}

var size = regexp.MustCompile(`"bytes":\d+`)

// commandOf is the command whose answer the script compares with a file.
func commandOf(t *testing.T, lines []string, file string) string {
	t.Helper()
	at := slices.IndexFunc(lines, func(line string) bool { return strings.HasPrefix(line, "cmp ") && strings.HasSuffix(line, "/"+file) })
	for ; at >= 0; at-- {
		if i := strings.Index(lines[at], "git checkpoint"); i >= 0 && !strings.HasPrefix(lines[at], "#") {
			return lines[at][i:]
		}
	}
	t.Errorf("the script has no command for %s", file)
	return ""
}

// compact gives each JSON value of a block on a line of its own.
func compact(t *testing.T, b block) string {
	t.Helper()
	var out bytes.Buffer
	for decoder := json.NewDecoder(strings.NewReader(b.text)); ; {
		var value json.RawMessage
		if err := decoder.Decode(&value); errors.Is(err, io.EOF) {
			return out.String()
		} else if err != nil {
			t.Fatalf("%s: %v", b.name, err)
		}
		if err := json.Compact(&out, value); err != nil {
			t.Fatal(err)
		}
		out.WriteByte('\n')
	}
}

// membersOf lists the names of members at any depth, those of free documents aside.
func membersOf(t *testing.T, text string) (found []string) {
	t.Helper()
	var walk func(value any)
	walk = func(value any) {
		switch value := value.(type) {
		case []any:
			for _, item := range value {
				walk(item)
			}
		case map[string]any:
			for name, member := range value {
				if found = append(found, name); name == "state" || name == "old" || name == "new" {
					if _, free := member.(map[string]any); free {
						continue
					}
				}
				if outputs, named := member.(map[string]any); named && name == "outputs" {
					for _, output := range outputs {
						walk(output)
					}
					continue
				}
				walk(member)
			}
		}
	}
	for decoder := json.NewDecoder(strings.NewReader(text)); ; {
		var value any
		if err := decoder.Decode(&value); errors.Is(err, io.EOF) {
			return found
		} else if err != nil {
			t.Fatal(err)
		}
		walk(value)
	}
}

// Every event in docs/format.md is one that is read and written back as it is, and no
// kind is missing but those that look like another.
func TestFormatEvents(t *testing.T) {
	_, blocks := document(t, "format.md")
	left := []journal.Kind{
		journal.KindStart, journal.KindCreate, journal.KindRollback, journal.KindUndo, journal.KindResume, journal.KindStatus,
		journal.KindPin, journal.KindSkip, journal.KindPrune, journal.KindImport,
	}
	for _, b := range blocks {
		switch b.kind {
		case "event":
			e := event(t, b)
			same(t, b.name, b.text, e.Message())
			if len(e.Extra) > 0 {
				t.Errorf("event %s has trailers that are not known: %v", b.name, e.Extra)
			}
			left = slices.DeleteFunc(left, func(k journal.Kind) bool { return k == e.Kind && string(k) == b.name })
		case "merge":
			same(t, "merge", b.text, journal.MergeMessage)
		}
	}
	if len(left) > 0 {
		t.Errorf("no event of the kinds %v is shown", left)
	}
}

func event(t *testing.T, b block) journal.Event {
	t.Helper()
	_, rest, _ := strings.Cut(b.text, "\nTime: ")
	stamp, _, _ := strings.Cut(rest, "\n")
	at, err := time.Parse(time.RFC3339, stamp)
	if err != nil {
		t.Fatalf("event %s: %v", b.name, err)
	}
	e, err := journal.Parse("", nil, journal.Stamp("A U Thor <author@example.com>", at), b.text)
	if err != nil {
		t.Fatalf("event %s: %v", b.name, err)
	}
	return e
}

// The record in docs/format.md is one that is read and written back as it is; its
// checksum is right, and the message beside it is the one that is made of it.
func TestFormatRecord(t *testing.T) {
	_, blocks := document(t, "format.md")
	at := func(name string) string {
		i := slices.IndexFunc(blocks, func(b block) bool { return b.kind == "output" && b.name == name })
		if i < 0 {
			t.Fatalf("there is no output %s", name)
		}
		return blocks[i].text
	}
	text := at("record")
	r, changed, err := record.ParseSealed([]byte(text))
	if err != nil || changed != nil {
		t.Fatal(err, changed)
	}
	back, err := r.Marshal(record.Limits{})
	if err != nil {
		t.Fatal(err)
	}
	same(t, "record", text, string(back))
	metrics := gjson.GetBytes(r.State, "metrics").Raw
	same(t, "message", at("message"), record.Message(r, json.RawMessage(metrics)))
}

// same compares texts; how many newlines they end in is nothing that a document shows.
func same(t *testing.T, what, shown, real string) {
	t.Helper()
	if diff := cmp.Diff(strings.TrimRight(real, "\n"), strings.TrimRight(shown, "\n")); diff != "" {
		t.Errorf("%s: real (-), shown (+):\n%s", what, diff)
	}
}

// Every test, script and world that docs/safety.md names is there, and no rule is without
// one.
func TestSafetyNames(t *testing.T) {
	data, err := os.ReadFile(filepath.Join("..", "..", "docs", "safety.md"))
	if err != nil {
		t.Fatal(err)
	}
	tests, worlds := sources(t, filepath.Join("..", "..", "internal")), sources(t, filepath.Join("..", "..", "internal", "test", "torture"))
	tests += sources(t, ".")
	for _, m := range regexp.MustCompile("`((?:Test|Fuzz)\\w+)`").FindAllStringSubmatch(string(data), -1) {
		if !strings.Contains(tests, "func "+m[1]+"(") {
			t.Errorf("there is no %s", m[1])
		}
	}
	for _, m := range regexp.MustCompile("`(\\w+(?:-\\w+)*\\.txtar)`").FindAllStringSubmatch(string(data), -1) {
		if _, err := os.Stat(filepath.Join("..", "..", "testdata", "scripts", m[1])); err != nil {
			t.Error(err)
		}
	}
	rules := 0
	for _, heading := range []string{"Capture", "Rollback", "Secrets", "Repositories", "What is read"} {
		list, _, _ := strings.Cut(section(t, string(data), heading), "\n### ")
		for _, rule := range strings.Split(list, "\n- ")[1:] {
			rule, _, _ = strings.Cut(rule, "\n\n")
			named := regexp.MustCompile(`\(([^()]*)\)\s*$`).FindStringSubmatch(strings.TrimSpace(rule))
			if rules++; named == nil || !strings.Contains(named[1], "`") {
				t.Errorf("no test: %s", rule)
				continue
			}
			for _, m := range regexp.MustCompile("`([a-z0-9-]+)`").FindAllStringSubmatch(named[1], -1) {
				if !strings.Contains(worlds, `"`+m[1]+`"`) {
					t.Errorf("torture has no world called %s", m[1])
				}
			}
		}
	}
	if rules < 100 {
		t.Errorf("only %d rules were found", rules)
	}
}

// sources is all Go code below a directory.
func sources(t *testing.T, dir string) string {
	t.Helper()
	var all strings.Builder
	err := filepath.WalkDir(dir, func(path string, entry fs.DirEntry, err error) error {
		if err != nil || entry.IsDir() || filepath.Ext(path) != ".go" {
			return err
		}
		data, err := os.ReadFile(path)
		all.Write(data)
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	return all.String()
}

// docs/decisions.md says of every direct dependency why it is there, and of no other.
func TestDependenciesHaveReasons(t *testing.T) {
	data, err := os.ReadFile(filepath.Join("..", "..", "go.mod"))
	if err != nil {
		t.Fatal(err)
	}
	var direct []string
	for line := range strings.Lines(string(data)) {
		if f := strings.Fields(line); len(f) == 2 && strings.HasPrefix(f[1], "v") {
			direct = append(direct, f[0])
		}
	}
	if data, err = os.ReadFile(filepath.Join("..", "..", "docs", "decisions.md")); err != nil {
		t.Fatal(err)
	}
	var explained []string
	for _, m := range regexp.MustCompile("(?m)^\\| `([^`]+)` \\| \\w").FindAllStringSubmatch(string(data), -1) {
		explained = append(explained, m[1])
	}
	slices.Sort(direct)
	slices.Sort(explained)
	if diff := cmp.Diff(direct, explained); diff != "" {
		t.Errorf("go.mod (-), docs/decisions.md (+):\n%s", diff)
	}
}

// The commands that docs/interop.md gives the owners of other systems are those that
// interop_owner_pages.txtar runs.
func TestOwnerPages(t *testing.T) {
	_, blocks := document(t, "interop.md")
	lines, files := script(t, "interop_owner_pages.txtar")
	shown := map[string]bool{}
	for _, b := range blocks {
		if b.kind == "owner" {
			shown[b.name] = true
			same(t, b.name, b.text, files["pages/"+b.name+".sh"])
			if !slices.Contains(lines, "exec sh -e ../pages/"+b.name+".sh") {
				t.Errorf("the script does not run the page of %s", b.name)
			}
		}
	}
	if len(shown) != len(interop.Formats()) {
		t.Errorf("the document has pages for %v, not for each layout", shown)
	}
}
