package cli_test

import (
	"context"
	"os"
	"os/exec"
	"strings"
	"testing"

	"git-checkpoint/internal/test/screentest"
)

// unfinished makes a repository with an unfinished session on a topic, and a file that was edited
// since.
func unfinished(t *testing.T) {
	t.Helper()
	repository(t)
	for _, args := range [][]string{{"session", "start", "old", "--topic", "tiles"}, {"save", "half way", "--set", "n=1"}} {
		if code, screen := at(context.Background(), screentest.NewPipes(""), args...); code != 0 {
			t.Fatalf("%q: exit %d, %s", args, code, screen.Stderr())
		}
	}
}

// TestResumeMenu checks the choices about a session: resume, start fresh, view any number of times,
// and delete, which is confirmed. Leaving the menu changes nothing.
func TestResumeMenu(t *testing.T) {
	for _, c := range []struct {
		about   string
		answers []string
		code    int
		says    string
		status  string // of the session afterwards
	}{
		{"resume", []string{"r"}, 0, `Resumed at 1 "half way"`, "in_progress"},
		{"view, then resume", []string{"v", "v", "r"}, 0, "half way", "in_progress"},
		{"start fresh", []string{"s", "y"}, 0, "first step of old-2", "abandoned"},
		{"start fresh, then not", []string{"s", "n"}, 4, "`git checkpoint resume old` comes back to it", "in_progress"},
		{"delete", []string{"v", "d", "y"}, 0, "Deleted: 1 checkpoint", "in_progress"},
		{"delete, then not", []string{"v", "d", "n"}, 4, "Would delete 1 checkpoint", "in_progress"},
		{"leave", nil, 4, "Continues at", "in_progress"},
	} {
		unfinished(t)
		before := refs(t)
		code, screen := at(context.Background(), screentest.New(c.answers...), "resume", "--color=never")
		if code != c.code || !strings.Contains(screen.Stdout()+screen.Stderr(), c.says) {
			t.Errorf("%s: exit %d: %s%s", c.about, code, screen.Stdout(), screen.Stderr())
		}
		if !strings.Contains(screen.Stderr(), "Go on with old?") {
			t.Errorf("%s: not asked: %s", c.about, screen.Stderr())
		}
		if code == 4 && refs(t) != before {
			t.Errorf("%s: refs changed", c.about)
		}
		_, shown := at(context.Background(), screentest.NewPipes(""), "session", "show", "old", "--json")
		if !strings.Contains(shown.Stdout(), `"status":"`+c.status+`"`) {
			t.Errorf("%s: %s", c.about, shown.Stdout())
		}
	}
}

// TestStartOnUnfinishedTopic checks that a person is asked before a session starts on the topic of
// an unfinished one.
func TestStartOnUnfinishedTopic(t *testing.T) {
	for _, c := range []struct {
		about   string
		answers []string
		code    int
		active  string
		old     string
	}{
		{"resume the old one", []string{"r"}, 0, "old", "in_progress"},
		{"start fresh", []string{"v", "s", "y"}, 0, "new", "abandoned"},
		{"start fresh, then not", []string{"s"}, 4, "old", "in_progress"},
		{"delete the old one", []string{"v", "d", "y"}, 0, "new", "in_progress"},
		{"leave", nil, 4, "old", "in_progress"},
	} {
		unfinished(t)
		code, screen := at(context.Background(), screentest.New(c.answers...), "session", "start", "new", "--topic", "tiles")
		if code != c.code {
			t.Errorf("%s: exit %d: %s%s", c.about, code, screen.Stdout(), screen.Stderr())
		}
		_, stands := at(context.Background(), screentest.NewPipes(""), "status", "--json")
		if !strings.Contains(stands.Stdout(), `"session":"`+c.active+`"`) {
			t.Errorf("%s: active is not %s: %s", c.about, c.active, stands.Stdout())
		}
		_, shown := at(context.Background(), screentest.NewPipes(""), "session", "show", "old", "--json")
		if !strings.Contains(shown.Stdout(), `"status":"`+c.old+`"`) {
			t.Errorf("%s: %s", c.about, shown.Stdout())
		}
	}
	unfinished(t)
	if code, screen := at(context.Background(), screentest.New(), "session", "start", "new", "--topic", "another"); code != 0 {
		t.Errorf("another topic: exit %d: %s", code, screen.Stderr())
	}
}

func refs(t *testing.T) string {
	t.Helper()
	out, err := exec.Command("git", "for-each-ref").Output()
	if err != nil {
		t.Fatal(err)
	}
	active, err := os.ReadFile(".git/checkpoint/session")
	if err != nil {
		t.Fatal(err)
	}
	return string(out) + string(active)
}
