// Package continuation lets a conversation with a coding agent go on from the end of an earlier turn, in a
// worktree whose files are those of that turn: `rollback --chat` and `fork --chat`. It makes a new
// conversation; the old one stays as it is.
//
// Find says whether that is possible, or refuses; nothing is changed yet. Conversation.Prepare makes the new
// one: a cut copy of the transcript (copy.go), or a fork by the agent's own server (server.go). Which way an
// agent takes is in its definition. A note beside the copies names what was prepared until Prepared.Keep or
// Remove, so that Left finds what a killed process left.
package continuation

import (
	"context"
	"encoding/json"
	"errors"
	"io/fs"
	"os"
	"path/filepath"

	"git-checkpoint/internal/core/agent"
	"git-checkpoint/internal/core/checkpoint"
	"git-checkpoint/internal/format/journal"
	"git-checkpoint/internal/format/name"
	"git-checkpoint/internal/format/record"
	"git-checkpoint/internal/git"
	"git-checkpoint/internal/sys/command"
)

// Answer says how a conversation goes on. The JSON members are a contract: see docs/json.md.
type Answer struct {
	Agent     string `json:"agent"`
	Directory string `json:"directory"`         // where to run the command
	Command   string `json:"command,omitempty"` // for a shell; empty in a plan
	Title     string `json:"-"`                 // the agent's name for people
	Elsewhere bool   `json:"-"`                 // the user is not in the directory
}

// Conversation is one that can go on from the end of a turn.
type Conversation struct {
	def        *agent.Definition
	turn       record.Agent // with a position
	session    string       // of its checkpoints
	transcript string       // path; empty if the agent has none
}

// Title returns the agent's name for people.
func (c *Conversation) Title() string { return c.def.Title }

// Planned returns the answer for a plan in a worktree.
func (c *Conversation) Planned(repo *git.Repo) *Answer {
	return &Answer{Agent: c.def.Name, Directory: repo.WorkTree, Title: c.def.Title, Elsewhere: repo.Prefix != ""}
}

// Place is the worktree in which a conversation is to go on.
type Place string

// The places.
const (
	SameWorktree Place = "this worktree"
	NewWorktree  Place = "another worktree"
)

// Find returns the conversation of a checkpoint, or an error that says why it cannot go on from there. The
// copy with which the session of a continuation begins stands for the step that was copied.
func Find(ctx context.Context, s *checkpoint.Sessions, e *journal.Entry, rec *record.Record, to Place) (*Conversation, error) {
	refuse := func(hint, format string, args ...any) (*Conversation, error) {
		return nil, checkpoint.Failure(checkpoint.KindRefused, hint, format, args...)
	}
	const without = "without --chat only the files go back"
	turn, made := rec.Agent()
	said := checkpoint.MentionOf(rec)
	if !made || turn.Position == nil {
		if source, copied, err := original(ctx, s, e, rec); err != nil {
			return nil, err
		} else if source != nil {
			return Find(ctx, s, source, copied, to)
		}
		if made && rec.Trigger != journal.TriggerTurn {
			return refuse("the steps of its prompts can: `git checkpoint list --where 'trigger == \"turn\"'`", "%s is not the end of a prompt, so no conversation can go on from there", said)
		}
		return refuse(without, "%s does not say where a conversation with an agent stood", said)
	}
	def, err := agent.Find(turn.Name)
	if err != nil || !def.Chat.Can() {
		return refuse(without, "a conversation with %s cannot go back to an earlier turn", name.Clip(turn.Name, name.Said))
	}
	c := &Conversation{def: def, turn: turn, session: string(rec.Session)}
	if def.Chat.Consent {
		key := "checkpoint.agent." + def.Name + ".chat"
		if on, err := s.Rules.Settings.Bool(key, false); err != nil {
			return nil, err
		} else if !on {
			return refuse("`git config "+key+" true` allows that", "a conversation with %s goes on only from a copy among its own files", def.Title)
		}
	}
	own, err := s.Store.WorktreeID()
	if def.Chat.Here && (to != SameWorktree || err != nil || e.Event().WorktreeID != own) {
		return refuse(without, "a conversation with %s goes on only in the worktree where it began", def.Title)
	}
	if !c.remembered(s.Repo) {
		return refuse(without, "no hook has seen the conversation with %s here lately, so it cannot go on from %s", def.Title, said)
	}
	if err := c.same(); err != nil {
		return refuse(without, "the conversation with %s cannot go on from %s: %v", def.Title, said, err)
	}
	if server := def.Chat.Server; server != nil {
		if err := command.Find(server.Command[0]); err != nil {
			return refuse(without, "the conversation with %s cannot go on from %s: %v", def.Title, said, err)
		}
	}
	return c, nil
}

// original returns the checkpoint that the first one of a session copies, and its record. Both are nil if it
// copies none that is still here.
func original(ctx context.Context, s *checkpoint.Sessions, e *journal.Entry, rec *record.Record) (*journal.Entry, *record.Record, error) {
	st, err := checkpoint.State(ctx, s.Store, rec.Session)
	if err != nil {
		return nil, nil, err
	}
	from, forked := checkpoint.OriginOf(st)
	if made := st.Checkpoints(); !forked || len(made) == 0 || made[0].Checkpoint != e.Checkpoint {
		return nil, nil, nil
	}
	source, err := s.Resolve(ctx, string(from.Session), string(from.Checkpoint))
	if err != nil {
		return nil, nil, nil //nolint:nilerr // it is gone
	}
	copied, err := checkpoint.ReadRecord(ctx, s.Store, source.Entry)
	return source.Entry, copied, err
}

// remembered reports whether hooks of this repository saw the conversation, and finds its transcript. What a
// record says may come from anybody, so it names no file.
func (c *Conversation) remembered(repo *git.Repo) bool {
	dirs, _ := checkpoint.OwnDirs(repo) //nolint:errcheck // those that were found count
	for _, dir := range dirs {
		var memory struct {
			Talk string `json:"talk"`
		}
		data, err := os.ReadFile(filepath.Join(dir.Path, "agents", agent.MemoryOf(c.def.Name, c.turn.Session)))
		if err != nil || json.Unmarshal(data, &memory) != nil {
			continue
		}
		if c.transcript = memory.Talk; c.transcript != "" || c.def.Chat.Turn && (c.turn.Position == nil || c.turn.Position.Offset == 0) {
			return true
		}
	}
	return false
}

// same returns an error if the transcript is not as it was recorded.
func (c *Conversation) same() error {
	if c.transcript == "" {
		return nil
	}
	f, err := Open(c.transcript)
	if err != nil {
		return err
	}
	defer f.Close() //nolint:errcheck // it was only read
	return c.def.Chat.Same(f, *c.turn.Position)
}

// File is an open transcript.
type File struct {
	*os.File
	Size int64
}

// Open opens a transcript. It has to be a file of the user's own.
func Open(path string) (*File, error) {
	before, err := os.Lstat(path)
	switch {
	case err != nil:
		return nil, err
	case !filepath.IsAbs(path), filepath.Ext(path) != ".jsonl", !before.Mode().IsRegular():
		return nil, &fs.PathError{Op: "read", Path: path, Err: errors.New("it is no transcript")}
	}
	f, err := os.Open(path)
	if err != nil {
		return nil, err
	}
	now, err := f.Stat()
	switch {
	case err != nil:
	case !os.SameFile(before, now):
		err = &fs.PathError{Op: "read", Path: path, Err: errors.New("it was replaced")}
	case checkpoint.IsOthers(now):
		err = &fs.PathError{Op: "read", Path: path, Err: errors.New("it belongs to another account")}
	default:
		return &File{f, now.Size()}, nil
	}
	return nil, errors.Join(err, f.Close())
}

// Prepare makes the new conversation, for the worktree of s.
func (c *Conversation) Prepare(ctx context.Context, s *checkpoint.Service) (*Prepared, error) {
	p, err := c.begin(s.Repo)
	if err != nil {
		return nil, err
	}
	if c.def.Chat.Server != nil {
		err = c.fork(ctx, s.Repo, p)
	} else {
		err = c.copy(p)
	}
	if err != nil {
		return nil, errors.Join(checkpoint.Failure(checkpoint.KindFailed, "", "prepare the conversation with %s: %v", c.def.Title, err), p.Remove(context.WithoutCancel(ctx), s.Repo))
	}
	s.Trace("chat")
	return p, p.write()
}
