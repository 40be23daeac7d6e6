package hook

import (
	"encoding/json"
	"errors"
	"os"
	"path/filepath"
	"strings"
	"time"

	"git-checkpoint/internal/core/agent"
	"git-checkpoint/internal/core/checkpoint"
	"git-checkpoint/internal/storage/snapshot"
)

// tellAfter is the number of failures in a row after which the person is told.
const tellAfter = 3

// failed counts and logs a failure. After tellAfter failures in a row the person is told once, with
// an event for which the agent can show a text. Files that are too large are reported at once,
// since that does not pass by itself.
func (h *handler) failed(answer agent.Answer, problem error) (agent.Answer, error) {
	var large *snapshot.TooLargeError
	c := h.c
	c.Failures++
	c.Large = errors.As(problem, &large)
	c.Problem, c.Event = h.redact(wordsOf(problem, c.Large)), h.event
	if (c.Failures >= tellAfter || c.Large) && !c.Told && h.def.Answers.Tell.Fits(h.event) {
		c.Told = true
		answer.Tell = "git checkpoint: the last " + plural(c.Failures) + " made no checkpoint: " + shorten(c.Problem, 300) + " (git checkpoint agent list)"
	}
	if err := h.saveConversation(c); err != nil {
		return h.unkept(answer, problem), errors.Join(problem, err)
	}
	return answer, problem
}

// unkept tells the person of a failure that cannot be counted, because nothing can be written in
// the git directory: at once, and once in a conversation. Where the user's own file cannot be
// written either, it is reported with each prompt. A hook that waited for another one in vain does
// not count as such a failure.
func (h *handler) unkept(answer agent.Answer, problem error) agent.Answer {
	id := hashed(h.agent, h.e)
	if problem == nil || errors.Is(problem, errBusy) || answer.Tell != "" || !h.def.Answers.Tell.Fits(h.event) || h.places.told(id) {
		return answer
	}
	if h.places.add(place{ID: id, Told: true}) != nil && h.e.Kind != agent.KindPrompt && h.e.Kind != agent.KindSessionStart {
		return answer
	}
	answer.Tell = "git checkpoint: no checkpoints are made in this conversation: " + shorten(h.redact(checkpoint.MessageOf(problem)), 300) + " (git checkpoint agent list)"
	return answer
}

// wordsOf returns the message of an error. If files are too large, it includes the hints, which
// name the directories to ignore.
func wordsOf(problem error, large bool) string {
	words := []string{checkpoint.MessageOf(problem)}
	if large {
		words = append(words, checkpoint.HintsOf(problem)...)
	}
	return strings.Join(words, "; ")
}

func plural(n int) string {
	switch n {
	case 1:
		return "hook"
	case tellAfter:
		return "three hooks"
	}
	return "hooks"
}

// largestLog is the size in bytes at which the log is rotated.
const largestLog = 1 << 20

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
	if info, err := os.Stat(file); err == nil && info.Size() > largestLog {
		os.Rename(file, file+".1") //nolint:errcheck // it grows on then
	}
	line, err := json.Marshal(e)
	if err != nil {
		return
	}
	f, err := os.OpenFile(filepath.Clean(file), os.O_WRONLY|os.O_CREATE|os.O_APPEND, 0o600)
	if err != nil {
		return
	}
	f.Write(append(line, '\n')) //nolint:errcheck // as above
	f.Close()                   //nolint:errcheck // as above
}
