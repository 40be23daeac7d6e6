package hook

import (
	"cmp"
	"encoding/json"
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"time"

	"git-checkpoint/internal/agents/chat"
	"git-checkpoint/internal/core/agent"
	"git-checkpoint/internal/format/name"
	"git-checkpoint/internal/sys/wholefile"
)

// conversation is what is remembered of one conversation with an agent, between two hooks.
// Each hook is a process of its own.
type conversation struct {
	ID       string       `json:"id"`      // the agent's id
	Session  name.Session `json:"session"` // the session into which its checkpoints go
	Turn     turn         `json:"turn"`
	Seen     time.Time    `json:"seen"`               // when the agent was last told what happened to the files
	Removed  string       `json:"removed,omitempty"`  // what to say of the work of others that the last turn removed
	Children []string     `json:"children,omitempty"` // the ids of the conversations of its subagents
	Last     time.Time    `json:"last"`               // time of the last event
	Ended    bool         `json:"ended,omitempty"`    // the last event was its end

	Transcript progress `json:"transcript"`
	Spending   spending `json:"spending,omitzero"`
	// Origin is the session of the conversation from which this one goes on; package continuation notes it.
	Origin name.Session `json:"origin,omitempty"`
	// Talk is the path of the transcript at the end of the last turn, for package continuation.
	Talk string `json:"talk,omitempty"`
	// Place is how far that transcript was looked at, Owed how many prompts before it the agent had not written
	// then, and Prompts how many came since.
	Place   int64          `json:"place,omitempty"`
	Owed    int            `json:"owed,omitempty"`
	Prompts int            `json:"prompts,omitempty"`
	Asked   *chat.Question `json:"asked,omitempty"` // what waits for an answer that is typed in the chat

	child bool // the event is from a subagent's own conversation
}

// turn is the prompt on which the agent is working, or has worked last: then it is not open.
type turn struct {
	Open    bool     `json:"open,omitempty"`
	ID      string   `json:"id,omitempty"`
	Subject string   `json:"subject,omitempty"` // first words of the prompt
	Tree    name.OID `json:"tree,omitempty"`    // the files when the prompt was given
	// Worked says that a tool changed files since then, or since the milestone of its end.
	Worked bool `json:"worked,omitempty"`

	// The milestone of its end, after which the agent may go on: its id, its step and its files.
	// The step is nil where turns are not steps.
	Made name.ID  `json:"made,omitempty"`
	Step *int     `json:"step,omitempty"`
	End  name.OID `json:"end,omitempty"`
}

// memory is what the hooks of an agent remember in a worktree.
type memory struct {
	agent string // its name
	dir   string // <git dir>/checkpoint/agents
	now   func() time.Time

	waited time.Duration // for other hooks, see lock
}

// file returns the path of a conversation's file. The id may be any text, so it is hashed.
func (m *memory) file(id string) string { return filepath.Join(m.dir, agent.MemoryOf(m.agent, id)) }

// open returns the conversation to which an event belongs: for a subagent that of its
// parent. A file that is missing or damaged means a new conversation.
func (m *memory) open(e agent.Event) *conversation {
	id := cmp.Or(e.Parent, e.Session)
	c := m.read(m.file(id))
	if c.ID == "" {
		if parent := m.parentOf(id); parent != nil {
			c, c.child = *parent, true
		}
	}
	if c.ID == "" {
		c.ID = id
	}
	return &c
}

func (m *memory) read(file string) (c conversation) {
	data, err := os.ReadFile(file)
	if err != nil || json.Unmarshal(data, &c) != nil {
		return conversation{}
	}
	return c
}

// parentOf returns the conversation that started the subagent with this id, or nil.
func (m *memory) parentOf(id string) *conversation {
	for _, name := range m.files(m.agent + "-*.json") {
		if c := m.read(name); slices.Contains(c.Children, id) {
			return &c
		}
	}
	return nil
}

// forgetAfter is how long a conversation is remembered after its last event.
const forgetAfter = 30 * 24 * time.Hour

// saveConversation saves a conversation. When a new one is saved, old ones are deleted.
func (m *memory) saveConversation(c *conversation) error {
	c.Last = m.now()
	file := m.file(c.ID)
	if _, err := os.Stat(file); errors.Is(err, fs.ErrNotExist) {
		m.forget()
	}
	// It is readable by its owner only, because it contains words of prompts.
	return wholefile.Private(file, c)
}

// files returns the files that match a pattern. The directory is not part of the pattern: its name
// may have a "[".
func (m *memory) files(pattern string) []string {
	names, _ := fs.Glob(os.DirFS(m.dir), pattern) //nolint:errcheck // the pattern is right
	for i, name := range names {
		names[i] = filepath.Join(m.dir, name)
	}
	return names
}

func (m *memory) forget() {
	for _, name := range m.files("*.json") {
		if c := m.read(name); m.now().Sub(c.Last) > forgetAfter {
			os.Remove(name) //nolint:errcheck // tried again with the next conversation
		}
	}
}
