package record

import (
	"bytes"
	"fmt"
	"slices"
	"strconv"
	"strings"

	"git-checkpoint/internal/sys/gather"
)

// array compares two arrays, by the first id member that works for both, else by value. An empty
// array works with any id.
func (d *differ) array(path string, old, new []byte) {
	was, is := slices.Collect(elements(old)), slices.Collect(elements(new))
	for _, member := range d.identity(path) {
		from, to := idsOf(was, member), idsOf(is, member)
		if from.usable && to.usable && (from.quoted == to.quoted || len(was) == 0 || len(is) == 0) {
			d.byID(path, old, new, from, to)
			return
		}
	}
	d.byValue(path, old, new, was, is)
}

// ids holds the elements of an array by their id. It is usable if a gjson query finds each element:
// every element is an object, and the ids are all different and of one type.
type ids struct {
	member string // name of the member that has the id
	usable bool
	quoted bool              // the ids are strings, not integers
	order  []string          // the ids as written in a query, in the order of the array
	items  map[string][]byte // elements by id as written in a query
}

// idsOf collects the elements of an array by the given member. The result is not usable if that is
// impossible.
func idsOf(array [][]byte, member string) ids {
	found := ids{member: member, items: make(map[string][]byte, len(array))}
	for i, item := range array {
		raw := memberOf(item, member)
		query, ok := queryValue(raw)
		if _, twice := found.items[query]; !ok || twice {
			return ids{}
		}
		if quoted := raw[0] == '"'; i == 0 {
			found.quoted = quoted
		} else if quoted != found.quoted {
			return ids{}
		}
		found.order = append(found.order, query)
		found.items[query] = item
	}
	found.usable = true
	return found
}

// queryValue returns an id as written in a gjson query, #(member==value), and false if a query
// cannot find it: gjson compares numbers as doubles, and gives a text that begins with "~" another
// meaning. It escapes "@" and ",", which have a meaning of their own in a gjson path.
func queryValue(id []byte) (string, bool) {
	if len(id) == 0 || id[0] != '"' {
		return string(id), isSmallInteger(id)
	}
	text := unquote(id)
	if strings.HasPrefix(text, "~") {
		return "", false
	}
	var b strings.Builder
	b.WriteByte('"')
	for _, r := range text {
		if isControl(r) || strings.ContainsRune(`"\@,`, r) {
			fmt.Fprintf(&b, `\u%04x`, r)
		} else {
			b.WriteRune(r)
		}
	}
	b.WriteByte('"')
	return b.String(), true
}

// byID compares two arrays by the ids of their elements.
func (d *differ) byID(path string, old, new []byte, from, to ids) {
	var parts, queries []string
	queries = append(queries, gather.Those(from.order, func(id string) bool { return !bytes.Equal(from.items[id], to.items[id]) })...)
	queries = append(queries, gather.Those(to.order, func(id string) bool { return from.items[id] == nil })...)
	parts = append(parts, gather.List(queries, func(id string) string { return "#(" + from.member + "==" + id + ")" })...)
	if !d.canName(path, parts) {
		d.whole(path, old, new)
		return
	}
	before := len(d.changes)
	for i, id := range queries {
		d.pair(join(path, parts[i]), from.items[id], to.items[id])
	}
	// Every element has an equal partner, so if the arrays differ, it is in the order.
	if len(d.changes) == before {
		d.whole(path, old, new)
	}
}

// byValue pairs equal elements, wherever they are. Of the others, objects that are alike are reported as
// one that changed, and all the rest as removed or added.
func (d *differ) byValue(path string, old, new []byte, was, is [][]byte) {
	gone, come := leftOver(was, is), leftOver(is, was)
	// Only the order differs, or the spelling of numbers.
	if len(gone)+len(come) == 0 {
		d.whole(path, old, new)
		return
	}
	became := d.alike(path, was, is, gone, come)
	taken := map[int]bool{}
	var parts []string
	for _, i := range gone {
		at := i
		if j, changed := became[i]; changed {
			at, taken[j] = j, true
		}
		parts = append(parts, strconv.Itoa(at))
	}
	parts = append(parts, gather.List(come, strconv.Itoa)...)
	if !d.canName(path, parts) {
		d.whole(path, old, new)
		return
	}
	for n, i := range gone {
		if j, changed := became[i]; changed {
			d.pair(join(path, parts[n]), was[i], is[j])
		} else {
			d.add(join(path, parts[n]), Removed, was[i], nil)
		}
	}
	for n, j := range come {
		if !taken[j] {
			d.add(join(path, parts[len(gone)+n]), Added, nil, is[j])
		}
	}
}

// leftOver returns the indexes of the items that have no equal partner in others. Each partner
// serves once.
func leftOver(items, others [][]byte) []int {
	partners := make(map[string]int, len(others))
	for _, other := range others {
		partners[identity(other)]++
	}
	var alone []int
	for i, item := range items {
		if key := identity(item); partners[key] > 0 {
			partners[key]--
		} else {
			alone = append(alone, i)
		}
	}
	return alone
}
