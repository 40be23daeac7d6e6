package workflow

import (
	"errors"
	"fmt"
	"math"
	"reflect"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/expr-lang/expr/builtin"
	"github.com/expr-lang/expr/conf"

	"git-checkpoint/internal/sys/lazy"
)

// functions has all functions that expressions can call, besides operators and loops, with their
// types. docs/workflows.md describes each. They treat an absent list as empty, so that rules do not
// have to test each member. The last three are inserted by the guard and have names that an author
// cannot use.
var functions = sync.OnceValue(func() conf.FunctionsTable {
	anyList, one, two := reflect.TypeFor[func(...any) []any](), reflect.TypeFor[func(any) []any](), reflect.TypeFor[func(any, any) []any]()
	anyOf, three, textOf := reflect.TypeFor[func(any) any](), reflect.TypeFor[func(any, any, any) []any](), reflect.TypeFor[func(any) string]()
	numberOf, truth := reflect.TypeFor[func(any) int](), reflect.TypeFor[func(any, any) bool]()
	table := conf.FunctionsTable{}
	for name, f := range map[string]struct {
		call func(args ...any) (any, error)
		is   reflect.Type
	}{
		"union":      {ofLists(union), anyList},
		"concat":     {ofLists(concat), anyList},
		"common":     {ofLists(common), two},
		"missing":    {ofLists(missing), two},
		"duplicates": {ofLists(duplicates), anyList},
		"disjoint":   {ofLists(disjoint), reflect.TypeFor[func(...any) bool]()},
		"same":       {ofLists(same), truth},
		"subset":     {ofLists(subset), truth},
		"bare":       {ofLists(bare), two},
		"lost":       {ofLists(lost), three},
		"list":       {list, one},
		"keys":       {keys, one},
		"natural":    {ofLists(natural), one},
		numbersName:  {numbers, three},
		"first":      {ofLists(first), anyOf},
		"last":       {ofLists(last), anyOf},
		"len":        {length, numberOf},
		"unfinished": {nodes(false), two},
		"finished":   {nodes(true), two},
		"batches":    {ofLists(batches), one},
		"round":      {round, numberOf},
		"text":       {text, textOf},
		"join":       {joinTexts, reflect.TypeFor[func(any, string) string]()},
		"span":       {span, textOf},
		"reason":     {reason, textOf},
		"snake":      {snake, textOf},
		"stamp":      {stamped("20060102_150405"), textOf},
		"utc":        {stamped(time.RFC3339), textOf},
		"is_time":    {isTime, reflect.TypeFor[func(any) bool]()},
		tickName:     {tick, reflect.TypeFor[func(any, int, int) bool]()},
		inName:       {contains, truth},
		addName:      {add, reflect.TypeFor[func(any, any) any]()},
	} {
		table[name] = &builtin.Function{Name: name, Func: f.call, Types: []reflect.Type{f.is}}
	}
	return table
})

// loops are the functions of the expr library that iterate over a list. They are the only ones that
// are taken from it, because the guard meters every iteration of those.
var loops = sync.OnceValue(func() conf.FunctionsTable {
	table := conf.FunctionsTable{}
	for _, f := range builtin.Builtins {
		switch f.Name {
		case "all", "any", "none", "one", "count", "find", "findIndex", "filter", "map":
			table[f.Name] = f
		}
	}
	return table
})

// isFunction reports whether name is a function that authors can call. Those that the guard inserts
// start with "_".
func isFunction(name string) bool { return functions()[name] != nil && !strings.HasPrefix(name, "_") }

// ofLists adapts a function of lists to the signature that the library calls. An argument that is
// neither a list nor absent is an error.
func ofLists[T any](f func(lists ...[]any) T) func(args ...any) (any, error) {
	return func(args ...any) (any, error) {
		lists := make([][]any, len(args))
		for i, arg := range args {
			var err error
			if lists[i], err = asList(arg); err != nil {
				return nil, err
			}
		}
		return f(lists...), nil
	}
}

// tick charges for one iteration of a loop. The guard puts a call of it in front of each loop body;
// its arguments are the meter and the weight of the body. An error from charge stops the
// evaluation.
func tick(args ...any) (any, error) {
	m, ok := args[0].(*meter)
	if !ok {
		return nil, errors.New("a loop without a meter")
	}
	nodes, _ := args[1].(int) //nolint:errcheck // the guard wrote both numbers
	heavy, _ := args[2].(int) //nolint:errcheck // the guard wrote both numbers
	return true, m.charge(nodes, heavy)
}

// add is the operator "+". It adds integers exactly as long as the sum does not overflow, and
// anything else as floats. It rejects texts, see guard.
func add(args ...any) (any, error) {
	a, aWhole := args[0].(int)
	b, bWhole := args[1].(int)
	if sum := a + b; aWhole && bWhole && (sum > a) == (b > 0) {
		return sum, nil
	}
	x, err := number(args[0])
	if err != nil {
		return nil, err
	}
	y, err := number(args[1])
	if err != nil {
		return nil, err
	}
	return x + y, nil
}

// number converts a decoded number to a float.
func number(v any) (float64, error) {
	switch n := v.(type) {
	case int:
		return float64(n), nil
	case float64:
		return n, nil
	}
	return 0, fmt.Errorf("%s is not a number", kind(v))
}

// round rounds to the nearest integer. Numbers beyond 2^53 in magnitude give 0, because a float
// does not hold them exactly.
func round(args ...any) (any, error) {
	n, err := number(args[0])
	if err != nil || math.IsNaN(n) || math.Abs(n) > 1<<53 {
		return 0, err
	}
	return int(math.Round(n)), nil
}

func first(lists ...[]any) any {
	if len(lists[0]) == 0 {
		return nil
	}
	return lists[0][0]
}

func last(lists ...[]any) any {
	if len(lists[0]) == 0 {
		return nil
	}
	return lists[0][len(lists[0])-1]
}

// length counts characters of a text, members of an object or items of a list.
func length(args ...any) (any, error) {
	switch v := args[0].(type) {
	case string:
		return len([]rune(v)), nil
	case map[string]any:
		return len(v), nil
	}
	items, err := asList(args[0])
	return len(items), err
}

// list returns a list as it is, null as the empty list, and any other value as a list of one item.
func list(args ...any) (any, error) { return append([]any{}, asItems(args[0])...), nil }

// keys returns the member names of an object, sorted.
func keys(args ...any) (any, error) {
	if args[0] == nil {
		return []any{}, nil
	}
	object, ok := args[0].(map[string]any)
	if !ok {
		return nil, fmt.Errorf("%s is not an object", kind(args[0]))
	}
	return listOf(sortedKeys(object)), nil
}

// numbers returns the integers from the first argument to the second, both included. The guard adds
// the meter as a third argument, because the result may be much larger than the data. Numbers
// beyond 2^53 in magnitude are an error: n+1 may be the same float as n there.
func numbers(args ...any) (any, error) {
	const maxNumbers = 100_000 // the length of the longest list that numbers makes
	m, ok := args[2].(*meter)
	if !ok {
		return nil, errors.New("numbers without a meter")
	}
	from, err := number(args[0])
	if err != nil {
		return nil, err
	}
	to, err := number(args[1])
	if err != nil {
		return nil, err
	}
	if !(math.Abs(from) <= 1<<53 && math.Abs(to) <= 1<<53) { // this also catches what is not a number at all, 0/0
		return nil, errors.New("numbers of more than 2^53 in magnitude")
	}
	if to-from >= maxNumbers {
		return nil, fmt.Errorf("more than %d numbers", maxNumbers)
	}
	first := int(math.Ceil(from))
	length := max(0, int(math.Floor(to))-first+1)
	if err := m.made(length); err != nil {
		return nil, err
	}
	items := make([]any, length)
	for i := range items {
		items[i] = first + i
	}
	return items, nil
}

// text formats a value as messages do.
func text(args ...any) (any, error) { return say(args[0]), nil }

// joinTexts formats a list with the separator of the second argument.
func joinTexts(args ...any) (any, error) {
	items, err := asList(args[0])
	if err != nil {
		return "", err
	}
	separator, _ := args[1].(string)
	return joined(items, separator), nil
}

// span formats a number of seconds as a duration: 45s, 4m30s, 2h0m0s.
func span(args ...any) (any, error) {
	seconds, err := number(args[0])
	if err != nil || math.Abs(seconds) > 1e9 {
		return "", err
	}
	return (time.Duration(math.Round(seconds)) * time.Second).String(), nil
}

// reason formats an error: a text as it is, an object by its message with file and line in
// parentheses.
func reason(args ...any) (any, error) {
	object, ok := args[0].(map[string]any)
	if !ok {
		return say(args[0]), nil
	}
	message, ok := object["message"].(string)
	if !ok {
		return say(object), nil
	}
	place := say(object["file"])
	if line := say(object["line"]); place != "" && line != "" {
		place += ":" + line
	}
	if place != "" {
		message += " (" + place + ")"
	}
	return shorten(message, maxSaid), nil
}

// snake converts a text to lower case letters, digits and underscores, and an empty one to
// "project".
func snake(args ...any) (any, error) { return Snake(say(args[0])), nil }

// Snake is the function snake of the language.
func Snake(s string) string {
	s = strings.Map(func(r rune) rune {
		if r >= 'a' && r <= 'z' || r >= '0' && r <= '9' {
			return r
		}
		return '_'
	}, strings.ToLower(s))
	if s = strings.Trim(s, "_"); s == "" {
		return "project"
	}
	return s
}

// stamped formats a time, or a number of seconds since 1970, in UTC. Anything else is an error.
func stamped(layout string) func(args ...any) (any, error) {
	return func(args ...any) (any, error) {
		at, ok := ParseTime(say(args[0]))
		if seconds, whole := args[0].(int); whole {
			at, ok = time.Unix(int64(seconds), 0), true
		}
		if !ok {
			return nil, fmt.Errorf("%s is no time", kind(args[0]))
		}
		return at.UTC().Format(layout), nil
	}
}

// isTime reports whether a text is an ISO 8601 date or time that exists in the calendar.
func isTime(args ...any) (any, error) {
	s, ok := args[0].(string)
	if !ok {
		return false, nil
	}
	_, ok = ParseTime(s)
	return ok, nil
}

// ParseTime accepts the common forms of ISO 8601, with or without a time zone. A time without a
// zone is taken as UTC; ok is false if s is not a time. The limit on the length keeps it from trying
// every layout on a long text.
func ParseTime(s string) (t time.Time, ok bool) {
	if len(s) > 40 {
		return time.Time{}, false
	}
	layouts := []string{
		time.RFC3339Nano, "2006-01-02T15:04:05.999999999Z0700", "2006-01-02T15:04:05.999999999Z07",
		"2006-01-02T15:04Z07:00", "2006-01-02T15:04:05.999999999", "2006-01-02T15:04", "2006-01-02 15:04:05.999999999Z07:00",
		"2006-01-02 15:04:05.999999999", "20060102T150405Z0700", "20060102T150405", "2006-01-02",
	}
	for _, layout := range layouts {
		if t, err := time.Parse(layout, s); err == nil {
			return t, true
		}
	}
	return time.Time{}, false
}

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
