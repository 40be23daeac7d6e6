package cli_test

import (
	"context"
	"fmt"
	"os"
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
