package hook

import (
	"encoding/json"
	"errors"
	"os"
	"path/filepath"
	"time"

	"git-checkpoint/internal/agent"
)

// tellAfter is the number of failures in a row after which the person is told.
const tellAfter = 3

// failed counts and logs a failure. After tellAfter failures in a row the person is told
// once, with an event for which the agent can show a text.
func (h *Handler) failed(event string, c *conversation, problem error) (agent.Answer, error) {
	c.Failures++
	c.Problem, c.Event = h.redact(problem.Error()), event
	answer := agent.Answer{}
	if c.Failures >= tellAfter && !c.Told && h.Agent.CanTell(event) {
		c.Told = true
		answer.Tell = "git checkpoint: the last " + plural(c.Failures) + " made no checkpoint: " + shorten(c.Problem, 300) + " (git checkpoint agent list)"
	}
	return answer, errors.Join(problem, h.keep(c))
}

func plural(n int) string {
	if n == tellAfter {
		return "three hooks"
	}
	return "hooks"
}

// largestLog is the size in bytes at which the log is rotated.
const largestLog = 1 << 20

// Entry is one line of the log.
type Entry struct {
	Time    time.Time `json:"time"`
	Agent   string    `json:"agent"`
	Event   string    `json:"event"`
	Problem string    `json:"problem"`
}

// Log appends a line to <git dir>/checkpoint/agent.log. Errors are ignored: there is nobody
// to tell.
func Log(file string, e Entry) {
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
