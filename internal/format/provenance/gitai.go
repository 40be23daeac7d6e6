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
	Humans   map[string]struct {
		Author string `json:"author"`
	} `json:"humans,omitempty"`
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

// spelled has the names of agents that others spell in another way.
var spelled = map[string]string{"copilot": "github-copilot-cli"}

// Key returns the key of an agent's session: two programs that saw the same conversation have the same.
func (m Maker) Key() string { return "s_" + digest(m.tool()+":"+m.Conversation) }

// tool is the agent as git-ai spells it.
func (m Maker) tool() string {
	if other, is := spelled[m.Agent]; is {
		return other
	}
	return m.Agent
}

// gitAI writes a note. It has nothing that the format does not ask for, but the session of this program.
func gitAI(n Note, _, _ string) ([]byte, error) {
	a := authorship{Schema: schema, Commit: n.Commit, Prompts: map[string]talkOfAgent{}, Sessions: map[string]talkOfAgent{}}
	var b strings.Builder
	for _, f := range n.Files {
		path := f.Path
		if path == divider || strings.IndexFunc(path, isSpace) >= 0 {
			path = `"` + path + `"`
		}
		b.WriteString(path + "\n")
		for _, p := range f.Parts {
			key, tool, model := p.Key(), p.tool(), p.Model
			if model == "" {
				model = Unknown
			}
			a.Sessions[key] = talkOfAgent{agentID{&tool, &p.Conversation, &model}, map[string]string{Tool: p.Session}}
			fmt.Fprintf(&b, "  %s::t_%s %s\n", key, digest(strings.Join(p.Steps, " ")), spans(p.Ranges))
		}
	}
	metadata, err := indented(a)
	b.WriteString(divider + "\n" + string(metadata))
	return []byte(b.String()), err
}

// isSpace reports whether a path with this character stands in quotes.
func isSpace(r rune) bool { return unicode.IsSpace(r) || r < ' ' }

// spans writes ranges as 1-4,9.
func spans(all []Range) string {
	out := make([]string, len(all))
	for i, r := range all {
		if out[i] = strconv.Itoa(r.From); r.To > r.From {
			out[i] += "-" + strconv.Itoa(r.To)
		}
	}
	return strings.Join(out, ",")
}

// ReadGitAI reads a note. One of another version of the standard says nothing, and so do keys that it does not explain. What
// git-ai itself cannot read is an error.
func ReadGitAI(data []byte) ([]Note, error) {
	if !utf8.Valid(data) {
		return nil, errors.New("it is no UTF-8")
	}
	lines := strings.Split(string(data), "\n")
	at := slices.Index(lines, divider)
	if at < 0 {
		return nil, errors.New("it has no line " + divider)
	}
	var a authorship
	if err := json.Unmarshal([]byte(strings.Join(lines[at+1:], "\n")), &a); err != nil {
		return nil, errNoJSON
	}
	if err := a.check(); err != nil {
		return nil, err
	}
	n := Note{Commit: a.Commit, Ours: len(a.Sessions) > 0 && len(a.Prompts)+len(a.Humans) == 0}
	for _, s := range a.Sessions {
		n.Ours = n.Ours && s.Attributes[Tool] != ""
	}
	if a.Schema != schema {
		return []Note{{Commit: a.Commit}}, nil
	}
	met := map[string]bool{}
	for _, line := range lines[:at] {
		switch {
		case strings.TrimSpace(line) == "":
		case line[0] != ' ' && line[0] != '\t':
			if len(line) > 1 && line[0] == '"' && line[len(line)-1] == '"' {
				line = line[1 : len(line)-1]
			}
			n.Files = append(n.Files, File{Path: line})
			met[line] = false
		case len(n.Files) == 0:
			return nil, errors.New("it has lines without a path")
		default:
			if err := a.attest(&n.Files[len(n.Files)-1], line); err != nil {
				return nil, err
			}
		}
	}
	// Of a path that is there twice, the first counts.
	n.Files = slices.DeleteFunc(n.Files, func(f File) bool { was := met[f.Path]; met[f.Path] = true; return was })
	return []Note{n}, nil
}

func (a *authorship) check() error {
	if a.Schema == "" || a.Commit == "" || a.Prompts == nil {
		return errors.New("it lacks schema_version, base_commit_sha or prompts")
	}
	for _, all := range []map[string]talkOfAgent{a.Sessions, a.Prompts} {
		for key, s := range all {
			if s.Agent.Tool == nil || s.Agent.ID == nil || s.Agent.Model == nil {
				return fmt.Errorf("agent_id of %s lacks tool, id or model", key)
			}
		}
	}
	return nil
}

var spanPattern = pattern(`^(\d{1,9})(?:-(\d{1,9}))?$`)

// attest adds what a line of a note says of a file.
func (a *authorship) attest(f *File, line string) error {
	key, said, _ := strings.Cut(strings.TrimSpace(line), " ")
	m, known := a.maker(key)
	p := &Part{Maker: m}
	for span := range strings.SplitSeq(strings.TrimSpace(said), ",") {
		x := spanPattern().FindStringSubmatch(span)
		if x == nil {
			return fmt.Errorf("%q are no lines", said)
		}
		r := Range{}
		r.From, _ = strconv.Atoi(x[1]) //nolint:errcheck // these are digits
		if r.To = r.From; x[2] != "" {
			r.To, _ = strconv.Atoi(x[2]) //nolint:errcheck // likewise
		}
		p.Ranges = append(p.Ranges, r)
	}
	if known {
		f.Parts = append(f.Parts, p)
	}
	return nil
}

// maker returns whom a key stands for.
func (a *authorship) maker(key string) (m Maker, known bool) {
	session, _, _ := strings.Cut(key, "::")
	talk, known := a.Sessions[session]
	if !known {
		talk, known = a.Prompts[key]
	}
	if known {
		model := *talk.Agent.Model
		if model == Unknown {
			model = ""
		}
		return Maker{Type: AI, Agent: *talk.Agent.Tool, Model: model, Conversation: *talk.Agent.ID, Session: talk.Attributes[Tool]}, true
	}
	_, known = a.Humans[key]
	return Maker{Type: Human}, known
}
