package cli

import (
	"context"
	"errors"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/alecthomas/kong"

	"git-checkpoint/internal/core/checkpoint"
	"git-checkpoint/internal/core/workflow"
	"git-checkpoint/internal/format/render"
	"git-checkpoint/internal/ui/cli/usage"
	"git-checkpoint/internal/verb/create"
)

func parsed(t *testing.T, args ...string) (*grammar, error) {
	t.Helper()
	g := &grammar{}
	parser, err := newParser(context.Background(), &App{}, g)
	if err != nil {
		t.Fatal(err)
	}
	_, err = usage.Parse(parser, args)
	return g, err
}

// TestDashes checks that words after "--" are paths, even if they look like checkpoints or flags.
func TestDashes(t *testing.T) {
	for _, c := range []struct {
		args     []string
		from, to string
		paths    []string
	}{
		{[]string{"diff", "1", "--", "--json"}, "1", "", []string{"--json"}},
		{[]string{"diff", "1", "2", "--", "a", "--", "b"}, "1", "2", []string{"a", "--", "b"}},
		{[]string{"--color", "never", "diff", "1", "--"}, "1", "", []string{}},
		{[]string{"diff", "--stat", "1"}, "1", "", nil},
	} {
		g, err := parsed(t, c.args...)
		if err != nil || g.Diff.From != c.from || g.Diff.To != c.to || !slices.Equal(g.Diff.Paths, c.paths) {
			t.Errorf("%q: %v, %+v", c.args, err, g.Diff)
		}
	}
	if g, err := parsed(t, "restore", "--", "-n"); err != nil || g.Rollback.Ref != "" || g.Rollback.DryRun {
		t.Errorf("%v, %+v", err, g.Rollback)
	}
	if g, err := parsed(t, "show", "--", "-weird"); err != nil || g.Show.Ref != "-weird" {
		t.Errorf("%v, %+v", err, g.Show)
	}
}

// TestVerbatim checks that git log gets its options as they were typed, after our own flags.
func TestVerbatim(t *testing.T) {
	for _, c := range []struct {
		args    []string
		session string
		rest    []string
	}{
		{[]string{"log"}, "", nil},
		{[]string{"log", "--format=%s", "-3"}, "", []string{"--format=%s", "-3"}},
		{[]string{"log", "--session", "s", "--session=t", "--", "--help"}, "t", []string{"--", "--help"}},
		{[]string{"log", "--session=s", "-p", "--session=t"}, "s", []string{"-p", "--session=t"}},
		{[]string{"--color=never", "log", "--json"}, "", []string{"--json"}},
	} {
		g, err := parsed(t, c.args...)
		if err != nil || g.Log.Session != c.session || !slices.Equal(g.Log.Args, c.rest) {
			t.Errorf("%q: %v, %+v", c.args, err, g.Log)
		}
	}
}

// TestValues checks that the value of a repeatable flag is not split at commas.
func TestValues(t *testing.T) {
	g, err := parsed(t, "create", "--set", "a=[1,2]", "--set=b=x=y", "--exclude", "a,b", "--error=", "--output", "spec=")
	if err != nil {
		t.Fatal(err)
	}
	c := g.Create
	if !slices.Equal(c.Set, []create.Assign{{Path: "a", Value: "[1,2]"}, {Path: "b", Value: "x=y"}}) || !slices.Equal(c.Exclude, []string{"a,b"}) {
		t.Errorf("%+v", c)
	}
	if c.Error == nil || *c.Error != "" || !slices.Equal(c.Output, []create.Assign{{Path: "spec", Value: ""}}) {
		t.Errorf("an empty value is lost: %+v", c)
	}
}

// TestValuesWithDashes checks that a value may begin with a dash, but that a flag is never taken
// for a value.
func TestValuesWithDashes(t *testing.T) {
	g, err := parsed(t, "create", "-m", "- a list", "-m", "--no such flag", "--name", "-x", "--set", "-a=-1", "-q", "--state", "-")
	if err != nil {
		t.Fatal(err)
	}
	c := g.Create
	if !slices.Equal(c.Message, []string{"- a list", "--no such flag"}) || c.Name != "-x" || !slices.Equal(c.Set, []create.Assign{{Path: "-a", Value: "-1"}}) {
		t.Errorf("%+v", c)
	}
	if !c.Quiet || c.State != "-" {
		t.Errorf("%+v", c)
	}
	for _, line := range [][]string{{"create", "-m", "--json"}, {"create", "-m", "-q"}, {"create", "-m"}, {"diff", "1", "--session", "--", "a"}} {
		if g, err := parsed(t, line...); err == nil {
			t.Errorf("%q: a value was found: %+v", line, g.Create.Message)
		}
	}
	if g, err := parsed(t, "log", "--session", "-s", "-p"); err != nil || g.Log.Session != "-s" || !slices.Equal(g.Log.Args, []string{"-p"}) {
		t.Errorf("%v, %+v", err, g.Log)
	}
}

// FuzzParse checks that no command line makes the parser panic, and that it refuses with a usage
// error.
func FuzzParse(f *testing.F) {
	for _, line := range []string{"diff\x001\x00--\x00x", "log\x00--format=%s", "create\x00-m\x00x", "-h", "session", "--", "\x00", "diff\x00--session"} {
		f.Add(line)
	}
	f.Fuzz(func(t *testing.T, line string) {
		_, err := parsed(t, strings.Split(line, "\x00")...)
		var bad *kong.ParseError
		if err != nil && !errors.As(err, &bad) && checkpoint.KindOf(err) != checkpoint.KindUsage {
			t.Errorf("%q: %v", line, err)
		}
	})
}

// TestSince checks the forms of times that people type.
func TestSince(t *testing.T) {
	now := time.Date(2026, 11, 20, 9, 0, 0, 0, time.FixedZone("", 3600))
	for text, want := range map[string]string{
		"30d": "2026-10-21T08:00:00Z", "1w2d": "2026-11-11T08:00:00Z", "12h": "2026-11-19T20:00:00Z", "2w": "2026-11-06T08:00:00Z", "90s": "2026-11-20T07:58:30Z",
		"2026-11-19": "2026-11-18T23:00:00Z", "2026-11-19 10:30": "2026-11-19T09:30:00Z", "2026-11-19T10:30:00": "2026-11-19T09:30:00Z",
		"2026-11-19T10:30:00.5Z": "2026-11-19T10:30:00Z", "2026-11-19T10:30:00+02:00": "2026-11-19T08:30:00Z",
	} {
		got, err := parseSince(text, now)
		if err != nil || got.UTC().Format(time.RFC3339) != want {
			t.Errorf("%s: %v, %v, want %s", text, got, err, want)
		}
	}
	for _, text := range []string{"30", "d", "-3d", "someday", "last frday", "2 hours nonsense", "monkey", "marble", "10:30 nope", "2026-13-01", "99999999999d", "3y"} {
		if _, err := parseSince(text, now); checkpoint.KindOf(err) != checkpoint.KindUsage {
			t.Errorf("%s: %v", text, err)
		}
	}
	if got, err := parseSince("", now); err != nil || !got.IsZero() {
		t.Errorf("%v, %v", got, err)
	}
}

// FuzzSince checks that no text causes a panic, and that a time "ago" is never in the future.
func FuzzSince(f *testing.F) {
	for _, text := range []string{"30d", "2026-11-19", "999999w", "2026-11-19T10:30:00Z", ""} {
		f.Add(text)
	}
	now := time.Date(2026, 11, 20, 9, 0, 0, 0, time.UTC)
	f.Fuzz(func(t *testing.T, text string) {
		got, err := parseSince(text, now)
		if _, bad := workflow.ParseAge(text); bad == nil && (err != nil || got.After(now)) {
			t.Errorf("%q is %v", text, got)
		}
	})
}

// TestHelpTexts checks that every long help text belongs to a command.
func TestHelpTexts(t *testing.T) {
	parser, err := newParser(context.Background(), &App{}, &grammar{})
	if err != nil {
		t.Fatal(err)
	}
	described := 0
	var count func(*kong.Node)
	count = func(node *kong.Node) {
		if node.Detail != "" {
			described++
		}
		for _, c := range node.Children {
			count(c)
		}
	}
	count(parser.Model.Node)
	if files, err := helpTexts.ReadDir("help"); err != nil || len(files) != described || described == 0 {
		t.Errorf("%d commands have a long help text, and %d files are there; %v", described, len(files), err)
	}
}

// helpOf is the help of a command, which shows all that the grammar says of it.
func helpOf(t *testing.T, node *kong.Node) string {
	t.Helper()
	var text strings.Builder
	if err := usage.WriteHelp(&text, render.Plain, node); err != nil {
		t.Fatal(err)
	}
	return text.String()
}

// TestNarrowed checks that the grammar of one command parses a line like the whole grammar does.
func TestNarrowed(t *testing.T) {
	whole, err := newParser(context.Background(), &App{}, &grammar{})
	if err != nil {
		t.Fatal(err)
	}
	for _, node := range whole.Model.Children {
		for _, word := range append([]string{node.Name}, node.Aliases...) {
			part := narrowed([]string{word, "-x"})
			if part == nil {
				if !node.Tag.Has("whole") && !node.Hidden {
					t.Errorf("%s is read with the whole grammar", word)
				}
				continue
			}
			parser, err := newParser(context.Background(), &App{}, part)
			if err != nil {
				t.Fatalf("%s: %v", word, err)
			}
			if got := parser.Model.Children; len(got) != 1 || helpOf(t, got[0]) != helpOf(t, node) {
				t.Errorf("%s is not read as the whole grammar reads it", word)
			}
		}
	}
	for _, often := range []string{"hook", "__hook"} { // programs wait for these
		if narrowed([]string{often, "claude", "PreToolUse"}) == nil {
			t.Errorf("%s is read with the whole grammar", often)
		}
	}
	for _, args := range [][]string{nil, {""}, {"lsit"}, {"-h"}, {"--color=never", "list"}, {"help"}} {
		if narrowed(args) != nil {
			t.Errorf("%q needs the whole grammar", args)
		}
	}
}
