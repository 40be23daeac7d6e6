package continuation

import (
	"context"
	"crypto/rand"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/tidwall/gjson"

	"git-checkpoint/internal/core/agent"
	"git-checkpoint/internal/format/name"
	"git-checkpoint/internal/format/record"
	"git-checkpoint/internal/git"
	"git-checkpoint/internal/storage/snapshot"
	"git-checkpoint/internal/storage/store"
	"git-checkpoint/internal/sys/wholefile"
)

// Dir is the directory with the copies, in this program's directory in the git directory of a worktree.
const Dir = "chat"

// noteSuffix ends the names of notes.
const noteSuffix = ".note"

// Prepared is a conversation that was made, and is not in use yet. It is the content of its note.
type Prepared struct {
	Agent   string `json:"agent"`
	ID      string `json:"id"`             // of the new conversation; empty: not known yet
	File    string `json:"file,omitempty"` // the copy
	Origin  string `json:"origin"`         // the session of the old one
	Process string `json:"process"`        // of the process that prepares it, see snapshot.ProcessRuns

	note string // its path
}

// begin writes the note, before anything is made.
func (c *Conversation) begin(repo *git.Repo) (*Prepared, error) {
	id := newID()
	dir := filepath.Join(repo.GitDir, "checkpoint", Dir)
	p := &Prepared{Agent: c.def.Name, Origin: c.session, Process: snapshot.ProcessNote(), note: filepath.Join(dir, id+noteSuffix)}
	if chat := c.def.Chat; chat.Server == nil {
		p.ID, p.File = id, filepath.Join(dir, id+".jsonl")
		if chat.Copy != "" {
			p.File = filepath.Join(filepath.Dir(c.transcript), filepath.FromSlash(agent.Filled([]string{chat.Copy}, map[string]string{"id": id})[0]))
		}
	}
	if err := os.MkdirAll(dir, 0o700); err != nil {
		return nil, err
	}
	return p, p.write()
}

// newID returns a random UUID.
func newID() string {
	var b [16]byte
	rand.Read(b[:]) //nolint:errcheck // it never fails
	b[6], b[8] = b[6]&0x0f|0x40, b[8]&0x3f|0x80
	return fmt.Sprintf("%x-%x-%x-%x-%x", b[:4], b[4:6], b[6:8], b[8:10], b[10:])
}

func (p *Prepared) write() error { return wholefile.Private(p.note, p) }

// Note returns the name of the note, for At, and "" if nothing was prepared.
func (p *Prepared) Note() string {
	if p == nil {
		return ""
	}
	return filepath.Base(p.note)
}

// ReadNote returns what a note in the git directory of the worktree describes; nil if there is none.
func ReadNote(repo *git.Repo, note string) *Prepared {
	if note == "" || note != filepath.Base(note) {
		return nil
	}
	return read(filepath.Join(repo.GitDir, "checkpoint", Dir, note))
}

func read(note string) *Prepared {
	p := &Prepared{note: note}
	data, err := os.ReadFile(note)
	if err != nil || json.Unmarshal(data, p) != nil {
		return nil
	}
	return p
}

// Left returns what killed processes have prepared, by the notes in a directory of this program.
func Left(dir string) (left []*Prepared) {
	entries, _ := os.ReadDir(filepath.Join(dir, Dir)) //nolint:errcheck // there is none
	for _, e := range entries {
		if !strings.HasSuffix(e.Name(), noteSuffix) {
			continue
		}
		if p := read(filepath.Join(dir, Dir, e.Name())); p != nil && !snapshot.ProcessRuns(p.Process) {
			left = append(left, p)
		}
	}
	return left
}

// Keep says that the conversation is in use now, and returns how it goes on in the worktree of s; nil if nothing was prepared.
func (p *Prepared) Keep(s *store.Store) (*Answer, error) {
	if p == nil {
		return nil, nil
	}
	def, err := agent.Find(p.Agent)
	if err != nil {
		return nil, err
	}
	return going(s.Repo, def, p.File, p.ID), errors.Join(p.remember(s), os.Remove(p.note))
}

// going returns how a conversation goes on in the worktree of s.
func going(repo *git.Repo, def *agent.Definition, file, id string) *Answer {
	words := agent.Filled(def.Chat.Go, map[string]string{"file": file, "id": id})
	return &Answer{Agent: def.Name, Directory: repo.WorkTree, Command: name.Quoted(words...), Title: def.Title, Elsewhere: repo.Prefix != ""}
}

// Stayed returns how the conversation of a step goes on if another one was made that goes on from it; nil if
// none was, or if that is not known.
func Stayed(repo *git.Repo, rec *record.Record) *Answer {
	turn, made := rec.Agent()
	def, err := agent.Find(turn.Name)
	if !made || err != nil || !def.Chat.Can() {
		return nil
	}
	c := &Conversation{def: def, turn: turn}
	needs := slices.ContainsFunc(def.Chat.Go, func(word string) bool { return strings.Contains(word, "{file}") })
	dir := filepath.Join(repo.GitDir, "checkpoint", "agents")
	files, _ := os.ReadDir(dir) //nolint:errcheck // no agent was here
	went := slices.ContainsFunc(files, func(file fs.DirEntry) bool {
		data, err := os.ReadFile(filepath.Join(dir, file.Name()))
		return err == nil && gjson.GetBytes(data, "origin").String() == string(rec.Session)
	})
	if !went || !c.remembered(repo) || needs && c.transcript == "" {
		return nil
	}
	return going(repo, def, c.transcript, turn.Session)
}

// remember notes for the hooks of the new conversation from which session it goes on.
func (p *Prepared) remember(s *store.Store) error {
	if p.ID == "" {
		return nil
	}
	memory := map[string]any{"id": p.ID, "origin": p.Origin, "last": s.Now(), "talk": p.File}
	dir := filepath.Join(s.Repo.GitDir, "checkpoint", "agents")
	if err := os.MkdirAll(dir, 0o777); err != nil {
		return err
	}
	return wholefile.Private(filepath.Join(dir, agent.MemoryOf(p.Agent, p.ID)), memory)
}

// Remove removes the conversation and its note, if one was prepared.
func (p *Prepared) Remove(ctx context.Context, repo *git.Repo) error {
	if p == nil {
		return nil
	}
	def, err := agent.Find(p.Agent)
	switch {
	case err != nil:
		return err
	case def.Chat.Server != nil && p.ID != "":
		err = serve(ctx, repo, def.Chat.Server, def.Chat.Server.Remove, map[string]string{"id": p.ID, "directory": repo.WorkTree})
	case def.Chat.Server == nil && p.ours(def):
		if err = os.Remove(p.File); errors.Is(err, fs.ErrNotExist) {
			err = nil
		}
		if def.Chat.Copy != "" {
			os.Remove(filepath.Dir(p.File)) //nolint:errcheck // the agent has put something there
		}
	}
	if err != nil {
		return fmt.Errorf("remove the conversation that was prepared with %s: %w", def.Title, err)
	}
	return os.Remove(p.note)
}

// ours reports whether the file is one that this program makes: its name, or that of its directory, is the
// note's.
func (p *Prepared) ours(def *agent.Definition) bool {
	id := strings.TrimSuffix(filepath.Base(p.note), noteSuffix)
	if p.ID != id || !filepath.IsAbs(p.File) {
		return false
	}
	if def.Chat.Copy != "" {
		return filepath.Base(filepath.Dir(p.File)) == id
	}
	return p.File == filepath.Join(filepath.Dir(p.note), id+".jsonl")
}

// Title returns the agent's name for people.
func (p *Prepared) Title() string {
	if def, err := agent.Find(p.Agent); err == nil {
		return def.Title
	}
	return p.Agent
}
