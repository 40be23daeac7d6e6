package workflow

import (
	"encoding/json"
	"errors"

	"github.com/expr-lang/expr/types"
)

// recordMembers are the variables of an expression over a checkpoint's record.
var recordMembers = [...]string{
	"id", "label", "session", "step", "step_name", "iteration", "milestone", "trigger", "status", "message", "created_at",
	"workflow", "previous", "state", "outputs", "error", "git", "files", "snapshot", "topic", "agent",
}

// Where compiles an expression over the members of a record into a test. A record
// fits when the value is true; one that lacks what the expression asks for does
// not. The error of the test is that the expression does not end within bounds.
func Where(text string) (func(record json.RawMessage) (bool, error), error) {
	s := scope{"record", types.Map{}}
	for _, m := range recordMembers {
		s.vars[m] = types.Any
	}
	p, err := newLanguage().compile(s, text, "")
	if err != nil {
		return nil, err
	}
	return func(record json.RawMessage) (bool, error) {
		vars, ok := value(record).(map[string]any)
		if !ok {
			return false, nil
		}
		got, err := newMeter(record).run(p, vars)
		if errors.Is(err, errTooMuch) {
			return false, err
		}
		return got == true, nil
	}, nil
}
