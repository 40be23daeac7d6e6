package workflow

import (
	"fmt"
	"regexp"
	"slices"
	"sync"
)

// nodes splits the names in an object of nodes by whether their status is one of done. Both results
// are in natural order. A node is either an object with a member `status` or the status itself.
func nodes(object, done any) (finished, unfinished []any, err error) {
	states, ok := object.(map[string]any)
	if !ok && object != nil {
		return nil, nil, fmt.Errorf("%s is not an object", kind(object))
	}
	words, err := asList(done)
	if err != nil {
		return nil, nil, err
	}
	isDone := set(words)
	names := sortedKeys(states)
	slices.SortStableFunc(names, compareNatural)
	finished, unfinished = []any{}, []any{}
	for _, name := range names {
		status := states[name]
		if node, ok := status.(map[string]any); ok {
			status = node["status"]
		}
		if isDone[identity(status)] {
			finished = append(finished, name)
		} else {
			unfinished = append(unfinished, name)
		}
	}
	return finished, unfinished, nil
}

func finished(args ...any) (any, error) {
	done, _, err := nodes(args[0], args[1])
	return done, err
}

func unfinished(args ...any) (any, error) {
	_, left, err := nodes(args[0], args[1])
	return left, err
}

// batchOf matches a batch number at the start of a name. It is compiled on first use, to keep the
// start of the program fast.
var batchOf = sync.OnceValue(func() *regexp.Regexp { return regexp.MustCompile(`^batch[_-]?([0-9]{1,9})(?:[_-]|$)`) })

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
