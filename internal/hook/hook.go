// Package hook turns the events of a coding agent into checkpoints: what a person changed
// before a prompt, what each tool did, and a milestone for every turn that changed files.
//
// The agent starts one process per event. Handle (handle.go) is the entry point: it looks for
// consent and settings, and calls Handler.Handle. That loads what earlier hooks remembered of the
// conversation (conversation.go), does what the event asks for, and saves the conversation again.
// Repository (steps.go) does everything about the repository. The memory is in
// <git dir>/checkpoint/agents and may be deleted at any time.
//
// A hook never fails its agent. Errors are logged and counted (log.go), and the agent gets
// a valid answer or nothing. No hook asks a question, rolls back or pushes.
package hook

import (
	"context"
	"errors"
	"strings"
	"time"

	"git-checkpoint/internal/agent"
	"git-checkpoint/internal/name"
	"git-checkpoint/internal/record"
)

// Save describes a checkpoint to make.
type Save struct {
	Session name.Session
	Trigger string
	Message string
	Agent   record.Agent
	// Unless is a tree: no checkpoint is made if the files equal it. If it is empty, none
	// is made if the files equal the current checkpoint.
	Unless name.OID
	// New lines of the agent's transcript, described by Agent.Transcript.
	Lines []byte
}

// Saved is the result of a Save.
type Saved struct { // the checkpoint that was made; empty: none
	Label string   // of the checkpoint that was made; empty: none
	Tree  name.OID // the files as they are now
}

// Triggers of the checkpoints that hooks make. The workflow "agent" decides which are
// milestones.
const (
	TriggerPrompt     = "prompt"
	TriggerTool       = "tool"
	TriggerTurn       = "turn"
	TriggerInterrupt  = "user_interrupt"
	TriggerCompaction = "compaction"
	TriggerSubagent   = "subagent"
	TriggerEnd        = "session_end"
)

// Handler handles the events of one agent in one worktree.
type Handler struct {
	Agent *agent.Definition
	Steps *Repository
	Dir   string // <git dir>/checkpoint/agents
	Now   func() time.Time
	// Messages contain the words of prompts.
	Prompts bool
	// Milestones of turns keep the agent's transcript.
	Keep bool
	// Redact removes secrets from a text; nil: leave texts as they are.
	Redact func(string) string
}

// Handle does what an event asks for. The answer is valid beside an error, too.
func (h *Handler) Handle(ctx context.Context, event string, happened agent.Happening) (agent.Answer, error) {
	if happened.Session == "" || happened.Kind == "" && happened.Child == "" {
		return agent.Answer{}, nil
	}
	release, err := h.lock(ctx)
	if err != nil {
		return agent.Answer{}, err
	}
	defer release()
	c := h.open(happened)
	if happened.Child != "" {
		c.Children = append(c.Children, happened.Child)
		return agent.Answer{}, h.keep(c)
	}
	if c.child && (happened.Kind == agent.KindPrompt || happened.Kind == agent.KindTurnEnd || happened.Kind == agent.KindSessionStart) {
		// The person's turn goes on while a subagent works.
		return agent.Answer{}, nil
	}
	if c.Large && happened.Kind == agent.KindTool {
		return agent.Answer{}, h.keep(c)
	}
	if c.Session, err = h.Steps.Session(ctx, c.ID, h.Agent); err != nil {
		return h.failed(event, c, err)
	}
	answer, err := h.do(ctx, event, c, happened)
	if err != nil {
		told, err := h.failed(event, c, err)
		if answer.Tell == "" {
			answer.Tell = told.Tell
		}
		return answer, err
	}
	// These two make no checkpoint, so they do not show that hooks work again.
	if happened.Kind != agent.KindSessionStart && answer.Block == "" {
		c.Failures, c.Told, c.Large = 0, false, false
	}
	return answer, h.keep(c)
}

// do handles one event by its kind.
func (h *Handler) do(ctx context.Context, event string, c *conversation, e agent.Happening) (agent.Answer, error) {
	switch e.Kind {
	case agent.KindSessionStart:
		return h.started(ctx, event, c, e)
	case agent.KindPrompt:
		return h.prompted(ctx, event, c, e)
	case agent.KindTurnEnd:
		return agent.Answer{}, h.endTurn(ctx, event, c, e)
	case agent.KindTool:
		return agent.Answer{}, h.save(ctx, event, c, e, TriggerTool, e.Use)
	case agent.KindInterrupt:
		return agent.Answer{}, h.save(ctx, event, c, e, TriggerInterrupt, with(record.Interrupted, c.Turn.Subject))
	case agent.KindCompaction:
		return agent.Answer{}, h.save(ctx, event, c, e, TriggerCompaction, "before the conversation was compacted")
	case agent.KindSubagentEnd:
		return agent.Answer{}, h.save(ctx, event, c, e, TriggerSubagent, "a subagent ended")
	case agent.KindSessionEnd:
		return agent.Answer{}, h.save(ctx, event, c, e, TriggerEnd, "the agent's session ended")
	}
	return agent.Answer{}, nil
}

// longestContext bounds what a model is told at once, in bytes.
const longestContext = 4 << 10

// started tells an agent that continues a conversation where the job stands. A new
// conversation gets nothing.
func (h *Handler) started(ctx context.Context, event string, c *conversation, e agent.Happening) (agent.Answer, error) {
	if c.Seen.IsZero() {
		c.Seen = h.Now()
	}
	if e.Source != "resume" && e.Source != "clear" && e.Source != "compact" || !h.Agent.CanContext(event) {
		return agent.Answer{}, nil
	}
	text, err := h.Steps.Context(ctx, c.Session)
	return agent.Answer{Context: cut(text, longestContext)}, err
}

// prompted handles a prompt. It closes a turn that never ended, because it was interrupted;
// answers the prompt if it is one of our commands; makes a checkpoint of what the person
// changed; and opens a new turn. The model learns what happened to the files since it last
// heard of them.
func (h *Handler) prompted(ctx context.Context, event string, c *conversation, e agent.Happening) (agent.Answer, error) {
	// The prompt was typed while the turn was running.
	amid := c.Turn.Open && e.Turn != "" && e.Turn == c.Turn.ID
	var unclosed, chatted error
	if c.Turn.Open && !amid {
		unclosed = h.closeTurn(ctx, event, c, e, "", "interrupted")
	}
	if h.Agent.CanBlock(event) {
		text, ours, err := h.Steps.Chat(ctx, e.Prompt)
		if ours {
			// The model must not get the command, whatever failed before.
			if unclosed != nil {
				text += "\nThe turn before has no checkpoint: " + unclosed.Error()
			}
			return agent.Answer{Block: text}, nil
		}
		// What the person changed is kept all the same, and the error is told at the end.
		chatted = err
	}
	if unclosed != nil {
		return agent.Answer{}, errors.Join(unclosed, chatted)
	}
	moves, err := h.moves(ctx, c)
	if err != nil {
		return agent.Answer{}, err
	}
	answer := agent.Answer{Context: cut(strings.Join(moves, "\n"), longestContext)}
	if amid {
		return answer, chatted
	}
	subject := ""
	if h.Prompts {
		subject = firstWords(h.redact(e.Prompt))
	}
	saved, err := h.Steps.Save(ctx, Save{
		Session: c.Session, Trigger: TriggerPrompt, Message: with(record.BeforePrompt, subject), Agent: h.of(event, e),
	})
	if err != nil {
		return answer, err
	}
	c.Turn = turn{Open: true, ID: e.Turn, Subject: subject, Tree: saved.Tree}
	return answer, chatted
}

// moves returns what happened to the files since the agent last heard of it. What happened
// before the conversation is not reported, as the agent has read the files since.
func (h *Handler) moves(ctx context.Context, c *conversation) (moves []string, err error) {
	if !c.Seen.IsZero() {
		moves, err = h.Steps.Moves(ctx, c.Session, c.Seen)
	}
	c.Seen = h.Now()
	return moves, err
}

// with appends the words of a prompt to a message. There are none if prompts are not kept.
func with(message, subject string) string {
	if subject == "" {
		return message + " a prompt"
	}
	return message + ": " + subject
}

// endTurn makes the milestone of a turn. If no turn is open, because the beginning was not
// seen or the end comes twice, what changed becomes an ordinary checkpoint.
func (h *Handler) endTurn(ctx context.Context, event string, c *conversation, e agent.Happening) error {
	if !c.Turn.Open {
		return h.save(ctx, event, c, e, TriggerTool, "after a turn")
	}
	return h.closeTurn(ctx, event, c, e, e.Reply, "")
}

// closeTurn makes the milestone of the open turn, with the new lines of the transcript.
// mark, if not empty, says how the turn ended.
func (h *Handler) closeTurn(ctx context.Context, event string, c *conversation, e agent.Happening, reply, mark string) error {
	message := c.Turn.Subject
	if mark != "" {
		message = strings.TrimSpace(message + " (" + mark + ")")
	}
	if p := firstParagraph(h.redact(reply)); p != "" && h.Prompts {
		message = strings.TrimSpace(message + "\n\n" + p)
	}
	of := h.of(event, e)
	of.Turn = c.Turn.ID
	lines, now := h.gained(c, e.Transcript)
	if len(lines) > 0 {
		of.Transcript = &record.Transcript{File: now.File, From: now.from, To: now.To, Before: now.before}
	}
	saved, err := h.Steps.Save(ctx, Save{
		Session: c.Session, Trigger: TriggerTurn, Message: message, Agent: of, Unless: c.Turn.Tree, Lines: lines,
	})
	if err != nil {
		return err
	}
	// Lines of the transcript that were not saved belong to the next milestone.
	if saved.Label != "" {
		c.Transcript = now
	}
	c.Turn = turn{}
	return nil
}

// longestMessage bounds what a message says of a tool's use, in characters.
const longestMessage = 256

// save makes a checkpoint of what changed, for an event other than a turn's.
func (h *Handler) save(ctx context.Context, event string, c *conversation, e agent.Happening, trigger, message string) error {
	_, err := h.Steps.Save(ctx, Save{
		Session: c.Session, Trigger: trigger, Message: name.Clip(h.redact(message), longestMessage), Agent: h.of(event, e),
	})
	return err
}

// of returns what the record says about the agent.
func (h *Handler) of(event string, e agent.Happening) record.Agent {
	return record.Agent{
		Name: h.Agent.Name, Version: e.Version, Model: e.Model, Session: e.Session, Turn: e.Turn, Tool: e.Tool, Subagent: e.Subagent, Event: event,
	}
}

func (h *Handler) redact(s string) string {
	if h.Redact == nil {
		return s
	}
	return h.Redact(s)
}

// firstWords returns the first line of a prompt, short enough for a subject.
func firstWords(prompt string) string {
	line, _, _ := strings.Cut(strings.TrimSpace(prompt), "\n")
	return shorten(strings.Join(strings.Fields(line), " "), 72)
}

// firstParagraph returns the start of an answer.
func firstParagraph(reply string) string {
	p, _, _ := strings.Cut(strings.TrimSpace(strings.ReplaceAll(reply, "\r\n", "\n")), "\n\n")
	return shorten(p, 500)
}

// shorten cuts a text after at most n characters, at the end of a word if possible.
func shorten(s string, n int) string {
	r := []rune(s)
	if len(r) <= n {
		return s
	}
	short := string(r[:n-1])
	if i := strings.LastIndexByte(short, ' '); i > len(short)/2 {
		short = short[:i]
	}
	return strings.TrimSpace(short) + "…"
}

// cut bounds a text to n bytes, at the end of a line if possible.
func cut(s string, n int) string {
	if len(s) <= n {
		return s
	}
	s = s[:n-len("…\n")]
	if i := strings.LastIndexByte(s, '\n'); i > 0 {
		s = s[:i+1]
	}
	return strings.ToValidUTF8(s, "") + "…\n"
}
