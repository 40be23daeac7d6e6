package main

import (
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"
)

func read(t *testing.T, elements ...string) string {
	t.Helper()
	data, err := os.ReadFile(filepath.Join(append([]string{"..", ".."}, elements...)...))
	if err != nil {
		t.Fatal(err)
	}
	return string(data)
}

// section is what stands below a heading of the second level.
func section(t *testing.T, text, heading string) string {
	t.Helper()
	_, rest, found := strings.Cut(text, "\n## "+heading+"\n")
	if !found {
		t.Fatalf("there is no %q", heading)
	}
	text, _, _ = strings.Cut(rest, "\n## ")
	return text
}

// first answers the first groups of all matches.
func first(pattern, text string) (found []string) {
	for _, m := range regexp.MustCompile("(?m)"+pattern).FindAllStringSubmatch(text, -1) {
		found = append(found, m[1])
	}
	return found
}

// The list of commands has all that the help names and no other.
func TestListedCommands(t *testing.T) {
	listed, help := read(t, "docs", "commands.md"), read(t, "testdata", "help", "git-checkpoint-all.txt")
	var real []string
	for _, names := range first(`^   ([a-z]+(?:, [a-z]+)*)(?:  |,?$)`, help) {
		real = append(real, strings.Split(names, ", ")...)
	}
	named := first("`([a-z]+)`", section(t, listed, "Commands"))
	slices.Sort(real)
	slices.Sort(named)
	if len(real) < 10 || !slices.Equal(real, named) {
		t.Errorf("the help has %q, docs/commands.md %q", real, named)
	}
}

// The exit codes that docs/commands.md lists are those of the manual.
func TestListedExitCodes(t *testing.T) {
	manual := read(t, "docs", "man", "git-checkpoint.1")
	_, manual, _ = strings.Cut(manual, `.SH "EXIT STATUS"`)
	manual, _, _ = strings.Cut(manual, "\n.SH ")
	real, shown := first(`^\\fB(\d+)\\fR$`, manual), first(`^\| (\d+) \|`, section(t, read(t, "docs", "commands.md"), "Exit codes"))
	if len(real) < 5 || !slices.Equal(real, shown) {
		t.Errorf("the manual has %v, docs/commands.md %v", real, shown)
	}
}

// What the README points to is there.
func TestReadmeLinks(t *testing.T) {
	for _, link := range first(`\]\(([^)#:]+)\)`, read(t, "README.md")) {
		if _, err := os.Stat(filepath.Join("..", "..", filepath.FromSlash(link))); err != nil {
			t.Error(err)
		}
	}
}

// How many git processes a command starts, as docs/performance.md says, is what
// create_processes.txtar counts.
func TestProcessCounts(t *testing.T) {
	_, files := script(t, "create_processes.txtar")
	shown := map[string]string{}
	for _, m := range regexp.MustCompile("(?m)^\\| `([a-z]+)` \\| (\\d+) \\|").FindAllStringSubmatch(section(t, read(t, "docs", "performance.md"), "Processes"), -1) {
		shown[m[1]] = m[2]
	}
	for line := range strings.Lines(files["want"]) {
		command, count, _ := strings.Cut(strings.TrimSpace(line), " ")
		if shown[command] != count {
			t.Errorf("%s starts %s, not %q", command, count, shown[command])
		}
	}
}
