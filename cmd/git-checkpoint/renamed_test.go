package main

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/rogpeppe/go-internal/txtar"
	"github.com/tidwall/sjson"

	"git-checkpoint/internal/core/workflow"
)

// copied is what the copies are called.
const copied = "own_copy"

// systems are the workflows that come from another system, with its documents.
func systems() (names []string) {
	for _, name := range workflow.Names() {
		if d, ok := workflow.Builtin(name); ok && d.Origin() != "" {
			names = append(names, name)
		}
	}
	return names
}

// A copy of a built-in definition under another name behaves the same through the whole
// day of its scenario: no code knows a workflow by its name.
func TestScenariosOfRenamedCopies(t *testing.T) {
	dir := t.TempDir()
	for _, name := range systems() {
		write(t, filepath.Join(dir, "scenario_"+name+".txtar"), renamed(t, name))
	}
	runOrSample(t, dir)
}

// renamed is the scenario of a workflow, run by a copy of its definition that the
// repository brings.
func renamed(t *testing.T, name string) []byte {
	t.Helper()
	scenario, err := txtar.ParseFile(filepath.Join("..", "..", "testdata", "scripts", "scenario_"+name+".txtar"))
	if err != nil {
		t.Fatal(err)
	}
	d, ok := workflow.Builtin(name)
	if !ok {
		t.Fatalf("no built-in %q", name)
	}
	// The documents say which workflow is theirs; the repository has a copy that knows them
	// too. A committed definition deletes nothing by itself unless the user lets it.
	configure := "exec git config checkpoint.workflow " + copied + "\n"
	if d.Retention.Automatic {
		configure += "exec git config checkpoint.autoPrune true\n"
	}
	const begin = "cd repo\n"
	if !strings.Contains(string(scenario.Comment), begin) {
		t.Fatalf("the scenario of %s does not begin in a repository", name)
	}
	scenario.Comment = []byte(strings.Replace(string(scenario.Comment), begin, begin+configure, 1))
	var pairs []string // where a script calls the workflow by its name
	for _, form := range []string{"--workflow %", "(%, ", "heads/%/", `\t%/`, "origin main %/", "switch -q %/"} {
		pairs = append(pairs, strings.ReplaceAll(form, "%", name), strings.ReplaceAll(form, "%", copied))
	}
	calls := strings.NewReplacer(pairs...)
	scenario.Comment = []byte(calls.Replace(string(scenario.Comment)))
	for i, f := range scenario.Files {
		scenario.Files[i].Data = []byte(calls.Replace(string(f.Data)))
	}
	definition, err := sjson.SetBytes(d.JSON(), "name", copied)
	if err != nil {
		t.Fatal(err)
	}
	scenario.Files = append(scenario.Files, txtar.File{Name: "repo/.checkpoint/workflows/" + copied + ".json", Data: definition})
	return txtar.Format(scenario)
}

func write(t *testing.T, file string, data []byte) {
	t.Helper()
	if err := os.WriteFile(file, data, 0o666); err != nil {
		t.Fatal(err)
	}
}

// Definitions are data: the rooms that run them have none of their names.
func TestNoCodeNamesAWorkflow(t *testing.T) {
	names := systems()
	for _, room := range []string{"core/checkpoint", "storage/store", "format/journal", "format/record", "storage/snapshot", "core/workflow"} {
		files, err := filepath.Glob(filepath.Join("..", "..", "internal", room, "*.go"))
		if err != nil || len(files) == 0 {
			t.Fatal(room, err)
		}
		for _, file := range files {
			text, err := os.ReadFile(file)
			if err != nil {
				t.Fatal(err)
			}
			for _, name := range names {
				if !strings.HasSuffix(file, "_test.go") && strings.Contains(string(text), `"`+name+`"`) {
					t.Errorf("%s names %s", file, name)
				}
			}
		}
	}
}
