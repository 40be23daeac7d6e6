package web

import (
	"encoding/json"

	"github.com/tidwall/gjson"

	"git-checkpoint/internal/format/render"
	"git-checkpoint/internal/verb/inspect"
)

// leaf is a node of the state's tree as a page shows it: an object or a list with nodes below it,
// or a value.
type leaf struct {
	Key   string // the name of the member; it is empty in a list
	Value string // the value as text. It is empty for an object or a list
	Count string // says how large an object or a list is: "3 members", "2 items"
	Below []leaf
	// Changed is how the value differs from the step before, as "diff" calls it; empty if it does
	// not.
	Changed string
	Open    bool // shows what is below without a click, because something there has changed
}

// longestSearch bounds how many bytes are searched for the values that changed. Each search may read
// the whole state, so of a large one with many changes only the first ones are marked.
const longestSearch = 16 << 20

// treeOf returns the members of a state as trees, marked with what changed since the step before.
func treeOf(state json.RawMessage, changes []inspect.StateChange) []leaf {
	const mostLeaves = 5000 // bounds how many nodes a page shows. "git checkpoint show --get state" prints all of them
	text, searched := string(state), 0
	changed := map[int]string{} // by the place of the value in the state
	for _, c := range changes {
		if searched += len(text); searched > longestSearch {
			break
		}
		// The path of what was removed leads to a place in the state before.
		if at := gjson.Get(text, c.Path).Index; at > 0 && c.New != nil {
			changed[at] = c.Op
		}
	}
	left := mostLeaves
	root := leafOf("", gjson.Parse(text), changed, &left)
	return root.Below
}

// leafOf builds the node for a value, and those below it. left is how many nodes may still be made.
func leafOf(key string, value gjson.Result, changed map[int]string, left *int) leaf {
	l := leaf{Key: plain(key), Changed: changed[value.Index]}
	l.Open = l.Changed != ""
	*left--
	if !value.IsObject() && !value.IsArray() {
		l.Value = plain(value.Raw)
		if value.Type == gjson.String {
			l.Value = plain(value.String())
		}
		return l
	}
	n := 0
	value.ForEach(func(k, v gjson.Result) bool {
		n++
		if *left <= 0 {
			return false
		}
		name := k.String()
		if value.IsArray() {
			name = ""
		}
		below := leafOf(name, v, changed, left)
		l.Open = l.Open || below.Open
		l.Below = append(l.Below, below)
		return true
	})
	l.Count = render.Count(n, "member", "members")
	if value.IsArray() {
		l.Count = render.Count(n, "item", "items")
	}
	return l
}
