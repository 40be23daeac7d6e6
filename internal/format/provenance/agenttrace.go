package provenance

import (
	"bytes"
	"crypto/sha1" //nolint:gosec // a UUID of version 5 is made with it
	"encoding/json"
	"errors"
	"fmt"
	"net/url"
	"slices"
	"strings"
	"time"

	"git-checkpoint/internal/sys/lazy"
)

// trace is a record of Agent Trace 0.1.0.
type trace struct {
	Version   string      `json:"version"`
	ID        string      `json:"id"`
	Timestamp string      `json:"timestamp"`
	VCS       *traceVCS   `json:"vcs,omitempty"`
	Tool      *traceTool  `json:"tool,omitempty"`
	Files     []traceFile `json:"files"`
}

type traceVCS struct {
	Type     string `json:"type"`
	Revision string `json:"revision"`
}

type traceTool struct {
	Name    string `json:"name"`
	Version string `json:"version"`
}

type traceFile struct {
	Path          string      `json:"path"`
	Conversations []traceTalk `json:"conversations"`
}

type traceTalk struct {
	URL         string         `json:"url,omitempty"`
	Contributor *contributor   `json:"contributor,omitempty"`
	Ranges      []traceRange   `json:"ranges"`
	Related     []traceRelated `json:"related,omitempty"`
}

type contributor struct {
	Type  string `json:"type"`
	Model string `json:"model_id,omitempty"`
}

type traceRange struct {
	From        int          `json:"start_line"`
	To          int          `json:"end_line"`
	Contributor *contributor `json:"contributor,omitempty"`
}

// traceRelated is the step of this program, in a record of ours.
type traceRelated struct {
	Type string `json:"type"`
	URL  string `json:"url"`
}

// ofStep begins the address of a step.
const ofStep = Tool + ":"

// agentTrace writes a record. Its id depends on the commit and on what the record says of it, so that the same is written
// twice.
func agentTrace(n Note, at, version string) ([]byte, error) {
	r := trace{Version: "0.1.0", Timestamp: at, Tool: &traceTool{Tool, version}}
	if len(n.Commit) == 40 { // readers refuse others
		r.VCS = &traceVCS{"git", n.Commit}
	}
	for _, f := range n.Files {
		file := traceFile{Path: f.Path}
		for _, p := range f.Parts {
			talk := traceTalk{Contributor: &contributor{Type: p.Type}}
			if p.Type == AI {
				talk.Contributor.Model = withProvider(p.Model)
			}
			for _, r := range p.Ranges {
				talk.Ranges = append(talk.Ranges, traceRange{From: r.From, To: r.To})
			}
			for _, s := range p.Steps {
				i := strings.LastIndexByte(s, '/')
				talk.Related = append(talk.Related, traceRelated{"step", ofStep + url.PathEscape(s[:i]) + s[i:i+1] + url.PathEscape(s[i+1:])})
			}
			file.Conversations = append(file.Conversations, talk)
		}
		r.Files = append(r.Files, file)
	}
	content, err := indented(r)
	if err != nil {
		return nil, err
	}
	space := "\x6b\xa7\xb8\x11\x9d\xad\x11\xd1\x80\xb4\x00\xc0\x4f\xd4\x30\xc8" // for URLs, of RFC 9562
	u := sha1.Sum([]byte(space + ofStep + n.Commit + "\n" + string(content)))   //nolint:gosec // see above
	u[6], u[8] = u[6]&0x0f|0x50, u[8]&0x3f|0x80
	r.ID = fmt.Sprintf("%x-%x-%x-%x-%x", u[:4], u[4:6], u[6:8], u[8:10], u[10:16])
	return indented(r)
}

// indented returns a value as JSON that people can read, with a line end.
func indented(v any) ([]byte, error) {
	var b bytes.Buffer
	e := json.NewEncoder(&b)
	e.SetEscapeHTML(false)
	e.SetIndent("", "  ")
	err := e.Encode(v)
	return b.Bytes(), err
}

// providers are those of models, by the beginning of the model's name.
const providers = `claude- anthropic gpt- openai chatgpt- openai codex- openai o1 openai o3 openai o4- openai gemini- google gemma- google grok- xai
	deepseek- deepseek mistral- mistralai devstral- mistralai codestral- mistralai qwen qwen kimi- moonshotai glm- zai`

// mostModel is how long a model_id may be, in characters.
const mostModel = 250

var modelID = lazy.Pattern(`^[^/\s]+/\S+$`)

// withProvider returns PROVIDER/MODEL, or nothing if the provider is not known.
func withProvider(model string) string {
	for pair := range slices.Chunk(strings.Fields(providers), 2) {
		if !strings.Contains(model, "/") && strings.HasPrefix(model, pair[0]) {
			model = pair[1] + "/" + model
		}
	}
	if !modelID().MatchString(model) || len([]rune(model)) > mostModel {
		return ""
	}
	return model
}

var (
	errNoJSON    = errors.New("it is no JSON of this format")
	threeNumbers = lazy.Pattern(`^\d+\.\d+\.\d+$`)
	uuid         = lazy.Pattern(`(?i)^[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}$`)
	above        = lazy.Pattern(`^[A-Za-z]:[\\/]|(?:^|/)\.{0,2}(?:/|$)`) // paths that are not below the top
)

// readAgentTrace reads a record, or a list of them. What does not fit the format is an error.
func readAgentTrace(data []byte) (out []Note, err error) {
	var records []trace
	if data = bytes.TrimSpace(data); !bytes.HasPrefix(data, []byte("[")) {
		data = slices.Concat([]byte("["), data, []byte("]"))
	}
	if json.Unmarshal(data, &records) != nil || string(data) == "[]" {
		return nil, errNoJSON
	}
	for _, r := range records {
		n, fits := r.note()
		if !fits {
			return nil, errNoJSON
		}
		out = append(out, n)
	}
	return out, nil
}

// note returns what a record says, and whether it fits the format.
func (r *trace) note() (n Note, fits bool) {
	_, err := time.Parse(time.RFC3339, r.Timestamp)
	fits = err == nil && threeNumbers().MatchString(r.Version) && uuid().MatchString(r.ID) && r.Files != nil
	if n.Ours = r.Tool != nil && r.Tool.Name == Tool; r.VCS != nil {
		n.Commit, fits = r.VCS.Revision, fits && r.VCS.Revision != ""
	}
	for _, f := range r.Files {
		file := File{Path: f.Path}
		fits = fits && f.Conversations != nil && !above().MatchString(f.Path)
		for _, talk := range f.Conversations {
			fits = fits && talk.Ranges != nil
			for _, span := range talk.Ranges {
				by := talk.Contributor
				if span.Contributor != nil {
					by = span.Contributor
				}
				fits = fits && span.From > 0 && span.From <= span.To
				if by == nil {
					continue
				}
				fits = fits && slices.Contains([]string{AI, Human, Mixed, Unknown}, by.Type) && len([]rune(by.Model)) <= mostModel
				file.Parts = append(file.Parts, &Part{talk.maker(by), []Range{{span.From, span.To}}})
			}
		}
		n.Files = append(n.Files, file)
	}
	return n, fits
}

// maker returns whom a conversation names, and the session of ours that it was.
func (t *traceTalk) maker(by *contributor) Maker {
	m := Maker{Type: by.Type, Model: by.Model, Conversation: t.URL}
	for _, s := range t.Related {
		if step, ours := strings.CutPrefix(s.URL, ofStep); ours {
			m.Session, _ = url.PathUnescape(step[:max(0, strings.LastIndexByte(step, '/'))]) //nolint:errcheck // then it says nothing
		}
	}
	return m
}
