package term_test

import (
	"context"
	"errors"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"git-checkpoint/internal/test/screentest"
)

func pagedFake(t *testing.T, environ ...string) *screentest.Screen {
	t.Helper()
	if _, err := exec.LookPath("sh"); err != nil {
		t.Skip("no shell")
	}
	f := screentest.New()
	f.Environ = append([]string{"PATH=" + os.Getenv("PATH")}, environ...)
	return f
}

func write(text string) func(io.Writer) error {
	return func(w io.Writer) error {
		_, err := io.WriteString(w, text)
		return err
	}
}

func TestPage(t *testing.T) {
	ctx := context.Background()
	f := pagedFake(t, "GIT_PAGER=sed s/^/paged:/")
	if err := f.Page(ctx, nil, write("one\ntwo\n")); err != nil || f.Stdout() != "paged:one\npaged:two\n" {
		t.Errorf("got %q, %v", f.Stdout(), err)
	}
	f.OutTerminal = false
	if err := f.Page(ctx, nil, write("three\n")); err != nil || !strings.HasSuffix(f.Stdout(), "\nthree\n") {
		t.Errorf("off a terminal: %q, %v", f.Stdout(), err)
	}
}

func TestPagerEnvironment(t *testing.T) {
	show := "cat >/dev/null; echo $LESS $LV"
	for _, c := range []struct {
		environ []string
		want    string
	}{
		{nil, "FRX -c\n"},
		{[]string{"LESS=S"}, "S -c\n"},
		{[]string{"LESS=", "LV="}, "\n"},
	} {
		f := pagedFake(t, c.environ...)
		if err := f.Page(context.Background(), &show, write("x")); err != nil || f.Stdout() != c.want {
			t.Errorf("%q: %q, %v", c.environ, f.Stdout(), err)
		}
	}
}

// The user quits after one of very many lines: the writer gets an error, Page returns none.
func TestPagerQuit(t *testing.T) {
	f := pagedFake(t, "GIT_PAGER=head -n 1")
	lines := 0
	err := f.Page(context.Background(), nil, func(w io.Writer) error {
		for {
			if _, err := io.WriteString(w, strings.Repeat("line ", 200)+"\n"); err != nil {
				return err
			}
			if lines++; lines > 1_000_000 {
				t.Error("the writer was never told")
				return nil
			}
		}
	})
	if err != nil || !strings.HasPrefix(f.Stdout(), "line ") {
		t.Errorf("got %v", err)
	}
}

// An error before any output is an error, and no pager was started for it.
func TestPageErrorFirst(t *testing.T) {
	started := filepath.Join(t.TempDir(), "started")
	f := pagedFake(t, "GIT_PAGER=touch '"+started+"'; cat")
	wrong := errors.New("wrong")
	err := f.Page(context.Background(), nil, func(io.Writer) error { return wrong })
	if _, missing := os.Stat(started); !errors.Is(err, wrong) || missing == nil {
		t.Errorf("got %v, pager started: %v", err, missing == nil)
	}
	if err := f.Page(context.Background(), nil, func(w io.Writer) error { _ = write("x")(w); return wrong }); !errors.Is(err, wrong) {
		t.Errorf("an error later on: %v", err)
	}
}

// Without its pager the text is shown all the same.
func TestPagerMissing(t *testing.T) {
	f := pagedFake(t, "GIT_PAGER=no-such-pager-anywhere")
	if err := f.Page(context.Background(), nil, write("text\n")); err != nil || f.Stdout() != "text\n" {
		t.Errorf("got %q, %v", f.Stdout(), err)
	}
	if !strings.HasPrefix(f.Stderr(), "warning: ") || !strings.Contains(f.Stderr(), "no-such-pager-anywhere") {
		t.Errorf("warning: %q", f.Stderr())
	}
}

// Ctrl+C while the pager runs: the pager is left alone, and Page returns the interrupt.
func TestPageInterrupted(t *testing.T) {
	ctx, cancel := context.WithCancel(context.Background())
	f := pagedFake(t, "GIT_PAGER=cat; echo read to the end")
	err := f.Page(ctx, nil, func(w io.Writer) error {
		cancel()
		return write("text\n")(w)
	})
	if !errors.Is(err, context.Canceled) || f.Stdout() != "text\nread to the end\n" {
		t.Errorf("got %q, %v", f.Stdout(), err)
	}
}
