package scripttest

import (
	"errors"
	"os"
	"os/exec"
	"regexp"
	"strconv"

	"github.com/rogpeppe/go-internal/testscript"
	"github.com/tidwall/gjson"
)

// exit implements the verb exit. Unlike testscript's "! exec" it tells exit codes apart.
func exit(ts *testscript.TestScript, neg bool, args []string) {
	if neg || len(args) < 2 {
		ts.Fatalf("usage: exit N command [args...]")
	}
	want, err := strconv.Atoi(args[0])
	ts.Check(err)
	got := 0
	if err := ts.Exec(args[1], args[2:]...); err != nil {
		var ended *exec.ExitError
		if !errors.As(err, &ended) {
			ts.Fatalf("%s: %v", words(args[1:]), err)
		}
		got = ended.ExitCode()
	}
	if got != want {
		ts.Fatalf("%s: exit code %d, not %d", words(args[1:]), got, want)
	}
}

// jsonpath implements the verb jsonpath.
func jsonpath(ts *testscript.TestScript, neg bool, args []string) {
	if len(args) != 2 && len(args) != 3 {
		ts.Fatalf("usage: jsonpath file path [value]")
	}
	document := text(ts, args[0])
	if !gjson.Valid(document) && !linesOfJSON(document) {
		ts.Fatalf("%s is no JSON:\n%s", args[0], document)
	}
	found := gjson.Get(document, args[1])
	holds := found.Exists() && (len(args) == 2 || found.String() == args[2])
	switch {
	case holds && neg:
		ts.Fatalf("%s has %q at %s", args[0], found.String(), args[1])
	case !holds && !neg && !found.Exists():
		ts.Fatalf("%s has nothing at %s:\n%s", args[0], args[1], document)
	case !holds && !neg:
		ts.Fatalf("%s has %q at %s, not %q", args[0], found.String(), args[1], args[2])
	}
}

// linesOfJSON reports whether a text is JSON lines. Their GJSON paths start with "..".
func linesOfJSON(document string) bool {
	valid := true
	gjson.ForEachLine(document, func(line gjson.Result) bool {
		valid = valid && gjson.Valid(line.Raw)
		return valid
	})
	return valid
}

// scrub implements the verb scrub.
func scrub(ts *testscript.TestScript, neg bool, args []string) {
	if neg || len(args) != 2 {
		ts.Fatalf("usage: scrub file result")
	}
	ts.Check(os.WriteFile(ts.MkAbs(args[1]), []byte(Scrubbed(text(ts, args[0]))), 0o666))
}

// Scrubbed returns the text with everything replaced that differs between two runs.
func Scrubbed(text string) string {
	for _, r := range []struct{ pattern, with string }{
		{`\b(cp-\d+)-(\d{8}T\d{9}Z)-[0-9a-f]{4}\b`, "$1-$2-<id>"},
		{`\b(?:[0-9a-f]{64}|[0-9a-f]{40})\b`, "<oid>"},
		{`\b[0-9a-f]{32}\b`, "<worktree>"},
		{`(Git: |HEAD: |at )[0-9a-f]{7}\b`, "$1<short>"},
	} {
		text = regexp.MustCompile(r.pattern).ReplaceAllString(text, r.with)
	}
	return text
}
