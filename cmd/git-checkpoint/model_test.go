package main

import (
	"bytes"
	"compress/gzip"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"regexp"
	"strconv"
	"strings"
	"sync"
	"testing"

	"github.com/tidwall/gjson"
)

// model is a language model on 127.0.0.1 that follows a script, for the real programs of coding
// agents. It keeps no conversation: what it answers follows from the request alone, so that an
// agent's other questions (a title, a classification) disturb nothing.
type model struct {
	*httptest.Server
	script []modelTurn

	mu    sync.Mutex
	asked []question
}

// modelTurn is what the model does for a prompt that holds some words: one step for each request.
type modelTurn struct {
	words string
	steps []modelStep
}

// modelStep is a file to write, a command to run, or else a text that ends the turn.
type modelStep struct {
	path, content, command, text string
	before                       func() // what a person does meanwhile; nil: nothing
}

// question is what counts in a request, whatever the protocol.
type question struct {
	prompt string                  // the newest text of the user
	steps  int                     // what the model did since
	tools  map[string]gjson.Result // that it may use, by name
	body   string
}

// modelCall is a use of a tool; one that takes free text has no arguments.
type modelCall struct {
	name string
	args map[string]string
	free string
}

func serveModel(t *testing.T, script []modelTurn) *model {
	m := &model{script: script}
	m.Server = httptest.NewServer(m)
	t.Cleanup(m.CloseClientConnections)
	t.Cleanup(m.Close)
	return m
}

// questions gives those with a prompt of these words.
func (m *model) questions(words string) (found []question) {
	m.mu.Lock()
	defer m.mu.Unlock()
	for _, q := range m.asked {
		if strings.Contains(q.prompt, words) {
			found = append(found, q)
		}
	}
	return found
}

// speech is how a protocol puts a request and an answer.
type speech struct {
	hear func(body gjson.Result) question
	say  func(id, text string, use *modelCall) (answer string, events []string)
}

func (m *model) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	var in io.Reader = r.Body
	if r.Header.Get("Content-Encoding") == "gzip" {
		if z, err := gzip.NewReader(r.Body); err == nil {
			in = z
		}
	}
	body, _ := io.ReadAll(in)
	speaks, ok := speechOf(r.URL.Path)
	w.Header().Set("Content-Type", "application/json")
	if r.Method != http.MethodPost || !ok {
		// Agents list models, count tokens and report; none of it matters here.
		fmt.Fprint(w, `{"object":"list","data":[{"id":"scripted","object":"model","type":"model","display_name":"scripted","created":1}],"models":[],"input_tokens":100,"totalTokens":100}`)
		return
	}
	root := gjson.ParseBytes(body)
	q := speaks.hear(root)
	q.body = string(body)
	m.mu.Lock()
	m.asked = append(m.asked, q)
	id := strconv.Itoa(len(m.asked))
	m.mu.Unlock()
	text, use := m.decide(q)
	streams := root.Get("stream").Bool() || strings.Contains(r.URL.Path, ":stream")
	answer, events := speaks.say(id, text, use)
	if !streams {
		fmt.Fprint(w, answer)
		return
	}
	w.Header().Set("Content-Type", "text/event-stream")
	for _, e := range events {
		if kind := gjson.Get(e, "type"); kind.Exists() {
			fmt.Fprintf(w, "event: %s\n", kind)
		}
		fmt.Fprintf(w, "data: %s\n\n", e)
	}
}

// decide finds the step that comes next.
func (m *model) decide(q question) (string, *modelCall) {
	if len(q.tools) == 0 { // a title or a classification
		if strings.Contains(q.body, "json_schema") || strings.Contains(q.body, "responseMimeType") || strings.Contains(q.body, "responseJsonSchema") {
			return `{"title":"scripted","isNewTopic":false,"reasoning":"none","next_speaker":"user","model_choice":"flash"}`, nil
		}
		return "ok", nil
	}
	m.mu.Lock()
	script := m.script
	m.mu.Unlock()
	for _, turn := range script {
		if !strings.Contains(q.prompt, turn.words) {
			continue
		}
		s := turn.steps[min(q.steps, len(turn.steps)-1)]
		if s.before != nil {
			s.before()
		}
		if s.text != "" {
			return s.text, nil
		}
		if use := s.use(q.tools); use != nil {
			return "", use
		}
		return "there is no tool for this", nil
	}
	return "Nothing to do.", nil
}

// use finds the agent's own tool for a step.
func (s modelStep) use(tools map[string]gjson.Result) *modelCall {
	uses := []modelCall{
		{name: "Bash", args: map[string]string{"command": s.command, "description": "run"}},
		{name: "bash", args: map[string]string{"command": s.command, "description": "run"}},
		{name: "run_shell_command", args: map[string]string{"command": s.command, "description": "run"}},
		{name: "exec_command", args: map[string]string{"cmd": s.command}},
		{name: "shell_command", args: map[string]string{"command": s.command}},
		{name: "Execute", args: map[string]string{"command": s.command, "summary": "run", "riskLevelReason": "none", "riskLevel": "low"}},
	}
	if s.command == "" {
		patch := "*** Begin Patch\n*** Add File: " + s.path + "\n" + regexp.MustCompile(`(?m)^(.+)$`).ReplaceAllString(strings.TrimSuffix(s.content, "\n"), "+$1") + "\n*** End Patch\n"
		uses = []modelCall{
			{name: "Write", args: map[string]string{"file_path": s.path, "content": s.content}},
			{name: "write_file", args: map[string]string{"file_path": s.path, "content": s.content}},
			{name: "Create", args: map[string]string{"file_path": s.path, "content": s.content}},
			{name: "create", args: map[string]string{"path": s.path, "file_text": s.content}},
			{name: "write", args: map[string]string{"filePath": s.path, "content": s.content}},
			{name: "apply_patch", free: patch},
		}
	}
	for _, use := range uses {
		tool, offered := tools[use.name]
		if !offered {
			continue
		}
		if use.free != "" && tool.Get("type").String() != "custom" {
			use.args, use.free = map[string]string{"input": use.free}, ""
		}
		return &use
	}
	return nil
}

// speechOf is the protocol of a path.
func speechOf(path string) (speech, bool) {
	switch {
	case strings.HasSuffix(path, "/messages"):
		return speech{hearMessages, sayMessages}, true
	case strings.HasSuffix(path, "/chat/completions"):
		return speech{hearChat, sayChat}, true
	case strings.HasSuffix(path, "/responses"):
		return speech{hearResponses, sayResponses}, true
	case strings.HasSuffix(path, "enerateContent"):
		return speech{hearGemini, sayGemini}, true
	}
	return speech{}, false
}

// object writes pairs of names and values as JSON.
func object(pairs ...any) json.RawMessage {
	var b bytes.Buffer
	b.WriteByte('{')
	for i := 0; i+1 < len(pairs); i += 2 {
		if i > 0 {
			b.WriteByte(',')
		}
		value, err := json.Marshal(pairs[i+1])
		if err != nil {
			value = []byte("null")
		}
		fmt.Fprintf(&b, "%q:%s", pairs[i], value)
	}
	b.WriteByte('}')
	return b.Bytes()
}

// textOf joins the texts of a message's content, which is a text or a list of parts.
func textOf(content gjson.Result) string {
	if !content.IsArray() {
		return content.String()
	}
	var texts []string
	for _, part := range content.Array() {
		if text := part.Get("text"); text.Exists() {
			texts = append(texts, text.String())
		}
	}
	return strings.Join(texts, "\n")
}

// reminders are what agents put around the words of a person.
var reminders = regexp.MustCompile(`(?s)<(system[-_]reminder|hook_context|session_context|environment_context)>.*?</(system[-_]reminder|hook_context|session_context|environment_context)>`)

func wordsOf(text string) string { return strings.TrimSpace(reminders.ReplaceAllString(text, "")) }
