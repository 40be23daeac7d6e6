package web

import (
	"encoding/json"
	"strconv"
	"strings"

	"github.com/tidwall/gjson"

	"git-checkpoint/internal/inspect"
)

// leaf is a value of the state: an object or a list with others below it, or what stands there.
type leaf struct {
	Key     string
	Value   string // as the document has it; empty for an object or a list
	Count   string // "3 members", "2 items"
	Below   []leaf
	Changed string // added or changed against the step before
	Open    bool   // it, or something below it, changed
}

// mostLeaves bounds what a page shows of a state; the rest is in `show --get state`.
const mostLeaves = 5000

// treeOf is the state as a tree, with what changed.
func treeOf(state json.RawMessage, changes []inspect.StateChange) []leaf {
	changed := map[string]string{}
	for _, c := range changes {
		changed[c.Path] = c.Op
	}
	left := mostLeaves
	root := leafOf("", "", gjson.ParseBytes(state), changed, &left)
	return root.Below
}

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

func counted(n int, list bool) string {
	word := map[bool]string{false: "members", true: "items"}[list]
	if n == 1 {
		word = strings.TrimSuffix(word, "s")
	}
	return strconv.Itoa(n) + " " + word
}
