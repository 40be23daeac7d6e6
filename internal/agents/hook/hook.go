// Package hook turns the events of a coding agent into checkpoints: what a person changed
// before a prompt, what each tool did, and a milestone for every turn that changed files.
//
// The agent starts one process per event. Handle (handle.go) is the entry point: it looks for
// consent and settings, and calls handler.handle. That loads what earlier hooks remembered of the
// conversation (conversation.go), does what the event asks for, and saves the conversation again.
// steps.go has everything about the repository. The memory is in <git dir>/checkpoint/agents and may
// be deleted at any time.
//
// A hook never fails its agent. Errors are logged and counted (log.go), and the agent gets
// a valid answer or nothing. No hook asks a question, rolls back or pushes.
package hook

import (
	"cmp"
	"context"
	"errors"
	"strings"
	"time"

	"git-checkpoint/internal/agents/chat"
	"git-checkpoint/internal/core/agent"
	"git-checkpoint/internal/core/author"
	"git-checkpoint/internal/core/checkpoint"
	"git-checkpoint/internal/core/clearance"
	"git-checkpoint/internal/core/workflow"
	"git-checkpoint/internal/format/journal"
	"git-checkpoint/internal/format/name"
	"git-checkpoint/internal/format/record"
	"git-checkpoint/internal/format/render"
	"git-checkpoint/internal/verb/connect"
	"git-checkpoint/internal/verb/create"
	"git-checkpoint/internal/verb/inspect"
)

// handler handles one event of an agent in a worktree.
type handler struct {
	memory
	places places // what is remembered of conversations outside the repository
	s      *checkpoint.Service
	run    chat.Run      // of commands that are typed in the chat
	limit  time.Duration // how long it may take
	help   string        // what to say of the setting that gives it more
	before time.Duration // the limit of a hook before a tool
	def    *agent.Definition
	event  string        // its name
	e      agent.Event   // what the payload says
	c      *conversation // to which it belongs

	leftOut      []record.Skipped // what the last capture left out
	slow         string           // what to say of a capture that took long
	left         []string         // turns that the person left with the agent's own rewind
	keepsPrompts bool             // messages contain the words of prompts
	keepsTalk    bool             // milestones of turns keep the agent's transcript
	keepsUsage   bool             // and the tokens that it used

	health connect.Health // what fails of the agent's hooks in the worktree
	work   *author.Work   // what is remembered of all agents in the worktree
	notes  []string       // of tools that nobody saw begin, which work has
	cause  author.Cause   // of the next capture
	saw    bool           // the session's current checkpoint has the files as they are

	// For the last draft of a checkpoint: what changed since the one before, and who made it.
	previous name.ID
	changes  []author.Change
	claims   map[string]string
	person   map[string]bool // the paths that are as a person saved them
}

// handle does what the event asks for. The answer is valid even if there is an error.
func (h *handler) handle(ctx context.Context) (agent.Answer, error) {
	e := h.e
	if e.Session == "" || e.Kind == "" && e.Child == "" {
		return agent.Answer{}, nil
	}
	if id := hashed(h.agent, e); h.places.began(id) == "" {
		h.places.add(place{ID: id, Dir: h.s.Repo.WorkTree}) //nolint:errcheck // only a later event elsewhere needs it
	}
	answer, err := h.remembering(ctx)
	if err == nil || answer.Block != "" || e.Kind != agent.KindPrompt || !h.def.Answers.Block.Fits(h.event) {
		return answer, err
	}
	// The model must not get one of our commands, whatever went wrong.
	if chat.IsCommand(e.Prompt) {
		if errors.Is(ctx.Err(), context.DeadlineExceeded) && !errors.Is(err, errBusy) {
			err = h.talk().TooLong(e.Prompt)
		}
		answer = agent.Answer{Block: "git checkpoint could not do this: " + h.redact(strings.Join(checkpoint.Lines(err), "\n"))}
	}
	return answer, err
}

// isCommand reports whether the event is one of our commands, typed in the chat.
func (h *handler) isCommand() bool { return h.e.Kind == agent.KindPrompt && chat.IsCommand(h.e.Prompt) }

// remembering is handle with what earlier hooks remembered of the conversation.
func (h *handler) remembering(ctx context.Context) (agent.Answer, error) {
	e := h.e
	if e.Kind == agent.KindBeforeTool {
		return agent.Answer{}, h.prepareTool(ctx)
	}
	release, err := h.lock(ctx)
	if err != nil {
		answer := agent.Answer{}
		if !errors.Is(err, errBusy) {
			h.say(&answer, "no checkpoints", noneWords+name.Clip(h.redact(checkpoint.MessageOf(err)), 300)+" (git checkpoint agent list)")
		}
		return answer, err
	}
	defer release()
	h.c = h.open(e)
	c := h.c
	c.Ended = e.Kind == agent.KindSessionEnd
	if e.Child != "" {
		c.Children = append(c.Children, e.Child)
		return agent.Answer{}, h.saveConversation(c)
	}
	if c.child && (e.Kind == agent.KindPrompt || e.Kind == agent.KindTurnEnd || e.Kind == agent.KindSessionStart) {
		// The person's turn goes on while a subagent works.
		return agent.Answer{}, nil
	}
	if h.tooLarge() && e.Kind == agent.KindTool {
		return agent.Answer{}, h.saveConversation(c)
	}
	if c.Session, err = h.session(ctx); errors.Is(err, errOff) && !h.isCommand() {
		return agent.Answer{}, nil
	} else if err != nil {
		return h.ended(agent.Answer{}, err)
	}
	h.begin()
	h.noteUsage()
	answer, err := h.do(ctx)
	return h.ended(answer, errors.Join(err, h.saveWork()))
}

// leftOutWords says what the checkpoints do not contain.
func (h *handler) leftOutWords() string {
	const maxLeftOut = 5 // how many paths are named to the person
	if len(h.leftOut) == 0 {
		return ""
	}
	paths := render.First(h.leftOut, maxLeftOut, "and %d more", func(sk record.Skipped) string {
		return oneLine(string(sk.Path)) + " (" + inspect.ReasonOf(h.s.Settings, sk) + ")"
	})
	return "git checkpoint: not in the checkpoints of this conversation, and not brought back by a rollback: " + strings.Join(paths, ", ")
}

// do handles the event by its kind. Of the triggers of its checkpoints the workflow "agent" decides which are milestones.
func (h *handler) do(ctx context.Context) (answer agent.Answer, err error) {
	switch h.e.Kind {
	case agent.KindSessionStart:
		return h.started(ctx)
	case agent.KindPrompt:
		return h.prompted(ctx)
	case agent.KindTurnEnd:
		err = h.endTurn(ctx)
	case agent.KindTool:
		err = h.afterTool(ctx, h.tool)
	case agent.KindInterrupt:
		err = h.note(ctx, workflow.TriggerUserInterrupt, appendWords(record.Interrupted, h.c.Turn.Subject))
	case agent.KindCompaction:
		err = h.note(ctx, "compaction", "before the conversation was compacted")
	case agent.KindSubagentEnd:
		err = h.note(ctx, "subagent", "a subagent ended")
	case agent.KindWorktreeCreate:
		err = h.note(ctx, journal.TriggerBefore, "before a worktree was made")
	case agent.KindSessionEnd:
		h.cause = h.betweenTurns()
		err = h.note(ctx, "session_end", "the agent's session ended")
		h.endedTurn()
		h.c.Removed = h.removed(ctx)
		h.work.Workers[h.worker()].Ended = true
	}
	return answer, err
}

// longestContext bounds what a model is told at once, in bytes.
const longestContext = 4 << 10

// started tells an agent that continues a conversation where the job stands. A new
// conversation gets nothing.
func (h *handler) started(ctx context.Context) (agent.Answer, error) {
	if h.c.Seen.IsZero() {
		h.c.Seen = h.now()
	}
	if source := h.e.Source; source != "resume" && source != "clear" && source != "compact" || !h.def.Answers.Context.Fits(h.event) {
		return agent.Answer{}, nil
	}
	text, err := h.resumeText(ctx)
	return agent.Answer{Context: name.Short(text, longestContext)}, err
}

// prompted handles a prompt. It closes a turn that never ended, because it was interrupted;
// answers the prompt if it is one of our commands; makes a checkpoint of what the person
// changed; and opens a new turn. The model learns what happened to the files since it last
// heard of them.
func (h *handler) prompted(ctx context.Context) (agent.Answer, error) {
	c := h.c
	// The prompt was typed while the turn was running.
	amid := c.Turn.Open && h.e.Turn != "" && h.e.Turn == c.Turn.ID
	var unclosed error
	if c.Turn.Open && !amid {
		unclosed = h.closeTurn(ctx, "", "interrupted")
	}
	if h.def.Answers.Block.Fits(h.event) {
		if text, ours := h.chat(ctx); ours {
			// The model must not get the command, whatever failed before.
			if unclosed != nil {
				text += "\nThe turn before has no checkpoint: " + unclosed.Error()
			}
			return agent.Answer{Block: text}, nil
		}
	}
	if unclosed != nil {
		return agent.Answer{}, unclosed
	}
	moves, err := h.moves(ctx)
	if err != nil {
		return agent.Answer{}, err
	}
	answer := agent.Answer{Context: name.Short(strings.Join(moves, "\n"), longestContext)}
	if amid {
		return answer, nil
	}
	subject := ""
	if h.keepsPrompts {
		subject = firstWords(h.redact(h.e.Prompt))
	}
	h.cause = h.betweenTurns()
	_, tree, err := h.make(ctx, create.Request{Trigger: journal.TriggerPrompt, Message: appendWords(record.BeforePrompt, subject)})
	h.beginTurn(subject)
	if err != nil {
		return answer, err
	}
	c.Turn = turn{Open: true, ID: h.e.Turn, Subject: subject, Tree: tree}
	c.Prompts++
	return answer, nil
}

// appendWords appends the words of a prompt to a message. There are none if prompts are not kept.
func appendWords(message, subject string) string {
	if subject == "" {
		return message + " a prompt"
	}
	return message + ": " + subject
}

// tool makes a checkpoint after a tool. If the turn had ended, the agent goes on with it.
func (h *handler) tool(ctx context.Context) error {
	made, _, err := h.make(ctx, create.Request{Trigger: journal.TriggerTool, Callbacks: create.Callbacks{Words: h.words(h.e.Use)}})
	h.c.Turn.Worked = h.c.Turn.Worked || made != nil
	h.c.Turn.Open = h.c.Turn.Open || made != nil && h.c.Turn.Tree != ""
	return err
}

// endTurn makes the milestone of a turn. If its beginning was not seen, what changed becomes an
// ordinary checkpoint.
func (h *handler) endTurn(ctx context.Context) error {
	defer h.endedTurn()
	if h.c.Turn.Tree == "" {
		return h.note(ctx, journal.TriggerTool, "after a turn")
	}
	return h.closeTurn(ctx, h.e.Reply, "")
}

// closeTurn makes the milestone of the turn, with the new lines of the transcript. mark, if not empty,
// says how the turn ended. If the turn had ended before, and the agent went on, the new milestone takes
// the step's number, unless a rollback discarded that one since.
func (h *handler) closeTurn(ctx context.Context, reply, mark string) error {
	message := h.c.Turn.Subject
	if mark != "" {
		message = strings.TrimSpace(message + " (" + mark + ")")
	}
	if p := firstParagraph(h.redact(reply)); p != "" && h.keepsPrompts {
		message = strings.TrimSpace(message + "\n\n" + p)
	}
	t := &h.c.Turn
	request := create.Request{Trigger: journal.TriggerTurn, Message: message, Comparison: create.Comparison{Unless: cmp.Or(t.End, t.Tree), Since: t.Tree}, Agent: h.agentRecord()}
	if t.Worked {
		request.Unless = noTree
	}
	if t.Made != "" {
		st, err := checkpoint.State(ctx, h.s.Store, h.c.Session)
		if err != nil {
			return err
		}
		if e := st.Entry(t.Made); e == nil || !e.Live {
			*t = turn{}
			return h.note(ctx, journal.TriggerTool, "after a turn")
		}
		request.Step = t.Step
	}
	request.Agent.Turn = h.c.Turn.ID
	var spent spending
	request.Agent.Usage, spent = h.usage() // it waits for lines that come late
	request.Agent.Position = h.position(mark)
	lines, now := h.gained()
	if len(lines) > 0 {
		request.Agent.Transcript = &record.Transcript{File: now.File, From: now.from, To: now.To, Before: now.before}
		request.Outputs = []create.Output{{Name: record.TranscriptOutput, Data: lines}}
	}
	made, tree, err := h.make(ctx, request)
	if err = errors.Join(err, h.leave(ctx)); err != nil {
		return err
	}
	t.Open, t.Worked = false, false
	if made == nil {
		return nil
	}
	h.c.Removed = h.removed(ctx)
	// Lines of the transcript that were not saved belong to the next milestone.
	h.c.Transcript, h.c.Spending = now, spent
	h.work.NewTurn(h.worker(), made.ID)
	t.Made, t.End = made.ID, tree
	if made.Milestone {
		t.Step = &made.Step
	}
	return nil
}

// noTree is the tree of no worktree: a turn whose tools changed files is a step even if the files are as they
// were before, because what was there in between may be work that somebody wants back.
const noTree = name.OID("-")

// note makes a checkpoint of what changed, for an event other than a turn's.
func (h *handler) note(ctx context.Context, trigger, message string) error {
	_, _, err := h.make(ctx, create.Request{Trigger: trigger, Callbacks: create.Callbacks{Words: h.words(message)}})
	return err
}

func (h *handler) redact(s string) string { return clearance.Redacted(h.s.Rules, "agent's words", s) }

// words returns a function that makes the message of a checkpoint, because most events find nothing to save.
func (h *handler) words(s string) func() string {
	const longestMessage = 256 // bounds what a message says of a tool's use, in characters
	return func() string { return name.Clip(h.redact(s), longestMessage) }
}

// firstWords returns the first line of a prompt, short enough for a subject.
func firstWords(prompt string) string {
	line, _, _ := strings.Cut(strings.TrimSpace(prompt), "\n")
	return record.FirstWords(line, 72)
}

// firstParagraph returns the start of an answer.
func firstParagraph(reply string) string {
	p, _, _ := strings.Cut(strings.TrimSpace(strings.ReplaceAll(reply, "\r\n", "\n")), "\n\n")
	return name.Clip(p, 500)
}
