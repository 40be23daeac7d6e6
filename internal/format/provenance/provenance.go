// Package provenance reads and writes what other programs say about who made the lines of a commit: a record of Agent
// Trace 0.1.0, a note of the Git AI Standard 3.0.0, and trailers of messages. There is no git in it.
//
// Anybody can write any of these. What is read says what somebody claims, and proves nothing.
package provenance

import (
	"cmp"
	"crypto/sha256"
	"encoding/hex"
	"regexp"
	"slices"
	"strings"

	"git-checkpoint/internal/sys/lazy"
)

// Tool is the name of this program in both formats.
const Tool = "git-checkpoint"

// Types of makers.
const (
	AI      = "ai"
	Human   = "human"
	Mixed   = "mixed"
	Unknown = "unknown"
)

// Maker is who made some lines.
type Maker struct {
	Type         string   // AI, Human, Mixed or Unknown
	Agent        string   // of AI: such as "claude"; empty: it is not said
	Model        string   // such as "claude-sonnet-4-5", read from Agent Trace with its provider before it; empty: not said
	Conversation string   // the agent's own id of it, or in a note that was read, whatever names it there
	Session      string   // of this program; empty: it is not said
	Steps        []string // of this program, as SESSION/STEP. If there are several, it is one of them
}

// Range is some lines in a row, counted from 1, the last one included.
type Range struct{ From, To int }

// Part is lines of a file with the same maker, ascending.
type Part struct {
	Maker
	Ranges []Range
}

// Add adds a line that is behind all others.
func (p *Part) Add(line int) {
	if n := len(p.Ranges); n > 0 && p.Ranges[n-1].To == line-1 {
		p.Ranges[n-1].To = line
		return
	}
	p.Ranges = append(p.Ranges, Range{line, line})
}

// File is a file of a commit, with its path from the top.
type File struct {
	Path  string
	Parts []*Part
}

// At returns the maker of a line. Of several that a note has for it, the last one counts, as it does for others.
func (f File) At(line int) (m Maker, said bool) {
	for _, p := range f.Parts {
		for _, r := range p.Ranges {
			if r.From <= line && line <= r.To {
				m, said = p.Maker, true
			}
		}
	}
	return m, said
}

// Note is what a note says of a commit.
type Note struct {
	Commit string // the one whose lines it has; empty: it does not say
	Ours   bool   // whether all of it was written by this program
	Files  []File
}

// Format is a format of notes.
type Format struct {
	Name  string
	Ref   string // where it is by custom
	Read  func(data []byte) ([]Note, error)
	Holds func(path string) bool // whether it has a place for a path
	write func(n Note, at, version string) ([]byte, error)
	types string // of makers that it has a place for
}

// Formats returns the formats.
func Formats() []Format {
	all, quotable := func(string) bool { return true }, func(path string) bool { return !strings.ContainsAny(path, "\n\"") }
	return []Format{
		{"agent-trace", "refs/notes/agent-trace", readAgentTrace, all, agentTrace, AI + Human + Unknown},
		{"git-ai", "refs/notes/ai", readGitAI, quotable, gitAI, AI},
	}
}

// Write returns the note of a commit that was made at a time, as RFC 3339 has it in UTC. It leaves out the makers for which
// the format has no place. If none is left it returns nothing: an empty note would say that the lines are nobody's.
func (f Format) Write(n Note, at, version string) ([]byte, error) {
	kept := Note{Commit: n.Commit}
	for _, file := range n.Files {
		parts := slices.DeleteFunc(slices.Clone(file.Parts), func(p *Part) bool { return !strings.Contains(f.types, p.Type) })
		if len(parts) > 0 {
			kept.Files = append(kept.Files, File{file.Path, parts})
		}
	}
	if len(kept.Files) == 0 {
		return nil, nil
	}
	return f.write(kept, at, version)
}

// digest returns the first 14 hexadecimal digits of a SHA-256.
func digest(text string) string {
	sum := sha256.Sum256([]byte(text))
	return hex.EncodeToString(sum[:])[:14]
}

// Saying is what somebody says of lines of a commit, or of all of it.
type Saying struct {
	From         string `json:"from"` // the ref of a note, or the key of a trailer
	By           string `json:"by,omitempty"`
	Agent        string `json:"agent,omitempty"`
	Model        string `json:"model,omitempty"`
	Conversation string `json:"conversation,omitempty"`
	Lines        int    `json:"lines,omitempty"`   // how many it says this of
	Text         string `json:"text,omitempty"`    // the value of a trailer
	Problem      string `json:"problem,omitempty"` // why the note cannot be read
	Ours         bool   `json:"-"`                 // this program wrote it
}

// Words returns it for people, without its source.
func (s Saying) Words() string {
	switch {
	case s.Problem != "":
		return "cannot be read: " + s.Problem
	case s.Text != "":
		return s.Text
	}
	who := map[string]string{AI: "an agent", Human: "a person", Mixed: "a person and an agent"}[s.By]
	words := []string{cmp.Or(s.Agent, who), s.Model, s.Conversation}
	return strings.Join(slices.DeleteFunc(words, func(w string) bool { return w == "" }), ", ")
}

var trailerLine = lazy.Pattern(`^([A-Za-z-]+):[ \t]+(.*?)[ \t\r]*$`)

// values has the form of the value of each trailer, by key in lower case.
var values = map[string]func() *regexp.Regexp{
	"entire-checkpoint": lazy.Pattern(`^(?:[0-9a-f]{12}|[0-7][0-9A-HJKMNP-TV-Z]{25})$`),
	"agent-logs-url":    link, "claude-session": link, "assisted-by": lazy.Pattern(`.`),
}

var link = lazy.Pattern(`^https?://\S+$`)

// Trailers returns what the known trailers of a message say, each once. They count anywhere in it, because a squash leaves them in
// its middle, but not where they are indented, quoted, or within a fence.
func Trailers(message string) (out []Saying) {
	met, fenced := map[string]bool{}, false
	for line := range strings.SplitSeq(message, "\n") {
		if strings.HasPrefix(line, "```") {
			fenced = !fenced
		}
		m := trailerLine().FindStringSubmatch(line)
		if m == nil || fenced {
			continue
		}
		key := strings.ToLower(m[1])
		if form := values[key]; form != nil && form().MatchString(m[2]) && !met[key+":"+m[2]] {
			met[key+":"+m[2]] = true
			out = append(out, Saying{From: m[1], Text: m[2]})
		}
	}
	return out
}
