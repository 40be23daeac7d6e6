package cli_test

import (
	"context"
	"strings"
	"testing"

	"git-checkpoint/internal/test/screentest"
)

// TestDiscardedNames checks that at a terminal a name stands for a discarded checkpoint if no other
// one has it, which a line then says. It stands for none if several have it, or if there is no
// terminal.
func TestDiscardedNames(t *testing.T) {
	repository(t)
	if code, screen := at(context.Background(), screentest.NewPipes(""), "rollback", "1", "-y"); code != 0 {
		t.Fatal(screen.Stderr())
	}
	const said = "and is meant here"
	for _, args := range [][]string{{"show", "2"}, {"diff", "2"}, {"diff", "1", "cp-02"}, {"rollback", "2", "-n"}} {
		if code, screen := at(context.Background(), screentest.New(), args...); code != 0 || !strings.Contains(screen.Stderr(), said) {
			t.Errorf("%q: exit %d: %s%s", args, code, screen.Stdout(), screen.Stderr())
		}
		if code, screen := at(context.Background(), screentest.NewPipes(""), args...); code != 3 || !strings.Contains(screen.Stderr(), "hint: its id is cp-02-2") {
			t.Errorf("%q in a pipe: exit %d: %s%s", args, code, screen.Stdout(), screen.Stderr())
		}
	}
	if code, screen := at(context.Background(), screentest.New(), "delete", "2", "-y"); code != 3 {
		t.Errorf("delete: exit %d: %s", code, screen.Stderr())
	}
	if code, screen := at(context.Background(), screentest.New("y"), "rollback", "2"); code != 0 || content(t) != "two\n" {
		t.Errorf("exit %d, content %q, %s", code, content(t), screen.Stderr())
	}
	for _, args := range [][]string{{"rollback", "1", "-y"}, {"create", "--step", "2", "-m", "again"}, {"rollback", "1", "-y"}} {
		if code, screen := at(context.Background(), screentest.NewPipes(""), args...); code != 0 {
			t.Fatal(screen.Stderr())
		}
	}
	code, screen := at(context.Background(), screentest.New(), "show", "2")
	if code != 3 || strings.Count(screen.Stderr(), "left behind by a rollback") != 2 {
		t.Errorf("several: exit %d: %s", code, screen.Stderr())
	}
}
