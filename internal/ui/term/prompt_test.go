package term_test

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"strings"
	"testing"
	"testing/iotest"

	"git-checkpoint/internal/test/screentest"
	"git-checkpoint/internal/ui/term"
)

func TestConfirm(t *testing.T) {
	for _, c := range []struct {
		answers []string
		want    bool
	}{
		{[]string{"y"}, true},
		{[]string{" YES "}, true},
		{[]string{"n"}, false},
		{[]string{""}, false},
		{[]string{"yep"}, false},
		{nil, false}, // end of input
	} {
		f := screentest.New(c.answers...)
		got, err := f.Confirm(context.Background(), "Continue?")
		if got != c.want || err != nil {
			t.Errorf("%q: got %v, %v", c.answers, got, err)
		}
		if !strings.HasPrefix(f.Stderr(), "Continue? [y/N] ") || !strings.HasSuffix(f.Stderr(), "\n") || f.Stdout() != "" {
			t.Errorf("%q: shown %q and %q", c.answers, f.Stderr(), f.Stdout())
		}
	}
}

// If any of the streams is not a terminal, nothing is shown and nothing is read.
func TestNoPromptOffATerminal(t *testing.T) {
	ctx := context.Background()
	for _, off := range []func(*screentest.Screen){
		func(f *screentest.Screen) { f.InTerminal = false },
		func(f *screentest.Screen) { f.OutTerminal = false },
		func(f *screentest.Screen) { f.ErrTerminal = false },
	} {
		f := screentest.New("y", "1", "r")
		off(f)
		_, err1 := f.Confirm(ctx, "Continue?")
		_, err2 := f.Choose(ctx, "Which?", []string{"1"}, []string{"1  one"})
		_, err3 := f.Ask(ctx, "What now?", []term.Choice{{'r', "resume"}})
		for _, err := range []error{err1, err2, err3} {
			if !errors.Is(err, term.ErrNotInteractive) {
				t.Errorf("got %v", err)
			}
		}
		if f.Stderr() != "" || f.Stdout() != "" || len(f.Left()) != 3 {
			t.Errorf("shown %q and %q, %d answers left", f.Stderr(), f.Stdout(), len(f.Left()))
		}
	}
	if screentest.NewPipes("y\n").Interactive() {
		t.Error("pipes are interactive")
	}
}

// Ctrl+C at a prompt cancels it, and a line that comes later answers nothing.
func TestInterrupt(t *testing.T) {
	ctx, cancel := context.WithCancel(context.Background())
	f := screentest.New(screentest.Interrupt, "y")
	f.OnInterrupt = cancel
	if ok, err := f.Confirm(ctx, "Continue?"); ok || !errors.Is(err, context.Canceled) {
		t.Errorf("got %v, %v", ok, err)
	}
	if ok, err := f.Confirm(context.Background(), "Really?"); ok || !errors.Is(err, term.ErrAbandoned) {
		t.Errorf("the next question: %v, %v", ok, err)
	}
	f = screentest.New("y")
	if ok, err := f.Confirm(ctx, "Continue?"); ok || !errors.Is(err, context.Canceled) || f.Stderr() != "" {
		t.Errorf("a question after the interrupt: %v, %v, %q", ok, err, f.Stderr())
	}
}

func TestAsk(t *testing.T) {
	choices := []term.Choice{{'r', "resume"}, {'s', "start fresh"}, {'v', "view"}, {'x', "remove"}}
	for _, c := range []struct {
		answers []string
		want    rune
		err     error
	}{
		{[]string{"r"}, 'r', nil},
		{[]string{"S"}, 's', nil},
		{[]string{"res"}, 'r', nil},
		{[]string{"view"}, 'v', nil},
		{[]string{"re", "", "what?", "x"}, 'x', nil},
		{[]string{"q"}, 0, term.ErrQuit},
		{nil, 0, term.ErrQuit},
	} {
		f := screentest.New(c.answers...)
		got, err := f.Ask(context.Background(), "Found a session.", choices)
		if got != c.want || !errors.Is(err, c.err) {
			t.Errorf("%q: got %c, %v", c.answers, got, err)
		}
	}
	f := screentest.New("?", "r")
	if _, err := f.Ask(context.Background(), "Found a session.", choices); err != nil {
		t.Fatal(err)
	}
	want := "Found a session.\n(r)esume, (s)tart fresh, (v)iew, (x) remove, (q)uit? ?\n" +
		"Found a session.\n(r)esume, (s)tart fresh, (v)iew, (x) remove, (q)uit? r\n"
	if f.Stderr() != want {
		t.Errorf("got %q, want %q", f.Stderr(), want)
	}
}

func TestChoose(t *testing.T) {
	keys := []string{"4", "3+1", "3", "4"}
	lines := []string{"4  cp-04-code", "3+1  cp-03-design+1", "* 3  \x1b[33mcp-03-design\x1b[0m", "other:3"}
	for _, c := range []struct {
		answers []string
		want    int
		err     error
	}{
		{[]string{"3"}, 2, nil},
		{[]string{"3+1"}, 1, nil},
		{[]string{"CODE"}, 0, nil},
		{[]string{"design", "+1"}, 1, nil},
		{[]string{"nothing", "4"}, 0, nil}, // the first of two with this key
		{[]string{"33", "other"}, 3, nil},  // a colour code is no text
		{[]string{"q"}, 0, term.ErrQuit},
		{[]string{"design"}, 0, term.ErrQuit},
	} {
		got, err := screentest.New(c.answers...).Choose(context.Background(), "Roll back to which?", keys, lines)
		if got != c.want || !errors.Is(err, c.err) {
			t.Errorf("%q: got %d, %v", c.answers, got, err)
		}
	}
	if _, err := screentest.New("1").Choose(context.Background(), "Which?", nil, nil); !errors.Is(err, term.ErrQuit) {
		t.Errorf("an empty list: %v", err)
	}
}

func TestChooseShows(t *testing.T) {
	keys, lines := []string{"3+1", "3", "2"}, []string{"  3+1  cp-03-design+1", "    3  cp-03-design", "    2  cp-02-wish"}
	f := screentest.New("design", "no\x1b", "", "2")
	if got, err := f.Choose(context.Background(), "Roll back to which?", keys, lines); got != 2 || err != nil {
		t.Fatalf("got %d, %v", got, err)
	}
	ask := "Roll back to which? (q quits) "
	design := "  3+1  cp-03-design+1\n    3  cp-03-design\n"
	whole := design + "    2  cp-02-wish\n"
	want := whole + ask + "design\n" + design + ask + "no\x1b\n" + design + `Nothing matches "no\x1b".` + "\n" +
		ask + "\n" + whole + ask + "2\n"
	if f.Stderr() != want {
		t.Errorf("got:\n%s\nwant:\n%s", f.Stderr(), want)
	}
}

func TestChooseFromMany(t *testing.T) {
	var keys, lines []string
	for i := range 65 {
		keys, lines = append(keys, fmt.Sprint(i+1)), append(lines, fmt.Sprintf("item <%d>", i))
	}
	f := screentest.New("64")
	if got, err := f.Choose(context.Background(), "Which?", keys, lines); got != 63 || err != nil {
		t.Fatalf("got %d, %v", got, err)
	}
	if n := strings.Count(f.Stderr(), "\n"); n != term.Listed+2 || !strings.Contains(f.Stderr(), "… and 45 more") {
		t.Errorf("%d lines: %s", n, f.Stderr())
	}
}

// An answer without an end is rejected, not read forever.
func TestEndlessAnswer(t *testing.T) {
	f := screentest.New()
	f.In = bytes.NewReader(bytes.Repeat([]byte("y"), 10*term.LongestAnswer))
	if ok, err := f.Confirm(context.Background(), "Continue?"); ok || err == nil {
		t.Errorf("got %v, %v", ok, err)
	}
}

func TestBrokenStreams(t *testing.T) {
	broken := errors.New("broken")
	f := screentest.New()
	f.In = iotest.ErrReader(broken)
	if ok, err := f.Confirm(context.Background(), "Continue?"); ok || !errors.Is(err, broken) {
		t.Errorf("got %v, %v", ok, err)
	}
}

// A last line without its newline is an answer.
func TestAnswerWithoutNewline(t *testing.T) {
	f := screentest.New()
	f.In = strings.NewReader("yes")
	if ok, err := f.Confirm(context.Background(), "Continue?"); !ok || err != nil {
		t.Errorf("got %v, %v", ok, err)
	}
}
