package cli_test

import (
	"context"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"git-checkpoint/internal/test/screentest"
	"git-checkpoint/internal/ui/cli"
)

// repository makes a new repository with two checkpoints and changes the working directory to it.
func repository(t *testing.T) {
	t.Helper()
	dir := t.TempDir()
	t.Chdir(dir)
	if out, err := exec.Command("git", "init", "-q", "-b", "main").CombinedOutput(); err != nil {
		t.Fatalf("%v: %s", err, out)
	}
	for _, step := range []struct{ content, message string }{{"one\n", "the first"}, {"two\n", "the second"}} {
		if err := os.WriteFile(filepath.Join(dir, "file"), []byte(step.content), 0o666); err != nil {
			t.Fatal(err)
		}
		if code, _ := at(context.Background(), screentest.NewPipes(""), "save", step.message); code != 0 {
			t.Fatalf("save: exit %d", code)
		}
	}
}

// at runs the program at a terminal.
func at(ctx context.Context, screen *screentest.Screen, args ...string) (int, *screentest.Screen) {
	screen.Environ = append(screen.Environ, "PATH="+os.Getenv("PATH"), "HOME=/nonexistent", "GIT_CONFIG_NOSYSTEM=1",
		"GIT_AUTHOR_NAME=A", "GIT_AUTHOR_EMAIL=a@example.com", "GIT_COMMITTER_NAME=C", "GIT_COMMITTER_EMAIL=c@example.com")
	return cli.Main(ctx, screen.Terminal, args, "1.2.3"), screen
}

func content(t *testing.T) string {
	t.Helper()
	text, err := os.ReadFile("file")
	if err != nil {
		t.Fatal(err)
	}
	return string(text)
}

// TestRollbackAsks checks that the plan is shown and confirmed: any answer but yes changes nothing
// and ends with 4.
func TestRollbackAsks(t *testing.T) {
	for _, c := range []struct {
		answers []string
		code    int
		content string
	}{
		{[]string{""}, 4, "two\n"}, {[]string{"n"}, 4, "two\n"}, {nil, 4, "two\n"}, {[]string{"y"}, 0, "one\n"},
	} {
		repository(t)
		code, screen := at(context.Background(), screentest.New(c.answers...), "rollback", "1")
		if code != c.code || content(t) != c.content {
			t.Errorf("%q: exit %d, content %q, %s", c.answers, code, content(t), screen.Stderr())
		}
		if !strings.Contains(screen.Stdout(), "write") || !strings.Contains(screen.Stderr(), "Continue? [y/N] ") {
			t.Errorf("%q: no plan or no question: %s%s", c.answers, screen.Stdout(), screen.Stderr())
		}
	}
}

// TestResumeTellsOnce checks that the menu of resume prints once what is pending: in the report, and not
// again when the person goes on.
func TestResumeTellsOnce(t *testing.T) {
	repository(t)
	for _, args := range [][]string{{"session", "start", "team", "--workflow", "go-team"}, {"create", "--step", "1"}} {
		if code, screen := at(context.Background(), screentest.NewPipes(""), args...); code != 0 {
			t.Fatalf("%v: exit %d\n%s", args, code, screen.Stderr())
		}
	}
	code, screen := at(context.Background(), screentest.New("r"), "resume")
	if got := strings.Count(screen.Stdout(), "Pending"); code != 0 || got != 1 {
		t.Errorf("exit %d, %d lists of what is pending\n%s", code, got, screen.Stdout())
	}
}

// TestRollbackInterrupted checks that Ctrl+C at the question changes nothing and ends with 130.
func TestRollbackInterrupted(t *testing.T) {
	repository(t)
	ctx, cancel := context.WithCancel(context.Background())
	screen := screentest.New(screentest.Interrupt)
	screen.OnInterrupt = cancel
	code, _ := at(ctx, screen, "rollback", "1")
	if code != 130 || content(t) != "two\n" {
		t.Errorf("exit %d, content %q, %s", code, content(t), screen.Stderr())
	}
}

// TestRollbackAsksInJSON checks that with --json stdout has only the JSON of the result. Plan and
// question are on stderr.
func TestRollbackAsksInJSON(t *testing.T) {
	repository(t)
	code, screen := at(context.Background(), screentest.New("y"), "rollback", "1", "--json")
	if code != 0 || !strings.HasPrefix(screen.Stdout(), "{") || strings.Count(screen.Stdout(), "\n") != 1 {
		t.Errorf("exit %d, stdout %s", code, screen.Stdout())
	}
	if !strings.Contains(screen.Stderr(), "Leaves") {
		t.Errorf("no plan: %s", screen.Stderr())
	}
}

// TestRollbackPicks checks that a rollback without a checkpoint offers a list, the newest first.
func TestRollbackPicks(t *testing.T) {
	repository(t)
	code, screen := at(context.Background(), screentest.New("1", "y"), "rollback")
	if code != 0 || content(t) != "one\n" {
		t.Errorf("exit %d, content %q, %s", code, content(t), screen.Stderr())
	}
	if first, second := strings.Index(screen.Stderr(), "the second"), strings.Index(screen.Stderr(), "the first"); first < 0 || second < first {
		t.Errorf("not listed, newest first: %s", screen.Stderr())
	}
	if code, screen = at(context.Background(), screentest.New("q"), "rollback"); code != 4 || content(t) != "one\n" {
		t.Errorf("left: exit %d, %s", code, screen.Stderr())
	}
}

// TestLooks checks what counts as a terminal, which gets colours, short hashes and relative times:
// a pipe, NO_COLOR, a dumb terminal and --color=never get no colours, --color=always does, and
// git's pager is a terminal.
func TestLooks(t *testing.T) {
	repository(t)
	for _, c := range []struct {
		screen   *screentest.Screen
		environ  string
		args     []string
		coloured bool
		aligned  bool
	}{
		{screentest.New(), "", []string{"list"}, true, true},
		{screentest.New(), "NO_COLOR=1", []string{"list"}, false, true},
		{screentest.New(), "TERM=dumb", []string{"list"}, false, true},
		{screentest.New(), "", []string{"--color=never", "list"}, false, true},
		{screentest.New(), "", []string{"list", "--color", "never"}, false, true},
		{screentest.NewPipes(""), "", []string{"list"}, false, false},
		{screentest.NewPipes(""), "", []string{"--color=always", "list"}, true, false},
		{screentest.NewPipes(""), "GIT_PAGER_IN_USE=true", []string{"list"}, true, true},
		{screentest.New(), "", []string{"diff", "1", "2", "-p"}, true, false},
		{screentest.NewPipes(""), "", []string{"diff", "1", "2", "-p"}, false, false},
	} {
		c.screen.Environ = append(c.screen.Environ, c.environ)
		code, screen := at(context.Background(), c.screen, c.args...)
		if coloured := strings.Contains(screen.Stdout(), "\x1b["); code != 0 || coloured != c.coloured {
			t.Errorf("%q %s: exit %d, coloured %v: %q %s", c.args, c.environ, code, coloured, screen.Stdout(), screen.Stderr())
		}
		if aligned := strings.Contains(screen.Stdout(), "Age"); aligned != c.aligned {
			t.Errorf("%q %s: aligned %v: %q", c.args, c.environ, aligned, screen.Stdout())
		}
	}
}

// TestConfiguredColours checks that git's settings of colours apply unless --color is given.
func TestConfiguredColours(t *testing.T) {
	repository(t)
	for _, c := range []struct {
		key, value string
		args       []string
		screen     *screentest.Screen
		coloured   bool
	}{
		{"color.ui", "never", []string{"list"}, screentest.New(), false},
		{"color.ui", "never", []string{"list", "--color=auto"}, screentest.New(), true},
		{"color.ui", "always", []string{"list"}, screentest.NewPipes(""), true},
		{"color.checkpoint", "false", []string{"list"}, screentest.New(), false},
		{"color.ui", "nonsense", []string{"list"}, screentest.New(), true},
	} {
		c.screen.Environ = append(c.screen.Environ, "GIT_CONFIG_COUNT=1", "GIT_CONFIG_KEY_0="+c.key, "GIT_CONFIG_VALUE_0="+c.value)
		code, screen := at(context.Background(), c.screen, c.args...)
		if coloured := strings.Contains(screen.Stdout(), "\x1b["); code != 0 || coloured != c.coloured {
			t.Errorf("%s=%s %q: exit %d, coloured %v: %s", c.key, c.value, c.args, code, coloured, screen.Stderr())
		}
	}
}

// TestStateInterrupted checks that Ctrl+C while the state is being read ends the program at once,
// with 130.
func TestStateInterrupted(t *testing.T) {
	ctx, cancel := context.WithCancel(context.Background())
	screen := screentest.New(screentest.Interrupt)
	screen.OnInterrupt = cancel
	if code, _ := at(ctx, screen, "create", "--state", "-"); code != 130 {
		t.Errorf("exit %d, %s", code, screen.Stderr())
	}
}

// TestErrorLooks checks that colours of errors depend on stderr, not on stdout.
func TestErrorLooks(t *testing.T) {
	_, screen := at(context.Background(), screentest.New(), "lsit")
	if !strings.HasPrefix(screen.Stderr(), "\x1b[1;31merror:\x1b[0m ") {
		t.Errorf("%q", screen.Stderr())
	}
	_, screen = at(context.Background(), screentest.New(), "lsit", "--color=never")
	if !strings.HasPrefix(screen.Stderr(), "error: ") {
		t.Errorf("%q", screen.Stderr())
	}
}

// TestPaged checks that diff and log use the pager of git.
func TestPaged(t *testing.T) {
	repository(t)
	for _, args := range [][]string{{"diff", "1", "2"}, {"log"}, {"show", "-p"}} {
		screen := screentest.New()
		screen.Environ = append(screen.Environ, "GIT_PAGER=sed s/^/paged:/")
		code, _ := at(context.Background(), screen, args...)
		if code != 0 || !strings.HasPrefix(screen.Stdout(), "paged:") {
			t.Errorf("%q: exit %d: %s%s", args, code, screen.Stdout(), screen.Stderr())
		}
	}
}

// TestPruneAsks checks that a prune by flags is shown and confirmed first, but not one by the
// workflow's rules.
func TestPruneAsks(t *testing.T) {
	for _, c := range []struct {
		answer string
		code   int
		left   int
	}{{"", 4, 2}, {"n", 4, 2}, {"y", 0, 1}} {
		repository(t)
		code, screen := at(context.Background(), screentest.New(c.answer), "prune", "--keep", "1")
		if code != c.code || !strings.Contains(screen.Stderr(), "Continue? [y/N] ") || !strings.Contains(screen.Stdout(), "Would prune: 1 checkpoint") {
			t.Errorf("%q: exit %d, %s%s", c.answer, code, screen.Stdout(), screen.Stderr())
		}
		_, list := at(context.Background(), screentest.NewPipes(""), "list", "--json")
		if left := strings.Count(list.Stdout(), `"label"`); left != c.left {
			t.Errorf("%q: %d checkpoints are left, not %d", c.answer, left, c.left)
		}
		if code, screen := at(context.Background(), screentest.New(), "prune"); code != 0 {
			t.Errorf("by the rule: exit %d, %s", code, screen.Stderr())
		}
	}
}

// TestAgentOffered checks that agent add without a name offers the agents on this machine, with what
// each adds, and that quitting changes nothing.
func TestAgentOffered(t *testing.T) {
	repository(t)
	bin := t.TempDir()
	for _, program := range []string{"claude", "gemini"} {
		if err := os.WriteFile(filepath.Join(bin, program), []byte("#!/bin/sh\n"), 0o755); err != nil {
			t.Fatal(err)
		}
	}
	t.Setenv("PATH", bin+string(os.PathListSeparator)+os.Getenv("PATH"))
	code, screen := at(context.Background(), screentest.New("q"), "agent", "add")
	if said := screen.Stderr(); code != 4 || !strings.Contains(said, "  1  claude    Claude Code         9 hooks in .claude/settings.json\n") ||
		!strings.Contains(said, "  2  gemini ") || strings.Contains(said, "codex") {
		t.Errorf("exit %d: %s", code, said)
	}
	if code, screen = at(context.Background(), screentest.New("gemini", "n"), "agent", "add"); code != 4 || !strings.Contains(screen.Stdout(), "Gemini CLI  .gemini/settings.json: ") {
		t.Errorf("exit %d: %s%s", code, screen.Stdout(), screen.Stderr())
	}
	if _, err := os.Lstat(".gemini"); !os.IsNotExist(err) {
		t.Errorf("not agreed, and it changed: %v", err)
	}
}

// TestAgentOffersIgnored checks that agent add offers on a terminal to keep ignored files such as .env, once
// they are agreed to not again, and never without a terminal.
func TestAgentOffersIgnored(t *testing.T) {
	repository(t)
	for file, text := range map[string]string{".gitignore": ".env*\n", ".env": "1\n", ".env.local": "2\n"} {
		if err := os.WriteFile(file, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	add := func(answers ...string) string {
		t.Helper()
		code, screen := at(context.Background(), screentest.New(answers...), "agent", "add", "claude")
		if code != 0 {
			t.Fatalf("exit %d: %s%s", code, screen.Stdout(), screen.Stderr())
		}
		return screen.Stdout() + screen.Stderr()
	}
	const question = "git ignores .env, .env.local. Keep it in checkpoints?"
	if said := add("y", "n"); !strings.Contains(said, question) {
		t.Errorf("not offered: %s", said)
	}
	if said := add("y"); !strings.Contains(said, question) {
		t.Errorf("not offered again after a no: %s", said)
	}
	if said := add("y"); strings.Contains(said, question) {
		t.Errorf("offered after a yes: %s", said)
	}
	code, screen := at(context.Background(), screentest.NewPipes(""), "create", "--dry-run", "--json")
	if code != 0 || !strings.Contains(screen.Stdout(), `"ignored":[".env",".env.local"]`) {
		t.Errorf("exit %d: %s%s", code, screen.Stdout(), screen.Stderr())
	}
}

// TestListNamesOthers checks that list and the bare command end with the other sessions, and --session and
// --all do not.
func TestListNamesOthers(t *testing.T) {
	repository(t)
	for _, args := range [][]string{{"save", "--session", "b", "one"}, {"save", "--session", "c", "two"}} {
		if code, screen := at(context.Background(), screentest.NewPipes(""), args...); code != 0 {
			t.Fatal(screen.Stderr())
		}
	}
	for _, args := range [][]string{{"list"}, nil, {"status"}} {
		for width, end := range map[string]string{"140": "), b (1)   git checkpoint session switch NAME", "80": "), b (1)\n  git checkpoint session switch NAME"} {
			terminal := screentest.New()
			terminal.Environ = append(terminal.Environ, "COLUMNS="+width)
			_, screen := at(context.Background(), terminal, append(args, "--color=never")...)
			if last := strings.TrimSpace(screen.Stdout()); !strings.Contains(last, "\n2 more sessions: c (1 step, ") || !strings.HasSuffix(last, end) {
				t.Errorf("%q at %s: %q", args, width, last)
			}
		}
	}
	for _, args := range [][]string{{"list", "--all"}, {"list", "--session", "b"}, {"list", "--json"}} {
		if _, screen := at(context.Background(), screentest.New(), args...); strings.Contains(screen.Stdout(), "more session") {
			t.Errorf("%q: %s", args, screen.Stdout())
		}
	}
}

// TestListShowsTurns checks that list shows no checkpoint that an agent's tool made, but for the current one, a
// pinned one and with --hidden, and that @~1 passes them.
func TestListShowsTurns(t *testing.T) {
	repository(t)
	for i, args := range [][]string{{"--trigger", "tool", "-m", "a tool"}, {"--trigger", "before", "-m", "a before"}, {"--trigger", "turn", "-m", "a turn"}, {"--trigger", "tool", "-m", "the last"}} {
		if err := os.WriteFile("file", fmt.Append(nil, i), 0o666); err != nil {
			t.Fatal(err)
		}
		if code, screen := at(context.Background(), screentest.NewPipes(""), append([]string{"create", "--session", "agent", "--workflow", "agent"}, args...)...); code != 0 {
			t.Fatal(screen.Stderr())
		}
	}
	shown := func(args ...string) string {
		_, screen := at(context.Background(), screentest.New(), append(args, "--color=never")...)
		return screen.Stdout()
	}
	list := shown("list", "--session", "agent")
	if strings.Contains(list, "a tool") || strings.Contains(list, "a before") || !strings.Contains(list, "a turn") || !strings.Contains(list, "the last") || !strings.Contains(list, "2 more: of tools 2 (--hidden)") {
		t.Error(list)
	}
	for _, args := range [][]string{{"list", "--session", "agent", "--hidden"}, {"list", "--session", "agent", "--trigger", "tool"}} {
		if list := shown(args...); !strings.Contains(list, "a tool") {
			t.Errorf("%q: %s", args, list)
		}
	}
	if got := shown("show", "--session", "agent", "@~1", "--get", "message"); got != "a turn\n" {
		t.Errorf("@~1 is %q", got)
	}
	if code, screen := at(context.Background(), screentest.NewPipes(""), "show", "--session", "agent", "@~2"); code != 3 {
		t.Errorf("@~2: %s", screen.Stdout())
	}
}

// TestPushSays checks that a person sees one line for each session, and each ref with -v.
func TestPushSays(t *testing.T) {
	repository(t)
	for _, args := range [][]string{{"init", "-q", "--bare", "../remote.git"}, {"remote", "add", "origin", "../remote.git"}} {
		if out, err := exec.Command("git", args...).CombinedOutput(); err != nil {
			t.Fatalf("%v: %s", err, out)
		}
	}
	code, screen := at(context.Background(), screentest.New(), "push", "-y")
	if code != 0 || screen.Stdout() != "Pushed 2 checkpoints of main to origin (../remote.git)\n" {
		t.Errorf("exit %d, %q %s", code, screen.Stdout(), screen.Stderr())
	}
	if code, _ = at(context.Background(), screentest.NewPipes(""), "save", "the third"); code != 0 {
		t.Fatalf("save: exit %d", code)
	}
	code, screen = at(context.Background(), screentest.New(), "push", "-v", "--color=never")
	if code != 0 || !strings.Contains(screen.Stdout(), "→  updated  checkpoints/main/journal\n") || !strings.HasSuffix(screen.Stdout(), "Pushed 1 checkpoint of main to origin (../remote.git)\n") {
		t.Errorf("exit %d, %q %s", code, screen.Stdout(), screen.Stderr())
	}
}

// TestResumeChoices checks that resume shows messages and offers to quit from the start, and to delete only
// to somebody who has seen the details.
func TestResumeChoices(t *testing.T) {
	repository(t)
	code, screen := at(context.Background(), screentest.New("d", "v", "q"), "resume", "--color=never")
	begin, details, _ := strings.Cut(screen.Stdout(), "Files (1 changed)")
	if code != 4 || !strings.Contains(begin, `2 "the second"`) || !strings.Contains(begin, "step 1: the first") || !strings.Contains(details, "Commit ") {
		t.Errorf("exit %d, %s", code, screen.Stdout())
	}
	asked := strings.Split(screen.Stderr(), "Go on with main?\n")
	const before, after = "(r)esume, (s)tart fresh, (v)iew details, (q)uit? ", "(r)esume, (s)tart fresh, (d)elete, (q)uit? "
	if len(asked) != 4 || !strings.HasPrefix(asked[1], before) || !strings.HasPrefix(asked[2], before) || !strings.HasPrefix(asked[3], after) {
		t.Errorf("%q", asked)
	}
}

// TestLandEdits checks that land of several steps opens the editor with all messages, also those that are
// not the subject, and lands nothing if it fails or leaves nothing.
func TestLandEdits(t *testing.T) {
	for editor, want := range map[string]string{
		`sed -i.old -e 's/the third/edited/'`: "edited", "false": "begin", "cp /dev/null": "begin",
	} {
		repository(t)
		for _, args := range [][]string{{"add", "."}, {"-c", "user.name=A", "-c", "user.email=a@example.com", "commit", "-qm", "begin"}} {
			if out, err := exec.Command("git", args...).CombinedOutput(); err != nil {
				t.Fatalf("%v: %s", err, out)
			}
		}
		for _, step := range []string{"the third", "the fourth"} {
			if err := os.WriteFile("file", []byte(step), 0o666); err != nil {
				t.Fatal(err)
			}
			if code, _ := at(context.Background(), screentest.NewPipes(""), "save", step); code != 0 {
				t.Fatalf("save: exit %d", code)
			}
		}
		screen := screentest.New("y")
		screen.Environ = append(screen.Environ, "GIT_EDITOR="+editor)
		code, screen := at(context.Background(), screen, "land")
		out, err := exec.Command("git", "log", "-1", "--format=%B").Output()
		if err != nil || !strings.Contains(string(out), want) || (code == 0) != (want == "edited") {
			t.Errorf("%s: exit %d, %s: %q", editor, code, screen.Stderr(), out)
		}
		if want == "edited" && !strings.HasPrefix(string(out), "the fourth\n\nedited\n") {
			t.Errorf("%q", out)
		}
	}
}

// TestListFitsScreen checks that list shows a screenful, the newest first, and the command for the rest; that
// longer answers go through the pager, and that a pipe gets all rows.
func TestListFitsScreen(t *testing.T) {
	repository(t)
	t.Setenv("GIT_CHECKPOINT_AUTOPACK", "false")
	for i := range 60 {
		if err := os.WriteFile("file", []byte(strings.Repeat("line\n", i)), 0o666); err != nil {
			t.Fatal(err)
		}
		if code, screen := at(context.Background(), screentest.NewPipes(""), "save", "-m", fmt.Sprintf("Step %d\n\nsecond line", i+1)); code != 0 {
			t.Fatal(screen.Stderr())
		}
	}
	shown := func(pager string, args ...string) string {
		terminal := screentest.New()
		terminal.Environ = append(terminal.Environ, "GIT_PAGER="+pager, "LINES=24")
		_, screen := at(context.Background(), terminal, append([]string{"list", "--color=never"}, args...)...)
		return screen.Stdout()
	}
	const rest = "48 older: git checkpoint list --all\n"
	got := shown("sed 's/^/paged: /'")
	if lines := strings.Count(got, "\n"); lines > 22 || !strings.HasSuffix(got, rest) || strings.Contains(got, "paged") {
		t.Errorf("%d lines:\n%s", lines, got)
	}
	if !strings.Contains(got, "* 62 ") || !strings.Contains(got, "  Step 60 ") || !strings.Contains(got, "  +1 -0\n") || strings.Contains(got, "cp-") || strings.Contains(got, "manual") || strings.Index(got, "Step 60") > strings.Index(got, "Step 59") {
		t.Error(got)
	}
	if got = shown("sed 's/^/paged: /'", "--all"); strings.Count(got, "paged: ") != strings.Count(got, "\n") || !strings.Contains(got, "  Step 1 ") {
		t.Error(got)
	}
	for args, rows := range map[string]int{"-5": 5, "-n 5": 5, "--limit 5": 5, "-n 0": 60, "--grep STEP -n 3": 3, "--grep fil": 60, "--grep nosuch": 0} {
		if got := shown("cat", strings.Fields(args)...); strings.Count(got, " Step ") != rows {
			t.Errorf("%s:\n%s", args, got)
		}
	}
	_, screen := at(context.Background(), screentest.NewPipes(""), "list")
	if lines := strings.Split(screen.Stdout(), "\n"); len(lines) != 65 || !strings.HasPrefix(lines[2], "62\t") || !strings.Contains(lines[2], "\tStep 60\\n\\nsecond line") || !strings.HasPrefix(lines[63], "1\t") {
		t.Error(screen.Stdout())
	}
}

// TestResumeOffersFetch checks that resume in a clone without a session offers to fetch, goes on with what
// came, and fetches nothing without a yes.
func TestResumeOffersFetch(t *testing.T) {
	repository(t)
	for _, args := range [][]string{{"init", "-q", "--bare", "-b", "main", "../origin.git"}, {"remote", "add", "origin", "../origin.git"}} {
		if out, err := exec.Command("git", args...).CombinedOutput(); err != nil {
			t.Fatalf("%s", out)
		}
	}
	if code, screen := at(context.Background(), screentest.NewPipes(""), "push", "-y"); code != 0 {
		t.Fatal(screen.Stderr())
	}
	if out, err := exec.Command("git", "clone", "-q", "../origin.git", "../clone").CombinedOutput(); err != nil {
		t.Fatalf("%s", out)
	}
	t.Chdir("../clone")
	code, screen := at(context.Background(), screentest.New("n"), "resume")
	if code != 3 || !strings.Contains(screen.Stderr(), "Fetch from origin? [y/N] ") || !strings.Contains(screen.Stderr(), "nothing to resume") {
		t.Errorf("exit %d: %s%s", code, screen.Stdout(), screen.Stderr())
	}
	code, screen = at(context.Background(), screentest.New("y", "r"), "resume")
	if code != 0 || !strings.Contains(screen.Stderr(), "Go on with") {
		t.Errorf("exit %d: %s%s", code, screen.Stdout(), screen.Stderr())
	}
}
