package main

import (
	"os"
	"path"
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

// pages are all documents, by their path from the top of the repository.
func pages(t *testing.T) map[string]string {
	t.Helper()
	found := map[string]string{}
	for _, pattern := range []string{"*.md", "docs/*.md"} {
		files, err := filepath.Glob(filepath.Join("..", "..", filepath.FromSlash(pattern)))
		if err != nil || len(files) == 0 {
			t.Fatal(pattern, err)
		}
		for _, file := range files {
			name := path.Join(path.Dir(pattern), filepath.Base(file))
			found[name] = read(t, filepath.FromSlash(name))
		}
	}
	return found
}

// What a page points to is there, also the heading.
func TestLinks(t *testing.T) {
	all := pages(t)
	headings := map[string][]string{}
	for name, text := range all {
		all[name] = regexp.MustCompile("(?ms)^```.*?^```").ReplaceAllString(text, "")
		for _, heading := range first(`^#+ (.*)$`, all[name]) {
			heading = regexp.MustCompile(`[^\w -]`).ReplaceAllString(strings.ToLower(heading), "")
			headings[name] = append(headings[name], strings.ReplaceAll(heading, " ", "-"))
		}
	}
	for name, text := range all {
		for _, link := range first(`\]\(([^)\s:]+)\)`, text) {
			file, heading, _ := strings.Cut(link, "#")
			if file = path.Join(path.Dir(name), file); strings.HasPrefix(link, "#") {
				file = name
			}
			if _, err := os.Stat(filepath.Join("..", "..", filepath.FromSlash(file))); err != nil {
				t.Errorf("%s: %v", name, err)
			} else if heading != "" && !slices.Contains(headings[file], heading) {
				t.Errorf("%s: %s has no heading %s", name, file, heading)
			}
		}
	}
}

// The commands that the pages name exist, with their flags.
func TestNamedCommands(t *testing.T) {
	manual := strings.ReplaceAll(read(t, "docs", "man", "git-checkpoint.1"), `\-`, "-")
	commands := first("`([a-z]+)`", section(t, read(t, "docs", "commands.md"), "Commands"))
	for name, text := range pages(t) {
		for _, m := range regexp.MustCompile("`git checkpoint ([a-z]+)([^`\n]*)|(?m)^    git checkpoint ([a-z]+)(.*)$").FindAllStringSubmatch(text, -1) {
			command, rest := m[1]+m[3], m[2]+m[4]
			if !slices.Contains(commands, command) {
				t.Errorf("%s: there is no command %s", name, command)
			}
			if command == "chat" { // what stands behind it is another system's
				continue
			}
			rest, _, _ = strings.Cut(rest, " -- ")
			for _, flag := range first(`(?:^|[ \[])(--[a-z][a-z-]*)`, rest) {
				if !strings.Contains(manual, flag) {
					t.Errorf("%s: there is no %s (%s)", name, flag, command)
				}
			}
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
