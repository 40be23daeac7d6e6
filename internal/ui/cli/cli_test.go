package cli_test

import (
	"context"
	"encoding/json"
	"flag"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"git-checkpoint/internal/test/screentest"
	"git-checkpoint/internal/ui/cli"
)

var update = flag.Bool("update", false, "write the goldens anew")

// invoke runs the program outside of any repository, with its output going to a pipe.
func invoke(t *testing.T, environ []string, args ...string) (code int, stdout, stderr string) {
	t.Helper()
	pipes := screentest.NewPipes("")
	pipes.Environ = append([]string{"GIT_DIR=/nonexistent", "PATH=" + os.Getenv("PATH")}, environ...)
	code = cli.Main(context.Background(), pipes.Terminal, args, "1.2.3")
	return code, pipes.Stdout(), pipes.Stderr()
}

// TestUsageErrors checks that a wrong command line gets one sentence, a hint, and exit code 129.
func TestUsageErrors(t *testing.T) {
	for _, c := range []struct {
		args, stderr string
	}{
		{"lsit", `error: "lsit" is not a command of git checkpoint` + "\nhint: did you mean list?"},
		{"roll", `error: "roll" is not a command of git checkpoint` + "\nhint: did you mean rollback?"},
		{"xyzzy", `error: "xyzzy" is not a command of git checkpoint` + "\nhint: git checkpoint -h shows"},
		{"overveiw", `error: "overveiw" is not a command of git checkpoint` + "\nhint: git checkpoint -h"},
		{"squash 1 2", `error: "squash" is not a command of git checkpoint` + "\nhint: git checkpoint land"},
		{"rebase -i main", `error: "rebase" is not a command of git checkpoint` + "\nhint: git rebase -i main"},
		{"grep a", `error: "grep" is not a command of git checkpoint` + "\nhint: git checkpoint search a"},
		{"status -s", "error: unknown flag -s\nhint: git checkpoint status --porcelain"},
		{"diff --cached -- a", "error: unknown flag --cached\nhint: git diff --cached -- a"},
		{"restore --staged a", "error: unknown flag --staged\nhint: git restore --staged a"},
		{"push --force origin", "error: unknown flag --force\nhint: git checkpoint push"},
		{"session ls", `error: "ls" is not a command of git checkpoint session` + "\nhint: it has start, "},
		{"session strat x", `error: "strat" is not a command of git checkpoint session` + "\nhint: did you mean start?"},
		{"help rollbak", `error: "rollbak" is not a command of git checkpoint` + "\nhint: did you mean rollback?"},
		{"list --sesion x", "error: unknown flag --sesion\nhint: did you mean \"--session\"?"},
		{"list extra", "error: unexpected argument extra"},
		{"list --limit -3", `error: --limit takes a whole number, not "-3"`},
		{"list --limit=-3", "error: --limit must be a number of 1 or more"},
		{"list --session a --all", "error: --session and --all can't be used together"},
		{"list --since someday", `error: "someday" is not a time`},
		{"create -m", "error: --message takes a value"},
		{"create --name", "error: --name takes a value"},
		{"create --step x", `error: --step takes a whole number, not "x"`},
		{"create --set state", `error: --set: "state" is not of the form name=value`},
		{"create -m a b", "error: a message was given twice"},
		{"create --state missing.json", ""},
		{"diff a b c", "error: unexpected argument c\nhint: paths go after --"},
		{"rollback 3 x", "error: unexpected argument x\nhint: paths go after --"},
		{"rollback --branch --keep-branch 3", "error: --branch and --keep-branch can't be used together"},
		{"rollback --state-only --worktree-only 3", "error: --worktree-only and --state-only can't be used together"},
		{"rollback --state-only 3 -- a", "error: --state-only moves no files"},
		{"rollback --state-only --branch 3", "error: --state-only moves no branch"},
		{"rollback --continue 3", "error: <ref> cannot be used with --continue"},
		{"show --stat -p", "error: --stat and --patch can't be used together"},
		{"session close --status done", `error: --status must be one of "complete","failed","abandoned"`},
		{"completion tcsh", `error: <shell> must be one of "bash","zsh","fish"`},
		{"--color=red version", `error: --color must be one of "auto","always","never"`},
		{"-C x list", "error: unknown flag -C\nhint: -C is git's own"},
	} {
		if c.stderr == "" {
			continue
		}
		code, stdout, stderr := invoke(t, nil, strings.Fields(c.args)...)
		if code != 129 || stdout != "" || !strings.HasPrefix(stderr, c.stderr) {
			t.Errorf("%s: exit %d, stdout %q, stderr:\n%s\nwant 129 and:\n%s", c.args, code, stdout, stderr, c.stderr)
		}
	}
}

// TestStateErrors checks that a bad document for the state is reported before anything is done.
func TestStateErrors(t *testing.T) {
	if code, _, stderr := invoke(t, nil, "create", "--state", "missing.json"); code != 129 || !strings.Contains(stderr, `missing.json`) {
		t.Errorf("exit %d, %s", code, stderr)
	}
	if code, _, stderr := invoke(t, nil, "create", "--state", "-"); code != 129 || !strings.Contains(stderr, "is empty") {
		t.Errorf("exit %d, %s", code, stderr)
	}
}

// TestJSONErrors checks that an error is one JSON object with --json, but not if "--json" is a path
// after "--".
func TestJSONErrors(t *testing.T) {
	for _, args := range [][]string{
		{"list", "--json", "--nonsense"}, {"list", "--nonsense", "--json"}, {"list", "--json", "--since", "x"}, {"list", "--json"},
	} {
		_, _, stderr := invoke(t, nil, args...)
		var got struct {
			Error struct {
				Kind, Message string
				Hints         []string
			}
		}
		if err := json.Unmarshal([]byte(stderr), &got); err != nil || got.Error.Kind == "" || got.Error.Message == "" {
			t.Errorf("%q: %v: %s", args, err, stderr)
		}
	}
	if _, _, stderr := invoke(t, nil, "diff", "--nonsense", "--", "--json"); !strings.HasPrefix(stderr, "error: ") {
		t.Errorf("a path made it JSON: %s", stderr)
	}
}

// TestNoRepository checks that commands which need a repository end with 128 outside of one.
func TestNoRepository(t *testing.T) {
	for _, args := range [][]string{{}, {"list"}, {"status"}, {"create"}, {"undo"}, {"rollback", "3"}, {"log"}, {"session", "list"}, {"config"}} {
		if code, stdout, stderr := invoke(t, nil, args...); code != 128 || stdout != "" || !strings.HasPrefix(stderr, "error: ") {
			t.Errorf("%q: exit %d, %q, %q", args, code, stdout, stderr)
		}
	}
}

// TestClock checks that GIT_CHECKPOINT_NOW fixes the clock, and that a bad value is reported.
func TestClock(t *testing.T) {
	code, _, stderr := invoke(t, []string{"GIT_CHECKPOINT_NOW=noon"}, "list")
	if code != 129 || !strings.HasPrefix(stderr, `error: GIT_CHECKPOINT_NOW is "noon"`) {
		t.Errorf("exit %d, %s", code, stderr)
	}
}

// TestInterrupted checks that an interrupted run ends with 130.
func TestInterrupted(t *testing.T) {
	ctx, cancel := context.WithCancel(context.Background())
	cancel()
	pipes := screentest.NewPipes("")
	pipes.Environ = []string{"GIT_DIR=/nonexistent", "PATH=" + os.Getenv("PATH")}
	if code := cli.Main(ctx, pipes.Terminal, []string{"status"}, ""); code != 130 {
		t.Errorf("exit %d, %s", code, pipes.Stderr())
	}
}

// TestHelp compares the help texts with golden files. --help and help print the same on stdout with
// exit code 0, no matter what else is missing or wrong in the line. -h prints what fits on a screen of 24 lines
// and 80 columns: the usage, examples and the options that most people need.
func TestHelp(t *testing.T) {
	commands := helped(t)
	if len(commands) < 20 {
		t.Fatalf("only %d commands", len(commands))
	}
	for _, command := range commands {
		_, want, _ := invoke(t, nil, append([]string{"help"}, command...)...)
		code, got, stderr := invoke(t, nil, append(command[:len(command):len(command)], "--help")...)
		if code != 0 || got != want || stderr != "" {
			t.Errorf("%q --help: exit %d, stderr %q, differs from help: %s", command, code, stderr, cmp.Diff(want, got))
		}
		code, brief, stderr := invoke(t, nil, append(command[:len(command):len(command)], "-h")...)
		if lines := strings.Count(brief, "\n"); code != 0 || stderr != "" || len(command) > 0 && lines > 24 || !strings.HasPrefix(brief, "usage: git checkpoint") {
			t.Errorf("%q -h: exit %d, stderr %q, %d lines:\n%s", command, code, stderr, lines, brief)
		}
		for line := range strings.Lines(brief) {
			if n := len([]rune(strings.TrimSuffix(line, "\n"))); n > 80 {
				t.Errorf("%q -h: a line of %d columns: %s", command, n, line)
			}
		}
		for line := range strings.Lines(want) {
			if n := len([]rune(strings.TrimSuffix(line, "\n"))); n > 80 && !strings.Contains(line, "usage:") {
				t.Errorf("%q: a line of %d columns: %s", command, n, line)
			}
		}
		name := strings.Join(append([]string{"git-checkpoint"}, command...), "-")
		compare(t, filepath.Join("..", "..", "..", "testdata", "help", name+".txt"), want)
	}
}

// TestHelpAll checks that help alone describes twelve commands and names all others that help -a describes, which
// names the rest.
func TestHelpAll(t *testing.T) {
	_, brief, _ := invoke(t, nil, "help")
	code, all, stderr := invoke(t, nil, "help", "-a")
	if code != 0 {
		t.Fatal(stderr)
	}
	compare(t, filepath.Join("..", "..", "..", "testdata", "help", "git-checkpoint-all.txt"), all)
	everyday, rest, _ := strings.Cut(brief, "More commands:")
	_, everyday, _ = strings.Cut(everyday, "Every day:")
	described := 0
	for line := range strings.Lines(everyday) {
		if strings.HasPrefix(line, "   ") && line[3] != ' ' {
			described++
		}
	}
	if described != 12 {
		t.Errorf("%d commands are described: %s", described, everyday)
	}
	for _, command := range helped(t)[1:] {
		if len(command) == 1 && !strings.Contains(rest+everyday+all[strings.Index(all, "\nAlso:"):], command[0]) {
			t.Errorf("%q is not named", command)
		}
	}
}

// TestCommittedManPage checks that the committed man page is what the program prints.
func TestCommittedManPage(t *testing.T) {
	code, got, stderr := invoke(t, nil, "__man")
	if code != 0 {
		t.Fatal(stderr)
	}
	compare(t, filepath.Join("..", "..", "..", "docs", "man", "git-checkpoint.1"), got)
}

// helped returns the commands in the help of the program, and their subcommands.
func helped(t *testing.T) [][]string {
	commands := [][]string{nil}
	for i := 0; i < len(commands); i++ {
		words := append([]string{"help"}, commands[i]...)
		if i == 0 { // alone, it only names most of them
			words = append(words, "-a")
		}
		_, text, _ := invoke(t, nil, words...)
		listing, also := false, false
		for line := range strings.Lines(text) {
			if !strings.HasPrefix(line, " ") {
				listing = strings.HasSuffix(line, ":\n") && !strings.HasPrefix(line, "Arguments")
				also = line == "Also:\n"
				continue
			}
			names := strings.Fields(strings.ReplaceAll(line, ",", ""))
			if !also {
				names = names[:min(len(names), 1)]
			}
			for _, name := range names {
				if also || listing && line[3] != ' ' && line[3] != '-' {
					commands = append(commands, append(commands[i][:len(commands[i]):len(commands[i])], name))
				}
			}
		}
	}
	return commands
}

func compare(t *testing.T, golden, got string) {
	t.Helper()
	if *update {
		if err := os.MkdirAll(filepath.Dir(golden), 0o777); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(golden, []byte(got), 0o666); err != nil {
			t.Fatal(err)
		}
	}
	want, err := os.ReadFile(golden)
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(string(want), got); diff != "" {
		t.Errorf("%s is not what the program prints (-update writes it): -want +got\n%s", golden, diff)
	}
}
