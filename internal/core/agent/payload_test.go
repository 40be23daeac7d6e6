package agent

import (
	"encoding/json"
	"flag"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/google/go-cmp/cmp"
)

var update = flag.Bool("update", false, "rewrite testdata/events.txt from what is read now")

// Every payload that a real agent sent is read as the table of events says. For each file,
// events.txt has the event and its meaning.
func TestPayloads(t *testing.T) {
	golden, err := os.ReadFile("testdata/events.txt")
	if err != nil {
		t.Fatal(err)
	}
	var got strings.Builder
	listed := map[string]bool{}
	for line := range strings.Lines(string(golden)) {
		fields := strings.Fields(line)
		file, event := fields[0], fields[1]
		listed[file] = true
		payload, err := os.ReadFile(filepath.Join("testdata/payloads", file+".json"))
		if err != nil {
			t.Fatal(err)
		}
		d, err := Find(filepath.Dir(file))
		if err != nil {
			t.Fatal(err)
		}
		fmt.Fprintln(&got, strings.TrimSpace(file+" "+event+" "+describe(d.Read(event, payload))))
	}
	if *update {
		if err := os.WriteFile("testdata/events.txt", []byte(got.String()), 0o600); err != nil {
			t.Fatal(err)
		}
	} else if diff := cmp.Diff(string(golden), got.String()); diff != "" {
		t.Error(diff)
	}
	files, err := filepath.Glob("testdata/payloads/*/*.json")
	if err != nil || len(files) != len(listed) {
		t.Errorf("%d payloads, %d of them in events.txt (%v)", len(files), len(listed), err)
	}
}

func describe(h Event) string {
	if h.Kind == "" && h.Child == "" {
		return "-"
	}
	words := []string{string(h.Kind)}
	for _, part := range [][2]string{{"prompt", h.Prompt}, {"reply", h.Reply}, {"use", h.Use}, {"child", h.Child}, {"of", h.Parent}, {"by", h.Subagent}} {
		if part[1] != "" {
			words = append(words, fmt.Sprintf("%s=%q", part[0], part[1]))
		}
	}
	return strings.Join(words, " ")
}

// Any bytes are read without a crash, and nothing that is kept is longer than it may be.
func FuzzRead(f *testing.F) {
	files, _ := filepath.Glob("testdata/payloads/*/*.json") //nolint:errcheck // the pattern is right
	for _, name := range files {
		data, err := os.ReadFile(name)
		if err != nil {
			f.Fatal(err)
		}
		f.Add(uint8(len(data)), data)
	}
	f.Fuzz(func(t *testing.T, which uint8, payload []byte) {
		names := Names()
		d, err := Find(names[int(which)%len(names)])
		if err != nil {
			t.Fatal(err)
		}
		for event := range d.Events {
			h := d.Read(event, payload)
			for _, s := range []string{h.Session, h.Model, h.Turn, h.Tool, h.Subagent} {
				if utf8.RuneCountInString(s) > longest || !utf8.ValidString(s) {
					t.Fatalf("%s: kept %d bytes", event, len(s))
				}
			}
			out, err := d.Write(event, Answer{Context: h.Prompt, Block: h.Use, Tell: h.Reply})
			if err != nil || len(out) > 0 && !json.Valid(out) {
				t.Fatalf("%s: answer %q, %v", event, out, err)
			}
		}
	})
}

// An answer has exactly the members that the agent takes for the event, or there is none.
func TestAnswers(t *testing.T) {
	for _, c := range []struct {
		agent, event string
		answer       Answer
		want         string
	}{
		{"claude", "UserPromptSubmit", Answer{Context: "c"}, `{"hookSpecificOutput":{"additionalContext":"c","hookEventName":"UserPromptSubmit"}}`},
		{"claude", "UserPromptSubmit", Answer{Block: "b"}, `{"decision":"block","hookSpecificOutput":{"hookEventName":"UserPromptSubmit","suppressOriginalPrompt":true},"reason":"b"}`},
		{"claude", "Stop", Answer{Context: "c", Block: "b"}, ``},
		{"codex", "UserPromptSubmit", Answer{Block: "a\nb"}, `{"decision":"block","reason":"a\nb"}`},
		{"codex", "SessionEnd", Answer{Tell: "x"}, ``},
		{"gemini", "BeforeAgent", Answer{Context: "c", Tell: "t"}, `{"hookSpecificOutput":{"additionalContext":"c"},"systemMessage":"t"}`},
		{"gemini", "AfterAgent", Answer{Block: "b"}, ``},
		{"copilot", "userPromptSubmitted", Answer{Context: "c<>&"}, `{"additionalContext":"c<>&"}`},
		{"copilot", "agentStop", Answer{Tell: "t"}, ``},
		{"opencode", "chat.message", Answer{Block: "b"}, `{"block":"b"}`},
		{"cursor", "beforeSubmitPrompt", Answer{Context: "c", Block: "b", Tell: "t"}, ``},
		{"generic", "prompt", Answer{Context: "$event"}, `{"context":"$event"}`},
	} {
		d, err := Find(c.agent)
		if err != nil {
			t.Fatal(err)
		}
		got, err := d.Write(c.event, c.answer)
		if err != nil || strings.TrimSpace(string(got)) != c.want {
			t.Errorf("%s %s %+v: %s, want %s (%v)", c.agent, c.event, c.answer, got, c.want, err)
		}
	}
}

// Every agent says when a tool is about to work: without that nobody knows who made what it changed.
func TestBeforeTools(t *testing.T) {
	for _, d := range All() {
		event := ""
		for name, rule := range d.Events {
			if rule.Kind == KindBeforeTool {
				event = name
			}
		}
		if event == "" || d.Hooks.Shape != "none" && d.HookFor(KindBeforeTool) == "" {
			t.Errorf("%s has no hook before its tools", d.Name)
		}
	}
	d, err := Find("cursor")
	if err != nil {
		t.Fatal(err)
	}
	e := d.Read("preToolUse", []byte(`{"conversation_id":"c","generation_id":"g","workspace_roots":["/w"],"tool_name":"Write","tool_use_id":"t1","tool_input":{"file_path":"/w/a.go","content":"x"}}`))
	if e.Kind != KindBeforeTool || e.Session != "c" || e.Call != "t1" {
		t.Errorf("%+v", e)
	}
}

// What an agent puts around a prompt is removed.
func TestPromptWords(t *testing.T) {
	for _, c := range []struct{ agent, event, payload, want string }{
		{"gemini", "BeforeAgent", `{"session_id":"s","prompt":"<hook_context>a\n<b></hook_context>\n\nfix it"}`, "fix it"},
		{"gemini", "BeforeAgent", `{"session_id":"s","prompt":"<hook_context>never closed"}`, "<hook_context>never closed"},
		{"opencode", "chat.message", `{"input":{"sessionID":"s"},"output":{"parts":[{"type":"text","text":"\"say \"hi\"\""}]}}`, `say "hi"`},
		{"claude", "UserPromptSubmit", `{"session_id":"s","prompt":"\"quoted\""}`, `"quoted"`},
	} {
		d, err := Find(c.agent)
		if err != nil {
			t.Fatal(err)
		}
		if got := d.Read(c.event, []byte(c.payload)); got.Prompt != c.want || got.Kind != KindPrompt {
			t.Errorf("%s: %q %q, want %q", c.agent, got.Kind, got.Prompt, c.want)
		}
	}
}

// An agent is found by its name and its aliases, and nothing else.
func TestFind(t *testing.T) {
	for _, name := range []string{"claude", "claude-code", "codex", "gemini", "copilot", "cursor", "opencode", "generic"} {
		if _, err := Find(name); err != nil {
			t.Error(err)
		}
	}
	if _, err := Find("nobody"); err == nil || !strings.Contains(err.Error(), "claude") {
		t.Errorf("an unknown agent: %v", err)
	}
}
