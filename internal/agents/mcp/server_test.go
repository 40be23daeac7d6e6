package mcp

import (
	"bufio"
	"context"
	"encoding/json"
	"io"
	"slices"
	"strings"
	"testing"

	"github.com/modelcontextprotocol/go-sdk/mcp"

	"git-checkpoint/internal/core/checkpoint"
)

// The tools with the commands that they run, in a real repository, are tested in package cli.

// TestMessages checks that a line that is no message is answered with an error of the protocol, and
// that the server goes on.
func TestMessages(t *testing.T) {
	const hello = `{"jsonrpc":"2.0","id":1,"method":"initialize","params":{"protocolVersion":"2025-06-18","capabilities":{},"clientInfo":{"name":"x","version":"1"}}}`
	for line, want := range map[string]int{
		"no JSON": -32700, `{"jsonrpc":`: -32700, "{}": -32600, "42": -32600, `{"jsonrpc":"1.0","id":3,"method":"ping"}`: -32600, "": 0, "\r": 0,
		"[]": -32600, "[42]": -32600, "[[]]": -32600, "null": -32600,
	} {
		var out strings.Builder
		passed, err := io.ReadAll(newMessages(strings.NewReader(hello+"\n"+line+"\n"+hello), &out))
		if err != nil || string(passed) != hello+"\n"+hello+"\n" {
			t.Errorf("%q: %q, %v", line, passed, err)
		}
		var said struct {
			ID    any
			Error struct{ Code int }
		}
		if err := json.Unmarshal([]byte(out.String()), &said); (err == nil) != (want != 0) || said.ID != nil || said.Error.Code != want {
			t.Errorf("%q: %s, %v", line, out.String(), err)
		}
	}
	long := `{"jsonrpc":"2.0","id":3,"method":"ping"` + strings.Repeat(" ", mcp.DefaultMaxLineLength) + "}"
	var said strings.Builder
	passed, err := io.ReadAll(newMessages(strings.NewReader(long+"\n"+hello+"\n"), &said))
	if err != nil || string(passed) != hello+"\n" || strings.Count(said.String(), "-32700") != 2 {
		t.Errorf("a line that is too long: %q, %q, %v", passed, said.String(), err)
	}
	fromClient, toServer := io.Pipe()
	fromServer, toClient := io.Pipe()
	ended := make(chan error, 1)
	go func() {
		ended <- (&Server{}).Serve(t.Context(), fromClient, toClient)
		fromClient.Close() //nolint:errcheck // it never fails
		toClient.Close()   //nolint:errcheck // likewise
	}()
	answers := bufio.NewReader(fromServer)
	for _, line := range []string{hello, "no JSON", `{"jsonrpc":"2.0","id":2,"method":"ping"}`, `[{"jsonrpc":"2.0","id":3,"method":"ping"}]`} {
		if _, err := io.WriteString(toServer, line+"\n"); err != nil {
			t.Fatal(err)
		}
		if said, err := answers.ReadString('\n'); err != nil {
			t.Errorf("%s: %s, %v", line, said, err)
		}
	}
	toServer.Close() //nolint:errcheck // likewise
	if err := <-ended; err != nil {
		t.Error(err)
	}
}

// TestStructured checks that whatever a command prints becomes one object, without the loss of a
// digit, and that an exit code is told.
func TestStructured(t *testing.T) {
	for _, c := range []struct {
		out   string
		code  int
		lines bool
		want  string
	}{
		{`{"n":9007199254740993}`, 0, false, `{"n":9007199254740993}`},
		{"{\"ok\":true}\n", 5, false, `{"exit_code":5,"ok":true}`},
		{`{"a":1}`, 0, true, `{"items":[{"a":1}]}`},
		{"{\"a\":1}\n{\"a\":2}\n", 0, true, `{"items":[{"a":1},{"a":2}]}`},
		{"{\"a\":1}\n{\"ok\":false}\n", 5, true, `{"exit_code":5,"items":[{"a":1},{"ok":false}]}`},
		{"", 0, true, `{"items":[]}`},
		{"[1,2]", 0, false, `{"items":[[1,2]]}`},
	} {
		got, err := structured(Result{Out: []byte(c.out), Code: c.code}, c.lines)
		if text, _ := json.Marshal(got); err != nil || string(text) != c.want {
			t.Errorf("%q with code %d: %s, %v, want %s", c.out, c.code, text, err, c.want)
		}
	}
	if got, err := structured(Result{Out: []byte("no JSON")}, false); err == nil {
		t.Errorf("no JSON: %v", got)
	}
}

// TestProblem checks that a model reads the message of an error and its hints, and the exit code of
// a command that printed neither.
func TestProblem(t *testing.T) {
	for want, of := range map[string]*checkpoint.Error{
		"no\nhint: try\nhint: again": {Message: "no", Hints: []string{"try", "again"}},
		"full":                       {Message: "full"},
		"exit code 4":                nil,
	} {
		if _, err := structured(Result{Problem: of, Code: 4}, false); err == nil || err.Error() != want {
			t.Errorf("%v, want %q", err, want)
		}
	}
}

// TestRefOf checks that the address of a resource is what a person types for that checkpoint, and
// that any other address is refused.
func TestRefOf(t *testing.T) {
	for address, want := range map[string]string{
		"checkpoint://demo/3/state": "demo:3", "checkpoint://demo/@~1/state": "demo:@~1", "checkpoint://a%2Fb/cp-01%2Bx/state": "a/b:cp-01+x",
		"checkpoint://demo/3/diff": "", "checkpoint://demo//state": "", "checkpoint:///3/state": "", "checkpoint://demo/state": "",
		"file://demo/3/state": "", "checkpoint://demo/%zz/state": "", "": "",
	} {
		if got, err := refOf(address, "state"); got != want || (err == nil) != (want != "") {
			t.Errorf("%q: %q, %v, want %q", address, got, err, want)
		}
	}
}

// TestRun checks that what a client sends cannot become a flag, and that an empty value is left out.
func TestRun(t *testing.T) {
	var ran []string
	s := &Server{Dir: "/here", Run: func(_ context.Context, dir string, args []string, _ []byte) Result {
		ran = append([]string{dir}, args...)
		return Result{}
	}}
	fixed := []string{"diff", "--json", "--output", "x"}[:2] // append must not write into what is behind it
	if _, err := s.run(t.Context(), nil, "", line{args: fixed, values: []string{"", "a b"}}); err != nil || !slices.Equal(ran, []string{"/here", "diff", "--json", "a b"}) {
		t.Errorf("%q, %v", ran, err)
	}
	if rest := fixed[:4]; rest[2] != "--output" {
		t.Errorf("the arguments of the tool became %q", rest)
	}
	for _, value := range []string{"-f", "--yes", "-", "--" + strings.Repeat("x", 1<<20)} {
		ran = nil
		if _, err := s.run(t.Context(), nil, "/here", line{args: fixed, values: []string{value}}); err == nil || ran != nil || len(err.Error()) > 500 {
			t.Errorf("%.20q: it ran %q, %.100v", value, ran, err)
		}
	}
	if got := option(option([]string{"save"}, "name", ""), "message", "--yes"); !slices.Equal(got, []string{"save", "--message=--yes"}) {
		t.Errorf("%q", got)
	}
}

func TestInTools(t *testing.T) {
	for text, want := range map[string]string{
		"`git checkpoint list` shows them":            "the tool list shows them",
		"`git checkpoint rollback 2` goes back":       "the tool rollback_plan (2) goes back",
		"`git checkpoint rollback 2 --force` goes on": "`git checkpoint rollback 2 --force` (for the person to type) goes on",
		"`git checkpoint prune` frees space":          "`git checkpoint prune` (for the person to type) frees space",
		"--state and --patch cannot be used together": "state and patch cannot be used together",
		"get the new plan with --dry-run --json":      "get the new plan",
		"--overwrite-ignored writes over them":        "--overwrite-ignored (for the person to type) writes over them",
		"`git branch --all` shows the branches":       "`git branch --all` (for the person to type) shows the branches",
		`invalid name "a\" --all": it must be short`:  `invalid name "a\" --all": it must be short`,
		"a step-by-step word -- and no flag, a--b.go": "a step-by-step word -- and no flag, a--b.go",
	} {
		if got := inTools(text); got != want {
			t.Errorf("%q is %q for a model, want %q", text, got, want)
		}
	}
}
