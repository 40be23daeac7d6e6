package hook

// This file records who did what: each hook notes when tools begin and end (author.Work), and its
// checkpoint says who made each path of its difference.

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"time"

	"git-checkpoint/internal/core/agent"
	"git-checkpoint/internal/core/author"
	"git-checkpoint/internal/format/journal"
	"git-checkpoint/internal/format/name"
	"git-checkpoint/internal/format/record"
	"git-checkpoint/internal/git"
	"git-checkpoint/internal/storage/snapshot"
	"git-checkpoint/internal/verb/connect"
	"git-checkpoint/internal/verb/create"
)

// Limits of the hook before a tool: the agent waits for it. After that, nobody knows what happened
// at that time.
const (
	longestBefore     = time.Second
	longestBeforeWait = 200 * time.Millisecond // for another hook of the worktree
	largestEdit       = 1 << 20                // size in bytes of a file of which is computed what a tool makes
)

// worker is how the conversation is called in what is remembered of the worktree.
func (h *handler) worker() string { return agent.HashedID(h.agent, h.c.ID) }

// begin reads what is remembered of the worktree, and counts the event.
func (h *handler) begin() *author.Worker {
	h.work = author.Load(h.s.Repo.GitDir)
	for _, file := range h.files(missed + "*") {
		note, err := os.ReadFile(file)
		if err != nil || snapshot.ProcessRuns(string(note)) {
			continue
		}
		worker, _, _ := strings.Cut(strings.TrimPrefix(filepath.Base(file), missed), "-")
		if by := h.work.Workers[worker]; by != nil {
			h.work.Begin(worker, *by)
			h.work.Open(author.Window{Worker: worker, Call: author.Missed})
		}
		h.notes = append(h.notes, file)
	}
	return h.work.Begin(h.worker(), author.Worker{Session: h.c.Session, Agent: h.agent, At: h.now(), Rewinds: h.def.Chat.Rewinds})
}

// missed begins the name of the note that a hook before a tool makes, without the lock, and removes once the tool's window is
// saved. Its process may be killed: what is left of one that is gone stands for a tool that nobody saw begin.
const missed = "missed-"

// captureContext names the capture that the event makes.
func (h *handler) captureContext(ctx context.Context) author.CaptureContext {
	failed := strings.HasSuffix(h.event, "Failure") // as Claude Code, Copilot and Qwen call that event
	return author.CaptureContext{Cause: h.cause, Worker: h.worker(), Session: h.c.Session, Call: h.e.Call, Failed: failed, Saved: h.person, Text: h.text(ctx)}
}

// prepareTool handles the event before a tool. It never prints anything, because the agent would
// take that for a decision.
func (h *handler) prepareTool(ctx context.Context) error {
	waiting, cancel := context.WithTimeout(ctx, longestBeforeWait)
	defer cancel()
	note := h.miss()
	release, err := h.lock(waiting)
	if err != nil {
		return err
	}
	defer release()
	h.c = h.open(h.e)
	known := h.c.Session
	if h.c.Session, err = h.session(ctx); errors.Is(err, errOff) {
		os.Remove(note) //nolint:errcheck // it is about nothing then
		return nil
	} else if err != nil {
		return errors.Join(err, h.judge(err, agent.Answer{}))
	}
	err = h.beforeTool(ctx, note)
	if h.c.Session != known {
		err = errors.Join(err, h.saveConversation(h.c))
	}
	if h.tooLarge() && err == nil { // it was not tried
		return nil
	}
	return errors.Join(err, h.judge(err, agent.Answer{}))
}

// saved notes that the person saved a file, or is about to, for the next capture. Where no agent worked there is none.
func (h *handler) saved(ctx context.Context) error {
	waiting, cancel := context.WithTimeout(ctx, longestBeforeWait)
	defer cancel()
	save := author.Save{Before: h.event == "saving"}
	var inside bool
	save.Path, inside = h.inside(h.e.File)
	info, err := os.Stat(h.e.File)
	switch {
	case !inside || err == nil && !info.Mode().IsRegular():
		return nil
	case err == nil:
		save.Size, save.Time, save.Content = info.Size(), info.ModTime(), h.content(h.e.File, info)
	case !save.Before:
		return err
	}
	release, err := h.lock(waiting)
	if err != nil {
		return err
	}
	defer release()
	work := author.Load(h.s.Repo.GitDir)
	if len(work.Workers) == 0 {
		return nil
	}
	work.Saved(save)
	return work.Save(h.s.Repo.GitDir)
}

// content returns what git has of a file, unless a filter changes that; something else if it is too large.
func (h *handler) content(file string, info os.FileInfo) string {
	if info.Size() > largestEdit {
		return author.Unclear
	}
	data, err := os.ReadFile(file)
	if err != nil {
		return author.Unclear
	}
	mode := git.ModeFile
	if info.Mode()&0o100 != 0 {
		mode = git.ModeExec
	}
	return author.Content(git.Entry{Mode: mode, OID: git.HashObject(h.s.Repo.Format, "blob", data)})
}

// tooLarge reports whether the files are too many or too large for a checkpoint. Tools do not try again,
// because finding that out takes seconds; prompts and ends of turns do.
func (h *handler) tooLarge() bool {
	return h.health[agent.KindTool].Large || h.health[agent.KindBeforeTool].Large
}

// beforeTool keeps what is there the moment before a tool works, if the session's current checkpoint
// does not have it, and notes that the tool begins.
func (h *handler) beforeTool(ctx context.Context, note string) error {
	by := h.begin()
	by.Busy = true
	h.work.See(h.worker())
	window := author.Window{Worker: h.worker(), Call: h.e.Call, Input: h.e.Input}
	var err error
	if !h.tooLarge() {
		h.cause = author.BeforeTool
		err = h.note(ctx, journal.TriggerBefore, "before "+h.e.Use)
		window.Known = err == nil && h.saw
		for _, sk := range h.leftOut {
			if sk.Reason == snapshot.ReasonUnread {
				window.Unread = append(window.Unread, string(sk.Path))
			}
		}
	}
	window.Edits = h.edits(ctx, author.BeforeTool)
	h.work.Open(window)
	h.notes = append(h.notes, note)
	return errors.Join(err, h.saveWork())
}

// saveWork saves what is remembered of the worktree, and then removes the notes that it has.
func (h *handler) saveWork() error {
	if err := h.work.Save(h.s.Repo.GitDir); err != nil {
		return err
	}
	for _, note := range h.notes {
		os.Remove(note) //nolint:errcheck // the window is opened again by the next hook, which does no harm
	}
	return nil
}

// edits returns what the tool is going to make of the files that it names, from what they are in the
// session's current checkpoint. If that may be older than the tool, only those edits are trusted whose
// result shows what was there before, or that nothing was.
func (h *handler) edits(ctx context.Context, m author.Cause) map[string]author.Edit {
	if len(h.e.Edits) == 0 {
		return nil
	}
	// A tool that names only files elsewhere is still no command.
	edits := map[string]author.Edit{"": {To: author.Unclear}}
	current := m == author.BeforeTool
	tree := create.CurrentTree(ctx, h.s.Store, h.c.Session)
	for _, e := range h.e.Edits {
		if to, err := filepath.EvalSymlinks(h.absolute(e.Path)); err == nil && e.Path == e.Source { // tools write through links
			e.Path, e.Source = to, to
		}
		path, inside := h.inside(e.Path)
		source, from := h.inside(e.Source)
		if !inside || !from || tree == "" {
			continue
		}
		was, _, err := h.s.Repo.Trees.Lookup(ctx, tree, path)
		if err != nil {
			continue
		}
		edit := author.Edit{From: author.Content(was), To: author.Unclear}
		if e.Sole && current {
			edit.To = author.Any
		} else if current || !e.Afresh || edit.From == "" {
			edit.To = h.made(ctx, tree, source, e)
		}
		edits[path] = edit
	}
	if len(edits) > 1 {
		delete(edits, "")
	}
	return edits
}

// made returns the content that a tool makes, from that of the file source of a tree.
func (h *handler) made(ctx context.Context, tree name.OID, source string, e agent.Edit) string {
	was, known, err := h.s.Repo.Trees.Lookup(ctx, tree, source)
	if err != nil || known && was.Mode != git.ModeFile && was.Mode != git.ModeExec {
		return author.Unclear
	}
	var before []byte
	if known {
		if info, err := os.Lstat(e.Source); err == nil && info.Size() > largestEdit {
			return author.Unclear
		}
		object, err := h.s.Repo.Objects.Batch().Typed(ctx, string(was.OID), "blob")
		if err != nil {
			return author.Unclear
		}
		before = append([]byte{}, object.Data...)
	}
	after, ok := e.Make(before)
	switch {
	case !ok:
		return author.Unclear
	case after == nil:
		return author.Content(git.Entry{})
	case !known:
		was.Mode = git.ModeFile
	}
	return author.Content(git.Entry{Mode: was.Mode, OID: git.HashObject(h.s.Repo.Format, "blob", after)})
}

// absolute returns a path as the agent means it.
func (h *handler) absolute(file string) string {
	if filepath.IsAbs(file) {
		return file
	}
	return filepath.Join(h.s.Repo.WorkTree, filepath.FromSlash(h.s.Repo.Prefix), file)
}

// inside returns a path relative to the top of the worktree, as git has it; false if it is elsewhere.
func (h *handler) inside(file string) (string, bool) {
	file = h.absolute(file)
	dir := filepath.Dir(file)
	if real, err := filepath.EvalSymlinks(dir); err == nil {
		dir = real
	}
	rel, err := filepath.Rel(h.s.Repo.WorkTree, filepath.Join(dir, filepath.Base(file)))
	if err != nil || !filepath.IsLocal(rel) || rel == "." {
		return "", false
	}
	return filepath.ToSlash(rel), true
}

// afterTool makes the checkpoint after a tool, and notes that the tool has ended.
func (h *handler) afterTool(ctx context.Context, save func(context.Context) error) error {
	var began bool
	h.cause = author.AfterTool
	if h.e.Call, began = h.work.Match(h.worker(), h.e.Call, h.e.Input); !began && !h.work.Workers[h.worker()].Sees {
		h.work.OpenUntracked(h.worker()).Used = true
		if edits := h.edits(ctx, author.AfterTool); len(edits) > 0 {
			h.work.Open(author.Window{Worker: h.worker(), Call: h.e.Call, Known: true, Edits: edits})
		}
	}
	err := save(ctx)
	h.work.Close(h.worker(), h.e.Call)
	return err
}

// authors fills in who made each path of the checkpoint's own difference.
func (h *handler) authors(ctx context.Context, turn bool) func(a *record.Agent, previous name.ID, changes []git.Change) {
	return func(a *record.Agent, previous name.ID, changes []git.Change) {
		h.previous, h.changes = previous, author.Changes(changes)
		h.person = map[string]bool{}
		for _, s := range h.work.Saves {
			info, err := os.Lstat(filepath.Join(h.s.Repo.WorkTree, filepath.FromSlash(s.Path)))
			h.person[s.Path] = err == nil && info.Size() == s.Size && info.ModTime().Equal(s.Time)
		}
		capture := h.captureContext(ctx)
		capture.In = author.ContentIn(ctx, h.s.Repo.Trees)
		if capture.Cause == author.AfterTool {
			h.work.Live(capture)
		}
		a.Beside = h.work.Workers[h.worker()].Beside
		h.claims = h.work.Claims(capture, h.changes)
		a.Paths, a.Whole, a.Because = author.Stored(h.claims), nil, h.work.Because(capture, h.changes, h.claims)
		if turn {
			a.Whole = h.work.Turn(h.worker(), previous, h.changes, h.claims)
		}
	}
}

// betweenTurns is the moment of a capture that follows the end of a turn, or is in the middle of one.
func (h *handler) betweenTurns() author.Cause {
	if h.work.Workers[h.worker()].Busy {
		return author.Otherwise
	}
	return author.BeforeTurn
}

// beginTurn notes that the agent works on a prompt.
func (h *handler) beginTurn(subject string) {
	h.work.EndTurn(h.worker())
	by := h.work.Workers[h.worker()]
	by.Busy, by.Prompt, by.Beside = true, subject, nil
	h.noteUntracked()
}

// noteUntracked notes that the agent may change anything at any time, if it has no hooks before tools.
func (h *handler) noteUntracked() {
	if !h.work.Workers[h.worker()].Sees && !h.e.Plugin && !connect.Foresees(h.s.Rules, h.def) {
		h.work.OpenUntracked(h.worker())
	}
}

// endedTurn notes that no tool of the agent is at work any more.
func (h *handler) endedTurn() {
	h.work.EndTurn(h.worker())
	h.work.Workers[h.worker()].Busy = false
}

// miss notes that a tool begins before which nobody has looked yet, and returns the name of the note.
func (h *handler) miss() string {
	h.c = h.open(h.e)
	file := filepath.Join(h.dir, fmt.Sprintf("%s%s-%d", missed, h.worker(), os.Getpid()))
	os.MkdirAll(h.dir, 0o777)                                 //nolint:errcheck // the next line fails, too
	os.WriteFile(file, []byte(snapshot.ProcessNote()), 0o600) //nolint:errcheck // then the lock cannot be taken either
	return file
}
