package workflow

import (
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"testing"

	"github.com/tidwall/sjson"
)

// twins gives a built-in definition and a copy of it under another name, which has
// to behave the same in every test.
func twins(t *testing.T, name string) map[string]*Definition {
	t.Helper()
	d, ok := Builtin(name)
	if !ok {
		t.Fatalf("no built-in %q", name)
	}
	renamed, err := sjson.SetBytes(d.JSON(), "name", "copy-of-it")
	if err != nil {
		t.Fatal(err)
	}
	copied, err := Parse(renamed, "copy.json")
	if err != nil {
		t.Fatal(err)
	}
	return map[string]*Definition{name: d, name + " renamed": copied}
}

func TestBuiltinsAreWhatTheyAreCalled(t *testing.T) {
	want := []string{"agent", "crunch", "default", "go-team", "orchestrate", "pipeline", "ultra-create"}
	names := Names()
	if len(names) != len(want) {
		t.Fatalf("names are %q, want %q", names, want)
	}
	for i, name := range want {
		if names[i] != name {
			t.Errorf("name %d is %q, want %q", i, names[i], name)
		}
		d, ok := Builtin(name)
		if !ok || d.Name != name || d.Version == "" || d.Title == "" {
			t.Errorf("built-in %q is %+v, %v", name, d, ok)
		}
		if _, err := Parse(d.JSON(), name+".json"); err != nil {
			t.Errorf("built-in %q is refused as one's own:\n%v", name, err)
		}
	}
	if _, ok := Builtin("../doc"); ok {
		t.Error("a path is no built-in")
	}
}

// Origin recognizes a renamed copy of a built-in definition by its documents.
func TestCopiesKnowTheirOrigin(t *testing.T) {
	for _, name := range Names() {
		want := name
		if !hasDocuments(name) {
			want = ""
		}
		for label, d := range twins(t, name) {
			if got := d.Origin(); got != want {
				t.Errorf("%s is a copy of %q, want %q", label, got, want)
			}
		}
	}
	manual, err := Parse(sample(t, "manual"), "manual.json")
	if err != nil {
		t.Fatal(err)
	}
	if got := manual.Origin(); got != "" {
		t.Errorf("the manual is a copy of %q", got)
	}
}

// No code mentions a workflow by name, except the one that applies without a workflow.
func TestNoCodeNamesAWorkflow(t *testing.T) {
	files, err := filepath.Glob("*.go")
	if err != nil || len(files) == 0 {
		t.Fatal(files, err)
	}
	for _, file := range files {
		text, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		for _, name := range Names() {
			if hasDocuments(name) && !strings.HasSuffix(file, "_test.go") && strings.Contains(string(text), strconv.Quote(name)) {
				t.Errorf("%s names %s", file, name)
			}
		}
	}
}
