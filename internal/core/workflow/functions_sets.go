package workflow

import (
	"fmt"
	"slices"
	"strings"

	"git-checkpoint/internal/sys/gather"
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
func set(items []any) map[string]bool { return gather.Set(items, identity) }

// contains is the operator "in": it looks up an item in a list, or a member name in an object. Text is
// compared directly, because computing an identity for each item of a long list is slow.
func contains(args ...any) (any, error) {
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
func union(lists ...[]any) []any {
	seen := map[string]bool{}
	result := []any{}
	for _, item := range slices.Concat(lists...) {
		if id := identity(item); !seen[id] {
			seen[id] = true
			result = append(result, item)
		}
	}
	return result
}

// concat returns the items of all lists, with repetitions.
func concat(lists ...[]any) []any { return append([]any{}, slices.Concat(lists...)...) }

// among returns those items of a, each once, that b has, or those that it lacks.
func among(a, b []any, has bool) []any {
	known, result := set(b), []any{}
	result = append(result, gather.Those(union(a), func(item any) bool { return known[identity(item)] == has })...)
	return result
}

func common(lists ...[]any) []any { return among(lists[0], lists[1], true) }

func missing(lists ...[]any) []any { return among(lists[0], lists[1], false) }

func subset(lists ...[]any) bool { return len(missing(lists...)) == 0 }

func same(lists ...[]any) bool { return subset(lists[0], lists[1]) && subset(lists[1], lists[0]) }

// duplicates returns the items that occur more than once in all the lists together.
func duplicates(lists ...[]any) []any {
	count := map[string]int{}
	result := []any{}
	for _, item := range slices.Concat(lists...) {
		id := identity(item)
		if count[id]++; count[id] == 2 {
			result = append(result, item)
		}
	}
	return result
}

func disjoint(lists ...[]any) bool { return len(duplicates(lists...)) == 0 }

// bare removes a suffix in parentheses from each text if it names one or more items of the second
// list, separated by commas: "lint (WS1)" becomes "lint" if "WS1" is in the list. Documents
// annotate items this way, and the annotation comes and goes while the item remains the same.
func bare(lists ...[]any) []any {
	known := set(lists[1])
	result := append([]any{}, lists[0]...)
	for i, item := range result {
		if s, ok := item.(string); ok {
			result[i] = withoutNames(s, known)
		}
	}
	return result
}

// withoutNames is bare for one text.
func withoutNames(s string, known map[string]bool) string {
	open := strings.LastIndexByte(s, '(')
	if open <= 0 || !strings.HasSuffix(s, ")") {
		return s
	}
	for name := range strings.SplitSeq(s[open+1:len(s)-1], ",") {
		if !known[identity(strings.TrimSpace(name))] {
			return s
		}
	}
	return strings.TrimSpace(s[:open])
}

// lost returns the items of the first list that the second no longer covers. An item is covered by
// the same text or by its bare form. One without an annotation is also covered by the same item
// with any annotation. The third argument has the names, as for bare.
func lost(lists ...[]any) []any {
	before, after, names := lists[0], lists[1], lists[2]
	bareBefore, bareAfter := bare(before, names), bare(after, names)
	exact, covered := set(after), set(bareAfter)
	result := []any{}
	for i, item := range before {
		id, bareID := identity(item), identity(bareBefore[i])
		if !exact[id] && !exact[bareID] && (id != bareID || !covered[bareID]) {
			result = append(result, item)
		}
	}
	return result
}

// natural sorts texts so that task_10 comes after task_9.
func natural(lists ...[]any) []any {
	sorted := slices.Clone(lists[0])
	slices.SortStableFunc(sorted, func(a, b any) int { return compareNatural(say(a), say(b)) })
	return sorted
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
func digits(s string) int { return len(s) - len(strings.TrimLeft(s, "0123456789")) }
