package main

import (
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

// The jobs of docs/ci.md run the commands that the scripts ci_* run, in that order.
func TestCI(t *testing.T) {
	_, blocks := document(t, "ci.md")
	shells := map[string][]string{
		"pickup": {"pickup.sh"}, "shell": {"job.sh"}, "github": {"look.sh", "test.sh", "failure.sh"}, "gitlab": {"script.sh", "after.sh"},
	}
	for _, b := range blocks {
		of := b.name
		if of == "pickup" {
			of = "shell"
		}
		_, files := script(t, "ci_"+of+".txtar")
		var run []string
		for _, file := range shells[b.name] {
			run = append(run, commandsOf(files[file])...)
		}
		if diff := cmp.Diff(commandsOf(b.text), run); diff != "" || len(run) == 0 {
			t.Errorf("%s: the page and the script differ:\n%s", b.name, diff)
		}
	}
	if len(blocks) != len(shells) {
		t.Errorf("%d recipes", len(blocks))
	}
}

// commandsOf returns the lines of a job that run git or the tests.
func commandsOf(job string) (found []string) {
	for line := range strings.Lines(job) {
		line = strings.TrimPrefix(strings.TrimSpace(line), "- ")
		if word, _, _ := strings.Cut(line, " "); slices.Contains([]string{"git", "sh", "test", "if"}, word) {
			found = append(found, line)
		}
	}
	return found
}

// The recipes of docs/report.md have the commands that report_recipes.txtar runs, in that order.
func TestReportRecipes(t *testing.T) {
	data, err := os.ReadFile(filepath.Join("..", "..", "docs", "report.md"))
	if err != nil {
		t.Fatal(err)
	}
	page := strings.Join(strings.Fields(string(data)), " ")
	_, files := script(t, "report_recipes.txtar")
	for _, file := range []string{"github.sh", "gitlab.sh"} {
		at := 0
		for line := range strings.Lines(files[file]) {
			line = strings.Join(strings.Fields(line), " ")
			next := strings.Index(page[at:], line)
			if next < 0 {
				t.Fatalf("docs/report.md has no %q where %s has it", line, file)
			}
			at += next
		}
	}
}
