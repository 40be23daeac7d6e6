package term

import (
	"fmt"
	"testing"
)

// TestWidthUnknown checks that a terminal of buffers, as mcp and web make for the commands that
// they run, has a width although there is no device to ask.
func TestWidthUnknown(t *testing.T) {
	for want, environ := range map[int][]string{usualColumns: nil, 132: {"COLUMNS=132"}} {
		if got := (&Terminal{Environ: environ}).Width(); got != want {
			t.Errorf("with %q the width is %d, not %d", environ, got, want)
		}
	}
}

func TestWidth(t *testing.T) {
	f := &Terminal{}
	for _, c := range []struct {
		columns string
		device  int
		want    int
	}{{"", 0, 80}, {"", 132, 132}, {"COLUMNS=100", 132, 100}, {"COLUMNS=0", 132, 132}, {"COLUMNS=wide", 0, 80}, {"COLUMNS=-3", 0, 80}} {
		f.Environ = []string{c.columns}
		f.size = func() (int, int) { return c.device, 0 }
		if got := f.Width(); got != c.want {
			t.Errorf("%q, device %d: %d", c.columns, c.device, got)
		}
	}
}

func TestLookupEnv(t *testing.T) {
	term := Terminal{Environ: []string{"A=1", "B=", "A=2=3", "CC"}}
	for key, want := range map[string]string{"A": "2=3 true", "B": " true", "C": " false", "CC": " false"} {
		value, ok := term.LookupEnv(key)
		if got := fmt.Sprint(value, " ", ok); got != want {
			t.Errorf("%s: %q", key, got)
		}
	}
}

// The order of git var GIT_PAGER, and what switches it off.
func TestPagerOrder(t *testing.T) {
	for _, c := range []struct {
		environ    []string
		configured *string
		want       string
	}{
		{nil, nil, "less"},
		{[]string{"PAGER=more"}, nil, "more"},
		{[]string{"PAGER=more"}, new("less -S"), "less -S"},
		{[]string{"PAGER=more", "GIT_PAGER=most"}, new("less -S"), "most"},
		{[]string{"PAGER=more", "GIT_PAGER="}, new("less -S"), ""},
		{[]string{"PAGER=more"}, new(""), ""},
		{[]string{"PAGER="}, nil, ""},
		{[]string{"GIT_PAGER=cat"}, nil, ""},
		{nil, new("cat"), ""},
		{nil, new("cat -v"), "cat -v"},
	} {
		f := &Terminal{OutTerminal: true, Environ: c.environ}
		if got := f.pager(c.configured); got != c.want {
			t.Errorf("%q: %q, want %q", c.environ, got, c.want)
		}
		f.OutTerminal = false
		if got := f.pager(c.configured); got != "" {
			t.Errorf("%q off a terminal: %q", c.environ, got)
		}
	}
}
