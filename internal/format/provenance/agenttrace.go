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

type traceRelated struct {
	Type string `json:"type"`
	URL  string `json:"url"`
}

// step is the kind of what is related, and ofStep begins its address.
const (
	step   = "step"
	ofStep = Tool + ":"
)

// agentTrace writes a record. Its id depends on the commit and on what the record says of it, so that the same is written
// twice.
func agentTrace(n Note, at, version string) ([]byte, error) {
	r := trace{Version: "0.1.0", Timestamp: at, Tool: &traceTool{Tool, version}, Files: []traceFile{}}
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
				session, number, _ := cutLast(s)
				talk.Related = append(talk.Related, traceRelated{step, ofStep + url.PathEscape(session) + "/" + url.PathEscape(number)})
			}
			file.Conversations = append(file.Conversations, talk)
		}
		r.Files = append(r.Files, file)
	}
	content, err := indented(r)
	if err != nil {
		return nil, err
	}
	r.ID = uuid5(n.Commit + "\n" + string(content))
	return indented(r)
}

// cutLast cuts a step at its last slash.
func cutLast(s string) (session, number string, is bool) {
	i := strings.LastIndexByte(s, '/')
	if i < 0 {
		return s, "", false
	}
	return s[:i], s[i+1:], true
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

// uuid5 returns the UUID of version 5 for a name, in the namespace for URLs of RFC 9562.
func uuid5(text string) string {
	space := "\x6b\xa7\xb8\x11\x9d\xad\x11\xd1\x80\xb4\x00\xc0\x4f\xd4\x30\xc8"
	u := sha1.Sum([]byte(space + Tool + ":" + text)) //nolint:gosec // see above
	u[6], u[8] = u[6]&0x0f|0x50, u[8]&0x3f|0x80
	return fmt.Sprintf("%x-%x-%x-%x-%x", u[:4], u[4:6], u[6:8], u[8:10], u[10:16])
}

// providers are those of models, by the beginning of the model's name.
var providers = [][2]string{
	{"claude-", "anthropic"}, {"gpt-", "openai"}, {"chatgpt-", "openai"}, {"codex-", "openai"}, {"o1", "openai"}, {"o3", "openai"}, {"o4-", "openai"},
	{"gemini-", "google"}, {"gemma-", "google"}, {"grok-", "xai"}, {"deepseek-", "deepseek"}, {"mistral-", "mistralai"}, {"devstral-", "mistralai"},
	{"codestral-", "mistralai"}, {"qwen", "qwen"}, {"kimi-", "moonshotai"}, {"glm-", "zai"},
}

var modelID = pattern(`^[^/\s]+/\S+$`)

// mostModel is how long a model_id may be, in characters.
const mostModel = 250

// withProvider returns PROVIDER/MODEL, or nothing if the provider is not known.
func withProvider(model string) string {
	for _, p := range providers {
		if !strings.Contains(model, "/") && strings.HasPrefix(model, p[0]) {
			model = p[1] + "/" + model
		}
	}
	if !modelID().MatchString(model) || len([]rune(model)) > mostModel {
		return ""
	}
	return model
}

var errNoJSON = errors.New("it is no JSON of this format")

// ReadAgentTrace reads a record, or a list of them. What does not fit the format is an error.
func ReadAgentTrace(data []byte) (out []Note, err error) {
	var records []trace
	if bytes.HasPrefix(bytes.TrimLeft(data, " \t\r\n"), []byte("[")) {
		err = json.Unmarshal(data, &records)
	} else {
		records = make([]trace, 1)
		err = json.Unmarshal(data, &records[0])
	}
	if err != nil {
		return nil, errNoJSON
	}
	for _, r := range records {
		if err := r.check(); err != nil {
			return nil, err
		}
		out = append(out, r.note())
	}
	return out, nil
}

var (
	threeNumbers = pattern(`^\d+\.\d+\.\d+$`)
	uuid         = pattern(`(?i)^[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}$`)
	drive        = pattern(`^[A-Za-z]:[\\/]`)
	address      = pattern("^[A-Za-z][A-Za-z0-9+.-]*:[^\\s<>\"{}|\\\\^`]+$")
)

// check returns an error if a record does not fit the format.
func (r *trace) check() error {
	_, err := time.Parse(time.RFC3339, r.Timestamp)
	switch {
	case !threeNumbers().MatchString(r.Version):
		return errors.New("its version is not three numbers")
	case !uuid().MatchString(r.ID):
		return errors.New("its id is no UUID")
	case err != nil:
		return errors.New("its timestamp is no time")
	case r.VCS != nil && (!slices.Contains([]string{"git", "jj", "hg", "svn"}, r.VCS.Type) || r.VCS.Revision == ""):
		return errors.New("its vcs is no known one, or without a revision")
	case r.Files == nil:
		return errors.New("it has no files")
	}
	for _, f := range r.Files {
		if f.Conversations == nil || !isBelow(f.Path) {
			return fmt.Errorf("file %q has no conversations, or is not below the top", f.Path)
		}
		for _, talk := range f.Conversations {
			if err := talk.check(); err != nil {
				return fmt.Errorf("file %q: %w", f.Path, err)
			}
		}
	}
	return nil
}

func (t traceTalk) check() error {
	if t.Ranges == nil || !t.Contributor.fits() || t.URL != "" && !address().MatchString(t.URL) {
		return errors.New("a conversation without ranges, or of an unknown contributor or address")
	}
	for _, r := range t.Ranges {
		if r.From < 1 || r.To < r.From || !r.Contributor.fits() {
			return fmt.Errorf("the range %d to %d is none, or of an unknown contributor", r.From, r.To)
		}
	}
	for _, r := range t.Related {
		if r.Type == "" || !address().MatchString(r.URL) {
			return errors.New("what is related has no type, or no address")
		}
	}
	return nil
}

// fits reports whether a contributor is left out, or is one that the format knows.
func (c *contributor) fits() bool {
	return c == nil || slices.Contains([]string{AI, Human, Mixed, Unknown}, c.Type) && len([]rune(c.Model)) <= mostModel
}

// isBelow reports whether a path is one from the top of a repository.
func isBelow(path string) bool {
	parts := strings.Split(path, "/")
	return !slices.ContainsFunc(parts, func(p string) bool { return p == "" || p == "." || p == ".." }) && !drive().MatchString(path)
}

func (r *trace) note() Note {
	n := Note{Ours: r.Tool != nil && r.Tool.Name == Tool}
	if r.VCS != nil {
		n.Commit = r.VCS.Revision
	}
	for _, f := range r.Files {
		file := File{Path: f.Path}
		for _, talk := range f.Conversations {
			for _, span := range talk.Ranges {
				by := talk.Contributor
				if span.Contributor != nil {
					by = span.Contributor
				}
				if by != nil {
					m := Maker{Type: by.Type, Model: by.Model, Conversation: talk.URL}
					m.steps(talk.Related)
					file.Parts = append(file.Parts, &Part{m, []Range{{span.From, span.To}}})
				}
			}
		}
		n.Files = append(n.Files, file)
	}
	return n
}

// steps takes over those that this program named.
func (m *Maker) steps(related []traceRelated) {
	for _, r := range related {
		rest, ours := strings.CutPrefix(r.URL, ofStep)
		session, number, is := cutLast(rest)
		if text, err := url.PathUnescape(session); ours && is && err == nil && r.Type == step {
			m.Session, m.Steps = text, append(m.Steps, text+"/"+number)
		}
	}
}
