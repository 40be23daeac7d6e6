package main

import (
	"encoding/json"
	"fmt"
	"io/fs"
	"os"
	"path"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/rogpeppe/go-internal/txtar"
	"github.com/tidwall/gjson"
	"go.yaml.in/yaml/v3"
)

// Every document of the five systems is taken whole by the workflow it is of: with the
// step and the status that it says, and its state as it stands there.
func TestSamplesAreTaken(t *testing.T) {
	dir := t.TempDir()
	for _, name := range systems() {
		write(t, filepath.Join(dir, "samples_"+name+".txtar"), sampled(t, name))
	}
	runOrSample(t, dir)
}

// sampled is a script that gives the documents of a system to create, oldest first.
func sampled(t *testing.T, name string) []byte {
	t.Helper()
	var told strings.Builder
	a := &txtar.Archive{}
	told.WriteString("exec git init -q repo\ncd repo\n")
	for i, document := range documents(t, name) {
		file := fmt.Sprintf("%02d.json", i)
		a.Files = append(a.Files, txtar.File{Name: file, Data: append(document, '\n')})
		at := gjson.ParseBytes(document)
		if i == 0 || name == "orchestrate" || name == "pipeline" { // one session for each document
			fmt.Fprintf(&told, "exec git checkpoint session start s%d --workflow %s\n", i, name)
		}
		fmt.Fprintf(&told, "exec git checkpoint create --state ../%s --json\n", file)
		for _, says := range [][2]string{
			{"checkpoint.step_number", "step"}, {"current_phase", "step"}, {"checkpoint.step_name", "step_name"}, {"phase", "step_name"},
			{"workflow_state.current_phase", "step_name"}, {"status", "status"}, {"trigger", "trigger"},
			{"checkpoint.state.metrics.test_coverage", "state.metrics.test_coverage"}, {"metrics.elapsed_time", "state.metrics.elapsed_time"},
			{"state.pending_tasks.#", "state.pending_tasks.#"}, {"gates_passed.#", "state.gates_passed.#"}, {"issue_number", "state.issue_number"},
			{"checkpoint.outputs.code_files.#", "outputs.code_files.entries"},
		} {
			if v := at.Get(says[0]); v.Exists() && v.String() != "0" {
				fmt.Fprintf(&told, "jsonpath stdout '%s' '%s'\n", says[1], v.String())
			}
		}
		told.WriteString("tick\n")
	}
	told.WriteString("exec git checkpoint validate --all\n")
	a.Comment = []byte(told.String())
	return txtar.Format(a)
}

// documents are the checkpoints of a system as JSON, by when they were made.
func documents(t *testing.T, name string) [][]byte {
	t.Helper()
	var found [][]byte
	err := filepath.WalkDir(filepath.Join("..", "..", "internal", "verb", "interop", "testdata", "samples", name), func(file string, e fs.DirEntry, err error) error {
		if err != nil || e.IsDir() || !e.Type().IsRegular() || slices.Contains([]string{"manifest.json", "rollback-history.json", "index.yaml", "latest"}, e.Name()) {
			return err
		}
		text, err := os.ReadFile(file)
		if err == nil && path.Ext(e.Name()) == ".yaml" {
			var document any
			if err = yaml.Unmarshal(text, &document); err == nil {
				text, err = json.Marshal(document)
			}
		}
		if err == nil && gjson.ValidBytes(text) {
			found = append(found, text)
		}
		return err
	})
	if err != nil || len(found) == 0 {
		t.Fatalf("no documents of %s: %v", name, err)
	}
	slices.SortStableFunc(found, func(a, b []byte) int { return strings.Compare(made(a), made(b)) })
	return found
}

func made(document []byte) string {
	for _, p := range []string{"checkpoint.created_at", "created_at", "timestamp"} {
		if v := gjson.GetBytes(document, p); v.Exists() {
			return v.String()
		}
	}
	return ""
}
