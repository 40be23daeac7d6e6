package hook

import (
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"time"

	"git-checkpoint/internal/agent"
	"git-checkpoint/internal/name"
)

// conversation is what is remembered of one conversation with an agent.
type conversation struct {
	ID       string       `json:"id"` // the agent's
	Session  name.Session `json:"session"`
	Turn     turn         `json:"turn"`
	Seen     time.Time    `json:"seen"` // when the agent last heard what happened to the files
	Children []string     `json:"children,omitempty"`
	Last     time.Time    `json:"last"` // the last event
	Event    string       `json:"event"`
	Failures int          `json:"failures,omitempty"` // in a row
	Told     bool         `json:"told,omitempty"`     // the person knows of them
	Problem  string       `json:"problem,omitempty"`

	Transcript progress `json:"transcript"`

	child bool // the event is of a subagent with a conversation of its own
}

// turn is a prompt that the agent is working on.
type turn struct {
	Open    bool     `json:"open,omitempty"`
	ID      string   `json:"id,omitempty"`
	Subject string   `json:"subject,omitempty"` // the first words of the prompt
	Tree    name.OID `json:"tree,omitempty"`    // the files when it was given
}

// file is where a conversation is kept: its id may be any text.
func (h *Handler) file(id string) string {
	sum := sha256.Sum256([]byte(h.Agent.Name + "\x00" + id))
	return filepath.Join(h.Dir, h.Agent.Name+"-"+hex.EncodeToString(sum[:8])+".json")
}

// open reads what is known of the conversation that an event belongs to. A subagent's belongs to its
// parent's. A file that cannot be read is none: it may be deleted at any time.
func (h *Handler) open(e agent.Happening) *conversation {
	id := e.Session
	if e.Parent != "" {
		id = e.Parent
	}
	c := h.read(h.file(id))
	if c.ID == "" {
		if parent := h.parentOf(id); parent != nil {
			c, c.child = *parent, true
		}
	}
	if c.ID == "" {
		c.ID = id
	}
	return &c
}

func (h *Handler) read(file string) (c conversation) {
	data, err := os.ReadFile(file)
	if err != nil || json.Unmarshal(data, &c) != nil {
		return conversation{}
	}
	return c
}

// parentOf finds the conversation that has a subagent of this id.
func (h *Handler) parentOf(id string) *conversation {
	names, _ := filepath.Glob(filepath.Join(h.Dir, h.Agent.Name+"-*.json")) //nolint:errcheck // the pattern is right
	for _, name := range names {
		if c := h.read(name); slices.Contains(c.Children, id) {
			return &c
		}
	}
	return nil
}

// conversations that were silent for this long are forgotten.
const forgetAfter = 30 * 24 * time.Hour

// keep writes a conversation down, and forgets old ones.
func (h *Handler) keep(c *conversation) error {
	c.Last = h.Now()
	data, err := json.Marshal(c)
	if err != nil {
		return err
	}
	file := h.file(c.ID)
	if _, err := os.Stat(file); errors.Is(err, fs.ErrNotExist) {
		h.forget()
	}
	return errors.Join(err, writeWhole(file, data))
}

func (h *Handler) forget() {
	names, _ := filepath.Glob(filepath.Join(h.Dir, "*.json")) //nolint:errcheck // the pattern is right
	for _, name := range names {
		if c := h.read(name); h.Now().Sub(c.Last) > forgetAfter {
			os.Remove(name) //nolint:errcheck // tried again with the next conversation
		}
	}
}

// writeWhole puts a file in place at once, readable by its owner only: it has words of prompts.
func writeWhole(name string, data []byte) error {
	f, err := os.CreateTemp(filepath.Dir(name), ".new-*")
	if err != nil {
		return err
	}
	_, err = f.Write(data)
	if err = errors.Join(err, f.Close()); err == nil {
		err = os.Rename(f.Name(), name)
	}
	if err != nil {
		os.Remove(f.Name()) //nolint:errcheck // the error is told
	}
	return err
}
