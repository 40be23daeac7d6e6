package workflow

import (
	"fmt"
	"slices"
	"strings"
)

// asList returns v as a list. An absent value is the empty list; any other value is an error.
func asList(v any) ([]any, error) {
	switch items := v.(type) {
	case nil:
		return nil, nil
	case []any:
		return items, nil
	}
	return nil, fmt.Errorf("%s is not a list", kind(v))
}

// set indexes items by their identity, so that membership can be tested without comparing each
// pair.
func set(items []any) map[string]any {
	s := make(map[string]any, len(items))
	for _, item := range items {
		s[identity(item)] = item
	}
	return s
}

// in is the operator "in": it looks up an item in a list, or a member name in an object. Text is
// compared directly, because computing an identity for each item of a long list is slow.
func in(args ...any) (any, error) {
	if object, ok := args[1].(map[string]any); ok {
		name, isText := args[0].(string)
		_, found := object[name]
		return found && isText, nil
	}
	items, err := asList(args[1])
	if err != nil {
		return false, err
	}
	text, isText := args[0].(string)
	id := identity(args[0])
	for _, item := range items {
		if s, ok := item.(string); ok && isText && s == text || !ok && !isText && identity(item) == id {
			return true, nil
		}
	}
	return false, nil
}

// union returns the items of all lists, each once, in the order of their first occurrence.
func union(args ...any) ([]any, error) {
	seen := map[string]bool{}
	result := []any{}
	for _, arg := range args {
		items, err := asList(arg)
		if err != nil {
			return nil, err
		}
		for _, item := range items {
			if id := identity(item); !seen[id] {
				seen[id] = true
				result = append(result, item)
			}
		}
	}
	return result, nil
}

// concat returns the items of all lists, with repetitions.
func concat(args ...any) ([]any, error) {
	result := []any{}
	for _, arg := range args {
		items, err := asList(arg)
		if err != nil {
			return nil, err
		}
		result = append(result, items...)
	}
	return result, nil
}

// split divides the items of a into those that b has and those that it lacks, each once. The other
// set functions are built on it.
func split(a, b any) (in, out []any, err error) {
	items, err := union(a)
	if err != nil {
		return nil, nil, err
	}
	others, err := asList(b)
	if err != nil {
		return nil, nil, err
	}
	has := set(others)
	in, out = []any{}, []any{}
	for _, item := range items {
		if _, ok := has[identity(item)]; ok {
			in = append(in, item)
		} else {
			out = append(out, item)
		}
	}
	return in, out, nil
}

func common(args ...any) (any, error) {
	in, _, err := split(args[0], args[1])
	return in, err
}

func missing(args ...any) (any, error) {
	_, out, err := split(args[0], args[1])
	return out, err
}

func subset(args ...any) (any, error) {
	_, out, err := split(args[0], args[1])
	return len(out) == 0, err
}

func same(args ...any) (any, error) {
	_, onlyA, err := split(args[0], args[1])
	if err != nil {
		return false, err
	}
	_, onlyB, err := split(args[1], args[0])
	return len(onlyA)+len(onlyB) == 0, err
}

// duplicates returns the items that occur more than once in all the lists together.
func duplicates(args ...any) ([]any, error) {
	all, err := concat(args...)
	if err != nil {
		return nil, err
	}
	count := map[string]int{}
	result := []any{}
	for _, item := range all {
		id := identity(item)
		if count[id]++; count[id] == 2 {
			result = append(result, item)
		}
	}
	return result, nil
}

func disjoint(args ...any) (any, error) {
	twice, err := duplicates(args...)
	if err != nil {
		return false, err
	}
	return len(twice) == 0, nil
}

// bare removes a suffix in parentheses from each text if it names one or more items of the second
// list, separated by commas: "lint (WS1)" becomes "lint" if "WS1" is in the list. Documents
// annotate items this way, and the annotation comes and goes while the item remains the same.
func bare(args ...any) ([]any, error) {
	items, err := asList(args[0])
	if err != nil {
		return nil, err
	}
	names, err := asList(args[1])
	if err != nil {
		return nil, err
	}
	known := set(names)
	result := make([]any, 0, len(items))
	for _, item := range items {
		s, ok := item.(string)
		if !ok {
			result = append(result, item)
			continue
		}
		result = append(result, withoutNames(s, known))
	}
	return result, nil
}

// withoutNames is bare for one text.
func withoutNames(s string, known map[string]any) string {
	open := strings.LastIndexByte(s, '(')
	if open <= 0 || !strings.HasSuffix(s, ")") {
		return s
	}
	for name := range strings.SplitSeq(s[open+1:len(s)-1], ",") {
		if _, ok := known[identity(strings.TrimSpace(name))]; !ok {
			return s
		}
	}
	return strings.TrimSpace(s[:open])
}

// lost returns the items of the first list that the second no longer covers. An item is covered by
// the same text or by its bare form. One without an annotation is also covered by the same item
// with any annotation. The third argument has the names, as for bare.
func lost(args ...any) (any, error) {
	before, err := asList(args[0])
	if err != nil {
		return nil, err
	}
	after, err := asList(args[1])
	if err != nil {
		return nil, err
	}
	bareBefore, err := bare(args[0], args[2])
	if err != nil {
		return nil, err
	}
	bareAfter, err := bare(args[1], args[2])
	if err != nil {
		return nil, err
	}
	exact, covered := set(after), set(bareAfter)
	result := []any{}
	for i, item := range before {
		id, bareID := identity(item), identity(bareBefore[i])
		_, kept := exact[id]
		_, plain := exact[bareID]
		_, some := covered[bareID]
		if !kept && !plain && (id != bareID || !some) {
			result = append(result, item)
		}
	}
	return result, nil
}

// natural sorts texts so that task_10 comes after task_9.
func natural(args ...any) ([]any, error) {
	items, err := asList(args[0])
	if err != nil {
		return nil, err
	}
	sorted := slices.Clone(items)
	slices.SortStableFunc(sorted, func(a, b any) int { return compareNatural(say(a), say(b)) })
	return sorted, nil
}

// compareNatural compares runs of digits by their numeric value, without converting them, and
// everything else byte by byte.
func compareNatural(a, b string) int {
	for a != "" && b != "" {
		if digits(a) > 0 && digits(b) > 0 {
			x, y := a[:digits(a)], b[:digits(b)]
			a, b = a[len(x):], b[len(y):]
			x, y = strings.TrimLeft(x, "0"), strings.TrimLeft(y, "0")
			if len(x) != len(y) {
				return len(x) - len(y)
			}
			if x != y {
				return strings.Compare(x, y)
			}
			continue
		}
		if a[0] != b[0] {
			return int(a[0]) - int(b[0])
		}
		a, b = a[1:], b[1:]
	}
	return len(a) - len(b)
}

// digits returns the number of leading digits of s.
func digits(s string) int {
	return len(s) - len(strings.TrimLeft(s, "0123456789"))
}
