package usage_test

import (
	"cmp"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"git-checkpoint/internal/ui/cli/usage"
)

// TestMain lets the test binary stand in for the program, so that shells complete the sample
// grammar.
func TestMain(m *testing.M) {
	if os.Getenv("COMPLETES_THE_SAMPLE") == "" {
		os.Exit(m.Run())
	}
	app, err := sample()
	if err != nil || len(os.Args) < 5 || !slices.Equal(os.Args[1:4], []string{"__complete", "line", "--"}) {
		os.Exit(1)
	}
	for _, line := range usage.Complete(app, os.Args[4:], offered) {
		fmt.Println(line)
	}
}

// offered are the values of the sample, among them names that would do harm if a shell evaluated
// them.
func offered(kind, session, _ string) []string {
	switch kind + session {
	case "reftold":
		return []string{"4\t\"the $(touch harm)\"", "13\t(a and b)", "3"}
	}
	switch kind {
	case "session":
		return []string{"alpha\tthe first one: [old]", "beta"}
	case "workflow":
		return []string{"go-team"}
	case "ref":
		return []string{cmp.Or(session, "demo") + ":3\tdesign", "@~1", "cp-03-design+2", "$(touch harm)", "`touch harm`", ";touch harm", "a b", "~root", "../*", `"x"`}
	}
	return nil
}

// candidates are the cases for every shell: a line, and what may follow at its end.
var candidates = []struct {
	line string
	want []string
}{
	{"", []string{"create ", "save ", "diff ", "session ", "pin "}},
	{"cr", []string{"create "}},
	{"create --s", []string{"--session=", "--set=", "--state="}},
	{"save --q", []string{"--quiet "}},
	{"create --no-", []string{"--no-tag "}},
	{"create --sec", nil},
	{"create -n", []string{"-n "}},
	{"__", nil},
	{"create --session=", []string{"alpha ", "beta "}},
	{"create --session al", []string{"alpha "}},
	{"create -s b", []string{"beta "}},
	{"create --on-fail=r", []string{"rollback "}},
	{"create --on-fail ", []string{"stop ", "rollback "}},
	{"create --message create --sta", []string{"--state="}},
	{"create --message=--session --sta", []string{"--state="}},
	{"--quiet create --dry", []string{"--dry-run "}},
	{"diff cp", []string{"cp-03-design+2 "}},
	{"diff demo:", []string{"3 "}},
	{"diff @", []string{"@~1 "}},
	{"diff x:3 @~", []string{"@~1 "}},
	{"diff demo:3 demo:", []string{"3 "}},
	{"diff --session beta b", []string{"beta:3 "}},
	{"diff --session=beta b", []string{"beta:3 "}},
	{"diff $", nil},
	{"diff ~", nil},
	{"diff ..", nil},
	{"pin x:1 2 c", []string{"cp-03-design+2 "}},
	{"session ", []string{"start ", "switch ", "sw "}},
	{"session sw a", []string{"alpha "}},
	{"session --all start --workflow g", []string{"go-team "}},
	{"create --message ", nil},
	{"create --unknown x --dry", []string{"--dry-run "}},
}

// workshop makes a directory with the completion scripts and a program that the test binary stands
// in for, and puts it first in PATH.
func workshop(t *testing.T) (dir string, environ []string) {
	t.Helper()
	dir = t.TempDir()
	files := map[string]string{"git-checkpoint": "#!/bin/sh\nCOMPLETES_THE_SAMPLE=1 exec " + quoted(os.Args[0]) + ` "$@"`}
	for name, shell := range map[string]string{"completion.bash": "bash", "_git-checkpoint": "zsh", "completion.fish": "fish"} {
		var script strings.Builder
		if err := usage.WriteCompletion(&script, shell); err != nil {
			t.Fatal(err)
		}
		files[name] = script.String()
	}
	for name, text := range files {
		if err := os.WriteFile(filepath.Join(dir, name), []byte(text), 0o755); err != nil {
			t.Fatal(err)
		}
	}
	return dir, []string{"PATH=" + dir + ":" + os.Getenv("PATH"), "HOME=" + dir, "XDG_CONFIG_HOME=" + dir, "XDG_DATA_HOME=" + dir, "TERM=xterm", "LC_ALL=C.UTF-8"}
}

func run(t *testing.T, dir string, environ []string, command ...string) string {
	t.Helper()
	if _, err := exec.LookPath(command[0]); err != nil {
		t.Skipf("no %s here", command[0])
	}
	process := exec.Command(command[0], command[1:]...)
	process.Dir, process.Env = dir, environ
	out, err := process.CombinedOutput()
	if err != nil {
		t.Fatalf("%s: %v\n%s", command[0], err, out)
	}
	return string(out)
}

// breaks is bash's default for COMP_WORDBREAKS, without characters that no test types.
const breaks = " \t\n@><=;|&(:"

// readlineWords splits a line into words as readline does for COMP_WORDS.
func readlineWords(line string) (words []string) {
	word, broken := "", false
	for _, r := range line {
		isBreak := strings.ContainsRune("@=:", r)
		if r == ' ' || word != "" && isBreak != broken {
			if word != "" {
				words = append(words, word)
			}
			word = ""
		}
		if r != ' ' {
			word, broken = word+string(r), isBreak
		}
	}
	return append(words, word)
}

// bashReplies sources the script in a bash, runs setup and, for each line, sets the variables that
// readline sets, and runs call.
func bashReplies(t *testing.T, setup, breaks, call string, lines []string) [][]string {
	t.Helper()
	dir, environ := workshop(t)
	var driver strings.Builder
	driver.WriteString("source completion.bash\n" + setup + "\n")
	for _, line := range lines {
		words := readlineWords(line)
		if breaks == " " {
			words = strings.Split(line, " ")
		}
		for i := range words {
			words[i] = quoted(words[i])
		}
		fmt.Fprintf(&driver, "(COMP_WORDBREAKS=%s COMP_LINE=%s COMP_POINT=%d COMP_WORDS=(%s) COMP_CWORD=%d\n%s\nprintf '%%s|' \"${COMPREPLY[@]}\"; echo)\n",
			quoted(breaks), quoted(line), len(line), strings.Join(words, " "), len(words)-1, call)
	}
	return replies(run(t, dir, environ, "bash", "--norc", "-c", driver.String()))
}

func quoted(s string) string { return "'" + strings.ReplaceAll(s, "'", `'\''`) + "'" }

// replies parses the output: a line for each reply, with its members separated by bars.
func replies(out string) (all [][]string) {
	for line := range strings.Lines(out) {
		var list []string
		if line = strings.Trim(line, "\n"); line != "|" {
			list = strings.Split(strings.TrimSuffix(line, "|"), "|")
		}
		all = append(all, list)
	}
	return all
}

// compareBash checks all candidates in a single bash, because starting one for each would be slow.
func compareBash(t *testing.T, program, setup, call string) {
	t.Helper()
	var lines []string
	for _, c := range candidates {
		lines = append(lines, program+c.line)
	}
	got := bashReplies(t, setup, breaks, call, lines)
	if len(got) != len(candidates) {
		t.Fatalf("%d replies to %d lines: %q", len(got), len(candidates), got)
	}
	for i, c := range candidates {
		if !slices.Equal(got[i], c.want) {
			t.Errorf("%q: got %q, want %q", lines[i], got[i], c.want)
		}
	}
}

func TestBashCompletion(t *testing.T) { compareBash(t, "git-checkpoint ", "", "__git_checkpoint_main") }

// TestBashCompletionThroughGit checks the same candidates by way of what git's completion calls and
// sets.
func TestBashCompletionThroughGit(t *testing.T) {
	compareBash(t, "git -C . -p checkpoint ", `__git () { shift; git-checkpoint "$@"; }
		words=(git -C . -p checkpoint) __git_cmd_idx=4`, "_git_checkpoint")
}

// TestBashCompletionInGits checks, where git's own completion is installed, that it finds our
// function.
func TestBashCompletionInGits(t *testing.T) {
	gits := "/usr/share/bash-completion/completions/git"
	if _, err := os.Stat(gits); err != nil {
		t.Skip("git's completion is not installed")
	}
	compareBash(t, "git -c a=b --no-pager checkpoint ", "source "+gits, "__git_wrap__git_main")
}

// TestBashCompletionCorners checks that the reply is the whole word if there are no word breaks,
// that files are left to readline, and that readline does not offer files where nothing is to be
// completed.
func TestBashCompletionCorners(t *testing.T) {
	for _, c := range []struct{ breaks, line, want string }{
		{" ", "git-checkpoint diff demo:", "demo:3 "},
		{" ", "git-checkpoint create --session=a", "--session=alpha "},
		{breaks, "git-checkpoint diff 1 2 ", ""},
		{breaks, "git-checkpoint create --state=", ""},
		{breaks, "git-checkpoint create -- cr", ""},
		{breaks, "git-checkpoint create --message ", "no files "},
	} {
		call := `compopt () { [ $1 = -o ] || COMPREPLY=("no files "); }; __git_checkpoint_main`
		if got := bashReplies(t, "", c.breaks, call, []string{c.line}); strings.Join(got[0], "|") != c.want {
			t.Errorf("%q: got %q, want %q", c.line, got[0], c.want)
		}
	}
	// The newest is the first. Messages are shown beside several, and never inserted.
	for compType, want := range map[string]string{"9": `4  "the $(touch harm)"|13  (a and b)|3 `, "37": "4 |13 |3 ", "42": "4 |13 |3 "} {
		got := bashReplies(t, "", breaks, "COMP_TYPE="+compType+"; __git_checkpoint_main", []string{"git-checkpoint diff --session told ", "git-checkpoint diff --session told 4"})
		if strings.Join(got[0], "|") != want || !slices.Equal(got[1], []string{"4 "}) {
			t.Errorf("with messages, of type %s: %q", compType, got)
		}
	}
	call := `COMP_POINT=17; __git_checkpoint_main` // the cursor stands after "cr"
	if got := bashReplies(t, "", breaks, call, []string{"git-checkpoint crab"}); !slices.Equal(got[0], []string{"create "}) {
		t.Errorf("in the middle of a word: %q", got[0])
	}
}

func TestFishCompletion(t *testing.T) {
	for _, program := range []string{"git-checkpoint ", "git -C . checkpoint "} {
		t.Run(program, func(t *testing.T) { testFish(t, program) })
	}
}

func testFish(t *testing.T, program string) {
	dir, environ := workshop(t)
	if strings.HasPrefix(program, "git ") {
		if known := run(t, dir, environ, "fish", "-c", "complete -C 'git cherry-p'"); !strings.Contains(known, "cherry-pick") {
			t.Skip("fish without its completion of git")
		}
	}
	ask := []string{"fish", "-c", `source completion.fish
		for line in $argv
			complete -C $line | string replace -r '\t.*' '' | sort | tr '\n' '|'; echo '|'
		end`}
	var wanted [][]string
	for _, c := range candidates {
		want, ok := fishWants(c.line, c.want)
		if ok {
			ask, wanted = append(ask, program+c.line), append(wanted, want)
		}
	}
	if got := run(t, dir, environ, "fish", "-c", "source completion.fish; complete -C '"+program+"diff --session told '"); got != "4\t\"the $(touch harm)\"\n13\t(a and b)\n3\n" {
		t.Errorf("with messages: %q", got)
	}
	got := replies(strings.ReplaceAll(run(t, dir, environ, ask...), "||", "|"))
	if len(got) != len(wanted) {
		t.Fatalf("%d replies to %d lines: %q", len(got), len(wanted), got)
	}
	for i, want := range wanted {
		if !slices.Equal(got[i], want) {
			t.Errorf("%q: got %q, want %q", ask[i+3], got[i], want)
		}
	}
}

// fishWants turns the expected reply of bash into that of fish: whole words, sorted, without a
// trailing character. ok is false for lines for which fish offers more.
func fishWants(line string, bash []string) (want []string, ok bool) {
	if slices.Contains([]string{"create -n", "diff $", "diff ~", "diff .."}, line) {
		return nil, false
	}
	last := line[strings.LastIndex(line, " ")+1:]
	begun := last[:strings.LastIndexAny(last, "=:")+1]
	for _, w := range bash {
		want = append(want, begun+strings.TrimRight(w, " "))
	}
	slices.Sort(want)
	return want, true
}

func TestCompletionSyntax(t *testing.T) {
	dir, environ := workshop(t)
	for shell, file := range map[string]string{"bash": "completion.bash", "zsh": "_git-checkpoint", "fish": "completion.fish"} {
		t.Run(shell, func(t *testing.T) { run(t, dir, environ, shell, "-n", file) })
	}
}

func TestCompletionRefusals(t *testing.T) {
	var b strings.Builder
	if err := usage.WriteCompletion(&b, "tcsh"); err == nil || b.Len() > 0 {
		t.Errorf("tcsh: %v", err)
	}
}
