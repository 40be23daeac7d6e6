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
)

// TestLongReportsPaged checks that what validate and guard say goes through the pager where it is more than a
// screen, with the summary, and that a short one does not.
func TestLongReportsPaged(t *testing.T) {
	repository(t)
	for i := range 30 {
		if err := os.WriteFile(fmt.Sprintf("key%02d", i), fmt.Appendf(nil, "AKIA%s%02d\n", "Q3EGRIB6ZN2VXT", 22+i), 0o666); err != nil {
			t.Fatal(err)
		}
	}
	if code, screen := at(context.Background(), screentest.NewPipes(""), "save", "-m", "keys"); code != 0 {
		t.Fatal(screen.Stderr())
	}
	for _, test := range []struct {
		lines string
		args  []string
		paged bool
	}{{"10", []string{"guard"}, true}, {"200", []string{"guard"}, false}, {"1", []string{"validate"}, true}, {"200", []string{"validate"}, false}} {
		terminal := screentest.New()
		terminal.Environ = append(terminal.Environ, "GIT_PAGER=sed 's/^/paged: /'", "LINES="+test.lines)
		_, screen := at(context.Background(), terminal, append(test.args, "--color=never")...)
		got := screen.Stdout()
		if all := strings.Count(got, "\n"); all == 0 || strings.Count(got, "paged: ") != map[bool]int{true: all}[test.paged] {
			t.Errorf("%s on %s lines:\n%s", test.args, test.lines, got)
		}
	}
}

// TestForkAsksForIncluded checks that a fork at a terminal lists the files that .worktreeinclude names, and copies
// them only after a yes.
func TestForkAsksForIncluded(t *testing.T) {
	for answer, copied := range map[string]bool{"y": true, "n": false} {
		repository(t)
		for file, text := range map[string]string{".gitignore": ".env\n", ".worktreeinclude": ".env\n", ".env": "k=1\n"} {
			if err := os.WriteFile(file, []byte(text), 0o666); err != nil {
				t.Fatal(err)
			}
		}
		if out, err := exec.Command("git", "-c", "user.name=A", "-c", "user.email=a@example.com", "commit", "-q", "--allow-empty", "-m", "Begin").CombinedOutput(); err != nil {
			t.Fatalf("%v: %s", err, out)
		}
		if code, _ := at(context.Background(), screentest.NewPipes(""), "save", "rules"); code != 0 {
			t.Fatalf("save: exit %d", code)
		}
		dir := filepath.Join(t.TempDir(), "try")
		code, screen := at(context.Background(), screentest.New(answer), "fork", "3", dir)
		if code != 0 || !strings.Contains(screen.Stdout(), ".env  4 B") || !strings.Contains(screen.Stderr(), "Copy 1 file (4 B), which .worktreeinclude names and git ignores?") {
			t.Errorf("%s: exit %d\n%s%s", answer, code, screen.Stdout(), screen.Stderr())
		}
		if _, err := os.Stat(filepath.Join(dir, ".env")); (err == nil) != copied {
			t.Errorf("%s: %v", answer, err)
		}
	}
}
