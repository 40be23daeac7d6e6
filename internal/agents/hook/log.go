package hook

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"os"
	"slices"
	"strings"
	"time"

	"git-checkpoint/internal/core/agent"
	"git-checkpoint/internal/core/checkpoint"
	"git-checkpoint/internal/format/name"
	"git-checkpoint/internal/format/record"
	"git-checkpoint/internal/storage/snapshot"
	"git-checkpoint/internal/verb/connect"
)

const noneWords = "git checkpoint: no checkpoints are made in this conversation: "

// say tells the person something, once in a conversation for each subject, with an event for which the
// agent can show a text. If that cannot be remembered, it is said with each prompt.
func (h *handler) say(answer *agent.Answer, subject, text string) {
	if id := hashed(h.agent, h.e); text != "" && h.def.Answers.Tell.Fits(h.event) && h.places.first(id, subject, h.e.Kind) {
		answer.Tell = strings.TrimPrefix(answer.Tell+"\n"+text, "\n")
	}
}

// ended notes how the event went, and says to the person what fails, also of hooks that cannot say it
// themselves.
func (h *handler) ended(answer agent.Answer, problem error) (agent.Answer, error) {
	// The subjects of say, besides the kinds of hooks that fail.
	const saidLeftOut, saidUnignored, saidSlow = "left out", "not ignored any more", "slow"
	problem = errors.Join(problem, h.saveConversation(h.c))
	problem = errors.Join(problem, h.judge(problem, answer))
	for _, kind := range h.health.Kinds() {
		if f := h.health[kind]; f.Conversation == hashed(h.agent, h.e) || f.Conversation == hashed(h.agent, agent.Event{}) {
			h.say(&answer, string(kind), "git checkpoint: the "+connect.HookAt(kind)+" made no checkpoint: "+name.Clip(f.Problem, 300)+" (git checkpoint agent list)")
		}
	}
	subject := saidLeftOut
	if slices.ContainsFunc(h.leftOut, func(sk record.Skipped) bool { return sk.Reason == snapshot.ReasonUnignored }) {
		subject = saidUnignored
	}
	h.say(&answer, subject, h.leftOutWords())
	h.say(&answer, saidSlow, h.slow)
	h.say(&answer, string(h.c.Session)+h.c.Removed, h.c.Removed)
	return answer, problem
}

// judge notes whether hooks of this kind work. A prompt that was a command makes no checkpoint, so that it shows nothing. A whole
// capture shows that files are not too large any more.
func (h *handler) judge(problem error, answer agent.Answer) error {
	late := errors.Is(problem, context.DeadlineExceeded)
	over := h.spend(late)
	large, isLarge := errors.AsType[*snapshot.TooLargeError](problem)
	before := maps.Clone(h.health)
	switch {
	case problem != nil:
		words := checkpoint.MessageOf(problem)
		if isLarge {
			words = strings.Join(append([]string{words}, checkpoint.HintsOf(problem)...), "; ") // they name the directories to ignore
		} else if late {
			words = h.lateWords(problem)
		}
		if over {
			words += "; " + ErrSpent.Error()
			h.miss()
		}
		h.health[h.e.Kind] = connect.Failing{
			Conversation: hashed(h.agent, h.e), Problem: h.redact(words), Failures: h.health[h.e.Kind].Failures + 1, Large: large != nil,
		}
	case answer.Block != "":
	default:
		delete(h.health, h.e.Kind)
		if h.e.Kind != agent.KindBeforeTool && h.e.Kind != agent.KindSessionStart {
			maps.DeleteFunc(h.health, func(_ agent.Kind, f connect.Failing) bool { return f.Large })
		}
	}
	if maps.Equal(before, h.health) {
		return nil
	}
	return h.health.Save(h.s.Repo.GitDir, h.agent)
}

// lateWords says which file a hook was at when its time was over.
func (h *handler) lateWords(problem error) string {
	words := fmt.Sprintf("it took longer than %s", h.limit)
	if late, is := errors.AsType[*snapshot.LateError](problem); is {
		words += ", for " + oneLine(late.Path)
	}
	return words + h.help
}

// entry is one line of the log.
type entry struct {
	Time    time.Time `json:"time"`
	Agent   string    `json:"agent"`
	Event   string    `json:"event"`
	Problem string    `json:"problem"`
}

// log appends a line to <git dir>/checkpoint/agent.log. Errors are ignored: there is nobody
// to tell.
func log(file string, e entry) {
	const largestLog = 1 << 20 // the size in bytes at which the log is rotated
	if info, err := os.Stat(file); err == nil && info.Size() > largestLog {
		os.Rename(file, file+".1") //nolint:errcheck // it grows on then
	}
	_ = appendLine(file, e)
}
