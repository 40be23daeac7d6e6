package web

import (
	"encoding/json"
	"strconv"
	"strings"

	"github.com/tidwall/gjson"

	"git-checkpoint/internal/inspect"
)

// leaf is a node of the state's tree as a page shows it: an object or a list with nodes below it,
// or a value.
type leaf struct {
	// Key is the name of the member; it is empty in a list.
	Key string
	// Value is the value as text. It is empty for an object or a list.
	Value string
	// Count says how large an object or a list is: "3 members", "2 items".
	Count string
	Below []leaf
	// Changed is how the value differs from the step before, as "diff" calls it; empty if it does
	// not.
	Changed string
	// Open shows what is below without a click, because something there has changed.
	Open bool
}

// mostLeaves bounds how many nodes a page shows. "git checkpoint show --get state" prints all of
// them.
const mostLeaves = 5000

// treeOf returns the members of a state as trees, marked with what changed since the step before.
func treeOf(state json.RawMessage, changes []inspect.StateChange) []leaf {
	changed := map[string]string{}
	for _, c := range changes {
		changed[c.Path] = c.Op
	}
	left := mostLeaves
	root := leafOf("", "", gjson.ParseBytes(state), changed, &left)
	return root.Below
}

// leafOf builds the node for a value at a path, and those below it. left is how many nodes may
// still be made.
func leafOf(key, path string, value gjson.Result, changed map[string]string, left *int) leaf {
	l := leaf{Key: plain(key), Changed: changed[path]}
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
		below := leafOf(name, strings.TrimPrefix(path+"."+name, "."), v, changed, left)
		l.Open = l.Open || below.Open
		l.Below = append(l.Below, below)
		return true
	})
	l.Count = counted(n, value.IsArray())
	return l
}

// counted is a number of members or items in words.
func counted(n int, list bool) string {
	word := map[bool]string{false: "members", true: "items"}[list]
	if n == 1 {
		word = strings.TrimSuffix(word, "s")
	}
	return strconv.Itoa(n) + " " + word
}
