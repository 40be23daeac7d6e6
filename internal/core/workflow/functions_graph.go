package workflow

import (
	"fmt"
	"slices"

	"git-checkpoint/internal/sys/lazy"
)

// nodes returns the function that lists the names in an object of nodes, in natural order, of those
// whose status is one of its second argument, or of the others. A node is either an object with a
// member `status` or the status itself.
func nodes(finished bool) func(args ...any) (any, error) {
	return func(args ...any) (any, error) {
		states, ok := args[0].(map[string]any)
		if !ok && args[0] != nil {
			return nil, fmt.Errorf("%s is not an object", kind(args[0]))
		}
		words, err := asList(args[1])
		if err != nil {
			return nil, err
		}
		isDone, found := set(words), []any{}
		names := sortedKeys(states)
		slices.SortStableFunc(names, compareNatural)
		for _, name := range names {
			status := states[name]
			if node, ok := status.(map[string]any); ok {
				status = node["status"]
			}
			if isDone[identity(status)] == finished {
				found = append(found, name)
			}
		}
		return found, nil
	}
}

// batchOf matches a batch number at the start of a name. It is compiled on first use, to keep the
// start of the program fast.
var batchOf = lazy.Pattern(`^batch[_-]?([0-9]{1,9})(?:[_-]|$)`)

// batchName returns the name of a group that batches made: by its first item, or else by current, the
// number or name of the batch under way.
func batchName(items []any, current any) string {
	for _, said := range append(items[:min(1, len(items)):1], current) {
		if match := batchOf().FindStringSubmatch(say(said)); match != nil {
			return "batch " + match[1]
		}
	}
	if said := say(current); said != "" {
		return "batch " + said
	}
	return ""
}

// batches groups names by the batch number in front of them, as in "batch_2_task_1", in natural
// order. Names without a number form the last group.
func batches(lists ...[]any) []any {
	var groups [][]any
	var rest []any
	current := ""
	for _, name := range natural(lists[0]) {
		match := batchOf().FindStringSubmatch(say(name))
		switch {
		case match == nil:
			rest = append(rest, name)
		case len(groups) == 0 || match[1] != current:
			current = match[1]
			groups = append(groups, []any{name})
		default:
			groups[len(groups)-1] = append(groups[len(groups)-1], name)
		}
	}
	if len(rest) > 0 {
		groups = append(groups, rest)
	}
	return listOf(groups)
}
