package record

import (
	"bytes"
	"cmp"
	"fmt"
	"maps"
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

// Of the objects in an array that have no id, alike finds those that became another one.

// alike returns for the indexes of old objects the indexes of those that they became: first the pairs
// that have most in common, then, of the rest, two at the same index.
func (d *differ) alike(path string, was, is [][]byte, gone, come []int) map[int]int {
	unnamed := func(items [][]byte, at []int) (left []trait) {
		for _, i := range at {
			item := items[i]
			if kind(item) == '{' && !slices.ContainsFunc(d.identity(path), func(member string) bool { return memberOf(item, member) != nil }) {
				left = append(left, trait{at: i, members: maps.Collect(members(item))})
			}
		}
		return left
	}
	old, new := unnamed(was, gone), unnamed(is, come)
	became, taken := map[int]int{}, map[int]bool{}
	for _, p := range pairs(old, new) {
		if _, paired := became[p.from]; !paired && !taken[p.to] {
			became[p.from], taken[p.to] = p.to, true
		}
	}
	for _, o := range old {
		_, paired := became[o.at]
		if !paired && !taken[o.at] && slices.ContainsFunc(new, func(n trait) bool { return n.at == o.at }) {
			became[o.at], taken[o.at] = o.at, true
		}
	}
	return became
}

// trait is an object of an array with its index.
type trait struct {
	at      int
	members map[string][]byte
}

// couple is an old and a new object with what they have in common, in thousandths.
type couple struct{ from, to, common int }

// leastAlike is what two objects at different indexes must have in common to be the same one: more than
// a third, because those of one kind often share the member that says so.
const leastAlike = 334

// pairs returns the couples that are alike, the most alike first. It returns none if
// comparing them would take too long.
func pairs(old, new []trait) (found []couple) {
	const maxAlike = 1 << 20 // bounds the comparisons of members in one array, as somebody else may have written it
	cost := 0
	for _, n := range new {
		cost += len(old) * (len(n.members) + 1)
	}
	if cost > maxAlike {
		return nil
	}
	for _, o := range old {
		for _, n := range new {
			if common := o.common(n); common >= leastAlike {
				found = append(found, couple{o.at, n.at, common})
			}
		}
	}
	distance := func(c couple) int { return max(c.from-c.to, c.to-c.from) }
	slices.SortStableFunc(found, func(a, b couple) int { return cmp.Or(b.common-a.common, distance(a)-distance(b)) })
	return found
}

// common returns what two objects have in common: the share of members that are equal, where texts
// are compared by their words.
func (t trait) common(other trait) int {
	same := 0
	for name, value := range t.members {
		same += similarity(value, other.members[name])
	}
	return same / max(len(t.members), len(other.members), 1)
}

// similarity returns how much of a member is the same, in thousandths.
func similarity(a, b []byte) int {
	const maxWords = 1000 // the length of the longest text, in bytes, of which words are compared
	switch {
	case b == nil:
		return 0
	case string(a) == string(b):
		return 1000
	case kind(a) != '"' || kind(b) != '"' || len(a) > maxWords || len(b) > maxWords:
		return 0
	}
	words := map[string]bool{}
	for word := range strings.FieldsSeq(unquote(a)) {
		words[word] = false
	}
	all, both := len(words), 0
	for word := range strings.FieldsSeq(unquote(b)) {
		counted, known := words[word]
		if !known {
			all++
		} else if !counted {
			both++
		}
		words[word] = true
	}
	return 1000 * both / max(all, 1)
}
