package answer

import (
	"io"

	"git-checkpoint/internal/chat"
)

// Chatted is the answer to a command that was typed into a coding agent's chat: the answer of the
// command that ran, and what to type next.
type Chatted struct{ Chat *chat.Answer }

// JSON exists for the interface only: commands in a chat have no flags.
func (a Chatted) JSON(w io.Writer) error { return jsonLine(w, a.Chat) }

// text writes the answer of the command, then the lines of validate and rebuild if it was one of
// these, then free text.
func (a Chatted) text(p *page) {
	c := a.Chat
	if found := a.found(); found != nil {
		found.text(p)
	}
	for _, line := range c.Validated {
		Validated(line).text(p)
	}
	for _, line := range c.Rebuilt {
		Rebuilt(line).text(p)
	}
	p.text("", c.Text)
	p.text("", c.Next)
}

// found returns the answer of the command that ran. A chat.Answer has a member for each command, at
// most one of which is set; none means a list. It returns nil if the chat only has text to say.
func (a Chatted) found() Answer {
	switch c := a.Chat; {
	case c.Detail != nil:
		return Shown{c.Detail}
	case c.Difference != nil:
		return Compared{c.Difference, FilesFew}
	case c.Plan != nil:
		return Planned{c.Plan, FilesFew}
	case c.Done != nil:
		return RolledBack{c.Done}
	case c.Undone != nil:
		return Undone{Done: c.Undone}
	case c.Redone != nil:
		return Undone{Done: c.Redone, Redo: true}
	case c.History != nil:
		return Audit(c.History)
	case c.Created != nil:
		return Created{c.Created}
	case c.ToDelete != nil:
		return ToDelete{c.ToDelete}
	case c.Deleted != nil:
		return Deleted{c.Deleted}
	case c.Pruned != nil:
		return Pruned{Prune: c.Pruned}
	case c.Resumed != nil:
		return Resumed{c.Resumed}
	// The command was list, whose answer may be an empty list.
	case c.Text == "" && c.Validated == nil && c.Rebuilt == nil:
		return Listed{Sessions: c.List}
	}
	return nil
}
