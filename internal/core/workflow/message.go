package workflow

import (
	"encoding/json"
	"strings"

	"github.com/expr-lang/expr/types"

	"git-checkpoint/internal/sys/gather"
)

// messageVariables lists the variables that templates of messages may use.
func messageVariables() []string {
	return []string{
		"label", "id", "step", "step_name", "session", "workflow", "topic", "status", "trigger", "branch",
		"files", "commit", "error", "from", "to", "reason", "reverted", "discarded", "left_behind",
		"next_step", "next_name", "last_valid", "key", "state", "message", "metrics", "metric", "paths", "iteration",
	}
}

func messageScope() scope {
	vars := types.Map{}
	for _, name := range messageVariables() {
		vars[name] = types.Any
	}
	return scope{"message", vars}
}

// Verbatim is a text that a message shows whole, with every space in it. Other texts are cut when they are
// long.
type Verbatim string

// Message fills the workflow's template for key, or the default definition's if the workflow has
// none. Values may be texts, numbers, booleans, nil, JSON, and lists of texts or integers. A variable
// without a value becomes the empty text.
func (d *Definition) Message(key string, values map[string]any) string {
	source, ok := d.Messages[key]
	if !ok {
		source = Default().Messages[key]
	}
	vars := make(map[string]any, len(values)+1)
	var whole []string // pairs of a mark and what it stands for
	for _, name := range messageVariables() {
		vars[name] = plain(values[name])
		if text, is := values[name].(Verbatim); is && text != "" {
			mark := "\x00" + name + "\x00"
			vars[name], whole = mark, append(whole, mark, string(text))
		}
	}
	return strings.NewReplacer(whole...).Replace(tidy(d.evaluatorOver(messageScope(), vars).fill(source)))
}

// tidy removes the double spaces that empty variables leave. Indentation is kept.
func tidy(text string) string {
	lines := strings.Split(text, "\n")
	for i, line := range lines {
		start := len(line) - len(strings.TrimLeft(line, " "))
		lines[i] = line[:start] + strings.Join(strings.Fields(line[start:]), " ")
	}
	return strings.Join(lines, "\n")
}

// plain converts the lists and numbers of a caller to the types that expressions use.
func plain(v any) any {
	switch v := v.(type) {
	case []string:
		return listOf(v)
	case []int:
		return listOf(v)
	case Verbatim: // an empty one
		return ""
	case json.RawMessage:
		return value(v)
	case *int:
		if v == nil {
			return nil
		}
		return *v
	}
	return v
}

// listOf converts a list to one that expressions can use.
func listOf[T any](from []T) []any { return gather.List(from, func(item T) any { return item }) }
