package provenance

import (
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"unicode"
	"unicode/utf8"
)

// authorship is the second part of a note of the Git AI Standard 3.0.0.
type authorship struct {
	Schema   string                 `json:"schema_version"`
	Commit   string                 `json:"base_commit_sha"`
	Prompts  map[string]talkOfAgent `json:"prompts"`
	Sessions map[string]talkOfAgent `json:"sessions,omitempty"`
	Humans   map[string]any         `json:"humans,omitempty"`
}

type talkOfAgent struct {
	Agent      agentID           `json:"agent_id"`
	Attributes map[string]string `json:"custom_attributes,omitempty"`
}

type agentID struct {
	Tool  *string `json:"tool"`
	ID    *string `json:"id"`
	Model *string `json:"model"`
}

const (
	schema  = "authorship/3.0.0"
	divider = "---"
)

// Key returns the key of an agent's session: two programs that saw the same conversation have the same.
func (m Maker) Key() string { return "s_" + digest(m.tool()+":"+m.Conversation) }

// tool is the agent as git-ai spells it.
func (m Maker) tool() string {
	if m.Agent == "copilot" {
		return "github-copilot-cli"
	}
	return m.Agent
}

// gitAI writes a note. It has nothing that the format does not ask for, but the session of this program.
func gitAI(n Note, _, _ string) ([]byte, error) {
	a := authorship{Schema: schema, Commit: n.Commit, Prompts: map[string]talkOfAgent{}, Sessions: map[string]talkOfAgent{}}
	var b strings.Builder
	for _, f := range n.Files {
		path := f.Path
		if path == divider || strings.ContainsFunc(path, func(r rune) bool { return unicode.IsSpace(r) || r < ' ' }) {
			path = `"` + path + `"`
		}
		b.WriteString(path + "\n")
		for _, p := range f.Parts {
			key, tool, model := p.Key(), p.tool(), p.Model
			if model == "" {
				model = Unknown
			}
			a.Sessions[key] = talkOfAgent{agentID{&tool, &p.Conversation, &model}, map[string]string{Tool: p.Session}}
			fmt.Fprintf(&b, "  %s::t_%s ", key, digest(strings.Join(p.Steps, " ")))
			for i, r := range p.Ranges {
				if i > 0 {
					b.WriteByte(',')
				}
				if b.WriteString(strconv.Itoa(r.From)); r.To > r.From {
					fmt.Fprintf(&b, "-%d", r.To)
				}
			}
			b.WriteString("\n")
		}
	}
	metadata, err := indented(a)
	b.WriteString(divider + "\n" + string(metadata))
	return []byte(b.String()), err
}

// readGitAI reads a note. One of another version of the standard says nothing, and so do keys that it does not explain. What
// git-ai itself cannot read is an error.
func readGitAI(data []byte) ([]Note, error) {
	lines := strings.Split(string(data), "\n")
	at := slices.Index(lines, divider)
	if at < 0 || !utf8.Valid(data) {
		return nil, errors.New("it is no UTF-8, or has no line " + divider)
	}
	var a authorship
	if json.Unmarshal([]byte(strings.Join(lines[at+1:], "\n")), &a) != nil || a.Schema == "" || a.Commit == "" || a.Prompts == nil {
		return nil, errNoJSON
	}
	n := Note{Commit: a.Commit, Ours: len(a.Sessions) > 0 && len(a.Prompts)+len(a.Humans) == 0}
	for _, all := range []map[string]talkOfAgent{a.Sessions, a.Prompts} {
		for _, s := range all {
			if n.Ours = n.Ours && s.Attributes[Tool] != ""; s.Agent.Tool == nil || s.Agent.ID == nil || s.Agent.Model == nil {
				return nil, errNoJSON
			}
		}
	}
	if a.Schema != schema {
		return []Note{n}, nil
	}
	var err error
	if n.Files, err = a.files(lines[:at]); err != nil {
		return nil, err
	}
	return []Note{n}, nil
}

// files reads the lines before the divider. Of a path that is there twice, the first counts.
func (a *authorship) files(lines []string) (files []File, err error) {
	for _, line := range lines {
		switch key, said, _ := strings.Cut(strings.TrimSpace(line), " "); {
		case key == "":
		case line[0] != ' ' && line[0] != '\t':
			if n := len(line) - 1; n > 0 && line[0] == '"' && line[n] == '"' {
				line = line[1:n]
			}
			files = append(files, File{Path: line})
		case len(files) == 0:
			return nil, errors.New("it has lines without a path")
		default:
			ranges, err := rangesOf(strings.TrimSpace(said))
			if err != nil {
				return nil, err
			}
			if m, known := a.maker(key); known {
				f := &files[len(files)-1]
				f.Parts = append(f.Parts, &Part{m, ranges})
			}
		}
	}
	met := map[string]bool{}
	return slices.DeleteFunc(files, func(f File) bool { was := met[f.Path]; met[f.Path] = true; return was }), nil
}

// rangesOf reads lines such as 1-4,9. Those that are none, such as 4-1, stay.
func rangesOf(said string) (out []Range, err error) {
	for span := range strings.SplitSeq(said, ",") {
		first, last, more := strings.Cut(span, "-")
		if !more {
			last = first
		}
		from, err := strconv.ParseUint(first, 10, 30)
		to, wrong := strconv.ParseUint(last, 10, 30)
		if err != nil || wrong != nil {
			return nil, fmt.Errorf("%q are no lines", said)
		}
		out = append(out, Range{int(from), int(to)})
	}
	return out, nil
}

// maker returns whom a key stands for.
func (a *authorship) maker(key string) (m Maker, known bool) {
	session, _, _ := strings.Cut(key, "::")
	talk, known := a.Sessions[session]
	if !known {
		talk, known = a.Prompts[key]
	}
	if !known {
		_, known = a.Humans[key]
		return Maker{Type: Human}, known
	}
	m = Maker{Type: AI, Agent: *talk.Agent.Tool, Model: *talk.Agent.Model, Conversation: *talk.Agent.ID, Session: talk.Attributes[Tool]}
	if m.Model == Unknown {
		m.Model = ""
	}
	return m, true
}
