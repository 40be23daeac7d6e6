package cli

import (
	"context"
	"encoding/json"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/modelcontextprotocol/go-sdk/mcp"

	server "git-checkpoint/internal/agents/mcp"
	"git-checkpoint/internal/test/screentest"
)

// served starts a server for a new repository and connects a client to it.
func served(t *testing.T, write bool, options *mcp.ClientOptions) (*mcp.ClientSession, string) {
	t.Helper()
	dir := t.TempDir()
	home := t.TempDir()
	if out, err := exec.Command("git", "init", "-q", "-b", "main", dir).CombinedOutput(); err != nil {
		t.Fatalf("%v: %s", err, out)
	}
	app := &App{Version: "test", Terminal: screentest.NewPipes("").Terminal}
	app.Terminal.Environ = []string{"PATH=" + os.Getenv("PATH"), "HOME=" + home, "GIT_CONFIG_NOSYSTEM=1", "GIT_CEILING_DIRECTORIES=" + filepath.Dir(dir)}
	fromClient, toServer := io.Pipe()
	fromServer, toClient := io.Pipe()
	s := &server.Server{Version: "test", Dir: dir, Write: write, Run: runWithin(app)}
	ended := make(chan error, 1)
	go func() { ended <- s.Serve(context.Background(), fromClient, toClient) }()
	client := mcp.NewClient(&mcp.Implementation{Name: "test", Version: "1"}, options)
	session, err := client.Connect(t.Context(), &mcp.IOTransport{Reader: fromServer, Writer: toServer}, nil)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		session.Close()    //nolint:errcheck // the test has said what it wants to know
		toServer.Close()   //nolint:errcheck // as above
		fromServer.Close() //nolint:errcheck // as above
		if err := <-ended; err != nil {
			t.Error(err)
		}
	})
	return session, dir
}

func call(t *testing.T, session *mcp.ClientSession, tool string, args map[string]any) (map[string]any, string) {
	t.Helper()
	result, err := session.CallTool(t.Context(), &mcp.CallToolParams{Name: tool, Arguments: args})
	if err != nil {
		return nil, err.Error()
	}
	var text strings.Builder
	for _, c := range result.Content {
		if said, is := c.(*mcp.TextContent); is {
			text.WriteString(said.Text)
		}
	}
	if result.IsError {
		return nil, text.String()
	}
	raw, err := json.Marshal(result.StructuredContent)
	if err != nil {
		t.Fatal(err)
	}
	var out map[string]any
	if err := json.Unmarshal(raw, &out); err != nil {
		t.Fatalf("%s answered %s", tool, raw)
	}
	return out, ""
}

func put(t *testing.T, dir, name, content string) {
	t.Helper()
	if err := os.WriteFile(filepath.Join(dir, name), []byte(content), 0o666); err != nil {
		t.Fatal(err)
	}
}

// TestMCPSteps lists steps in pages, finds the last ones by their words, and bounds each answer. What is left
// out is counted.
func TestMCPSteps(t *testing.T) {
	session, dir := served(t, false, nil)
	if _, problem := call(t, session, "show", map[string]any{"ref": "last-prompt"}); problem == "" {
		t.Error("there is a last prompt before the first")
	}
	for i := range 23 {
		put(t, dir, "a.txt", strings.Repeat("x", i))
		if _, problem := call(t, session, "save", map[string]any{"message": "step", "state": `{"long": "` + strings.Repeat("y", 30_000) + `"}`}); problem != "" {
			t.Fatal(problem)
		}
	}
	listed, problem := call(t, session, "steps", nil)
	steps, _ := listed["steps"].([]any)
	if newest, is := steps[0].(map[string]any); problem != "" || len(steps) != 20 || !is || newest["number"] != 23.0 || listed["older"] != 3.0 || listed["rest"] != "steps with before: 4" {
		t.Errorf("%v %s", listed, problem)
	}
	if listed, problem = call(t, session, "steps", map[string]any{"before": 4}); problem != "" || len(listed["steps"].([]any)) != 3 || listed["older"] != 0.0 {
		t.Errorf("%v %s", listed, problem)
	}
	for word, step := range map[string]float64{"last-prompt": 23, "before-last-prompt": 22} {
		shown, problem := call(t, session, "show", map[string]any{"ref": word})
		raw, err := json.Marshal(shown)
		if left, is := shown["left_out"].(map[string]any); err != nil || problem != "" || shown["step"] != step || len(raw) > 8000 || !is || len(left) == 0 || shown["rest"] == "" {
			t.Errorf("%s: step %v, %d bytes, %v, %s", word, shown["step"], len(raw), shown["left_out"], problem)
		}
	}
	for i := range 500 {
		put(t, dir, fmt.Sprintf("many-%03d.txt", i), "x")
	}
	var members []string
	for i := range 3000 {
		members = append(members, fmt.Sprintf(`"member%d":"%d"`, i, i))
	}
	if _, problem := call(t, session, "save", map[string]any{"message": "many", "state": "{" + strings.Join(members, ",") + "}"}); problem != "" {
		t.Fatal(problem)
	}
	for tool, args := range map[string]map[string]any{
		"list": nil, "status": nil, "show": nil, "diff": {"a": "1", "b": "24"}, "resume": nil, "validate": nil, "rollback_plan": {"ref": "before-last-prompt"}, "revert_plan": {"refs": []string{"24"}},
	} {
		out, problem := call(t, session, tool, args)
		if raw, err := json.Marshal(out); err != nil || problem != "" || len(raw) > 8000 {
			t.Errorf("%s: %d bytes, %s", tool, len(raw), problem)
		}
		if digest, is := out["digest"].(string); is && len(digest) < 64 {
			t.Errorf("%s: the digest was cut: %s", tool, digest)
		}
	}
	if _, problem := call(t, session, "show", map[string]any{"ref": "99"}); !strings.Contains(problem, "the tool list") || strings.Contains(problem, "git checkpoint list") {
		t.Errorf("an error names %q", problem)
	}
	tools, err := session.ListTools(t.Context(), nil)
	if err != nil {
		t.Fatal(err)
	}
	for _, tool := range tools.Tools {
		for _, wrong := range []map[string]any{{"nonsense": 1}, {"ref": 1, "a": 1, "refs": 1, "root": 1, "message": 1, "limit": "x"}, {"root": "/", "ref": "1", "a": "1", "message": "x"}} {
			if _, problem := call(t, session, tool.Name, wrong); problem == "" || len(problem) > 1000 {
				t.Errorf("%s %v: %.200q", tool.Name, wrong, problem)
			}
		}
	}
}

// TestMCPReads saves, lists, compares and plans. A wrong request gets an error and does not end the
// server.
func TestMCPReads(t *testing.T) {
	session, dir := served(t, false, nil)
	put(t, dir, "a.txt", "one\n")
	if made, problem := call(t, session, "save", map[string]any{"message": "-one", "state": `{"n": 1}`}); problem != "" || made["label"] != "cp-01" {
		t.Fatalf("%v %s", made, problem)
	}
	put(t, dir, "a.txt", "two\n")
	made, problem := call(t, session, "save", map[string]any{"message": "two", "patch": `{"n": null, "m": 2}`})
	if state, _ := json.Marshal(made["state"]); problem != "" || string(state) != `{"m":2}` {
		t.Fatalf("%s %s", state, problem)
	}
	if _, problem := call(t, session, "save", map[string]any{"message": "both", "state": "{}", "patch": "{}"}); !strings.Contains(problem, "cannot be used together") {
		t.Errorf("state and patch: %q", problem)
	}
	listed, problem := call(t, session, "list", nil)
	if items, _ := listed["items"].([]any); len(items) != 2 || problem != "" {
		t.Errorf("%v %s", listed, problem)
	}
	for tool, args := range map[string]map[string]any{
		"status": nil, "show": {"ref": "1"}, "diff": {"a": "1", "b": "2"}, "resume": nil, "validate": nil, "rollback_plan": {"ref": "1"}, "revert_plan": {"refs": []string{"2"}, "paths": []string{"a.txt"}},
	} {
		if out, problem := call(t, session, tool, args); problem != "" || len(out) == 0 {
			t.Errorf("%s: %v %s", tool, out, problem)
		}
	}
	if got, err := os.ReadFile(filepath.Join(dir, "a.txt")); err != nil || string(got) != "two\n" {
		t.Errorf("a plan wrote %q", got)
	}
	for _, wrong := range []map[string]any{{"ref": "9"}, {"ref": "--help"}, {"ref": strings.Repeat("x", 1<<20)}, {"ref": "1", "root": "/"}} {
		if _, problem := call(t, session, "show", wrong); problem == "" || len(problem) > 1000 {
			t.Errorf("%.40v: %.200s", wrong, problem)
		}
	}
	document, err := session.ReadResource(t.Context(), &mcp.ReadResourceParams{URI: "checkpoint://main/1/state"})
	if err != nil || !strings.Contains(document.Contents[0].Text, `"n"`) {
		t.Errorf("%v, %v", document, err)
	}
	document, err = session.ReadResource(t.Context(), &mcp.ReadResourceParams{URI: "checkpoint://main/@~1/record"})
	if err != nil || !strings.Contains(document.Contents[0].Text, `"cp-01"`) {
		t.Errorf("%v, %v", document, err)
	}
	if _, problem := call(t, session, "save", map[string]any{"message": "the same files"}); problem != "" {
		t.Error(problem)
	}
	if document, err = session.ReadResource(t.Context(), &mcp.ReadResourceParams{URI: "checkpoint://main/3/diff"}); err != nil || document.Contents[0].Text != "\n" {
		t.Errorf("%v, %v", document, err)
	}
	prompt, err := session.GetPrompt(t.Context(), &mcp.GetPromptParams{Name: "resume"})
	if err != nil || len(prompt.Messages) != 1 {
		t.Errorf("%v, %v", prompt, err)
	}
}

// TestMCPWho asks who made lines: those in a row with the same answer are one entry, and each answer is bounded.
func TestMCPWho(t *testing.T) {
	session, dir := served(t, false, nil)
	var long strings.Builder
	for i := range 3000 {
		fmt.Fprintf(&long, "line %d\n", i)
	}
	put(t, dir, "a.txt", long.String())
	if _, problem := call(t, session, "save", map[string]any{"message": "a very long file"}); problem != "" {
		t.Fatal(problem)
	}
	put(t, dir, "a.txt", "first\n"+long.String())
	for _, args := range [][]string{{"add", "a.txt"}, {"-c", "user.name=A", "-c", "user.email=a@e.org", "commit", "-q", "-m", "one"}, {"tag", "base"}} {
		if out, err := exec.Command("git", append([]string{"-C", dir}, args...)...).CombinedOutput(); err != nil {
			t.Fatalf("%v %s", err, out)
		}
	}
	why, problem := call(t, session, "why", map[string]any{"what": "a.txt"})
	lines, _ := why["lines"].([]any)
	if raw, err := json.Marshal(why); err != nil || problem != "" || len(raw) > 8000 || len(lines) != 2 {
		t.Fatalf("%.500s %s", raw, problem)
	}
	if at, is := lines[1].(map[string]any); !is || at["from"] != 2.0 || at["to"] != 3001.0 {
		t.Errorf("%v", lines[1])
	}
	if why, problem = call(t, session, "why", map[string]any{"what": "HEAD"}); problem != "" || why["items"] == nil {
		t.Errorf("%v %s", why, problem)
	}
	for words, n := range map[string]int{"long file": 1, "--yes": 0, "last-prompt": 0} {
		found, problem := call(t, session, "search", map[string]any{"words": strings.Fields(words)})
		if all, is := found["found"].([]any); problem != "" || !is || len(all) < n || n == 0 && len(all) > 0 {
			t.Errorf("%s: %v %s", words, found, problem)
		}
	}
	if made, problem := call(t, session, "report", map[string]any{"range": "base"}); problem != "" || made["lines"] == nil {
		t.Errorf("%v %s", made, problem)
	}
}

// TestMCPTools checks that no tool changes files without --write, and that none ever pushes or
// deletes.
func TestMCPTools(t *testing.T) {
	for write, want := range map[bool]string{
		false: "diff list redo_plan report resume revert_plan rollback_plan save search show status steps undo_plan validate why",
		true:  "diff list redo redo_plan report resume revert revert_plan rollback rollback_plan save search show status steps undo undo_plan validate why",
	} {
		session, _ := served(t, write, nil)
		tools, err := session.ListTools(t.Context(), nil)
		if err != nil {
			t.Fatal(err)
		}
		var names []string
		for _, tool := range tools.Tools {
			names = append(names, tool.Name)
			changes := tool.Name == "rollback" || tool.Name == "revert" || tool.Name == "undo" || tool.Name == "redo"
			if tool.Annotations == nil || tool.Annotations.ReadOnlyHint == (changes || tool.Name == "save") {
				t.Errorf("%s: %+v", tool.Name, tool.Annotations)
			}
		}
		slices.Sort(names)
		if got := strings.Join(names, " "); got != want {
			t.Errorf("tools %s, want %s", got, want)
		}
	}
}

// TestMCPWrites checks that rollback needs the digest of the current plan, and that undo and redo
// keep to it if they get one.
func TestMCPWrites(t *testing.T) {
	session, dir := served(t, true, nil)
	content := func() string {
		t.Helper()
		data, err := os.ReadFile(filepath.Join(dir, "a.txt"))
		if err != nil {
			t.Fatal(err)
		}
		return string(data)
	}
	for _, text := range []string{"one", "two"} {
		put(t, dir, "a.txt", text)
		if _, problem := call(t, session, "save", map[string]any{"message": text}); problem != "" {
			t.Fatal(problem)
		}
	}
	plan, problem := call(t, session, "rollback_plan", map[string]any{"ref": "1"})
	digest, _ := plan["digest"].(string)
	if problem != "" || digest == "" {
		t.Fatalf("%v %s", plan, problem)
	}
	put(t, dir, "a.txt", "edited meanwhile")
	put(t, dir, "new.txt", "made meanwhile")
	for _, wrong := range []string{digest, "", "nonsense"} {
		if _, problem := call(t, session, "rollback", map[string]any{"ref": "1", "plan": wrong}); problem == "" || content() != "edited meanwhile" {
			t.Errorf("a rollback by the plan %q: %s, a.txt has %q", wrong, problem, content())
		}
	}
	plan, _ = call(t, session, "rollback_plan", map[string]any{"ref": "1"})
	if _, problem := call(t, session, "rollback", map[string]any{"ref": "1", "plan": plan["digest"]}); problem != "" || content() != "one" {
		t.Errorf("%s, a.txt has %q", problem, content())
	}
	if _, problem := call(t, session, "revert", map[string]any{"refs": []string{"2"}, "plan": ""}); !strings.Contains(problem, "revert_plan") || content() != "one" {
		t.Errorf("a revert without a plan: %s, a.txt has %q", problem, content())
	}
	for _, walk := range []struct{ verb, from, to string }{{"undo", "one", "edited meanwhile"}, {"redo", "edited meanwhile", "one"}} {
		plan, problem := call(t, session, walk.verb+"_plan", nil)
		if problem != "" || content() != walk.from {
			t.Fatalf("%s_plan: %s, a.txt has %q", walk.verb, problem, content())
		}
		put(t, dir, "a.txt", "edited again")
		put(t, dir, "another.txt", "made again")
		for _, wrong := range []map[string]any{{"plan": "nonsense"}, {"plan": plan["digest"]}} {
			if _, problem := call(t, session, walk.verb, wrong); problem == "" || content() != "edited again" {
				t.Errorf("%s by %v: %s, a.txt has %q", walk.verb, wrong, problem, content())
			}
		}
		put(t, dir, "a.txt", walk.from)
		if err := os.Remove(filepath.Join(dir, "another.txt")); err != nil {
			t.Fatal(err)
		}
		plan, _ = call(t, session, walk.verb+"_plan", nil)
		if _, problem := call(t, session, walk.verb, map[string]any{"plan": plan["digest"]}); problem != "" || content() != walk.to {
			t.Errorf("%s: %s, a.txt has %q", walk.verb, problem, content())
		}
	}
	if _, problem := call(t, session, "undo", nil); problem != "" || content() != "edited meanwhile" {
		t.Errorf("undo without a plan: %s, a.txt has %q", problem, content())
	}
}

// TestWithinPager checks that a command within another one answers plainly, also where git has
// started a pager for the outer one.
func TestWithinPager(t *testing.T) {
	app := &App{Version: "test", Terminal: screentest.NewPipes("").Terminal}
	app.Terminal.Environ = []string{"PATH=" + os.Getenv("PATH"), "HOME=" + t.TempDir(), "GIT_CONFIG_NOSYSTEM=1", "GIT_PAGER_IN_USE=true", "TERM=xterm"}
	dir := t.TempDir()
	if out, err := exec.Command("git", "init", "-q", dir).CombinedOutput(); err != nil {
		t.Fatalf("%v: %s", err, out)
	}
	put(t, dir, "a.txt", "one\n")
	run := runWithin(app)
	for _, args := range [][]string{{"save", "one"}, {"show", "-p"}} {
		got := run(t.Context(), dir, args, nil)
		if got.Code != 0 || strings.Contains(string(got.Out), "\x1b") {
			t.Errorf("%q: exit code %d, %q, %s", args, got.Code, got.Out, got.Problem)
		}
	}
}
