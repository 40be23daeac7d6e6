package mcp

import (
	"encoding/json"
	"maps"
	"slices"
	"strconv"
	"strings"

	"git-checkpoint/internal/format/record"
)

// longest bounds an answer, in bytes of its JSON: a model reads about four of them as one token, and an
// answer has 2,000 tokens at most.
const longest = 7000

// bounded cuts the lists and texts of an answer until it is short enough. What is left out is counted in
// left_out, by the path of its member, and rest says how to get it.
func bounded(a answer, rest string) answer {
	const mostEntries, all = 512, 1 << 26 // of a list, where cutting begins
	left := map[string]int{}
	for most := all; most > 0; most = min(most/2, mostEntries) {
		cut(a, most, "", left)
		if text, err := json.Marshal(a); err != nil || len(text) <= longest {
			break
		}
		a["left_out"], a["rest"] = left, rest
	}
	return a
}

// cut cuts the lists and texts of a value. Of the items of a series the newest stay, which are the last. A number
// that clients and the SDK cannot read without loss becomes a text.
func cut(v any, most int, at string, left map[string]int) any {
	const perEntry = 16                        // bytes of a text for each entry
	const fewestBytes, fewestMembers = 200, 32 // digests and ids stay whole
	switch v := v.(type) {
	case map[string]any:
		if keys := slices.Sorted(maps.Keys(v)); at != "" && len(keys) > max(most, fewestMembers) {
			left[at[1:]] += len(keys) - max(most, fewestMembers)
			for _, key := range keys[max(most, fewestMembers):] {
				delete(v, key)
			}
		}
		for key, one := range v {
			v[key] = cut(one, most, at+"."+key, left)
		}
	case []any:
		if over := len(v) - most; over > 0 {
			left[at[1:]] += over
			if at == ".items" {
				return cut(v[over:], most, at, left)
			}
			return cut(v[:most], most, at, left)
		}
		for i, one := range v {
			v[i] = cut(one, most, at, left)
		}
	case json.Number:
		if !record.FitsDouble(string(v)) {
			return string(v)
		}
	case string:
		if over := len(v) - max(most*perEntry, fewestBytes); over > 0 {
			left[at[1:]] += over
			return strings.ToValidUTF8(v[:len(v)-over], "") + "…"
		}
	}
	return v
}

// theList names the one list that a command printed.
func theList(a answer) {
	items, _ := a["items"].([]any)
	delete(a, "items")
	if a["found"] = []any{}; len(items) > 0 {
		a["found"] = items[0]
	}
}

// joined makes one entry of lines in a row of which the same is said: their text is what the model has, or can read.
func joined(a answer) {
	items, _ := a["items"].([]any)
	var out []any
	said, next := "", json.Number("")
	for _, item := range items {
		entry, _ := item.(map[string]any)
		number, is := entry["line"].(json.Number)
		if !is {
			return // it is about a commit
		}
		maps.DeleteFunc(entry, func(key string, value any) bool { return value == nil || key == "line" || key == "text" })
		text, _ := json.Marshal(entry) //nolint:errcheck // it was JSON
		at, _ := number.Int64()        //nolint:errcheck // it is the number of a line
		if string(text) != said || number != next {
			entry["from"] = number
			out = append(out, entry)
		}
		out[len(out)-1].(map[string]any)["to"] = number //nolint:forcetypeassert // it is the entry above
		said, next = string(text), json.Number(strconv.FormatInt(at+1, 10))
	}
	delete(a, "items")
	a["lines"] = out
}
